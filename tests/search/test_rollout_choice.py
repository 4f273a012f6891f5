import pytest
import torch

from fairway.search.rollout import greedy, inverse

SHARES = torch.tensor([0.05, 0.0, 0.5, 0.15, 0.3])
DRAWS = 100_000


def drawn(order, seed=1, shares=SHARES):
    noise = torch.rand(1, DRAWS, 1, generator=torch.Generator().manual_seed(seed))
    scores = shares.log().expand(1, DRAWS, len(shares))
    return inverse(noise, torch.tensor([order]))(scores)[0]


def chi_square(chosen):
    counts = torch.bincount(chosen, minlength=5)
    expected = DRAWS * SHARES
    assert counts[1] == 0
    return float(((counts - expected).square() / expected.clamp(min=1))[SHARES > 0].sum())


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_candidates_are_drawn_in_proportion_whatever_their_order(order):
    """A chi-square of three degrees passes 31 once in a million."""
    assert chi_square(drawn(order)) < 31


def test_equal_noise_draws_equally_and_another_order_otherwise():
    assert torch.equal(drawn([0, 1, 2, 3, 4]), drawn([0, 1, 2, 3, 4]))
    assert not torch.equal(drawn([0, 1, 2, 3, 4]), drawn([4, 3, 2, 1, 0]))


def test_the_noise_is_laid_along_the_candidates_in_order():
    noise = torch.tensor([[[0.0], [0.29], [0.31], [0.79], [0.81], [0.96]]])
    scores = SHARES.log().expand(1, 6, 5)
    assert inverse(noise, torch.tensor([[4, 2, 1, 3, 0]]))(scores).tolist() == [[4, 4, 2, 2, 3, 0]]


@pytest.mark.parametrize("number", [0.0, 1 - 2**-24])
def test_noise_at_either_end_never_draws_what_is_forbidden(number):
    """Sums of float32 shares may end below the largest noise."""
    generator = torch.Generator().manual_seed(1)
    scores = 5 * torch.randn(2000, 1, 101, generator=generator)
    forbidden = torch.rand(2000, 1, 101, generator=generator) < 0.5
    forbidden[..., 0] = forbidden[..., -1] = True
    scores = scores.masked_fill(forbidden, -torch.inf)
    order = torch.arange(101).expand(2000, -1)
    chosen = inverse(torch.full((2000, 1, 1), number), order)(scores)
    assert not forbidden.gather(-1, chosen[..., None]).any()


def test_each_step_uses_its_own_noise():
    noise = torch.tensor([[[0.1, 0.9]]])
    select = inverse(noise, torch.tensor([[0, 1]]))
    even = torch.zeros(1, 1, 2)
    assert [int(select(even)), int(select(even))] == [0, 1]


def test_the_best_is_taken_and_the_lowest_number_on_ties():
    assert greedy(torch.tensor([[[1.0, 3.0, 3.0, -torch.inf]]])).tolist() == [[1]]
