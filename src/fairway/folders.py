"""Where things are kept between runs."""

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """The folder `FAIRWAY_CACHE`, else `fairway` in the user's cache folder; it can be deleted at any time."""
    if chosen := os.environ.get("FAIRWAY_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "fairway"
    try:
        return Path.home() / ".cache" / "fairway"
    except RuntimeError:  # a user without a home, as in some containers
        return private_folder()


def private_folder() -> Path:
    """A folder for temporary files that belongs to this user."""
    return Path(tempfile.gettempdir()) / f"fairway-{os.getuid()}"


def state_folder() -> Path:
    """Where a service keeps its jobs: `fairway` in the user's state folder."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "fairway"
