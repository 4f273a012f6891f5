"""Tours by the hundred, each made a little better: feasible where a few passes make it so, then as short as moves lead.

What `improve` does for one tour with time to spare is too much here. A descent to the nearest tour that no move
improves takes a millisecond at a hundred nodes, and its loops let go of Python's lock, so that threads can share.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from jaxtyping import Float, Int, UInt
from torch import Tensor

from fairway.kernels.moves.chance import seeded
from fairway.kernels.moves.descent import descend, push, queue_for
from fairway.kernels.moves.form import Form
from fairway.kernels.moves.lateness import hurry, late_line, lateness
from fairway.kernels.moves.line import line_of
from fairway.kernels.moves.order import deferred
from fairway.problems.batch import TSPDLBatch, TSPTWBatch
from fairway.problems.problem import every_pair
from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW
from fairway.search.objective import MARGIN

PASSES = 100
"""Times that each stop of a tour that is not feasible may move; medium windows and 500 stops at random need thirty."""
WITHOUT_END = 2**62

Job = TypeVar("Job")
Done = TypeVar("Done")


def side_by_side(work: Callable[[Job], Done], jobs: Sequence[Job], workers: int) -> list[Done]:
    """All jobs done in order, by so many threads."""
    if workers == 1:
        return [work(job) for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, jobs))


def instances_in(batch: TSPTWBatch | TSPDLBatch) -> list[TSPTW] | list[TSPDL]:
    """The instances of a batch one by one, in the batch's own units; loads grow."""
    travel = batch.travel(*every_pair(batch))
    if isinstance(batch, TSPTWBatch):
        columns = (travel, batch.opens, batch.closes, batch.service)
        return [TSPTW(*line) for line in zip(*map(_on_cpu, columns), strict=True)]
    columns = (travel, batch.demand, batch.draft)
    return [TSPDL(*line) for line in zip(*map(_on_cpu, columns), strict=True)]


def _on_cpu(column: Float[Tensor, "B *S"]) -> Float[np.ndarray, "B *S"]:
    return column.double().cpu().numpy()


def polish(
    forms: Sequence[Form], tours: Int[np.ndarray, "B P M"], *, seed: int = 0, workers: int = 1
) -> Int[np.ndarray, "B P M"]:
    """Each tour after a descent of its own; one that cannot be made feasible is at least less late.

    Args:
        forms: Of each instance.
        tours: In the direction in which levels grow.
        seed: Of the shakes that help tours out of lateness.
        workers: Threads.
    """
    instances, ants, _ = tours.shape
    jobs = [(b, p) for b in range(instances) for p in range(ants)]

    def one(job: tuple[int, int]) -> Int[np.ndarray, " M"]:
        b, p = job
        return polished(forms[b], tours[b, p], seed + b * ants + p)

    return np.stack(side_by_side(one, jobs, workers)).reshape(tours.shape)


def polished(form: Form, tour: Int[np.ndarray, " M"], seed: int) -> Int[np.ndarray, " M"]:
    """One tour."""
    ends = ([0], tour, [len(tour) + 1])
    node, late = _punctual(form, np.concatenate(ends).astype(np.uint32), seed)
    if late > 0:
        return node[1:-1].astype(np.int64)
    line, queue = line_of(form, node), queue_for(len(node))
    for each in node:
        push(queue, each)
    least = MARGIN * max(line.length[0, -1], 1.0)
    descend(form, line, queue, (least, False), WITHOUT_END)
    return line.node[1:-1].astype(np.int64)


def _punctual(
    form: Form, node: UInt[np.ndarray, " V"], seed: int
) -> tuple[UInt[np.ndarray, " V"], float]:
    """The least late tour that a few passes find, and how late it is."""
    late = lateness(form, node)
    if late > 0 and _carries_loads(form) and (repaired := deferred(form, node)) is not None:
        return repaired, 0.0
    state, random = late_line(node), seeded(seed)
    for _ in range(PASSES):
        if late <= 0:
            break
        late = hurry(form, state, random, len(node) - 2)
    return state.kept, late


def _carries_loads(form: Form) -> bool:
    """Whether levels grow by what is taken on at a stop, wherever one comes from."""
    return bool((form.lead[:-1, 1:] == form.lead[0, 1:]).all() and not form.opens.any())
