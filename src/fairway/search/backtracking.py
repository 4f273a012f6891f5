"""Backtracking: greedy tours that ran into a dead end are built again, each choice tried out before it is taken.

A choice is refused where the orders among what would be left leave some node no time, and taken back where every
choice after it is refused. No move of a feasible tour is refused for its orders, so that a tour which ended well would
be built the same again: only the others are. What comes of it, within a budget, is the greedy tour under an exact mask.
"""

from dataclasses import fields

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from fairway.kernels.lookahead import MaskConfig
from fairway.kernels.lookahead.config import MaskRule
from fairway.kernels.lookahead.orders import rounding, settled
from fairway.kernels.lookahead.table import Table, table
from fairway.kernels.pointer import Pointer
from fairway.problems.batch import Batch, take
from fairway.problems.problem import State, extend
from fairway.search.decode import build, scoring, watch
from fairway.search.rollout import Rollout, weighed

AT_A_TIME = 2**25
"""Pairs of nodes of the tours that are built again together."""
BUDGET = 200
"""Choices tried in vain or taken back: tours of the shipped policies of 50 and 100 nodes need no more."""


def build_with_backtracking(
    batch: Batch, pointer: Pointer, guard: MaskConfig, budget: int = BUDGET
) -> Rollout:
    """One greedy tour per instance; under a guard that asks about pairs, with backtracking if there is a budget."""
    built = build(batch, pointer, guard)
    asks_about_pairs = guard.kind == "ahead" and guard.rule.pairs and guard.until is None
    if not asks_about_pairs or budget == 0:
        return built
    # What broke no limit may still have had to return too late: it ran into a dead end as well.
    lost = torch.nonzero((built.broken + built.dead_ends)[:, 0])[:, 0]
    if not len(lost):
        return built
    whole = {field.name: getattr(built, field.name).clone() for field in fields(Rollout)}
    for part in lost.split(max(1, AT_A_TIME // batch.latest.shape[1] ** 2)):
        found, again = _built_again(take(batch, part), pointer.of(part), guard.rule, budget)
        for name, values in whole.items():
            values[part[found]] = getattr(again, name)[found]
    return Rollout(**whole)


@torch.no_grad()
def _built_again(
    batch: Batch, pointer: Pointer, rule: MaskRule, budget: int
) -> tuple[Bool[Tensor, " K"], Rollout]:
    """Which tours came to an end within the budget, and all of them."""
    known, walk = table(batch, rule), _Walk(batch)
    look, score = watch(batch, MaskConfig(rule=rule), None), scoring(batch, pointer)
    for _ in range(batch.latest.shape[1] + budget):
        state = walk.state
        mask = look(state)
        hopeful = mask.allowed[:, 0] & ~walk.refuted
        stuck = ~hopeful.any(-1)
        if bool((stuck & (walk.ended | walk.at_depot)).all()):
            break
        choice = score(state, mask)[:, 0].masked_fill(~hopeful, -torch.inf).argmax(-1)
        refused = refuses(known, rule, state, choice)
        walk.strike(choice, ~stuck & refused)
        back = stuck & ~walk.ended & ~walk.at_depot
        walk.go_on(choice, ~stuck & ~refused)
        walk.go_back(back)
    tours, resources = walk.path[:, None, 1:], walk.resources[:, None, 1:]
    return walk.ended, weighed(batch, tours, resources, torch.zeros_like(tours[..., 0]))


def refuses(
    known: Table, rule: MaskRule, state: State, choice: Int[Tensor, " K"]
) -> Bool[Tensor, " K"]:
    """Whether some node left has no time after the choice, windows narrowed from there on; of each only tour."""
    here, resource = state.node[:, 0], state.resource[:, 0]
    everyone = torch.arange(len(choice), device=choice.device)
    resource = torch.maximum(
        resource + known.increment[everyone, here, choice], known.earliest[everyone, choice]
    )
    rest = state.unvisited[:, 0].scatter(1, choice[:, None], value=False)
    reached = resource[:, None] + known.shortest[everyone, choice] - rounding(known.latest)
    lowest = torch.maximum(known.earliest, reached)
    lowest, highest = settled(lowest, known.latest, known.shortest, rest, rule.tolerance)
    return (rest & (lowest > highest + rule.tolerance)).any(-1)


class _Walk:
    """One unfinished tour per instance, and at each of its stops the choices that were tried and refuted."""

    def __init__(self, batch: Batch) -> None:
        count, nodes = batch.latest.shape
        self._batch = batch
        self._everyone = torch.arange(count, device=batch.latest.device)
        self._stops = torch.zeros_like(self._everyone)
        self._unvisited = torch.ones_like(batch.latest, dtype=torch.bool)
        self._unvisited[:, 0] = False
        self._refuted = self._unvisited.new_zeros((count, nodes, nodes))
        self.path = self._stops.new_zeros((count, nodes))
        """The depot, the stops so far, and beyond them whatever was there before."""
        self.resources = batch.initial[:, None].repeat(1, nodes)

    @property
    def state(self) -> State:
        """Where the tours stand."""
        at = self._stops[:, None]
        return State(
            self.path.gather(1, at), self.resources.gather(1, at), self._unvisited[:, None]
        )

    @property
    def ended(self) -> Bool[Tensor, " K"]:
        """The tours with all their stops."""
        return self._stops == self.path.shape[1] - 1

    @property
    def at_depot(self) -> Bool[Tensor, " K"]:
        """The tours that have none."""
        return self._stops == 0

    @property
    def refuted(self) -> Bool[Tensor, "K N"]:
        """What was tried in vain where the tours stand."""
        return self._refuted[self._everyone, self._stops]

    def go_on(self, choice: Int[Tensor, " K"], some: Bool[Tensor, " K"]) -> None:
        """Some tours take their choices."""
        state = self.state
        resource = extend(self._batch, state.resource, state.node, choice[:, None])[:, 0]
        one, chosen = self._everyone[some], choice[some]
        self._unvisited[one, chosen] = False
        self._stops[one] += 1
        self.path[one, self._stops[one]] = chosen
        self.resources[one, self._stops[one]] = resource[some]
        self._refuted[one, self._stops[one]] = False

    def strike(self, choice: Int[Tensor, " K"], some: Bool[Tensor, " K"]) -> None:
        """Some tours will not try their choices again where they stand."""
        one = self._everyone[some]
        self._refuted[one, self._stops[one], choice[some]] = True

    def go_back(self, some: Bool[Tensor, " K"]) -> None:
        """Some tours, none of them at the depot, undo their last stops and strike them out."""
        one = self._everyone[some]
        last = self.path[one, self._stops[one]]
        self._unvisited[one, last] = True
        self._stops[one] -= 1
        self._refuted[one, self._stops[one], last] = True
