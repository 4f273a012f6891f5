"""Solvers by others behind one signature, and where they are found.

`solve(instance, seconds, seed, initial)` takes seconds of search, with what comes before it on top, a seed and a tour
to start from, and gives a tour or None. They run in one thread, and none of them is needed: each is looked for when it
is called. What they return has not been judged; they reckon in whole numbers (`whole`), we do not.
"""

from importlib import import_module
from typing import Any

from fairway.errors import SolverMissing


def imported(module: str, title: str, extra: str) -> Any:  # noqa: ANN401 - without the package there are no types
    """The module, or the sentence that says what brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SolverMissing(
            f"{title} is not installed; pip install 'fairway[{extra}]' brings it"
        ) from error
