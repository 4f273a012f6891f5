"""Fairway inside the frameworks of others: Gymnasium, RL4CO, pandas. Nothing else in the package imports these."""

from collections.abc import Iterator
from contextlib import contextmanager

from fairway.errors import InvalidRequest


@contextmanager
def needing(extra: str, *packages: str) -> Iterator[None]:
    """Turn a failed import of one of an extra's packages into a sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in packages:
            raise
        raise InvalidRequest(
            f"this adapter needs {missing}; install it with: pip install 'fairway[{extra}]'"
        ) from error
