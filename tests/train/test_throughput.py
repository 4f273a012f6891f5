import pytest
import torch

from fairway.train.throughput import throughput


def test_the_parts_of_a_step_add_up(tiny):
    found = throughput(tiny, torch.device("cpu"))
    assert found.instances == tiny.batch / found.step
    parts = found.draw + found.encode + found.rollout + found.rest
    assert parts == pytest.approx(found.step)
    assert found.masked
    assert found.memory == 0
    assert found.draw > 0
