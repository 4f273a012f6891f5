"""What a trained policy, or a trained colony, proposes for one instance by a given time.

Whether there is time for a tour is not known before: work is done in pieces, between which the clock is looked at, and
what would come too late at the pace so far is given up. One core is used: threads that wait for each other on a busy
machine took ten times as long.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from math import inf
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from fairway.inference.ants import iterate
from fairway.inference.config import ACOConfig
from fairway.inference.model import Colony, Model, load_colony, load_model
from fairway.kernels.pointer import Pointer, cpu
from fairway.policies.checkpoint import draws_heatmaps
from fairway.problems.batch import Batch, forwards, to_batch, view_batch
from fairway.problems.classic_view import ClassicView, classic_view
from fairway.problems.generate import generate
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet, instance_set
from fairway.search import guided
from fairway.search.decode import compiled, scoring, watch
from fairway.search.rollout import Pause, greedy, paused, rollout

WIDTH = 16
"""Of the beam."""
FORAGING = ACOConfig(ants=20)
PROBE = 200
"""Nodes of the instance by which the pace is measured."""
BEAM_SHARE = 0.9
"""Of the time, what a beam may take, so that a single tour can still be had instead."""

Tour = tuple[int, ...]


class _Late(Exception):
    """It would take too long."""


def load_trained(path: Path) -> Model | Colony:
    """Whichever of the two is there."""
    return load_colony(path) if draws_heatmaps(path) else load_model(path)


def pace_of(trained: Model | Colony) -> float:
    """Seconds on an idle core that the network takes for each pair of nodes, by a probe."""
    probe = generate(trained.problem, n=PROBE, hardness="hard", count=1)
    with _one_thread():
        began = time.thread_time()
        trained.policy(to_batch(probe, trained.device))
        return (time.thread_time() - began) / PROBE**2


def tours_within(
    trained: Model | Colony, instance: Instance, seconds: float, seed: int = 0, pace: float = 0.0
) -> Iterator[Tour]:
    """Different tours as they are found in so many seconds; none where the first of them would take too long.

    A policy reads the classic problem that is nearest, and its mask keeps what else is asked. The pace is the seconds
    that the network takes for each pair of nodes, at least.
    """
    until = time.monotonic() + seconds
    if pace * instance.nodes**2 > seconds:
        return
    view = classic_view(instance)
    trained.check(view.instance)
    with _one_thread(), suppress(_Late):
        if isinstance(trained, Colony):
            assert instance.classic, "ants keep no side constraints"
            yield from _by_ants(trained, instance_set([instance]), until, seed)
        else:
            yield from _by_policy(trained, view, until)


def rehearse(trained: Model | Colony, instance: Instance) -> None:
    """Every way to a tour once, so that nothing is left to compile or to load when the clock runs."""
    with _one_thread():
        if isinstance(trained, Colony):
            list(_by_ants(trained, instance_set([instance]), inf, 0))
            return
        batch = view_batch(classic_view(instance), trained.device)
        for way in WAYS:
            way(batch, trained, trained.policy(batch), inf)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Nothing but tours is wanted, and from this core alone."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_num_threads(before)


def _in_time(until: float, known: float = 1.0) -> Pause:
    """To be told which part of some work is done: ends it where the rest would be late, once its pace is known."""
    began = time.monotonic()

    def go_on(done: float) -> None:
        spent = time.monotonic() - began
        if began + (spent / done if done >= known else spent) >= until:
            raise _Late

    return go_on


@contextmanager
def _layer_by_layer(layers: torch.nn.ModuleList, pause: Pause) -> Iterator[None]:
    """Look at the clock before each layer of a network."""
    with ExitStack() as hooks:
        for number, layer in enumerate(layers):
            done = number / len(layers)
            hook = layer.register_forward_pre_hook(lambda *_, done=done: pause(done))
            hooks.callback(hook.remove)
        yield


def _by_policy(model: Model, view: ClassicView, until: float) -> Iterable[Tour]:
    """The tours of a beam, or a single one where there is no time for that."""
    batch = view_batch(view, model.device)
    with _layer_by_layer(model.policy.layers, _in_time(until, known=0.1)):
        pointer = model.policy(batch)
    for way in WAYS:
        with suppress(_Late):
            found = _different(instance_set([view.instance]), way(batch, model, pointer, until))
            return [tuple(stop for stop in tour if stop != view.end) for tour in found]
    return ()


def _different(one: InstanceSet, tours: Int[Tensor, "1 K M"]) -> dict[Tour, None]:
    return dict.fromkeys(map(tuple, forwards(one, tours.numpy())[0].tolist()))


def _likeliest(batch: Batch, model: Model, pointer: Pointer, until: float) -> Int[Tensor, "1 W M"]:
    """Of a beam."""
    now = time.monotonic()
    pause = _in_time(now + BEAM_SHARE * (until - now), known=0.02)
    look = paused(watch(batch, model.guard, None), batch, pause)
    return guided.beam(batch, look=look, score=scoring(batch, pointer), width=WIDTH)


def _single(batch: Batch, model: Model, pointer: Pointer, until: float) -> Int[Tensor, "1 1 M"]:
    """The best candidate at each step, without backtracking: a search mends the tour sooner."""
    pause = _in_time(until)
    if compiled(batch, pointer, model.guard):
        return cpu.decode(batch, pointer, model.guard, None, pause).tours
    look, score = paused(watch(batch, model.guard, 1), batch, pause), scoring(batch, pointer)
    return rollout(batch, look=look, score=score, select=greedy).tours


WAYS: tuple[Callable[[Batch, Model, Pointer, float], Int[Tensor, "1 K M"]], ...] = (
    _likeliest,
    _single,
)
"""To tours of a policy, the best first."""


def _by_ants(colony: Colony, one: InstanceSet, until: float, seed: int) -> Iterator[Tour]:
    """Iteration after iteration, as long as another one like the last fits in."""
    began, known = time.monotonic(), set[Tour]()
    pause = _in_time(until)
    with _layer_by_layer(colony.policy.layers, pause):
        wandering = iterate(colony, one, FORAGING, (seed, 0), pause=pause)
        for tours in islice(wandering, FORAGING.iterations):
            fresh = _different(one, tours)
            yield from (tour for tour in fresh if tour not in known)
            known |= fresh.keys()
            now = time.monotonic()
            if now + (now - began) > until:
                return
            began = now
