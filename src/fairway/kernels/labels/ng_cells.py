"""Which ng-paths are dominated where stops are counted: those of a cell are held side by side, the cheapest first."""

from fairway.kernels.compiling import ZERO, inner
from fairway.kernels.labels.ng_sweep import (
    COARSER,
    RIVALS,
    WIDEST,
    Cells,
    Sweep,
    closed_to,
    crown,
    place_of,
    within,
    write,
)


@inner
def push_by_stops(sweep: Sweep, parent: int, stop: int, resource: float, cost: float) -> int:
    """Write down the path whose memory is in the scratch, unless it is dominated; says how much work that was."""
    cells, scratch = sweep.cells, sweep.scratch
    stops = sweep.labels.stops[parent] + 1
    row = min(stops, len(cells.count) - 1)
    count, most = cells.count[row, stop], sweep.marks[WIDEST]
    resources, costs, memory = (
        cells.resource[row, stop],
        cells.cost[row, stop],
        cells.memory[row, stop],
    )
    place = _rank(sweep, row, stop, resource, cost)
    if place < 0:
        return -place
    work = place
    if place == count:
        if count == most:
            return work + _merge(sweep, row, stop, resource)
    else:
        last = place
        for other in range(place, count):
            if resources[other] >= resource and closed_to(
                scratch,
                memory[other],
                sweep.way.ahead[stop, place_of(sweep, resources[other]) >> COARSER],
            ):
                sweep.labels.gone[cells.label[row, stop, other]] = True
            else:
                if last < other:
                    _move(cells, row, stop, other, last)
                last += 1
        work += count - place
        count = last
        if count == most:
            count -= 1
            _lose(sweep, row, stop, count)
        for other in range(count, place, -1):
            _move(cells, row, stop, other - 1, other)
    cells.count[row, stop] = count + 1
    new = write(sweep, parent, stop, stops, resource, cost)
    resources[place], costs[place], cells.label[row, stop, place] = resource, cost, new
    for word in range(len(scratch)):
        memory[place, word] = scratch[word]
    return work


@inner
def _rank(sweep: Sweep, row: int, stop: int, resource: float, cost: float) -> int:
    """The place of the path whose memory is in the scratch among those of its cell; below nothing if dominated."""
    cells, rivals, place = sweep.cells, sweep.marks[RIVALS], ZERO
    while place < cells.count[row, stop] and cells.cost[row, stop, place] <= cost:
        if cells.resource[row, stop, place] <= resource:
            rivals -= 1
            if rivals <= 0 or within(cells.memory[row, stop, place], sweep.closed):
                crown(sweep, row, stop, cells.label[row, stop, place])
                return -1 - place
        place += 1
    return place


@inner
def _move(cells: Cells, row: int, stop: int, source: int, target: int) -> None:
    cells.resource[row, stop, target] = cells.resource[row, stop, source]
    cells.cost[row, stop, target] = cells.cost[row, stop, source]
    cells.label[row, stop, target] = cells.label[row, stop, source]
    for word in range(cells.memory.shape[3]):
        cells.memory[row, stop, target, word] = cells.memory[row, stop, source, word]


@inner
def _merge(sweep: Sweep, row: int, stop: int, resource: float) -> int:
    """Let the dearest label of a full cell stand for a dearer path as well."""
    cells, labels = sweep.cells, sweep.labels
    last = sweep.marks[WIDEST] - 1
    label = cells.label[row, stop, last]
    labels.resource[label] = min(labels.resource[label], resource)
    cells.resource[row, stop, last] = labels.resource[label]
    for word in range(len(sweep.scratch)):
        labels.memory[label, word] &= sweep.scratch[word]
        cells.memory[row, stop, last, word] = labels.memory[label, word]
    return 1


@inner
def _lose(sweep: Sweep, row: int, stop: int, place: int) -> None:
    """Let the last but one label of a full cell stand for the last one as well, which makes room."""
    cells, labels = sweep.cells, sweep.labels
    label, lost = cells.label[row, stop, place - 1], cells.label[row, stop, place]
    labels.gone[lost] = True
    labels.resource[label] = min(labels.resource[label], labels.resource[lost])
    cells.resource[row, stop, place - 1] = labels.resource[label]
    for word in range(labels.memory.shape[1]):
        labels.memory[label, word] &= labels.memory[lost, word]
        cells.memory[row, stop, place - 1, word] = labels.memory[label, word]
