"""Tours by the hundred, each made a little better: feasible where a few passes make it so, then as short as moves lead.

What `improve` does for one tour with time to spare is too much here. A descent to the nearest tour that no move
improves takes a millisecond at a hundred nodes, and a few of them are one call that lets go of Python's lock, so that
threads can share.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from jaxtyping import Int

from fairway.kernels.moves.batched import descend_all, room_for
from fairway.kernels.moves.order import deferred
from fairway.kernels.moves.rng import seeded
from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.time_warp import lateness
from fairway.problems.model import MARGIN

TOGETHER = 5
"""Tours that a thread takes at a time."""

Job = TypeVar("Job")
Done = TypeVar("Done")


def side_by_side(work: Callable[[Job], Done], jobs: Sequence[Job], workers: int) -> list[Done]:
    """All jobs done in order, by so many threads."""
    if workers == 1:
        return [work(job) for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, jobs))


def polish(
    search_models: Sequence[SearchModel],
    tours: Int[np.ndarray, "B P M"],
    *,
    seed: int = 0,
    workers: int = 1,
) -> Int[np.ndarray, "B P M"]:
    """Each tour after a descent of its own; one that cannot be made feasible is at least less late.

    Args:
        search_models: One per instance.
        tours: In the direction in which resources grow.
        seed: Of the shakes that help tours out of lateness.
        workers: Threads.
    """
    instances, ants, _ = tours.shape
    jobs = [(b, first) for b in range(instances) for first in range(0, ants, TOGETHER)]

    def some(job: tuple[int, int]) -> Int[np.ndarray, "K M"]:
        b, first = job
        part = tours[b, first : first + TOGETHER]
        seeds = range(seed + b * ants + first, seed + b * ants + first + len(part))
        return _settled(search_models[b], part, seeds)

    return np.concatenate(side_by_side(some, jobs, workers)).reshape(tours.shape)


def _settled(
    search_model: SearchModel, tours: Int[np.ndarray, "K M"], seeds: range
) -> Int[np.ndarray, "K M"]:
    """A few tours of one instance."""
    node = np.pad(tours, ((0, 0), (1, 1)), constant_values=(0, tours.shape[1] + 1))
    node = node.astype(np.uint32)
    if search_model.by_set:
        for tour in node:
            if (
                lateness(search_model, tour) > 0
                and (repaired := deferred(search_model, tour)) is not None
            ):
                tour[:] = repaired
    descend_all(
        search_model, node, np.concatenate([*map(seeded, seeds)]), MARGIN, room_for(search_model)
    )
    return node[:, 1:-1].astype(np.int64)
