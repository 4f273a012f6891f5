"""From words on the command line to instances and tours."""

from importlib import resources
from pathlib import Path
from typing import NamedTuple

from fairway.cli import show
from fairway.cli.options import Reading
from fairway.errors import FairwayError, InvalidRequest
from fairway.problems.files import read, tours
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.problems.source import break_name


class Group(NamedTuple):
    """Instances to be solved together, and what people recognise each by."""

    labels: list[str]
    instances: list[Instance] | InstanceSet


def item_of(path: Path, reading: Reading) -> Instance | InstanceSet:
    """What a file holds, with what was given beside it."""
    return read(path, reading.distances, matrix=reading.matrix, speed=reading.speed)


def one_instance(path: Path, index: int | None, reading: Reading) -> Instance:
    """The instance of a file, or the one of a set that `index` names."""
    item = item_of(path, reading)
    if isinstance(item, Instance):
        if index not in (None, 0):
            raise InvalidRequest(f"{path}: holds one instance; --index {index} is not in it")
        _note_units(item)
        return item
    if index is None:
        raise InvalidRequest(f"{path}: holds {len(item)} instances; choose one with --index")
    return member(item, index, str(path))


def member(instances: InstanceSet, index: int, source: str) -> Instance:
    """One instance of a set, by its number from 0."""
    if not 0 <= index < len(instances):
        last = len(instances) - 1
        raise InvalidRequest(f"{source}: has no instance {index}; expected 0 to {last}")
    return instances[index]


def groups(paths: list[Path], reading: Reading) -> tuple[list[Group], list[FairwayError]]:
    """What the files hold, single instances together and each set by itself, and why others cannot be read."""
    labels, instances = [], []
    sets, refused = [], []
    for path in paths:
        try:
            item = item_of(path, reading)
        except FairwayError as error:
            refused.append(error)
            continue
        name = item.name or path.stem
        if isinstance(item, Instance):
            _note_units(item)
            labels.append(name)
            instances.append(item)
        else:
            sets.append(Group([f"{name}-{number}" for number in range(len(item))], item))
    groups = [Group(labels, instances), *sets]
    return [group for group in groups if group.labels], refused


def _note_units(instance: Instance) -> None:
    """A word on stderr where the units of an instance cannot fit."""
    for sentence in instance.unit_notes:
        show.note(f"{instance.name}: {sentence}")


def bundled_examples() -> list[Path]:
    """The instances that come with the package."""
    folder = Path(str(resources.files("fairway") / "examples"))
    return sorted(path for path in folder.iterdir() if path.suffix in {".csv", ".json"})


def time_given(words: str, instance: Instance) -> float:
    """A time as the instance has its times: of day where they came in so, else a number."""
    if instance.source is not None and instance.source.clock is not None:
        return instance.source.clock.time(words)
    try:
        return float(words)
    except ValueError as error:
        raise InvalidRequest(
            f"--now is {words!r}; expected a number, since the instance has no times of day"
        ) from error


def tour_given(words: str, instance: Instance) -> tuple[int, ...]:
    """A tour written out on the command line, or the one in a file of that name, or on stdin for `-`."""
    return tours.resolve(tours.given(words, instance), instance)


def done_given(words: str, instance: Instance) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The stops that were served, and the breaks that were taken, out of the names of both."""
    if not words.strip():
        return (), ()
    breaks = {called: number for number, called in enumerate(_breaks_called(instance))}
    named = [words.strip()] if words.strip() in breaks else tours.given(words, instance)
    stops = [word for word in named if word not in breaks]
    taken = tuple(breaks[word] for word in named if word in breaks)
    return tours.resolve(stops, instance) if stops else (), taken


def _breaks_called(instance: Instance) -> list[str]:
    """What breaks are called in words: by the file, else break, or with its number where there are several."""
    several = len(instance.breaks) > 1
    called = [
        break_name(instance.source, instance.breaks, number)
        or (f"break {number + 1}" if several else "break")
        for number in range(len(instance.breaks))
    ]
    return [name if name not in (instance.names or ()) else "" for name in called]
