"""PyVRP with a single vehicle. It has time windows, but no draft limits."""

import warnings
from collections.abc import Sequence

from fairway.classical.external import imported
from fairway.classical.external.integer_model import IntegerModel, integer_model
from fairway.errors import InvalidRequest
from fairway.problems.instance import Instance
from fairway.problems.model import model_of


def solve(
    instance: Instance, seconds: float, seed: int = 0, initial: Sequence[int] | None = None
) -> tuple[int, ...] | None:
    """The tour PyVRP finds in the time for an instance with time windows, or None where none is feasible."""
    model = model_of(instance)
    if model.time is None:
        raise InvalidRequest(
            "PyVRP has no draft limits; expected an instance with time windows, or take OR-Tools or LKH-3"
        )
    library = imported("pyvrp", "PyVRP", "pyvrp")
    numbers = integer_model(model)
    if numbers.hopeless:
        return None
    data = _data(library, numbers)
    start = None if initial is None else [[node - 1 for node in initial]]  # clients count from 0
    stop = imported("pyvrp.stop", "PyVRP", "pyvrp").MaxRuntime(seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a tour is hard to find is said by finding none
        result = library.solve(
            data,
            stop,
            seed=seed,
            collect_stats=False,
            display=False,
            initial_solution=None if start is None else library.Solution(data, start),
        )
    if not result.is_feasible():
        return None
    (route,) = result.best.routes()
    return tuple(visit.idx + 1 for visit in route if visit.is_client())


def _data(library, numbers: IntegerModel):  # noqa: ANN001, ANN202 - PyVRP's types are there only where it is
    """One vehicle that leaves at zero; service is part of the way to the next stop."""
    windows = list(zip(numbers.opens.tolist(), numbers.closes.tolist(), strict=True))
    clients = [
        library.Client(node, tw_early=opens, tw_late=closes)
        for node, (opens, closes) in enumerate(windows[1:], start=1)
    ]
    return library.ProblemData(
        [library.Location(0, 0)] * len(windows),
        clients,
        [library.Depot(0)],
        [library.VehicleType(start_late=0, tw_late=windows[0][1])],
        [numbers.cost],
        [numbers.step],
    )
