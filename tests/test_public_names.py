import inspect
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


OLD = {
    "read": "path distances",
    "write": "item path format",
    "verify": "instance tour tolerance",
    "generate": "problem n hardness count seed",
    "load_bed": "name",
    "solve": "instances seconds seed initial workers iterations objective policy watch",
    "explain": "instance seconds",
    "draw": "instance tour",
    "to_batch": "instances device dtype",
    "instance_set": "instances name",
    "TSPTW": "travel opens closes service coordinates names name",
    "TSPDL": "travel demand draft load coordinates names name",
    "Solution": "tour cost makespan schedule",
    "Rejection": "tour violations cost makespan schedule",
    "Result": "status seconds objective lower_bound solution method trace reason attempt interrupted",
    "Violation": "rule node amount why",
}
"""Parameters of version 0.1, in order."""


@pytest.mark.parametrize("name", OLD)
def test_new_parameters_are_named_and_come_after_those_of_version_0_1(name):
    given = inspect.signature(getattr(fairway, name)).parameters
    old, more = OLD[name].split(), len(OLD[name].split())
    assert [*given][:more] == old
    assert all(each.kind is each.KEYWORD_ONLY for each in [*given.values()][more:])


@pytest.mark.parametrize(
    ("name", "today"), [("TSPTWSet", "opens=..., closes="), ("TSPDLSet", "demand=..., draft=")]
)
def test_a_renamed_name_says_the_new_one(name, today):
    with pytest.raises(
        AttributeError, match=rf"fairway.{name} is now fairway.InstanceSet\(locations, {today}"
    ):
        getattr(fairway, name)


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
