import pytest
import torch

from fairway.kernels.lookahead import AUTHORS, PAIRS, MaskConfig, MaskRule
from fairway.kernels.lookahead.table import table
from fairway.kernels.pointer.track import SMALLEST, in_order, lay_out, width_for
from fairway.problems.batch import every_pair
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS

GUARDS = [
    ("tsptw", MaskConfig("none")),
    ("tsptw", MaskConfig(rule=MaskRule(0))),
    ("tsptw", MaskConfig(rule=MaskRule(1))),
    ("tsptw", MaskConfig(rule=PAIRS)),
    ("tsptw", MaskConfig(rule=AUTHORS)),
    ("tspdl", MaskConfig(rule=MaskRule(1))),
    ("tspdl", MaskConfig("exact")),
]


def some_batch(problem, nodes=21):
    return draw(DISTRIBUTIONS[problem, "hard"], nodes, 3, torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("nodes", "width"), [(2, 16), (16, 16), (17, 32), (50, 64), (64, 64), (100, 128), (512, 512)]
)
def test_a_batch_is_padded_to_a_power_of_two(nodes, width):
    assert width_for(nodes) == width >= SMALLEST


@pytest.mark.parametrize(("problem", "guard"), GUARDS, ids=str)
def test_ranks_and_nodes_are_each_others_inverse_and_padding_is_the_depot(problem, guard):
    batch = some_batch(problem)
    track = lay_out(batch, guard)
    assert track.order.shape == (3, 32)
    assert track.order[:, 0].tolist() == [0, 0, 0]
    assert not track.order[:, 21:].any()
    nodes = torch.arange(21).expand(3, -1)
    assert torch.equal(track.order.gather(1, track.rank), nodes)
    assert torch.equal(track.rank.gather(1, track.order[:, :21]), nodes)


@pytest.mark.parametrize(("problem", "guard"), GUARDS, ids=str)
def test_nodes_stand_in_the_order_in_which_they_can_bind(problem, guard):
    """By draft for the exact mask, otherwise by the least resource anywhere from which the node can just be reached."""
    batch = some_batch(problem)
    known = table(batch, guard.rule)
    order = in_order(known, guard)
    binding = known.latest if guard.kind == "exact" else known.cutoff.amin(1)
    later = binding.gather(1, order)[:, 1:]
    assert (later.diff(dim=1) >= 0).all()


@pytest.mark.parametrize(("problem", "guard"), GUARDS, ids=str)
def test_tables_by_rank_are_the_batchs(problem, guard):
    batch = some_batch(problem)
    track, known = lay_out(batch, guard), table(batch, guard.rule)
    travel = batch.travel(*every_pair(batch))
    b = torch.arange(3)[:, None]
    earliest, latest, _, demand, least, most = track.lines.unbind(1)
    assert torch.equal(earliest, batch.earliest[b, track.order])
    assert torch.equal(latest, batch.latest[b, track.order])
    assert torch.equal(demand, known.increment[:, 0][b, track.order])
    assert torch.equal(least, known.cutoff.amin(1)[b, track.order])
    finite = torch.where(known.cutoff.isfinite(), known.cutoff, -torch.inf)
    assert torch.equal(most, finite.amax(1)[b, track.order])
    increment, way, cutoff = track.squares.unbind(1)
    row, column = track.order[:, :, None], track.order[:, None, :]
    assert torch.equal(increment, known.increment[b[..., None], row, column])
    assert torch.equal(way, travel[b[..., None], row, column])
    assert torch.equal(cutoff, known.cutoff[b[..., None], column, row])
    assert torch.equal(track.starts, torch.stack([batch.initial, batch.unit], 1))


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        (MaskConfig(rule=MaskRule(0)), lambda known: known.latest),
        (
            MaskConfig(rule=MaskRule(1)),
            lambda known: torch.minimum(known.latest, known.cutoff[:, :, 0]),
        ),
        (MaskConfig(rule=AUTHORS), lambda known: torch.full_like(known.latest, torch.inf)),
    ],
    ids=["own", "own and return", "authors"],
)
def test_the_cap_is_what_bounds_a_node_whatever_is_left(guard, expected):
    """The own limit and the return as far as the rule asks for them; the authors' asks for neither."""
    batch = some_batch("tsptw")
    track = lay_out(batch, guard)
    cap = expected(table(batch))
    assert torch.equal(track.lines[:, 2], cap.gather(1, track.order))
