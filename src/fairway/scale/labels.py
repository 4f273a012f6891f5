"""Instances with near-optimal tours beside them, drawn and solved chunk by chunk: what supervised training starts from.

`instances.npz` is a set as any other, and `tours.npz` holds for each instance its tour, its cost and whether it is
proved to be the best: the format of references.
"""

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.atomic import write_bytes
from fairway.errors import InvalidRequest
from fairway.judge.many import verify_many
from fairway.problems.files import write
from fairway.problems.generate import generate
from fairway.problems.sets import InstanceSet, joined
from fairway.scale.sources import DRAWN
from fairway.solver.on_gpu import tours_on_gpu, unavailable
from fairway.solver.request import Request, check_whole
from fairway.solver.solving import job_of, solved

CHUNK = 10_000
"""Instances that are solved together."""


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Instances and their tours, each of which the judge has accepted."""

    instances: InstanceSet
    tour: Int[np.ndarray, "B M"]
    """A row of zeros where no tour was found."""
    cost: Float[np.ndarray, " B"]
    proved: Bool[np.ndarray, " B"]


def labels(
    source: str, count: int, seconds: float, seed: int = 0, device: str = "cpu"
) -> Iterator[Labelled]:
    """Chunk by chunk; on a GPU the seconds are for a chunk, on the cores for each instance."""
    found = DRAWN.fullmatch(source)
    if found is None:
        raise InvalidRequest(f"{source} is no distribution; expected one such as tsptw:easy:100")
    check_whole("the count", count, least=1)
    if device == "cuda" and (why := unavailable()):
        print(f"fairway: {why}; going on with the cores", file=sys.stderr)
        device = "cpu"
    for first in range(0, count, CHUNK):
        drawn = generate(
            found["problem"],
            n=int(found["nodes"]),
            hardness=found["hardness"],
            count=min(CHUNK, count - first),
            seed=seed + first,
        )
        yield _by_gpu(drawn, seconds, seed) if device == "cuda" else _by_cores(drawn, seconds, seed)


def _by_gpu(drawn: InstanceSet, seconds: float, seed: int) -> Labelled:
    found = tours_on_gpu(drawn, seconds, seed)
    accepted, cost, _ = verify_many(drawn, found.tours)
    there = accepted & found.there
    tour = np.where(there[:, None], found.tours, 0)
    return Labelled(drawn, tour, np.where(there, cost, np.nan), np.zeros(len(drawn), bool))


def _by_cores(drawn: InstanceSet, seconds: float, seed: int) -> Labelled:
    results = list(solved(job_of(drawn, Request(seconds, seed=seed), None), None))
    nothing = (0,) * (drawn.nodes - 1)
    cost = np.array([result.cost for result in results])
    return Labelled(
        drawn,
        np.array([result.tour or nothing for result in results]),
        np.where(np.isfinite(cost), cost, np.nan),
        np.array([result.status == "optimal" for result in results]),
    )


def save(chunks: list[Labelled], folder: Path) -> None:
    """Both files, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    write(joined([chunk.instances for chunk in chunks]), folder / "instances.npz")
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        tour=np.concatenate([chunk.tour for chunk in chunks]).astype(np.uint16),
        cost=np.concatenate([chunk.cost for chunk in chunks]),
        proved=np.concatenate([chunk.proved for chunk in chunks]),
    )
    write_bytes(folder / "tours.npz", buffer.getvalue())
