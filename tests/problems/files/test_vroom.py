"""VROOM's problem of one vehicle: what each field means for the tour, and what is refused by its name."""

import itertools
import json
import math
import random

import numpy as np
import pytest
import tours
import vroom as pyvroom

from fairway.errors import FairwayError
from fairway.judge import Solution, verify
from fairway.problems.files import read, vroom
from fairway.problems.files.legs import Beside
from fairway.problems.files.text import Unreadable

DURATIONS = [[0, 10, 20, 30], [11, 0, 21, 31], [12, 22, 0, 32], [13, 23, 33, 0]]


def problem(jobs=(), shipments=(), vehicle=None, **root):
    given = {"id": 1, "start_index": 0, "end_index": 0} if vehicle is None else {"id": 1, **vehicle}
    root = {"matrices": {"car": {"durations": DURATIONS}}} | root
    return {"vehicles": [given], "jobs": list(jobs), "shipments": list(shipments)} | root


def parsed(document, beside=None):
    text = json.dumps(document)
    assert vroom.recognises(text)
    return vroom.parse(text, "stem", None, beside)


def job(number, **fields):
    return {"id": number, "location_index": number} | fields


def best_of(instance):
    """The best of all tours, judged."""
    return tours.judged(instance, tours.best(instance)[1])


def test_a_job_is_an_optional_stop_with_its_service_and_windows():
    instance = parsed(
        problem(
            [
                job(1, service=5, description="mill", time_windows=[[200, 300], [10, 20]]),
                job(2, setup=3, service=4, time_windows=[[5, 60]]),
            ],
            vehicle={"start_index": 0, "end_index": 0, "time_window": [7, 400]},
        )
    )
    assert instance.travel.tolist() == [[0, 10, 20], [11, 0, 21], [12, 22, 0]]
    assert instance.service.tolist() == [0, 5, 7]
    assert instance.windows == {1: ((10, 20), (200, 300))}
    assert instance.opens.tolist() == [7, 0, 5]
    assert instance.closes.tolist() == [400, math.inf, 60]
    assert instance.end == 0
    assert instance.prize[0] == math.inf
    assert np.isfinite(instance.prize[1:]).all()
    assert instance.names == ("start", "job 1", "job 2")
    assert instance.source.ids == ("1", "1", "2")
    assert instance.source.columns["type"] == ("start", "job", "job")
    assert instance.source.columns["description"] == ("", "mill", "")


def test_descriptions_are_names_where_all_are_distinct():
    jobs = [job(1, description="mill"), job(2, description="quay")]
    assert parsed(problem(jobs)).names == ("start", "mill", "quay")
    jobs[1]["description"] = "mill"
    assert parsed(problem(jobs)).names == ("start", "job 1", "job 2")


def test_a_shipment_is_a_pair_with_a_signed_load():
    shipment = {
        "amount": [4],
        "pickup": {"id": 7, "location_index": 1, "service": 2},
        "delivery": {"id": 7, "location_index": 2, "time_windows": [[0, 99]]},
    }
    vehicle = {"start_index": 0, "end_index": 3, "capacity": [5]}
    instance = parsed(problem(shipments=[shipment], vehicle=vehicle))
    assert instance.pairs == ((1, 2),)
    assert instance.demand.tolist() == [0, 4, -4, 0]
    assert instance.capacity == 5
    assert instance.load == "signed"
    assert instance.names == ("start", "pickup 7", "delivery 7", "end")
    assert instance.end == 3


@pytest.mark.parametrize(
    ("fields", "load", "demand", "loaded"),
    [
        (({"delivery": [2]}, {"delivery": [3]}), "shrinking", [0, 2, 3], [0, 0, 0]),
        (({"amount": [2]}, {"amount": [3]}), "shrinking", [0, 2, 3], [0, 0, 0]),
        (({"pickup": [2]}, {"pickup": [3]}), "growing", [0, 2, 3], [0, 0, 0]),
        (({"delivery": [2], "pickup": [1]}, {"pickup": [3]}), "signed", [0, -1, 3], [0, 2, 0]),
    ],
)
def test_deliveries_are_aboard_from_the_start_and_pickups_stay(fields, load, demand, loaded):
    vehicle = {"start_index": 0, "end_index": 0, "capacity": [6]}
    jobs = [job(number, **given) for number, given in enumerate(fields, 1)]
    instance = parsed(problem(jobs, vehicle=vehicle))
    assert instance.load == load
    assert instance.demand.tolist() == demand
    assert instance.loaded.tolist() == loaded
    assert instance.aboard == 0


@pytest.mark.parametrize(
    ("vehicle", "nodes", "end"),
    [
        ({"start_index": 0, "end_index": 0}, 3, 0),
        ({"start_index": 0, "end_index": 3}, 4, 3),
        ({"start_index": 0}, 3, None),
        ({"end_index": 3}, 4, 3),
    ],
)
def test_start_and_end_may_differ_or_be_absent(vehicle, nodes, end):
    instance = parsed(problem([job(1), job(2)], vehicle=vehicle))
    assert instance.nodes == nodes
    assert instance.end == end
    assert (instance.travel[0] == 0).all() == ("start_index" not in vehicle)


def test_an_open_route_ends_its_last_service_within_the_hours():
    vehicle = {"start_index": 0, "time_window": [0, 100]}
    assert parsed(problem([job(1, service=30)], vehicle=vehicle)).closes[1] == 70


def test_a_task_that_never_fits_is_left_out_and_not_refused():
    vehicle = {"start_index": 0, "end_index": 0, "time_window": [0, 100]}
    instance = parsed(problem([job(1, time_windows=[[500, 600]]), job(2)], vehicle=vehicle))
    assert isinstance(verify(instance, (2,)), Solution)
    assert not isinstance(verify(instance, (1, 2)), Solution)
    assert best_of(instance).unserved == (1,)


def test_a_task_that_needs_a_skill_which_the_vehicle_lacks_is_left_out():
    vehicle = {"start_index": 0, "end_index": 0, "skills": [1, 4]}
    jobs = [job(1, skills=[4]), job(2, skills=[4, 5], priority=100), job(3)]
    assert best_of(parsed(problem(jobs, vehicle=vehicle))).unserved == (2,)


def test_setup_at_a_place_of_several_tasks_opens_their_windows_so_much_later():
    jobs = [job(1, setup=100, time_windows=[[50, 400]]), {**job(1), "id": 2, "setup": 9}]
    instance = parsed(problem(jobs))
    assert (instance.opens[1], instance.closes[1], instance.travel[0, 1]) == (150, 400, 110)
    assert (instance.service[1], instance.travel[2, 1]) == (0, 0)
    jobs[0]["time_windows"] = [[50, 149]]  # too short: it is counted in any case
    instance = parsed(problem(jobs))
    assert (instance.opens[1], instance.closes[1], instance.service[1]) == (50, 149, 100)


def test_setup_falls_away_at_the_place_of_the_stop_before():
    jobs = [
        job(1, setup=100, service=1),
        {"id": 2, "location_index": 1, "setup": 100, "service": 1},
        job(3, setup=7),
    ]
    instance = parsed(problem(jobs))
    verdict = verify(instance, (1, 2, 3))
    assert verdict.makespan == 10 + 100 + 1 + 0 + 1 + 31 + 7 + 13
    assert verdict.cost == 10 + 0 + 31 + 13


def test_speed_factor_and_costs_are_those_of_vroom():
    vehicle = {"start_index": 0, "end_index": 0, "speed_factor": 3}
    assert parsed(problem([job(1)], vehicle=vehicle)).travel[0, 1] == 10 * 0.33
    distances = [[1000 * entry for entry in row] for row in DURATIONS]
    vehicle = {
        "start_index": 0,
        "end_index": 0,
        "costs": {"per_hour": 7200, "per_km": 3, "fixed": 50, "per_task_hour": 360},
    }
    matrices = {"car": {"durations": DURATIONS, "distances": distances}}
    instance = parsed(problem([job(1, service=20)], vehicle=vehicle, matrices=matrices))
    assert instance.cost[0, 1] == 2 * 10 + 3 * 10 + 50 + 2
    assert instance.cost[1, 0] == 2 * 11 + 3 * 11
    costs = {"car": {"durations": DURATIONS, "costs": distances}}
    assert parsed(problem([job(1)], matrices=costs)).cost[0, 1] == 10_000


def test_breaks_are_taken_within_the_hours():
    vehicle = {"start_index": 0, "end_index": 0, "time_window": [10, 500]}
    vehicle["breaks"] = [
        {"id": 1, "service": 60, "time_windows": [[100, 480]]},
        {"id": 2, "service": 30},
    ]
    assert parsed(problem([job(1)], vehicle=vehicle)).breaks == ((100, 440, 60), (10, 470, 30))
    vehicle["breaks"][0]["time_windows"] = [[490, 495]]
    with pytest.raises(Unreadable, match=r"'breaks\[0\]' cannot be taken within the 'time_window'"):
        parsed(problem([job(1)], vehicle=vehicle))


def test_times_since_1970_are_shown_as_dates():
    vehicle = {"start_index": 0, "end_index": 0, "time_window": [1_795_000_000, 1_795_030_000]}
    instance = parsed(problem([job(1)], vehicle=vehicle))
    assert instance.source.clock.show(instance.opens[0]) == "2026-11-18 11:06:40"
    assert parsed(problem([job(1)])).source.clock is None


def test_places_in_degrees_need_a_speed_or_a_matrix(tmp_path):
    jobs = [{"id": 1, "location": [10.8, 59.9]}, {"id": 2, "location": [10.7, 59.8]}]
    document = {
        "vehicles": [{"id": 0, "start": [10.75, 59.91], "end": [10.75, 59.91]}],
        "jobs": jobs,
    }
    with pytest.raises(
        Unreadable, match=r"give a matrix of travel times \(--matrix\), or a speed in km/h"
    ):
        parsed(document)
    instance = parsed(document, Beside(speed=36.0))
    assert instance.source.geographic
    assert instance.end == 0
    assert instance.travel[0, 1] == pytest.approx(
        100 * instance.source.distances(instance.travel, instance.cost)[0, 1]
    )
    (tmp_path / "p.json").write_text(json.dumps(problem([job(1), job(2)], matrices=None)))
    (tmp_path / "m.json").write_text(json.dumps({"durations": DURATIONS}))
    assert read(tmp_path / "p.json", matrix=tmp_path / "m.json").travel[0, 2] == 20


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vehicles": []}, "'vehicles' has 0; expected one"),
        (
            {"vehicles": [{"id": 1}, {"id": 2}]},
            "'vehicles' has 2; expected one, since Fairway plans",
        ),
        ({"jobs": [job(1, skills=["lift"])]}, r"'jobs\[0\].skills' is a list of other things"),
        (
            {
                "vehicles": [{"id": 1, "start_index": 0, "max_tasks": 1, "capacity": [3]}],
                "jobs": [job(1, delivery=[2]), job(2, pickup=[2])],
            },
            "'max_tasks' and 'capacity' can both bind",
        ),
        (
            {"vehicles": [{"id": 1, "start_index": 0, "max_travel_time": 9}]},
            "'max_travel_time' is 9 and can bind",
        ),
        ({"vehicles": [{"id": 1, "start_index": 0, "max_distance": 9}]}, "'max_distance' is 9 and"),
        (
            {"vehicles": [{"id": 1, "start_index": 0, "breaks": [{"id": 1, "max_load": [1]}]}]},
            r"'max_load' in 'vehicles\[0\].breaks\[0\]'",
        ),
        (
            {"jobs": [job(1, time_windows=[[5, 9], [7, 12]])]},
            r"'jobs\[0\].time_windows' overlap",
        ),
        (
            {"jobs": [job(1, delivery=[1, 2])]},
            r"'jobs\[0\].delivery' has 2 components; amounts of one component",
        ),
        (
            {"jobs": [job(1, delivery=[1])]},
            "the vehicle has no 'capacity' where tasks have amounts",
        ),
        ({"jobs": [job(1, service_per_type=[1])]}, r"'jobs\[0\].service_per_type' is a list"),
        (
            {"jobs": [job(1, time_window=[1, 2])]},
            "the key 'time_window' in 'jobs.0.' is unknown, and looks",
        ),
        (
            {"jobs": [job(1, time_windows=[[5, 2]])]},
            r"'jobs\[0\].time_windows\[0\]' is a list; expected \[sta",
        ),
        (
            {"jobs": [job(1, service=-1)]},
            r"'jobs\[0\].service' is the number -1.0; expected a number, zero or more",
        ),
        ({"jobs": [job(1, priority=101)]}, "priority' is 101; expected 0 to 100"),
        ({"jobs": [job(9)]}, "'location_index' is 9; the matrix has rows 0 to 3"),
        ({"jobs": [{"id": 1}]}, "has no 'location_index' and no 'location'"),
        ({"jobs": [job(1), job(1)]}, "there are two of job 1; expected ids to be distinct"),
        ({"jobs": []}, "there are no 'jobs' and no 'shipments'"),
        ({"shipments": [{"pickup": {}}]}, r"'shipments\[0\].pickup' has no 'location_index'"),
        ({"shipments": [{"delivery": {}}]}, r"'shipments\[0\].pickup' is null; expected an object"),
        ({"fleet": 1}, "the key 'fleet' is unknown; expected jobs"),
        (
            {"matrices": {"bike": {"durations": DURATIONS}}},
            "profile is 'car' and there are matrices of 'bike'",
        ),
        ({"matrices": {"car": {"times": DURATIONS}}}, "the key 'times' in 'matrices' is unknown"),
        ({"matrices": {"car": {"distances": DURATIONS}}}, "has no 'durations'"),
        (
            {"matrices": {"car": {"durations": [[0, *[1e308] * 3]] * 4}}},
            "too large to be weighed against each other",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_by_the_name_of_its_field(change, said):
    with pytest.raises((Unreadable, FairwayError), match=said):
        parsed(problem([job(1)]) | change)


def test_limits_that_bind_nothing_are_passed_over():
    vehicle = {
        "start_index": 0,
        "end_index": 0,
        "max_tasks": 5,
        "max_travel_time": 10 + 11,
        "max_distance": 20 + 22,
        "skills": [],
        "profile": "car",
        "type": "van",
    }
    more = {"options": {"g": True}, "meta": {"NAME": "A-n32-k5"}}
    distances = [[2 * entry for entry in row] for row in DURATIONS]
    more["matrices"] = {"car": {"durations": DURATIONS, "distances": distances}}
    assert parsed(problem([job(1, skills=[])], vehicle=vehicle, **more)).nodes == 2
    for key in ("max_travel_time", "max_distance"):
        with pytest.raises(Unreadable, match=f"'{key}' is .* and can bind"):
            parsed(problem([job(1)], vehicle=vehicle | {key: vehicle[key] - 1}, **more))
    within_hours = {**vehicle, "max_travel_time": 20, "time_window": [100, 120]}
    assert parsed(problem([job(1)], vehicle=within_hours, **more)).nodes == 2


def test_no_more_tasks_are_served_than_the_vehicle_may():
    vehicle = {"start_index": 0, "end_index": 0, "max_tasks": 2, "capacity": [6]}
    jobs = [job(1, delivery=[2], priority=1), job(2, delivery=[2], priority=3), job(3, pickup=[2])]
    assert best_of(parsed(problem(jobs, vehicle=vehicle))).unserved == (3,)
    shipment = {"pickup": job(1), "delivery": job(2), "amount": [1]}
    assert len(best_of(parsed(problem([job(3)], [shipment], vehicle=vehicle))).unserved) == 1
    vehicle["max_tasks"] = 1
    assert best_of(parsed(problem([job(3)], [shipment], vehicle=vehicle))).unserved == (2, 3)


def test_an_altitude_may_follow_a_place():
    assert parsed(problem([job(1, location=[2.3, 48.8, 35.0])])).coordinates is None
    whole = problem([job(1, location=[2.3, 48.8, 35.0])], vehicle={"start": [2.3, 48.9, 0]})
    del whole["matrices"]
    assert parsed(whole, Beside(speed=40)).coordinates[1].tolist() == [2.3, 48.8]


def test_beside_a_matrix_a_location_may_be_in_any_plane():
    vehicle = {"start_index": 0, "start": [345.0, 12.0], "end_index": 0, "end": [345.0, 12.0]}
    instance = parsed(problem([job(1, location=[1.0, 500.0])], vehicle=vehicle))
    assert instance.coordinates.tolist() == [[345, 12], [1, 500]]
    assert instance.source.geographic is False
    far = problem([{"id": 1, "location": [1.0, 500.0]}], vehicle={"start": [2.0, 48.0]})
    del far["matrices"]
    with pytest.raises(Unreadable, match="in degrees"):
        parsed(far, Beside(speed=40))


def test_the_steps_of_a_vehicle_only_say_where_a_search_begins():
    vehicle = {"start_index": 0, "steps": [{"type": "start"}, {"type": "job", "id": 1}]}
    assert parsed(problem([job(1)], vehicle=vehicle)).nodes == 2


def test_times_by_type_are_those_of_the_type_of_the_vehicle():
    per_type = {"service": 5, "service_per_type": {"van": 7}, "setup_per_type": {"van": 2}}
    for kind, service in (({"type": "van"}, 9), ({"type": "bike"}, 5), ({}, 5)):
        vehicle = {"start_index": 0, "end_index": 0, **kind}
        assert parsed(problem([job(1, **per_type)], vehicle=vehicle)).service[1] == service


# What VROOM's document says of a plan, by itself: the best of all orders of all choices of tasks


EVERYTHING = ("pickup", "delivery", "shipment")


def random_problem(rng):
    size = 6
    durations = [[0 if a == b else rng.randrange(1, 40) for b in range(size)] for a in range(size)]
    vehicle = rng.choice(
        (
            {"start_index": 0, "end_index": 0},
            {"start_index": 0},
            {"end_index": 5},
            {"start_index": 0, "end_index": 5},
        )
    )
    if rng.random() < 0.6:
        first = rng.randrange(20)
        vehicle["time_window"] = [first, first + rng.randrange(60, 160)]
    loaded = rng.choice((None, ("pickup",), ("delivery",), ("shipment",), EVERYTHING, EVERYTHING))
    jobs = []
    for number in range(1, rng.randrange(2, 5)):
        each = {
            "id": number,
            "location_index": rng.randrange(1, 5),
            "priority": rng.choice((0, 0, 3, 10)),
        }
        each |= {"service": rng.randrange(9)} if rng.random() < 0.5 else {}
        each |= (
            {"setup": rng.randrange(15)}
            if rng.random() < 0.5 and number == each["location_index"]
            else {}
        )
        if rng.random() < 0.5:
            ends = sorted(rng.sample(range(150), rng.choice((2, 4))))
            each["time_windows"] = [ends[at : at + 2] for at in range(0, len(ends), 2)]
        kinds = [kind for kind in loaded or () if kind != "shipment"]
        each |= {kind: [rng.randrange(0 if len(kinds) > 1 else 1, 4)] for kind in kinds}
        jobs.append(each)
    shipments = []
    if "shipment" in (loaded or ()):
        pickup, delivery = (
            {"id": 1, "location_index": rng.randrange(1, 5), "service": 2} for _ in range(2)
        )
        shipments = [
            {
                "pickup": pickup,
                "delivery": delivery,
                "amount": [rng.randrange(1, 5)],
                "priority": rng.choice((0, 5)),
            }
        ]
    vehicle |= {"capacity": [rng.randrange(2, 6)]} if loaded else {}
    return problem(jobs, shipments, vehicle, matrices={"car": {"durations": durations}})


def tasks_listed(document):
    for each in document["jobs"]:
        yield (
            "job",
            each,
            each.get("delivery", [0])[0],
            each.get("pickup", [0])[0],
            each["priority"],
        )
    for each in document["shipments"]:
        amount = each["amount"][0]
        yield "pickup", each["pickup"], 0, amount, each["priority"]
        yield "delivery", each["delivery"], amount, 0, each["priority"]


def plan_cost(document, order, listed):
    """The travel of a plan that keeps everything, or None."""
    vehicle, durations = document["vehicles"][0], document["matrices"]["car"]["durations"]
    first, last = vehicle.get("time_window", (0, math.inf))
    kinds = [listed[at][0] for at in order]
    if [kind for kind in kinds if kind != "job"] not in ([], ["pickup", "delivery"]):
        return None
    capacity = vehicle.get("capacity", [math.inf])[0]
    load = sum(listed[at][2] for at in order if listed[at][0] == "job")
    now, here, cost = first, vehicle.get("start_index"), 0
    if load > capacity:
        return None
    for at in order:
        _, task, given, taken, _ = listed[at]
        place = task["location_index"]
        leg = 0 if here is None else durations[here][place]
        now, cost = now + leg, cost + leg
        starts = [
            max(now, a) for a, b in task.get("time_windows", [(0, math.inf)]) if max(now, a) <= b
        ]
        load += taken - given
        if not starts or load > capacity:
            return None
        now = starts[0] + task.get("service", 0) + (task.get("setup", 0) if here != place else 0)
        here = place
    if "end_index" in vehicle and order:
        now, cost = (
            now + durations[here][vehicle["end_index"]],
            cost + durations[here][vehicle["end_index"]],
        )
    return cost if now <= last else None


def best_plan(document):
    """Priorities, tasks and cost of the best plan by VROOM's own ranking."""
    listed = list(tasks_listed(document))
    ranked = []
    for size in range(1, len(listed) + 1):
        for order in itertools.permutations(range(len(listed)), size):
            if (cost := plan_cost(document, order, listed)) is not None:
                ranked.append((sum(listed[at][4] for at in order), size, -cost))
    return max(ranked, default=(0, 0, 0))


@pytest.mark.parametrize("seed", range(150))
def test_the_best_tour_is_the_best_plan_by_the_ranking_of_vroom(seed):
    document = random_problem(random.Random(seed))
    instance = parsed(document)
    found = best_of(instance)
    listed = list(tasks_listed(document))
    served = [at for at in range(len(listed)) if at + 1 not in found.unserved]
    ranks = sum(listed[at][4] for at in served)
    expected = best_plan(document)
    if not served:  # a plan of no task costs nothing to VROOM, which then does not use the vehicle
        assert expected[:2] == (0, 0)
    else:
        assert (ranks, len(served), -found.cost) == expected


@pytest.mark.parametrize("seed", range(150, 250))
def test_vroom_accepts_the_best_tour_and_finds_none_better(seed, tmp_path):
    document = random_problem(random.Random(seed))
    instance = parsed(document)
    _, tour = tours.best(instance)
    if not tour:
        return
    listed = list(tasks_listed(document))
    chosen = [listed[node - 1] for node in tour]
    steps = [{"type": kind, "id": task["id"]} for kind, task, *_ in chosen]
    document["vehicles"][0]["steps"] = steps  # from which VROOM starts, after it has checked them
    (tmp_path / "problem.json").write_text(json.dumps(document))
    solution = pyvroom.Input.from_json(tmp_path / "problem.json").solve(5, nb_threads=1).to_dict()
    summary = solution["summary"]
    served = len(listed) - summary["unassigned"]
    cost = verify(instance, tour).cost
    ranks = sum(task[4] for task in chosen)
    assert (summary["priority"], served, summary["cost"]) == (ranks, len(tour), cost)


def test_every_input_of_the_shared_folder_has_its_published_cost(shared):
    folder = shared / "bench" / "vroom"
    for name in ("example_2.json", "vroom_custom_matrix.json"):
        best = best_of(read(folder / name))
        assert best.cost == 5461
        assert best.unserved == ()
