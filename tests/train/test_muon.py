import pytest
import torch

from fairway.train.muon import ADAMS, KEEPS, NARROWEST, Muon, orthogonal, turned

ROWS, COLUMNS = 80, NARROWEST


def some(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(ROWS, COLUMNS), (COLUMNS, ROWS), (COLUMNS, COLUMNS)])
def test_the_orthogonal_part_has_singular_values_near_one_and_the_same_directions(shape):
    """Against the singular value decomposition: M = U S V becomes about U V, where S spans a factor of fifty."""
    left, _, right = torch.linalg.svd(some(3, *shape), full_matrices=False)
    spread = torch.logspace(-1.7, 0, COLUMNS).expand(3, -1)
    found = orthogonal(left @ torch.diag_embed(spread) @ right)
    values = torch.linalg.svdvals(found)
    assert values.amin() > 0.3
    assert values.amax() < 1.3
    along = left.mT @ found @ right.mT
    assert (along - torch.diag_embed(along.diagonal(dim1=1, dim2=2))).abs().amax() < 0.02


def test_no_gradient_moves_nothing():
    assert not orthogonal(torch.zeros(2, ROWS, COLUMNS)).any()


def test_the_first_steps_by_hand_and_adams_for_all_that_is_no_matrix():
    matrix, line = (torch.nn.Parameter(some(*shape)) for shape in ((ROWS, COLUMNS), (ROWS,)))
    other = torch.nn.Parameter(line.detach().clone())
    start = matrix.detach().clone()
    ours, adam = Muon([matrix, line], lr=0.1), torch.optim.Adam([other], lr=0.1)
    momentum, expected = torch.zeros_like(start), start
    for seed in (1, 2):
        gradient = some(ROWS, COLUMNS, seed=seed)
        matrix.grad, line.grad, other.grad = gradient, some(ROWS, seed=seed), some(ROWS, seed=seed)
        ours.step()
        adam.step()
        assert matrix.grad is gradient
        momentum = KEEPS * momentum + (1 - KEEPS) * gradient
        ahead = KEEPS * momentum + (1 - KEEPS) * gradient
        expected = expected - 0.1 * ADAMS * ROWS**0.5 * orthogonal(ahead[None])[0]
        torch.testing.assert_close(matrix.detach(), expected)
        assert torch.equal(line, other)


def test_weights_decay_by_the_rate_in_matrices_alone():
    matrix, line = (torch.nn.Parameter(some(*shape)) for shape in ((ROWS, COLUMNS), (ROWS,)))
    before = matrix.detach().clone(), line.detach().clone()
    ours = Muon([matrix, line], lr=0.1, weight_decay=0.5)
    matrix.grad, line.grad = torch.zeros(ROWS, COLUMNS), torch.zeros(ROWS)
    ours.step()
    torch.testing.assert_close(matrix.detach(), before[0] * 0.95)
    assert torch.equal(line, before[1])


def test_matrices_without_a_gradient_stay():
    matrices = [torch.nn.Parameter(some(ROWS, COLUMNS, seed=seed)) for seed in range(2)]
    before = [matrix.detach().clone() for matrix in matrices]
    ours = Muon(matrices, lr=0.1)
    matrices[0].grad = some(ROWS, COLUMNS)
    ours.step()
    assert not torch.equal(matrices[0], before[0])
    assert torch.equal(matrices[1], before[1])
    assert matrices[1].grad is None


def test_only_wide_matrices_are_turned():
    shapes = {(ROWS, COLUMNS): True, (ROWS, 4): False, (ROWS,): False, (2, ROWS, COLUMNS): False}
    assert {shape: turned(torch.zeros(shape)) for shape in shapes} == shapes
