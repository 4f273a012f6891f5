"""Exact search against brute force, the judge, and its own promises about time and memory."""

import itertools
import math
import time
import tracemalloc

import numpy as np
import pytest

from fairway.errors import InvalidRequest
from fairway.judge import TOLERANCE, Solution, verify
from fairway.problems.generate import generate
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.search import exact
from fairway.search.exact import Stage, beam, prove, raise_bound

ORDERS = {m: 1 + np.array(list(itertools.permutations(range(m)))) for m in range(1, 8)}
"""All tours of so many stops."""

HURRIED = (Stage(1), Stage(3, 8, 2, 1), Stage(1 << 31, 30, 5, 3))
"""Every stage, bound and cut comes into play even in small instances."""


def best_by_windows(instance, makespan):
    """The least travel or earliest return of all tours, as the judge has it; infinite where all break a window."""
    orders = ORDERS[instance.nodes - 1]
    tolerance = 0.0 if instance.integral else TOLERANCE
    here, now = np.zeros(len(orders), int), np.full(len(orders), instance.opens[0])
    cost, kept = np.zeros(len(orders)), np.ones(len(orders), bool)
    for stop in orders.T:
        leg = instance.travel[here, stop]
        now = np.maximum(now + instance.service[here] + leg, instance.opens[stop])
        kept &= ~(now - instance.closes[stop] > tolerance)
        cost, here = cost + leg, stop
    leg = instance.travel[here, 0]
    now, cost = now + instance.service[here] + leg, cost + leg
    kept &= ~(now - instance.closes[0] > tolerance)
    return (now if makespan else cost)[kept].min(initial=math.inf)


def best_by_drafts(instance):
    """The least travel of all tours."""
    orders = ORDERS[instance.nodes - 1]
    demand = instance.demand[orders]
    load = demand.cumsum(1) if instance.load == "growing" else demand[:, ::-1].cumsum(1)[:, ::-1]
    tolerance = 0.0 if instance.integral else TOLERANCE
    kept = ~(load - instance.draft[orders] > tolerance).any(1)
    circuits = np.pad(orders, ((0, 0), (1, 1)))
    cost = instance.travel[circuits[:, :-1], circuits[:, 1:]].sum(1)
    return cost[kept].min(initial=math.inf)


def travels(rng, nodes):
    """Euclidean, asymmetric, whole, full of ties or of zeros; most break the triangle inequality."""
    points = 100 * rng.random((nodes, 2))
    return [
        np.linalg.norm(points[:, None] - points, axis=-1),
        rng.integers(0, 12, (nodes, nodes)).astype(float),
        rng.integers(1, 4, (nodes, nodes)).astype(float),
        12 * rng.random((nodes, nodes)),
        rng.integers(0, 1000, (nodes, nodes)) / 10,
    ][rng.integers(5)]


def some_windows(rng, nodes=None):
    """Windows around one tour, of no width up to no matter, some a little too early for it; service or none."""
    nodes = nodes or int(rng.integers(2, 9))
    travel = travels(rng, nodes)
    size = travel.mean() + 0.1
    fitted = np.rint if np.array_equal(travel, np.rint(travel)) else np.asarray
    width = size * rng.choice([0, 0.5, 1, 2, 4, 20])
    early = width * rng.choice([0, 0, 0.3])
    service = fitted(size * rng.random(nodes) * rng.choice([0, 1]))
    now, here = service[0], 0
    opens, closes = np.zeros((2, nodes))
    for stop in 1 + rng.permutation(nodes - 1):
        now += travel[here, stop]
        opens[stop] = fitted(now - width * rng.random())
        closes[stop] = max(opens[stop], fitted(now + width * rng.random() - early))
        now, here = max(now, opens[stop]) + service[stop], stop
    closes[0] = max(0, fitted(now + travel[here, 0] + width * rng.random() - early))
    shift = rng.choice([0, -40, 7])
    return TSPTW(travel, opens + shift, closes + shift, service)


def some_drafts(rng, nodes=None):
    """Drafts around the loads of one tour, some a little too low; whole, fractional, equal and zero demands."""
    nodes = nodes or int(rng.integers(2, 9))
    whole = rng.random() < 0.6
    demand = [
        rng.integers(0, 5, nodes) if whole else rng.random(nodes),
        np.ones(nodes),
    ][rng.random() < 0.3].astype(float)
    demand[0] = 0
    slack, order = rng.choice([0, 1, 3]), 1 + rng.permutation(nodes - 1)
    draft = np.zeros(nodes)
    draft[order] = np.cumsum(demand[order]) + slack * rng.integers(-1, 3, nodes - 1) / (1 + whole)
    load = ["growing", "shrinking"][rng.integers(2)]
    return TSPDL(
        travels(rng, nodes), demand, np.maximum(np.ceil(draft) if whole else draft, 0), load
    )


def same(one, other):
    return one == pytest.approx(other, rel=1e-9, abs=1e-9)


def check_proof(instance, proof, best, upper, objective):
    """The status is right, and the tour is accepted by the judge at exactly the cost that is stated."""
    if math.isinf(upper):
        expected = "infeasible" if math.isinf(best) else "optimal"
    else:
        expected = "optimal" if best < upper - 1e-9 * max(abs(upper), 1) else "bounded"
    assert proof.status == expected
    assert same(proof.lower_bound, min(best, upper))
    assert (proof.tour is None) == (expected != "optimal")
    if proof.tour is not None:
        assert same(proof.cost, best)
        check_tour(instance, proof, objective)


def check_tour(instance, proof, objective):
    judged = verify(instance, proof.tour)
    assert isinstance(judged, Solution)
    assert proof.cost == (judged.makespan if objective == "makespan" else judged.cost)


@pytest.mark.slow
@pytest.mark.parametrize("stages", [exact.STAGES, HURRIED], ids=["as shipped", "hurried"])
@pytest.mark.parametrize("objective", ["travel", "makespan"])
def test_windows_are_proved_as_brute_force_has_it(monkeypatch, stages, objective):
    monkeypatch.setattr(exact, "STAGES", stages)
    rng = np.random.default_rng(len(stages) + len(objective))
    counts = {"optimal": 0, "infeasible": 0, "bounded": 0}
    for _ in range(700):
        instance = some_windows(rng)
        best = best_by_windows(instance, objective == "makespan")
        upper = rng.choice([math.inf, best, 1.2 * best + 0.1, 0.9 * best - 0.1])
        proof = prove(instance, upper=upper, objective=objective)
        check_proof(instance, proof, best, upper, objective)
        counts[proof.status] += 1
    assert min(counts.values()) > 70, counts


@pytest.mark.slow
@pytest.mark.parametrize("stages", [exact.STAGES, HURRIED], ids=["as shipped", "hurried"])
def test_drafts_are_proved_as_brute_force_has_it(monkeypatch, stages):
    monkeypatch.setattr(exact, "STAGES", stages)
    rng = np.random.default_rng(len(stages))
    counts = {"optimal": 0, "infeasible": 0, "bounded": 0}
    for _ in range(700):
        instance = some_drafts(rng)
        best = best_by_drafts(instance)
        upper = rng.choice([math.inf, best, 1.2 * best + 0.1, 0.9 * best - 0.1])
        proof = prove(instance, upper=upper)
        check_proof(instance, proof, best, upper, "travel")
        counts[proof.status] += 1
    assert min(counts.values()) > 70, counts


@pytest.mark.parametrize("rank", ["bound", "cost"])
def test_a_beam_is_never_better_than_the_best_nor_its_bound_above_it(rank):
    rng = np.random.default_rng(5)
    found = 0
    for number in range(200):
        instance = some_drafts(rng) if number % 3 == 0 else some_windows(rng)
        drafts = instance.laden
        best = best_by_drafts(instance) if drafts else best_by_windows(instance, makespan=False)
        held = beam(instance, int(rng.integers(1, 5)), rank=rank)
        assert held.lower_bound <= best * (1 + 1e-9) + 1e-9
        if held.tour is not None:
            found += 1
            check_tour(instance, held, "travel")
            assert held.cost >= best * (1 - 1e-9)
        if held.status != "truncated":
            check_proof(instance, held, best, math.inf, "travel")
    assert found > 80


def test_a_wide_beam_is_a_proof():
    instance = generate("tsptw", n=30, hardness="hard", count=1, seed=3)[0]
    assert beam(instance, 1 << 20).status == "optimal"


@pytest.mark.parametrize(
    ("problem", "nodes"), [("tsptw", 63), ("tsptw", 64), ("tsptw", 65), ("tsptw", 200)]
)
def test_the_numbers_of_the_stops_make_no_difference_whatever_the_words_of_a_set(
    rng, problem, nodes
):
    instance = generate(problem, n=nodes, hardness="hard", count=1, seed=nodes)[0]
    order = np.append(0, 1 + rng.permutation(nodes - 1))
    columns = (instance.opens[order], instance.closes[order])
    shuffled = TSPTW(instance.travel[np.ix_(order, order)], *columns)
    one, other = prove(instance), prove(shuffled)
    assert one.status == other.status == "optimal"
    assert tuple(order[list(other.tour)]) == one.tour


@pytest.mark.slow
def test_a_deadline_ends_the_search_with_an_honest_bound():
    """A quarter of a second more would be a fault; a twentieth is what is aimed at, on a machine that is not busy."""
    for problem, hardness in [("tsptw", "easy"), ("tspdl", "medium")]:
        instance = generate(problem, n=100, hardness=hardness, count=1, seed=2)[0]
        prove(instance, seconds=0.1)
        for seconds in (0.0, 0.03, 0.7):
            began = time.monotonic()
            proof = prove(instance, seconds=seconds)
            assert time.monotonic() - began < seconds + 0.25
            assert proof.status == "truncated"
            assert proof.lower_bound <= proof.cost
        assert proof.lower_bound > 0
        if proof.tour is not None:
            check_tour(instance, proof, "travel")


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "hardness"), [("tsptw", "medium"), ("tspdl", "medium")])
def test_a_thousand_nodes_do_not_outlast_a_deadline(problem, hardness):
    exact.warm()
    for nodes, seconds in [(200, 0.1), (500, 0.1), (1000, 0.01), (1000, 0.1)]:
        instance = generate(problem, n=nodes, hardness=hardness, count=1, seed=2)[0]
        began = time.monotonic()
        proof = prove(instance, seconds=seconds)
        assert time.monotonic() - began < seconds + 0.25
        assert proof.status == "truncated"


@pytest.mark.slow
def test_bounds_of_truncated_searches_are_below_the_optimum_and_rise_with_time():
    instance = generate("tsptw", n=40, hardness="medium", count=1, seed=4)[0]
    best = prove(instance).cost
    for memory in (50_000, 200_000, 1_000_000):
        held = prove(instance, memory=memory)
        assert held.lower_bound <= best * (1 + 1e-9)
        assert held.cost >= best * (1 - 1e-9)
    bounds = [
        prove(instance, seconds=seconds).lower_bound for seconds in (0, 0.005, 0.02, math.inf)
    ]
    assert max(bounds) == bounds[-1] == best
    assert bounds[0] == 0


@pytest.mark.slow
def test_memory_is_bounded_and_the_bound_honest():
    instance = generate("tspdl", n=45, hardness="medium", count=1, seed=2)[0]
    prove(instance, seconds=0.1)
    memory = 3_000_000
    tracemalloc.start()
    held = prove(instance, memory=memory)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * memory
    assert held.status == "truncated"
    assert held.lower_bound < held.cost
    check_tour(instance, held, "travel")


def test_a_stop_that_nothing_can_reach_in_time_is_proved_at_once():
    travel = np.full((4, 4), 10.0)
    assert prove(TSPTW(travel, 0, [100, 100, 5, 100])).status == "infeasible"
    assert prove(TSPDL(travel, [0, 2, 2, 2], [9, 9, 1, 9])).status == "infeasible"


def test_an_arrival_at_the_very_end_of_a_window_counts_as_in_time():
    travel = [[0, 3, 9], [9, 0, 4], [5, 9, 0]]
    proof = prove(TSPTW(travel, 0, [12, 3, 7]))
    assert (proof.status, proof.tour, proof.cost) == ("optimal", (1, 2), 12)
    assert prove(TSPTW(travel, 0, [11, 3, 7])).status == "infeasible"


def test_a_way_round_may_be_the_only_one_in_time():
    """Straight from 1 to 3 takes too long, by way of 2 it does not: the matrix breaks the triangle inequality."""
    travel = np.full((4, 4), 9.0)
    travel[0, 1] = travel[1, 2] = travel[2, 3] = travel[3, 0] = 1
    proof = prove(TSPTW(travel, 0, [9, 9, 9, 4]))
    assert (proof.status, proof.tour, proof.cost) == ("optimal", (1, 2, 3), 4)


def test_what_cannot_be_asked_is_refused():
    drafts = TSPDL([[0, 1], [1, 0]], [0, 1], [1, 1])
    with pytest.raises(InvalidRequest, match="makespan"):
        prove(drafts, objective="makespan")
    with pytest.raises(InvalidRequest, match="width"):
        beam(drafts, 0)


def test_stops_that_never_close_leave_no_false_proof(rng):
    """Preprocessing looks at sums of closings, of which some are infinite, and at arcs that are out."""
    for _ in range(10):
        points = rng.integers(0, 100, (10, 2))
        travel = np.hypot(*np.moveaxis((points[:, None] - points).astype(float), -1, 0))
        closes = np.where(rng.random(10) < 0.7, np.inf, 400.0)
        instance = Instance(travel, closes=closes)
        best = prove(instance)
        assert best.status == "optimal"
        raised = raise_bound(instance, upper=1.2 * best.cost, seconds=math.inf)
        assert raised.status == "truncated" or raised.cost == best.cost
        assert 0 < raised.lower_bound <= best.cost + 1e-6


@pytest.fixture
def all_shared(monkeypatch):
    """Threads share every layer, however narrow, through boxes that are full at once."""
    monkeypatch.setattr("fairway.kernels.labels.shared.WORTHWHILE", 1)
    monkeypatch.setattr("fairway.kernels.labels.shared.LETTERS", 1)
    monkeypatch.setattr("fairway.kernels.labels.run.QUANTUM", 1)


@pytest.mark.parametrize("stages", [exact.STAGES, HURRIED], ids=["as shipped", "hurried"])
@pytest.mark.parametrize("kind", ["travel", "makespan", "drafts"])
def test_several_threads_prove_what_brute_force_has(monkeypatch, all_shared, stages, kind):
    monkeypatch.setattr(exact, "STAGES", stages)
    rng = np.random.default_rng(len(stages) + len(kind))
    objective = "makespan" if kind == "makespan" else "travel"
    statuses = set()
    for number in range(40):
        instance = some_drafts(rng) if kind == "drafts" else some_windows(rng)
        best = (
            best_by_drafts(instance)
            if kind == "drafts"
            else best_by_windows(instance, objective == "makespan")
        )
        upper = [math.inf, best, 1.2 * best + 0.1, 0.9 * best - 0.1][number % 4]
        proof = prove(instance, upper=upper, objective=objective, threads=2 + number % 2)
        check_proof(instance, proof, best, upper, objective)
        statuses.add(proof.status)
    assert statuses == {"optimal", "infeasible", "bounded"}


def test_any_number_of_threads_gives_the_same_proof(all_shared, monkeypatch):
    monkeypatch.setattr("fairway.kernels.labels.run.QUANTUM", 1_000)
    for problem, n in (("tsptw", 22), ("tspdl", 16)):
        instance = generate(problem, n=n, hardness="medium", count=1, seed=3)[0]
        one, *others = (prove(instance, threads=threads) for threads in (1, 2, 3))
        assert one.status == "optimal"
        for proof in others:
            assert (proof.status, proof.cost, proof.lower_bound) == ("optimal", one.cost, one.cost)
        raised = raise_bound(instance, upper=1.1 * one.cost, seconds=20.0, threads=2)
        assert (raised.status, raised.cost) == ("optimal", one.cost)


def test_several_threads_keep_to_the_memory_and_to_the_deadline():
    instance = generate("tspdl", n=45, hardness="medium", count=1, seed=2)[0]
    exact.warm()
    prove(instance, seconds=0.1, threads=2)
    memory = 3_000_000
    tracemalloc.start()
    held = prove(instance, memory=memory, seconds=2.0, threads=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * memory
    assert held.status == "truncated"
    assert held.lower_bound < held.cost
    for seconds in (0.0, 0.3):
        began = time.monotonic()
        proof = prove(instance, seconds=seconds, threads=2)
        assert time.monotonic() - began < seconds + 0.25
        assert proof.lower_bound <= proof.cost
