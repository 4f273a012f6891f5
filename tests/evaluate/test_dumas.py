import pytest
from evaluations import failed, results, solved

from fairway.errors import InvalidFile
from fairway.evaluate.dumas import dumas_tables
from fairway.evaluate.tables import of


def test_the_published_half_adds_up_to_what_the_paper_prints():
    overall, by_instance = dumas_tables([])
    assert len(by_instance.rows) == 54
    first = by_instance.rows[0]
    assert (first.label, first.values["optimum"]) == ("n20w20.001", 378)
    assert (first.values["POMO*+PIP cost"], first.values["POMO*+PIP gap"]) == (389, 2.91)
    assert first.values["POMO* cost"] is None
    rates = [row.values["inst"] for row in overall.rows]
    assert rates == pytest.approx(
        [(63.0 + 88.89) / 2, (22.2 + 25.93) / 2, (14.8 + 37.04) / 2], abs=0.05
    )


def test_a_bed_is_one_instance_and_a_method_has_one_row_over_all_of_them():
    first = results(failed(0), study="dumas", bed="n20w20.001", label="mine")
    second = results(solved(0, 290.0), study="dumas", bed="n20w20.002", label="mine")
    begun = results(study="dumas", bed="n20w20.003", label="mine")
    overall, _, measured = dumas_tables([first, second, begun])
    (row,) = of(overall, "measured")
    assert (row.label, row.values) == ("mine", {"inst": 50.0, "gap": 1.4, "instances": 2})
    assert [row.label for row in measured.rows] == ["n20w20.001", "n20w20.002"]
    assert measured.rows[0].values["mine cost"] is None
    assert measured.rows[1].values["mine cost"] == 290.0


def test_a_bed_of_several_instances_is_refused_by_name_with_what_to_do():
    several = results(solved(0, 5.0), solved(1, 5.0), study="dumas", bed="all-of-them")
    wrong = r"dumas/all-of-them, 'POMO\*': holds more than the one .* delete it, and run fairway"
    with pytest.raises(InvalidFile, match=wrong):
        dumas_tables([several])
