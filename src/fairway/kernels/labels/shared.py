"""A layer filled by several threads at once.

Each thread keeps the labels of some sets and last stops, by their hash, in a part of the layer that is its own: no two
ever write to the same place. It extends every so-manieth label at hand, and sends what may be kept to whoever keeps
such labels, in a box for each; in the next round those take out, in the order of the senders, what the last round left
for them. So what a layer holds does not depend on how fast threads are. All that they do with a label is what one
thread alone does.
"""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from fairway import clock
from fairway.kernels.compiling import bare, inner
from fairway.kernels.labels import layers
from fairway.kernels.labels.bits import mixed
from fairway.kernels.labels.layers import Layer, Search, promising, put, reachable, so_far
from fairway.kernels.labels.space import Room, filling, following, reserve, roomier, table_size

MOST = 16
"""Threads; with more, handing out the work would take longer than doing it."""
WORTHWHILE = 1 << 19
"""Labels at hand times nodes from which on threads are faster: some milliseconds of work."""
LETTERS = 1 << 15
"""Labels that a thread sends in a round, at most: about ten milliseconds of work."""
APART = 64
"""Numbers between what two threads write to, so that no line of a cache is shared."""
PATIENCE = 3600.0
"""Seconds between two looks at the clock where no deadline comes sooner."""


class Mail(NamedTuple):
    """Labels on their way, in a box for every round, sender and recipient; two rounds take turns."""

    letters: Layer
    rows: int
    """Of a box."""
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
    _take_out(search, there, mail, me, 1 - turn)
    counters, nodes = search.counters, len(search.model.node)
    sent, fullest = mail.sent[turn, me], np.int64(0)
    threads = mail.sent.shape[1]
    for owner in range(threads):
        sent[owner] = 0
    while counters[layers.AT] < counters[layers.COUNT] and mail.stop[0] == 0:
        if fullest + nodes > mail.rows:
            break
        for place in range(reachable(search, here)):
            stop, resource = search.reached[place], search.resources[place]
            cost, rest = so_far(search, here, stop, resource)
            if promising(search, here, there, stop, resource, cost + rest):
                owner = _owner(there.visited[counters[layers.NEXT]], stop, threads)
                row = _box(mail, turn, me, owner) + sent[owner]
                sent[owner] += 1
                fullest = max(fullest, sent[owner])
                _post(search, there, mail.letters, row)
                mail.letters.last[row], mail.letters.resource[row] = stop, resource
                mail.letters.cost[row], mail.letters.rest[row] = cost, rest
        counters[layers.AT] += threads


@inner
def _box(mail: Mail, turn: int, sender: int, owner: int) -> int:
    """Where a box begins."""
    threads = mail.sent.shape[1]
    return ((turn * threads + sender) * threads + owner) * mail.rows


@inner
def _owner(visited: np.ndarray, last: int, threads: int) -> int:
    """Who keeps labels of that set and last stop; by other bits of the hash than tables look at."""
    return np.int64(((mixed(visited, last) >> np.uint64(32)) * np.uint64(threads)) >> np.uint64(32))


@inner
def _post(search: Search, there: Layer, letters: Layer, row: int) -> None:
    """Copy the set in the next free row, and the number of the label at hand."""
    new = search.counters[layers.NEXT]
    for word in range(there.visited.shape[1]):
        letters.visited[row, word] = there.visited[new, word]
    letters.parent[row] = search.counters[layers.AT]


@inner
def _take_out(search: Search, there: Layer, mail: Mail, me: int, turn: int) -> None:
    letters = mail.letters
    for sender in range(mail.sent.shape[1]):
        begin = _box(mail, turn, sender, me)
        for row in range(begin, begin + mail.sent[turn, sender, me]):
            new = search.counters[layers.NEXT]
            for word in range(there.visited.shape[1]):
                there.visited[new, word] = letters.visited[row, word]
            stop, parent = np.int64(letters.last[row]), np.int64(letters.parent[row])
            figures = letters.resource[row], letters.cost[row], letters.rest[row]
            put(search, there, stop, *figures, parent)


@bare
def find_owners(layer: Layer, threads: int, owners: Int[np.ndarray, " L"]) -> None:
    """Write down who keeps each label of a layer; dominated ones go to anyone."""
    for label in range(len(owners)):
        owners[label] = _owner(layer.visited[label], max(layer.last[label], 0), threads)


class Crew:
    """Threads that fill one layer after another; alone, a thread has nothing to share."""

    def __init__(self, threads: int, room: Room) -> None:
        self._threads, self._room = min(threads, MOST), room
        self._pool = ThreadPoolExecutor(self._threads)
        self._counters = np.zeros((self._threads, APART), np.int64)
        self._mail: Mail | None = None

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        if self._mail is not None:
            self._mail.stop[0] = 1
        self._pool.shutdown()

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
        mail = self._mail = self._mail or self._boxes(search)
        mail.sent[:], mail.stop[0] = 0, 0
        search, parts = self._split(search, mail.sent[1])
        turn = 0
        while mail.sent[1 - turn].any() or (not mail.stop[0] and (own[:, layers.AT] < count).any()):
            if self._short(search, mail.sent[1 - turn]):
                self._join(search)
                search, parts = self._split(self._room.made(search), mail.sent[1 - turn])
            labels = count + int(own[:, layers.NEXT].sum())
            self._round(parts, mail, turn, until - reserve(labels))
            turn = 1 - turn
        self._join(search)
        search.counters[layers.AT] = min(int(own[:, layers.AT].min()), count)
        search.counters[layers.MADE] += own[:, layers.MADE].sum()
        if search.counters[layers.AT] < count:
            layers.relink(following(search), int(search.counters[layers.NEXT]), search.slots)
        return search

    def _boxes(self, search: Search) -> Mail:
        """Boxes that take a small part of the memory of a layer, but hold what any label can become."""
        nodes, words, threads = len(search.model.node), search.model.needs.shape[1], self._threads
        rows = max(min(LETTERS, self._room.crowd // (8 * threads)) // threads, nodes)
        sent = np.zeros((2, threads, APART), np.int64)
        letters = layers.room(2 * threads**2 * rows, words)
        return Mail(letters, rows, sent, np.zeros(1, np.int64))

    def _round(self, parts: list[Search], mail: Mail, turn: int, limit: float) -> None:
        """Let every thread take its turn, and stop them where the time is up."""
        due: set[Future[None]] = {
            self._pool.submit(take_turn, part, mail, me, turn) for me, part in enumerate(parts)
        }
        pending = due
        while pending:
            left = min(limit - clock.now(), PATIENCE)
            if left <= 0:
                mail.stop[0] = 1
            pending = wait(pending, None if left <= 0 else left).not_done
        for each in due:
            each.result()

    def _short(self, search: Search, sent: Int[np.ndarray, "T P"]) -> bool:
        """Whether some part has no room for what was sent there, and a row to write the next set into."""
        due = self._counters[:, layers.NEXT] + sent.sum(axis=0)[: self._threads]
        return int(due.max()) >= len(following(search).last) // self._threads

    def _split(self, search: Search, sent: Int[np.ndarray, "T P"]) -> tuple[Search, list[Search]]:
        """The next layer in parts, one per thread, with room for what was sent there."""
        threads, count = self._threads, int(search.counters[layers.NEXT])
        owners = np.empty(count, np.int64)
        find_owners(following(search), threads, owners)
        counts = np.bincount(owners, minlength=threads)
        self._counters[:, layers.NEXT] = counts
        while self._short(search, sent):
            search = roomier(
                search, threads * (int((counts + sent.sum(axis=0)[:threads]).max()) + 1)
            )
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
        layers.relink(layer, int(self._counters[me, layers.NEXT]), slots)
        return filling(search, layer)._replace(
            slots=slots,
            counters=self._counters[me, : len(search.counters)],
            reached=np.empty(nodes + APART, np.int64)[:nodes],
            resources=np.empty(nodes + APART)[:nodes],
        )

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
