"""VROOM's problem with one vehicle, solved as VROOM means it: which deliveries are loaded is chosen too.

An instance says what is aboard at the start, whatever is served later. VROOM loads what it will deliver. So the
deliveries of jobs are loaded at nodes of their own, which lie at the start, are visited first and in one order, and
belong to their jobs as a pickup does to its delivery. The plan that is handed back is judged without them.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.outputs import vroom
from fairway.outputs.plan import plan_of
from fairway.problems.files.legs import Beside
from fairway.problems.files.vroom import instance_of, recognises
from fairway.problems.instance import Instance
from fairway.serve.solving import Tell, solve_told
from fairway.solver.request import Request

ALL_ABOARD = 0.4
"""Of the seconds, those for a tour with all deliveries aboard, where they fit."""
Amounts = dict[int, float]
"""What is delivered at each node."""


def problem_of(body: bytes, speed: float | None) -> Instance:
    """The instance of a VROOM problem; where it has no matrices, places are reached at a speed in km/h."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest("the body is not UTF-8 text; expected a problem of VROOM") from error
    if not recognises(text):
        raise InvalidRequest(
            "the body is no problem of VROOM; expected 'vehicles', and 'jobs' or 'shipments'"
        )
    return instance_of(text, "", Beside(speed=speed))


def solution_of(instance: Instance, seconds: float, tell: Tell | None) -> dict[str, Any]:
    """VROOM's solution: it leaves as late as helps; where no tour is found, nothing is served."""
    request = Request(seconds, policy=None, relax="none")
    delivered = _deliveries(instance)
    if not delivered:
        tour = solve_told(instance, request, None, tell).tour
    else:
        tour = _chosen(instance, delivered, request, tell)
    if tour is None:
        return vroom.nothing(instance)
    judged = verify(_loaded(instance, delivered, tour), tour, objective="duration")
    assert isinstance(judged, Solution), "what was solved is what is asked"
    return vroom.record(plan_of(_loaded(instance, delivered, tour), judged))


def _chosen(
    instance: Instance, delivered: Amounts, request: Request, tell: Tell | None
) -> tuple[int, ...] | None:
    """The tour where deliveries that are not made are not loaded: first with all aboard, then by choice."""
    began, tour, count = time.monotonic(), None, len(delivered)
    if instance.aboard <= instance.capacity:
        first = replace(request, seconds=ALL_ABOARD * request.seconds)
        found = solve_told(instance, first, None, tell)
        tour = found.tour
        if found.status == "optimal" and not found.unserved:
            return tour
    left = max(request.seconds - (time.monotonic() - began), 0.0)
    initial = None
    if tour is not None:
        loaded = [at for at, node in enumerate(delivered, 1) if node in tour]
        initial = (*loaded, *(node + count for node in tour))
    asked = _with_loading(instance, delivered)
    found = solve_told(asked, replace(request, seconds=left), initial, tell)
    if found.tour is None:
        return tour
    return tuple(node - count for node in found.tour if node > count)


def _loaded(instance: Instance, delivered: Amounts, tour: tuple[int, ...]) -> Instance:
    """The instance with that on board at the start which the tour delivers."""
    if not delivered:
        return instance
    return replace(instance, aboard=sum(delivered.get(node, 0.0) for node in tour))


def _deliveries(instance: Instance) -> Amounts:
    """What each job has delivered, where that is aboard from the start beside loads that come and go."""
    source = instance.source
    if instance.load != "signed" or not instance.aboard or source is None:
        return {}
    kinds, amounts = source.columns["type"], source.columns["delivery"]
    return {
        node: float(amount)
        for node, (kind, amount) in enumerate(zip(kinds, amounts, strict=True))
        if kind == "job" and amount
    }


def _with_loading(instance: Instance, delivered: Amounts) -> Instance:
    """The same with a node after the depot for each delivery, where it is loaded if it is to be made."""
    count = len(delivered)
    first, later = np.arange(1, count + 1), np.arange(count + 1, instance.nodes + count)
    place = {0: 0, **{node: node + count for node in range(1, instance.nodes)}}
    origin = [0, *[0] * count, *range(1, instance.nodes)]
    per_node = {
        name: getattr(instance, name)[origin]
        for name in ("service", "opens", "closes", "late", "latest", "draft", "demand", "prize")
    }
    per_node["service"][first] = per_node["prize"][first] = 0.0
    per_node["closes"][first] = np.inf
    per_node["demand"][first] = list(delivered.values())
    travel, cost = (
        _through(matrix[np.ix_(origin, origin)], first, later)
        for matrix in (instance.travel, instance.cost)
    )
    loaded = [(at, place[node]) for at, node in enumerate(delivered, 1)]
    return Instance(
        travel,
        cost=cost if instance.cost is not instance.travel else None,
        **per_node,
        windows={place[node]: spans for node, spans in instance.windows.items()},
        capacity=instance.capacity,
        load="signed",
        pairs=[*loaded, *((place[a], place[b]) for a, b in instance.pairs)],
        breaks=instance.breaks,
        end=None if instance.end is None else place[instance.end],
    )


def _through(matrix: np.ndarray, first: np.ndarray, later: np.ndarray) -> np.ndarray:
    """A matrix in which the first nodes are passed in their order, at no cost, or never."""
    matrix[0, first] = 0.0
    matrix[np.ix_(first, first)] = np.where(first[:, None] <= first, 0.0, np.inf)
    matrix[np.ix_(later, first)] = np.inf
    return matrix
