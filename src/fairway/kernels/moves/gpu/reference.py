"""What a walker does, stop by stop over plain lists: the search on a GPU must decide the same in every round.

Every place is tried by walking the whole tour. That equals the kernel's constant-time tests where no way through a stop
is shorter than the way past it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from jaxtyping import Int

DRAWS, BLINK, BY_CHANCE, LONGEST_MOVED = 64, 3, 77, 3
WORD = (1 << 32) - 1


def mixed(word: int) -> int:
    """A word that looks unlike the one given."""
    word = (word ^ (word >> 16)) * 0x21F0AAAD & WORD
    word = (word ^ (word >> 15)) * 0x735A2D97 & WORD
    return word ^ (word >> 15)


def draw(key: int, number: int, lane: int) -> int:
    """The word of a lane."""
    return mixed((lane * DRAWS + number) ^ key)


def exponential(luck: int) -> np.float32:
    """About exponentially distributed, in the very operations of the kernel."""
    bits = (np.float32((luck >> 8) + 1) * np.float32(1 / 16777216)).view(np.int32)
    part = ((bits & 0x7FFFFF) | 0x3F800000).view(np.float32) - np.float32(1)
    curve = part * (np.float32(1.3465) - np.float32(0.3465) * part)
    return np.float32(-0.6931472) * (np.float32((int(bits) >> 23) - 127) + curve)


@dataclass(slots=True)
class Walker:
    """A tour that goes on from round to round."""

    to: Int[np.ndarray, "V V"]
    own: Int[np.ndarray, " V"]
    closes: Int[np.ndarray, " V"]
    near: Int[np.ndarray, "V K"]
    by_set: bool
    symmetric: bool
    slots: int
    longest: int
    seed: int
    tour: list[int]
    first_cost: int
    best: list[int] = field(default_factory=list)

    def walk(self, span: tuple[int, int], temperatures: tuple[float, float]) -> None:
        """The rounds from one number up to another."""
        self.best = self.best or self.tour
        hot, cold = np.float32(temperatures[0]), np.float32(temperatures[1])
        leg = np.float32(self.first_cost) / np.float32(len(self.tour) - 1)
        for number in range(*span):
            key = mixed((mixed(self.seed) + number) & WORD)
            gone = np.float32(number - span[0]) / np.float32(span[1] - span[0])
            temperature = leg * (hot + (cold - hot) * gone)
            allowed = self.cost(self.tour) + int(temperature * exponential(draw(key, 0, 6)))
            tried = self.recreated(key)
            if tried is None or tried == self.tour:
                continue
            tried = self.descended(tried)
            if self.cost(tried) <= allowed:
                self.tour = tried
                self.best = min(self.best, tried, key=self.cost)

    def cost(self, tour: list[int]) -> int:
        """Of all legs."""
        return sum(int(self.to[here, there]) for here, there in pairwise(tour))

    def fits(self, tour: list[int]) -> bool:
        """Whether no limit is passed."""
        resource = int(self.own[0])
        for here, there in pairwise(tour):
            if self.by_set:
                resource += int(self.own[there])
            else:
                resource = max(resource + int(self.to[here, there]), int(self.own[there]))
            if resource > self.closes[there]:
                return False
        return True

    def overlooked(self, key: int, number: int, at: int) -> bool:
        """Whether chance hides a place."""
        lane, slot = divmod(at, self.slots)
        luck = draw(key, number, lane)
        for _ in range(slot // 4):
            luck = mixed((luck + 0x9E3779B9) & WORD)
        return luck >> 8 * (slot % 4) & 255 < BLINK

    def recreated(self, key: int) -> list[int] | None:
        """The tour after one or two strings have left it and come back."""
        out = self._strings(key)
        by_chance = draw(key, 0, 7) >> 24 < BY_CHANCE
        ranks = [draw(key, 1, lane) >> 2 for lane in range(len(out))]
        if not by_chance:
            ranks = [int(self.closes[stop]) for stop in out]
        tour = [node for node in self.tour if node not in set(out)]
        for number, lane in enumerate(sorted(range(len(out)), key=ranks.__getitem__)):
            tries = (
                [*tour[:at], out[lane], *tour[at:]]
                for at in range(1, len(tour))
                if not self.overlooked(key, 2 + number, at)
            )
            found = min(filter(self.fits, tries), key=self.cost, default=None)
            if found is None:
                return None
            tour = found
        return tour

    def _strings(self, key: int) -> list[int]:
        """The stops that leave, in the order of their positions."""
        luck = [draw(key, 0, lane) for lane in range(6)]
        stops = len(self.tour) - 2
        seed = 1 + (luck[0] * stops >> 32)
        a, b = self._string(self.tour.index(seed), luck[1], luck[2])
        others = [int(stop) for stop in self.near[seed] if stop > 0]
        places = [at for at in map(self.tour.index, others) if not a <= at < b]
        if luck[3] & 1 or not places:
            return self.tour[a:b]
        c, d = self._string(places[0], luck[4], luck[5])
        c, d = (max(c, b), d) if places[0] >= b else (c, min(d, a))
        return self.tour[c:d] + self.tour[a:b] if c < a else self.tour[a:b] + self.tour[c:d]

    def _string(self, at: int, luck: int, other: int) -> tuple[int, int]:
        length = 1 + (luck * self.longest >> 32)
        first = max(1, at - (other * length >> 32))
        return first, min(first + length, len(self.tour) - 1)

    def descended(self, tour: list[int]) -> list[int]:
        """The tour after moves from nodes whose neighbours have changed, until none improves it."""
        waiting = _arcs(tour) ^ _arcs(self.tour)
        queue = {node for arc in waiting for node in arc}
        while queue:
            node = min(queue)
            queue.remove(node)
            least, found = 0, None
            for a, b, where, turned in self._moves(tour.index(node), len(tour)):
                block, rest = tour[a:b], tour[:a] + tour[b:]
                new = rest[:where] + (block[::-1] if turned else block) + rest[where:]
                worth = self.cost(new) - self.cost(tour)
                if worth < least and self.fits(new):
                    least, found = worth, (new, a, b, where if where < a else where + b - a)
            if found is not None:
                new, *cuts = found
                queue |= {node, *(tour[at - back] for at in cuts for back in (0, 1))}
                tour = new
        return tour

    def _moves(self, at: int, nodes: int) -> Iterator[tuple[int, int, int, bool]]:
        """Blocks [a, b), where they go in what is left, and whether turned: or-opt of what begins here, and 2-opt."""
        if not 1 <= at < nodes - 1:
            return
        for b in range(at + 1, min(at + LONGEST_MOVED, nodes - 1) + 1):
            for where in range(1, nodes - (b - at)):
                if where != at:
                    yield at, b, where, False
                yield at, b, where, True
        if self.symmetric:
            yield from ((at, end + 1, at, True) for end in range(at + 1, nodes - 1))
            yield from ((begin, at + 1, begin, True) for begin in range(1, at))


def _arcs(tour: list[int]) -> set[tuple[int, int]]:
    return set(pairwise(tour))
