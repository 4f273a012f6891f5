"""The test sets and reference tours that the paper's authors publish as pickles, read without running them."""

import math
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from fairway.problems.files.opcodes import PROTOCOLS, StandIns, load
from fairway.problems.files.text import Unreadable, check_size
from fairway.problems.sets import InstanceSet, Locations
from fairway.problems.table import PROBLEMS

LAYOUT = {
    4: ("tsptw", ("coordinates", "service", "opens", "closes")),
    3: ("tspdl", ("coordinates", "demand", "draft")),
}
"""The problem, and what the tuple of one instance holds, by its length."""

NUMBER_CODES = frozenset({"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})
"""The numpy types that reference costs and tours may have."""


def recognises(content: bytes) -> bool:
    """Whether the content opens as a pickle of a protocol since 2 does."""
    return len(content) > 1 and content[0] == 0x80 and content[1] in PROTOCOLS


def parse(content: bytes, name: str) -> InstanceSet:
    """A published test set, in the raw units of its file."""
    rows = _rows(load(content))
    fields = len(rows[0]) if isinstance(rows[0], tuple) else 0
    if fields not in LAYOUT:
        raise _not_an_instance(0, "a tuple of four lists (time windows) or three (draft limits)")
    nodes = len(rows[0][0]) if isinstance(rows[0][0], list) else 0
    if nodes < 2:
        raise _not_an_instance(0, "a list of coordinates for two nodes or more")
    check_size(nodes)
    _check_amount(len(rows) * nodes, content)
    for index, row in enumerate(rows):
        _check_row(row, index, fields, nodes)
    problem, names = LAYOUT[fields]
    arrays = (np.array([row[field] for row in rows], np.float64) for field in range(fields))
    columns: dict[str, Any] = dict(zip(names, arrays, strict=True))
    locations = Locations(columns.pop("coordinates"))
    return InstanceSet(locations, **columns, name=name, scale=PROBLEMS[problem].scale)


def published_references(
    content: bytes,
) -> tuple[Float[np.ndarray, " B"], Int[np.ndarray, "B M"]]:
    """Costs and tours from a file of LKH-3 results.

    An array in place of a list is how the authors mark, on purpose or not, that LKH-3 found no feasible tour; the judge
    finds that out by itself. Raises `Unreadable` where the content is anything else.
    """
    rows = _rows(load(content, STAND_INS))
    costs, tours = [], []
    for index, row in enumerate(rows):
        if not isinstance(row, tuple) or len(row) != 2:
            raise _not_an_instance(index, "a pair of a cost and a tour")
        cost, tour = row
        if not _are_numbers([cost]) or not math.isfinite(cost):
            raise _not_an_instance(index, "a cost and a tour, the cost a number")
        costs.append(float(cost))
        tours.append(_stops(tour, index))
        if len(tours[-1]) != len(tours[0]):
            raise _not_an_instance(index, f"a tour of {len(tours[0])} stops like the first")
        _check_amount(len(rows) * len(tours[0]), content)
    return np.array(costs), np.array(tours, dtype=np.int64)


def _rows(value: object) -> list:
    if not isinstance(value, list) or not value:
        raise Unreadable("the pickle holds no list of instances")
    return value


def _check_amount(numbers: int, content: bytes) -> None:
    """Refuse what comes out far larger than its file, which only references to one instance many times can do."""
    if numbers > len(content):
        raise Unreadable("the pickle repeats an instance by reference; expected every one in full")


def _check_row(row: object, index: int, fields: int, nodes: int) -> None:
    """Look at types and lengths one level at a time: references may make a small pickle endlessly deep."""
    if not isinstance(row, tuple) or len(row) != fields:
        raise _not_an_instance(index, f"a tuple of {fields} lists like the first")
    for what, values in zip(LAYOUT[fields][1], row, strict=True):
        if not isinstance(values, list) or len(values) != nodes:
            raise _not_an_instance(index, f"{nodes} entries in its {what}, like the first")
        if not (_are_points(values) if what == "coordinates" else _are_numbers(values)):
            raise _not_an_instance(index, f"numbers in its {what}, and two a node for coordinates")


def _are_points(values: list) -> bool:
    pairs = all(isinstance(point, (list, tuple)) and len(point) == 2 for point in values)
    return pairs and _are_numbers(chain.from_iterable(values))


def _are_numbers(values: Iterable[object]) -> bool:
    return set(map(type, values)) <= {float, int}


def _stops(tour: object, index: int) -> list[int]:
    stops = tour.values.tolist() if isinstance(tour, _Array) and tour.values.ndim == 1 else tour
    if not isinstance(stops, list) or set(map(type, stops)) != {int}:
        raise _not_an_instance(index, "a tour of node numbers")
    if sorted(stops) != list(range(1, len(stops) + 1)):
        raise _not_an_instance(index, "a tour that visits every stop once")
    return stops


def _not_an_instance(index: int, expected: str) -> Unreadable:
    return Unreadable(
        f"instance {index} of the pickle is not like the authors'; expected {expected}"
    )


class _Number:
    """Stands in for a numpy number type, of a fixed list of them and little-endian."""

    def __init__(self, code: str, _align: bool = False, _copy: bool = True) -> None:
        if code not in NUMBER_CODES:
            raise ValueError("not a type of numbers")
        self.dtype = np.dtype(f"<{code}")

    def build(self, state: tuple) -> None:
        """Take numpy's state of a type, of which the byte order is all that matters here."""
        if state[1] not in ("<", "|"):
            raise ValueError("not little-endian")


class _Array:
    """Stands in for a numpy array, which older pickles make first and fill afterwards."""

    def __init__(self) -> None:
        self.values: np.ndarray = np.zeros(0)

    def build(self, state: tuple) -> None:
        """Take numpy's state of an array: version, shape, type, order, bytes."""
        _version, shape, number, _fortran, raw = state
        self.values = np.frombuffer(raw, number.dtype).reshape(shape)


def _filled(raw: bytes, number: _Number, shape: tuple[int, ...], _order: str) -> _Array:
    array = _Array()
    array.build((1, shape, number, False, raw))
    return array


def _scalar(number: _Number, raw: bytes) -> float | int:
    return np.frombuffer(raw, number.dtype).item()


def _encoded(text: str, encoding: str) -> bytes:
    """How protocol 2, which has no bytes, spells them."""
    if encoding != "latin1":
        raise ValueError("not how a pickle spells bytes")
    return text.encode("latin1")


STAND_INS: StandIns = {
    ("_codecs", "encode"): _encoded,
    ("numpy", "dtype"): _Number,
    ("numpy", "ndarray"): _Array,
    **{
        (f"numpy.{core}.{module}", name): stand_in
        for core in ("core", "_core")
        for module, name, stand_in in (
            ("multiarray", "scalar", _scalar),
            ("multiarray", "_reconstruct", lambda *_given: _Array()),
            ("numeric", "_frombuffer", _filled),
        )
    },
}
"""What the reference files name; numpy moved from `core` to `_core` with version 2."""
