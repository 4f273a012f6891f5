"""A run on disk, so that it resumes as if it had never stopped: one file, replaced whole."""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import torch as safetensors
from torch import Tensor

from fairway import atomic
from fairway.errors import InvalidFile, InvalidRequest
from fairway.kernels.lookahead.config import RENAMED
from fairway.policies import checkpoint
from fairway.train.muon import Muon, turned
from fairway.train.processes import DistContext
from fairway.train.run import Config, Run, begin

FORMAT = 1
NAME = checkpoint.SNAPSHOT
RECORD = "run"
"""The metadata's one entry: a JSON object with everything that is not a tensor."""
ALONE = DistContext()
MOMENTS = ("exp_avg", "exp_avg_sq", "step")
RETIRED = {"search": "own"}
"""Fields that configs had once, with the only values that still mean what a run does."""
ADDED = {"starts": False}
"""Fields that configs had not always, with what was meant."""


def save(run: Run, folder: Path) -> None:
    """Write all that the next step depends on; the snapshot before it survives any failure."""
    tensors = dict(run.sums)
    for name, module in run.modules():
        tensors |= {f"{name}.{key}": tensor for key, tensor in module.state_dict().items()}
    for name, parameter in run.policy.named_parameters():
        for moment, tensor in run.optimiser.state.get(parameter, {}).items():
            tensors[f"{moment}.{name}"] = tensor
    record = {
        "format": FORMAT,
        "config": asdict(run.config),
        "step": run.step,
        "seconds": run.seconds,
        "marks": run.marks,
    }
    content = safetensors.save(checkpoint.portable(tensors), metadata={RECORD: json.dumps(record)})
    atomic.write_bytes(folder / NAME, content)


def holds_a_run(folder: Path) -> bool:
    """Whether a run was begun in this folder."""
    return (folder / NAME).exists()


def content(folder: Path) -> bytes:
    """The last snapshot of the run in a folder."""
    if not holds_a_run(folder):
        raise InvalidRequest(f"{folder}: holds no run to resume; leave out --resume to begin one")
    return checkpoint.content_of(folder / NAME)


def restore(
    config: Config, folder: Path, device: torch.device, world: DistContext = ALONE
) -> Run[Any]:
    """The run of a folder where its last snapshot left it, on any device; another config than its own is refused.

    Of several processes the first one reads, so that all go on from the same step, and need no folder in common.
    """
    place = folder / NAME
    tensors, metadata = checkpoint.tensors_in(world.told(lambda: content(folder)), place)
    record = _record(metadata, place)
    asked = json.loads(json.dumps(asdict(config)))
    if (own := _today(record["config"], asked)) != asked:
        raise InvalidRequest(_of_another(own, asked, folder))
    run = begin(config, device)
    parts: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        first, _, rest = name.partition(".")
        parts.setdefault(first, {})[rest] = tensor
    for name, module in run.modules():
        own = parts.pop(name, {})
        checkpoint.check_fit(module, own, place, f"{name}.")
        module.load_state_dict(own)
    _restore_moments(run, {moment: parts.pop(moment, {}) for moment in MOMENTS}, place)
    for name, own in run.sums.items():
        found = parts.pop(name, {})
        if found.keys() != {""} or found[""].shape != own.shape:
            raise InvalidFile(f"{place}: lacks its running sums; begin a new run in another folder")
        own.copy_(found[""])
    if parts:
        raise InvalidFile(f"{place}: holds an odd {min(parts)}; its config asks for other tensors")
    run.step, run.seconds, run.marks = record["step"], record["seconds"], record["marks"]
    return run


def _record(metadata: dict[str, str], place: Path) -> dict[str, Any]:
    """What the metadata say, checked to be ours."""
    record: Any = None
    with suppress(ValueError):
        record = json.loads(metadata.get(RECORD, ""))
    names, wrong = {"format", "config", "step", "seconds", "marks"}, ""
    if not isinstance(record, dict) or record.keys() != names or record["format"] != FORMAT:
        wrong = f"is no snapshot of a run in format {FORMAT}"
    elif not isinstance(record["config"], dict):
        wrong = "does not say of which run it is"
    if wrong:
        raise InvalidFile(f"{place}: {wrong}; begin a new run in another folder")
    return record


def _today(config: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """What a config of an earlier version is in this one."""
    own: dict[str, Any] = {name: it for name, it in ADDED.items() if name in asked}
    own |= dict(item for item in config.items() if item not in RETIRED.items())
    if isinstance(guard := own.get("guard"), dict):
        own["guard"] = {**guard, "kind": RENAMED.get(guard.get("kind", ""), guard.get("kind"))}
    return own


def _of_another(found: dict[str, Any], asked: dict[str, Any], folder: Path) -> str:
    """Which run is in the folder, which was asked for, and in what else they differ."""
    own, other = found.get("name"), asked.get("name")
    wanted = "the same with other settings" if other == own else other
    more = checkpoint.differences(found | {"name": None}, asked | {"name": None})
    said = f" ({more})" if more else ""
    return (
        f"{folder}: the run in it is {own}, asked was {wanted}{said}; "
        "resume it as it was begun, or begin a new one with another --out"
    )


def _restore_moments(run: Run, moments: dict[str, dict[str, Tensor]], place: Path) -> None:
    """The optimiser's memory, of the parameters that it had moved."""
    state = {}
    parameters = dict(run.policy.named_parameters())
    for index, (name, parameter) in enumerate(parameters.items()):
        found = {moment: moments[moment][name] for moment in MOMENTS if name in moments[moment]}
        if not found:
            continue
        wanted = {"exp_avg": parameter.shape, "exp_avg_sq": parameter.shape, "step": ()}
        if isinstance(run.optimiser, Muon) and turned(parameter):
            del wanted["exp_avg_sq"]
        if {moment: tensor.shape for moment, tensor in found.items()} != wanted:
            raise InvalidFile(f"{place}: the optimiser's memory of {name} is damaged or incomplete")
        state[index] = found
    if odd := {name for moment in moments.values() for name in moment} - parameters.keys():
        raise InvalidFile(f"{place}: holds an odd memory of {min(odd)}; its config asks for others")
    groups = run.optimiser.state_dict()["param_groups"]
    run.optimiser.load_state_dict({"state": state, "param_groups": groups})
