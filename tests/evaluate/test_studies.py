import numpy as np
import pytest
from evaluations import failed, references, results, solved, took

from fairway.errors import InvalidFile
from fairway.evaluate.published import published
from fairway.evaluate.studies import (
    TITLES,
    bed_table,
    beds_of,
    dumas_tables,
    in_order,
    measured_of,
    method_of,
    plain,
    setting_of,
    speed_table,
)
from fairway.evaluate.tables import of

AGAINST = references("a file", np.full(10_000, 2000.0), np.full(10_000, 2000.0))


def measured(label, *outcomes, study="main", bed="tsptw50-hard", timings=(), count=2, **settings):
    outcomes = outcomes or (solved(0, 2100.0), failed(1))
    made = results(
        *outcomes, study=study, bed=bed, label=label, timings=timings, count=count, **settings
    )
    return measured_of(made, AGAINST)


def test_every_method_of_the_paper_has_its_row():
    labels = [row.label for row in of(bed_table("main", "tsptw50-easy", [], None), "published")]
    assert labels[:16] == [
        "LKH3", "ORTools", "Greedy-L", "Greedy-C", "JAMPR", "OSLA", "MUSLA", "MUSLA adapt",
        "AM", "AM*", "AM*+PIP", "AM*+PIP-D", "POMO", "POMO*", "POMO*+PIP", "POMO*+PIP-D",
    ]  # fmt: skip


def test_measured_rows_stand_below_in_the_papers_order():
    own = [measured(label) for label in ("Ours", "POMO* + PIP", "Greedy-C")]
    table = bed_table("main", "tsptw50-hard", own, "a file")
    assert [row.label for row in of(table, "measured")] == ["Greedy-C", "POMO* + PIP", "Ours"]
    assert table.title == "tsptw50-hard (Table 1)"
    assert "to a file; penalised ones count an instance without a tour at 100 %" in table.caption
    assert "Published only: LKH3, ORTools, Greedy-L, AM, " in table.caption
    assert "Greedy-C" not in table.caption
    assert "POMO*+PIP," not in table.caption


def test_a_row_says_what_was_measured():
    row = of(
        bed_table("main", "tsptw50-hard", [measured("x", timings=[took(0, 2, 4.0)])], "a file"),
        "measured",
    )[0]
    figures = {"sol": 50.0, "inst": 50.0, "objective": 21.0, "gap": 5.0, "gap_penalised": 52.5}
    for key, value in figures.items():
        assert row.values[key] == pytest.approx(value), key
    assert (row.values["seconds"], row.values["instance_seconds"]) == (20_000.0, 2.0)
    assert row.values["seconds_about"] is True
    assert "note" not in row.values


def test_an_unfinished_evaluation_says_so():
    row = of(bed_table("main", "tsptw50-hard", [measured("x", count=9)], None), "measured")[0]
    assert row.values["note"] == "unfinished: 2 of 9"


def test_a_policy_says_how_much_it_was_trained():
    trained = measured("x", training_instances=3_000_000, training_seconds=1_040.0)
    row = of(bed_table("main", "tsptw50-hard", [trained], None), "measured")[0]
    assert row.values["note"] == "trained on 3,000,000 instances in 17.3 min"


def test_a_time_that_is_not_of_a_cpu_says_so():
    timed = took(0, 2, 4.0, device="cuda")
    row = of(
        bed_table("main", "tsptw50-hard", [measured("x", count=9, timings=[timed])], None),
        "measured",
    )[0]
    assert row.values["note"] == "unfinished: 2 of 9, timed on cuda"


def test_settings_fill_the_columns_of_a_study():
    two = measured("POMO*+PIP, 2 steps", study="mask-steps", bed="tsptw50-medium", steps=2)
    table = bed_table("mask-steps", "tsptw50-medium", [two], "a file")
    assert [row.values["steps"] for row in table.rows] == [0, 1, 2, 0, 1, 2, 2]
    assert "Published only: POMO*+PIP-D." in table.caption


def test_a_setting_is_found_however_deep_it_stands():
    deep = {"kind": "greedy", "guard": {"kind": "ahead", "rule": {"steps": 0, "own": True}}}
    assert setting_of(deep, "steps") == 0
    assert setting_of(deep, "trials") is None
    assert setting_of(deep, "kind") is None, "is no number"


def test_tours_are_counted_where_a_study_varies_them():
    bed = "tsptw100-hard"
    own = [
        measured("POMO*+PIP (long)", solved(0, 1.0, tours=24), study="longer-inference", bed=bed)
    ]
    (row,) = of(bed_table("longer-inference", bed, own, None), "measured")
    assert row.values["tours"] == 24


def test_without_references_or_results_the_caption_says_so():
    assert "No reference costs" in bed_table("main", "tspdl50-hard", [measured("x")], None).caption
    assert bed_table("main", "tspdl50-hard", [], None).caption == "Nothing was measured yet."


def test_beds_come_in_their_own_order_whether_published_or_measured():
    assert beds_of("large", ["tsptw50-easy", "mine"]) == ["tsptw50-easy", "tsptw500-medium", "mine"]
    assert beds_of("nobody's", ["b", "a"]) == ["a", "b"]
    assert published("nobody's") == []


def test_labels_are_compared_without_blanks_and_settings():
    assert plain("POMO* + PIP") == plain("pomo*+pip")
    assert method_of("LKH3, 100 trials") == "lkh3"
    rows = published("main", "tsptw50-hard")
    assert in_order(rows, ["z", "POMO*", "LKH3, 1 s"]) == ["LKH3, 1 s", "POMO*", "z"]


def test_speed_is_per_instance_and_per_ten_thousand():
    single = measured("x", timings=[took(0, 1, 0.5), took(1, 1, 0.5)])
    batch = measured("y", timings=[took(0, 10_000, 50.0, "cuda")])
    rows = speed_table([single, batch, measured("z")]).rows
    assert [row.label for row in rows] == ["x", "y"]
    assert [row.values["mode"] for row in rows] == ["single", "batch"]
    assert [row.values["ten_thousand"] for row in rows] == [5000.0, 50.0]
    assert [row.values["ten_thousand_about"] for row in rows] == [True, False]
    assert [row.values["device"] for row in rows] == ["cpu", "cuda"]


def test_every_study_that_is_published_has_a_title():
    from fairway.evaluate.published import studies

    assert set(studies()) <= set(TITLES)


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
