import pytest

from fairway.errors import InvalidRequest
from fairway.inference.config import ACOConfig
from fairway.kernels.lookahead import MaskConfig


def test_the_papers_colony_is_a_hundred_ants_in_ten_iterations():
    assert (ACOConfig().ants, ACOConfig().iterations) == (100, 10)


def test_settings_say_all_that_decides_the_tours():
    said = ACOConfig(5, 2, "trail", last=True).settings
    assert said == {"ants": 5, "iterations": 2, "search": "trail", "last": True}
    assert "guard" in ACOConfig(guard=MaskConfig()).settings
    assert ACOConfig(power=2.5).settings["power"] == 2.5


@pytest.mark.parametrize("name", ["ants", "iterations"])
def test_none_at_all_are_refused(name):
    with pytest.raises(InvalidRequest, match=f"{name} is 0"):
        ACOConfig(**{name: 0})


@pytest.mark.parametrize("power", [0.0, -1.0, float("inf"), float("nan")])
def test_powers_that_no_heuristic_can_have_are_refused(power):
    with pytest.raises(InvalidRequest, match="power is"):
        ACOConfig(power=power)
