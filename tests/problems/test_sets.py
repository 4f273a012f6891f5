import sys

import numpy as np
import pytest

from fairway.errors import InvalidInstance
from fairway.problems.beds import load_bed
from fairway.problems.distances import euclidean
from fairway.problems.generate import generate
from fairway.problems.instance import TSPDL, TSPTW
from fairway.problems.sets import InstanceSet, Locations, instance_set


def arrays_of(instances):
    locations = (instances.locations.coordinates, instances.locations.matrix)
    names = [
        name for name in instances.__slots__ if isinstance(getattr(instances, name), np.ndarray)
    ]
    return [
        array
        for array in (*locations, *(getattr(instances, name) for name in names))
        if array is not None
    ]


def held_bytes(array: np.ndarray) -> int:
    """Memory behind an array; a broadcast number holds next to nothing."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.nbytes


@pytest.mark.parametrize("name", ["tsptw100-hard", "tspdl100-hard"])
def test_ten_thousand_instances_stay_under_two_hundred_megabytes(name):
    assert sum(map(held_bytes, arrays_of(load_bed(name)))) < 200e6


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_indexing_gives_an_instance_and_slicing_a_set(problem):
    instances = generate(problem, n=8, count=5, seed=3)
    assert len(instances) == len(list(instances)) == 5
    assert np.array_equal(instances[-1].travel, instances[4].travel)
    assert np.array_equal(instances[1:3][1].travel, instances[2].travel)
    assert np.array_equal(instances[2].travel, euclidean(instances[2].coordinates))
    with pytest.raises(IndexError):
        instances[5]


def test_a_set_of_given_instances_gives_them_back(rng):
    travels = rng.random((3, 4, 4)) + 1
    given = [TSPTW(travel, 0, index, name="x") for index, travel in enumerate(travels)]
    instances = instance_set(given, "mine")
    assert instances.timed
    assert instances.locations.coordinates is None
    for before, after in zip(given, instances, strict=True):
        assert np.array_equal(before.travel, after.travel)
        assert np.array_equal(before.closes, after.closes)


def test_euclidean_matrices_are_not_stored_twice():
    instances = generate("tsptw", n=6, count=3, seed=1)
    assert instance_set(list(instances)).locations.matrix is None


@pytest.mark.parametrize(
    ("instances", "sentence"),
    [
        ([], "at least one"),
        ([TSPTW(np.ones((2, 2)), 0, 1), TSPTW(np.ones((3, 3)), 0, 1)], "one size"),
        ([TSPTW(np.ones((2, 2)), 0, 1), TSPDL(np.ones((2, 2)), [0, 1], 1)], "one problem"),
        (
            [TSPDL(np.ones((2, 2)), [0, 1], 1), TSPDL(np.ones((2, 2)), [0, 1], 1, "shrinking")],
            "one direction",
        ),
    ],
)
def test_what_does_not_belong_together_makes_no_set(instances, sentence):
    with pytest.raises(InvalidInstance, match=sentence):
        instance_set(instances)


def test_a_set_needs_to_know_where_its_nodes_are():
    with pytest.raises(InvalidInstance, match="coordinates or travel"):
        Locations()
    with pytest.raises(InvalidInstance, match="opens has shape"):
        InstanceSet(Locations(np.zeros((2, 3, 2))), opens=np.zeros((2, 4)), closes=np.ones((2, 3)))
    with pytest.raises(InvalidInstance, match=r"instance 0: opens\[0\] is nan"):
        InstanceSet(
            Locations(np.zeros((2, 3, 2))), opens=np.full((2, 3), np.nan), closes=np.ones((2, 3))
        )


def test_instances_need_no_torch():
    """In a fresh interpreter, since other tests have imported it here."""
    import subprocess

    code = "import sys, fairway; fairway.generate('tsptw', n=5); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_set_cannot_be_changed_from_outside():
    opens = np.zeros((2, 3))
    instances = InstanceSet(Locations(np.ones((2, 3, 2))), opens=opens, closes=opens + 1)
    opens[0, 0] = 5
    assert instances.opens[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        instances.opens[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        instances.locations.coordinates[0, 0] = 5


def test_instances_keep_their_names_in_sets_and_slices():
    bed = load_bed("tsptw500-medium")
    assert bed[5:8][1].name == "tsptw500-medium-6"
    named = instance_set(
        [TSPTW(np.ones((2, 2)), 0, 1, name="mine"), TSPTW(np.ones((2, 2)), 0, 1)], "set"
    )
    assert [instance.name for instance in named] == ["mine", "set-1"]
    with pytest.raises(InvalidInstance, match="1 labels were given; expected 2"):
        InstanceSet(named.locations, opens=named.opens, closes=named.closes, labels=["one"])
