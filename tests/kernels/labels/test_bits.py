import numpy as np

from fairway.kernels.labels.bits import holds, mixed
from fairway.kernels.labels.label_model import packed


def test_a_packed_set_holds_its_nodes_and_no_others(rng):
    for nodes in (1, 8, 63, 64, 65, 200):
        sets = rng.random((5, nodes)) < 0.3
        for row, words in zip(sets, packed(sets), strict=True):
            assert [bool(holds(words, node)) for node in range(nodes)] == row.tolist()


def test_neighbouring_sets_fall_into_different_slots():
    """One bit more or less, and another last stop, spread over a table as chance would: about 63 % of it."""
    hashes = {
        int(mixed(np.array([1 << bit, other], np.uint64), last)) % 4096
        for bit in range(64)
        for other in range(8)
        for last in range(8)
    }
    assert 2400 < len(hashes) < 2800
