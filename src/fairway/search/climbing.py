"""Bounds raised by ng-paths with exact resources, and proofs by labels wherever such a bound comes near a tour."""

from typing import Protocol

from fairway import clock
from fairway.kernels.labels.bound import Bound
from fairway.kernels.labels.label_model import LabelModel
from fairway.kernels.labels.ng_ascent import Ascent
from fairway.kernels.labels.ng_sweep import Gaps

TURN, TRIED = 0.25, 0.5
"""Seconds after which an ascent pauses first, every pause twice as late, and of these what labels have then."""
NEAR, NEARER = 0.03, 0.8
"""How near to a tour a bound must come for labels to be tried, and how much nearer for them to be tried again."""
WIDTHS = (1 << 15, 1 << 18, 1 << 31)
"""Of the beams that are tried then."""


class Climber(Protocol):
    """A search for a proof below a known tour, which takes over bounds and looks for tours with them."""

    label_model: LabelModel
    bound: Bound
    until: float
    """By `clock.now`."""

    @property
    def gaps(self) -> Gaps | None:
        """When stops with several windows are shut between them."""

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to prove, or no more time."""

    @property
    def goal(self) -> float:
        """What the best tour is worth, counted as bounds are."""

    @property
    def below(self) -> float:
        """What a bound must stay under for a tour that is better."""

    def reach(self, least: float) -> None:
        """Take over a bound on the whole tour, less what sums may be off by."""

    def run(self, width: int, *, until: float) -> None:
        """Search with so many labels of a layer."""


def climb(search: Climber, enough: float, share: float = 1.0) -> None:
    """Raise the bound until it is enough, or proves that no tour is better; labels are tried where it comes near.

    After a share of the time they are tried wherever it has come to.
    """
    ascent = Ascent(search.label_model, search.below, search.gaps)
    turn, near, more = TURN, NEAR, True
    ascent.enough = min(ascent.enough, enough)
    now = clock.now()
    top = now + share * (search.until - now)
    while more:
        more = ascent.climb(top, clock.now() + turn) and clock.now() < top
        search.reach(ascent.height)
        if search.ended or ascent.height >= ascent.enough:
            return
        apart = 1.0 - ascent.height / search.goal
        if not more or apart < near:
            near = NEARER * apart
            _complete(search, ascent, clock.now() + TRIED * turn if more else search.until)
            if search.ended:
                return
        turn *= 2


def _complete(search: Climber, ascent: Ascent, until: float) -> None:
    """Search by labels that an ascent completes."""
    bound = ascent.bound(until)
    if bound is None:
        return
    search.bound = bound
    search.label_model = search.label_model._replace(after=ascent.narrowed())
    for width in WIDTHS:
        search.run(width, until=until)
        if search.ended or clock.now() >= until:
            return
