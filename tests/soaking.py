"""Parameters of which `make test` takes some, and `make soak` the rest."""

import pytest


def hard_fifty_first(rows):
    """One set of parameters per row, whose first is the name of a bed; all but hard ones of 50 nodes are for soak."""
    rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [
        pytest.param(*row, marks=() if "50-hard" in row[0] else pytest.mark.soak) for row in rows
    ]
