"""What Fairway does, and says, without the packages of the extra `learn`."""

import subprocess
import sys

import pytest
from command import sentence

from fairway.errors import LearningMissing
from fairway.extras import LEARN, SENTENCE, can_learn, learning
from fairway.problems.generate import generate
from fairway.solver.warm_start import default_policy

BLOCKED = f"import sys\nfor name in {LEARN!r}: sys.modules[name] = None\n"


def without(code, *arguments):
    """A fresh process in which the packages cannot be imported."""
    words = [sys.executable, "-c", BLOCKED + code, *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [
    "train fairway-tsptw20-hard", "bench train", "solve --policy general-tsptw",
    "evaluate policy general-tsptw --bed tsptw50-hard",
])  # fmt: skip
def test_a_verb_that_learns_says_what_to_install(words):
    result = without("from fairway.cli import main; main()", *words.split())
    assert sentence(result) == f"fairway: {SENTENCE}\n"


@pytest.mark.parametrize("asked", [
    "fairway.to_batch", "fairway.solve(fairway.TSPTW([[0, 1], [1, 0]], 0, 9), policy='x')",
])  # fmt: skip
def test_python_raises_the_same_sentence(asked):
    result = without(f"import fairway; {asked}")
    assert result.stderr.endswith(f"fairway.errors.LearningMissing: {SENTENCE}\n")


def test_the_usual_policy_is_gone_without(monkeypatch):
    large = generate("tspdl", n=300, hardness="hard", count=1, seed=1)[0]
    assert can_learn()
    assert default_policy(large, 10.0) is not None
    monkeypatch.setitem(sys.modules, "torch", None)
    assert default_policy(large, 10.0) is None


def test_another_missing_module_is_not_blamed_on_the_extra():
    with pytest.raises(ModuleNotFoundError, match="nonsense"), learning():
        import nonsense  # noqa: F401
    with pytest.raises(LearningMissing), learning():
        raise ModuleNotFoundError(name="torch.nn")
