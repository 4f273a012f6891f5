"""From words on the command line to instances and tours."""

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from fairway.errors import InvalidRequest
from fairway.problems.distances import Distances
from fairway.problems.files import read, tours
from fairway.problems.instance import Instance, InstanceSet


class Labelled(NamedTuple):
    """An instance and where it came from, for people to recognise it by."""

    label: str
    instance: Instance


def one_instance(path: Path, index: int | None, distances: Distances | None) -> Instance:
    """The instance of a file, or the one of a set that `index` names."""
    item = read(path, distances)
    if isinstance(item, Instance):
        if index not in (None, 0):
            raise InvalidRequest(f"{path}: holds one instance; --index {index} is not in it")
        return item
    if index is None:
        raise InvalidRequest(f"{path}: holds {len(item)} instances; choose one with --index")
    if not 0 <= index < len(item):
        raise InvalidRequest(f"{path}: has no instance {index}; expected 0 to {len(item) - 1}")
    return item[index]


def all_instances(paths: list[Path], distances: Distances | None) -> tuple[int, Iterator[Labelled]]:
    """How many instances the files hold, and the instances; every file is read before the first is handed on."""
    items = [(path.stem, read(path, distances)) for path in paths]
    count = sum(1 if isinstance(item, Instance) else len(item) for _, item in items)
    return count, (labelled for stem, item in items for labelled in _labelled(stem, item))


def bundled_examples() -> list[Path]:
    """The instances that come with the package."""
    folder = Path(str(resources.files("fairway") / "examples"))
    return sorted(path for path in folder.iterdir() if path.suffix in {".csv", ".json"})


def tour_given(words: str, instance: Instance) -> tuple[int, ...]:
    """A tour written out on the command line, or the one in a file of that name, or on stdin for `-`."""
    return tours.resolve(tours.read_tour(words), instance)


def _labelled(stem: str, item: Instance | InstanceSet) -> Iterator[Labelled]:
    if isinstance(item, Instance):
        yield Labelled(item.name or stem, item)
    else:
        for index, instance in enumerate(item):
            yield Labelled(f"{item.name or stem}-{index}", instance)
