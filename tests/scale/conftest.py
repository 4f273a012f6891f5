"""Two workers for all tests of this folder: starting one takes longer than most of them."""

from contextlib import nullcontext

import pytest

from fairway.scale.engine import Engine
from fairway.scale.local import LocalPool


class Running(Engine):
    """Workers that are there already, and stay."""

    pool = None

    def opened(self):
        return nullcontext(Running.pool)


@pytest.fixture(scope="session")
def workers():
    with LocalPool(2) as pool:
        Running.pool = pool
        yield Running(workers=2)
