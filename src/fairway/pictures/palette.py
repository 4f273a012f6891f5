"""Colours, the settings pictures are drawn under, and what each mark means.

The colours are those of Okabe and Ito, which colour-blind readers tell apart; each kind of mark also has its own shape
or lightness, so that a grey copy says the same.
"""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

INK = "#1a1a1a"
QUIET = "#4d4d4d"
FAINT = "#8c8c8c"
GRID = "#e6e6e6"
PALE = "#cfe5f5"
BLUE = "#0072b2"
NAVY = "#08306b"
ORANGE = "#e69f00"
VERMILLION = "#d55e00"
RUST = "#8f3f00"
GREEN = "#009e73"
PURPLE = "#cc79a7"
MINT = "#d9f0e7"
SAND = "#fdf1d8"
ALONG = LinearSegmentedColormap.from_list("along", ("#8cc0e3", BLUE, NAVY))
"""From the first leg of a tour to its last: pale to dark, so that the order also shows in grey."""

HATCH = "//////"
LINKS = {"order": (QUIET, (0, (2, 1.5))), "pairs": (PURPLE, "-")}
"""Colour and dash of precedences and of pickups with their deliveries."""

LOOKS = (
    (BLUE, "o", "-"),
    (VERMILLION, "s", "--"),
    (GREEN, "^", "-."),
    (ORANGE, "D", "-"),
    (PURPLE, "v", "--"),
    (INK, "P", "-."),
    ("#56b4e9", "X", ":"),
)
"""Colour, marker and dash of series: no two share a colour, and neighbours share no marker or dash."""


SETTINGS = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same picture everywhere
    "text.parse_math": False,  # a stop may be called $x_1$
    "axes.linewidth": 0.7,
    "axes.edgecolor": FAINT,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "none",  # text stays text: searchable, and in any script the reader's machine has
    "svg.hashsalt": "fairway",
}

_DRAWING = threading.RLock()


@contextmanager
def settings() -> Iterator[None]:
    """Draw under Fairway's own settings, whatever the user's are, and put those back."""
    with _DRAWING, style.context(["default", SETTINGS]), warnings.catch_warnings():
        # A name in a script the font lacks is drawn as boxes in a PNG, rightly in an SVG; no warning would help.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def meanings() -> dict[str, tuple[Artist | tuple[Artist, ...], str]]:
    """What each mark of a picture means: a sample and words for the legend, in its order."""
    excess = (Patch(facecolor="white", edgecolor=VERMILLION, hatch=HATCH), _dot("X", VERMILLION, 7))
    lateness = Patch(facecolor="white", edgecolor=ORANGE, hatch=HATCH)
    return {
        "depot": (_dot("s", INK, 8), "depot"),
        "end": (_hollow("s", INK, 7), "end of the tour"),
        "stops": (_dot("o", BLUE, 5), "stop"),
        "pickups": (_dot("^", PURPLE, 7), "pickup"),
        "deliveries": (_dot("v", PURPLE, 7), "delivery"),
        "left-out": (_hollow("o", FAINT, 5), "stop left out"),
        "wrong-stops": (_dot("X", VERMILLION, 8), "stop in violation"),
        "legs": (Line2D([], [], color=BLUE, marker=">", markersize=4), "tour, from pale to dark"),
        "windows": (Patch(facecolor=PALE, edgecolor=BLUE, linewidth=0.5), "window"),
        "soft": (Patch(facecolor=SAND, edgecolor=ORANGE, linestyle=":"), "late at a price"),
        "break-windows": (
            Patch(facecolor=MINT, edgecolor=GREEN, linewidth=0.5),
            "start of a break",
        ),
        "windows-left-out": (
            Patch(facecolor="white", edgecolor=FAINT, linestyle="--"),
            "window of a stop left out",
        ),
        "room": (Patch(facecolor=PALE, edgecolor="none"), "room for the load"),
        "drafts": (_tick(11, 2.2), "draft limit"),
        "capacity": (Line2D([], [], color=INK, linewidth=1.0, linestyle="--"), "capacity"),
        "load": (Patch(facecolor=BLUE, edgecolor="none"), "load"),
        "travel": (Line2D([], [], color=FAINT, linewidth=0.8), "travel"),
        "waiting": (Line2D([], [], color=ORANGE, linewidth=1.6), "waiting"),
        "arrivals": (_tick(10, 1.4), "arrival"),
        "starts": (_dot("o", NAVY, 4.5), "start of service"),
        "service": (Line2D([], [], color=NAVY, linewidth=4, solid_capstyle="butt"), "service"),
        "breaks": (Line2D([], [], color=GREEN, linewidth=4, solid_capstyle="butt"), "break"),
        "lateness": (lateness, "lateness, in figures"),
        "late": (excess, "late: from closing to start"),
        "overloads": (excess, "load over its limit"),
        "order": (
            Line2D([], [], color=QUIET, linewidth=0.9, linestyle=":", marker="v", markersize=4),
            "must come after",
        ),
        "pairs": (
            Line2D([], [], color=PURPLE, linewidth=0.9, marker="v", markersize=4),
            "pickup to delivery",
        ),
        "goes-on": (_dot(">", BLUE, 8), "goes on beyond the axis"),
    }


def _dot(marker: str, colour: str, size: float) -> Line2D:
    look = {"color": colour, "markersize": size, "markeredgecolor": "white"}
    return Line2D([], [], marker=marker, linestyle="", **look)


def _hollow(marker: str, colour: str, size: float) -> Line2D:
    look = {"markeredgecolor": colour, "markerfacecolor": "white", "markersize": size}
    return Line2D([], [], marker=marker, linestyle="", **look)


def _tick(size: float, width: float) -> Line2D:
    look = {"markersize": size, "markeredgewidth": width}
    return Line2D([], [], marker="|", color=INK, linestyle="", **look)
