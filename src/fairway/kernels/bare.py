"""How loops over tuples of arrays are compiled: fast, and fast to compile.

Counting references took most of the time of such loops, so it is left out; in return nothing in them allocates. What is
called from compiled code alone needs no way in from Python, which takes longer to compile than most functions.
"""

from typing import Any

import numpy as np

from fairway.kernels.compiling import njit

_BARE: dict[str, Any] = {"nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {**_BARE, "no_cpython_wrapper": True}

ZERO = np.int64(0)
"""For a number that begins as nothing: a literal 0 would have all that it is passed to compiled once more."""

bare = njit(cache=True, **_BARE)
"""For loops that allocate nothing."""
inner = njit(**_INNER)
"""For what only such loops call."""
