import numpy as np

from fairway.pictures.placement import CROWDED, place

SIZE = (0.4, 0.1)
NO_LEGS = np.empty((0, 2, 2))


def overlap(a, b) -> bool:
    return bool((np.abs(a - b) < np.array(SIZE) * 0.999).all())


def placed(spots, legs=NO_LEGS, side=10.0):
    spots = np.asarray(spots, float)
    sizes = np.tile(SIZE, (len(spots), 1))
    return place(spots, sizes, np.arange(len(spots)), legs, side, 0.05)


def test_labels_overlap_neither_each_other_nor_any_stop():
    spots = np.random.default_rng(0).uniform(1, 4, (60, 2))
    centres = placed(spots)
    nodes = list(centres)
    assert len(nodes) > 30
    assert not any(overlap(centres[a], centres[b]) for a in nodes for b in nodes if a < b)
    for centre in centres.values():
        assert not (np.abs(spots - centre) < np.array(SIZE) / 2).all(1).any()


def test_a_label_stays_on_the_map():
    for corner in ((0, 0), (0, 10), (10, 0), (10, 10)):
        centre = placed([corner])[0]
        assert (centre >= np.array(SIZE) / 2).all()
        assert (centre <= 10 - np.array(SIZE) / 2).all()


def test_a_label_moves_off_a_leg():
    leg = np.array([[(5.0, 5.0), (9.0, 5.0)]])
    assert placed([(5, 5)])[0][0] > 5
    assert placed([(5, 5)], leg)[0][0] < 5


def test_who_comes_first_in_the_order_is_placed_first():
    spots = np.full((40, 2), 5.0)
    sizes = np.tile(SIZE, (40, 1))
    order = np.arange(40)[::-1]
    centres = place(spots, sizes, order, NO_LEGS, 10.0, 0.05)
    assert 39 in centres
    assert 0 not in centres


def test_on_a_crowded_map_no_label_hides_the_tour():
    spots = np.column_stack((np.linspace(0.5, 9.5, CROWDED + 1), np.full(CROWDED + 1, 5.0)))
    across = np.array([[(0.0, height), (10.0, height)] for height in np.linspace(4, 6, 80)])
    assert placed(spots, across) == {}
    assert placed(spots[:20], across) != {}
