"""LKH-3, a program of its own: found as `FAIRWAY_LKH` or on the PATH.

Its licence is for research only, so it does not come with Fairway.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Integer

from fairway.classical.external.integer_model import IntegerModel, integer_model
from fairway.errors import SolverMissing
from fairway.problems.files import write
from fairway.problems.files.tours import read_tour
from fairway.problems.instance import Instance
from fairway.problems.model import model_of

PARAMETERS, PROBLEM, TOUR, INITIAL = "run.par", "problem.tsp", "best.tour", "initial.tour"
NAMES = ("LKH", "LKH-3", "lkh")
LARGEST = 2**30
"""A weight times PRECISION must stay below."""
MOST_TRIALS = 1_000_000_000
"""More than any run can make."""
GRACE = 10.0
"""Seconds beyond the budget after which the program is ended."""


def program() -> str:
    """Where LKH-3 is, or the sentence that says how to bring it."""
    given = os.environ.get("FAIRWAY_LKH")
    for name in NAMES if given is None else (given,):
        if (found := shutil.which(name)) is not None:
            return found
    where = "is not on the PATH" if given is None else f"is not at FAIRWAY_LKH={given}"
    raise SolverMissing(f"LKH-3 {where}; build it and set FAIRWAY_LKH to the program")


def solve(
    instance: Instance,
    seconds: float,
    seed: int = 0,
    initial: Sequence[int] | None = None,
    trials: int = MOST_TRIALS,
) -> tuple[int, ...] | None:
    """The tour LKH-3 ends with, which may break limits, or None where it leaves none; so many trials end it as well."""
    command = program()
    model = integer_model(model_of(instance))
    if model.hopeless:
        return None
    with tempfile.TemporaryDirectory(prefix="fairway-") as name:
        folder = Path(name)
        run: dict[str, float | str] = {"TIME_LIMIT": seconds, "MAX_TRIALS": trials}
        run["SEED"] = seed + 1  # 0 would be the time of day
        if initial is not None:
            _write_tour(_delivering(model, model.model.inward(initial)[1:-1]), folder / INITIAL)
            run["INITIAL_TOUR_FILE"] = INITIAL
        prepare(model, folder, run)
        try:
            subprocess.run(  # noqa: S603 - the user's own program
                [command, PARAMETERS],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds + GRACE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if not (folder / TOUR).exists():
            return None
        tour = np.array([int(node) for node in read_tour(folder / TOUR)])
    return model.model.outward(_delivering(model, tour))


def _delivering(model: IntegerModel, stops: Integer[np.ndarray, " M"]) -> Integer[np.ndarray, " M"]:
    """From the model's direction to LKH-3's, and back: it knows only ships that deliver."""
    return stops[::-1] if model.model.resource.by_set else stops


def prepare(model: IntegerModel, folder: Path, run: Mapping[str, float | str]) -> None:
    """Write the instance and what to do with it."""
    if model.model.resource.by_set:
        written = Instance(model.cost, demand=model.step[0], draft=model.closes)
    else:
        written = Instance(model.step, opens=model.opens, closes=model.closes)
    write(written, folder / PROBLEM, "tsplib")
    precision = max(1, min(100, LARGEST // max(1, int(written.travel.max()))))
    files = {"PROBLEM_FILE": PROBLEM, "TOUR_FILE": TOUR}
    settings = {**files, "RUNS": 1, "PRECISION": precision, "TRACE_LEVEL": 0, **run}
    lines = ["SPECIAL", *(f"{key} = {value}" for key, value in settings.items())]
    (folder / PARAMETERS).write_text("\n".join(lines) + "\n")


def _write_tour(tour: Integer[np.ndarray, " M"], path: Path) -> None:
    """As a TSPLIB tour, which counts nodes from 1 and begins with the depot."""
    lines = ["TYPE : TOUR", f"DIMENSION : {len(tour) + 1}", "TOUR_SECTION", "1"]
    path.write_text("\n".join([*lines, *(str(node + 1) for node in tour), "-1", "EOF"]) + "\n")
