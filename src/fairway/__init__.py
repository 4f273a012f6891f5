"""Fairway: short tours of one vehicle that keep hard constraints.

Data flows in one direction:

    file / generator -> Instance -> Model          -> search                -> tour -> verify -> Solution -> plan
                                 -> Batch -> mask -> policy -> decoding    -^
    problems            problems    problems kernels policies  inference       search judge               outputs

- `fairway.problems`: instances, models, sets, batches, distributions that instances are drawn from, test sets, files
- `fairway.judge`: the judge, which shares no code with what it judges
- `fairway.kernels`: look-ahead, preprocessing and pointer, each with its definition and fast versions that equal it
- `fairway.policies`: attention models that score candidates, and heatmaps for ants
- `fairway.search`: exact search, local search, decoding
- `fairway.inference`: trained policies at work
- `fairway.classical`: tours without learning
- `fairway.solver`: an instance and a budget in, a verified tour or a proof out; why there is no tour
- `fairway.serve`: the HTTP service and its page
- `fairway.scale`: any number of instances, over the cores of this machine or a Ray cluster
- `fairway.train`, `fairway.recipes`: how policies learn
- `fairway.evaluate`: what results are compared with
- `fairway.outputs`: plans for people and programs: CSV, JSON, GeoJSON, VROOM's solutions, calendars
- `fairway.pictures`: tours and schedules drawn
- `fairway.cli`: the command line

The names below are the public ones. They are imported on first use, so that `import fairway` costs
nothing; none of them may be the name of a module, since importing that module would take its place.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fairway.extras import learning

if TYPE_CHECKING:
    from fairway.errors import FairwayError as FairwayError
    from fairway.evaluate.references import References as References
    from fairway.evaluate.references import load_references as load_references
    from fairway.judge import Rejection as Rejection
    from fairway.judge import Solution as Solution
    from fairway.judge import Violation as Violation
    from fairway.judge import verify as verify
    from fairway.outputs import write_plan as write_plan
    from fairway.pictures import draw as draw
    from fairway.pictures import save as save
    from fairway.problems.batch import to_batch as to_batch
    from fairway.problems.beds import load_bed as load_bed
    from fairway.problems.files import read as read
    from fairway.problems.files import write as write
    from fairway.problems.generate import LoweredDrafts as LoweredDrafts
    from fairway.problems.generate import RandomWindows as RandomWindows
    from fairway.problems.generate import TourWindows as TourWindows
    from fairway.problems.generate import generate as generate
    from fairway.problems.instance import TSPDL as TSPDL
    from fairway.problems.instance import TSPTW as TSPTW
    from fairway.problems.instance import Instance as Instance
    from fairway.problems.sets import InstanceSet as InstanceSet
    from fairway.problems.sets import instance_set as instance_set
    from fairway.problems.source import Clock as Clock
    from fairway.problems.source import Source as Source
    from fairway.scale.engine import Engine as Engine
    from fairway.scale.many import Answer as Answer
    from fairway.scale.many import solve_many as solve_many
    from fairway.solver.explain.explanation import Explanation as Explanation
    from fairway.solver.explain.explanation import explain as explain
    from fairway.solver.results import Result as Result
    from fairway.solver.solving import solve as solve

__version__ = "0.2.0"

_HOMES = {
    "errors": ("FairwayError",),
    "evaluate.references": ("References", "load_references"),
    "outputs": ("write_plan",),
    "pictures": ("draw", "save"),
    "problems.batch": ("to_batch",),
    "problems.beds": ("load_bed",),
    "problems.files": ("read", "write"),
    "problems.generate": ("LoweredDrafts", "RandomWindows", "TourWindows", "generate"),
    "problems.instance": ("TSPDL", "TSPTW", "Instance"),
    "problems.sets": ("InstanceSet", "instance_set"),
    "problems.source": ("Clock", "Source"),
    "scale.engine": ("Engine",),
    "scale.many": ("Answer", "solve_many"),
    "solver.explain.explanation": ("Explanation", "explain"),
    "solver.results": ("Result",),
    "solver.solving": ("solve",),
    "judge": ("Rejection", "Solution", "Violation", "verify"),
}
_RENAMED = {
    "TSPDLSet": "InstanceSet(locations, demand=..., draft=...)",
    "TSPTWSet": "InstanceSet(locations, opens=..., closes=...)",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - one table serves both


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        raise AttributeError(f"fairway.{name} is now fairway.{_RENAMED[name]}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'fairway' has no attribute {name!r}")
    with learning():
        return getattr(import_module(f"fairway.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
