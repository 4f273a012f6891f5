import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from safetensors import torch as safetensors

from fairway import atomic
from fairway.errors import InvalidFile
from fairway.policies.attention import Policy
from fairway.policies.checkpoint import (
    content_of,
    differences,
    facts_of,
    load_heatmap,
    load_policy,
    save_policy,
)
from fairway.policies.config import AM, POMO, HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork

CPU = torch.device("cpu")
SMALL = replace(POMO, layers=1, width=32, heads=2, hidden=16)


@pytest.fixture
def policy():
    torch.manual_seed(1)
    return Policy(SMALL)


@pytest.fixture
def saved(policy, tmp_path):
    return save_policy(policy, tmp_path / "model", trained={"problem": "tsptw"})


def rewrite(card, **changes):
    """Change what a card says."""
    card.write_text(json.dumps(json.loads(card.read_text()) | changes))


def reweigh(card, change):
    """Change the weights of a card, and the SHA-256 with them."""
    path = card.with_suffix(".safetensors")
    tensors = safetensors.load(path.read_bytes())
    change(tensors)
    content = safetensors.save(tensors)
    replant(card, content)


def replant(card, content):
    import hashlib

    card.with_suffix(".safetensors").write_bytes(content)
    rewrite(card, sha256=hashlib.sha256(content).hexdigest())


def refusal(path, config=None) -> str:
    with pytest.raises(InvalidFile) as error:
        load_policy(path, CPU, config)
    return str(error.value)


@pytest.mark.parametrize(
    "config",
    [
        SMALL,
        replace(SMALL, foresight=True, facts=3),
        replace(AM, layers=1, foresight=True),
        replace(SMALL, normalisation="layer"),
    ],
    ids=["pomo", "pomo-pip-d-facts", "am-pip-d", "layer-norm"],
)
def test_a_policy_comes_back_to_the_last_bit(config, tmp_path):
    policy = Policy(config)
    card = save_policy(policy, tmp_path / "model", trained={"recipe": "x", "instances": 3})
    back, read = load_policy(card, CPU, config)
    assert back.config == config
    assert read.trained == {"recipe": "x", "instances": 3}
    for name, tensor in policy.state_dict().items():
        assert torch.equal(tensor, back.state_dict()[name]), name
    assert all(parameter.requires_grad for parameter in back.parameters())
    assert not any(tensor.is_meta for tensor in back.state_dict().values())


def test_a_policy_is_found_by_card_weights_stem_or_folder(policy, tmp_path):
    save_policy(policy, tmp_path, trained={})
    for path in ("policy.json", "policy.safetensors", "policy", ""):
        back, _ = load_policy(tmp_path / path, CPU)
        assert torch.equal(back.embed.weight, policy.embed.weight)


def test_saving_again_replaces_both_files(policy, saved, tmp_path):
    for scale in (2.0, 3.0, 3.0):
        torch.nn.init.constant_(policy.embed.bias, scale)
        save_policy(policy, tmp_path / "model", trained={})
        back, _ = load_policy(saved, CPU)
        assert back.embed.bias.eq(scale).all()
        assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("survived", [0, 1])
def test_a_crash_between_the_two_files_leaves_the_old_pair(
    policy, saved, tmp_path, monkeypatch, survived
):
    old = policy.embed.weight.detach().clone()
    torch.nn.init.zeros_(policy.embed.weight)
    write, count = atomic.write_bytes, iter(range(9))

    def crash(path, content):
        if next(count) == survived:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(atomic, "write_bytes", crash)
    with pytest.raises(KeyboardInterrupt):
        save_policy(policy, tmp_path / "model", trained={})
    back, card = load_policy(saved, CPU)
    assert torch.equal(back.embed.weight, old)
    assert card.trained == {"problem": "tsptw"}


def test_a_full_disk_leaves_the_old_pair(policy, saved, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InvalidFile, match="No space left on device"):
        save_policy(policy, tmp_path / "model", trained={})
    monkeypatch.undo()
    assert load_policy(saved, CPU)[1].trained == {"problem": "tsptw"}


def test_another_config_is_refused_by_its_fields(saved):
    said = refusal(saved, replace(SMALL, layers=2, normalisation="batch"))
    assert "layers is 1, expected 2" in said
    assert "normalisation is 'instance', expected 'batch'" in said
    assert "more" not in said


def test_of_many_differences_three_are_named_and_the_rest_counted():
    found = {"a": 1, "b": {"c": 2, "d": 3}, "e": 4, "f": 5, "same": 6}
    wanted = {"a": 2, "b": {"c": 3, "d": 4}, "e": {"long": "x" * 99}, "same": 6}
    assert differences(found, found) == ""
    assert differences(found, wanted) == (
        "a is 1, expected 2; b.c is 2, expected 3; b.d is 3, expected 4; and 2 more"
    )
    (said,) = differences({"e": 4}, {"e": wanted["e"]}).split("; ")
    assert said == f"e is 4, expected {{'long': '{'x' * 27}..."


EXPECTED = (
    "expected the folder of a training, or a policy's card (.json), "
    "or the name of one that ships: general-tspdl, general-tsptw"
)


@pytest.mark.parametrize("name", ["absent", "absent.json", "absent.safetensors", "absent.csv"])
def test_what_is_not_there_is_named_as_it_was_given(tmp_path, name):
    place = tmp_path / name
    assert refusal(place) == f"{place}: there is no such file or folder; {EXPECTED}"


def test_what_is_no_policy_is_named_as_it_was_given(tmp_path):
    (tmp_path / "stops.csv").write_text("id,x,y\n")
    (tmp_path / "lone.safetensors").write_bytes(b"")
    for name, said in (
        ("stops.csv", "is no policy"),
        ("lone.safetensors", "there is no card lone.json beside it"),
        ("", "holds no policy.json"),
    ):
        assert refusal(tmp_path / name) == f"{tmp_path / name}: {said}; {EXPECTED}"
    (tmp_path / "stops.json").write_text('{"problem": "tsptw"}')
    assert "expected what a training leaves as policy.json" in refusal(tmp_path / "stops.json")


def test_a_run_that_has_left_no_policy_yet_can_be_resumed(policy, tmp_path):
    (tmp_path / "snapshot.safetensors").write_bytes(b"")
    said = refusal(tmp_path)
    assert said.startswith(f"{tmp_path}: holds a run that has not left a policy yet")
    assert f"fairway train RECIPE --resume --out {tmp_path}" in said
    save_policy(policy, tmp_path, trained={})
    assert load_policy(tmp_path, CPU)[1].trained == {}


def test_a_card_without_its_weights_is_refused(saved):
    saved.with_suffix(".safetensors").unlink()
    assert "model.safetensors: cannot be read" in refusal(saved)


def test_truncated_weights_are_refused(saved):
    path = saved.with_suffix(".safetensors")
    path.write_bytes(path.read_bytes()[:-8])
    assert "truncated" in refusal(saved)


@pytest.mark.parametrize(
    "content", [b"", b"not at all", b"\x80\x05pickle", b"\xff" * 64, b"\x02" + b"\0" * 7 + b"{}"]
)
def test_what_is_no_safetensors_file_is_refused(saved, content):
    replant(saved, content)
    said = refusal(saved)
    assert "no safetensors file" in said or "lacks" in said


def test_a_device_is_not_read():
    with pytest.raises(InvalidFile, match="it is a device"):
        content_of(Path("/dev/zero"))


def test_a_cut_off_file_with_a_new_card_is_refused(saved):
    replant(saved, saved.with_suffix(".safetensors").read_bytes()[:-8])
    assert "is no safetensors file, or only part of one" in refusal(saved)


def test_missing_odd_and_misshapen_tensors_are_named(saved):
    reweigh(saved, lambda tensors: tensors.update(extra=torch.zeros(1)))
    assert "holds an odd extra;" in refusal(saved)
    reweigh(saved, lambda tensors: (tensors.pop("extra"), tensors.pop("embed.bias")))
    assert "lacks embed.bias;" in refusal(saved)
    reweigh(saved, lambda tensors: tensors.update({"embed.bias": torch.zeros(7)}))
    assert "embed.bias is float32 of shape (7,); its config asks for float32 of shape (32,)" in (
        refusal(saved)
    )
    reweigh(saved, lambda tensors: tensors.update({"embed.bias": torch.zeros(32).double()}))
    assert "float64" in refusal(saved)


def test_weights_that_are_no_numbers_are_refused(saved):
    reweigh(saved, lambda tensors: tensors["embed.bias"].fill_(torch.nan))
    assert "embed.bias holds values that are no numbers" in refusal(saved)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"surprise": 1}, "unknown keys: surprise"),
        ({"format": 2}, "has format 2; this version of Fairway reads format 1"),
        ({"weights": "../model.safetensors"}, "expected a file beside it"),
        ({"weights": ""}, "expected a file beside it"),
        ({"sha256": 3}, "expected a text as sha256"),
        ({"trained": []}, "an object as trained"),
        ({"policy": asdict(SMALL) | {"odd": 1}}, "unknown keys: odd"),
        (
            {"policy": asdict(SMALL) | {"layers": "1"}},
            "policy.layers is '1'; expected a whole number",
        ),
        (
            {"policy": asdict(SMALL) | {"layers": True}},
            "policy.layers is True; expected a whole number",
        ),
        (
            {"policy": asdict(SMALL) | {"layers": 10**9}},
            "policy.layers is 1000000000; expected a whole number up to 10000",
        ),
        ({"policy": asdict(SMALL) | {"backbone": "gru"}}, "expected 'pomo' or 'am'"),
        ({"policy": asdict(SMALL) | {"heads": 0}}, "cannot be built"),
        ({"policy": asdict(SMALL) | {"heads": 3}}, "cannot be shared by 3 heads"),
        ({"policy": asdict(SMALL) | {"layers": 2}}, "lacks layers.1"),
        ({"policy": None}, "expected a JSON object"),
    ],
)
def test_a_card_that_says_something_else_is_refused(saved, changes, said):
    rewrite(saved, **changes)
    assert said in refusal(saved)


def test_a_long_value_is_cut(saved):
    rewrite(saved, format="x" * 100_000)
    assert "has format 'xx" in refusal(saved)
    assert len(refusal(saved)) < 1_000


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000])
def test_what_is_no_card_is_refused(saved, text):
    saved.write_text(text)
    assert "is no JSON" in (said := refusal(saved)) or "is no card" in said


def test_a_heatmap_network_comes_back_as_it_was(tmp_path):
    torch.manual_seed(2)
    network = HeatmapNetwork(HeatmapConfig(layers=1, width=4, graph="limits", foresight=True))
    card = save_policy(network, tmp_path / "ants", trained={"problem": "tspdl"})
    back, told = load_heatmap(card, CPU)
    assert told.policy == network.config
    for name, tensor in network.state_dict().items():
        assert torch.equal(back.state_dict()[name], tensor)


def test_the_two_kinds_of_networks_are_not_taken_for_each_other(saved, tmp_path):
    card = save_policy(
        HeatmapNetwork(HeatmapConfig(layers=1, width=4)), tmp_path / "ants", trained={}
    )
    with pytest.raises(InvalidFile, match="for evaluate ants; expected a policy"):
        load_policy(card, CPU)
    with pytest.raises(InvalidFile, match="ants need one of a gfacs recipe"):
        load_heatmap(saved, CPU)


def test_a_heatmap_of_no_layers_is_refused(tmp_path):
    card = save_policy(
        HeatmapNetwork(HeatmapConfig(layers=1, width=4)), tmp_path / "ants", trained={}
    )
    record = json.loads(card.read_text())["policy"]
    rewrite(card, policy={**record, "layers": 0})
    with pytest.raises(InvalidFile, match="cannot be built"):
        load_heatmap(card, CPU)
    rewrite(card, policy={**record, "graph": "odd"})
    with pytest.raises(InvalidFile, match="expected 'union' or 'limits'"):
        load_heatmap(card, CPU)


def test_a_card_from_before_relations_has_none(policy, saved):
    before = asdict(policy.config)
    del before["relations"]
    rewrite(saved, policy=before)
    assert load_policy(saved, CPU)[0].config == policy.config


@pytest.mark.parametrize(
    "trained",
    [
        {"instances": float("nan"), "config": {"epoch": 10}},
        {"instances": 10**400, "config": {"epoch": 10}},
        {"instances": 10, "config": {"epoch": "x"}},
        {"instances": True},
        {"seconds": float("inf")},
        {"config": {"foresight": 10**9}},
        {"config": {"foresight": {"first": []}}},
        {"config": [1]},
    ],
)
def test_a_card_with_an_impossible_training_is_refused(saved, trained):
    rewrite(saved, trained=trained)
    assert "trained" in refusal(saved)
    with pytest.raises(InvalidFile, match="trained"):
        facts_of(saved)
