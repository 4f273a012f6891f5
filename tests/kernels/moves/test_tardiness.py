"""What the search believes is what the judge says."""

import brute
import numpy as np
import pytest

from fairway.judge import Rejection, verify
from fairway.kernels.moves.chance import seeded
from fairway.kernels.moves.tardiness import ease, look_over, tardy_line
from fairway.solver.explain.attempt import limits_of


def broken(instance, tour):
    verdict = verify(instance, tour, tolerance=0.0)
    return sum(each.amount for each in verdict.violations) if isinstance(verdict, Rejection) else 0


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_violations_are_those_of_the_judge_and_fall(rng, draw):
    for _ in range(40):
        instance = draw(rng, 9)
        limits, tour = limits_of(instance), 1 + rng.permutation(8)
        line = tardy_line(np.array([0, *tour, 0]))
        total = look_over(limits, line)
        assert total == pytest.approx(broken(instance, tour), abs=1e-9)
        for _ in range(5):
            last, total = total, ease(limits, line, seeded(1), total, 300)
            assert total <= last
            assert sorted(line.kept[1:-1]) == list(range(1, 9))
            assert total == pytest.approx(broken(instance, line.kept[1:-1]), abs=1e-9)
