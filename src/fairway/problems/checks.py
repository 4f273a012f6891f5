"""The checks an instance makes on construction, and the read-only float64 arrays they return."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from fairway.errors import InvalidInstance
from fairway.problems.distances import detour, euclidean

MOST_NODES = 5_000
"""Of an instance in a file, of any format, and of each in a set: the travel matrix of more would take gigabytes."""

LONGEST_NAME = 1_000
"""Characters in the name of an instance or a stop."""

TINY = 0.02
"""Of the time in which stops are open, a longest leg that cannot be meant."""

LARGEST = 1e15
"""Beyond it float64 no longer tells neighbouring thousandths apart, and sums along a tour lose meaning."""


def matrix(values: ArrayLike) -> Float[np.ndarray, "N N"]:
    """A square, finite, non-negative matrix of two nodes or more; its diagonal, never travelled, is set to zero."""
    array = _numbers(values, "travel")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InvalidInstance(
            f"travel has shape {_shape(array)}; expected a square matrix, one row and one column a node",
            "travel",
        )
    if len(array) < 2:
        raise InvalidInstance(
            "there is no stop besides the depot; expected at least two nodes", "travel"
        )
    _all_non_negative(array, "travel")
    np.fill_diagonal(array, 0.0)
    return _frozen(array)


def vector(
    values: ArrayLike, name: str, nodes: int, non_negative: bool = False
) -> Float[np.ndarray, " N"]:
    """One finite number a node; a single number stands for all nodes."""
    array = _numbers(values, name)
    if array.ndim == 0:
        array = np.full(nodes, array)
    if array.shape != (nodes,):
        raise InvalidInstance(
            f"{name} has shape {_shape(array)}; expected {nodes} numbers, one a node of the travel matrix",
            name,
        )
    if non_negative:
        _all_non_negative(array, name)
    return _frozen(array)


def points(values: ArrayLike | None, nodes: int) -> Float[np.ndarray, "N 2"] | None:
    """An x and a y a node, or None."""
    if values is None:
        return None
    array = _numbers(values, "coordinates")
    if array.shape != (nodes, 2):
        raise InvalidInstance(
            f"coordinates have shape {_shape(array)}; expected {nodes} rows of x and y",
            "coordinates",
        )
    return _frozen(array)


def stop_names(names: Sequence[str] | None, nodes: int) -> tuple[str, ...] | None:
    """One distinct name a node, or None."""
    if names is None:
        return None
    known = tuple(title(str(name), "names", node) for node, name in enumerate(names))
    if len(known) != nodes:
        raise InvalidInstance(
            f"{len(known)} names were given; expected {nodes}, one a node", "names"
        )
    seen: set[str] = set()
    for node, name in enumerate(known):
        if name in seen:
            raise InvalidInstance(
                f"the name {name!r} is given to more than one node; names must be distinct",
                "names",
                (node,),
            )
        seen.add(name)
    return known


def title(name: object, field: str = "name", *index: int) -> str:
    """The name of an instance or a stop: a text of bearable length."""
    if isinstance(name, str) and len(name) <= LONGEST_NAME:
        return name
    found = f"has {len(name)} characters" if isinstance(name, str) else f"is {name!r}"
    # Only the name of a stop is sure to have a line of its own in a file.
    raise InvalidInstance(
        f"{field}{_at(index)} {found}; expected a text of at most {LONGEST_NAME} characters",
        field if index else None,
        index,
    )


def travel_notes(travel: Float[np.ndarray, "N N"]) -> tuple[str, ...]:
    """What is unusual about a travel matrix, in sentences; empty where nothing is."""
    if (found := detour(travel)) is None:
        return ()
    i, k, j = found
    direct, through = travel[i, j], travel[i, k] + travel[k, j]
    return (
        "the travel matrix breaks the triangle inequality: "
        f"{i} to {j} takes {direct:g}, by way of {k} only {through:g}",
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


def is_integral(*arrays: Float[np.ndarray, "..."]) -> bool:
    """Whether every number is whole, so that sums are exact and no tolerance is needed."""
    return all(bool((array == np.rint(array)).all()) for array in arrays)


def _numbers(values: ArrayLike, name: str) -> Float[np.ndarray, "..."]:
    try:
        given = np.asarray(values)
        array = given.astype(np.float64, order="C") if given.dtype.kind in "biuf" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise InvalidInstance(
            f"{name} is not an array of numbers; expected rows of equal length, numbers only",
            name,
        )
    if (bad := _first(~np.isfinite(array))) is not None:
        raise InvalidInstance(
            f"{name}{_at(bad)} is {array[bad]}; expected a finite number", name, bad
        )
    if (bad := _first(np.abs(array) > LARGEST)) is not None:
        raise InvalidInstance(
            f"{name}{_at(bad)} is {array[bad]:g}; expected at most {LARGEST:g}, choose a larger unit",
            name,
            bad,
        )
    return array


def _all_non_negative(array: Float[np.ndarray, "..."], name: str) -> None:
    if (bad := _first(array < 0)) is not None:
        raise InvalidInstance(
            f"{name}{_at(bad)} is {array[bad]:g}; expected zero or more", name, bad
        )


def _first(wrong: np.ndarray | np.bool) -> tuple[int, ...] | None:
    return tuple(np.argwhere(wrong)[0].tolist()) if np.any(wrong) else None


def _at(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _shape(array: np.ndarray) -> str:
    return " x ".join(map(str, array.shape)) or "of a single number"


def _frozen(array: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    array.setflags(write=False)
    return array
