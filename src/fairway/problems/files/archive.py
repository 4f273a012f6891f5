"""One instance, or a set, as a numpy archive: small on disk, quick to read, every number to its last bit."""

import io
import math
import zipfile
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from fairway.problems.files.points import is_euclidean, travel_between
from fairway.problems.files.text import Unreadable, shortened
from fairway.problems.instance import Instance, InstanceSet
from fairway.problems.places import Places
from fairway.problems.tspdl import TSPDL, Load, TSPDLSet
from fairway.problems.tsptw import TSPTW, TSPTWSet

LARGEST_CONTENT = 8 * 2**30
"""Bytes of all arrays together, unpacked; an archive that claims more is taken for a zip bomb."""

TEXTS = ("problem", "name", "load", "names", "labels")
NUMBERS = ("coordinates", "travel", "opens", "closes", "service", "demand", "draft", "scale")
COLUMNS = {"tsptw": ("opens", "closes", "service"), "tspdl": ("demand", "draft")}

Arrays = Mapping[str, np.ndarray]


def recognises(content: bytes) -> bool:
    """Whether the content opens as a zip file does."""
    return content.startswith(b"PK\x03\x04")


def parse(content: bytes, name: str) -> Instance | InstanceSet:
    """The instance or the set of an archive that `render` wrote; `name` is for one that gives none."""
    arrays = _arrays(content)
    problem = _text(arrays, "problem", "")
    if problem not in COLUMNS:
        raise Unreadable(
            f"the archive's problem is {shortened(problem)}; expected one of {', '.join(COLUMNS)}"
        )
    columns = {column: _column(arrays, column) for column in COLUMNS[problem]}
    shape = columns[COLUMNS[problem][0]].shape
    for column, values in columns.items():
        if values.shape != shape or values.ndim not in (1, 2):
            raise Unreadable(
                f"the array {column!r} has shape {values.shape}; expected nodes, or instances by nodes, like the rest"
            )
    coordinates = _place(arrays, "coordinates", (*shape, 2))
    travel = _place(arrays, "travel", (*shape, shape[-1]))
    if coordinates is None and travel is None:
        raise Unreadable("the archive holds neither coordinates nor travel; expected one or both")
    title = _text(arrays, "name", name)
    if len(shape) == 2:
        return _set(arrays, Places(coordinates, travel), columns, title)
    return _instance(arrays, (coordinates, travel), columns, title)


def render(item: Instance | InstanceSet) -> bytes:
    """The archive of an instance or a set; equal ones give equal bytes."""
    arrays: dict[str, np.ndarray] = {"problem": np.array(item.problem), "name": np.array(item.name)}
    if isinstance(item, Instance):
        coordinates, travel = item.coordinates, None if is_euclidean(item) else item.travel
        if item.names is not None:
            arrays["names"] = np.array(item.names)
    else:
        coordinates, travel = item.places.coordinates, item.places.matrix
        arrays["scale"] = np.array(math.nan if item.scale is None else item.scale)
        arrays["labels"] = np.array(item.labels, dtype=np.str_)
    if coordinates is not None:
        arrays["coordinates"] = coordinates
    if travel is not None:
        arrays["travel"] = travel
    for column in COLUMNS[item.problem]:
        arrays[column] = getattr(item, column)
    if isinstance(item, TSPDL | TSPDLSet):
        arrays["load"] = np.array(item.load)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return file.getvalue()


def _instance(
    arrays: Arrays, places: tuple[np.ndarray | None, np.ndarray | None], columns: Arrays, name: str
) -> Instance:
    coordinates, travel = places
    if travel is None:
        assert coordinates is not None, "one of the two was found"
        travel = travel_between(coordinates, "float")
    names = tuple(arrays["names"].ravel().tolist()) if "names" in arrays else None
    if "opens" in columns:
        opens, closes, service = columns.values()
        return TSPTW(travel, opens, closes, service, coordinates, names, name)
    demand, draft = columns.values()
    return TSPDL(travel, demand, draft, _load(arrays), coordinates, names, name)


def _set(arrays: Arrays, places: Places, columns: Arrays, name: str) -> InstanceSet:
    if not len(places):
        raise Unreadable("the archive holds a set of no instances; expected one or more")
    scale = _scale(arrays)
    labels = arrays["labels"].ravel().tolist() if "labels" in arrays else None
    if "opens" in columns:
        opens, closes, service = columns.values()
        return TSPTWSet(places, opens, closes, service, name, scale, labels)
    demand, draft = columns.values()
    return TSPDLSet(places, demand, draft, _load(arrays), name, scale, labels)


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    """The arrays by name.

    Everything is caught here, as nowhere else: on damaged bytes zipfile, zlib and numpy fail in more ways than they
    document, and whichever it is, the archive is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {name: _array(archive, info) for name, info in _members(archive).items()}
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"the archive is damaged: {error}") from error


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members = archive.infolist()
    if (claimed := sum(info.file_size for info in members)) > LARGEST_CONTENT:
        raise Unreadable(f"the archive claims {claimed} bytes; expected at most {LARGEST_CONTENT}")
    known = {f"{name}.npy": name for name in (*TEXTS, *NUMBERS)}
    found: dict[str, zipfile.ZipInfo] = {}
    for info in members:
        if info.filename not in known or known[info.filename] in found:
            raise Unreadable(
                f"the archive holds {shortened(info.filename)}, unknown or twice; expected one each of "
                f"{', '.join(known.values())} at most"
            )
        found[known[info.filename]] = info
    return found


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array, made only once its header is known to claim what the member holds."""
    with archive.open(info) as member:
        # Asking for the declared size keeps a member that unpacks to more from being unpacked whole.
        file = io.BytesIO(member.read(info.file_size))
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0
    shape, _, dtype = (header if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
    name = info.filename.removesuffix(".npy")
    if (
        min(shape, default=0) < 0
        or math.prod(shape) * dtype.itemsize != info.file_size - file.tell()
    ):
        raise Unreadable(f"the array {name!r} claims another size than it has")
    if dtype.kind not in ("U" if name in TEXTS else "iuf") or (
        name in NUMBERS and dtype.itemsize > 8
    ):
        raise Unreadable(
            f"the array {name!r} has type {dtype}; expected {'text' if name in TEXTS else 'numbers'}"
        )
    file.seek(0)
    array = np.lib.format.read_array(file, allow_pickle=False)
    if name in TEXTS:
        array.tolist()  # impossible characters fail here, where a damaged archive is expected
        return array
    return array.astype(np.float64)


def _text(arrays: Arrays, key: str, default: str) -> str:
    if key not in arrays:
        return default
    if arrays[key].ndim:
        raise Unreadable(f"the array {key!r} holds a list; expected a single text")
    return str(arrays[key].item())


def _load(arrays: Arrays) -> Load:
    load = _text(arrays, "load", "growing")
    if load not in ("growing", "shrinking"):
        raise Unreadable(f"the load is {shortened(load)}; expected 'growing' or 'shrinking'")
    return load


def _column(arrays: Arrays, key: str) -> Float[np.ndarray, "..."]:
    if key not in arrays:
        raise Unreadable(f"the array {key!r} is missing; expected one number a node")
    return arrays[key]


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
