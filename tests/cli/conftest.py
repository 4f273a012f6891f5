"""Small files for the command line to read."""

from pathlib import Path

import pytest


@pytest.fixture
def stops(tmp_path) -> Path:
    path = tmp_path / "stops.csv"
    path.write_text("id,x,y,open,close,service\ndepot,0,0,0,20,0\na,3,4,0,9,1\nb,3,0,9,12,0\n")
    return path


@pytest.fixture
def ports(tmp_path) -> Path:
    path = tmp_path / "ports.csv"
    path.write_text("id,x,y,demand,draft\nhome,0,0,0,3\na,3,4,1,1\nb,3,0,2,3\n")
    return path
