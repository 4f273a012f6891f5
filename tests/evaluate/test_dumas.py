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


def test_a_bed_may_be_one_instance_or_name_them_all():
    alone = results(solved(0, 378.0), study="dumas", bed="n20w20.001", label="one by one")
    named = results(
        failed(0), solved(1, 290.0), study="dumas", bed="dumas", label="all",
        names=["n20w20.001", "n20w20.002"],
    )  # fmt: skip
    overall, _, measured = dumas_tables([alone, named])
    found = {row.label: row.values for row in of(overall, "measured")}
    assert found["one by one"] == {"inst": 0.0, "gap": 0.0, "instances": 1}
    assert found["all"] == {"inst": 50.0, "gap": 1.4, "instances": 2}
    assert [row.label for row in measured.rows] == ["n20w20.001", "n20w20.002"]
    assert measured.rows[0].values["all cost"] is None


def test_outcomes_without_a_name_are_refused():
    with pytest.raises(InvalidFile, match="more outcomes than names"):
        dumas_tables([results(solved(1, 5.0), study="dumas", bed="n20w20.001")])
