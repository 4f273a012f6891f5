import json

import numpy as np
import pytest

from fairway.errors import InvalidFile
from fairway.pictures import save
from fairway.pictures.curves import (
    MOST_OF_HEADS,
    MOST_POINTS,
    curve_of,
    draw_curves,
    draw_foresight,
)


def record(instances, sol=50.0, length=9.0):
    shares = {"sol_infeasible": sol, "inst_infeasible": 0.25 * sol}
    return {"kind": "record", "instances": instances, **shares, "length": length}


def validation(instances, sol=20.0, length=8.0):
    shares = {"sol_infeasible": sol, "inst_infeasible": 2.0}
    return {"kind": "validation", "instances": instances, **shares, "length": length}


@pytest.fixture
def written(tmp_path):
    def write(*entries):
        path = tmp_path / "log.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return path

    return write


def series(figure, panel):
    axes = next(axes for axes in figure.axes if axes.get_label() == panel)
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def words(figure):
    return " ".join(text.get_text() for text in figure.texts)


def test_training_and_validation_are_drawn_in_percent_against_instances(written):
    log = written(validation(0, 30.0), record(10, 40.0), record(20, 20.0), validation(20, 15.0))
    figure = draw_curves(log, "a run")
    right, left = series(figure, "infeasible"), series(figure, "length")
    assert right["Sol. in training"] == [[10, 40], [20, 20]]
    assert right["Inst. in training"] == [[10, 10], [20, 5]]
    assert right["Sol. in validation"] == [[0, 30], [20, 15]]
    assert right["Inst. in validation"] == [[0, 2], [20, 2]]
    assert left["training, mean of sampled tours"] == [[10, 9], [20, 9]]
    assert left["validation, best of 8 views"] == [[0, 8], [20, 8]]
    assert "a run" in words(figure)
    assert "after 20 instances:  Sol. 15.00 %" in words(figure)


def test_a_validation_without_a_feasible_tour_has_no_length(written):
    figure = draw_curves(written(validation(0, 100.0, None), validation(5)), "x")
    assert series(figure, "length")["validation, best of 8 views"] == [[5, 8]]
    assert "none feasible" in words(draw_curves(written(validation(0, 100.0, None)), "x"))


def test_a_long_log_is_averaged_not_cut(written):
    rng = np.random.default_rng(0)
    shares = 100 * rng.random(5000)
    figure = draw_curves(written(*(record(10 * i, s) for i, s in enumerate(shares))), "long")
    drawn = np.array(series(figure, "infeasible")["Sol. in training"])
    assert len(drawn) == MOST_POINTS
    assert drawn[:, 1].mean() == pytest.approx(shares.mean(), rel=1e-2)


def test_an_empty_log_is_a_picture_too(written, tmp_path):
    figure = draw_curves(written(), "nothing yet")
    assert "no validation yet" in words(figure)
    save(figure, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_log_gives_the_same_bytes(written, tmp_path):
    log = written(validation(0), record(10), validation(10))
    for name in ("a.png", "b.png"):
        save(draw_curves(log, "x"), tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_what_is_no_log_is_refused(tmp_path):
    with pytest.raises(InvalidFile, match="cannot be read"):
        draw_curves(tmp_path / "absent.jsonl", "x")
    for text in ("{", "[1]\n", "3\n"):
        (tmp_path / "odd").write_text(text)
        with pytest.raises(InvalidFile, match="is no log of a training"):
            draw_curves(tmp_path / "odd", "x")


def asked(instances, infeasible, doomed_found, sound, sound_found):
    counts = {
        "doomed": infeasible,
        "doomed_found": doomed_found,
        "sound": sound,
        "sound_found": sound_found,
    }
    return {"kind": "record", "instances": instances, **counts}


def test_recall_is_of_the_doomed_and_specificity_of_the_others():
    curve = curve_of([asked(10, 8.0, 6.0, 2.0, 1.0), asked(20, 0.0, 0.0, 4.0, 4.0)])
    assert curve.instances.tolist() == [10, 20]
    assert curve.recall[0] == 75.0
    assert np.isnan(curve.recall[1]), "none was doomed"
    assert curve.specificity.tolist() == [50.0, 100.0]
    assert curve.accuracy.tolist() == [70.0, 100.0]


def test_records_of_other_phases_and_validations_say_nothing():
    idle, other = asked(10, 0.0, 0.0, 0.0, 0.0), {"kind": "validation", "instances": 10}
    assert curve_of([idle, other]) is None
    assert curve_of([idle, other, asked(20, 1.0, 1.0, 1.0, 1.0)]).instances.tolist() == [20]
    assert curve_of([{**idle, "doomed": None}]) is None


def test_the_long_log_of_a_head_is_added_up_not_cut(rng):
    counts = rng.integers(1, 99, size=1000).astype(float)
    curve = curve_of([asked(at, n, 1.0, n, n) for at, n in enumerate(counts)])
    assert len(curve.instances) == MOST_OF_HEADS
    first = counts[: -(-1000 // MOST_OF_HEADS)]
    assert curve.recall[0] == pytest.approx(100 * len(first) / first.sum())


def test_each_training_is_a_line_in_each_panel(tmp_path):
    curves = [(name, curve_of([asked(10, 8.0, 6.0, 2.0, 1.0)])) for name in "abcdefghi"]
    figure = draw_foresight("heads", curves)
    assert [axes.get_label() for axes in figure.axes] == ["accuracy", "recall", "specificity"]
    assert [line.get_label() for line in figure.axes[1].lines] == list("abcdefghi")
    assert figure.axes[2].lines[0].get_ydata().tolist() == [50.0]
    save(figure, tmp_path / "foresight.png")
