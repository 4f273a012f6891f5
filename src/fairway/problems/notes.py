"""What is unusual about an instance, in sentences: units that cannot be meant, and ways round that are quicker."""

import numpy as np
from jaxtyping import Float

from fairway.problems.checks import is_integral
from fairway.problems.distances import detour, euclidean

POLAR = 72.0
"""Degrees of latitude beyond which there are hardly any roads."""

TINY = 0.02
"""Of the time in which stops are open, a longest leg that cannot be meant."""

FAR = 5.0
"""Times the span of all windows, a tour that cannot be meant in their unit."""


def travel_notes(
    travel: Float[np.ndarray, "N N"], names: tuple[str, ...] | None
) -> tuple[str, ...]:
    """What is unusual about a travel matrix, in sentences; empty where nothing is."""
    if (found := detour(travel)) is None:
        return ()
    i, k, j = found
    direct, through = travel[i, j], travel[i, k] + travel[k, j]
    start, middle, end = (str(node) if names is None else names[node] for node in found)
    return (
        "the travel matrix breaks the triangle inequality: "
        f"{start} to {end} takes {direct:g}, by way of {middle} only {through:g}",
    )


def unit_notes(
    points: Float[np.ndarray, "N 2"] | None,
    travel: Float[np.ndarray, "N N"],
    opens: Float[np.ndarray, " N"],
    closes: Float[np.ndarray, " N"],
) -> tuple[str, ...]:
    """A sentence where coordinates that look like degrees were taken for times, which they cannot be; else nothing."""
    if points is None or is_integral(points):
        return ()
    low, high = np.sort(np.abs(points).max(axis=0))
    span = closes[1:].max() - opens[1:].min()
    far = travel.max()
    if low > 90 or high > 180 or far >= TINY * span or not np.allclose(euclidean(points), travel):
        return ()
    return (
        f"the coordinates look like degrees: the longest leg takes {far:.3g} where windows span {span:g}; "
        "give travel in the unit of the windows, or coordinates in a plane",
    )


def polar_notes(points: Float[np.ndarray, "N 2"]) -> tuple[str, ...]:
    """A sentence where all longitudes and latitudes are so near a pole that they are more likely swapped."""
    nearest = float(np.abs(points[:, 1]).min())
    if nearest <= POLAR:
        return ()
    return (
        f"every place is at least {nearest:.0f} degrees of latitude from the equator; perhaps latitude and longitude "
        "are swapped",
    )


def far_notes(
    travel: Float[np.ndarray, "N N"], service: Float[np.ndarray, " N"], span: float
) -> tuple[str, ...]:
    """A sentence where even the quickest way into each stop adds up to far more than windows span; else nothing."""
    quickest = (travel + np.diag(np.full(len(travel), np.inf))).min(axis=0)[1:]
    least = float(quickest[np.isfinite(quickest)].sum() + service.sum())
    if least <= FAR * span:
        return ()
    return (
        "travel and service cannot be in the unit of the windows: the quickest way into each stop and the service "
        f"there add up to {least:.6g} where windows span {span:g}; give all of them in one unit, such as minutes",
    )
