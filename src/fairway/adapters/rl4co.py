"""RL4CO environments over our distributions and masks, and the embeddings that its attention models need for them."""

from collections.abc import Sequence

from fairway.adapters import needing
from fairway.judge import Rejection, Solution, verify
from fairway.problems.generate import Distribution, named_distribution

with needing("rl4co", "rl4co", "tensordict", "torchrl", "torch"):
    import torch
    from rl4co.envs.common.base import RL4COEnvBase
    from rl4co.envs.common.utils import Generator
    from rl4co.models.nn.env_embeddings.context import EnvContext
    from rl4co.models.nn.env_embeddings.dynamic import StaticEmbedding
    from tensordict import TensorDict
    from torch import Tensor, nn
    from torchrl.data import Bounded, Composite, Unbounded

    from fairway.kernels.lookahead.config import MaskConfig
    from fairway.policies.features import features, horizon_of
    from fairway.problems.batch import Batch, Geometry, instances_in, rows
    from fairway.problems.draw import draw
    from fairway.problems.problem import State, start, step
    from fairway.problems.table import PROBLEMS
    from fairway.search.decode import watch
    from fairway.search.rollout import closed_length, violation_unit

JUDGED = 1e-4
"""Normalised units by which a limit may be passed: tensors are float32, and a tour adds up many of them."""


class TourGenerator(Generator):
    """Instances of one of our distributions, drawn on the device."""

    def __init__(
        self,
        problem: str = "tsptw",
        num_loc: int = 20,
        hardness: str | Distribution = "hard",
        device: str = "cpu",
    ) -> None:
        super().__init__()
        self.problem, self.num_loc = problem, num_loc
        self.distribution = named_distribution(problem, hardness)
        self.device = torch.device(device)

    def _generate(self, batch_size: Sequence[int], **_: object) -> TensorDict:
        """A batch drawn with torch's own random numbers, so that seeding torch repeats it."""
        count = int(torch.Size(batch_size).numel())
        seed = int(torch.randint(2**62, ()))
        rng = torch.Generator(self.device).manual_seed(seed)
        return fields_of(draw(self.distribution, self.num_loc, count, rng)).reshape(*batch_size)


class TourEnv(RL4COEnvBase):
    """Time windows (`tsptw`) or draft limits (`tspdl`), one stop per step, node 0 the depot.

    The action mask is our look-ahead; where it leaves nothing, all unvisited nodes are allowed, as in the paper, and
    `dead_ends` counts it. The reward is minus the length of the closed tour, minus `penalty` times what limits are
    passed by and how many of them are: the paper's Lagrangian. `judged` asks the judge, who knows no penalties.

    RL4CO's environments keep no state, so what the mask prepares for a batch is prepared at every step.
    """

    def __init__(
        self,
        problem: str = "tsptw",
        num_loc: int = 20,
        hardness: str | Distribution = "hard",
        mask: MaskConfig | None = None,
        penalty: float = 1.0,
        device: str = "cpu",
    ) -> None:
        super().__init__(device=device)
        self.name, self.penalty = problem, penalty
        self.generator = TourGenerator(problem, num_loc, hardness, device)
        self.mask = mask or MaskConfig("exact" if PROBLEMS[problem].exact_mask else "ahead")
        self._make_spec(self.generator)

    def _reset(self, td: TensorDict | None = None, batch_size: object = None) -> TensorDict:
        """All tours at the depot."""
        assert td is not None, "`reset` has drawn what was not given"
        batch = batch_of(td)
        state, zeros = start(batch), torch.zeros_like(batch.latest[:, 0])
        whole = fields_of(batch)
        whole.update(
            {
                "features": features(batch),
                "current_node": state.node[:, 0],
                "resource": state.resource[:, 0].clone(),
                "progress": zeros,
                "unvisited": state.unvisited[:, 0],
                "excess": zeros.clone(),
                "broken": zeros.clone(),
                "dead_ends": torch.zeros_like(state.node[:, 0]),
                "reward": zeros[:, None].clone(),
                "done": torch.zeros_like(state.unvisited[:, 0, :1]),
            }
        )
        return self._masked(whole, batch)

    def _step(self, td: TensorDict) -> TensorDict:
        """Every tour goes on to its action, whether the limit there is kept or not."""
        batch, action = batch_of(td), td["action"][:, None]
        state = step(batch, _state(td), action)
        over = (state.resource - batch.latest[rows(action), action])[:, 0]
        td.update(
            {
                "current_node": td["action"],
                "resource": state.resource[:, 0],
                "progress": state.resource[:, 0] / horizon_of(batch),
                "unvisited": state.unvisited[:, 0],
                "excess": td["excess"] + over.clamp(min=0),
                "broken": td["broken"] + (over > 0),
                "reward": torch.zeros_like(over)[:, None],
                "done": ~state.unvisited[:, 0].any(-1, keepdim=True),
            }
        )
        return self._masked(td, batch)

    def get_action_mask(self, td: TensorDict) -> Tensor:
        """What the look-ahead allows."""
        return watch(batch_of(td), self.mask, None)(_state(td)).allowed[:, 0]

    def get_num_starts(self, td: TensorDict) -> int:
        """One start per stop, as POMO asks for; the depot is none."""
        return td["locs"].shape[-2] - 1

    def select_start_nodes(self, td: TensorDict, num_starts: int) -> Tensor:
        """The first stops of so many tours per instance, in RL4CO's order: those that the mask allows, by turns."""
        allowed = td["action_mask"]
        first = (~allowed).to(torch.uint8).argsort(dim=-1, stable=True)
        turns = torch.arange(num_starts, device=allowed.device)[:, None] % allowed.sum(-1)
        return first.gather(-1, turns.mT).mT.reshape(-1)

    def _masked(self, td: TensorDict, batch: Batch) -> TensorDict:
        mask = watch(batch, self.mask, None)(_state(td))
        dead = mask.dead[:, 0] & td["unvisited"].any(-1)
        finished = ~td["unvisited"].any(-1)
        allowed = torch.where(dead[:, None], td["unvisited"], mask.allowed[:, 0])
        allowed[:, 0] |= finished  # a finished tour waits at the depot for the others
        return td.update({"action_mask": allowed, "dead_ends": td["dead_ends"] + dead})

    def _get_reward(self, td: TensorDict, actions: Tensor) -> Tensor:
        """Minus the paper's Lagrangian, in normalised units."""
        batch = batch_of(td)
        passed = td["excess"] / violation_unit(batch) + td["broken"]
        return -(closed_length(batch, actions[:, None])[:, 0] + self.penalty * passed)

    def check_solution_validity(self, td: TensorDict, actions: Tensor) -> None:
        """Assert that every tour visits every stop once; limits are the judge's."""
        stops = torch.arange(1, td["locs"].shape[1], device=actions.device)
        assert (actions.sort(-1).values == stops).all(), "a tour visits every stop once"

    def judged(self, td: TensorDict, actions: Tensor) -> list[Solution | Rejection]:
        """What the judge says of each tour, in float64 and in the units of the tensors."""
        tours = actions.cpu().tolist()
        pairs = zip(instances_in(batch_of(td)), tours, strict=True)
        return [verify(instance, tour, JUDGED) for instance, tour in pairs]

    def _make_spec(self, td_params: TourGenerator | None = None) -> None:
        """What TorchRL wants to know of tensors in advance."""
        assert td_params is not None
        nodes = td_params.num_loc
        self.observation_spec = Composite(
            locs=Bounded(low=0.0, high=1.0, shape=(nodes, 2), dtype=torch.float32),
            features=Unbounded(shape=(nodes, 4), dtype=torch.float32),
            current_node=Unbounded(shape=(1,), dtype=torch.int64),
            progress=Unbounded(shape=(1,), dtype=torch.float32),
            action_mask=Unbounded(shape=(nodes,), dtype=torch.bool),
            shape=(),
        )
        self.action_spec = Bounded(shape=(1,), dtype=torch.int64, low=0, high=nodes)
        self.reward_spec = Unbounded(shape=(1,))
        self.done_spec = Unbounded(shape=(1,), dtype=torch.bool)


class InitEmbedding(nn.Module):
    """Each node from its four numbers; the depot has a projection of its own.

    Where a node is stands in `locs`, which RL4CO turns and mirrors for its augmentation.
    """

    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        self.depot, self.stops = nn.Linear(4, embed_dim), nn.Linear(4, embed_dim)

    def forward(self, td: TensorDict) -> Tensor:
        """Embeddings of all nodes."""
        said = torch.cat([td["locs"], td["features"][..., 2:]], dim=-1)
        return torch.cat([self.depot(said[:, :1]), self.stops(said[:, 1:])], dim=1)


class Context(EnvContext):
    """Where the tour stands, and how far its time or load has got."""

    def __init__(self, embed_dim: int) -> None:
        super().__init__(embed_dim, embed_dim + 1)

    def _state_embedding(self, embeddings: Tensor, td: TensorDict) -> Tensor:
        return td["progress"][..., None]


def embeddings(embed_dim: int = 128) -> dict[str, nn.Module | int]:
    """What `AttentionModelPolicy(env_name=env.name, **embeddings())` needs to read these environments."""
    return {
        "embed_dim": embed_dim,
        "init_embedding": InitEmbedding(embed_dim),
        "context_embedding": Context(embed_dim),
        "dynamic_embedding": StaticEmbedding(),
    }


def fields_of(batch: Batch) -> TensorDict:
    """A batch with coordinates as RL4CO carries it."""
    assert batch.geometry.coordinates is not None, "drawn batches have coordinates"
    size = [len(batch.latest)]
    by_set = {"gain": batch.gain} if batch.by_set else {"stay": batch.stay}
    limits = {"earliest": batch.earliest, "latest": batch.latest}
    named = {"locs": batch.geometry.coordinates, "scale": batch.geometry.scale, **limits, **by_set}
    return TensorDict(named, batch_size=size, device=batch.latest.device)


def batch_of(td: TensorDict) -> Batch:
    """The batch that such a dictionary carries."""
    geometry = Geometry(td["locs"], None, td["scale"])
    return Batch(geometry, td["earliest"], td["latest"], td.get("stay"), td.get("gain"))


def _state(td: TensorDict) -> State:
    return State(td["current_node"][:, None], td["resource"][:, None], td["unvisited"][:, None])
