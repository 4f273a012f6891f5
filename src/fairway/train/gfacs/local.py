"""The local search around ants' tours: our own, or LKH-3 as the authors have it."""

import numpy as np
from jaxtyping import Int

from fairway.classical.external import lkh
from fairway.kernels.moves.form import form_of
from fairway.problems.batch import Batch, instances_in
from fairway.problems.model import model_of
from fairway.search.polish import polish, side_by_side
from fairway.train.gfacs.config import ColonyConfig

LKH_SECONDS = 60.0
"""That one trial of LKH-3 may take; it never does."""


def check(config: ColonyConfig) -> None:
    """That what the config asks for is there."""
    if config.search == "lkh":
        lkh.program()


def searched(
    config: ColonyConfig, batch: Batch, tours: Int[np.ndarray, "B P M"], seed: int, workers: int
) -> Int[np.ndarray, "B P M"]:
    """What a local search makes of every tour, by so many threads."""
    instances = instances_in(batch)
    if config.search == "own":
        forms = side_by_side(lambda each: form_of(model_of(each)), instances, workers)
        return polish(forms, tours, seed=seed, workers=workers)

    def one(job: tuple[int, int]) -> tuple[int, ...]:
        b, p = job
        before = tuple(tours[b, p].tolist())
        return lkh.solve(instances[b], LKH_SECONDS, seed % 2**16, before, trials=1) or before

    jobs = [(b, p) for b in range(tours.shape[0]) for p in range(tours.shape[1])]
    return np.array(side_by_side(one, jobs, workers)).reshape(tours.shape)
