"""`python -I tools/smoke.py`: try an installed Fairway that has no torch, by its command line and from Python.

Run it with the interpreter of a new environment that holds the wheel and nothing else (`make wheel`).
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import fairway
from fairway.weights import FOLDER, names

LEARN = ("torch", "safetensors", "tensorboard")
STOPS = """id,x,y,open,close,service
depot,0,0,0,20,0
a,3,4,0,9,1
b,3,0,9,12,0
"""
FEASIBLE, NOT_FEASIBLE, BAD_INPUT = 0, 1, 2


def check(claim: str, *, holds: bool, seen: object = "") -> None:
    """End with the claim where it does not hold."""
    if not holds:
        sys.exit(f"smoke: {claim}: it is not so\n{seen}")
    print(f"smoke: {claim}")


def command(words: str, code: int, says: str = "") -> None:
    """Run the installed console script here, and look at its exit code and at what it says."""
    script = Path(sys.executable).with_name("fairway")
    done = subprocess.run([script, *words.split()], capture_output=True, text=True, check=False)  # noqa: S603
    said = done.stdout + done.stderr
    check(f"fairway {words}", holds=done.returncode == code and says in said, seen=said)


def installed() -> None:
    """The wheel and its data are there, and torch is not."""
    check("the wheel is what is imported", holds=Path(fairway.__file__).is_relative_to(sys.prefix))
    check("torch is not installed", holds=not any(map(find_spec, LEARN)))
    weights = [FOLDER / f"{name}.safetensors" for name in names()]
    check("weights are in the wheel", holds=bool(weights) and all(w.is_file() for w in weights))


def by_command_line() -> None:
    """Every verb that does without torch, and the sentence of those that do not."""
    command("--help", FEASIBLE, "solve")
    command("solve stops.csv --seconds 2 --plot tour.png", FEASIBLE, "optimal")
    command("verify stops.csv --tour a,b", FEASIBLE, "feasible")
    command("verify stops.csv --tour b,a", NOT_FEASIBLE, "refused")
    command("explain tight.csv", NOT_FEASIBLE, "infeasible")
    command("plot stops.csv --tour a,b -o tour.svg", FEASIBLE, "tour.svg")
    command("convert stops.csv stops.json", FEASIBLE)
    command("generate tspdl -n 12 -o ports.json", FEASIBLE)
    command("solve ports.json --json --seconds 2", FEASIBLE, '"problem": "tspdl"')
    for words in ("solve stops.csv --policy general-tsptw", "train fairway-tsptw20-hard"):
        command(words, BAD_INPUT, "pip install 'fairway[learn]'")


def from_python() -> None:
    """The same by the public names."""
    instance = fairway.read("stops.json")
    result = fairway.solve(instance, seconds=2)
    check("Python solves", holds=result.status == "optimal" and result.tour == (1, 2), seen=result)
    check("Python judges", holds=isinstance(fairway.verify(instance, [1, 2]), fairway.Solution))
    explained = fairway.explain(fairway.read("tight.csv"))
    check("Python explains", holds=explained.status == "infeasible", seen=explained)
    fairway.save(fairway.draw(instance, result.tour), Path("drawn.png"))
    fairway.write(instance, Path("again.csv"))
    made = ("tour.png", "tour.svg", "drawn.png", "again.csv")
    check("pictures and files are made", holds=all(Path(name).stat().st_size for name in made))
    try:
        fairway.solve(instance, policy="general-tsptw")
    except fairway.FairwayError as error:
        check("Python says what to install", holds="'fairway[learn]'" in str(error), seen=error)
    else:
        sys.exit("smoke: a policy was used without torch")


if __name__ == "__main__":
    installed()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("stops.csv").write_text(STOPS)
        Path("tight.csv").write_text(STOPS.replace("3,4,0,9,1", "3,4,0,2,1"))
        by_command_line()
        from_python()
