"""How the moves are compiled."""

from typing import Any

from numba import njit

# Without reference counts, which would take ten times as long as the arithmetic; in return nothing here allocates.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}

compiled = njit(**_OPTIONS)
inlined = njit(inline="always", **_OPTIONS)
