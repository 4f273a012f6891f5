import os
import threading
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from fairway.errors import InvalidFile, InvalidTour
from fairway.pictures import draw, save
from fairway.problems.distances import euclidean
from fairway.problems.instance import TSPDL, TSPTW


def windows_for(tour, coordinates, width=10.0, names=None, name="made"):
    """An instance in which the tour meets the opening of every window."""
    points = np.asarray(coordinates, float)
    travel = euclidean(points)
    circuit = [0, *tour]
    arrival = np.cumsum([travel[a, b] for a, b in zip(circuit, tour, strict=False)])
    opens = np.zeros(len(points))
    opens[tour] = arrival
    closes = opens + width
    closes[0] = arrival[-1] + travel[tour[-1], 0] + width
    return TSPTW(travel, opens, closes, coordinates=points, names=names, name=name)


def random_windows(stops, seed=0, width=30.0):
    draws = np.random.default_rng(seed)
    tour = (1 + draws.permutation(stops)).tolist()
    return windows_for(tour, draws.uniform(0, 100, (stops + 1, 2)), width), tour


def words(figure: Figure) -> str:
    title = figure.get_suptitle()
    return " ".join([title, *(text.get_text() for text in figure.texts)])


def test_the_title_of_a_feasible_tour_gives_its_cost_and_makespan():
    instance = windows_for([1, 2], [(0, 0), (3, 4), (6, 8)])
    said = words(draw(instance, [1, 2]))
    assert "made" in said
    assert "TSPTW" in said
    assert "3 nodes" in said
    assert "cost 20" in said
    assert "makespan 20" in said


def test_the_title_of_a_refused_tour_counts_and_explains():
    instance = windows_for([1, 2, 3], [(0, 0), (3, 4), (6, 8), (9, 12)], width=0.0)
    said = words(draw(instance, [3, 2, 1]))
    assert "REFUSED: 2 violations" in said
    assert "service at stop 2 starts at 20, 10 after its window closes at 10" in said
    assert "cost" not in said


def test_a_refused_stop_with_a_name_is_introduced_by_it():
    points = [(0, 0), (3, 4), (6, 8)]
    instance = windows_for([1, 2], points, width=0.0, names=("Home", "Ames", "Boone"))
    assert "stop 1 (Ames)" in words(draw(instance, [2, 1]))


@pytest.mark.parametrize(
    ("tour", "sentence"),
    [
        ([1, 1], "stop 1 is visited 2 times"),
        ([1], "stop 2 is never visited"),
        ([1, 9], "no stop 9"),
    ],
)
def test_what_is_no_tour_is_refused_with_the_first_reason(tour, sentence):
    with pytest.raises(InvalidTour, match=sentence):
        draw(windows_for([1, 2], [(0, 0), (3, 4), (6, 8)]), tour)


def test_without_coordinates_there_is_one_axes_and_with_them_two():
    instance, tour = random_windows(20)
    bare = TSPTW(instance.travel, instance.opens, instance.closes)
    assert [axes.get_label() for axes in draw(instance, tour).axes] == ["map", "schedule"]
    assert [axes.get_label() for axes in draw(bare, tour).axes] == ["schedule"]
    assert [axes.get_label() for axes in draw(bare).axes] == ["schedule"]


def test_a_picture_grows_with_its_stops_but_not_without_end():
    size = {stops: draw(*random_windows(stops)).get_size_inches() for stops in (5, 20, 200, 600)}
    assert size[5][1] < size[20][1] < size[200][1]
    assert size[600][1] == pytest.approx(size[200][1], rel=0.01)
    assert size[600][0] < 26


def test_nothing_is_left_behind_in_the_settings_of_matplotlib():
    before = dict(matplotlib.rcParams)
    instance, tour = random_windows(5)
    draw(instance, tour)
    assert dict(matplotlib.rcParams) == before


def test_the_settings_of_the_user_do_not_reach_the_picture(tmp_path):
    instance, tour = random_windows(5)
    save(draw(instance, tour), tmp_path / "plain.svg")
    with matplotlib.rc_context(
        {"font.sans-serif": ["cmr10"], "text.color": "red", "axes.facecolor": "black"}
    ):
        save(draw(instance, tour), tmp_path / "styled.svg")
    assert (tmp_path / "styled.svg").read_bytes() == (tmp_path / "plain.svg").read_bytes()


def test_a_png_is_a_png_and_an_svg_is_xml(tmp_path):
    instance, tour = random_windows(20)
    figure = draw(instance, tour)
    save(figure, tmp_path / "tour.png")
    save(figure, str(tmp_path / "tour.SVG"))
    assert (tmp_path / "tour.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ElementTree.parse(tmp_path / "tour.SVG").getroot().tag.endswith("svg")


def test_the_same_tour_gives_the_same_svg(tmp_path):
    instance, tour = random_windows(60)
    for name in ("one.svg", "two.svg"):
        save(draw(instance, tour), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert b"dc:date" not in (tmp_path / "one.svg").read_bytes()


def test_threads_that_draw_at_once_do_not_disturb_each_other(tmp_path):
    instance, tour = random_windows(10)

    def picture(number):
        save(draw(instance, tour), tmp_path / f"{number}.svg")

    threads = [threading.Thread(target=picture, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(tmp_path / f"{number}.svg").read_bytes() for number in range(4)}) == 1


@pytest.mark.parametrize("name", ["tour.jpg", "tour", "tour.png.txt"])
def test_another_suffix_is_refused_and_nothing_written(tmp_path, name):
    with pytest.raises(InvalidFile, match=r"expected \.png or \.svg"):
        save(draw(*random_windows(2)), tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_written_is_refused_and_nothing_left_behind(tmp_path):
    with pytest.raises(InvalidFile, match="cannot be written"):
        save(draw(*random_windows(2)), tmp_path / "nowhere" / "tour.png")
    assert os.listdir(tmp_path) == []


NAMES = (
    "Depot_$",
    "$x_1$",
    "a_b^c",
    "\\frac{1}",
    "東京都",
    "Łódź & <co>",
    "x" * 200,
    "new\nline\x00",
    " ",
    "$",
)


def test_any_name_can_be_drawn_and_stays_text_in_the_svg(tmp_path):
    tour = list(range(1, len(NAMES)))
    points = np.random.default_rng(3).uniform(0, 100, (len(NAMES), 2))
    figure = draw(windows_for(tour, points, names=NAMES, name="$\\alpha_{"), tour)
    save(figure, tmp_path / "names.png")
    save(figure, tmp_path / "names.svg")
    text = " ".join(ElementTree.parse(tmp_path / "names.svg").getroot().itertext())
    for kept in ("$x_1$", "a_b^c", "\\frac{1}", "東京都", "Łódź & <co>", "new line", "$\\alpha_{"):
        assert kept in text
    assert "x" * 30 not in text


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_the_smallest_instances_are_drawn(tmp_path, stops):
    instance, tour = random_windows(stops)
    for number, figure in enumerate((draw(instance, tour), draw(instance))):
        save(figure, tmp_path / f"{number}.png")
    drafts = TSPDL(instance.travel, np.r_[0.0, np.ones(stops)], np.full(stops + 1, float(stops)))
    for number, figure in enumerate((draw(drafts, tour), draw(drafts))):
        save(figure, tmp_path / f"drafts{number}.png")


@pytest.mark.parametrize("tour", [None, [2, 1, 3]])
def test_an_instance_all_of_zeros_is_drawn(tmp_path, tour):
    nothing = np.zeros(4)
    save(
        draw(TSPTW(np.zeros((4, 4)), nothing, nothing, coordinates=np.zeros((4, 2))), tour),
        tmp_path / "a.png",
    )
    save(
        draw(TSPDL(np.zeros((4, 4)), nothing, nothing, coordinates=np.zeros((4, 2))), tour),
        tmp_path / "b.png",
    )


def test_the_largest_numbers_an_instance_may_hold_are_drawn(tmp_path):
    points = 1e15 * np.array([(0.0, 0.0), (0.5, 0.5), (-1.0, 0.2)])
    travel = np.full((3, 3), 1e14)
    instance = TSPTW(travel, np.full(3, -1e15), np.full(3, 1e15), coordinates=points)
    save(draw(instance, [2, 1]), tmp_path / "large.svg")
    ElementTree.parse(tmp_path / "large.svg")


def test_the_legend_explains_the_marks_that_occur_and_no_others():
    instance, tour = random_windows(20)
    fine = {text.get_text() for text in draw(instance, tour).legends[0].get_texts()}
    late = {text.get_text() for text in draw(instance, tour[::-1]).legends[0].get_texts()}
    assert late - fine >= {"late: from closing to start", "stop in violation"}
    assert not any("violation" in word or "waiting" in word for word in fine)


@pytest.mark.parametrize(
    ("stops", "turned"), [(5, True), (20, False), (20, True), (60, True), (200, True)]
)
def test_no_words_run_over_the_edge_and_the_legend_covers_nothing(stops, turned):
    instance, tour = random_windows(stops)
    figure = draw(instance, tour[::-1] if turned else tour)
    figure.draw_without_rendering()
    page = figure.bbox
    legend = figure.legends[0].get_window_extent()
    parts = [axes.get_tightbbox() for axes in figure.axes]
    for box in (legend, *parts, *(text.get_window_extent() for text in figure.texts)):
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    assert not any(legend.overlaps(box) for box in parts)
    for axes in figure.axes:
        axes.set_title("", loc="left")  # the first panel's stands over all of them
    parts = [axes.get_tightbbox() for axes in figure.axes]
    assert not any(a.overlaps(b) for i, a in enumerate(parts) for b in parts[:i])
