"""The words of a picture: names cut to fit, numbers without noise, and the two lines above it."""

from collections.abc import Sequence
from unicodedata import east_asian_width

from fairway.judge import Rejection, Solution
from fairway.problems.instance import Instance
from fairway.problems.table import PROBLEMS

EM = 0.64
"""The width of a digit over the size of its font; most letters are narrower."""
POINTS = 72.0
"""Points in an inch."""


def shortened(text: str, limit: int) -> str:
    """A name on one line of at most `limit` letter widths; what cannot be printed becomes a blank."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    if width(plain) <= limit:
        return plain
    kept = ""
    for letter in plain:
        if width(kept + letter) > limit - 1:
            break
        kept += letter
    return kept + "…"


def width(text: str) -> int:
    """How many ordinary letters wide a text is; those of Chinese, Japanese and Korean count twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def gutter(labels: Sequence[str], font: float = 8.5) -> float:
    """Inches that labels left of an axis need."""
    return (EM * max(map(width, labels), default=0) * font + 10) / POINTS


def stop_labels(instance: Instance, limit: int) -> list[str]:
    """What each node is called in a picture: its name cut to `limit`, or its number."""
    if instance.names is None:
        return ["depot", *(str(node) for node in range(1, instance.nodes))]
    return [shortened(name, limit).strip() or str(node) for node, name in enumerate(instance.names)]


def number(value: float) -> str:
    """A number with the digits a reader wants: all of a whole one, six of any other."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e12 else f"{value:.6g}"


def heading(instance: Instance) -> str:
    """Which instance this is."""
    title = PROBLEMS[instance.problem].title
    facts = (shortened(instance.name, 60), title, f"{instance.nodes} nodes")
    return "  ·  ".join(fact for fact in facts if fact.strip())


def verdict(instance: Instance, judged: Solution | Rejection | None) -> str:
    """What the judge says of the tour, in one line."""
    match judged:
        case None:
            return "no tour"
        case Solution(cost=cost, makespan=makespan):
            back = f",  makespan {number(makespan)}" if instance.timed else ""
            return f"feasible:  cost {number(cost)}{back}"
        case Rejection(violations=(first, *rest)):
            count = "1 violation" if not rest else f"{len(rest) + 1} violations; first"
            return f"REFUSED: {count}: {first.why}"
    raise AssertionError("a rejection lists at least one violation")
