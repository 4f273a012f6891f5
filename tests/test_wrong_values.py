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
