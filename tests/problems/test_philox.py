import numpy as np

from fairway.problems.philox import CudaGenerator, philox


def test_known_answers_of_philox():
    """From the authors' own test vectors (Random123, philox4x32-10): all counters and keys zero."""
    words = philox(np.zeros(1, int), 0, 0)
    assert [f"{int(word[0]):08x}" for word in words] == [
        "6627e8d5",
        "e169c58d",
        "bc57ac4c",
        "9b00dbd8",
    ]


def test_uniform_draws_lie_in_the_unit_interval_and_move_the_stream_on():
    stream = CudaGenerator(7)
    first, second = stream.uniform(1000), stream.uniform(1000)
    assert first.dtype == np.float32
    assert ((first >= 0) & (first < 1)).all()
    assert not np.array_equal(first, second)
    assert stream.offset == 8
    assert abs(np.concatenate([first, second]).mean() - 0.5) < 0.03


def test_a_large_draw_goes_round_the_grid_more_than_once():
    """Its first values are those of a draw that fills the grid exactly once."""
    threads = 68 * 1024
    assert np.array_equal(
        CudaGenerator(7).uniform(4 * threads), CudaGenerator(7).uniform(9 * threads)[: 4 * threads]
    )


def test_permutations_are_permutations_even_where_keys_tie():
    """Two hundred keys of 17 bits tie in one row of eight, so the second shuffle is exercised."""
    rows = CudaGenerator(3).permutations(200, 300)
    assert (np.sort(rows, axis=1) == np.arange(200)).all()
    assert len(np.unique(rows[:, 0])) > 100


def test_integers_cover_their_range():
    draws = CudaGenerator(3).integers(1, 5, size=10, calls=200)
    assert set(draws.reshape(-1).tolist()) == {1, 2, 3, 4}
