import subprocess
import sys

import pytest
import torch
from torch import nn

from fairway.policies.norms import BatchNorm, InstanceNorm, norm

KINDS = ["instance", "batch", "layer"]


def some_nodes(dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)
    return (3 + 2 * torch.randn(4, 6, 8, generator=generator)).to(dtype)


def some_norm(kind):
    made = norm(kind, 8)
    with torch.no_grad():
        made.weight.uniform_(0.5, 2)
        made.bias.normal_()
    return made


@pytest.mark.parametrize(("kind", "over"), [("instance", (1,)), ("batch", (0, 1)), ("layer", (2,))])
def test_each_kind_takes_mean_and_variance_over_its_own_axes(kind, over):
    made, x = some_norm(kind), some_nodes()
    mean, variance = x.mean(over, keepdim=True), x.var(over, keepdim=True, unbiased=False)
    expected = (x - mean) / (variance + 1e-5).sqrt() * made.weight + made.bias
    torch.testing.assert_close(made(x), expected, rtol=1e-5, atol=1e-5)


def test_instances_are_normalised_as_by_torch_and_the_same_in_eval_mode():
    made, x = some_norm("instance"), some_nodes()
    torchs = nn.InstanceNorm1d(8, affine=True)
    torchs.load_state_dict(made.state_dict())
    expected = torchs(x.mT).mT
    torch.testing.assert_close(made(x), expected, rtol=1e-5, atol=1e-5)
    assert torch.equal(made.eval()(x), made.train()(x))
    assert not dict(made.named_buffers())


def test_batch_statistics_are_remembered_for_later():
    made, x = norm("batch", 8), some_nodes()
    for _ in range(200):
        made(x)
    flat = x.flatten(0, 1)
    torch.testing.assert_close(made.running_mean, flat.mean(0), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(made.running_var, flat.var(0), rtol=1e-4, atol=1e-4)
    made.eval()
    alone = made(x[:1])
    torch.testing.assert_close(alone, made(x)[:1])
    expected = (x[:1] - flat.mean(0)) / (flat.var(0) + 1e-5).sqrt()
    torch.testing.assert_close(alone, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", ["instance", "batch"])
def test_rounded_nodes_are_normalised_in_float32(kind):
    """Means over many nodes would lose their digits in bf16."""
    made, x = some_norm(kind), some_nodes(torch.bfloat16)
    assert made(x).dtype == torch.float32
    torch.testing.assert_close(made(x), made(x.float()), rtol=1e-5, atol=1e-5)


def test_channels_that_do_not_vary_become_the_bias():
    made = some_norm("instance")
    assert torch.equal(made(torch.full((2, 5, 8), 7.0)), made.bias.expand(2, 5, 8))


def test_names_give_kinds():
    assert [type(norm(kind, 8)) for kind in KINDS] == [InstanceNorm, BatchNorm, nn.LayerNorm]


ONE_OF_TWO = """
import sys, torch, torch.distributed as dist
from fairway.policies.norms import BatchNorm

folder, rank = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
given = torch.load(f"{folder}/given.pt", weights_only=True)
made, mine = BatchNorm(8), given["nodes"][rank::2].requires_grad_()
made.load_state_dict(given["norm"])
(made(mine) * given["weight"][rank::2]).sum().backward()
kept = {"nodes": mine.grad, "running_mean": made.running_mean, "running_var": made.running_var}
torch.save(kept | {"bias": made.bias.grad, "weight": made.weight.grad}, f"{folder}/{rank}.pt")
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_two_processes_normalise_by_the_statistics_of_both(tmp_path):
    """Five instances, of which one process has three: outputs' gradients and running statistics as from one."""
    made, nodes = some_norm("batch"), torch.randn(5, 6, 8, requires_grad=True)
    weight = torch.randn(5, 6, 8)
    given = {"nodes": nodes.detach(), "weight": weight, "norm": made.state_dict()}
    torch.save(given, tmp_path / "given.pt")
    command = [sys.executable, "-c", ONE_OF_TWO, str(tmp_path)]
    both = [subprocess.Popen([*command, str(rank)]) for rank in (0, 1)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    found = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1)]
    (made(nodes) * weight).sum().backward()
    for rank in (0, 1):
        torch.testing.assert_close(found[rank]["nodes"], nodes.grad[rank::2], rtol=1e-5, atol=1e-5)
        for name in ("running_mean", "running_var"):
            torch.testing.assert_close(found[rank][name], getattr(made, name))
    for name in ("weight", "bias"):
        total = found[0][name] + found[1][name]
        torch.testing.assert_close(total, getattr(made, name).grad, rtol=1e-5, atol=1e-5)
