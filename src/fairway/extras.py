"""What only the extra `learn` brings, and the sentence where it is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from fairway.errors import LearningMissing

LEARN = ("torch", "safetensors")
"""Packages that a trained policy cannot do without."""
SENTENCE = (
    "trained policies, training and batches of tensors need PyTorch; "
    "install it with: pip install 'fairway[learn]'"
)


def can_learn() -> bool:
    """Whether the packages are installed; none is imported to find out."""
    return all(find_spec(name) is not None for name in LEARN)


@contextmanager
def learning() -> Iterator[None]:
    """Turn a failed import of one of the packages into the sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in LEARN:
            raise
        raise LearningMissing(SENTENCE) from error
