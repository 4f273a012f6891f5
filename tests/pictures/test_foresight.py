import numpy as np
import pytest

from fairway.pictures import save
from fairway.pictures.foresight import MOST_POINTS, curve_of, draw_foresight


def record(instances, doomed, doomed_found, sound, sound_found):
    asked = {
        "doomed": doomed,
        "doomed_found": doomed_found,
        "sound": sound,
        "sound_found": sound_found,
    }
    return {"kind": "record", "instances": instances, **asked}


def test_recall_is_of_the_doomed_and_specificity_of_the_others():
    curve = curve_of([record(10, 8.0, 6.0, 2.0, 1.0), record(20, 0.0, 0.0, 4.0, 4.0)])
    assert curve.instances.tolist() == [10, 20]
    assert curve.recall[0] == 75.0
    assert np.isnan(curve.recall[1]), "none was doomed"
    assert curve.specificity.tolist() == [50.0, 100.0]
    assert curve.accuracy.tolist() == [70.0, 100.0]


def test_records_of_other_phases_and_validations_say_nothing():
    idle, other = record(10, 0.0, 0.0, 0.0, 0.0), {"kind": "validation", "instances": 10}
    assert curve_of([idle, other]) is None
    assert curve_of([idle, other, record(20, 1.0, 1.0, 1.0, 1.0)]).instances.tolist() == [20]
    assert curve_of([{**idle, "doomed": None}]) is None


def test_a_long_log_is_added_up_not_cut(rng):
    asked = rng.integers(1, 99, size=1000).astype(float)
    curve = curve_of([record(at, n, 1.0, n, n) for at, n in enumerate(asked)])
    assert len(curve.instances) == MOST_POINTS
    first = asked[: -(-1000 // MOST_POINTS)]
    assert curve.recall[0] == pytest.approx(100 * len(first) / first.sum())


def test_each_training_is_a_line_in_each_panel(tmp_path):
    curves = [(name, curve_of([record(10, 8.0, 6.0, 2.0, 1.0)])) for name in "abcdefghi"]
    figure = draw_foresight("heads", curves)
    assert [axes.get_label() for axes in figure.axes] == ["accuracy", "recall", "specificity"]
    assert [line.get_label() for line in figure.axes[1].lines] == list("abcdefghi")
    assert figure.axes[2].lines[0].get_ydata().tolist() == [50.0]
    save(figure, tmp_path / "foresight.png")
