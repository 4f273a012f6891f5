"""Fixtures that several test folders share."""

import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from fairway.problems.instance import TSPDL, TSPTW

# Tests run in several processes, and threads that wait for each other would outnumber the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Where tests run in the background of a shell, they and their children would be deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Beds are drawn into a folder of the test run's own, never into the user's cache. The name is
# fixed for a user, so that parallel workers share it; its content is checked on every load.
os.environ["FAIRWAY_CACHE"] = str(Path(tempfile.gettempdir()) / f"fairway-tests-{os.getuid()}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("cuda"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("no GPU here")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of library instances and published references, beside a developer's checkout."""
    folder = Path(__file__).parents[2] / "shared"
    if not (folder / "bench").is_dir():
        pytest.skip("the shared folder with the library instances is not beside this checkout")
    return folder


# A busy machine is no reason to fail, and CI should fail the same way twice.
settings.register_profile("fairway", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("fairway")


@pytest.fixture
def window_instance() -> TSPTW:
    """Three stops on a line, small enough to schedule by hand."""
    travel = [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    return TSPTW(travel, [0, 4, 0, 0], [20, 9, 8, 12], service=[0, 2, 1, 0], name="line")


@pytest.fixture
def draft_instance() -> TSPDL:
    """Three ports, the last of which is shallow."""
    travel = [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    return TSPDL(travel, [0, 3, 2, 1], [6, 6, 5, 1], name="ports")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20241029)
