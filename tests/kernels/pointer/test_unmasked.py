from dataclasses import replace

import pytest
import torch

from fairway.kernels.pointer import Pointer
from fairway.kernels.pointer.reference import scores
from fairway.kernels.pointer.unmasked import open_scores

PARTS = ("query", "key", "value", "aim", "drift", "bias")


def some_pointer(clip, nodes=20, width=64, heads=4):
    generator = torch.Generator().manual_seed(1)

    def some(*shape):
        return 0.3 * torch.randn(shape, generator=generator)

    states = [some(3, nodes, width) for _ in range(4)]
    return Pointer(*states, some(3, heads, nodes), some(3, nodes), clip)


def some_states(steps=40, around=50.0):
    generator = torch.Generator().manual_seed(2)
    resource = around + torch.rand(3, steps, generator=generator)
    return torch.randint(20, (3, steps), generator=generator), resource


def halved(pointer):
    parts = [getattr(pointer, part) for part in PARTS]
    return Pointer(*(x.bfloat16() for x in parts[:4]), *parts[4:], pointer.clip)


def widened(pointer, dtype):
    return Pointer(*(getattr(pointer, part).to(dtype) for part in PARTS), pointer.clip)


@pytest.mark.parametrize("clip", [None, 10.0])
def test_scores_are_those_of_the_definition_with_nothing_masked(clip):
    pointer, (node, resource) = some_pointer(clip), some_states(around=0.0)
    found, expected = open_scores(pointer, node, resource), scores(pointer, node, resource)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert found.shape == (3, 40, 20)


def test_gradients_are_those_of_the_definition():
    pointer, (node, resource) = some_pointer(None), some_states(around=0.0)
    parts = [getattr(pointer, part).requires_grad_() for part in PARTS]
    weight = torch.randn(3, 40, 20)
    found, expected = (
        torch.autograd.grad((way(pointer, node, resource) * weight).sum(), parts)
        for way in (open_scores, scores)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_late_levels_keep_their_digits_where_products_are_halved():
    """Near 50 the resource in bf16 is off by up to an eighth, and a drift near 1 by up to 0.004, which 50 multiplies.

    The same rounded projections in float64 are the truth; what may differ is the rounding of products.
    """
    pointer, (node, resource) = halved(some_pointer(None)), some_states()
    pointer = replace(pointer, drift=1 + 0.2 * pointer.drift, value=3 * pointer.value)
    truth = scores(widened(pointer, torch.float64), node, resource.double())
    error = (open_scores(pointer, node, resource) - truth).abs().max()
    drift = pointer.drift.bfloat16()
    careless = widened(replace(pointer, drift=drift), torch.float64)
    loss = (scores(careless, node, resource.bfloat16().double()) - truth).abs().max()
    assert error < 0.01 * truth.abs().max()
    assert loss > 10 * error


def test_halved_products_give_float32_scores():
    pointer, (node, resource) = halved(some_pointer(10.0)), some_states()
    assert open_scores(pointer, node, resource).dtype == torch.float32
