"""The routing library of OR-Tools with a single vehicle: a resource is one of its dimensions.

A first tour by insertion, then guided local search until the time is over. Of seven of the library's ways to a first
tour, insertion found one most often on our beds (the default found none); with draft limits none of the seven found
any, so a feasible tour can be given.
"""

from collections.abc import Sequence

from fairway.classical.external import imported
from fairway.classical.external.integer_model import IntegerModel, integer_model
from fairway.problems.instance import Instance
from fairway.problems.model import model_of

INSERTION = "PARALLEL_CHEAPEST_INSERTION"


def solve(
    instance: Instance,
    seconds: float,
    seed: int = 0,
    initial: Sequence[int] | None = None,
    first: str = INSERTION,
) -> tuple[int, ...] | None:
    """The tour OR-Tools finds in the time, or None; it leaves nothing to chance, so that the seed is not used.

    An initial tour that is not feasible is passed over. `first` is the library's strategy for a first tour; the paper
    has `LOCAL_CHEAPEST_INSERTION`.
    """
    library = imported("ortools.constraint_solver.pywrapcp", "OR-Tools", "ortools")
    model = integer_model(model_of(instance))
    if model.hopeless:
        return None
    manager = library.RoutingIndexManager(len(model.closes), 1, 0)
    routing = library.RoutingModel(manager)
    _constrain(routing, manager, model)
    settings = _settings(library, seconds, first)
    routing.CloseModelWithParameters(settings)
    start = None
    if initial is not None:
        start = routing.ReadAssignmentFromRoutes([model.model.inward(initial)[1:-1].tolist()], True)
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
    return model.model.outward(tour)


def _constrain(routing, manager, model: IntegerModel) -> None:  # noqa: ANN001
    """The cost of an arc, and the resource with its limits at every node and on the return."""
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(model.cost.tolist()))
    longest_wait, most = int(model.opens.max()), int(model.closes.max())
    step = routing.RegisterTransitMatrix(model.step.tolist())
    routing.AddDimension(step, longest_wait, most, True, "resource")
    resource = routing.GetDimensionOrDie("resource")
    for node, limits in enumerate(zip(model.opens.tolist(), model.closes.tolist(), strict=True)):
        at = manager.NodeToIndex(node) if node else routing.End(0)
        resource.CumulVar(at).SetRange(*limits)


def _settings(library, seconds: float, first: str):  # noqa: ANN001, ANN202
    named = imported("ortools.constraint_solver.routing_enums_pb2", "OR-Tools", "ortools")
    settings = library.DefaultRoutingSearchParameters()
    settings.first_solution_strategy = getattr(named.FirstSolutionStrategy, first)
    settings.local_search_metaheuristic = named.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    settings.time_limit.FromNanoseconds(int(seconds * 1e9))
    return settings
