"""Weights under the names of the authors' public code, as policies of ours.

To try a file of weights on a published bed, with one greedy tour per instance (AM) or over eight symmetries (POMO):

    python tests/conformance/released.py am-star-pip-tsptw50-hard.npz tsptw50-hard lkh-tsptw50-hard.npz
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import count, takewhile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from fairway.errors import InvalidFile, InvalidRequest
from fairway.kernels.lookahead import MaskConfig, MaskRule
from fairway.policies.attention import Policy
from fairway.policies.config import PolicyConfig
from fairway.policies.norms import BatchNorm, Normalisation
from fairway.problems.augment import SYMMETRIES, symmetries
from fairway.problems.batch import to_batch
from fairway.problems.beds import load_bed
from fairway.problems.sets import InstanceSet
from fairway.search.decode import traced

DEPTH = 16
"""The width of a head, in all the authors' models; POMO's tensors do not tell it."""
PART = 250
"""Instances at a time, whose tables fit a cache."""

Weights = dict[str, Tensor]
STATISTICS = ("running_mean", "running_var")


class Shelf:
    """The tensors of a file, each of which is to be taken exactly once."""

    def __init__(self, named: Mapping[str, Tensor | np.ndarray]) -> None:
        self._left = {name.removeprefix("module."): torch.as_tensor(v) for name, v in named.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str) -> Tensor:
        """Hand a tensor out."""
        if name not in self._left:
            raise InvalidRequest(f"the weights have no {name}")
        return self._left.pop(name)

    def close(self) -> None:
        """Make sure that nothing was forgotten."""
        if self._left:
            names = ", ".join(sorted(self._left))
            raise InvalidRequest(
                f"the weights hold what no policy of ours has a place for: {names}"
            )


def read_weights(path: Path) -> Weights:
    """The tensors in a file: an npz of arrays, or a checkpoint of torch, of which no code is run."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return {name: torch.from_numpy(file[name]) for name in file.files}
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as refusal:
        raise InvalidFile(
            f"{path} holds more than tensors; save its state dict alone, or as an npz, where it is trusted"
        ) from refusal
    for wrapper in ("model", "model_state_dict"):
        held = held.get(wrapper, held)
    return dict(held)


def policy_of(
    named: Mapping[str, Tensor | np.ndarray], normalisation: Normalisation | None = None
) -> Policy:
    """Our policy with these weights, in eval mode.

    Running statistics tell batch normalisation; without them it is taken to be of instances, as in all the released
    weights but those whose settings say otherwise: then `normalisation` does too, and "batch" uses each batch's own.
    """
    shelf = Shelf(named)
    convert = next((find for name, find in BACKBONES.items() if name in shelf), None)
    if convert is None:
        raise InvalidRequest(f"neither {' nor '.join(BACKBONES)} is among the weights")
    config, ours = convert(shelf, normalisation)
    shelf.close()
    if ours["embed.weight"].shape[1] != 4:
        raise InvalidRequest(f"a node has {ours['embed.weight'].shape[1]} features; expected 4")
    policy = Policy(config)
    tracked = "layers.0.first_norm.running_mean" in ours
    policy.load_state_dict(ours if tracked else {**policy.state_dict(), **ours})
    policy.eval()
    for module in policy.modules():
        if isinstance(module, BatchNorm) and not tracked:
            module.train()
    return policy


def _am(shelf: Shelf, normalisation: Normalisation | None) -> tuple[PolicyConfig, Weights]:
    def layer(i: int) -> str:
        return f"embedder.layers.{i}"

    layers = _layers(shelf, lambda i: f"{layer(i)}.0.module.W_query")
    kind = normalisation or _kind(shelf, f"{layer(0)}.1.normalizer")
    foresight = "project_out_sl.weight" in shelf
    ours = _linear(shelf, "init_embed", "embed")
    for i in range(layers):
        attend = [shelf.take(f"{layer(i)}.0.module.W_{part}") for part in ("query", "key", "val")]
        heads, width, _ = attend[0].shape
        # Theirs is (head, from, to), with the heads' results side by side; ours is (to, from).
        ours[f"layers.{i}.attend.weight"] = torch.cat(
            [part.transpose(1, 2).reshape(-1, width) for part in attend]
        )
        joined = shelf.take(f"{layer(i)}.0.module.W_out").flatten(0, 1)
        ours[f"layers.{i}.join.weight"] = joined.T.contiguous()
        ours |= _norm(shelf, f"{layer(i)}.1.normalizer", f"layers.{i}.first_norm")
        ours |= _linear(shelf, f"{layer(i)}.2.module.0", f"layers.{i}.widen")
        ours |= _linear(shelf, f"{layer(i)}.2.module.2", f"layers.{i}.narrow")
        ours |= _norm(shelf, f"{layer(i)}.3.normalizer", f"layers.{i}.second_norm")
    ours |= _am_decoder(shelf, "", "decoder")
    if foresight:
        ours |= _am_decoder(shelf, "_sl", "foresight")
        # With a PIP-D decoder their code joins the heads of both with its projection; the other one is dead.
        ours["decoder.join.weight"] = ours["foresight.join.weight"]
    hidden = ours["layers.0.widen.weight"].shape[0]
    return PolicyConfig("am", layers, width, heads, hidden, kind, foresight), ours


def _am_decoder(shelf: Shelf, suffix: str, name: str) -> Weights:
    nodes = shelf.take(f"project_node_embeddings{suffix}.weight")
    parts = zip(("key", "value", "aim"), nodes.chunk(3), strict=True)
    return {f"{name}.{part}.weight": weight for part, weight in parts} | {
        f"{name}.query.weight": shelf.take(f"project_step_context{suffix}.weight"),
        f"{name}.context.weight": shelf.take(f"project_fixed_context{suffix}.weight"),
        f"{name}.join.weight": shelf.take(f"project_out{suffix}.weight"),
    }


def _pomo(shelf: Shelf, normalisation: Normalisation | None) -> tuple[PolicyConfig, Weights]:
    def layer(i: int) -> str:
        return f"encoder.layers.{i}"

    layers = _layers(shelf, lambda i: f"{layer(i)}.Wq.weight")
    kind = normalisation or _kind(shelf, f"{layer(0)}.addAndNormalization1.norm")
    foresight = "decoder.Wq_last_sl.weight" in shelf
    ours = _linear(shelf, "encoder.embedding_node", "embed")
    for i in range(layers):
        attend = [shelf.take(f"{layer(i)}.{part}.weight") for part in ("Wq", "Wk", "Wv")]
        ours[f"layers.{i}.attend.weight"] = torch.cat(attend)
        ours |= _linear(shelf, f"{layer(i)}.multi_head_combine", f"layers.{i}.join")
        ours |= _norm(shelf, f"{layer(i)}.addAndNormalization1.norm", f"layers.{i}.first_norm")
        ours |= _linear(shelf, f"{layer(i)}.feedForward.W1", f"layers.{i}.widen")
        ours |= _linear(shelf, f"{layer(i)}.feedForward.W2", f"layers.{i}.narrow")
        ours |= _norm(shelf, f"{layer(i)}.addAndNormalization2.norm", f"layers.{i}.second_norm")
    ours |= _pomo_decoder(shelf, "", "decoder")
    if foresight:
        ours |= _pomo_decoder(shelf, "_sl", "foresight")
    hidden, width = ours["layers.0.widen.weight"].shape
    return PolicyConfig("pomo", layers, width, width // DEPTH, hidden, kind, foresight), ours


def _pomo_decoder(shelf: Shelf, suffix: str, name: str) -> Weights:
    parts = {"query": "Wq_last", "key": "Wk", "value": "Wv"}
    projections = {
        f"{name}.{ours}.weight": shelf.take(f"decoder.{theirs}{suffix}.weight")
        for ours, theirs in parts.items()
    }
    return projections | _linear(shelf, f"decoder.multi_head_combine{suffix}", f"{name}.join")


BACKBONES = {"init_embed.weight": _am, "encoder.embedding_node.weight": _pomo}
"""By a tensor that only one of them has."""


def _layers(shelf: Shelf, name: Callable[[int], str]) -> int:
    return sum(1 for _ in takewhile(lambda i: name(i) in shelf, count()))


def _kind(shelf: Shelf, name: str) -> Normalisation:
    return "batch" if f"{name}.running_mean" in shelf else "instance"


def _linear(shelf: Shelf, theirs: str, ours: str) -> Weights:
    return {f"{ours}.{part}": shelf.take(f"{theirs}.{part}") for part in ("weight", "bias")}


def _norm(shelf: Shelf, theirs: str, ours: str) -> Weights:
    found = [part for part in STATISTICS if f"{theirs}.{part}" in shelf]
    if found:
        shelf.take(f"{theirs}.num_batches_tracked")  # tells nothing that the statistics do not
    return _linear(shelf, theirs, ours) | {
        f"{ours}.{part}": shelf.take(f"{theirs}.{part}") for part in found
    }


@dataclass(frozen=True, slots=True)
class Figures:
    """What the authors log: rates and gaps in percent, lengths and violations in normalised units."""

    sol_infeasible: float
    inst_infeasible: float
    length: float
    """The mean of the best feasible tour, over the instances that have one."""
    gap: float
    """The mean over the same instances; the reference file's costs are all taken as they are."""
    excess: float
    broken: float


@torch.no_grad()
def greedy_figures(policy: Policy, instances: InstanceSet, cost: np.ndarray) -> Figures:
    """Greedy tours under the authors' mask, judged as they do: AM strictly, POMO with eight views and a tolerance."""
    am = policy.config.backbone == "am"
    views, tolerance, mask = (1, 0.0, 1e-4) if am else (SYMMETRIES, 1e-5, 1e-5)
    guard = MaskConfig("ahead", MaskRule(steps=1, own=False, tolerance=mask))
    parts = []
    for first in range(0, len(instances), PART):
        batch = to_batch(instances[first : first + PART])
        unit = batch.horizon if batch.by_set else batch.unit
        seen = batch if am else symmetries(batch)
        built, _ = traced(seen, policy(seen), guard, None, None)
        columns = (built.worst, built.length, built.excess, built.broken)
        parts.append([column.double().view(views, -1) for column in columns])
        parts[-1][2] /= unit
    worst, length, excess, broken = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
    best = torch.where(worst > tolerance, torch.inf, length).amin(0)
    solved, known = best.isfinite(), torch.from_numpy(cost)
    return Figures(
        sol_infeasible=100 * (worst > tolerance).double().mean().item(),
        inst_infeasible=100 * (~solved).double().mean().item(),
        length=best[solved].mean().item(),
        gap=100 * (best / known - 1)[solved].mean().item(),
        excess=excess.mean().item(),
        broken=broken.mean().item(),
    )


def published_costs(path: Path, bed: str) -> np.ndarray:
    """The costs in a reference file, in normalised units, where LKH failed too."""
    with np.load(path) as file:
        return file["cost"] / (100 if bed.startswith("tsptw") else 1)


if __name__ == "__main__":
    weights, bed, costs = sys.argv[1:]
    found = greedy_figures(
        policy_of(read_weights(Path(weights))), load_bed(bed), published_costs(Path(costs), bed)
    )
    for name, value in asdict(found).items():
        print(f"{name:16} {value:.4f}")
