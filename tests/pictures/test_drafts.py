import numpy as np
import pytest
from matplotlib.figure import Figure

from fairway.pictures import draw
from fairway.problems.instance import TSPDL


def ports(demand, draft, load="growing") -> TSPDL:
    count = len(demand)
    return TSPDL(np.ones((count, count)), np.array(demand, float), np.array(draft, float), load)


def spans(figure: Figure, means: str) -> dict[int, tuple[float, float]]:
    found = {}
    for axes in figure.axes:
        for mark in axes.collections:
            if mark.get_label() == means:
                for path in mark.get_paths():
                    (x0, y0), (x1, y1) = (
                        path.vertices.min(0).tolist(),
                        path.vertices.max(0).tolist(),
                    )
                    found[round((y0 + y1) / 2)] = (x0, x1)
    return found


def crosses(figure: Figure) -> dict[int, float]:
    return {
        round(y): x
        for mark in figure.axes[-1].collections
        if mark.get_label() == "overloads-ends"
        for x, y in np.asarray(mark.get_offsets()).tolist()
    }


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
    assert crosses(figure) == {1: 3, third: 6}
    assert spans(figure, "load")[1] == (0, 2)


def test_a_tour_within_all_drafts_bears_no_overload():
    assert not spans(draw(ports([0, 1, 2], [0, 1, 3]), [1, 2]), "overloads")


def test_a_draft_far_beyond_any_load_does_not_set_the_scale():
    figure = draw(ports([0, 1, 2], [0, 3, 100_000]), [1, 2])
    assert 3 < figure.axes[0].get_xlim()[1] < 5
    going = [mark for mark in figure.axes[0].collections if mark.get_label() == "goes-on"]
    assert [round(y) for mark in going for _, y in mark.get_offsets()] == [1]


def test_without_a_tour_the_shallowest_port_is_on_top():
    figure = draw(ports([0, 1, 2, 3], [0, 5, 6, 4]))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["3", "1", "2"]
    assert not spans(figure, "load")
