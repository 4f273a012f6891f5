"""A Gymnasium environment: one tour built stop by stop, under our look-ahead as its action mask."""

from typing import Any

import numpy as np

from fairway.adapters import needing
from fairway.errors import InvalidRequest
from fairway.judge import Rejection, verify
from fairway.problems.generate import Distribution, generate
from fairway.problems.instance import Instance
from fairway.problems.sets import instance_set

with needing("gym", "gymnasium", "torch"):
    import gymnasium
    import torch
    from gymnasium import spaces

    from fairway.kernels.lookahead.config import MaskConfig, strongest
    from fairway.policies.features import features, horizon_of
    from fairway.problems.batch import to_batch
    from fairway.problems.problem import start, step
    from fairway.search.decode import watch

Observation = dict[str, np.ndarray]


class TourEnv(gymnasium.Env[Any, Any]):
    """One instance per episode, one stop per step; the rewards of an episode add up to minus the cost of its tour.

    An observation has the `features` of all nodes (place, window or demand and draft, in normalised units), the `node`
    at which the tour stands, its `resource` (time or load, by the horizon), what is `unvisited`, and `action_mask`: the
    stops after which the look-ahead sees a way to serve the rest; all unvisited ones where it sees none, which `info`
    calls a dead end. No tour can be completed from there, and the judge will refuse it.

    A tour that the judge refuses, or a visit to the depot or to a stop a second time, ends the episode with a further
    reward of `-bound`, where `bound` is more than any tour costs: every feasible episode is worth more than any other.
    `info` of the last step says whether the tour is `feasible`, its `tour`, its `cost`, and the `violations`.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium asks for it

    def __init__(
        self,
        problem: str = "tsptw",
        n: int = 20,
        hardness: str | Distribution = "hard",
        mask: MaskConfig | None = None,
    ) -> None:
        generate(problem, n=n, hardness=hardness)  # refuses what there is not
        self.problem, self.n, self.hardness = problem, n, hardness
        self.mask = mask or strongest(problem)
        if self.mask.kind == "learned":
            raise InvalidRequest("a learned mask needs its head; choose none, ahead or exact")
        self.action_space = spaces.Discrete(n)
        self.observation_space = spaces.Dict(
            {
                "features": spaces.Box(-np.inf, np.inf, (n, 4), np.float32),
                "node": spaces.Box(0, n - 1, (1,), np.int64),
                "resource": spaces.Box(-np.inf, np.inf, (1,), np.float32),
                "unvisited": spaces.MultiBinary(n),
                "action_mask": spaces.MultiBinary(n),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a tour of a drawn instance, or of `options["instance"]`, which has as many nodes."""
        super().reset(seed=seed)
        given = (options or {}).get("instance")
        drawn = given or generate(
            self.problem, n=self.n, hardness=self.hardness, seed=self.np_random
        )
        self.instance = drawn if isinstance(drawn, Instance) else drawn[0]
        if (self.instance.problem, self.instance.nodes) != (self.problem, self.n):
            raise InvalidRequest(
                f"the instance is a {self.instance.problem} of {self.instance.nodes} nodes; this environment is made "
                f"for {self.problem} of {self.n}"
            )
        if self.instance.load == "shrinking":
            raise InvalidRequest("a tour is built as its load grows; give instance.reversed()")
        self._batch = to_batch(instance_set([self.instance]))
        self._look = watch(self._batch, self.mask, None)
        self._features = features(self._batch)[0].numpy()
        self._state, self._tour = start(self._batch), []
        return self._observed(), self._info()

    def step(
        self, action: int | np.integer
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Go on to a stop; the last one brings the tour back to the depot, and before the judge."""
        stop, here = int(action), int(self._state.node)
        if not self._state.unvisited[0, 0, stop]:
            refused = f"stop {stop} was visited before, or is the depot"
            return self._observed(), -self.bound, True, False, self._end(None, (refused,))
        self._tour.append(stop)
        self._state = step(self._batch, self._state, torch.tensor([[stop]]))
        reward = -float(self.instance.cost[here, stop])
        if len(self._tour) < self.n - 1:
            return self._observed(), reward, False, False, self._info()
        reward -= float(self.instance.cost[stop, 0])
        judged = verify(self.instance, self._tour)
        if isinstance(judged, Rejection):
            why = tuple(violation.why for violation in judged.violations)
            return self._observed(), reward - self.bound, True, False, self._end(judged.cost, why)
        return self._observed(), reward, True, False, self._end(judged.cost, ())

    @property
    def bound(self) -> float:
        """More than any tour of the instance costs: every node is left by its dearest way."""
        return float(self.instance.cost.max(axis=1).sum())

    def _observed(self) -> Observation:
        mask, unvisited = self._look(self._state), self._state.unvisited
        self._dead = bool(mask.dead & unvisited.any(-1))
        allowed = unvisited if self._dead else mask.allowed
        resource = self._state.resource[0] / horizon_of(self._batch)
        return {
            "features": self._features.copy(),
            "node": self._state.node[0].numpy().copy(),
            "resource": resource.numpy().copy(),
            "unvisited": unvisited[0, 0].numpy().astype(np.int8),
            "action_mask": allowed[0, 0].numpy().astype(np.int8),
        }

    def _info(self) -> dict[str, Any]:
        return {"dead_end": self._dead}

    def _end(self, cost: float | None, violations: tuple[str, ...]) -> dict[str, Any]:
        said = {"tour": tuple(self._tour), "cost": cost, "violations": violations}
        return {"feasible": not violations, **said, **self._info()}
