"""Explanations against brute force: the named set collides by itself, and the repair is the least that helps."""

import time
from dataclasses import replace

import brute
import numpy as np
import pytest

import fairway
from fairway import TSPDL, TSPTW
from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.search.exact import prove
from fairway.solver.explain.trivial import subset


def infeasible(rng, draw, count):
    """Small instances without a tour."""
    drawn = (draw(rng, 5) for _ in range(100_000))
    without = (instance for instance in drawn if not brute.solutions(instance))
    return [next(without) for _ in range(count)]


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_the_named_stops_collide_and_none_of_them_is_too_many(rng, draw):
    for instance in infeasible(rng, draw, 15):
        explanation = fairway.explain(instance)
        assert explanation.status == "infeasible"
        assert not brute.solutions(subset(instance, explanation.stops))
        for stop in explanation.stops if len(explanation.stops) > 1 else ():
            fewer = [other for other in explanation.stops if other != stop]
            assert brute.solutions(subset(instance, fewer)), "this one could be left out"


def least_change(instance, node, limit):
    """The least change of one limit that lets some order be in time, over all orders."""
    wide = {
        "closes": lambda: 1e6,
        "opens": lambda: -1e6,
        "draft": lambda: 1e6,
    }[limit]()
    numbers = getattr(instance, limit).copy()
    before, numbers[node] = numbers[node], wide
    best = np.inf
    for solution in brute.solutions(replace(instance, **{limit: numbers})):
        best = min(best, needed(instance, solution, node, limit, before))
    return best


def needed(instance, solution, node, limit, before):
    if limit == "draft":
        return next(call.load for call in solution.schedule if call.node == node) - before
    if limit == "closes":
        if node == 0:
            return solution.makespan - before
        return next(visit.start for visit in solution.schedule if visit.node == node) - before
    latest, following = instance.closes[0], 0
    for stop in (*solution.tour[::-1], 0):
        latest -= instance.service[stop] + instance.travel[stop, following]
        if stop == node:
            return before - latest
        latest, following = min(latest, instance.closes[stop]), stop
    raise AssertionError


@pytest.mark.parametrize("short", [1e-9, 9e-7, 1e-6, 1.000001e-6, 1.1e-6, 2e-6])
def test_drafts_that_are_passed_by_a_hair_are_explained_too(rng, short):
    for _ in range(10):
        demand = np.array([0, *rng.integers(1, 9, 5)]) / 3
        order = 1 + rng.permutation(5)
        draft = np.full(6, demand.sum())
        draft[order] = np.cumsum(demand[order])
        draft[rng.integers(1, 6)] -= short
        instance = TSPDL(1 - np.eye(6), demand, draft)
        found, solved = fairway.explain(instance, seconds=2), fairway.solve(instance, seconds=0.1)
        assert (found.status == "infeasible") == (solved.status == "infeasible")
        assert found.status != "unknown"


@pytest.mark.parametrize(
    ("draw", "limits"), [(brute.windows, ("closes", "opens")), (brute.drafts, ("draft",))]
)
def test_the_repair_is_the_smallest_change_of_a_single_limit(rng, draw, limits):
    repaired = 0
    for instance in infeasible(rng, draw, 15):
        nodes = range(instance.nodes) if draw is brute.windows else range(1, instance.nodes)
        best = min(least_change(instance, node, limit) for node in nodes for limit in limits)
        repair = fairway.explain(instance).repair
        assert (repair is None) == np.isinf(best)
        if repair is not None:
            repaired += 1
            assert repair.smallest
            assert repair.change == pytest.approx(best, abs=1e-4)
            mended = repair.applied(instance)
            assert isinstance(verify(mended, repair.solution.tour), Solution)
            assert fairway.solve(mended).status == "optimal"
    assert repaired > 7


def test_it_speaks_in_words():
    travel = [[0, 10, 10], [10, 0, 16], [10, 16, 0]]
    instance = fairway.TSPTW(travel, [0, 530, 0], [900, 530, 540])
    assert fairway.explain(instance).status == "feasible"
    late = fairway.TSPTW(travel, [0, 530, 535], [900, 530, 540])
    said = fairway.explain(late)
    assert said.why == (
        "stops 1, 2 and the depot: 2 closes at 540 but cannot be reached before 546 "
        "if the others are to be in time"
    )
    assert said.advice == (
        "there would be a tour if stop 2 closed at 546 instead of 540, "
        "the smallest change of a single limit"
    )
    assert str(said).startswith("infeasible: stops 1, 2 and the depot")


def two_conflicts():
    """Stops 1 and 2 collide, and much later stops 4 and 5."""
    travel = 10 * (1 - np.eye(7))
    return TSPTW(travel, [0, 100, 105, 0, 300, 303, 0], [900, 101, 108, 900, 302, 308, 900])


def test_every_independent_conflict_is_named_with_what_would_end_it():
    instance = two_conflicts()
    said = fairway.explain(instance)
    assert [conflict.stops for conflict in said.conflicts] == [(1, 2), (4, 5)]
    assert said.why == "2 independent conflicts: " + "; ".join(
        f"({number}) {conflict.why}" for number, conflict in enumerate(said.conflicts, 1)
    )
    assert said.advice == (
        "there would be a tour if stop 2 closed at 110 instead of 108 and stop 5 closed at 310 instead of 308: "
        "the smallest change for each conflict, and all are needed"
    )
    first, second = said.repairs
    assert isinstance(
        verify(second.applied(first.applied(instance)), first.solution.tour), Solution
    )


def test_a_change_that_ends_all_conflicts_is_the_repair():
    travel = 10 * (1 - np.eye(4))
    instance = TSPTW(travel, [0, 95, 96, 0], [100, 120, 120, 99])
    said = fairway.explain(instance)
    assert [conflict.stops for conflict in said.conflicts] == [(1,), (2,)]
    assert (said.repair.node, said.repair.limit, said.repair.after) == (0, "closes", 115)
    assert said.advice.startswith("there would be a tour if the depot closed at 115 instead of 100")


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_conflicts_share_no_stop_and_none_is_left_out(rng, draw):
    several = 0
    for instance in infeasible(rng, draw, 25):
        said = fairway.explain(instance)
        stops = [stop for conflict in said.conflicts for stop in conflict.stops]
        assert len(stops) == len(set(stops))
        assert all(not brute.solutions(subset(instance, each.stops)) for each in said.conflicts)
        rest = [stop for stop in range(1, instance.nodes) if stop not in stops]
        assert not rest or brute.solutions(subset(instance, rest)), "another conflict is not named"
        several += len(said.conflicts) > 1
        changed = instance
        for repair in said.repairs if said.repair is None else (said.repair,):
            changed = changed if repair is None else repair.applied(changed)
        mended = said.repair or (said.repairs and said.repairs[0])
        if mended and mended.solution:
            assert isinstance(verify(changed, mended.solution.tour), Solution)
    assert several > 0


def test_without_a_tour_the_least_late_order_is_shown():
    said = fairway.explain(two_conflicts())
    assert [(each.node, each.amount) for each in said.attempt.violations] == [(2, 2), (5, 2)]
    assert "least late: 0 > " in str(said)


def test_no_part_of_it_forgets_the_time():
    """What once took the cube of the nodes without a look at the clock, seven seconds here, has none to spare."""
    instance = fairway.generate("tsptw", n=1500, hardness="easy", seed=1)[0]
    opens, closes = instance.opens.copy(), instance.closes.copy()
    opens[[5, 9]], closes[[5, 9]] = 0.0, 1e-3
    fairway.explain(two_conflicts())
    began = time.monotonic()
    said = fairway.explain(replace(instance, opens=opens, closes=closes), seconds=1)
    assert time.monotonic() - began < 2
    assert said.status == "infeasible"
    assert {conflict.stops for conflict in said.conflicts} >= {(5,), (9,)}


def test_a_feasible_instance_is_shown_its_tour(window_instance, draft_instance):
    for instance in (window_instance, draft_instance):
        explanation = fairway.explain(instance)
        assert explanation.status == "feasible"
        assert isinstance(verify(instance, explanation.solution.tour), Solution)
        assert "tour: 0 > " in str(explanation)


def test_where_nothing_is_known_it_says_so():
    explanation = fairway.explain(brute.a_little_too_short(), seconds=0.1)
    assert explanation.status == "unknown"
    assert explanation.attempt.violations
    assert "least late: 0 > " in str(explanation)


def test_windows_shrunk_until_there_may_be_no_tour():
    """Either a tour shows that there still is one, or the named set is proved to have none by itself."""
    instances = fairway.generate("tsptw", n=30, hardness="hard", count=8, seed=3)
    rng = np.random.default_rng(3)
    counts = {"feasible": 0, "infeasible": 0}
    for instance in instances:
        solution = fairway.solve(instance).solution
        visit = solution.schedule[int(rng.integers(29))]
        closes = instance.closes.copy()
        closes[visit.node] = max(instance.opens[visit.node], visit.start - 60 * rng.random())
        shrunk = replace(instance, closes=closes)
        explanation = fairway.explain(shrunk)
        counts[explanation.status] += 1
        if explanation.status == "infeasible":
            assert fairway.solve(shrunk).status == "infeasible"
            assert prove(subset(shrunk, explanation.stops)).status == "infeasible"
        else:
            assert isinstance(verify(shrunk, explanation.solution.tour), Solution)
    assert counts["infeasible"] > 2


def test_what_cannot_be_explained_gets_a_sentence(window_instance):
    with pytest.raises(InvalidRequest, match="seconds is -1"):
        fairway.explain(window_instance, seconds=-1)


def test_where_times_came_as_times_of_day_they_are_told_so(tmp_path):
    """The inn is 41.6 minutes away; a lunch of 0:45 is too long for the depot's day."""
    rows = "name,kind,x,y,from,to,minutes\nDepot,,0,0,08:00,{0},\nInn,,10.4,0,08:00,{1},5\n{2}"
    (tmp_path / "late.csv").write_text(rows.format("17:00", "08:40", ""))
    told = fairway.explain(fairway.read(tmp_path / "late.csv", speed=15))
    assert told.why == "stop 1 (Inn) closes at 08:40 but cannot be reached before 08:41:36"
    assert "stop 1 (Inn) closed at 08:41:36 instead of 08:40" in told.advice
    assert "starts at 08:41:36, 0:01:36 after its window closes at 08:40" in str(told)
    lunch = "Lunch,break,,,08:30,09:00,0:45\n"
    (tmp_path / "lunch.csv").write_text(rows.format("10:00", "09:30", lunch))
    told = fairway.explain(fairway.read(tmp_path / "lunch.csv", speed=15))
    assert "a break of 0:45 must start between 08:30 and 09:00" in told.why
    assert "closed at 10:13:12 instead of 10:00" in told.advice
