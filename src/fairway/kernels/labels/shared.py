"""A layer filled by several threads at once.

Each thread keeps the labels of some sets and last stops, by their hash, in a part of the layer that is its own: no two
ever write to the same place. Of n threads each extends every n-th label at hand, and leaves what another one keeps in a
box for it; in the next round every thread takes out, in the order of the senders, what the last round left for it. So
what a layer holds does not depend on how fast threads are. A label is extended, bounded and compared by the same code
as where there is one thread.
"""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int32

from fairway import clock
from fairway.kernels.compiling import bare, inner
from fairway.kernels.labels import layers
from fairway.kernels.labels.bits import mixed
from fairway.kernels.labels.layers import (
    Layer,
    Search,
    extended,
    promising,
    put,
    reachable,
    visit,
)
from fairway.kernels.labels.space import (
    Room,
    filling,
    following,
    linked,
    relink,
    reserve,
    roomier,
    table_size,
)

MOST = 16
"""Threads; with more, handing out the work would take longer than doing it."""
WORTHWHILE = 1 << 20
"""Labels at hand times nodes from which on two threads are faster under any bound: ten milliseconds of work."""
LETTERS = 1 << 15
"""Labels that a thread sends in a round, at most: about ten milliseconds of work."""
APART = 64
"""Numbers between what two threads write to, so that no line of a cache is shared."""
PATIENCE = 3600.0
"""Seconds between two looks at the clock where no deadline comes sooner."""


class Mail(NamedTuple):
    """Labels on their way, in a box for every round, sender and recipient; two rounds take turns.

    What else there is to know of a label follows from the one that it extends.
    """

    parent: Int32[np.ndarray, "2 T T R"]
    last: Int32[np.ndarray, "2 T T R"]
    resource: Float[np.ndarray, "2 T T R"]
    sent: Int[np.ndarray, "2 T P"]
    """Labels in each box; the last axis has room to spare."""
    stop: Int[np.ndarray, " 1"]
    """Not zero once nothing more is to be extended."""


@bare
def take_turn(search: Search, mail: Mail, me: int, turn: int) -> None:
    """Keep what the last round left for this thread, then extend labels until there is no more, or a box is full."""
    here, there = search.layers
    if search.counters[layers.LAYER] % 2 == 1:
        here, there = there, here
    _take_out(search, here, there, mail, me, 1 - turn)
    counters, nodes = search.counters, len(search.model.node)
    sent, fullest = mail.sent[turn, me], np.int64(0)
    parents, lasts, resources = mail.parent[turn, me], mail.last[turn, me], mail.resource[turn, me]
    threads = mail.sent.shape[1]
    for owner in range(threads):
        sent[owner] = 0
    while counters[layers.AT] < counters[layers.COUNT] and mail.stop[0] == 0:
        full = counters[layers.NEXT] + nodes > len(there.last)
        if full or fullest + nodes > mail.last.shape[3]:
            break
        at = counters[layers.AT]
        for place in range(reachable(search, here)):
            stop, resource = search.reached[place], search.resources[place]
            label = extended(search, here, at, stop, resource)
            visit(search, here, there, at, stop)
            if promising(search, there, label):
                key = mixed(there.visited[counters[layers.NEXT]], stop)
                owner = _owner(key, threads)
                if owner == me:
                    put(search, there, key, label)
                else:
                    row = sent[owner]
                    parents[owner, row], lasts[owner, row] = at, stop
                    resources[owner, row] = resource
                    sent[owner] = row + 1
                    fullest = max(fullest, row + 1)
        counters[layers.AT] += threads


@inner
def _owner(key: int, threads: int) -> np.int64:
    """Who keeps labels of that hash; by other bits of it than tables look at."""
    return np.int64(((key >> np.uint64(32)) * np.uint64(threads)) >> np.uint64(32))


@inner
def _take_out(search: Search, here: Layer, there: Layer, mail: Mail, me: int, turn: int) -> None:
    for sender in range(mail.sent.shape[1]):
        parent, last = mail.parent[turn, sender, me], mail.last[turn, sender, me]
        resource = mail.resource[turn, sender, me]
        for row in range(mail.sent[turn, sender, me]):
            at, stop = np.int64(parent[row]), np.int64(last[row])
            label = extended(search, here, at, stop, resource[row])
            visit(search, here, there, at, stop)
            put(search, there, mixed(there.visited[search.counters[layers.NEXT]], stop), label)


@bare
def find_owners(layer: Layer, threads: int, owners: Int[np.ndarray, " L"]) -> None:
    """Write down who keeps each label of a layer; dominated ones go to anyone."""
    for label in range(len(owners)):
        owners[label] = _owner(mixed(layer.visited[label], max(layer.last[label], 0)), threads)


class Crew:
    """Threads that fill one layer after another; alone, a thread has nothing to share."""

    def __init__(self, threads: int, room: Room) -> None:
        self._threads, self._room = min(threads, MOST), room
        self._shared: tuple[ThreadPoolExecutor, Mail] | None = None
        """What nobody needs before a layer is wide."""
        self._counters = np.zeros((self._threads, APART), np.int64)

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shared is not None:
            pool, mail = self._shared
            mail.stop[0] = 1
            pool.shutdown()

    def worthwhile(self, search: Search) -> bool:
        """Whether so many labels are still to be extended that sharing them is faster."""
        left = int(search.counters[layers.COUNT] - search.counters[layers.AT])
        return self._threads > 1 and left * len(search.model.node) >= WORTHWHILE

    def filled(self, search: Search, until: float) -> Search:
        """The same with all labels at hand extended, or as many as the time allows."""
        own, count = self._counters, int(search.counters[layers.COUNT])
        own[:, : len(search.counters)] = search.counters
        own[:, layers.AT] += np.arange(self._threads)
        own[:, layers.MADE] = 0
        if self._shared is None:
            self._shared = ThreadPoolExecutor(self._threads), self._boxes(search)
        pool, mail = self._shared
        mail.sent[:], mail.stop[0] = 0, 0
        search, parts = self._split(search, mail.sent[1])
        turn = 0
        while mail.sent[1 - turn].any() or (not mail.stop[0] and (own[:, layers.AT] < count).any()):
            if self._short(search, mail.sent[1 - turn]):
                search, parts = self._with_room(search, parts, mail.sent[1 - turn], pool)
            labels = count + int(own[:, layers.NEXT].sum())
            turns = {pool.submit(take_turn, part, mail, me, turn) for me, part in enumerate(parts)}
            _await(turns, mail, until - reserve(labels))
            turn = 1 - turn
        at = min(int(own[:, layers.AT].min()), count)
        if at == count:
            self._room.cut(parts, pool.map)
        self._join(search)
        search.counters[layers.AT] = at
        search.counters[layers.MADE] += own[:, layers.MADE].sum()
        return search if at == count else linked(search)

    def _boxes(self, search: Search) -> Mail:
        """Boxes that take a small part of the memory of a layer, but hold what any label can become."""
        nodes, threads = len(search.model.node), self._threads
        rows = max(min(LETTERS, self._room.most // (8 * threads)) // threads, nodes)
        shape = (2, threads, threads, rows)
        return Mail(
            np.empty(shape, np.int32),
            np.empty(shape, np.int32),
            np.empty(shape),
            np.zeros((2, threads, APART), np.int64),
            np.zeros(1, np.int64),
        )

    def _with_room(
        self,
        search: Search,
        parts: list[Search],
        sent: Int[np.ndarray, "T P"],
        pool: ThreadPoolExecutor,
    ) -> tuple[Search, list[Search]]:
        """The same with room for what was sent: larger, or cut as one thread does it."""
        if len(following(search).last) >= self._room.crowd:
            self._room.cut(parts, pool.map)
            list(pool.map(relink, parts))
            if not self._short(search, sent):
                return search, parts
        self._join(search)
        return self._split(roomier(search, self._wanted(search, sent)), sent)

    def _wanted(self, search: Search, sent: Int[np.ndarray, "T P"]) -> int:
        """Rows of a layer of which every part has room for what was sent."""
        return max(self._room.crowd, self._threads * self._due(search, sent))

    def _short(self, search: Search, sent: Int[np.ndarray, "T P"]) -> bool:
        """Whether some part has no room for what was sent there, and for all that one more label can become."""
        return self._due(search, sent) > len(following(search).last) // self._threads

    def _due(self, search: Search, sent: Int[np.ndarray, "T P"]) -> int:
        """The most rows that a part needs."""
        due = self._counters[:, layers.NEXT] + sent.sum(axis=0)[: self._threads]
        return int(due.max()) + len(search.model.node)

    def _split(self, search: Search, sent: Int[np.ndarray, "T P"]) -> tuple[Search, list[Search]]:
        """The next layer in parts, one per thread, with room for what was sent there."""
        threads, count = self._threads, int(search.counters[layers.NEXT])
        owners = np.empty(count, np.int64)
        find_owners(following(search), threads, owners)
        counts = np.bincount(owners, minlength=threads)
        self._counters[:, layers.NEXT] = counts
        while self._short(search, sent):
            search = roomier(search, self._wanted(search, sent))
        layer, order = following(search), np.argsort(owners, kind="stable")
        rows, ends = len(layer.last) // threads, counts.cumsum()
        for column in layer:
            moved = column[order]
            for me in range(threads):
                column[me * rows : me * rows + counts[me]] = moved[ends[me] - counts[me] : ends[me]]
        size = table_size(rows)
        if len(search.slots) < threads * size:
            search = search._replace(slots=np.empty(table_size(threads * size // 2), np.int32))
        return search, [self._part(search, me, rows, size) for me in range(threads)]

    def _part(self, search: Search, me: int, rows: int, size: int) -> Search:
        """What one thread works on."""
        nodes = len(search.model.node)
        layer = Layer(*(column[me * rows : (me + 1) * rows] for column in following(search)))
        slots = search.slots[me * size : (me + 1) * size]
        part = filling(search, layer)._replace(
            slots=slots,
            counters=self._counters[me, : len(search.counters)],
            reached=np.empty(nodes + APART, np.int64)[:nodes],
            resources=np.empty(nodes + APART)[:nodes],
        )
        relink(part)
        return part

    def _join(self, search: Search) -> None:
        """Close up the parts of the next layer."""
        layer, total = following(search), 0
        rows = len(layer.last) // self._threads
        for me, own in enumerate(self._counters):
            layers.compact(
                Layer(*(column[me * rows : (me + 1) * rows] for column in layer)),
                own[: len(search.counters)],
            )
            count = int(own[layers.NEXT])
            for column in layer:
                column[total : total + count] = column[me * rows : me * rows + count]
            total += count
        search.counters[layers.NEXT] = total


def _await(turns: set[Future[None]], mail: Mail, limit: float) -> None:
    """Wait until all have taken their turn, which is cut short where the time is up."""
    pending = turns
    while pending:
        left = min(limit - clock.now(), PATIENCE)
        if left <= 0:
            mail.stop[0] = 1
        pending = wait(pending, None if left <= 0 else left).not_done
    for each in turns:
        each.result()
