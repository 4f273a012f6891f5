"""What the search believes is what the judge says."""

import brute
import pytest

from fairway.judge import Rejection, verify
from fairway.kernels.moves.least_late import ease, look_over, tardy_tour
from fairway.kernels.moves.rng import seeded
from fairway.kernels.moves.search_model import search_model_without_neighbours
from fairway.problems.model import model_of


def broken(instance, tour):
    verdict = verify(instance, tour, tolerance=0.0)
    return sum(each.amount for each in verdict.violations) if isinstance(verdict, Rejection) else 0


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_violations_are_those_of_the_judge_and_fall(rng, draw):
    for _ in range(40):
        instance = draw(rng, 9)
        model, tour = model_of(instance), 1 + rng.permutation(8)
        search_model = search_model_without_neighbours(model)._replace(closes=model.resource.latest)
        state = tardy_tour(model.inward(tour))
        total = look_over(search_model, state)
        assert total == pytest.approx(broken(instance, tour), abs=1e-9)
        for _ in range(5):
            last, total = total, ease(search_model, state, seeded(1), total, 300)
            assert total <= last
            kept = model.outward(state.kept[1:-1])
            assert sorted(kept) == list(range(1, 9))
            assert total == pytest.approx(broken(instance, kept), abs=1e-9)
