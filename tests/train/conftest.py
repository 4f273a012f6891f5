"""A run so small that it takes milliseconds a step."""

from dataclasses import replace

import pytest

from fairway.policies.config import POMO
from fairway.train.config import TrainConfig


@pytest.fixture
def tiny() -> TrainConfig:
    policy = replace(POMO, layers=1, width=32, heads=2, hidden=16)
    return TrainConfig(
        "tiny", "tsptw", "hard", 5, policy=policy, batch=4, tours=3, epoch=8, epochs=10, average=0.9
    )
