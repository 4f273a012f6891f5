"""Proofs by way of another instance, for questions that labels cannot answer themselves."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fairway.judge import Solution, verify
from fairway.judge.timetable import windows_of
from fairway.problems.checks import is_integral
from fairway.problems.instance import Instance
from fairway.problems.model import MARGIN
from fairway.search.exact import MEMORY, Proof
from fairway.search.general_exact import prove_general

EXACT = 1e-7
"""The part of a tour's value that rounding may come to where prices are so high that they count first."""


def prove_fewest(
    instance: Instance,
    known: Solution | None,
    *,
    objective: str = "cost",
    seconds: float = math.inf,
    memory: int = MEMORY,
) -> Proof | None:
    """The best tour of those that leave out fewest stops, and of these least in price; None where sums are too large.

    Where a tour serves every stop, all others must do so too; else each stop left out has a price that no cost reaches.

    Args:
        instance: One that is `provable`, without prices of lateness where a known tour leaves stops out.
        known: The best tour that is known; only better ones are looked for.
        objective: What counts after the stops that are left out.
        seconds: Of work, from now on.
        memory: Bytes that labels may take, about.
    """
    if known is not None and not known.unserved:
        served: dict[str, Any] = {"prize": None}
        asked, upper = replace(instance, **served), known.value
    else:
        asked = _raised(instance, objective)
        if asked is None:
            return None
        upper = math.inf if known is None else _worth(instance, asked, known)
        least = 1.0 if known is None else max(known.value, 1.0)
        if MARGIN * _most(asked, upper) > EXACT * least and not _whole(asked):
            return None
    proof = prove_general(asked, objective=objective, upper=upper, seconds=seconds, memory=memory)
    judged = None if proof.tour is None else verify(instance, proof.tour, objective=objective)
    value = judged.value if isinstance(judged, Solution) else math.inf
    least = -math.inf
    if proof.status != "truncated":
        least = value if proof.tour is not None or known is None else known.value
    elif asked.prize.min() == math.inf:
        least = proof.lower_bound
    return replace(proof, cost=value, lower_bound=least)


def bound_duration(
    instance: Instance,
    *,
    upper: float = math.inf,
    seconds: float = math.inf,
    memory: int = MEMORY,
) -> Proof:
    """A bound on the duration where lateness has a price: what the tour would be worth if none had to be paid.

    A proof where the best such tour is late nowhere.
    """
    proof = prove_general(
        _unpriced(instance), objective="duration", upper=upper, seconds=seconds, memory=memory
    )
    if proof.tour is None:
        return proof
    judged = verify(instance, proof.tour, objective="duration")
    value = judged.value if isinstance(judged, Solution) else math.inf
    sure = proof.status == "optimal" and value <= proof.cost + MARGIN * max(proof.cost, 1.0)
    return replace(proof, status="optimal" if sure else "truncated", cost=value)


def _raised(instance: Instance, objective: str) -> Instance | None:
    """The same with prices that count first by their number, then by their sum; None where none are high enough."""
    prices = instance.prize[np.isfinite(instance.prize)]
    most = _dearest(instance, objective)
    if not math.isfinite(most):
        return None
    if (prices == prices[0]).all():
        raised = np.full(len(prices), 1.0 + most)
    elif (prices == np.floor(prices)).all():
        raised = (1.0 + most) * (1.0 + prices.sum() + prices)
    else:
        return None
    prize = instance.prize.copy()
    prize[np.isfinite(prize)] = raised
    return replace(instance, prize=prize)


def _dearest(instance: Instance, objective: str) -> float:
    """More than any tour is worth, prices apart, in whole numbers; infinite where lateness has one."""
    if np.isfinite(instance.late).any():
        return math.inf
    if objective in ("cost", "travel"):
        legs = np.where(np.isfinite(instance.cost), instance.cost, 0.0)
        return float(np.ceil(legs.max(axis=1).sum()))
    legs = np.where(np.isfinite(instance.travel), instance.travel, 0.0)
    starts = [span[0] for node in range(instance.nodes) for span in windows_of(instance, node)]
    latest = max([0.0, *starts, *(last for _, last, _ in instance.breaks)])
    spent = legs.max(axis=1).sum() + instance.service.sum()
    return float(np.ceil(latest + spent + sum(length for _, _, length in instance.breaks)))


def _worth(instance: Instance, asked: Instance, known: Solution) -> float:
    left_out = list(known.unserved)
    return known.value + float(asked.prize[left_out].sum() - instance.prize[left_out].sum())


def _most(asked: Instance, upper: float) -> float:
    """What sums may come to."""
    prices = asked.prize[np.isfinite(asked.prize)]
    return min(upper, float(prices.sum()) + 1.0)


def _whole(instance: Instance) -> bool:
    """Whether rounding loses nothing, since all that is added is whole."""
    return instance.whole_times and is_integral(instance.cost[np.isfinite(instance.cost)])


def _unpriced(instance: Instance) -> Instance:
    """The same where lateness costs nothing up to the last permitted start."""
    return replace(instance, late=np.where(np.isfinite(instance.late), 0.0, np.inf))
