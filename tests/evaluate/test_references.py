import pickle

import numpy as np
import pytest

from fairway.errors import InvalidFile, InvalidRequest
from fairway.evaluate import references as module
from fairway.evaluate.references import FOLDER, Shipped, load_references, write_shipped
from fairway.judge import verify
from fairway.problems.beds import load_bed
from fairway.problems.generate import generate

BED = "tsptw500-medium"


@pytest.fixture
def small_bed(monkeypatch):
    """Four TSPDL instances in place of a bed, with a tour each that serves by draft."""
    instances = generate("tspdl", n=8, count=4, seed=2)
    monkeypatch.setattr(module, "load_bed", lambda name: instances)
    tours = np.stack([1 + np.argsort(draft[1:], kind="stable") for draft in instances.draft])
    costs = [verify(i, t).cost for i, t in zip(instances, tours, strict=True)]
    return tours, np.array(costs)


def test_the_authors_pickle_is_read_backwards_and_judged(small_bed, tmp_path):
    tours, costs = small_bed
    published = [(cost, tour[::-1].tolist()) for cost, tour in zip(costs, tours, strict=True)]
    published[2] = (np.float64(9.9), np.arange(1, 8))  # how LKH-3's 'found nothing' is stored
    path = tmp_path / "lkh_tspdl8.pkl"
    path.write_bytes(pickle.dumps(published, protocol=5))
    references = load_references("any", path)
    assert references.refused.tolist() == [2]
    refused = verify(module.load_bed("any")[2], range(7, 0, -1))
    assert references.stated[2] == refused.cost, "a refused tour has its length all the same"
    assert np.allclose(references.cost[[0, 1, 3]], costs[[0, 1, 3]])
    assert references.tour[0].tolist() == tours[0].tolist()
    assert not references.proved.any()


def test_costs_that_are_not_their_tours_are_worth_nothing(small_bed, tmp_path):
    tours, costs = small_bed
    costs[1] += 0.5
    proved = np.array([True, True, False, True])
    path = tmp_path / "file.npz"
    np.savez(path, cost=costs, tour=tours[:, ::-1], proved=proved)
    references = load_references("any", path)
    assert references.source == "file.npz"
    assert references.refused.tolist() == [1]
    assert references.proved.tolist() == [True, False, False, True]


def test_shipped_references_are_used_where_there_are_some(small_bed, tmp_path, monkeypatch):
    tours, costs = small_bed
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    proved = np.array([True, False, True])
    shipped = Shipped(tours[:3], proved, "fairway 0.1.0, by hand")
    write_shipped(module.load_bed(BED), tmp_path / f"{BED}.npz", shipped)
    references = load_references(BED)
    assert references.source == "fairway 0.1.0, by hand"
    assert references.refused.tolist() == [3], "the last has none yet"
    assert np.isnan(references.stated[3]), "where there is no tour, nothing is stated"
    assert np.array_equal(references.cost[:3], costs[:3])
    assert references.proved.tolist() == [True, False, True, False]


def test_all_that_ships_stays_small():
    assert sum(path.stat().st_size for path in FOLDER.glob("*.npz")) <= 1_500_000


def test_a_bed_without_references_says_so():
    with pytest.raises(InvalidRequest, match="no reference costs ship"):
        load_references("tsptw100-hard-eta100")
    with pytest.raises(InvalidRequest, match="there is no bed"):
        load_references("tsptw51-easy")


def test_references_of_another_bed_or_of_no_bed_are_refused(tmp_path):
    path = tmp_path / "file.npz"
    np.savez(path, cost=np.ones(3), tour=np.ones((3, 4), int))
    with pytest.raises(InvalidFile, match=f"bed {BED} has"):
        load_references(BED, path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InvalidFile, match="no file of references"):
        load_references(BED, path)
    with pytest.raises(InvalidFile, match="cannot be read"):
        load_references(BED, tmp_path / "absent.npz")
    with pytest.raises(InvalidFile, match="it is a device"):
        load_references(BED, "/dev/zero")
    assert len(load_bed(BED)) == 128
