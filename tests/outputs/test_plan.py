import math
from dataclasses import replace

import numpy as np
import pytest
from days import day, solution
from sketches import drawn

from fairway import Instance, Solution, verify
from fairway.outputs.plan import plan_of


def plans(count, objective="cost"):
    """Plans of random tours under random constraints, feasible or not."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        instance = drawn(rng, int(rng.integers(2, 7)))
        order = [int(stop) for stop in 1 + rng.permutation(instance.nodes - 1)]
        tour = [
            stop
            for stop in order
            if stop != instance.end and (math.isinf(instance.prize[stop]) or rng.random() < 0.7)
        ]
        judged = verify(instance, tour, objective=objective)
        if judged.schedule is not None:
            yield plan_of(instance, judged)


def test_the_steps_of_a_day_by_hand():
    steps = plan_of(day(), solution()).steps
    assert [(s.kind, s.name) for s in steps] == [
        ("start", "Depot"),
        ("stop", "=Ames, Ltd"),
        ("break", "break"),
        ("stop", "Boone"),
        ("stop", "Cary"),
        ("end", "Depot"),
    ]
    assert [(s.arrival, s.start, s.departure) for s in steps] == [
        (480, 480, 485),
        (505, 510, 520),
        (540, 545, 575),
        (575, 600, 610),
        (630, 630, 640),
        (660, 660, 660),
    ]
    assert [s.late for s in steps] == [0, 0, 0, 0, 20, 0]
    assert [s.load for s in steps] == [2, 5, 5, 3, 7, 7]
    assert [s.cost for s in steps] == [0, 20, 40, 40, 60, 80]
    assert [s.distance for s in steps] == [0, 10, 20, 20, 30, 40]
    assert plan_of(day(), solution()).unserved == [4]


@pytest.mark.parametrize("objective", ["cost", "makespan", "duration"])
def test_every_minute_of_a_plan_is_driving_waiting_service_or_a_break(objective):
    seen = 0
    for plan in plans(150, objective):
        now = driven = 0.0
        for step in plan.steps:
            drive = step.driven - driven
            if step.kind != "start":
                waited = step.arrival - now - drive
                idle = plan.instance.breaks and step.kind != "break"
                assert waited == pytest.approx(0, abs=1e-9) or (idle and waited > -1e-9)
            assert step.wait >= -1e-9
            now, driven = step.departure, step.driven
        assert now == pytest.approx(plan.judged.makespan)
        assert plan.steps[-1].cost == pytest.approx(plan.judged.cost)
        seen += 1
    assert seen > 80


def test_breaks_are_taken_within_their_windows_and_once():
    taken = 0
    for plan in plans(300):
        if isinstance(plan.judged, Solution):
            rests = [step for step in plan.steps if step.kind == "break"]
            for rest in rests:
                first, last, length = plan.instance.breaks[rest.number]
                assert first - 1e-6 <= rest.start <= last + 1e-6
                assert rest.service == pytest.approx(length)
            assert len({rest.number for rest in rests}) == len(rests)
            due = [b for b in plan.instance.breaks if b[1] < plan.judged.makespan - 1e-6]
            assert len(rests) >= len(due)
            taken += len(rests)
    assert taken > 20


def leaving_at(plan, departure):
    """What the judge says where the depot opens as late as the tour is to leave."""
    instance = plan.instance
    opens, closes = instance.opens.copy(), instance.closes.copy()
    opens[0] = departure - instance.service[0]
    if opens[0] > closes[0]:
        return None
    return verify(replace(instance, opens=opens, cost=instance.cost), plan.judged.tour)


def ends_as(plan, judged):
    """Whether a tour ends no later than that of a plan, at no higher price."""
    own = plan.judged
    return (
        isinstance(judged, Solution)
        and judged.makespan <= own.makespan + 1e-6
        and judged.value <= own.value + 1e-6
    )


def test_the_latest_departure_changes_nothing_and_any_later_one_does():
    gained = 0
    for plan in plans(400):
        if not isinstance(plan.judged, Solution) or 0 in plan.instance.windows:
            continue
        latest = plan.latest_departure
        assert latest >= plan.departure
        assert ends_as(plan, leaving_at(plan, latest))
        for more in (0.01, 0.7, 5.0):
            later = leaving_at(plan, latest + more)
            assert not plan.judged.tour or later is None or not ends_as(plan, later)
        gained += latest > plan.departure
    assert gained > 5


def test_leaving_later_may_use_up_the_wait_and_no_more():
    """Ames opens at 10 and is 4 away: leaving at 6 is as good as at 0."""
    travel = np.array([[0, 4, 4], [4, 0, 4], [4, 4, 0]])
    instance = Instance(travel, opens=[0, 10, 0], closes=[50, 20, 50])
    assert plan_of(instance, verify(instance, [1, 2])).latest_departure == 6
    assert plan_of(instance, verify(instance, [2, 1])).latest_departure == 2


def test_an_open_tour_has_no_end_and_the_empty_one_only_a_start():
    instance = Instance(np.array([[0, 4], [4, 0]]), end=None, prize=1.0)
    assert [s.kind for s in plan_of(instance, verify(instance, [1])).steps] == ["start", "stop"]
    assert [s.kind for s in plan_of(instance, verify(instance, [])).steps] == ["start"]


def test_a_shrinking_load_is_aboard_at_the_start_and_gone_at_the_end():
    instance = Instance(np.ones((3, 3)), demand=[0, 2, 3], capacity=9, load="shrinking")
    steps = plan_of(instance, verify(instance, [2, 1])).steps
    assert [step.load for step in steps] == [5, 5, 2, 0]
