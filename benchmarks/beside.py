"""PyVRP, OR-Tools and VROOM on tours with every constraint that they know: an instance in, a tour or None out.

They reckon in whole numbers: times are rounded up and limits down, so that what is feasible there is feasible for the
judge. Each uses one thread. `UNKNOWN` says what each cannot state; instances beyond that are not refused here. VROOM is
no extra of this package: `pip install pyvroom` brings it.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from fairway import Instance
from fairway.errors import SolverMissing

TIME, COST = 1_000, 100_000
"""Whole numbers to a unit of time, and to a unit of cost."""
NOISE = 1e-6
"""By how much a product may miss a whole number and still be it."""
Tour = tuple[int, ...]

LIMITS = {"drafts": "no draft limits", "shrinking": "no draft limits", "all": "no"}
UNKNOWN: dict[str, dict[str, str]] = {
    "PyVRP": {
        **LIMITS,
        "order": "no order",
        "soft": "no price of lateness",
        "breaks": "no breaks",
    },
    "OR-Tools": {},
    "VROOM": {
        **LIMITS,
        "order": "no order",
        "soft": "no price of lateness",
        "optional": "priorities, no prices",
        "makespan": "minimises cost alone",
        "duration": "minimises cost alone",
    },
}
"""The kinds of `benchmarks.tours` that a solver cannot state, and why.

PyVRP states several windows as clients of which exactly one is visited. An order as shipments of nothing would do only
where no stop is in two of them. Exact only as far as those instances go: everything on board at the start is delivered,
and a break is always due.
"""


@dataclass(frozen=True, slots=True)
class Whole:
    """An instance in whole numbers, without infinities; with one more node, reached at no cost, for an open end."""

    travel: np.ndarray
    cost: np.ndarray
    service: list[int]
    spans: list[list[tuple[int, int]]]
    """The windows of each node."""
    horizon: int
    """No tour is under way later."""
    end: int


def whole(instance: Instance) -> Whole:
    """The numbers that all three solvers take; every arc must exist."""
    assert np.isfinite(instance.travel).all()
    assert np.isfinite(instance.cost).all()
    open_end = instance.end is None
    size = instance.nodes + open_end
    travel, cost = np.zeros((2, size, size))
    travel[: instance.nodes, : instance.nodes] = instance.travel
    cost[: instance.nodes, : instance.nodes] = instance.cost
    service = up(instance.service * TIME)
    times = up(travel * TIME)
    pauses = sum(int(up(row[2] * TIME)) for row in instance.breaks)
    limits = [limit for spans in every_span(instance) for span in spans for limit in span]
    latest = max((limit for limit in limits if math.isfinite(limit)), default=0.0)
    horizon = int(up(latest * TIME) + times.max(axis=1).sum() + service.sum()) + pauses
    spans = [
        [(int(up(a * TIME)), min(int(down(min(b, 1e9) * TIME)), horizon)) for a, b in each]
        for each in every_span(instance)
    ]
    return Whole(
        times,
        np.rint(cost * COST).astype(np.int64),
        [*service.tolist(), *[0] * open_end],
        [*spans, *[[(0, horizon)]] * open_end],
        horizon,
        size - 1 if instance.end is None else instance.end,
    )


def every_span(instance: Instance) -> list[Sequence[tuple[float, float]]]:
    """The windows of each node, one or several."""
    single = zip(instance.opens.tolist(), instance.closes.tolist(), strict=True)
    return [instance.windows.get(node, (span,)) for node, span in enumerate(single)]


def up(values: Any) -> Any:
    """Rounded up, but for noise."""
    return np.ceil(np.asarray(values) - NOISE).astype(np.int64)


def down(values: Any) -> Any:
    """Rounded down, but for noise."""
    return np.floor(np.asarray(values) + NOISE).astype(np.int64)


def imported(module: str, title: str, package: str) -> Any:
    """The module, or the sentence that says what brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SolverMissing(f"{title} is not installed; pip install {package} brings it") from error


def free_stops(instance: Instance) -> list[int]:
    """The stops that are neither the end nor in a pair."""
    paired = {stop for pair in instance.pairs for stop in pair}
    return [s for s in range(1, instance.nodes) if s != instance.end and s not in paired]


def pyvrp(instance: Instance, seconds: float, objective: str = "cost") -> Tour | None:
    """The tour PyVRP finds, or None; pairs become shipments, and further windows further clients of a group."""
    library = imported("pyvrp", "PyVRP", "pyvrp")
    stop = imported("pyvrp.stop", "PyVRP", "pyvrp").MaxRuntime(seconds)
    numbers = whole(instance)
    clients, groups = _clients(library, instance, numbers)
    data = library.ProblemData(
        [library.Location(0, 0)] * len(numbers.travel),
        clients,
        _depots(library, numbers),
        [_vehicle(library, instance, numbers, objective)],
        [numbers.cost],
        [numbers.travel],
        groups,
        [_shipment(library, instance, numbers, *pair) for pair in instance.pairs],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a tour is hard to find is said by finding none
        result = library.solve(data, stop, seed=0, collect_stats=False, display=False)
    if not result.is_feasible():
        return None
    node_of = {
        library.ActivityType.CLIENT: [client.location for client in clients],
        library.ActivityType.PICKUP: [pickup for pickup, _ in instance.pairs],
        library.ActivityType.DELIVERY: [delivery for _, delivery in instance.pairs],
    }
    visits = (visit for route in result.best.routes() for visit in route if not visit.is_depot())
    return tuple(node_of[visit.type][visit.idx] for visit in visits)


def _clients(library: Any, instance: Instance, numbers: Whole) -> tuple[list, list]:
    """A client per stop and window, and the groups of those of which one is visited."""
    clients, groups = [], []
    for node in free_stops(instance):
        spans, priced = numbers.spans[node], math.isfinite(instance.prize[node])
        alone, load = len(spans) == 1, int(instance.demand[node])
        limited = math.isfinite(instance.capacity)
        first = len(clients)
        clients += [
            library.Client(
                node,
                delivery=[max(-load, 0)] if limited else [],
                pickup=[max(load, 0)] if limited else [],
                service_duration=numbers.service[node],
                tw_early=opens,
                tw_late=closes,
                prize=round(instance.prize[node] * COST) if priced else 0,
                required=alone and not priced,
                group=None if alone else len(groups),
            )
            for opens, closes in spans
        ]
        if not alone:
            groups.append(library.ClientGroup(list(range(first, len(clients))), not priced))
    return clients, groups


def _depots(library: Any, numbers: Whole) -> list:
    """Where the tour starts, and where it ends if elsewhere."""
    start = library.Depot(0, tw_early=numbers.spans[0][0][0])
    if numbers.end == 0:
        return [start]
    opens, closes = numbers.spans[numbers.end][0]
    return [start, library.Depot(numbers.end, tw_early=opens, tw_late=closes)]


def _vehicle(library: Any, instance: Instance, numbers: Whole, objective: str) -> Any:
    """A vehicle that leaves as the depot opens, or, for least duration, when it likes."""
    opens, closes = numbers.spans[0][0]
    return library.VehicleType(
        capacity=[int(instance.capacity)] if math.isfinite(instance.capacity) else [],
        end_depot=int(numbers.end != 0),
        tw_early=opens,
        tw_late=closes if numbers.end == 0 else numbers.horizon,
        start_late=closes if objective == "duration" else opens,
        unit_distance_cost=int(objective == "cost"),
        unit_duration_cost=0 if objective == "cost" else COST // TIME,
    )


def _shipment(library: Any, instance: Instance, numbers: Whole, pickup: int, delivery: int) -> Any:
    """A pickup and its delivery, each with one window."""
    ((first, last),), ((opens, closes),) = numbers.spans[pickup], numbers.spans[delivery]
    return library.Shipment(
        pickup,
        delivery,
        pickup_tw_early=first,
        pickup_tw_late=last,
        pickup_service_duration=numbers.service[pickup],
        delivery_tw_early=opens,
        delivery_tw_late=closes,
        delivery_service_duration=numbers.service[delivery],
        amount=[int(instance.demand[pickup])] if math.isfinite(instance.capacity) else [],
    )


def ortools(
    instance: Instance,
    seconds: float,
    objective: str = "cost",
    initial: Sequence[int] | None = None,
) -> Tour | None:
    """The tour that the routing library of OR-Tools finds, or None; it can be given one to start from."""
    library = imported("ortools.constraint_solver.pywrapcp", "OR-Tools", "ortools")
    named = imported("ortools.constraint_solver.routing_enums_pb2", "OR-Tools", "ortools")
    numbers = whole(instance)
    manager = library.RoutingIndexManager(len(numbers.travel), 1, [0], [numbers.end])
    routing = library.RoutingModel(manager)
    _timed(routing, manager, instance, numbers, objective)
    _laden(routing, manager, instance)
    _chosen(routing, manager, instance)
    settings = library.DefaultRoutingSearchParameters()
    settings.first_solution_strategy = named.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    settings.local_search_metaheuristic = named.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    settings.time_limit.FromNanoseconds(int(seconds * 1e9))
    routing.CloseModelWithParameters(settings)
    start = None
    if initial is not None:
        route = [manager.NodeToIndex(node) for node in initial]
        start = routing.ReadAssignmentFromRoutes([route], True)
    found = (
        routing.SolveWithParameters(settings)
        if start is None
        else routing.SolveFromAssignmentWithParameters(start, settings)
    )
    if found is None:
        return None
    at, tour = routing.Start(0), []
    while not routing.IsEnd(at := found.Value(routing.NextVar(at))):
        tour.append(manager.IndexToNode(at))
    return tuple(tour)


def _timed(routing: Any, manager: Any, instance: Instance, numbers: Whole, objective: str) -> None:
    """What is minimised, and time with its windows, prices of lateness, order and breaks."""
    steps = numbers.travel + np.array(numbers.service)[:, None]
    np.fill_diagonal(steps, 0)
    step = routing.RegisterTransitMatrix(steps.tolist())
    routing.AddDimension(step, numbers.horizon, numbers.horizon, False, "time")
    timed = routing.GetDimensionOrDie("time")
    if objective == "cost":
        cost = routing.RegisterTransitMatrix(numbers.cost.tolist())
        routing.SetArcCostEvaluatorOfAllVehicles(cost)
    else:
        timed.SetSpanCostCoefficientForVehicle(COST // TIME, 0)
    opens, closes = numbers.spans[0][0]
    timed.CumulVar(routing.Start(0)).SetRange(opens, closes if objective == "duration" else opens)
    for node in range(1, instance.nodes):
        if node != numbers.end:
            _window(timed, manager.NodeToIndex(node), instance, numbers, node)
    _window(timed, routing.End(0), instance, numbers, numbers.end)
    for first, second in (*instance.before, *instance.pairs):
        timed.AddNodePrecedence(manager.NodeToIndex(first), manager.NodeToIndex(second), 0)
    if instance.breaks:
        served = [numbers.service[manager.IndexToNode(at)] for at in range(routing.Size())]
        timed.SetBreakIntervalsOfVehicle(_breaks(routing.solver(), instance), 0, served)


def _window(timed: Any, at: int, instance: Instance, numbers: Whole, node: int) -> None:
    """When service may start at an index, and what lateness costs there."""
    spans = numbers.spans[node]
    cumul, closes = timed.CumulVar(at), spans[-1][1]
    last = closes
    if node < instance.nodes and math.isfinite(instance.late[node]):
        last = min(int(down(min(instance.latest[node], 1e9) * TIME)), numbers.horizon)
        price = round(instance.late[node] * COST / TIME)
        timed.SetCumulVarSoftUpperBound(at, closes, price)
    cumul.SetRange(spans[0][0], last)
    gaps = [(before[1] + 1, after[0] - 1) for before, after in pairwise(spans)]
    if gaps:  # as a constraint: a domain with holes takes a bit per whole number
        solver = timed.model().solver()
        solver.Add(solver.NotMemberCt(cumul, *map(list, zip(*gaps, strict=True))))


def _breaks(solver: Any, instance: Instance) -> list:
    """The breaks as intervals; one after the end of the tour counts as taken."""
    rows = [(up(a * TIME), down(b * TIME), up(c * TIME)) for a, b, c in instance.breaks]
    return [
        solver.FixedDurationIntervalVar(int(first), int(last), int(length), False, f"break {row}")
        for row, (first, last, length) in enumerate(rows)
    ]


def _laden(routing: Any, manager: Any, instance: Instance) -> None:
    """The load on arrival as a dimension; it begins with what is aboard, or ends empty where it shrinks."""
    if not instance.demand.any():
        return
    demand = instance.demand.astype(np.int64).tolist()
    shrinking = instance.load == "shrinking"
    most = sum(map(abs, demand)) + int(instance.aboard)
    change = [-each for each in demand] if shrinking else demand
    at = routing.RegisterUnaryTransitVector([*change, 0][: manager.GetNumberOfNodes()])
    routing.AddDimension(at, 0, most, False, "load")
    load = routing.GetDimensionOrDie("load")
    if shrinking:
        load.CumulVar(routing.End(0)).SetValue(0)
    else:
        load.CumulVar(routing.Start(0)).SetValue(int(instance.aboard))
    limits = np.minimum(np.minimum(instance.draft, instance.capacity), most).astype(int).tolist()
    for node in range(1, instance.nodes):
        index = routing.End(0) if node == instance.end else manager.NodeToIndex(node)
        own = 0 if shrinking else demand[node]
        load.CumulVar(index).SetRange(max(0, -own), max(0, min(most, limits[node] - own)))


def _chosen(routing: Any, manager: Any, instance: Instance) -> None:
    """Which stops may be left out, and what their absence means for others."""
    for node, price in enumerate(instance.prize.tolist()):
        if node not in (0, instance.end) and math.isfinite(price):
            routing.AddDisjunction([manager.NodeToIndex(node)], round(price * COST))
    solver = routing.solver()
    for first, second in instance.before:
        a, b = (routing.ActiveVar(manager.NodeToIndex(node)) for node in (first, second))
        solver.Add(b <= a)
    for pickup, delivery in instance.pairs:
        a, b = manager.NodeToIndex(pickup), manager.NodeToIndex(delivery)
        routing.AddPickupAndDelivery(a, b)
        solver.Add(routing.ActiveVar(a) == routing.ActiveVar(b))


def vroom(instance: Instance, seconds: float, objective: str = "cost") -> Tour | None:
    """The tour VROOM finds with its most thorough search; stops that it leaves out are missing from it."""
    assert objective == "cost", "VROOM minimises cost alone"
    library = imported("vroom", "VROOM", "pyvroom")
    numbers = whole(instance)
    known = slice(0, instance.nodes)  # it has open ends of its own
    asked = library.Input()
    asked.set_durations_matrix("car", numbers.travel[known, known].astype(np.uint32))
    if instance.cost is not instance.travel:
        # At the resolution of times, so that sums fit 32 bits.
        costs = np.rint(instance.cost * TIME).astype(np.uint32)
        asked.set_costs_matrix("car", costs)
    limited = math.isfinite(instance.capacity)
    asked.add_vehicle(
        library.Vehicle(
            0,
            start=0,
            end=instance.end,
            capacity=[int(instance.capacity)] if limited else [],
            time_window=(numbers.spans[0][0][0], numbers.spans[numbers.end][0][1]),
            breaks=_pauses(library, instance),
        )
    )
    asked.add_job([_job(library, instance, numbers, node) for node in free_stops(instance)])
    asked.add_job([_carried(library, instance, numbers, *pair) for pair in instance.pairs])
    routes = asked.solve(5, nb_threads=1, timeout=timedelta(seconds=seconds)).routes
    visits = routes[routes["type"].isin(["job", "pickup", "delivery"])]
    return tuple(visits["location_index"].tolist())


def _pauses(library: Any, instance: Instance) -> list:
    """The breaks of the vehicle."""
    rows = [(up(a * TIME), down(b * TIME), up(c * TIME)) for a, b, c in instance.breaks]
    return [
        library.Break(row, [library.TimeWindow(int(first), int(last))], int(length))
        for row, (first, last, length) in enumerate(rows)
    ]


def _job(library: Any, instance: Instance, numbers: Whole, node: int) -> Any:
    """A stop that brings something, or takes something that was loaded at the start."""
    load, limited = int(instance.demand[node]), math.isfinite(instance.capacity)
    return library.Job(
        node,
        location=node,
        default_service=numbers.service[node],
        delivery=[max(-load, 0)] if limited else [],
        pickup=[max(load, 0)] if limited else [],
        time_windows=[library.TimeWindow(*span) for span in numbers.spans[node]],
    )


def _carried(library: Any, instance: Instance, numbers: Whole, pickup: int, delivery: int) -> Any:
    """A pickup and its delivery."""
    steps = [
        library.ShipmentStep(
            node,
            location=node,
            default_service=numbers.service[node],
            time_windows=[library.TimeWindow(*span) for span in numbers.spans[node]],
        )
        for node in (pickup, delivery)
    ]
    limited = math.isfinite(instance.capacity)
    return library.Shipment(*steps, amount=[int(instance.demand[pickup])] if limited else [])
