"""A policy as the guide of an exact search: of each layer it keeps what is cheap to complete and likely to be right."""

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from fairway.inference.model import Model
from fairway.kernels.lookahead import Guard
from fairway.kernels.lookahead.rule import Outlook
from fairway.problems.batch import to_batch
from fairway.problems.problem import State
from fairway.problems.sets import InstanceSet
from fairway.search.decode import scoring, watch
from fairway.search.ranking import Labels

WORTH = 0.05
"""Of a unit of log-probability, in the lengths of the unit square that a policy sees."""
FORBIDDEN = -20.0
"""The least log-probability: of what the policy's mask forbids and the exact search does not."""


class PolicyGuide:
    """Ranks labels by their bounds, and by how likely the policy would have come to them."""

    def __init__(self, model: Model, one: InstanceSet, guard: Guard | None = None) -> None:
        """For the only instance of a set, whose unit the policy sees it in."""
        model.check(one)
        batch = to_batch(one, model.device)
        self._look = watch(batch, guard or model.guard, None)
        self._score = scoring(batch, model.policy(batch))
        unit = float(batch.ground.scale[0])
        self._level = unit if not batch.by_set else 1.0
        self._worth = WORTH * unit
        self._device, self._stops = model.device, -1
        self._likely = self._labels = np.zeros(1)
        self._chances = np.zeros((1, one.nodes))
        self._kept = np.zeros(1)

    def rank(
        self, parents: Labels, labels: Labels, parent: Int[np.ndarray, " L"]
    ) -> Float[np.ndarray, " L"]:
        """The bound of each label, and above it what it lacks in likelihood."""
        stops = int(parents.visited[0].sum())
        if stops != self._stops:
            self._stops, self._likely = stops, self._kept
            self._chances = self._log_chances(parents)
        self._labels = self._likely[parent] + self._chances[parent, labels.last]
        return labels.bound - self._worth * self._labels

    def keep(self, kept: Bool[np.ndarray, " L"]) -> None:
        """Remember how likely the next parents are."""
        self._kept = self._labels[kept]

    @torch.no_grad()
    def _log_chances(self, parents: Labels) -> Float[np.ndarray, "L N"]:
        """The log-probability of every next stop; what the mask forbids has the least."""
        level = torch.from_numpy(parents.level / self._level).float()
        unvisited = torch.from_numpy(~parents.visited)
        unvisited[:, 0] = False
        stand = (torch.from_numpy(parents.last), level, unvisited)
        state = State(*(part[None].to(self._device) for part in stand))
        outlook = self._look(state)
        allowed = outlook.allowed | (outlook.dead[..., None] & state.unvisited)
        scored = self._score(state, Outlook(outlook.level, outlook.bound, allowed))
        chances = torch.where(allowed, scored, -torch.inf).log_softmax(-1)
        return chances[0].clamp(min=FORBIDDEN).double().cpu().numpy()
