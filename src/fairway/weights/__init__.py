"""Policies that ship with the package, which are found by their names.

Each is a card and its weights, as any training leaves them, the weights at half precision. What each is good for, and
what it is not: docs/models.md.
"""

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Of the policies that are here."""
    return sorted(card.stem for card in FOLDER.glob("*.json"))


def located(path: Path) -> Path:
    """The path itself, or the card of the shipped policy that it names; what is there goes before what is shipped."""
    return shipped(str(path)) if str(path) in names() and not path.exists() else path


def shipped(name: str) -> Path:
    """The card of a policy that is here."""
    return FOLDER / f"{name}.json"
