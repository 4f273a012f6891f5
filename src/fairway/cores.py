"""How many cores there are for us."""

import os


def cores() -> int:
    """Those that this process may use, on systems that say so; else all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
