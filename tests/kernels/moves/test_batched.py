import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.moves.test_moves import ANY, feasible_for_the_judge, laid_out

from fairway.kernels.moves import reference
from fairway.kernels.moves.batched import descend_all, room_for
from fairway.kernels.moves.order import by_deadline
from fairway.kernels.moves.rng import seeded
from fairway.kernels.moves.search_model import search_model_of
from fairway.kernels.moves.time_warp import lateness
from fairway.problems.generate import generate
from fairway.problems.model import model_of

MARGIN = 1e-9


def shuffled(node, count, seed):
    """Tours at random over the stops of one."""
    rng, tours = np.random.default_rng(seed), np.repeat(node[None], count, axis=0)
    tours[:, 1:-1] = [rng.permutation(node[1:-1]) for _ in range(count)]
    return tours


def settled(search_model, tours, seed=0):
    tours = tours.copy()
    chances = np.concatenate([seeded(seed + p) for p in range(len(tours))])
    descend_all(search_model, tours, chances, MARGIN, room_for(search_model))
    return tours


@given(**ANY, at_random=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_every_tour_ends_where_settling_leaves_it_as_it_is(kind, stops, seed, at_random):
    """All of them in one room, one after the other: nothing of one tour is left for the next."""
    instance, search_model, node = laid_out(kind, seed, stops)
    tours = shuffled(node, at_random, seed)
    for p, (before, after) in enumerate(
        zip(tours, settled(search_model, tours, seed), strict=True)
    ):
        assert sorted(after) == sorted(before)
        assert np.array_equal(after, settled(search_model, before[None], seed + p)[0])
        walked, earlier = reference.walk(search_model, after), reference.walk(search_model, before)
        assert walked.feasible == feasible_for_the_judge(instance, kind, after)
        if not walked.feasible:
            assert lateness(search_model, after) <= lateness(search_model, before)
            continue
        assert not earlier.feasible or walked.cost <= earlier.cost + 1e-9
        again = settled(search_model, after[None])[0]
        assert reference.walk(search_model, again).cost == pytest.approx(walked.cost)


def test_what_the_order_of_deadlines_can_serve_is_served_from_any_order():
    """Medium windows and tours at random, far too late for stops to hurry one by one in two passes."""
    search_models = [
        search_model_of(model_of(each))
        for each in generate("tsptw", n=120, hardness="medium", count=8, seed=1)
    ]
    served = [
        search_model
        for search_model in search_models
        if lateness(search_model, by_deadline(search_model)) == 0
    ]
    assert len(served) >= 3
    for search_model in served:
        tours = shuffled(by_deadline(search_model), 4, 1)
        assert min(lateness(search_model, tour) for tour in tours) > 100
        assert max(lateness(search_model, tour) for tour in settled(search_model, tours)) == 0


def test_where_one_stop_cannot_be_reached_the_tour_is_less_late():
    (instance,) = generate("tsptw", n=12, hardness="hard", count=1, seed=5)
    search_model = search_model_of(model_of(instance))
    closes = search_model.closes.copy()
    closes[3] = -1.0
    search_model = search_model._replace(closes=closes)
    tours = shuffled(by_deadline(search_model), 3, 1)
    for before, after in zip(tours, settled(search_model, tours), strict=True):
        assert 0 < lateness(search_model, after) < lateness(search_model, before)
