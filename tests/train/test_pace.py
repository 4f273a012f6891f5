import torch

from fairway.train.pace import pace


def test_the_parts_of_a_step_add_up(tiny):
    found = pace(tiny, torch.device("cpu"))
    assert found.instances == tiny.batch / found.step
    assert found.draw + found.encode + found.rollout + found.rest == found.step
    assert found.masked
    assert found.memory == 0
    assert found.draw > 0
