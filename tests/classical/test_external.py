import stat
import sys

import numpy as np
import pytest

from fairway.classical.external import lkh, ortools, pyvrp
from fairway.classical.external.integer_model import SCALE, integer_model
from fairway.classical.greedy import best_of_rules
from fairway.errors import InvalidRequest, SolverMissing
from fairway.judge import Solution, verify
from fairway.problems.files import read
from fairway.problems.generate import generate
from fairway.problems.instance import TSPTW
from fairway.problems.model import model_of

TIME = 0.05
LATE = TSPTW([[0, 1, 1], [1, 0, 1], [1, 1, 0]], [5, 0, 0], [99, 3, 99])
"""Stop 1 closes before the depot opens."""


def solution(instance, tour):
    verdict = verify(instance, tour)
    assert isinstance(verdict, Solution)
    return verdict


def resource_keeps(model, tour):
    """Whether a tour keeps the limits of a model in whole numbers."""
    resource, here = 0, 0
    for there in (*model.model.inward(tour)[1:-1].tolist(), 0):
        resource = max(resource + model.step[here, there], model.opens[there] if there else 0)
        if resource > model.closes[there]:
            return False
        here = there
    return True


# Whole numbers


def test_whole_numbers_stay_as_they_are(window_instance):
    model = integer_model(model_of(window_instance))
    assert np.array_equal(model.cost, window_instance.travel)
    assert model.step[1].tolist() == [3, 0, 3, 4]  # two of service before each way
    assert model.opens.tolist() == [0, 4, 0, 0]


@pytest.mark.parametrize("hardness", ["easy", "medium", "hard"])
def test_what_fits_in_whole_numbers_fits_for_the_judge(hardness, rng):
    """Swaps in a feasible tour bring sequences of either kind."""
    agreed = 0
    for instance in generate("tsptw", n=12, hardness=hardness, count=5, seed=4):
        first = best_of_rules(instance)
        for _ in range(20):
            tour = list(first.tour)
            i, j = rng.integers(0, len(tour), 2)
            tour[i], tour[j] = tour[j], tour[i]
            if resource_keeps(integer_model(model_of(instance)), tuple(tour)):
                agreed += 1
                assert isinstance(verify(instance, tour), Solution)
    assert agreed > 5


def test_depot_times_count_from_when_it_is_left():
    instance = TSPTW(np.ones((3, 3)), [10, 0, 15], [30, 14, 20], service=[2, 1, 0])
    model = integer_model(model_of(instance))
    assert model.opens.tolist() == [0, 0, 3]
    assert model.closes[1] == 2
    assert model.step[0].tolist() == [0, 1, 1]
    assert resource_keeps(model, (1, 2))
    solution(instance, (1, 2))


def test_windows_that_never_close_do_not_overflow():
    instance = TSPTW(np.full((4, 4), 0.5), 0, 1e15)
    assert integer_model(model_of(instance)).closes.max() <= 4 * SCALE


def test_a_window_between_two_whole_numbers_is_kept():
    instance = TSPTW([[0, 0.5], [0.5, 0]], [0, 1 / 3], [9, 1 / 3 + 1e-6])
    model = integer_model(model_of(instance))
    assert model.opens[1] == model.closes[1] == SCALE // 3


def test_draft_limits_grow_in_whole_numbers(draft_instance):
    growing, shrinking = (
        integer_model(model_of(draft_instance)),
        integer_model(model_of(draft_instance.reversed())),
    )
    assert growing.step[1].tolist() == [0, 0, 2, 1]
    assert growing.closes.tolist() == [6, 6, 5, 1]
    assert not growing.model.turned
    assert shrinking.model.turned
    assert np.array_equal(growing.step, shrinking.step)


# PyVRP and OR-Tools


@pytest.mark.parametrize(
    ("module", "solver"), [("pyvrp", pyvrp), ("ortools.constraint_solver.pywrapcp", ortools)]
)
def test_a_missing_package_is_one_sentence(module, solver, window_instance, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    name = module.split(".", maxsplit=1)[0]
    with pytest.raises(SolverMissing, match=rf"is not installed; pip install 'fairway\[{name}\]'"):
        solver.solve(window_instance, TIME)


def test_pyvrp_has_no_draft_limits(draft_instance):
    with pytest.raises(InvalidRequest, match="PyVRP has no draft limits"):
        pyvrp.solve(draft_instance, TIME)


@pytest.fixture(params=["pyvrp", "ortools"])
def solver(request):
    return {"pyvrp": pyvrp, "ortools": ortools}[request.param]


def test_the_best_tour_of_three_stops_is_found(solver, window_instance):
    tour = solver.solve(window_instance, TIME)
    assert solution(window_instance, tour).cost == 6


def test_asymmetric_travel_and_service(solver, rng):
    travel = rng.integers(1, 50, (8, 8)).astype(float)
    tour = list(range(1, 8))
    start = verify(TSPTW(travel, 0, 1e6, service=3), tour).schedule.start
    opens, closes = np.zeros(8), np.full(8, 1e3)
    opens[1:], closes[1:] = start - 20, start + 20
    instance = TSPTW(travel, np.maximum(opens, 0), closes, service=3)
    found = solver.solve(instance, TIME, initial=tour)
    assert solution(instance, found).cost <= solution(instance, tour).cost


@pytest.mark.parametrize("hardness", ["easy", "hard"])
def test_fractions_are_judged_feasible_and_no_worse_than_the_start(solver, hardness):
    for instance in generate("tsptw", n=20, hardness=hardness, count=3, seed=2):
        first = best_of_rules(instance)
        tour = solver.solve(instance, TIME, initial=first.tour)
        assert solution(instance, tour).cost <= first.cost + 1e-3


def test_none_where_a_stop_closes_before_the_depot_opens(solver):
    assert solver.solve(LATE, TIME) is None


def test_none_where_there_is_no_tour(solver):
    assert solver.solve(TSPTW([[0, 5], [5, 0]], 0, [99, 1]), TIME) is None


@pytest.mark.parametrize("load", ["growing", "shrinking"])
def test_ortools_keeps_draft_limits_in_the_direction_of_the_instance(load):
    for instance in generate("tspdl", n=20, count=3, seed=3):
        turned = instance if load == "growing" else instance.reversed()
        first = best_of_rules(turned)
        tour = ortools.solve(turned, TIME, initial=first.tour)
        assert solution(turned, tour).cost <= first.cost + 1e-3


def test_ortools_passes_over_a_start_that_breaks_limits(draft_instance):
    tour = ortools.solve(draft_instance, TIME, initial=(1, 2, 3))
    solution(draft_instance, tour)


# LKH-3


def test_lkh_is_asked_for_by_its_variable(monkeypatch, window_instance):
    monkeypatch.setenv("FAIRWAY_LKH", "/nowhere/LKH")
    with pytest.raises(SolverMissing, match="FAIRWAY_LKH=/nowhere/LKH; build it and set"):
        lkh.solve(window_instance, TIME)
    monkeypatch.delenv("FAIRWAY_LKH")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SolverMissing, match="LKH-3 is not on the PATH"):
        lkh.solve(window_instance, TIME)


def test_lkh_is_given_windows_in_whole_numbers(tmp_path):
    instance = generate("tsptw", n=6, hardness="medium", count=1, seed=1)[0]
    model = integer_model(model_of(instance))
    lkh.prepare(model, tmp_path, {"TIME_LIMIT": 1.5, "SEED": 1})
    written = read(tmp_path / lkh.PROBLEM)
    assert written.timed
    assert written.integral
    assert np.array_equal(written.travel, model.step)
    assert np.array_equal(written.closes, model.closes)
    said = (tmp_path / lkh.PARAMETERS).read_text().splitlines()
    assert {"SPECIAL", "RUNS = 1", "TIME_LIMIT = 1.5", "SEED = 1"} <= set(said)


def test_lkh_is_given_a_ship_that_delivers(tmp_path, draft_instance):
    lkh.prepare(integer_model(model_of(draft_instance)), tmp_path, {"TIME_LIMIT": 1.0})
    text = (tmp_path / lkh.PROBLEM).read_text()
    assert "TYPE : TSPDL" in text
    assert "DRAFT_LIMIT_SECTION\n1 6\n2 6\n3 5\n4 1\n" in text


def program_that_answers(folder, cycle):
    """Stands in for LKH-3: it checks that its files are there and leaves a tour, or none."""
    answer = "\n".join(("TOUR_SECTION", *map(str, cycle), "-1"))
    script = folder / "LKH"
    script.write_text(
        "#!/bin/sh\ngrep -q DEPOT_SECTION problem.tsp || exit 1\n"
        + (f"cat > best.tour <<'END'\n{answer}\nEND\n" if cycle else "")
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_a_tour_of_lkh_is_read_in_the_direction_of_the_instance(
    tmp_path, monkeypatch, window_instance, draft_instance
):
    monkeypatch.setenv("FAIRWAY_LKH", program_that_answers(tmp_path, [3, 4, 1, 2]))
    assert lkh.solve(window_instance, TIME) == (1, 2, 3)
    assert lkh.solve(draft_instance, TIME) == (3, 2, 1)
    assert lkh.solve(draft_instance.reversed(), TIME) == (1, 2, 3)
    solution(draft_instance, (3, 2, 1))
    solution(draft_instance.reversed(), (1, 2, 3))


def test_none_where_lkh_leaves_no_tour(tmp_path, monkeypatch, window_instance):
    monkeypatch.setenv("FAIRWAY_LKH", program_that_answers(tmp_path, []))
    assert lkh.solve(window_instance, TIME) is None
    assert lkh.solve(LATE, TIME) is None


def test_a_tour_that_lkh_starts_from_comes_back_the_same(
    tmp_path, monkeypatch, window_instance, draft_instance
):
    """The stand-in hands its first tour back, so what was written is read again."""
    script = tmp_path / "LKH"
    script.write_text(
        "#!/bin/sh\ngrep -q 'INITIAL_TOUR_FILE = initial.tour' run.par || exit 1\n"
        "grep -q 'MAX_TRIALS = 7' run.par || exit 1\ncp initial.tour best.tour\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("FAIRWAY_LKH", str(script))
    for instance in (window_instance, draft_instance, draft_instance.reversed()):
        assert lkh.solve(instance, TIME, initial=(2, 3, 1), trials=7) == (2, 3, 1)
