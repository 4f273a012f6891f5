import numpy as np
import pytest
from matplotlib.figure import Figure

from fairway.pictures import draw
from fairway.pictures.map import CROWDED, place
from fairway.problems.distances import euclidean
from fairway.problems.instance import TSPTW


def placed(coordinates, closes=1e6, names=None) -> TSPTW:
    points = np.asarray(coordinates, float)
    return TSPTW(euclidean(points), np.zeros(len(points)), closes, coordinates=points, names=names)


def drawn(figure: Figure, means: str):
    return next((mark for mark in figure.axes[0].collections if mark.get_label() == means), None)


def where(figure: Figure, means: str) -> list[tuple[float, float]]:
    mark = drawn(figure, means)
    return [] if mark is None else [tuple(spot) for spot in np.asarray(mark.get_offsets()).tolist()]


def letters(figure: Figure) -> set[str]:
    return {text.get_text() for text in figure.axes[0].texts}


SQUARE = [(0, 0), (0, 10), (10, 10), (10, 0)]


def test_the_legs_follow_the_tour_from_the_depot_and_back():
    legs = drawn(draw(placed(SQUARE), [2, 1, 3]), "legs")
    ends = [path.vertices.tolist() for path in legs.get_paths()]
    assert ends == [[[0, 0], [10, 10]], [[10, 10], [0, 10]], [[0, 10], [10, 0]], [[10, 0], [0, 0]]]


def test_legs_darken_along_the_tour():
    colours = drawn(draw(placed(SQUARE), [2, 1, 3]), "legs").get_colors()
    assert (np.diff(colours[:, :3].sum(1)) < 0).all()


def test_arrowheads_point_along_their_legs():
    arrows = drawn(draw(placed(SQUARE), [1, 2, 3]), "arrowheads")
    assert np.stack((arrows.U, arrows.V), 1).tolist() == [[0, 1], [1, 0], [0, -1], [-1, 0]]


def test_a_leg_of_no_length_has_no_arrowhead():
    arrows = drawn(draw(placed([(0, 0), (10, 0), (10, 0), (0, 10)]), [1, 2, 3]), "arrowheads")
    assert len(arrows.U) == 3


def test_units_are_equally_long_both_ways_and_every_node_is_in_sight():
    axes = draw(placed([(0, 0), (1000, 1), (500, 2)]), [1, 2]).axes[0]
    assert axes.get_aspect() == 1
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert right - left == pytest.approx(top - bottom)
    assert left < 0
    assert right > 1000


def test_exactly_the_stops_in_violation_are_crossed():
    closes = np.array([1e6, 5.0, 1e6, 5.0])
    figure = draw(placed(SQUARE, closes), [1, 2, 3])
    assert where(figure, "wrong-stops") == [(0, 10), (10, 0)]
    assert where(figure, "stops") == [(10, 10)]
    assert where(figure, "depot") == [(0, 0)]
    assert where(figure, "wrong-depot") == []


def test_a_late_return_crosses_the_depot():
    figure = draw(placed(SQUARE, np.array([5.0, 1e6, 1e6, 1e6])), [1, 2, 3])
    assert where(figure, "wrong-depot") == [(0, 0)]
    assert where(figure, "wrong-stops") == []


def test_without_a_tour_there_are_nodes_but_no_legs():
    figure = draw(placed(SQUARE))
    assert len(where(figure, "stops")) == 3
    assert drawn(figure, "legs") is None
    assert drawn(figure, "arrowheads") is None


@pytest.mark.parametrize("seed", range(5))
def test_at_twenty_stops_every_stop_is_lettered(seed):
    points = np.random.default_rng(seed).uniform(0, 100, (21, 2))
    figure = draw(placed(points), (1 + np.random.default_rng(seed).permutation(20)).tolist())
    assert letters(figure) == {"depot", *map(str, range(1, 21))}


def test_names_stand_in_for_numbers_where_given():
    assert letters(draw(placed(SQUARE, names=("Home", "A", "B", "C")), [1, 2, 3])) == {
        "Home",
        "A",
        "B",
        "C",
    }


@pytest.mark.parametrize("stops", [20, 200])
def test_letters_overlap_neither_each_other_nor_the_edge(stops):
    points = np.random.default_rng(2).uniform(0, 100, (stops + 1, 2))
    figure = draw(placed(points), list(range(1, stops + 1)))
    figure.draw_without_rendering()
    frame = figure.axes[0].get_window_extent()
    # The ink of the digits alone: the lines of text around it include room for letters that go below the line.
    boxes = [text.get_window_extent().padded(-1.5) for text in figure.axes[0].texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(
        frame.x0 < box.x0 < box.x1 < frame.x1 and frame.y0 < box.y0 < box.y1 < frame.y1
        for box in boxes
    )


def test_stops_all_in_one_place_are_drawn_and_some_lettered():
    figure = draw(placed(np.full((30, 2), 7.0)), list(range(1, 30)))
    assert len(where(figure, "stops")) == 29
    assert "depot" in letters(figure)
    assert len(letters(figure)) < 30


SIZE = (0.4, 0.1)
NO_LEGS = np.empty((0, 2, 2))


def overlap(a, b) -> bool:
    return bool((np.abs(a - b) < np.array(SIZE) * 0.999).all())


def labels_of(spots, legs=NO_LEGS, side=10.0):
    spots = np.asarray(spots, float)
    sizes = np.tile(SIZE, (len(spots), 1))
    return place(spots, sizes, np.arange(len(spots)), legs, side, 0.05)


def test_labels_overlap_neither_each_other_nor_any_stop():
    spots = np.random.default_rng(0).uniform(1, 4, (60, 2))
    centres = labels_of(spots)
    nodes = list(centres)
    assert len(nodes) > 30
    assert not any(overlap(centres[a], centres[b]) for a in nodes for b in nodes if a < b)
    for centre in centres.values():
        assert not (np.abs(spots - centre) < np.array(SIZE) / 2).all(1).any()


def test_a_label_stays_on_the_map():
    for corner in ((0, 0), (0, 10), (10, 0), (10, 10)):
        centre = labels_of([corner])[0]
        assert (centre >= np.array(SIZE) / 2).all()
        assert (centre <= 10 - np.array(SIZE) / 2).all()


def test_a_label_moves_off_a_leg():
    leg = np.array([[(5.0, 5.0), (9.0, 5.0)]])
    assert labels_of([(5, 5)])[0][0] > 5
    assert labels_of([(5, 5)], leg)[0][0] < 5


def test_who_comes_first_in_the_order_is_placed_first():
    spots = np.full((40, 2), 5.0)
    sizes = np.tile(SIZE, (40, 1))
    order = np.arange(40)[::-1]
    centres = place(spots, sizes, order, NO_LEGS, 10.0, 0.05)
    assert 39 in centres
    assert 0 not in centres


def test_on_a_crowded_map_no_label_hides_the_tour():
    spots = np.column_stack((np.linspace(0.5, 9.5, CROWDED + 1), np.full(CROWDED + 1, 5.0)))
    across = np.array([[(0.0, height), (10.0, height)] for height in np.linspace(4, 6, 80)])
    assert labels_of(spots, across) == {}
    assert labels_of(spots[:20], across) != {}
