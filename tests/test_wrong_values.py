"""Wrong Python values end in a sentence, whatever they are; in a fresh process, as tests check types by themselves."""

import json
import subprocess
import sys

WRONG = {
    "seconds is 'a'": "solve(instance, seconds='a')",
    "seconds is None": "solve(instance, seconds=None)",
    "seconds is nan": "solve(instance, seconds=float('nan'))",
    "iterations is 1.5": "solve(instance, iterations=1.5)",
    "iterations is nan": "solve(instance, iterations=float('nan'))",
    "the seed is 1.5": "solve(instance, seed=1.5)",
    "the seed is 'a'": "solve(instance, seed='a')",
    "workers is 1.5": "solve([instance], workers=1.5)",
    "workers is 0": "solve(instance, workers=0)",
    "policy is '\\x00'": "solve(instance, policy='\\0')",
    "policy is 5": "solve(instance, policy=5)",
    "objective": "solve(instance, objective='x')",
    "watch is a function, and": "solve(instance, watch=[])",
    "watch is a function, and is told": "solve([instance], watch=print)",
    "no list of initial plans": "solve([instance], initial=5)",
    "not a sequence": "solve(instance, initial=5)",
    "solve takes": "solve(5)",
    "seconds is 'b'": "explain(instance, 'b')",
    "explain takes": "explain([instance])",
    "write takes an instance": "write(5, 'o.npz')",
    "this is a list": "write([instance], 'o.npz')",
    "distance rule 'x' is unknown": "read(path, distances='x')",
    "distance rule 5 is unknown": "read(path, distances=5)",
    "name is 5": "TSPTW([[0, 1], [1, 0]], 0, 9, name=5)",
    "names[1] has 1001 characters": "TSPTW([[0, 1], [1, 0]], 0, 9, names=['a', 'b' * 1001])",
    "name is None": "TSPDL([[0, 1], [1, 0]], [0, 1], 9, name=None)",
    "a batch is made of a set": "to_batch(5)",
    "save takes a picture": "save(5, 'o.png')",
    "a picture is of one instance": "draw(5)",
    "write_plan takes an instance": "write_plan(5, verify(instance, [1, 2]), 'o.csv')",
    "and a result of solve, or a solution": "write_plan(instance, [1, 2], 'o.csv')",
    "there is no output 5": "write_plan(instance, verify(instance, [1, 2]), 'o.csv', 5)",
    "date is 'today'": "write_plan(instance, verify(instance, [1, 2]), 'o.ics', date='today')",
    "the judge takes one instance": "verify(5, [1])",
    "this is not a sequence": "verify(instance, np.array(5))",
    "the tolerance is 'a'": "verify(instance, [1, 2], 'a')",
    "with hardness 5": "generate('tsptw', n=5, hardness=5)",
    "with hardness [1]": "generate('tsptw', n=5, hardness=[1])",
    "problem []": "generate([], n=5)",
    "n is 5.0": "generate('tsptw', n=5.0)",
    "n is True": "generate('tsptw', n=True)",
    "count is 1.5": "generate('tsptw', n=5, count=1.5)",
    "the seed is None": "generate('tsptw', n=5, seed=None)",
    "eta='a'": "TourWindows(eta='a')",
    "width=5": "RandomWindows(width=5)",
    "sigma is 'a'": "LoweredDrafts(sigma='a')",
    "there is no bed []": "load_bed([])",
    "fixed is 5": "solve(instance, fixed=5)",
    "fixed is 'a'": "solve(instance, fixed='a')",
    "gap is 1000000000": "solve(instance, gap=10**400)",
    "this is a str": "solve('')",
    "a tour is a sequence": "verify(instance, {1, 2})",
    "5 is no path": "read(5)",
    "None is no path": "write(instance, None)",
    "there is no writer for []": "write(instance, 'o.npz', [])",
    "there is no writer for ''": "write(instance, 'o.npz', '')",
    "names is 5": "TSPTW([[0, 1], [1, 0]], 0, 9, names=5)",
    "windows is 5": "Instance([[0, 1], [1, 0]], windows=5)",
    "before is [5]": "Instance([[0, 1], [1, 0]], before=[5])",
    "before has (1, 1)": "Instance([[0, 1], [1, 0]], before=[(1, 1)])",
    "source is 5": "Instance([[0, 1], [1, 0]], source=5)",
    "a set is made of Locations": "InstanceSet([[0, 1], [1, 0]])",
    "there is no device 'x'": "to_batch(generate('tsptw', n=5), 'x')",
    "dtype is 'x'": "to_batch(generate('tsptw', n=5), dtype='x')",
    "GPUs per task are 'x'": "Engine(gpus_per_task='x')",
    "engine is 5": "solve_many([instance], engine=5)",
    "chunk is -1": "solve_many([instance], chunk=-1)",
    "among them is a int": "list(solve_many([5]))",
    "a set is made of a list": "instance_set(5)",
    "this is something else": "instance_set([5])",
}
SCRIPT = """
import json, sys
import numpy as np
from fairway import *
instance = TSPTW([[0, 1, 2], [1, 0, 1], [2, 1, 0]], 0, 9)
path = sys.argv[1]
write(instance, path)
for said, call in json.load(sys.stdin).items():
    try:
        print(call, "gives", eval(call))
    except FairwayError as error:
        if said not in str(error) or "\\n" in str(error):
            print(call, "says", error)
    except Exception as error:
        print(call, "raises", type(error), error)
"""


def test_every_wrong_value_gets_a_sentence(tmp_path):
    words = [sys.executable, "-c", SCRIPT, str(tmp_path / "a.json")]
    result = subprocess.run(
        words, input=json.dumps(WRONG), capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert result.stderr == ""
    assert result.stdout == ""


def test_numbers_of_numpy_are_numbers(tmp_path):
    code = (
        "import fairway, numpy as np\n"
        "i = fairway.TSPTW([[0, 1, 2], [1, 0, 1], [2, 1, 0]], 0, 9)\n"
        "r = fairway.solve(i, np.float32(1), np.int64(3), iterations=np.int32(5))\n"
        "assert r.status == 'optimal'\n"
        "assert fairway.solve(i, 10**400).status == 'optimal'\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.stderr == ""


SWEEP = """
import inspect, os, sys
from pathlib import Path
import numpy as np
from fairway import *
os.chdir(sys.argv[1])
deep = []
for _ in range(3000):
    deep = [deep]
ODD = [None, -1, float("nan"), 10**400, True, 1j, "", "\\0", "\\ud800", b"x", [], [None], deep, {}, {1}, object(),
       Path("\\0"), np.array([]), np.array(5), np.array([None, 1]), np.full((3, 3, 3), 1j), "x" * 5000]
instance, drawn = TSPTW([[0, 1, 2], [1, 0, 1], [2, 1, 0]], 0, 9), generate("tsptw", n=5)
square = {"travel": instance.travel}
GIVEN = [
    (solve, {"instances": instance, "seconds": 0}),
    (explain, {"instance": instance, "seconds": 0}),
    (verify, {"instance": instance, "tour": [1, 2]}),
    (read, {"path": "none"}),
    (write, {"item": instance, "path": "o.json"}),
    (write_plan, {"instance": instance, "result": verify(instance, [1, 2]), "path": "o.csv"}),
    (generate, {"problem": "tsptw", "n": 5}),
    (load_bed, {"name": "none"}),
    (load_references, {"bed": "none", "path": "none"}),
    (instance_set, {"instances": [instance]}),
    (to_batch, {"instances": drawn}),
    (draw, {"instance": instance, "tour": [9]}),
    (save, {"figure": None, "path": "o.png"}),
    (solve_many, {"source": []}),
    (Instance, square),
    (TSPTW, square | {"opens": 0, "closes": 9}),
    (TSPDL, square | {"demand": [0, 1, 1], "draft": 9}),
    (InstanceSet, {"locations": drawn.locations}),
    (TourWindows, {}),
    (RandomWindows, {"width": (0.1, 0.2)}),
    (LoweredDrafts, {"sigma": 50}),
    (Engine, {}),
]
for function, given in GIVEN:
    for name in inspect.signature(function).parameters:
        for odd in ODD:
            try:
                function(**given | {name: odd})
            except FairwayError as error:
                if "\\n" in str(error):
                    print(function, name, "says", error)
            except Exception as error:
                print(function, name, str(type(odd)), "raises", repr(error)[:200])
"""


def test_no_value_of_any_parameter_ends_in_an_error_of_python(tmp_path):
    words = [sys.executable, "-c", SWEEP, str(tmp_path)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.stdout == ""
