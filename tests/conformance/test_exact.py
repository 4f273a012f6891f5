"""Proofs for whole published beds and for library instances, at the published costs."""

import json

import numpy as np
import pytest

from fairway.judge import Rejection, Solution, verify
from fairway.problems.beds import load_bed
from fairway.problems.files import read
from fairway.search.exact import prove

SMALL = 25
"""Nodes of the draft instances that are proved here; `python -m benchmarks.exact` goes through all of them."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mean"),
    [("tsptw50-hard", 25.611), pytest.param("tsptw100-hard", 51.238, marks=pytest.mark.soak)],
)
def test_every_hard_instance_of_the_paper_is_proved_optimal(shared, name, mean):
    """Where the published reference is cheaper, its tour breaks windows, if only within its own rounding."""
    published = np.load(shared / "beds" / f"lkh-{name}.npz")
    instances, costs = load_bed(name), []
    for instance in instances:
        proof = prove(instance)
        assert proof.status == "optimal", instance.name
        judged = verify(instance, proof.tour)
        assert isinstance(judged, Solution), instance.name
        assert judged.cost == proof.cost, instance.name
        costs.append(proof.cost)
    assert round(np.mean(costs) / 100, 3) == mean
    beaten = np.flatnonzero(np.array(costs) > published["cost"] * (1 + 1e-9))
    assert len(beaten) < 10
    for index in beaten.tolist():
        assert isinstance(verify(instances[index], published["tour"][index]), Rejection), index


@pytest.mark.slow
@pytest.mark.parametrize("family", ["tsptw/Dumas", "tsptw/AFG", "tspdl/rakke"])
def test_library_instances_are_proved_at_their_published_costs(shared, family):
    folder = shared / "bench" / family
    suffix = ".dat" if family == "tspdl/rakke" else ".txt"
    for name, best in json.loads((folder / "best_known.json").read_text()).items():
        instance = read(folder / f"{name}{suffix}")
        if family != "tspdl/rakke" or instance.nodes <= SMALL:
            proof = prove(instance)
            assert (proof.status, proof.cost) == ("optimal", best["cost"]), name
            assert isinstance(verify(instance, proof.tour), Solution), name


@pytest.mark.slow
def test_library_instances_are_proved_at_their_published_makespans(shared):
    folder = shared / "bench" / "tsptw" / "Dumas"
    for name, best in json.loads((folder / "best_known.json").read_text()).items():
        instance = read(folder / f"{name}.txt")
        proof = prove(instance, objective="makespan")
        assert (proof.status, proof.cost) == ("optimal", best["makespan"]), name
