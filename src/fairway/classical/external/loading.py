"""Packages that need not be there."""

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
