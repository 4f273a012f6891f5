"""Many tours of one instance before the judge: which are accepted, what they cost, and where the others break.

A sampled policy proposes more tours than the judge could look at one by one. The sums here are taken in its order, so
that they agree with it to the last bit; and the tour that counts goes to the judge itself.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.evaluate.outcomes import Outcome
from fairway.judge import TOLERANCE, Solution, verify
from fairway.problems.instance import Instance

Tours = Int[np.ndarray, "K M"]


def outcome_of(
    index: int,
    instance: Instance,
    tours: Tours,
    tolerance: float,
    strictly: float,
    *,
    proved: bool,
    keep_tour: bool,
) -> Outcome:
    """What came of an instance for which these tours were proposed, at the paper's tolerance and the judge's own."""
    whole = _permutations(tours)
    tours = np.where(whole[:, None], tours, np.arange(1, instance.nodes))
    cost, over = walked(instance, tours)
    broken = over > tolerance
    accepted = whole & ~broken.any(axis=1)
    strict = whole & (over <= strictly).all(axis=1)
    best = _least(cost, accepted)
    first = broken[whole & ~accepted].argmax(axis=1) + 1
    places, counts = np.unique(first, return_counts=True)
    return Outcome(
        index,
        len(tours),
        int(accepted.sum()),
        int(strict.sum()),
        None if best is None else _confirmed(instance, tours[best], cost[best], tolerance),
        None if (sure := _least(cost, strict)) is None else float(cost[sure]),
        proved,
        dict(zip(places.tolist(), counts.tolist(), strict=True)),
        tuple(tours[best].tolist()) if keep_tour and best is not None else None,
    )


def walked(
    instance: Instance, tours: Tours
) -> tuple[Float[np.ndarray, " K"], Float[np.ndarray, "K N"]]:
    """What tours cost, and by how much they pass the limit of each stop and, last, of the return."""
    ends = np.zeros((len(tours), 1), np.int64)
    circuit = np.concatenate([ends, tours, ends], axis=1)
    legs = instance.travel[circuit[:, :-1], circuit[:, 1:]]
    return legs.cumsum(axis=1)[:, -1], _excess(instance, tours, legs)


def _excess(
    instance: Instance, tours: Tours, legs: Float[np.ndarray, "K N"]
) -> Float[np.ndarray, "K N"]:
    """By how much tours are late or too heavy at each stop and, last, on the return; negative where they are not."""
    at_home = np.full((len(tours), 1), -np.inf)
    turn = 1 if instance.load == "growing" else -1
    load = instance.demand[tours][:, ::turn].cumsum(axis=1)[:, ::turn]
    over = np.concatenate([load - instance.draft[tours], at_home], axis=1)
    if not instance.timed:
        return over
    now = np.full(len(tours), instance.opens[0] + instance.service[0])
    for place, node in enumerate(tours.T):
        start = np.maximum(now + legs[:, place], instance.opens[node])
        over[:, place] = np.maximum(over[:, place], start - instance.closes[node])
        now = start + instance.service[node]
    over[:, -1] = now + legs[:, -1] - instance.closes[0]
    return over


def best_row(instance: Instance, tours: Tours) -> tuple[int, ...] | None:
    """The cheapest tour that keeps every limit, or else the one that passes them by least."""
    if not len(tours):
        return None
    cost, over = walked(instance, tours)
    late = np.maximum(over - TOLERANCE, 0).sum(axis=1)
    return tuple(tours[np.lexsort((cost, late))[0]].tolist())


def _permutations(tours: Tours) -> Bool[np.ndarray, " K"]:
    """Which rows name every stop once."""
    return (np.sort(tours, axis=1) == np.arange(1, tours.shape[1] + 1)).all(axis=1)


def _least(cost: Float[np.ndarray, " K"], among: Bool[np.ndarray, " K"]) -> int | None:
    return int(np.where(among, cost, np.inf).argmin()) if among.any() else None


def _confirmed(instance: Instance, tour: np.ndarray, cost: float, tolerance: float) -> float:
    verdict = verify(instance, tour, tolerance)
    assert isinstance(verdict, Solution), "the judge accepts what was found to keep every limit"
    assert verdict.cost == cost, "and says the same cost"
    return verdict.cost
