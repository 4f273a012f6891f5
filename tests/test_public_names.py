import subprocess
import sys

import pytest

import fairway


def test_every_public_name_is_there_and_described():
    for name in fairway.__all__:
        assert getattr(fairway, name).__doc__, name


def test_the_promised_names_are_public():
    promised = {
        "read",
        "write",
        "verify",
        "Solution",
        "Rejection",
        "generate",
        "load_bed",
        "TSPTW",
        "TSPDL",
    }
    assert promised <= set(dir(fairway))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        fairway.nonsense  # noqa: B018


def test_no_public_name_is_shadowed_by_a_module():
    """After everything has been imported, in any order, the names still mean the functions."""
    code = (
        "import pkgutil, importlib, fairway\n"
        "for m in pkgutil.walk_packages(fairway.__path__, 'fairway.'):\n"
        "    '__main__' in m.name or importlib.import_module(m.name)\n"
        "assert all(callable(getattr(fairway, name)) for name in fairway.__all__)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
