import numpy as np
import pytest
from evaluations import failed, references, results, solved

from fairway.errors import InvalidFile
from fairway.evaluate.overview import END, START, put_into, results_table
from fairway.evaluate.studies import measured_of
from fairway.evaluate.tables import of

AGAINST = references("LKH, by them", np.full(9, 1000.0), np.full(9, 1000.0))


def row(label, bed="tsptw100-hard", study="main", against=AGAINST):
    made = results(solved(0, 1012.34), failed(1), label=label, bed=bed, study=study)
    return measured_of(made, against)


def test_methods_stand_against_the_beds_that_were_run():
    table = results_table([row("POMO*+PIP"), row("LKH3", against=None), row("x", study="lambda")])
    assert [column.title for column in table.columns] == ["tsptw100-hard"]
    assert {r.label: r.values["tsptw100-hard"] for r in of(table, "measured")} == {
        "LKH3": "50.00 / -",
        "POMO*+PIP": "50.00 / 1.23",
    }
    said = {r.label: r.values["tsptw100-hard"] for r in of(table, "published")}
    assert said["POMO*+PIP-D"] == "6.48 / 0.31"
    assert said["ORTools"] == "89.07 / 0.00"
    assert "POMO*" not in said, "solves nothing there"
    assert "over 2 instances. Measured gaps are to the costs of LKH." in table.caption


def test_a_method_that_solves_something_elsewhere_shows_where_it_does_not():
    table = results_table(
        [row("x"), row("x", "tsptw50-hard"), row("x", "tsptw500-medium", "large")]
    )
    assert [column.title for column in table.columns] == ["tsptw50-hard", "tsptw100-hard"]
    said = {r.label: r.values for r in of(table, "published")}
    assert said["POMO*"] == {"tsptw50-hard": "35.25 / 1.61", "tsptw100-hard": "100.00 / -"}


def test_what_solves_nothing_and_the_yardstick_itself_are_left_out():
    nothing = measured_of(results(failed(0), label="nothing", bed="tsptw50-hard"), AGAINST)
    itself = results(solved(0, 1000.0), label="LKH3", bed="tsptw50-hard", method="reference")
    table = results_table([row("x"), nothing, measured_of(itself, AGAINST)])
    assert [r.label for r in of(table, "measured")] == ["x"]


def test_only_what_is_between_the_marks_is_replaced(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"before\n{START}\nold\n{END}\nafter\n")
    put_into(path, results_table([]))
    once = path.read_text()
    assert once == f"before\n{START}\nNothing was measured yet.\n{END}\nafter\n"
    put_into(path, results_table([]))
    assert path.read_text() == once


@pytest.mark.parametrize("text", ["", START, f"{END}\n{START}\n", f"{START}{START}{END}"])
def test_a_file_without_marks_is_left_alone(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    with pytest.raises(InvalidFile, match="needs one line"):
        put_into(path, results_table([]))
    assert path.read_text() == text
    with pytest.raises(InvalidFile, match="cannot be read"):
        put_into(tmp_path / "absent", results_table([]))
