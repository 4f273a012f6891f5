"""Parameters of which `make test` takes some, and `make soak` the rest."""

import pytest


def small_first(rows):
    """One set of parameters per row, whose first is the name of a bed; those of 100 nodes are for `make soak`."""
    rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [pytest.param(*row, marks=pytest.mark.soak if "100" in row[0] else ()) for row in rows]
