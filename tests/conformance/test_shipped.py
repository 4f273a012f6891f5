"""The reference tours that ship, before the judge."""

import pytest

from fairway.evaluate.references import load_references

COUNTS = {
    "tsptw50-hard": (10_000, 10_000),
    "tsptw100-easy": (1_000, 0),
    "tspdl100-hard": (1_000, 0),
}
"""Of each bed, how many ship, and how many of those are proved; of the seven that have a thousand, two."""


@pytest.mark.slow
@pytest.mark.parametrize("bed", COUNTS)
def test_what_ships_for_a_bed_is_accepted_in_full(bed):
    references = load_references(bed, tolerance=1e-6)
    count, proved = COUNTS[bed]
    assert len(references.cost) - references.refused.size == count
    assert references.proved.sum() == proved
    if bed == "tsptw50-hard":  # as tests/conformance/test_exact.py proves it anew
        assert round(references.cost.mean() / 100, 3) == 25.611
