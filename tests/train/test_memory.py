from dataclasses import replace

import pytest
import torch

from fairway.train import memory
from fairway.train.memory import largest_batch, too_large

MIB = 2**20


def card(fixed, each, room, asked):
    """A GPU on which a batch takes so much, and the rest nothing."""

    def measure(batch):
        asked.append(batch)
        taken = fixed + each * batch
        return taken if taken <= room else None

    return measure


@pytest.mark.parametrize("each", [3 * MIB, 40 * MIB, 700 * MIB])
def test_the_largest_batch_fits_and_is_not_much_smaller_than_it_could_be(each):
    room, fixed, asked = 80_000 * MIB, 900 * MIB, []
    batch = 2 * room // each
    found = largest_batch(card(fixed, each, room, asked), batch, room)
    assert fixed + each * found <= room
    assert fixed + each * (found + 8) > room
    assert max(asked) <= batch // 8, "measuring must not take the memory again that was not there"


def test_a_batch_that_failed_is_never_named_again():
    assert largest_batch(card(0, MIB, 10**6 * MIB, []), 64, 10**6 * MIB) < 64


def test_small_batches_are_looked_for_where_even_an_eighth_is_too_much():
    room = 10 * MIB
    assert largest_batch(card(0, MIB, room, []), 10_000, room) in (8, 9, 10)


def test_nothing_fits():
    assert largest_batch(lambda _: None, 512, MIB) is None
    assert largest_batch(lambda batch: MIB if batch == 1 else None, 512, MIB) == 1


def test_where_not_even_one_instance_fits_the_advice_can_be_followed(tiny, monkeypatch):
    monkeypatch.setattr(memory.torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(memory.torch.cuda, "mem_get_info", lambda _: (0, 100 * MIB))
    monkeypatch.setattr(memory, "_peak", lambda *_: None)
    said = str(too_large(tiny, torch.device("cuda"), 1))
    assert "not even a batch of 1 would; choose a recipe of fewer nodes" in said


def test_on_a_cpu_the_sentence_names_the_flag(tiny):
    said = str(too_large(replace(tiny, batch=10**6), torch.device("cpu"), 1))
    assert "a batch of 1000000 does not fit into the memory of cpu" in said
    assert "choose a smaller one with --batch" in said
