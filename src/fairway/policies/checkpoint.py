"""Policies on disk: weights as safetensors, and beside them a JSON card that says what they are; no code in either.

The weights are written first, under a name that no card uses yet, and then the card that names them with their
SHA-256. Whenever a crash comes, the card on disk and the weights it names belong together.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import torch
from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor, nn

from fairway import atomic
from fairway.errors import FairwayError, InvalidFile, InvalidRequest
from fairway.given import shown
from fairway.policies.attention import Policy
from fairway.policies.config import HeatmapConfig, PolicyConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.files.text import bounded
from fairway.weights import located, names

Network = Policy | HeatmapNetwork
NetworkConfig = PolicyConfig | HeatmapConfig
Kind = TypeVar("Kind", Policy, HeatmapNetwork)

FORMAT = 1
SINCE: dict[str, Any] = {"relations": 0}
"""What the config of a policy did not say from the beginning, and what was meant."""
PLAN = {
    "first_epochs": "first",
    "period": "period",
    "update_epochs": "refresh",
    "last_epochs": "last",
}
"""What the paper's tables call the fields of a PIP-D head's schedule."""
LARGEST = 10_000
"""Of the whole numbers in a policy's config: what is larger was not written by us."""
MOST_BYTES = 2**31
"""Of a file of weights or of a training."""
MOST_SEEN = 10**18
"""Of the instances, seconds and epochs of a training."""
SNAPSHOT = "snapshot.safetensors"
"""What a training keeps in its folder from its beginning on; a policy comes later."""
MOST_DIFFERENCES = 3
"""Named in a sentence; of more there is only their number."""
LONGEST = 40
"""Of a value's letters in a sentence."""


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a policy without opening its weights."""

    format: int
    policy: NetworkConfig
    weights: str
    """The name of the weights' file, in the folder of the card."""
    sha256: str
    trained: dict[str, Any]
    """What it was trained on, for how long, and the figures it reached."""

    @property
    def facts(self) -> dict[str, Any]:
        """Which weights these are and how they came about, in the words of the paper's tables."""
        seen, epoch = self._told("instances"), self._told("config.epoch")
        known = {
            "policy": self._told("recipe"),
            "weights": self.sha256[:16],
            "training_instances": seen,
            "training_seconds": self._told("seconds"),
            "epochs": None if not (seen and epoch) else round(seen / epoch),
            **{name: self._told(f"config.foresight.{field}") for name, field in PLAN.items()},
        }
        return {name: value for name, value in known.items() if value is not None}

    def _told(self, path: str) -> Any:  # noqa: ANN401 - whatever a card says
        said: Any = self.trained
        for name in path.split("."):
            said = (said or {}).get(name)
        return said

    def check(self, place: Path) -> None:
        """Refuse what a card could not say of a training; what it leaves out is not known."""
        plan = (f"config.foresight.{field}" for field in PLAN.values())
        for path in ("instances", "seconds", "config.epoch", *plan):
            try:
                value = self._told(path)
            except AttributeError:
                raise InvalidFile(
                    f"{place}: expected objects as trained.config and as its foresight"
                ) from None
            fits = value is None or (type(value) in (int, float) and 0 <= value <= MOST_SEEN)
            said = f"trained.{path} is {_short(value)}; expected a number, 0 or more"
            _need(fits, place, said)


def save_policy(
    policy: Network, stem: Path, *, trained: dict[str, Any], half: bool = False
) -> Path:
    """Write a policy as `stem`.safetensors and `stem`.json (`policy` in a folder), and return the card's path.

    Where a card is there already, the new weights get a name of their own, and the old ones go once nothing names them.
    At half precision weights take half the room, and are single again when they are read.
    """
    stem = stem / "policy" if stem.is_dir() else stem
    state = portable(policy.state_dict())
    if half:
        state = {name: tensor.half() for name, tensor in state.items()}
    content = safetensors.save(state)
    digest = hashlib.sha256(content).hexdigest()
    place = stem.with_name(f"{stem.name}.json")
    before = _named_weights(place)
    weights = stem.with_name(f"{stem.name}.safetensors")
    if weights.name == before:
        weights = stem.with_name(f"{stem.name}-{digest[:12]}.safetensors")
    card = Card(FORMAT, policy.config, weights.name, digest, trained)
    atomic.write_bytes(weights, content)
    atomic.write_bytes(place, (json.dumps(asdict(card), indent=2) + "\n").encode())
    if before is not None and before != weights.name:
        (stem.parent / before).unlink(missing_ok=True)
    return place


def load_policy(
    path: Path, device: torch.device, config: PolicyConfig | None = None
) -> tuple[Policy, Card]:
    """The policy of a card, of a folder that holds `policy.json`, or of weights with their card beside them.

    It goes to the device, whatever it was trained on; where only one config will do, another is refused.
    """
    return _loaded(path, device, config, Policy)


def load_heatmap(
    path: Path, device: torch.device, config: HeatmapConfig | None = None
) -> tuple[HeatmapNetwork, Card]:
    """The same for a network that draws heatmaps for ants."""
    return _loaded(path, device, config, HeatmapNetwork)


def facts_of(path: Path) -> dict[str, Any]:
    """What the card of a policy or colony says of its weights, which are not opened."""
    return _card(_card_place(path)).facts


def draws_heatmaps(path: Path) -> bool:
    """Whether a card is one for ants."""
    return isinstance(_card(_card_place(path)).policy, HeatmapConfig)


def _loaded(
    path: Path, device: torch.device, config: NetworkConfig | None, kind: type[Kind]
) -> tuple[Kind, Card]:
    place = _card_place(path)
    card = _card(place)
    drawn = isinstance(card.policy, HeatmapConfig)
    odd = "a policy that decodes tours; ants need one of a gfacs recipe"
    if drawn:
        odd = (
            "a network that draws heatmaps, for evaluate ants; expected a policy that decodes tours"
        )
    _need(drawn == (kind is HeatmapNetwork), place, f"holds {odd}")
    if config is not None:
        how = differences(asdict(card.policy), asdict(config))
        said = f"holds another policy ({how}); choose one with the config asked for"
        _need(config == card.policy, place, said)
    weights = place.parent / card.weights
    content = content_of(weights)
    said = f"is truncated, or not the file that {place.name} was written for; copy both again"
    _need(hashlib.sha256(content).hexdigest() == card.sha256, weights, said)
    tensors = {
        name: tensor.float() if tensor.dtype == torch.float16 else tensor
        for name, tensor in tensors_in(content, weights)[0].items()
    }
    with torch.device("meta"):
        policy = kind(card.policy)
    check_fit(policy, tensors, weights)
    policy.load_state_dict(tensors, assign=True)
    return policy.to(device), card


def _need(met: bool, where: Path, otherwise: str) -> None:
    if not met:
        raise InvalidFile(f"{where}: {otherwise}")


def portable(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a state on the CPU, each with memory of its own."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}


def content_of(path: Path) -> bytes:
    """The bytes of a file."""
    try:
        return bounded(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidFile(
            f"{path}: cannot be read ({reason}); copy the whole folder of its training again"
        ) from error


def tensors_in(content: bytes, where: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file, and its metadata."""
    try:
        tensors = safetensors.load(content)
    except (SafetensorError, KeyError, ValueError) as error:
        raise InvalidFile(
            f"{where}: is no safetensors file, or only part of one ({error}); copy or save it again"
        ) from error
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return tensors, header.get("__metadata__", {})


def check_fit(module: nn.Module, tensors: Mapping[str, Tensor], where: Path, of: str = "") -> None:
    """Refuse tensors that are not exactly those of the module, by name, shape, type, and being numbers."""
    expected = module.state_dict()
    for odd, sentence in (
        (expected.keys() - tensors, "lacks"),
        (tensors.keys() - expected, "holds an odd"),
    ):
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        first = f"{sentence} {of}{min(odd, default='')}{more}"
        _need(not odd, where, f"{first}; its config asks for other tensors")
    for name, tensor in tensors.items():
        found, wanted = _described(tensor), _described(expected[name])
        _need(found == wanted, where, f"{of}{name} is {found}; its config asks for {wanted}")
        said = f"{of}{name} holds values that are no numbers; use a checkpoint from before that"
        _need(bool(torch.isfinite(tensor).all()), where, said)


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The first fields in which two records differ, with both values, as part of a sentence."""
    parts = list(_differing(found, wanted))
    rest = len(parts) - MOST_DIFFERENCES
    return "; ".join(parts[:MOST_DIFFERENCES] + ([f"and {rest} more"] if rest > 0 else []))


def _differing(
    found: Mapping[str, Any], wanted: Mapping[str, Any], within: str = ""
) -> Iterator[str]:
    for name in sorted(found.keys() | wanted.keys()):
        one, other = found.get(name), wanted.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differing(one, other, f"{within}{name}.")
        elif one != other:
            yield f"{within}{name} is {_short(one)}, expected {_short(other)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _described(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"


def _card_place(path: Path) -> Path:
    """The card that a folder, a card, weights, their common stem or a shipped name stand for; it is there."""
    path = located(path)
    if os.path.isdir(path):
        place = path / "policy.json"
    else:
        stem = path.stem if path.suffix in (".json", ".safetensors") else path.name
        place = path.with_name(f"{stem}.json")
    if not os.path.exists(place):
        raise InvalidFile(_no_policy(path, place))
    return place


def _no_policy(path: Path, place: Path) -> str:
    """What was given in place of a policy, and what should have been."""
    if os.path.exists(path / SNAPSHOT):
        return (
            f"{path}: holds a run that has not left a policy yet; its end, or Ctrl-C, leaves one: "
            f"resume it with fairway train RECIPE --resume --out {path}"
        )
    if os.path.isdir(path):
        wrong = f"holds no {place.name}"
    elif not os.path.exists(path):
        wrong = "there is no such file or folder"
    elif path.suffix == ".safetensors":
        wrong = f"there is no card {place.name} beside it"
    else:
        wrong = "is no policy"
    expected = "the folder of a training, or a policy's card (.json)"
    if shipped := names():
        expected += f", or the name of one that ships: {', '.join(shipped)}"
    return f"{path}: {wrong}; expected {expected}"


def _card(place: Path) -> Card:
    try:
        record: Any = json.loads(content_of(place))
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{place}: is no JSON ({error})") from error
    wrong = _wrong_keys(record, {field.name for field in fields(Card)})
    said = f"is no card of a policy ({wrong}); expected what a training leaves as policy.json"
    _need(not wrong, place, said)
    said = f"has format {shown(record['format'])}; this version of Fairway reads format {FORMAT}"
    _need(record["format"] == FORMAT, place, said)
    weights, digest, trained = record["weights"], record["sha256"], record["trained"]
    beside = isinstance(weights, str) and weights and Path(weights).name == weights
    _need(bool(beside), place, f"names its weights {shown(weights)}; expected a file beside it")
    fits = isinstance(digest, str) and isinstance(trained, dict)
    _need(fits, place, "expected a text as sha256 and an object as trained")
    card = Card(FORMAT, _policy_config(record["policy"], place), weights, digest, trained)
    card.check(place)
    return card


def _policy_config(record: Any, place: Path) -> NetworkConfig:  # noqa: ANN401 - whatever a card says
    """Of either kind, which are told apart by their fields."""
    drawn = isinstance(record, dict) and "graph" in record
    kind = HeatmapConfig if drawn else PolicyConfig
    hints = get_type_hints(kind)
    if isinstance(record, dict) and not drawn:
        record = SINCE | record
    wrong = _wrong_keys(record, set(hints))
    _need(not wrong, place, f"its policy is no config ({wrong})")
    for name, value in record.items():
        choices = get_args(hints[name])
        fits = value in choices if choices else type(value) is hints[name]
        expected = " or ".join(map(repr, choices)) or hints[name].__name__
        if hints[name] is int:
            fits = fits and 0 <= value <= LARGEST
            expected = f"a whole number up to {LARGEST}"
        _need(fits, place, f"policy.{name} is {shown(value)}; expected {expected}")
    try:
        return kind(**record)
    except (InvalidRequest, ZeroDivisionError) as error:
        raise InvalidFile(f"{place}: its policy cannot be built ({error})") from error


def _wrong_keys(record: object, names: set[str]) -> str:
    """What is wrong with the keys of a record; empty where nothing is."""
    if not isinstance(record, dict):
        return "expected a JSON object"
    if record.keys() == names:
        return ""
    unknown, missing = sorted(record.keys() - names), sorted(names - record.keys())
    return f"unknown keys: {', '.join(unknown) or 'none'}; missing keys: {', '.join(missing) or 'none'}"


def _named_weights(place: Path) -> str | None:
    """The weights that the card names which is about to be replaced, where there is one that can be read."""
    try:
        return _card(place).weights
    except FairwayError:
        return None
