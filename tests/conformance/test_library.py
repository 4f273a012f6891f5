"""Every library instance is read, every published tour accepted at exactly its published cost."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fairway.judge import Rejection, Solution, verify
from fairway.problems.distances import travel_matrix
from fairway.problems.files import read, tsplib, write

BENCH = Path(__file__).parents[2] / ".." / "shared" / "bench"
FAMILIES = {"Dumas": 95, "AFG": 32, "SolomonPotvinBengio": 23}

pytestmark = pytest.mark.skipif(
    not BENCH.is_dir(), reason="the shared folder with bench/ is absent"
)


def best_known(folder):
    return json.loads((folder / "best_known.json").read_text()).items()


def windows(*families):
    """The name, folder and best known tours of each TSPTW file."""
    folders = [BENCH / "tsptw" / family for family in families]
    return [(name, folder, best) for folder in folders for name, best in best_known(folder)]


@cache
def instance_of(folder, name, suffix=".txt"):
    return read(folder / f"{name}{suffix}")


def drafts():
    folder = BENCH / "tspdl" / "rakke"
    return [(instance_of(folder, name, ".dat"), best) for name, best in best_known(folder)]


def test_every_file_is_read():
    folders = (BENCH / "tsptw", BENCH / "tspdl")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    files = [path for path in files if path.suffix in (".txt", ".dat")]
    instances = [read(path) for path in files]
    assert len(instances) == 95 + 32 + 23 + 95 + 23 + 150
    assert sum(instance.timed for instance in instances) == 268
    assert sum(instance.laden for instance in instances) == 150


@pytest.mark.parametrize("family", FAMILIES)
def test_every_best_known_tour_has_its_published_cost(family):
    known = windows(family)
    assert len(known) == FAMILIES[family]
    for name, folder, best in known:
        instance = instance_of(folder, name)
        judged = verify(instance, best["tour"])
        assert isinstance(judged, Solution), name
        assert instance.nodes == best["nodes"]
        if instance.integral:
            assert judged.cost == best["cost"], name
        else:
            assert round(judged.cost, 4) == best["cost_exact"], name
            assert round(judged.cost, 2) == best["cost"], name


@pytest.mark.parametrize("family", FAMILIES)
def test_every_best_known_makespan_is_reached(family):
    for name, folder, best in windows(family):
        instance = instance_of(folder, name)
        judged = verify(instance, best["makespan_tour"])
        assert isinstance(judged, Solution), name
        assert round(judged.makespan, 0 if instance.integral else 2) == best["makespan"], name


def test_every_optimal_tour_of_rakke_has_its_published_cost():
    known = drafts()
    assert len(known) == 150
    for instance, best in known:
        judged = verify(instance, best["tour"])
        assert isinstance(judged, Solution), instance.name
        assert judged.cost == best["cost"], instance.name


def test_a_shrinking_tour_is_a_growing_one_backwards():
    for instance, best in drafts():
        judged = verify(instance.reversed(), best["tour"][::-1])
        assert isinstance(judged, Solution), instance.name
        assert judged.cost == best["cost"], instance.name


def test_most_tours_are_refused_in_the_wrong_direction():
    """Not all of the 150: five tours happen to keep the drafts both ways."""
    refused = [isinstance(verify(i.reversed(), best["tour"]), Rejection) for i, best in drafts()]
    assert sum(refused) == 145


def test_coordinates_under_rule_f_give_the_matrices_of_dumas():
    for name, folder, _ in windows("Dumas"):
        given, drawn = instance_of(folder, name), read(folder / "coords" / f"{name}.txt", "F")
        assert np.array_equal(drawn.travel, given.travel), name
        assert np.array_equal(drawn.opens, given.opens), name
        assert np.array_equal(drawn.closes, given.closes), name


def test_coordinates_and_service_give_the_matrices_of_potvin_and_bengio():
    """Those files hold six significant digits: four decimals for most of their numbers."""
    six_digits = np.vectorize(lambda value: float(f"{value:.6g}"))
    for name, folder, _ in windows("SolomonPotvinBengio"):
        given, drawn = instance_of(folder, name), read(folder / "coords" / f"{name}.txt")
        folded = drawn.travel + drawn.service[:, None]
        np.fill_diagonal(folded, 0)
        assert np.array_equal(six_digits(folded), given.travel), name
        assert np.abs(folded - given.travel).max() < 5e-4, name
        assert np.array_equal(drawn.opens, given.opens), name
        assert np.array_equal(drawn.closes, given.closes), name


@pytest.mark.parametrize("form", ["json", "csv", "tsplib", "matrix", "solomon", "rakke"])
def test_what_is_written_is_recognised_whatever_it_is_called(form, tmp_path):
    drawn = read(BENCH / "tsptw" / "SolomonPotvinBengio" / "coords" / "rc_201.1.txt")
    ports = read(BENCH / "tspdl" / "rakke" / "gr17_50_1.dat").reversed()
    instance = ports if form == "rakke" else drawn
    write(instance, tmp_path / "file", form)
    back = read(tmp_path / "file")
    folded = drawn.service[:, None] * ~np.eye(drawn.nodes, dtype=bool) if form == "matrix" else 0
    assert np.array_equal(back.travel, instance.travel + folded)


def test_broken_triangles_of_dumas_are_noted():
    matrices = [instance_of(folder, name) for name, folder, _ in windows("Dumas")]
    noted = [instance for instance in matrices if instance.notes]
    assert len(noted) == 45  # the others by a single unit, as rounding may
    assert "triangle inequality" in noted[0].notes[0]


def test_euclidean_travel_breaks_no_triangle():
    instance = read(BENCH / "tsptw" / "Dumas" / "coords" / "n20w20.001.txt")
    assert np.array_equal(instance.travel, travel_matrix(instance.coordinates))
    assert instance.notes == ()


@pytest.mark.parametrize("graph", ["burma14", "ulysses16"])
def test_the_geographical_distances_are_those_of_the_standard(graph):
    """Rakke's matrices on these graphs are TSPLIB's GEO distances of the positions with them."""
    instance = read(BENCH / "tspdl" / "rakke" / f"{graph}_10_1.dat")
    rows = enumerate(instance.coordinates.tolist(), start=1)
    points = "\n".join(f"{node} {x!r} {y!r}" for node, (x, y) in rows)
    windows_section = "\n".join(f"{node} 0 99999" for node in range(1, instance.nodes + 1))
    text = (
        f"TYPE : TSPTW\nDIMENSION : {instance.nodes}\nEDGE_WEIGHT_TYPE : GEO\n"
        f"NODE_COORD_SECTION\n{points}\nTIME_WINDOW_SECTION\n{windows_section}\nEOF\n"
    )
    assert np.array_equal(tsplib.parse(text, graph, None).travel, instance.travel)
