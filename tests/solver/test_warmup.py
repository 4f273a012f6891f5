"""After the warm-up nothing is left to compile; without one, only what an instance needs is compiled or loaded."""

import subprocess
import sys

import numpy as np
import pytest
from numba.core import event

import fairway
from fairway.solver.request import Request
from fairway.solver.warmup import warm_up


@pytest.mark.parametrize("objective", ["travel", "makespan"])
def test_nothing_is_compiled_while_the_clock_runs(objective):
    instances = [
        fairway.generate("tsptw", n=70, hardness=hardness, seed=3)[0]
        for hardness in ("easy", "medium", "hard")
    ]
    given = instances[0]
    instances.append(fairway.TSPTW(np.asfortranarray(given.travel), given.opens, given.closes))
    if objective == "travel":
        drafts = fairway.generate("tspdl", n=70, hardness="hard", seed=3)[0]
        instances += [drafts, drafts.reversed()]
    warm_up(instances, Request(objective=objective))
    with event.install_recorder("numba:compile") as recorder:
        for instance in instances:
            fairway.solve(instance, seconds=0.3, objective=objective)
            fairway.solve(instance, seconds=0.1, initial=range(1, 70), objective=objective)
    assert [str(found.data["dispatcher"]) for _, found in recorder.buffer] == []


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_a_second_process_compiles_nothing_and_does_without_torch(problem):
    code = (
        "import sys, fairway\n"
        f"instances = fairway.generate({problem!r}, n=20, hardness='hard')\n"
        "fairway.solve(instances[0], seconds=0.1)\n"
        "assert 'torch' not in sys.modules\n"
    )
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
    assert result.stderr == ""


@pytest.mark.parametrize("hardness", ["hard", "easy"])
def test_a_small_instance_loads_the_exact_search_alone(hardness):
    code = (
        "import fairway\n"
        "from fairway.kernels.labels.layers import advance\n"
        "from fairway.kernels.moves.anneal import anneal\n"
        "from fairway.kernels.moves.ruin import fill\n"
        "from fairway.kernels.one_tree import _ascend\n"
        f"instance = fairway.generate('tsptw', n=16, hardness={hardness!r})[0]\n"
        "assert fairway.solve(instance, seconds=20).status == 'optimal'\n"
        "print(*(len(each.overloads) for each in (advance, anneal, fill, _ascend)))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout
    assert said == b"1 0 0 0\n"
