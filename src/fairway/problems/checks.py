"""The checks an instance makes on construction, and the read-only float64 arrays they return."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from fairway.errors import InvalidInstance
from fairway.given import is_whole, is_word_of, listed, shown
from fairway.problems.source import Source

MOST_NODES = 5_000
"""Of an instance in a file, of any format, and of each in a set: the travel matrix of more would take gigabytes."""

PART = 1 << 14
"""Numbers of a large array that are looked at together."""

LONGEST_NAME = 1_000
"""Characters in the name of an instance or a stop."""

LARGEST = 1e15
"""Beyond it float64 no longer tells neighbouring thousandths apart, and sums along a tour lose meaning."""


def matrix(
    values: ArrayLike, name: str = "travel", nodes: int | None = None, *, infinite: bool = False
) -> Float[np.ndarray, "N N"]:
    """A square, non-negative matrix of two nodes or more; its diagonal, never travelled, is set to zero.

    An infinite entry says that there is no way, and is taken only where that is said.
    """
    array = _numbers(values, name, infinite=infinite)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InvalidInstance(
            f"{name} has shape {_shape(array)}; expected a square matrix, one row and one column per node",
            name,
        )
    if len(array) < 2:
        raise InvalidInstance(
            "there is no stop besides the depot; expected at least two nodes", name
        )
    if nodes not in (None, len(array)):
        raise InvalidInstance(
            f"{name} has {len(array)} rows; expected {nodes}, one per node of the travel matrix",
            name,
        )
    _refuse(array < 0, array, name, "zero or more")
    np.fill_diagonal(array, 0.0)
    return _frozen(array)


def vector(
    values: ArrayLike | None,
    name: str,
    nodes: int,
    *,
    non_negative: bool = False,
    absent: float | None = None,
) -> Float[np.ndarray, " N"]:
    """One number per node; a single number stands for all nodes. Infinity is taken where it is the neutral value."""
    if values is None:
        assert absent is not None, f"{name} has a neutral value"
        return _frozen(np.full(nodes, absent))
    array = _numbers(values, name, infinite=absent == np.inf)
    if array.ndim == 0:
        array = np.full(nodes, array)
    if array.shape != (nodes,):
        raise InvalidInstance(
            f"{name} has shape {_shape(array)}; expected {nodes} numbers, one per node of the travel matrix",
            name,
        )
    if non_negative:
        _refuse(array < 0, array, name, "zero or more")
    return _frozen(array)


def amount(value: float, name: str, *, infinite: bool = False) -> float:
    """A number, zero or more."""
    if not _sound(value, infinite=infinite) or value < 0:
        raise InvalidInstance(
            f"{name} is {shown(value)}; expected a number, zero or more and at most {LARGEST:g}",
            name,
        )
    return float(value)


def choice(value: str, name: str, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if not is_word_of(value, choices):
        raise InvalidInstance(f"{name} is {shown(value)}; expected {' or '.join(choices)}", name)
    return value


def windows(
    given: Mapping[int, Sequence[tuple[float, float]]], nodes: int
) -> dict[int, tuple[tuple[float, float], ...]]:
    """Several windows of a stop, in order and apart from each other."""
    if not isinstance(given, Mapping):
        raise InvalidInstance(
            f"windows is {shown(given)}; expected a dictionary, of each node a list of (open, close)",
            "windows",
        )
    known = {
        _node(node, "windows", nodes): tuple(map(tuple, _rows(spans, "windows")))
        for node, spans in given.items()
    }
    for node, spans in known.items():
        ends = [end for span in spans for end in span]
        if (
            not ends
            or any(len(span) != 2 for span in spans)
            or not all(map(_sound, ends[:-1]))
            or not _sound(ends[-1], infinite=True)
            or sorted(ends) != ends
        ):
            raise InvalidInstance(
                f"the windows of node {node} are {shown(spans)}; expected at least one, each (open, close) with "
                f"open <= close, in order and without overlap, in numbers of at most {LARGEST:g}",
                "windows",
                (node,),
            )
    return {node: tuple((float(a), float(b)) for a, b in spans) for node, spans in known.items()}


def node_pairs(
    given: Sequence[tuple[int, int]], name: str, nodes: int
) -> tuple[tuple[int, int], ...]:
    """Two different stops each."""
    rows = _rows(given, name)
    for at, pair in enumerate(rows):
        numbers = all(map(is_whole, pair))
        if len(pair) != 2 or (numbers and (pair[0] == pair[1] or 0 in pair)):
            raise InvalidInstance(
                f"{name} has {shown(tuple(pair))}; expected two different stops, neither of them the depot 0",
                name,
                (at,),
            )
    return tuple((_node(a, name, nodes), _node(b, name, nodes)) for a, b in rows)


def breaks(given: Sequence[tuple[float, float, float]]) -> tuple[tuple[float, float, float], ...]:
    """When each may start, from and until, and how long it is."""
    rows = _rows(given, "breaks")
    for at, row in enumerate(rows):
        if (
            len(row) != 3
            or not (_sound(row[0]) and _sound(row[1], infinite=True) and _sound(row[2]))
            or not (row[0] <= row[1] and row[2] >= 0)
        ):
            raise InvalidInstance(
                f"a break is {shown(tuple(row))}; expected (earliest start, latest start, length) with earliest <= "
                f"latest and a length of zero or more, in numbers of at most {LARGEST:g}",
                "breaks",
                (at,),
            )
    return tuple((float(first), float(last), float(length)) for first, last, length in rows)


def end(node: int | None, nodes: int) -> int | None:
    """Where a tour ends."""
    return None if node is None else _node(node, "end", nodes)


def finite(array: Float[np.ndarray, "..."], name: str) -> None:
    """Refuse infinities and what is no number."""
    _refuse(~np.isfinite(array), array, name, "a finite number")


def ordered_windows(opens: Float[np.ndarray, " N"], closes: Float[np.ndarray, " N"]) -> None:
    """Refuse a window that closes before it opens."""
    if (wrong := np.flatnonzero(opens > closes)).size:
        stop = int(wrong[0])
        raise InvalidInstance(
            f"the window of node {stop} closes at {closes[stop]:g} before it opens at {opens[stop]:g}; "
            "expected open <= close",
            "closes",
            (stop,),
        )


def cargo_of_stops(
    demand: Float[np.ndarray, " N"], loaded: Float[np.ndarray, " N"], load: str
) -> None:
    """Refuse cargo at the depot, or loaded for it, or loaded where loads do not come and go."""
    if demand[0] != 0:
        raise InvalidInstance(
            f"the depot has a demand of {demand[0]:g}; expected 0, cargo belongs to the ports",
            "demand",
            (0,),
        )
    if (given := np.flatnonzero(loaded)).size and (given[0] == 0 or load != "signed"):
        node = int(given[0])
        why = "0 at the depot" if node == 0 else f"0 where the load is {load}, or load 'signed'"
        raise InvalidInstance(
            f"loaded[{node}] is {loaded[node]:g}; expected {why}", "loaded", (node,)
        )


def points(values: ArrayLike | None, nodes: int) -> Float[np.ndarray, "N 2"] | None:
    """An x and a y per node, or None."""
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
    """One distinct name per node, or None."""
    if names is None:
        return None
    if (given := listed(names)) is None:
        raise InvalidInstance(f"names is {shown(names)}; expected a list, one per node", "names")
    texts = (name if isinstance(name, str) else shown(name) for name in given)
    known = tuple(title(text, "names", node) for node, text in enumerate(texts))
    if len(known) != nodes:
        raise InvalidInstance(
            f"{len(known)} names were given; expected {nodes}, one per node", "names"
        )
    for node, name in enumerate(known if len(set(known)) < nodes else ()):
        if name in known[:node]:
            raise InvalidInstance(
                f"the name {name!r} is given to more than one node; names must be distinct",
                "names",
                (node,),
            )
    return known


def source(given: Source | None, nodes: int) -> Source | None:
    """What a file says besides the problem, with a text per node in every column."""
    if given is not None and not isinstance(given, Source):
        raise InvalidInstance(f"source is {shown(given)}; expected a Source, or None", "source")
    if given is not None:
        columns = {**given.columns, "ids": given.ids or ("",) * nodes}
        for name, texts in columns.items():
            if len(texts) != nodes:
                raise InvalidInstance(
                    f"the column {name!r} of the source has {len(texts)} texts; expected {nodes}, one per node",
                    "source",
                )
    return given


def title(name: object, field: str = "name", *index: int) -> str:
    """The name of an instance or a stop: a text of bearable length."""
    if isinstance(name, str) and len(name) <= LONGEST_NAME:
        return name
    found = f"has {len(name)} characters" if isinstance(name, str) else f"is {shown(name)}"
    # Only the name of a stop is sure to have a line of its own in a file.
    raise InvalidInstance(
        f"{field}{_at(index)} {found}; expected a text of at most {LONGEST_NAME} characters",
        field if index else None,
        index,
    )


def is_integral(*arrays: Float[np.ndarray, "..."]) -> bool:
    """Whether every number is whole, so that sums are exact and no tolerance is needed.

    Looked at in parts that stay near the core, of which the first with a fraction ends it.
    """
    flat = [array.ravel(order="K") for array in arrays]
    parts = (each[at : at + PART] for each in flat for at in range(0, each.size, PART))
    return all(bool((part == np.rint(part)).all()) for part in parts)


def array_of(values: ArrayLike, name: str, *, copy: bool = False) -> Float[np.ndarray, "..."]:
    """Numbers as float64, row by row where they are copied."""
    try:
        given = np.asarray(values)
        if given.dtype.kind in "biuf":
            return given.astype(np.float64, order="C" if copy else "K", copy=copy)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidInstance(
        f"{name} is not an array of numbers; expected rows of equal length, numbers only", name
    )


def _numbers(values: ArrayLike, name: str, *, infinite: bool = False) -> Float[np.ndarray, "..."]:
    """Numbers within reason as float64; with infinity among them only where that is said."""
    array = array_of(values, name, copy=True)
    wrong = ~np.isfinite(array)
    if infinite and wrong.any():
        wrong &= array != np.inf
    _refuse(wrong, array, name, "a finite number")
    beyond = (np.abs(array) > LARGEST) & (array < np.inf)
    _refuse(beyond, array, name, f"at most {LARGEST:g}, choose a larger unit")
    return array


def _sound(value: float, *, infinite: bool = False) -> bool:
    """Whether it is a number within reason, or infinity where that is taken."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return bool(abs(value) <= LARGEST) or (infinite and value == math.inf)


def _rows(given: object, name: str) -> list[list[Any]]:
    """A sequence of sequences, whatever they hold."""
    rows = listed(given)
    found = None if rows is None else [listed(row) for row in rows]
    if found is None or None in found:
        raise InvalidInstance(f"{name} is {shown(given)}; expected a list of rows", name)
    return [row for row in found if row is not None]


def _node(node: int, name: str, nodes: int) -> int:
    if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < nodes:
        raise InvalidInstance(
            f"{name} names node {shown(node)}; nodes are numbered 0 to {nodes - 1}", name
        )
    return int(node)


def _refuse(
    wrong: np.ndarray | np.bool, array: Float[np.ndarray, "..."], name: str, expected: str
) -> None:
    """Refuse the first number that is wrong."""
    if np.any(wrong):
        bad = tuple(np.argwhere(wrong)[0].tolist())
        found = f"{name}{_at(bad)} is {array[bad]:g}"
        raise InvalidInstance(f"{found}; expected {expected}", name, bad)


def _at(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _shape(array: np.ndarray) -> str:
    return " x ".join(map(str, array.shape)) or "of a single number"


def _frozen(array: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    array.setflags(write=False)
    return array
