"""How the loops over labels are compiled: fast, and fast to compile.

Counting references took most of the time of loops over tuples of arrays, so it is left out where nothing is allocated.
What is called from compiled code alone needs no way in from Python, which takes longer to compile than most functions.
"""

from typing import Any

from numba import njit

_BARE: dict[str, Any] = {"nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {**_BARE, "no_cpython_wrapper": True}

bare = njit(cache=True, **_BARE)
"""For loops that allocate nothing."""
inner = njit(**_INNER)
"""For what only such loops call."""
