import numpy as np
import pytest
from matplotlib.figure import Figure

from fairway.judge import Rejection, verify
from fairway.pictures import draw
from fairway.pictures.page import PANEL, Page
from fairway.pictures.panel import axis_over, labelled, last_telling
from fairway.problems.instance import TSPDL, TSPTW


def line(opens, closes, service=0.0, coordinates=False) -> TSPTW:
    """Stops at 10, 20, 30 ... on a line from the depot."""
    at = 10.0 * np.arange(len(opens))
    points = np.stack((at, np.zeros(len(opens))), axis=1) if coordinates else None
    rest = np.r_[0.0, np.full(len(opens) - 1, service)]
    return TSPTW(
        np.abs(at[:, None] - at), np.array(opens, float), np.array(closes, float), rest, points
    )


def marks(figure: Figure, means: str) -> list:
    return [
        mark
        for axes in figure.axes
        if axes.get_label() == "schedule"
        for mark in axes.collections
        if mark.get_label() == means
    ]


def spans(figure: Figure, means: str) -> dict[int, tuple[float, float]]:
    """The row of each bar or line of one meaning, and from where to where it reaches."""
    found = {}
    for mark in marks(figure, means):
        for path in mark.get_paths():
            (x0, y0), (x1, y1) = path.vertices.min(0).tolist(), path.vertices.max(0).tolist()
            found[round((y0 + y1) / 2)] = (x0, x1)
    return found


def points(figure: Figure, means: str) -> dict[int, float]:
    """The row of each marker of one meaning, and where it stands."""
    found = {}
    for mark in marks(figure, means):
        found |= {round(y): x for x, y in np.asarray(mark.get_offsets()).tolist()}
    return found


def rows(figure: Figure) -> list[str]:
    return [
        label.get_text()
        for axes in figure.axes
        if axes.get_label() == "schedule"
        for label in axes.get_yticklabels()
    ]


def ports(demand, draft, load="growing") -> TSPDL:
    count = len(demand)
    return TSPDL(np.ones((count, count)), np.array(demand, float), np.array(draft, float), load)


def test_every_stop_has_a_row_in_tour_order_and_the_return_is_the_last():
    figure = draw(line([0] * 5, [200] * 5), [3, 1, 4, 2])
    assert rows(figure) == ["3", "1", "4", "2", "depot"]
    assert sorted(spans(figure, "windows")) == [0, 1, 2, 3, 4]
    top, bottom = figure.axes[0].get_ylim()[::-1]
    assert top < 0
    assert bottom > 4


def test_windows_arrivals_waiting_service_and_return_stand_at_their_times():
    instance = line([0, 15, 0, 40], [100, 30, 60, 45], service=2.0)
    figure = draw(instance, [1, 2, 3])
    windows = spans(figure, "windows")
    assert windows.pop(3)[0] == 0  # the depot's, which ends out of sight
    assert windows == {0: (15, 30), 1: (0, 60), 2: (40, 45)}
    assert spans(figure, "arrivals") == {0: (10, 10), 1: (27, 27), 2: (39, 39), 3: (72, 72)}
    assert spans(figure, "waiting") == {0: (10, 15), 2: (39, 40)}
    assert spans(figure, "service") == {0: (15, 17), 1: (27, 29), 2: (40, 42)}
    assert points(figure, "starts") == {0: 15, 1: 27, 2: 40}
    assert not marks(figure, "late")


def test_exactly_the_late_rows_are_marked_from_closing_to_start():
    instance = line([0] * 5, [75, 10, 15, 30, 35])
    figure = draw(instance, [1, 2, 3, 4])
    assert spans(figure, "late") == {1: (15, 20), 3: (35, 40), 4: (75, 80)}
    assert points(figure, "late-ends") == {1: 20, 3: 40, 4: 80}


def test_late_rows_are_hatched_and_crossed_not_only_coloured():
    figure = draw(line([0] * 3, [75, 5, 20]), [1, 2])
    assert marks(figure, "late")[0].get_hatch()
    cross = marks(figure, "late-ends")[0].get_paths()[0]
    dot = marks(figure, "starts")[0].get_paths()[0]
    assert len(cross.vertices) != len(dot.vertices)


def test_a_return_in_time_is_not_marked_where_a_stop_is_late():
    assert set(spans(draw(line([0] * 3, [75, 5, 20]), [1, 2]), "late")) == {0}


def test_at_two_hundred_stops_exactly_the_late_rows_are_marked():
    draws = np.random.default_rng(5)
    at = draws.uniform(0, 100, (201, 2))
    travel = np.hypot(*(at[:, None] - at).transpose(2, 0, 1))
    closes = np.r_[1e6, draws.uniform(0, 11_000, 200)]
    instance = TSPTW(travel, np.zeros(201), closes, coordinates=at)
    tour = (1 + draws.permutation(200)).tolist()
    judged = verify(instance, tour)
    assert isinstance(judged, Rejection)
    late = {tour.index(violation.node) for violation in judged.violations}
    figure = draw(instance, tour)
    assert 10 < len(late) < 190
    assert set(spans(figure, "late")) == set(points(figure, "late-ends")) == late
    assert sorted(spans(figure, "windows")) == list(range(201))


def test_a_thousand_stops_are_a_few_artists():
    at = np.random.default_rng(1).uniform(0, 100, (1001, 2))
    travel = np.hypot(*(at[:, None] - at).transpose(2, 0, 1))
    figure = draw(TSPTW(travel, np.zeros(1001), np.full(1001, 1e6)), list(range(1, 1001)))
    assert (
        sum(len(axes.collections) + len(axes.patches) + len(axes.lines) for axes in figure.axes)
        < 60
    )
    assert len(rows(figure)) < 500


def test_a_window_of_no_width_is_drawn_with_an_edge():
    figure = draw(line([0, 10, 20], [100, 10, 20]), [1, 2])
    assert spans(figure, "windows")[0] == (10, 10)
    assert marks(figure, "windows")[0].get_linewidth()[0] > 0
    assert not marks(figure, "late")


def test_the_axis_ends_soon_after_the_tour_and_says_which_windows_go_on():
    figure = draw(line([0] * 4, [100_000, 20, 50_000, 40]), [1, 2, 3])
    low, high = figure.axes[0].get_xlim()
    assert low <= 0
    assert 60 < high < 80
    assert set(points(figure, "goes-on")) == {1, 3}


def test_a_window_that_ends_before_the_tour_begins_points_left():
    instance = line([1000, 0, 1000], [2000, 5, 2000])
    figure = draw(instance, [1, 2])
    low, high = figure.axes[0].get_xlim()
    assert 900 < low < high < 1100
    assert points(figure, "goes-on")[0] == low


def test_where_all_windows_end_in_sight_nothing_goes_on():
    assert not marks(draw(line([0] * 4, [65, 20, 25, 40]), [1, 2, 3]), "goes-on")


def test_without_a_tour_windows_are_sorted_by_closing_and_bear_no_schedule():
    figure = draw(line([0] * 4, [500, 40, 20, 30], coordinates=True))
    assert rows(figure) == ["2", "3", "1", "depot"]
    for means in ("arrivals", "waiting", "service", "starts", "late", "travel"):
        assert not marks(figure, means)


def test_without_a_tour_a_closing_that_means_never_does_not_set_the_scale():
    figure = draw(line([0] * 4, [100_000, 40, 20, 30]))
    assert 40 < figure.axes[0].get_xlim()[1] < 100
    assert set(points(figure, "goes-on")) == {3}


def test_a_growing_load_rises_along_the_rows_and_says_so():
    figure = draw(ports([0, 1, 2, 3], [0, 6, 6, 6]), [3, 1, 2])
    assert spans(figure, "load") == {0: (0, 3), 1: (0, 4), 2: (0, 6)}
    assert figure.axes[0].get_xlabel().startswith("growing load")


def test_a_shrinking_load_falls_along_the_rows_and_says_so():
    figure = draw(ports([0, 1, 2, 3], [0, 6, 6, 6], "shrinking"), [3, 1, 2])
    assert spans(figure, "load") == {0: (0, 6), 1: (0, 3), 2: (0, 2)}
    assert figure.axes[0].get_xlabel().startswith("shrinking load")


def test_every_port_has_a_row_with_its_draft_and_the_depot_has_none():
    figure = draw(ports([0, 1, 2, 3], [0, 4, 6, 5]), [3, 1, 2])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["3", "1", "2"]
    assert spans(figure, "drafts") == {0: (5, 5), 1: (4, 4), 2: (6, 6)}


@pytest.mark.parametrize("load", ["growing", "shrinking"])
def test_exactly_the_overloaded_ports_are_marked_from_draft_to_load(load):
    instance = ports([0, 1, 2, 3], [0, 6, 2, 5], load)
    tour = [1, 2, 3] if load == "growing" else [3, 2, 1]
    figure = draw(instance, tour)
    third = 2 if load == "growing" else 0
    assert spans(figure, "overloads") == {1: (2, 3), third: (5, 6)}
    assert points(figure, "overloads-ends") == {1: 3, third: 6}
    assert spans(figure, "load")[1] == (0, 2)


def test_a_tour_within_all_drafts_bears_no_overload():
    assert not spans(draw(ports([0, 1, 2], [0, 1, 3]), [1, 2]), "overloads")


def test_a_draft_far_beyond_any_load_does_not_set_the_scale():
    figure = draw(ports([0, 1, 2], [0, 3, 100_000]), [1, 2])
    assert 3 < figure.axes[0].get_xlim()[1] < 5
    assert set(points(figure, "goes-on")) == {1}


def test_without_a_tour_the_shallowest_port_is_on_top():
    figure = draw(ports([0, 1, 2, 3], [0, 5, 6, 4]))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["3", "1", "2"]
    assert not spans(figure, "load")


def test_an_axis_shows_all_that_happens_and_what_is_allowed_near_it():
    low, high = axis_over((0.0, 100.0), (-5.0, 110.0))
    assert low < -5
    assert high > 110


def test_an_axis_does_not_follow_what_is_allowed_far_away():
    low, high = axis_over((0.0, 100.0), (-1e9, 1e9))
    assert -25 < low < 0
    assert 100 < high < 125


def test_an_axis_of_no_length_is_opened():
    low, high = axis_over((7.0, 7.0), (7.0, 7.0))
    assert low < 7 < high


def test_a_limit_that_dwarfs_the_others_is_not_telling():
    assert last_telling(np.array([30.0, 1e5, 20.0, 100.0]), 0.0, 0.0) == 100
    assert last_telling(np.array([30.0, 50.0]), 0.0, 0.0) == 50
    assert last_telling(np.array([1e5]), 0.0, 0.0) == 1e5


def test_every_row_is_labelled_where_there_is_room():
    assert labelled(np.zeros(5, bool), spacing=0.9) == [0, 1, 2, 3, 4]


def test_thinned_labels_keep_their_distance_the_last_row_and_the_violated_ones():
    wrong = np.zeros(100, bool)
    wrong[[13, 14, 51]] = True
    chosen = labelled(wrong, spacing=2.5)
    assert {13, 51, 99} <= set(chosen)
    assert min(np.diff(chosen)) == pytest.approx(3)
    assert len(chosen) > 25


def page(rows, has_map=True) -> Page:
    return Page([str(row) for row in range(rows)], has_map, {"schedule": 1.0})


@pytest.mark.parametrize("rows", [1, 2, PANEL, PANEL + 1, 200, 221, 1001])
def test_the_panels_hold_every_row_once_and_in_order(rows):
    held = [row for span in page(rows).spans for row in range(rows)[span]]
    assert held == list(range(rows))
    assert len(page(rows).spans) <= 4


def test_a_short_schedule_is_in_one_piece():
    assert len(page(PANEL).spans) == 1
    assert len(page(PANEL + 1).spans) == 2


@pytest.mark.parametrize("rows", [1, 20, 200, 1001])
def test_a_label_is_never_too_small_to_read(rows):
    assert page(rows).font >= 6
