"""Every constraint shows in a picture of its own kind of mark."""

import datetime
import math

import numpy as np
import pytest
from days import day, solution
from sketches import drawn

import fairway
from fairway.pictures import draw
from fairway.pictures.order import LANE, WIDEST, Link, links_of, width
from fairway.pictures.rows import rows_of
from fairway.problems.distances import euclidean
from fairway.problems.source import Clock

SQUARE = np.array([(0.0, 0), (0, 10), (10, 10), (10, 0)])


def square(**given):
    return fairway.Instance(euclidean(SQUARE), coordinates=SQUARE, **given)


def axes_of(figure, label):
    return next((axes for axes in figure.axes if axes.get_label() == label), None)


def marks(figure, label, means):
    return [mark for mark in axes_of(figure, label).collections if mark.get_label() == means]


def spans(figure, label, means):
    """The row of each bar or stroke of one meaning, and from where to where it reaches, several to a row."""
    found = []
    for mark in marks(figure, label, means):
        for path in mark.get_paths():
            (x0, y0), (x1, y1) = path.vertices.min(0).tolist(), path.vertices.max(0).tolist()
            found.append((round((y0 + y1) / 2), x0, x1))
    return found


def where(figure, means, label="map"):
    spots = [np.asarray(mark.get_offsets()).tolist() for mark in marks(figure, label, means)]
    return [tuple(spot) for each in spots for spot in each]


def texts(figure, label):
    return [text.get_text() for text in axes_of(figure, label).texts]


def words(figure):
    return " ".join(text.get_text() for text in figure.texts)


def rows(figure):
    return [label.get_text() for label in axes_of(figure, "schedule").get_yticklabels()]


def test_each_of_several_windows_is_drawn():
    figure = draw(square(windows={2: [(0, 5), (8, 12), (15, 30)]}), [1, 2, 3])
    drawn_windows = [(a, b) for row, a, b in spans(figure, "schedule", "windows") if row == 1]
    assert drawn_windows == [(0, 5), (8, 12), (15, 30)]


def test_lateness_at_a_price_is_drawn_and_numbered_and_is_no_violation():
    figure = draw(square(closes=[99, 99, 14, 99], late=[np.inf, 1, 1, 1], latest=30), [1, 2, 3])
    assert spans(figure, "schedule", "lateness") == [(1, 14, 20)]
    assert (1, 14, 30) in spans(figure, "schedule", "soft")
    assert "+6" in texts(figure, "schedule")
    assert "late by 6 in all" in words(figure)
    assert not marks(figure, "schedule", "late")
    assert "stop in violation" not in {t.get_text() for t in figure.legends[0].get_texts()}


def test_a_start_after_the_last_permitted_one_is_marked_from_there_on():
    figure = draw(square(closes=[99, 99, 14, 99], late=1, latest=[99, 99, 17, 99]), [1, 2, 3])
    assert spans(figure, "schedule", "lateness") == [(1, 14, 17)]
    assert spans(figure, "schedule", "late") == [(1, 17, 20)]
    assert where(figure, "wrong-stops") == [(10, 10)]


def test_what_is_left_out_is_hollow_on_the_map_and_below_the_rows_and_named():
    figure = draw(square(prize=[np.inf, 5, np.inf, 5], closes=50), [2])
    assert where(figure, "left-out") == [(0, 10), (10, 0)]
    assert where(figure, "stops") == [(10, 10)]
    assert rows(figure) == ["2", "depot", "1", "3"]
    assert [row for row, *_ in spans(figure, "schedule", "windows-left-out")] == [2, 3]
    assert "left out: 1, 3" in words(figure)
    face = marks(figure, "map", "left-out")[0].get_facecolor()[0]
    assert face[:3].tolist() == [1, 1, 1]


def test_a_break_has_a_row_of_its_own_with_its_window_and_its_time():
    figure = draw(square(breaks=[(12, 18, 4)]), [1, 2, 3])
    assert rows(figure) == ["1", "break", "2", "3", "depot"]
    assert spans(figure, "schedule", "break-windows") == [(1, 12, 18)]
    assert spans(figure, "schedule", "breaks") == [(1, 12, 16)]


def test_a_break_that_cannot_be_taken_is_a_row_in_violation():
    figure = draw(square(breaks=[(12, 12, 5), (14, 14, 5)]), [1, 2, 3])
    assert rows(figure).count("break") == 2
    assert not marks(figure, "schedule", "breaks")
    assert where(figure, "wrong-depot") == []


@pytest.mark.parametrize(
    ("end", "last"),
    [(0, [[10, 10], [0, 0]]), (3, [[10, 10], [10, 0]]), (None, [[0, 10], [10, 10]])],
)
def test_the_last_leg_goes_where_the_tour_ends(end, last):
    figure = draw(square(end=end, prize=1.0), [1, 2])
    (legs,) = marks(figure, "map", "legs")
    assert legs.get_paths()[-1].vertices.tolist() == last
    assert where(figure, "end") == ([(10, 0)] if end == 3 else [])
    assert ("depot" in rows(figure)) == (end == 0)


def test_pickups_and_deliveries_have_marks_and_a_bracket():
    figure = draw(square(pairs=[(1, 3)], before=[(1, 2)]), [1, 2, 3])
    assert where(figure, "pickups") == [(0, 10)]
    assert where(figure, "deliveries") == [(10, 0)]
    uprights = [(row, a) for row, a, b in spans(figure, "order", "pairs") if a == b]
    assert uprights == [(1, 2.0)]
    assert len(marks(figure, "map", "pairs")) == len(marks(figure, "map", "order")) == 1


def test_an_order_the_wrong_way_round_is_a_bracket_in_violation():
    figure = draw(square(before=[(1, 3)]), [3, 2, 1])
    assert spans(figure, "order", "wrong-order")
    assert not marks(figure, "order", "order")
    assert where(figure, "wrong-stops") == [(10, 0)]


def test_brackets_in_one_lane_share_no_row():
    rng = np.random.default_rng(4)
    instance = fairway.Instance(
        np.ones((61, 61)),
        before=[tuple(sorted((rng.choice(60, 2, False) + 1).tolist())) for _ in range(40)],
    )
    plan = fairway.outputs.plan.plan_of(instance, fairway.verify(instance, range(1, 61)))
    links = links_of(instance, rows_of(instance, plan, [str(n) for n in range(61)]))
    assert len(links) == len(instance.before)
    for one in links:
        for other in links:
            apart = one.second < other.first or other.second < one.first
            assert one is other or one.lane != other.lane or apart
    assert width(links) <= WIDEST
    assert width([Link("order", 0, 1, 0)]) == 2 * LANE


def test_time_and_load_stand_side_by_side_with_the_capacity():
    loads = {"demand": [0, 3, -2, 4], "load": "signed", "aboard": 2, "capacity": 7}
    figure = draw(square(closes=60, draft=[9, 6, 9, 9], **loads), [1, 2, 3])
    assert [axes.get_label() for axes in figure.axes] == ["map", "schedule", "load"]
    assert [(row, b) for row, _, b in spans(figure, "load", "load")] == [(0, 5), (1, 3), (2, 7)]
    assert spans(figure, "load", "drafts") == [(0, 6, 6)]
    assert spans(figure, "load", "capacity")[0][1:] == (7, 7)
    assert texts(figure, "load") == ["+3", "\N{MINUS SIGN}2", "+4"]


def test_loads_over_the_capacity_and_below_nothing_are_marked():
    loads = {"demand": [0, 5, 3, -9], "load": "signed", "capacity": 7}
    figure = draw(square(closes=60, **loads), [1, 2, 3])
    assert spans(figure, "load", "overloads") == [(1, 7, 8), (2, -1, 0)]


def test_a_cost_apart_from_travel_is_listed_row_by_row():
    figure = draw(square(cost=3 * euclidean(SQUARE)), [1, 2, 3])
    assert texts(figure, "cost") == ["30", "60", "90", "120"]
    assert axes_of(draw(square(), [1, 2, 3]), "cost") is None


def test_times_of_day_stand_on_the_axis():
    figure = draw(day(), solution())
    ticks = [tick.get_text() for tick in axes_of(figure, "schedule").get_xticklabels()]
    assert {"09:00", "10:00"} <= set(ticks)
    assert "ends at 11:00" in words(figure)
    assert "2026-11-18" in axes_of(figure, "schedule").get_xlabel()
    assert "+0:20" in texts(figure, "schedule")


def test_several_days_are_named_on_the_axis():
    days = Clock(datetime.date(2026, 11, 18), 60.0, several_days=True)
    figure = draw(day(days), solution())
    ticks = [tick.get_text() for tick in axes_of(figure, "schedule").get_xticklabels()]
    assert "2026-11-18\n09:00" in ticks


def test_degrees_are_drawn_as_long_as_they_are():
    (x, y), *_ = where(draw(day(), solution()), "depot")
    assert y == 59.91
    assert x == pytest.approx(10.75 * math.cos(math.radians((59.88 + 59.95) / 2)))


def test_a_result_says_how_good_it_is_and_shows_its_own_departure():
    instance = square(opens=[0, 40, 0, 0], closes=90)
    result = fairway.solve(instance, seconds=0.2, objective="duration")
    said = words(draw(instance, result))
    assert said.count("optimal:") == 1
    assert f"{result.departure:g}" in said
    assert "leaves at 0, at the latest" in words(draw(instance, [1, 2, 3]))


def test_any_constraints_can_be_drawn_with_a_tour_of_any_kind_and_without():
    kinds = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        instance = drawn(rng, int(rng.integers(2, 7)))
        tour = [int(n) for n in 1 + rng.permutation(instance.nodes - 1) if n != instance.end]
        judged = fairway.verify(instance, tour)
        kinds.add(type(judged).__name__)
        draw(instance)
        if judged.schedule is not None:
            draw(instance, tour).draw_without_rendering()
    assert kinds == {"Solution", "Rejection"}


def test_no_words_run_over_the_edge_where_everything_is_asked_for():
    figure = draw(day(), solution())
    figure.draw_without_rendering()
    page = figure.bbox
    legend = figure.legends[0].get_window_extent()
    parts = [axes.get_tightbbox() for axes in figure.axes]
    for box in (legend, *parts, *(text.get_window_extent() for text in figure.texts)):
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    assert not any(legend.overlaps(box) for box in parts)
    assert not any(a.overlaps(b) for i, a in enumerate(parts) for b in parts[:i])


def test_what_a_picture_says_of_a_tour_is_what_the_judge_says():
    instance = day()
    judged = solution(instance)
    said = words(draw(instance, judged.tour))
    assert f"cost {judged.cost:.0f}" in said
    assert "1 left out" in said
    assert f"value {judged.value:.0f}" in said
