"""Which ng-paths are dominated where the resource tells them apart: those of a stop are held by what they remember.

Most of a stop's labels remember the same as others. Of two such the later one must be the cheaper one, so that a path
is compared with one label of each group: the last of those that are not later than itself.
"""

import numpy as np

from fairway.kernels.compiling import ZERO, inner
from fairway.kernels.labels.ng_sweep import (
    COARSER,
    LOST,
    RIVALS,
    Groups,
    Sweep,
    closed_to,
    crown,
    place_of,
    within,
    write,
)


@inner
def push_by_memory(sweep: Sweep, parent: int, stop: int, resource: float, cost: float) -> int:
    """Write down the path whose memory is in the scratch, unless it is dominated; says how much work that was."""
    groups, work = sweep.groups, _compare(sweep, stop, resource, cost)
    if work < 0:
        return -work
    own, count = -1, groups.count[stop]
    for group in range(count):
        memory = groups.memory[stop, group]
        if own < 0 and within(memory, sweep.scratch) and within(sweep.scratch, memory):
            own = group
        if groups.resource[stop, group] >= resource:
            _drop(sweep, stop, group, resource, cost)
    if own < 0:
        if count == groups.memory.shape[1]:
            sweep.marks[LOST] = 1
            return work
        own = count
        groups.count[stop] = count + 1
        groups.last[stop, own] = -1
        for word in range(len(sweep.scratch)):
            groups.memory[stop, own, word] = sweep.scratch[word]
    _insert(sweep, write(sweep, parent, stop, 0, resource, cost), stop, own)
    return 2 * work


@inner
def _compare(sweep: Sweep, stop: int, resource: float, cost: float) -> int:
    """How many groups were compared, below nothing if dominated; a group that dominates moves towards the front."""
    groups, labels, rivals = sweep.groups, sweep.labels, sweep.marks[RIVALS]
    for group in range(groups.count[stop]):
        if groups.cost[stop, group] > cost:
            continue
        fits = within(groups.memory[stop, group], sweep.closed)
        if not fits and rivals >= groups.memory.shape[1]:
            continue
        label = groups.last[stop, group]
        while label >= 0 and labels.resource[label] > resource:
            label = groups.before[label]
        if label >= 0 and labels.cost[label] <= cost:
            rivals -= 1
            if fits or rivals <= 0:
                if fits:
                    crown(sweep, ZERO, stop, label)
                _swap(groups, stop, group, group // 2)
                return -1 - group
    return groups.count[stop]


@inner
def _swap(groups: Groups, stop: int, one: int, other: int) -> None:
    if one == other:
        return
    for numbers in (groups.cost, groups.resource):
        numbers[stop, one], numbers[stop, other] = numbers[stop, other], numbers[stop, one]
    groups.last[stop, one], groups.last[stop, other] = (
        groups.last[stop, other],
        groups.last[stop, one],
    )
    memory = groups.memory[stop]
    for word in range(memory.shape[1]):
        memory[one, word], memory[other, word] = memory[other, word], memory[one, word]


@inner
def _drop(sweep: Sweep, stop: int, group: int, resource: float, cost: float) -> None:
    """Leave out the labels of a group that the path at hand dominates."""
    groups, labels = sweep.groups, sweep.labels
    after, label = -1, groups.last[stop, group]
    while label >= 0 and labels.resource[label] >= resource:
        ahead = sweep.way.ahead[stop, place_of(sweep, labels.resource[label]) >> COARSER]
        if labels.cost[label] >= cost and closed_to(
            sweep.scratch, groups.memory[stop, group], ahead
        ):
            labels.gone[label] = True
            if after < 0:
                _set_last(sweep, stop, group, groups.before[label])
            else:
                groups.before[after] = groups.before[label]
        else:
            after = label
        label = groups.before[label]


@inner
def _set_last(sweep: Sweep, stop: int, group: int, label: int) -> None:
    groups = sweep.groups
    groups.last[stop, group] = label
    groups.cost[stop, group] = np.inf if label < 0 else sweep.labels.cost[label]
    groups.resource[stop, group] = -np.inf if label < 0 else sweep.labels.resource[label]


@inner
def _insert(sweep: Sweep, new: int, stop: int, group: int) -> None:
    """Put a label into its group, after all that are not higher."""
    groups, resources = sweep.groups, sweep.labels.resource
    after, label = ZERO - 1, groups.last[stop, group] + ZERO
    while label >= 0 and resources[label] > resources[new]:
        after, label = label, groups.before[label] + ZERO
    groups.before[new] = label
    if after < 0:
        _set_last(sweep, stop, group, new)
    else:
        groups.before[after] = new
