import json

import numpy as np
import pytest

from fairway.errors import InvalidFile
from fairway.pictures import save
from fairway.pictures.curves import MOST_POINTS, draw_curves


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
