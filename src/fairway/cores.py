"""How many cores there are for us."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def cores() -> int:
    """Those that this process may use: by its affinity, and by the quota of the container it is in."""
    tells = hasattr(os, "sched_getaffinity")
    count = len(os.sched_getaffinity(0)) if tells else os.cpu_count() or 1
    # Rounded down: a process too many is stopped for a part of every period, whatever deadline it has.
    return max(1, int(min([count, *_quotas()])))


def _quotas() -> Iterator[float]:
    """In cores, of every control group this process is in; none where there are no groups or no limits."""
    try:
        lines = MEMBERSHIP.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            group = GROUPS / controllers / path.lstrip("/")
            # Within a container the path may be the host's, of which only the root is seen.
            for folder in (group, *group.parents):
                if folder == GROUPS.parent:
                    break
                with suppress(OSError, ValueError):
                    yield _quota(folder)


def _quota(folder: Path) -> float:
    """Of one group, by version 2 or 1 of the interface; what has none raises OSError or ValueError."""
    if (limit := folder / "cpu.max").exists():
        quota, period = limit.read_text().split()
    else:
        quota = (folder / "cpu.cfs_quota_us").read_text()
        period = (folder / "cpu.cfs_period_us").read_text()
    if not int(quota) > 0 < int(period):
        raise ValueError("no limit")
    return int(quota) / int(period)
