import pickle

import numpy as np
import pytest

from fairway.errors import InvalidFile, InvalidRequest
from fairway.evaluate import references as module
from fairway.evaluate.references import load_references
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
    assert np.allclose(references.cost[[0, 1, 3]], costs[[0, 1, 3]])
    assert references.tour[0].tolist() == tours[0].tolist()
    assert not references.proved.any()


def test_our_own_references_say_their_version_and_what_is_proved(small_bed, tmp_path):
    tours, costs = small_bed
    costs[1] += 0.5
    proved = np.array([True, True, False, True])
    path = tmp_path / "ours.npz"
    np.savez(path, cost=costs, tour=tours, proved=proved, version="0.1.0")
    references = load_references("any", path)
    assert references.source == "fairway 0.1.0"
    assert references.refused.tolist() == [1], "a cost that is not its tour's is worth nothing"
    assert references.proved.tolist() == [True, False, False, True]


def test_shipped_references_are_used_where_there_are_some(small_bed, tmp_path, monkeypatch):
    tours, costs = small_bed
    monkeypatch.setattr(module, "SHIPPED", tmp_path)
    np.savez(tmp_path / f"{BED}.npz", cost=costs, tour=tours, version="0.1.0")
    assert load_references(BED).refused.size == 0


def test_a_bed_without_references_says_so():
    with pytest.raises(InvalidRequest, match="no reference costs ship"):
        load_references(BED)
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
    assert len(load_bed(BED)) == 128
