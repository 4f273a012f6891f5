import numpy as np
import pytest

from fairway.judge import Solution, verify
from fairway.kernels.moves.search_model import search_model_of
from fairway.problems.batch import instances_in, to_batch
from fairway.problems.generate import generate
from fairway.problems.model import model_of
from fairway.search.polish import polish


def shuffled(instances, ants, seed=0):
    rng = np.random.default_rng(seed)
    stops = np.arange(1, instances.nodes)
    return np.stack([[rng.permutation(stops) for _ in range(ants)] for _ in instances])


@pytest.mark.parametrize(("problem", "hardness"), [("tsptw", "medium"), ("tspdl", "hard")])
def test_tours_at_random_become_feasible_and_much_shorter(problem, hardness):
    instances = generate(problem, n=25, hardness=hardness, count=4, seed=1)
    tours = shuffled(instances, 5)
    better = polish([search_model_of(model_of(instance)) for instance in instances], tours)
    before, after = [], []
    for instance, old, new in zip(instances, tours, better, strict=True):
        for one, other in zip(old, new, strict=True):
            verdict = verify(instance, other.tolist())
            assert isinstance(verdict, Solution)
            before.append(verify(instance, one.tolist()).cost)
            after.append(verdict.cost)
    assert np.mean(after) < 0.8 * np.mean(before)


def test_a_feasible_tour_is_never_made_worse():
    instances = generate("tsptw", n=20, hardness="easy", count=3, seed=2)
    search_models = [search_model_of(model_of(instance)) for instance in instances]
    tours = polish(search_models, shuffled(instances, 3))
    again = polish(search_models, tours)
    for instance, old, new in zip(instances, tours, again, strict=True):
        for one, other in zip(old, new, strict=True):
            before, after = (verify(instance, tour.tolist()) for tour in (one, other))
            assert isinstance(after, Solution)
            assert after.cost <= before.cost + 1e-9


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_a_batch_has_the_models_of_its_instances_in_other_units(problem):
    instances = generate(problem, n=12, hardness="hard", count=2, seed=3)
    batch = to_batch(instances)
    for b, (ours, theirs) in enumerate(
        zip(map(model_of, instances_in(batch)), map(model_of, instances), strict=True)
    ):
        scale = float(batch.geometry.scale[b])
        assert np.allclose(scale * ours.cost, theirs.cost, rtol=1e-5, atol=1e-4)
        amount = scale if problem == "tsptw" else 1.0
        assert np.allclose(
            amount * ours.resource.increment, theirs.resource.increment, rtol=1e-5, atol=1e-4
        )
        assert np.allclose(
            amount * ours.resource.latest[1:-1], theirs.resource.latest[1:-1], rtol=1e-5, atol=1e-3
        )


def test_threads_and_loops_give_the_same_tours():
    instances = generate("tsptw", n=15, hardness="hard", count=3, seed=4)
    search_models, tours = (
        [search_model_of(model_of(instance)) for instance in instances],
        shuffled(instances, 4),
    )
    assert np.array_equal(
        polish(search_models, tours, seed=7), polish(search_models, tours, seed=7, workers=3)
    )


def test_a_tour_that_no_pass_makes_feasible_is_less_late():
    """One stop closes before anybody can be there."""
    instances = generate("tsptw", n=12, hardness="hard", count=1, seed=5)
    form = search_model_of(model_of(instances[0]))
    closes = form.closes.copy()
    closes[3] = -1.0
    form = form._replace(closes=closes)
    tour = shuffled(instances, 1)
    found = polish([form], tour)

    def late(order):
        amount, over = form.opens[0], 0.0
        for here, there in zip([0, *order], order, strict=False):
            amount = max(amount + form.increment[here, there], form.opens[there])
            over += max(amount - closes[there], 0.0)
        return over

    assert sorted(found[0, 0]) == list(range(1, 12))
    assert late(found[0, 0].tolist()) < late(tour[0, 0].tolist())
