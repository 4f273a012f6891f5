"""One instance, or a set, as a numpy archive: small on disk, quick to read, every number to its last bit."""

import io
import math
import sys
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from fairway.problems.checks import LONGEST_NAME, MOST_NODES
from fairway.problems.files import sources
from fairway.problems.files.fields import FIELDS, TOUR, held_by, problem_of, stated
from fairway.problems.files.text import Unreadable, check_size, shortened, travel_between
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet, Locations
from fairway.problems.table import PROBLEMS

LARGEST_CONTENT = 4 * 2**30
"""Bytes of all arrays together, unpacked."""

MOST_PACKED, SMALL = 100, 2**26
"""How many times its own size an archive may unpack to, unless that is small; real numbers shrink to a half at most."""

TEXTS = ("problem", "name", "load", "names", "labels")
NUMBERS = ("coordinates", "travel", *(name for name in FIELDS if name != "load"), "scale")
SOURCE = "source"
"""The array of the bytes of a JSON text: what the user's file says besides the problem."""
ROWS = {"windows": 3, "before": 2, "pairs": 2, "breaks": 3}
"""The fields that are lists of rows, and how long those are: of a window, its node, opening and closing."""

Arrays = Mapping[str, np.ndarray]


def recognises(content: bytes) -> bool:
    """Whether the content opens as a zip file does."""
    return content.startswith(b"PK\x03\x04")


def parse(content: bytes, name: str) -> Instance | InstanceSet:
    """The instance or the set of an archive that `render` wrote; `name` is for one that gives none."""
    arrays = arrays_of(content)
    item = _item(arrays, name)
    if SOURCE not in arrays:
        return item
    if not isinstance(item, Instance):
        raise Unreadable(
            f"the array {SOURCE!r} is unknown for a set; expected it with one instance"
        )
    try:
        text = arrays[SOURCE].tobytes().decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"the array {SOURCE!r} holds no text") from error
    return replace(item, source=sources.parsed(text))


def _item(arrays: Arrays, name: str) -> Instance | InstanceSet:
    problem = _text(arrays, "problem", "")
    if problem not in (*PROBLEMS, TOUR):
        raise Unreadable(
            f"the archive's problem is {shortened(problem)}; expected one of {', '.join((*PROBLEMS, TOUR))}"
        )
    if arrays.keys().isdisjoint(("coordinates", "travel")):
        raise Unreadable("the archive holds neither coordinates nor travel; expected one or both")
    if problem == TOUR:
        return _tour(arrays, name)
    for key in FIELDS:
        if key in arrays and not any(key in held_by(classic) for classic in PROBLEMS):
            raise Unreadable(
                f"the array {key!r} is unknown for {problem}; expected the problem {TOUR!r}, which takes it"
            )
    columns = _columns(arrays, PROBLEMS[problem].columns)
    shape = next(iter(columns.values())).shape
    coordinates = _place(arrays, "coordinates", (*shape, 2))
    travel = _place(arrays, "travel", (*shape, shape[-1]))
    given: dict[str, Any] = columns | ({} if problem == "tsptw" else {"load": _load(arrays)})
    if len(shape) == 2:
        if not shape[0]:
            raise Unreadable("the archive holds a set of no instances; expected one or more")
        locations, scale = Locations(coordinates, travel), _scale(arrays)
        labels = arrays["labels"].ravel().tolist() if "labels" in arrays else None
        return InstanceSet(
            locations, **given, name=_text(arrays, "name", name), scale=scale, labels=labels
        )
    return PROBLEMS[problem].make(**_where(arrays, name), **given)


def _where(arrays: Arrays, name: str) -> dict[str, Any]:
    """What an instance has whatever is asked of it: travel, places and names."""
    coordinates, travel = arrays.get("coordinates"), arrays.get("travel")
    if travel is None:
        assert coordinates is not None, "one of the two was found"
        travel = travel_between(coordinates, "float")
    names = tuple(arrays["names"].ravel().tolist()) if "names" in arrays else None
    title = _text(arrays, "name", name)
    return {"travel": travel, "coordinates": coordinates, "names": names, "name": title}


def _tour(arrays: Arrays, name: str) -> Instance:
    """An instance of any fields; the archive holds those that say something."""
    if "coordinates" in arrays:
        _place(arrays, "coordinates", (*arrays["coordinates"].shape[:1], 2))
    given: dict[str, Any] = {key: _asked(arrays, key) for key in FIELDS if key in arrays}
    return Instance(**_where(arrays, name), **given)


def _asked(arrays: Arrays, key: str) -> Any:  # noqa: ANN401
    array, single = arrays[key], key in ("capacity", "aboard", "end")
    if key == "load":
        return _text(arrays, key, "")
    if key in ROWS and (array.ndim != 2 or array.shape[1] != ROWS[key]):
        raise Unreadable(
            f"the array {key!r} has shape {array.shape}; expected rows of {ROWS[key]} numbers"
        )
    if single and array.ndim:
        raise Unreadable(f"the array {key!r} holds a list; expected a single number")
    if key == "windows":
        return _spans(array)
    if key in ("before", "pairs", "end"):
        array = _nodes(array, key)
    if key in ROWS:
        return [tuple(row) for row in array.tolist()]
    return array.item() if single else array


def _spans(rows: np.ndarray) -> dict[int, list[tuple[float, ...]]]:
    spans: dict[int, list[tuple[float, ...]]] = {}
    for node, span in zip(
        _nodes(rows[:, 0], "windows").tolist(), rows[:, 1:].tolist(), strict=True
    ):
        spans.setdefault(node, []).append(tuple(span))
    return spans


def _nodes(array: np.ndarray, key: str) -> np.ndarray:
    """Node numbers as such, and None for an end that is none."""
    if key == "end" and np.isnan(array):
        return np.array(None)
    if not (np.abs(array) <= MOST_NODES).all() or (array % 1).any():
        raise Unreadable(f"the array {key!r} names a node by no whole number; expected 0, 1, ...")
    return array.astype(int)


def render(item: Instance | InstanceSet) -> bytes:
    """The archive of an instance or a set; equal ones give equal bytes."""
    problem = problem_of(item) if isinstance(item, Instance) else item.problem
    arrays: dict[str, np.ndarray] = {"problem": np.array(problem), "name": _texts(item.name)}
    if isinstance(item, Instance):
        coordinates, travel = item.coordinates, None if item.is_euclidean else item.travel
        if item.source is not None:
            content = sources.rendered(item.source).encode()
            arrays[SOURCE] = np.frombuffer(content, np.uint8)
        if item.names is not None:
            arrays["names"] = _texts(list(item.names))
    else:
        coordinates, travel = item.locations.coordinates, item.locations.matrix
        arrays["scale"] = np.array(math.nan if item.scale is None else item.scale)
        arrays["labels"] = _texts(list(item.labels))
    if coordinates is not None:
        arrays["coordinates"] = coordinates
    if travel is not None:
        arrays["travel"] = travel
    if problem == TOUR:
        if not isinstance(item, Instance):
            raise Unreadable(
                "a set is written with time windows alone or draft limits alone; write each instance as .json or .npz"
            )
        arrays |= {key: _stored(value) for key, value in stated(item).items()}
    else:
        arrays |= {key: np.array(getattr(item, key)) for key in held_by(problem)}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return file.getvalue()


def _stored(value: Any) -> np.ndarray:  # noqa: ANN401
    """The array of a field: a row for each of several windows, nan for no end."""
    if isinstance(value, dict):
        value = [(node, *span) for node, spans in value.items() for span in spans]
    return np.array(math.nan if value is None else value)


def _texts(given: str | list[str]) -> np.ndarray:
    array = np.array(given, dtype=np.str_)
    if array.tolist() != given:  # numpy takes NULs at the end for padding
        raise Unreadable("npz cannot hold a name that ends in a NUL character; write .json instead")
    return array


def arrays_of(content: bytes) -> dict[str, np.ndarray]:
    """The arrays by name.

    Everything is caught here, as nowhere else: on damaged bytes zipfile, zlib and numpy fail in more ways than they
    document, and whichever it is, the archive is damaged.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # an old header is read as well as any
            archive = zipfile.ZipFile(io.BytesIO(content))
            return {
                name: _array(archive, info)
                for name, info in _members(archive, len(content)).items()
            }
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"the archive is damaged: {error}") from error


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    members = archive.infolist()
    claimed = sum(info.file_size for info in members)
    most = min(LARGEST_CONTENT, max(SMALL, MOST_PACKED * size))
    if claimed > most:
        raise Unreadable(f"the archive claims {claimed} bytes; expected at most {most}")
    known = {f"{name}.npy": name for name in (*TEXTS, *NUMBERS, SOURCE)}
    found: dict[str, zipfile.ZipInfo] = {}
    for info in members:
        if not info.filename.endswith(".npy"):
            raise Unreadable(
                f"is an archive with {shortened(info.filename)} in it; expected .npz or .xlsx, or unpack it first"
            )
        if info.filename not in known or known[info.filename] in found:
            raise Unreadable(
                f"the archive holds {shortened(info.filename)}, unknown or twice; expected one each of "
                f"{', '.join(known.values())} at most"
            )
        found[known[info.filename]] = info
    return found


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array, made only once its header is known to claim what the member holds and what an instance can."""
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        header = np.lib.format.read_array_header_1_0
        read_header = header if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(member)
        if (
            min(shape, default=0) < 0
            or math.prod(shape) * dtype.itemsize != info.file_size - member.tell()
        ):
            raise Unreadable(f"the array {name!r} claims another size than it has")
        _check_type(name, dtype)
        if name in NUMBERS and len(shape) > (name == "coordinates"):
            check_size(shape[-2 if name == "coordinates" else -1])
        member.seek(0)
        array = np.lib.format.read_array(member, allow_pickle=False)
    if name == SOURCE:
        return array
    if name in NUMBERS:
        return array.astype(np.float64, copy=False)
    letters = np.frombuffer(array.astype(dtype.newbyteorder("=")).tobytes(), np.uint32)
    if letters.max(initial=0) > sys.maxunicode:
        raise Unreadable(f"the array {name!r} holds characters beyond those of Unicode")
    return array


def _check_type(name: str, dtype: np.dtype) -> None:
    is_text = name in TEXTS
    if name == SOURCE and dtype != np.uint8:
        raise Unreadable(f"the array {name!r} has type {dtype}; expected bytes")
    if dtype.kind not in ("U" if is_text else "iuf") or (not is_text and dtype.itemsize > 8):
        expected = "text" if is_text else "numbers"
        raise Unreadable(f"the array {name!r} has type {dtype}; expected {expected}")
    if is_text and dtype.itemsize > 4 * LONGEST_NAME:
        raise Unreadable(
            f"the array {name!r} has room for texts of {dtype.itemsize // 4} characters; "
            f"expected at most {LONGEST_NAME}"
        )


def _text(arrays: Arrays, key: str, default: str) -> str:
    if key not in arrays:
        return default
    if arrays[key].ndim:
        raise Unreadable(f"the array {key!r} holds a list; expected a single text")
    return str(arrays[key].item())


def _load(arrays: Arrays) -> str:
    load = _text(arrays, "load", "growing")
    if load not in ("growing", "shrinking"):
        raise Unreadable(f"the load is {shortened(load)}; expected 'growing' or 'shrinking'")
    return load


def _columns(arrays: Arrays, names: tuple[str, ...]) -> dict[str, Float[np.ndarray, "..."]]:
    """The arrays of these names, all of one shape."""
    for column in names:
        if column not in arrays:
            raise Unreadable(f"the array {column!r} is missing; expected one number per node")
        found = arrays[column].shape
        if found != arrays[names[0]].shape or len(found) not in (1, 2):
            raise Unreadable(
                f"the array {column!r} has shape {found}; expected nodes, or instances by nodes, like the rest"
            )
    return {column: arrays[column] for column in names}


def _place(arrays: Arrays, key: str, shape: tuple[int, ...]) -> Float[np.ndarray, "..."] | None:
    if key not in arrays:
        return None
    if arrays[key].shape != shape:
        raise Unreadable(f"the array {key!r} has shape {arrays[key].shape}; expected {shape}")
    return arrays[key]


def _scale(arrays: Arrays) -> float | None:
    if "scale" not in arrays:
        return None
    scale = arrays["scale"]
    if scale.ndim or not (np.isnan(scale) or 0 < scale < math.inf):
        raise Unreadable("the array 'scale' is not a single positive number, nor nan for none")
    return None if np.isnan(scale) else float(scale)
