import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fairway.judge import TOLERANCE, Solution, verify
from fairway.kernels.preprocessing import contradiction, preprocess
from fairway.kernels.preprocessing.network import network, reach
from fairway.kernels.preprocessing.rules import RULES
from fairway.problems.generate import TourWindows, generate, tour_windows
from fairway.problems.instance import TSPTW
from fairway.problems.model import model_of

ORDERS = {n: np.array(list(itertools.permutations(range(1, n)))) for n in range(2, 9)}
"""All tours of n nodes."""


def starts(instance, tours):
    """The start of service at every stop of every tour, and last the return, as the judge adds them up."""
    now = np.full(len(tours), instance.opens[0])
    here, columns = np.zeros(len(tours), int), []
    for there in (*tours.T, np.zeros(len(tours), int)):
        now = now + instance.service[here] + instance.travel[here, there]
        now = np.where(there > 0, np.maximum(now, instance.opens[there]), now)
        here = there
        columns.append(now)
    return np.stack(columns, axis=1)


def feasible_tours(instance):
    """What the judge accepts among all tours; the far too late are not shown to it, to save time."""
    tours = ORDERS[instance.nodes]
    late = starts(instance, tours) - instance.closes[np.pad(tours, ((0, 0), (0, 1)))]
    near = tours[late.max(axis=1) <= 1.0]
    verdicts = (verify(instance, tour) for tour in near)
    return [verdict for verdict in verdicts if isinstance(verdict, Solution)]


def travel_times(rng, n):
    """Metric, asymmetric, or with no triangle inequality at all."""
    kind = rng.integers(3)
    if kind == 0:
        points = rng.random((n, 2)) * 10
        return np.sqrt(np.square(points[:, None] - points).sum(-1))
    travel = rng.random((n, n)) * 10
    return travel if kind == 1 else travel ** rng.integers(2, 4) / 10


def hidden_windows(rng, n, travel, service, initial):
    """Windows around the times of some tour, which need not be in time when its windows have been narrowed."""
    instance = TSPTW(travel, np.full(n, initial), np.full(n, initial + 1e3), service)
    tour = rng.permutation(np.arange(1, n))
    times = starts(instance, tour[None])[0]
    width = rng.choice([0.0, 0.5, 3.0, 10.0])
    opens, closes = np.empty(n), np.empty(n)
    opens[[*tour, 0]] = times - rng.random(n) * width
    closes[[*tour, 0]] = times + (rng.random(n) - 0.2) * width
    return opens, closes


def loose_windows(rng, n, initial):
    """Windows anywhere."""
    opens = initial + rng.random(n) * rng.choice([1, 10, 30])
    return opens, opens + rng.random(n) * rng.choice([1, 10, 40])


def draw(rng, whole, n=None):
    """An instance of any kind, of 2 to 7 nodes unless told; about half of them have a tour."""
    n = n or int(rng.choice([2, 3, 4, 5, 6, 7], p=[0.02, 0.08, 0.2, 0.2, 0.3, 0.2]))
    travel = travel_times(rng, n)
    service = rng.random(n) * rng.choice([0, 0, 3])
    initial = float(rng.choice([0.0, -7.5, 12.3]))
    if whole:
        travel, service, initial = np.rint(travel), np.rint(service), np.rint(initial)
    hidden = rng.random() < 0.6
    opens, closes = (
        hidden_windows(rng, n, travel, service, initial)
        if hidden
        else loose_windows(rng, n, initial)
    )
    back = closes[0] if rng.random() < 0.5 else closes.max() + 20
    opens[0], closes[0] = initial, max(back, initial)
    if whole:
        opens, closes = np.floor(opens), np.floor(closes)
    return TSPTW(travel, opens, np.maximum(opens, closes), service)


def assert_kept(instance, pruned, solution):
    """A tour that the judge accepts uses what is left, in the order that is left, at times that are left."""
    allowance = 0.0 if instance.integral else TOLERANCE
    circuit = [0, *solution.tour, 0]
    assert pruned.arcs[circuit[:-1], circuit[1:]].all()
    assert not np.triu(pruned.before[np.ix_(solution.tour, solution.tour)].T, 1).any()
    assert not pruned.before[0].any()
    assert not pruned.before[:, 0].any()
    start, node = solution.schedule.start, solution.schedule.node
    assert (pruned.opens[node] <= start).all()
    assert (start - pruned.closes[node] <= allowance).all()
    assert solution.makespan - pruned.closes[0] <= allowance


def assert_narrower(instance, pruned):
    assert pruned.opens[0] == instance.opens[0]
    assert (instance.opens <= pruned.opens).all()
    assert (pruned.opens <= pruned.closes).all()
    assert (pruned.closes <= instance.closes).all()
    assert not pruned.arcs.diagonal().any()


@pytest.mark.parametrize("whole", [True, False], ids=["whole numbers", "fractions"])
@pytest.mark.parametrize("seed", range(3))
def test_no_feasible_tour_is_lost_and_most_infeasible_instances_are_found_out(whole, seed):
    rng = np.random.default_rng([seed, whole])
    count = Counter()
    for _ in range(500):
        instance = draw(rng, whole)
        tours, pruned = feasible_tours(instance), preprocess(model_of(instance))
        for solution in tours:
            assert_kept(instance, pruned, solution)
        assert not (tours and pruned.infeasible)
        if not pruned.infeasible:
            assert_narrower(instance, pruned)
        count["tour" if tours else "proved" if pruned.infeasible else "unproved"] += 1
    assert count["tour"] > 100
    assert count["proved"] > 0.98 * (count["proved"] + count["unproved"]) > 100


@pytest.mark.parametrize("whole", [True, False], ids=["whole numbers", "fractions"])
def test_no_feasible_tour_of_eight_nodes_is_lost(whole):
    """All 5,040 tours of each of a thousand instances at once; the judge confirms one of those found in time."""
    rng = np.random.default_rng([8, whole])
    feasible = infeasible = 0
    for _ in range(1000):
        instance = draw(rng, whole, n=8)
        pruned, times = preprocess(model_of(instance)), starts(instance, ORDERS[8])
        allowance = 0.0 if instance.integral else TOLERANCE
        circuits = np.pad(ORDERS[8], ((0, 0), (1, 1)))
        kept = (times - instance.closes[circuits[:, 1:]] <= allowance).all(axis=1)
        circuits, times = circuits[kept], times[kept]
        infeasible += pruned.infeasible is not None
        if len(circuits):
            feasible += 1
            assert pruned.infeasible is None
            assert_kept(instance, pruned, verify(instance, rng.choice(circuits)[1:-1]))
            assert pruned.arcs[circuits[:, :-1], circuits[:, 1:]].all()
            for here, there in itertools.combinations(range(1, 8), 2):
                assert not pruned.before[circuits[:, there], circuits[:, here]].any()
            assert (pruned.opens[circuits[:, 1:-1]] <= times[:, :-1]).all()
            assert (times - pruned.closes[circuits[:, 1:]] <= allowance).all()
    assert min(feasible, infeasible) > 200


@pytest.mark.parametrize("size", [1.0, 1e6, 1e12])
def test_a_tour_that_only_the_tolerance_saves_is_kept_at_any_magnitude(size):
    """Windows of no width, closed up to the tolerance before the hidden tour comes; sums there are rounded."""
    rng = np.random.default_rng(int(size))
    for _ in range(200):
        n = int(rng.integers(2, 30))
        travel, service = rng.random((n, n)) * size, rng.random(n) * size
        tour = rng.permutation(np.arange(1, n))
        initial = float(rng.normal() * size)
        loose = TSPTW(travel, np.full(n, initial), np.full(n, initial + 3 * n * size), service)
        closes = np.empty(n)
        closes[[*tour, 0]] = starts(loose, tour[None])[0] - TOLERANCE * rng.choice([0.0, 0.99], n)
        instance = TSPTW(travel, np.append(initial, closes[1:]), closes, service)
        verdict = verify(instance, tour)
        if isinstance(verdict, Solution):
            pruned = preprocess(model_of(instance))
            assert pruned.infeasible is None
            assert_kept(instance, pruned, verdict)
            assert_narrower(instance, pruned)


@pytest.mark.parametrize("tolerance", [0.0, 1e-6, 0.4, 1.0])
def test_the_tolerance_asked_of_the_judge_is_granted(tolerance):
    """One stop, reached a whole unit late."""
    instance = TSPTW([[0, 5], [5, 0]], [0, 0], [20, 4])
    pruned = preprocess(model_of(instance, tolerance))
    accepted = isinstance(verify(instance, [1], tolerance), Solution)
    assert (pruned.infeasible is None) == accepted == (tolerance == 1.0)


def test_by_default_the_tolerance_is_the_judges_own():
    instance = TSPTW([[0, 5.5], [5.5, 0]], [0, 0], [20, 5.5])
    for late in (0.0, 0.9 * TOLERANCE, 1.1 * TOLERANCE):
        later = replace(instance, closes=[20, 5.5 - late])
        assert (preprocess(model_of(later)).infeasible is None) == isinstance(
            verify(later, [1]), Solution
        )


@pytest.mark.parametrize("n", [50, 100])
def test_the_hidden_tour_of_the_hard_law_is_kept_and_nearly_every_order_is_found(n):
    instances, tours = tour_windows(TourWindows(), n, 5, np.random.default_rng(n))
    for instance, tour in zip(instances, tours, strict=True):
        pruned, verdict = preprocess(model_of(instance)), verify(instance, tour)
        assert isinstance(verdict, Solution)
        assert_kept(instance, pruned, verdict)
        assert pruned.before.sum() > 0.98 * (n - 1) * (n - 2) / 2


@pytest.mark.parametrize("whole", [True, False], ids=["whole numbers", "fractions"])
def test_pruning_what_is_pruned_adds_nothing(whole):
    rng = np.random.default_rng(whole)
    again = 0
    for _ in range(300):
        instance = draw(rng, whole)
        pruned = preprocess(model_of(instance))
        if pruned.infeasible is None:
            twice = preprocess(
                model_of(replace(instance, opens=pruned.opens, closes=pruned.closes))
            )
            assert twice.infeasible is None
            np.testing.assert_array_equal(twice.before, pruned.before)
            np.testing.assert_array_equal(twice.arcs, pruned.arcs)
            # In fractions the tolerance is taken out and put back, and rounds.
            off = 0.0 if whole else 1e-9
            np.testing.assert_allclose(twice.opens, pruned.opens, rtol=0, atol=off)
            np.testing.assert_allclose(twice.closes, pruned.closes, rtol=0, atol=off)
            again += 1
    assert again > 80


@pytest.mark.parametrize("rule", RULES, ids=[rule.__name__ for rule in RULES])
def test_every_rule_narrows_some_instance_and_widens_none(rule):
    rng = np.random.default_rng(3)
    narrowed = 0
    for _ in range(100):
        wide = network(model_of(draw(rng, whole=True)))
        for _ in range(2):
            for other in RULES:
                if contradiction(wide) is None:
                    narrow = other(wide, reach(wide))
                    assert (narrow.opens >= wide.opens).all()
                    assert (narrow.closes <= wide.closes).all()
                    assert (narrow.before >= wide.before).all()
                    assert (narrow.arcs <= wide.arcs).all()
                    changed = any(
                        (getattr(narrow, name) != getattr(wide, name)).any()
                        for name in ("opens", "closes", "before", "arcs")
                    )
                    narrowed += changed and other is rule
                    wide = narrow
    assert narrowed > 0


def test_stops_with_windows_in_sequence_are_ordered_and_only_neighbours_keep_their_arcs():
    """By hand: windows 1 < 2 < 3 leave one tour, and each stop is served as it opens."""
    instance = TSPTW(np.full((4, 4), 2), [0, 10, 20, 30], [50, 11, 21, 31])
    pruned = preprocess(model_of(instance))
    assert np.argwhere(pruned.before).tolist() == [[1, 2], [1, 3], [2, 3]]
    assert np.argwhere(pruned.arcs).tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]
    assert pruned.opens.tolist() == [0, 10, 20, 30]
    assert pruned.closes.tolist() == [32, 10, 20, 30]


def test_a_shorter_way_round_keeps_the_order_open_that_the_direct_way_would_close():
    """By hand: 1 to 2 takes 9 directly, which is too late, but 2 by way of 3; so 2 may follow 1, not straight."""
    travel = [[0, 1, 1, 1], [1, 0, 9, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    pruned = preprocess(model_of(TSPTW(travel, [0, 0, 0, 0], [50, 50, 8, 50])))
    assert not pruned.before.any()
    assert not pruned.arcs[1, 2]
    assert pruned.arcs[1, 3]
    assert pruned.arcs[3, 2]
    assert isinstance(verify(TSPTW(travel, [0, 0, 0, 0], [50, 50, 8, 50]), [1, 3, 2]), Solution)


def test_the_depots_closing_decides_the_last_stop():
    """By hand: from 2 the way home takes 30, so only 1 can be last."""
    travel = [[0, 5, 5], [5, 0, 5], [30, 5, 0]]
    pruned = preprocess(model_of(TSPTW(travel, [0, 0, 0], [20, 50, 50])))
    assert np.argwhere(pruned.arcs).tolist() == [[0, 2], [1, 0], [2, 1]]
    assert pruned.before[2, 1]
    assert pruned.closes.tolist() == [15, 10, 5]


@pytest.mark.parametrize(
    ("opens", "closes", "why"),
    [
        ([0, 0, 0], [50, 3, 50], "stop 1 cannot be reached by 3"),
        ([0, 0, 20], [24, 50, 50], "the return to the depot cannot be reached by 24"),
        ([0, 0, 0], [50, 7, 7], "neither stop 1 nor stop 2 can come before the other"),
    ],
    ids=["a stop", "the return", "a pair"],
)
def test_the_reason_names_the_node_or_the_pair(opens, closes, why):
    pruned = preprocess(model_of(TSPTW(np.full((3, 3), 5), opens, closes)))
    assert pruned.infeasible is not None
    assert why in pruned.infeasible


def test_relabelling_the_stops_relabels_the_answer(rng):
    for instance in generate("tsptw", n=20, hardness="medium", count=5, seed=2):
        label = np.append(0, rng.permutation(np.arange(1, 20)))
        other = TSPTW(
            instance.travel[np.ix_(label, label)], instance.opens[label], instance.closes[label]
        )
        one, two = preprocess(model_of(instance)), preprocess(model_of(other))
        assert (one.infeasible is None) == (two.infeasible is None)
        if one.infeasible is None:
            np.testing.assert_array_equal(one.arcs[np.ix_(label, label)], two.arcs)
            np.testing.assert_array_equal(one.before[np.ix_(label, label)], two.before)
            np.testing.assert_allclose(one.opens[label], two.opens)
            np.testing.assert_allclose(one.closes[label], two.closes)


def test_pruning_stops_where_its_time_is_up(rng):
    """With nothing but what the instance says itself."""
    model = model_of(TSPTW([[0, 5, 5], [5, 0, 5], [5, 5, 0]], 0, [99, 9, 99]))
    hasty = preprocess(model, until=0.0)
    assert hasty.infeasible is None
    assert not hasty.before.any()
    assert preprocess(model).before[1, 2]
