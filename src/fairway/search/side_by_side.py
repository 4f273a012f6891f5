"""Local search for many instances at once on one device: sets as whole numbers, first tours, then rounds in slices.

Amounts are rounded to whole numbers so that what keeps the limits there keeps them exactly: legs and openings up,
closings down. Whole data are not rounded at all. Tours go on in the memory of the device from slice to slice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway import clock
from fairway.errors import InvalidRequest
from fairway.kernels.moves.gpu import LANES, MOST_NODES, Launch, Variant, launch, variant_for
from fairway.problems.sets import InstanceSet

RANGE = 1 << 30
"""What no amount reaches."""
PART = 1 << 27
"""Numbers of the matrices that are worked out at a time."""
HOT, COLD = 5.0, 0.01
"""Temperatures at the beginning and the end, in mean legs of the first tour."""
HOT_BY_SET, COLD_BY_SET = 1.0, 0.01
"""The same for loads."""
LONGEST = 16
"""Stops of the longest string that is taken out: two of them are one per lane."""
BLINKS = (0, 8, 24, 48)
"""Of 256 places, how many are overlooked while a first tour is built, one try after the other."""
SLICES = 64
"""Launches in all, about: between them the clock is heard."""
FIRST = 16
"""Rounds of the first launch."""
RESAMPLED = 4
"""Launches after which walkers that are worst go on from where the best are."""
MOST_WALKERS = 32
"""Of one instance."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """B instances of V nodes on a device, the depot at both ends, in whole numbers."""

    variant: Variant
    to: Int[Tensor, "B V V"]
    back: Int[Tensor, "B V V"]
    """The same transposed; where legs are symmetric, the same."""
    own: Int[Tensor, "B V"]
    """Openings, or what is loaded."""
    closes: Int[Tensor, "B V"]
    near: Int[Tensor, "B V K"]
    order: Int[Tensor, "B M"]
    """Stops by their limits."""
    turned: bool
    """Whether tours run against the direction of the instances."""

    def __len__(self) -> int:
        return len(self.own)


def gpu_here() -> bool:
    """Whether torch sees a GPU."""
    return torch.cuda.is_available()


def numbers_of(instances: InstanceSet, device: torch.device | str) -> Numbers:
    """A set with windows alone or drafts alone, as the kernels take it."""
    if instances.nodes + 1 > MOST_NODES:
        raise InvalidRequest(
            f"the instances have {instances.nodes} nodes; the search on a device takes up to {MOST_NODES - 1}"
        )
    step = max(1, PART // (instances.nodes + 1) ** 2)
    parts = [_part(instances[at : at + step], device) for at in range(0, len(instances), step)]
    if len(parts) == 1:
        return parts[0]
    symmetric = all(part.variant.symmetric for part in parts)
    joined = {
        name: torch.cat([getattr(part, name) for part in parts])
        for name in ("to", "own", "closes", "near", "order")
    }
    back = joined["to"] if symmetric else torch.cat([part.back for part in parts])
    variant = replace(parts[0].variant, symmetric=symmetric)
    return Numbers(variant, back=back, turned=parts[0].turned, **joined)


def _part(instances: InstanceSet, device: torch.device | str) -> Numbers:
    travel = _travel(instances, device)
    turned = instances.laden and instances.load == "shrinking"
    if turned:
        travel = travel.mT
    count, nodes, _ = travel.shape
    legs = travel.new_zeros(count, nodes + 1, nodes + 1)
    legs[:, :-1, 1:-1], legs[:, :-1, -1] = travel[:, :, 1:], travel[:, :, 0]
    scaled = _laden if instances.laden else _timed
    to, own, closes = scaled(instances, legs)
    inner = to[:, 1:-1, 1:-1]
    symmetric = bool((inner == inner.mT).all()) and bool((to[:, 0, 1:-1] == to[:, 1:-1, -1]).all())
    if symmetric:
        to[:, 1:-1, 0], to[:, -1, 1:-1] = to[:, 0, 1:-1], to[:, 1:-1, -1]
    back = to if symmetric else to.mT.contiguous()
    variant = variant_for(nodes + 1, by_set=instances.laden, symmetric=symmetric)
    return Numbers(variant, to, back, own, closes, _near(to), _by_limit(own, closes), turned)


def _travel(instances: InstanceSet, device: torch.device | str) -> Float[Tensor, "B N N"]:
    points, matrix = instances.locations.coordinates, instances.locations.matrix
    if matrix is not None:
        return torch.tensor(matrix, device=device)
    assert points is not None, "there are coordinates or matrices"
    there = torch.tensor(points, device=device)
    apart = there[:, :, None] - there[:, None]
    return apart.square().sum(-1).sqrt()


def _column(
    values: Float[np.ndarray, "B N"] | None, like: Float[Tensor, "B V V"], other: float
) -> Float[Tensor, "B N"]:
    shape = (len(like), like.shape[1] - 1)
    if values is None:
        return like.new_full(shape, other)
    return torch.tensor(values, device=like.device)


def _timed(
    instances: InstanceSet, legs: Float[Tensor, "B V V"]
) -> tuple[Int[Tensor, "B V V"], Int[Tensor, "B V"], Int[Tensor, "B V"]]:
    """Times since the start; half of a service counts to the leg before it, and half to the leg after it."""
    opens, closes = (
        _column(getattr(instances, name), legs, other)
        for name, other in (("opens", 0.0), ("closes", math.inf))
    )
    service = _column(instances.service, legs, 0.0)
    begin = opens[:, :1]
    opens, closes = ((each - begin).clamp(min=-1.0) for each in (opens, closes))
    longest = legs.amax((1, 2)) + service.amax(1)
    never = longest * legs.shape[1] + opens.amax(1)
    closes = torch.minimum(closes, never[:, None])
    scale = _scale(closes.amax(1) + longest)[:, None]
    half = _up(service * scale / 2)
    half = torch.cat([half, half[:, :1] * 0], 1)
    to = _up(legs * scale[:, None]) + half[:, None] + half[:, :, None]
    own = _up(torch.cat([opens, opens[:, :1]], 1).clamp(min=0.0) * scale) + half
    last = torch.cat([closes, closes[:, :1]], 1) * scale
    limits = last.floor().to(torch.int32) + half
    limits[:, 0] = own[:, 0]
    return to, own, limits


def _laden(
    instances: InstanceSet, legs: Float[Tensor, "B V V"]
) -> tuple[Int[Tensor, "B V V"], Int[Tensor, "B V"], Int[Tensor, "B V"]]:
    """Loads; the depot's own draft is not checked."""
    demand = _column(instances.demand, legs, 0.0)
    draft = _column(instances.draft, legs, math.inf)
    everything = demand.sum(1)
    scale = _scale(2 * everything + 1)[:, None]
    own = _up(torch.cat([demand, demand[:, :1] * 0], 1) * scale)
    draft = torch.minimum(draft, everything[:, None] + 1)
    draft = torch.cat([draft, everything[:, None] + 1], 1)
    limits = (draft * scale).floor().to(torch.int32)
    limits[:, 0] = 0
    lengths = _scale(legs.amax((1, 2)) * legs.shape[1])
    return (legs * lengths[:, None, None]).round().to(torch.int32), own, limits


def _up(amounts: Float[Tensor, "B *S"]) -> Int[Tensor, "B *S"]:
    return amounts.ceil().to(torch.int32)


def _scale(most: Float[Tensor, " B"]) -> Float[Tensor, " B"]:
    """The largest power of two by which nothing comes near the end of the range; whole numbers stay whole."""
    return torch.exp2(torch.log2(0.49 * RANGE / most.clamp(min=1e-30)).floor())


def _near(to: Int[Tensor, "B V V"]) -> Int[Tensor, "B V K"]:
    """For each stop those that are nearest there and back; 0 where there are no more."""
    count, nodes, _ = to.shape
    both = to[:, 1:-1, 1:-1].float() + to[:, 1:-1, 1:-1].mT.float()
    both.diagonal(dim1=1, dim2=2).fill_(torch.inf)
    kept = min(LANES, nodes - 3)
    near = torch.zeros(count, nodes, LANES, dtype=torch.int16, device=to.device)
    if kept > 0:
        near[:, 1:-1, :kept] = 1 + both.topk(kept, largest=False).indices.to(torch.int16)
    return near


def _by_limit(own: Int[Tensor, "B V"], closes: Int[Tensor, "B V"]) -> Int[Tensor, "B M"]:
    first = own[:, 1:-1].argsort(dim=1, stable=True)
    then = closes[:, 1:-1].gather(1, first).argsort(dim=1, stable=True)
    return (1 + first.gather(1, then)).to(torch.int16)


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to search, all instances together."""

    seconds: float = math.inf
    rounds: int | None = None
    """Per walker; where they are given the clock plays no part, and equal seeds give equal tours."""
    walkers: int | None = None
    """Per instance; by default as many as keep the device busy."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best tours, in the direction of the instances; not yet judged."""

    tours: Int[np.ndarray, "B M"]
    there: Bool[np.ndarray, " B"]
    """Whether there is one; rows of the others mean nothing."""
    rounds: int
    walkers: int


@dataclass(frozen=True, slots=True, eq=False)
class Walkers:
    """Tours that go on from slice to slice, so many per instance."""

    numbers: Numbers
    each: int
    kept: Int[Tensor, "W V"]
    best: Int[Tensor, "W V"]
    costs: Int[Tensor, "W 3"]
    """Of the kept, the best and the first tour; negative where there is none."""


def search(
    numbers: Numbers,
    effort: Effort,
    seed: int = 0,
    start: Int[Tensor, "B V"] | None = None,
    run: Launch = launch,
) -> Found:
    """Better tours, from cheapest insertion or from those given, where they are feasible and shorter."""
    each = effort.walkers or max(1, min(MOST_WALKERS, _busy(numbers) // len(numbers)))
    pace = _Pace(effort)
    walkers = _begun(numbers, each, seed, start, run)
    while pace.left > 0:
        first, before = pace.done, pace.left
        rounds = pace.following()
        temperatures = _temperature(numbers, before), _temperature(numbers, pace.expected)
        _improve(walkers, seed, (first, first + rounds), temperatures, run)
        if effort.rounds is None and numbers.own.is_cuda:
            torch.cuda.synchronize(numbers.own.device)
        if pace.launched % RESAMPLED == 0:
            _resample(walkers)
    return _harvest(walkers, pace.done)


class _Pace:
    """Rounds of the next launch: an equal part of all, or as many as take an equal part of the seconds."""

    def __init__(self, effort: Effort) -> None:
        if effort.rounds is None and math.isinf(effort.seconds):
            raise InvalidRequest("the search would never end; give it seconds or rounds")
        self._effort, self._began = effort, clock.now()
        self._last, self._rounds = self._began, 0
        self.done = self.launched = 0

    @property
    def left(self) -> float:
        """The part that is left, from 1 to 0."""
        if self._effort.rounds is not None:
            return 1 - self.done / self._effort.rounds if self.done < self._effort.rounds else 0.0
        return max(0.0, 1 - (clock.now() - self._began) / max(self._effort.seconds, 1e-9))

    @property
    def expected(self) -> float:
        """The part that should be left after the launch."""
        return self.left if self._effort.rounds is not None else max(0.0, self.left - 1 / SLICES)

    def following(self) -> int:
        """How many rounds; they count as done."""
        now, most = clock.now(), self._effort.rounds
        if most is not None:
            rounds = min(-(-most // SLICES), most - self.done)
        elif self._rounds == 0:
            rounds = FIRST
        else:
            speed = self._rounds / max(now - self._last, 1e-6)
            seconds = min(1 / SLICES, self.left) * self._effort.seconds
            rounds = max(1, min(int(speed * seconds), 8 * self._rounds))
        self._last, self._rounds = now, rounds
        self.done += rounds
        self.launched += 1
        return rounds


def _busy(numbers: Numbers) -> int:
    """Walkers that a device works on at a time."""
    if not numbers.own.is_cuda:
        return 1
    device = torch.cuda.get_device_properties(numbers.own.device)
    return device.multi_processor_count * numbers.variant.warps * numbers.variant.blocks


def _temperature(numbers: Numbers, left: float) -> float:
    """The temperature, in mean legs of the first tour."""
    hot, cold = (HOT_BY_SET, COLD_BY_SET) if numbers.variant.by_set else (HOT, COLD)
    return cold + (hot - cold) * left**2


def _begun(
    numbers: Numbers, each: int, seed: int, start: Int[Tensor, "B V"] | None, run: Launch
) -> Walkers:
    """First tours of all walkers; what finds no place for a stop is tried again with more left to chance."""
    count, nodes = len(numbers) * each, numbers.own.shape[1]
    tours = torch.zeros(count, nodes, dtype=torch.int16, device=numbers.own.device)
    costs = torch.full((count, 3), -1, dtype=torch.int32, device=numbers.own.device)
    if start is not None:
        tours = start.to(tours).repeat_interleave(each, 0)
        costs = weights(numbers, start)[:, None].repeat_interleave(each, 0).repeat(1, 3)
    for blink in BLINKS:
        others, prices = torch.zeros_like(tours), torch.zeros_like(costs)
        facts = (numbers.to, numbers.back, numbers.own, numbers.closes, numbers.order)
        sizes = _sizes(numbers, each, seed + 7919 * blink, blink, 0)
        run(numbers.variant, "construct", count, (*facts, others, prices, sizes))
        better = (prices[:, 0] >= 0) & ((costs[:, 0] < 0) | (prices[:, 0] < costs[:, 0]))
        tours = torch.where(better[:, None], others, tours)
        costs = torch.where(better[:, None], prices, costs)
        if bool((costs[:, 0] >= 0).all()):
            break
    return Walkers(numbers, each, tours, tours.clone(), costs)


def _improve(
    walkers: Walkers,
    seed: int,
    span: tuple[int, int],
    temperatures: tuple[float, float],
    run: Launch,
) -> None:
    numbers = walkers.numbers
    facts = (numbers.to, numbers.back, numbers.own, numbers.closes, numbers.near)
    span_temperatures = torch.tensor(temperatures, dtype=torch.float32, device=numbers.own.device)
    sizes = _sizes(numbers, walkers.each, seed, *span)
    state = (walkers.kept, walkers.best, walkers.costs, sizes, span_temperatures)
    run(numbers.variant, "improve", len(walkers.kept), (*facts, *state))


def _resample(walkers: Walkers) -> None:
    """Let the best quarter of an instance's walkers go on in the place of the worst, as in population annealing."""
    count, part = len(walkers.numbers), walkers.each // 4
    if part == 0:
        return
    ranked = walkers.costs[:, 0].view(count, -1).argsort(dim=1, stable=True)
    ranked = ranked + walkers.each * torch.arange(count, device=ranked.device)[:, None]
    best, worst = ranked[:, :part].flatten(), ranked[:, -part:].flatten()
    for state in (walkers.kept, walkers.best, walkers.costs):
        state[worst] = state[best]


def _sizes(numbers: Numbers, each: int, seed: int, *own: int) -> Int[Tensor, " S"]:
    count, nodes = numbers.own.shape
    longest = min(LONGEST, nodes - 2)
    shape = (count * each, each, nodes, longest, seed % (1 << 31), 0)
    return torch.tensor([*shape, *own], dtype=torch.int32, device=numbers.own.device)


def tours_in(
    numbers: Numbers, tours: Sequence[Sequence[int] | np.ndarray | None]
) -> Int[Tensor, "B V"]:
    """Tours of the instances as nodes, the depot at both ends; the order of limits where there is none."""
    node = torch.empty(numbers.own.shape, dtype=torch.int16)
    node[:, 0], node[:, -1], node[:, 1:-1] = 0, node.shape[1] - 1, numbers.order.cpu()
    for row, tour in zip(node, tours, strict=True):
        if tour is not None:
            stops = torch.tensor(np.asarray(tour), dtype=torch.int16)
            row[1:-1] = stops.flip(0) if numbers.turned else stops
    return node.to(numbers.own.device)


def weights(numbers: Numbers, tours: Int[Tensor, "B V"]) -> Int[Tensor, " B"]:
    """What tours cost, the depot at both ends; negative where a limit is passed."""
    each, node = torch.arange(len(tours), device=tours.device), tours.long()
    cost = numbers.own.new_zeros(len(tours))
    resource, fits = numbers.own[:, 0].clone(), torch.ones_like(cost, dtype=torch.bool)
    for here, there in zip(node.T[:-1], node.T[1:], strict=True):
        leg, own = numbers.to[each, here, there], numbers.own[each, there]
        resource = resource + own if numbers.variant.by_set else torch.maximum(resource + leg, own)
        fits &= resource <= numbers.closes[each, there]
        cost += leg
    return torch.where(fits, cost, -1)


def _harvest(walkers: Walkers, rounds: int) -> Found:
    """The best tour of each instance."""
    count, nodes = len(walkers.numbers), walkers.best.shape[1]
    costs = walkers.costs[:, 1].view(count, -1).long()
    costs = torch.where(costs < 0, RANGE, costs)
    chosen = costs.argmin(1)
    best = walkers.best.view(count, -1, nodes)[torch.arange(count, device=chosen.device), chosen]
    tours = best[:, 1:-1].cpu().numpy().astype(np.int64)
    there = (costs.amin(1) < RANGE).cpu().numpy()
    turned = tours[:, ::-1] if walkers.numbers.turned else tours
    return Found(np.ascontiguousarray(turned), there, rounds, walkers.each)
