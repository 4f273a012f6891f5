import math
from dataclasses import replace

import pytest
import torch

from fairway.kernels.lookahead import AUTHORS, Guard
from fairway.kernels.lookahead.reference import extended, passes
from fairway.kernels.lookahead.table import table
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.draw import draw
from fairway.problems.generate import LAWS
from fairway.search.ants import drawn_to, explore, outlook_of
from fairway.train.config import Foresight
from fairway.train.gfacs.config import ColonyConfig, tempo_at
from fairway.train.gfacs.step import FIGURES, Colony, head_loss, learn

HEADED = ColonyConfig(
    "some", "tsptw", "hard", 8, policy=HeatmapConfig(layers=2, width=8, foresight=True),
    guard=Guard("ahead", AUTHORS), ants=4, batch=2, foresight=Foresight(1, 3, 1, 1, tours=3),
)  # fmt: skip


def network(config=HEADED):
    torch.manual_seed(3)
    return HeatmapNetwork(config.policy)


def stepped(config, phase="exact", oracle=None, seed=0):
    net = network(config)
    generator = torch.Generator().manual_seed(seed)
    figures = learn(config, Colony(net, oracle), phase, tempo_at(config, 0.0), generator)
    return net, dict(zip(FIGURES, figures.tolist(), strict=True))


def test_the_heads_loss_is_taken_choice_by_choice_candidate_by_candidate():
    """Against loops: which candidates the rule dooms, what the head says of each, both classes weighing as much."""
    generator = torch.Generator().manual_seed(4)
    batch = draw(LAWS["tsptw", "hard"], 8, 2, generator)
    net = network().eval()
    with torch.no_grad():
        heatmap = net(batch)
        noise = torch.rand(2, 4, 7, generator=generator)
        look = outlook_of(batch, HEADED.guard, 4)
        sampled = explore(batch, look, drawn_to(heatmap.log_heuristic()), noise)
        loss, seen = head_loss(HEADED, net, heatmap, batch, sampled)
        forecast, known = net.forecast(heatmap, batch), table(batch)
        wrong, said = {True: [], False: []}, {True: 0, False: 0}
        for b in range(2):
            for p in range(3):
                path = [0, 0, *sampled.built.tours[b, p].tolist()]
                level, left = batch.outset[b], list(range(1, 8))
                for before, here, there in zip(path[:-3], path[1:-2], path[2:-1], strict=True):
                    at = [torch.full((2, 1), value) for value in (before, here)]
                    scores = forecast(*at, torch.full((2, 1), float(level)))[b, 0]
                    for j in left:
                        sound = passes(
                            known, b, j, extended(known, b, level, here, j), left, AUTHORS
                        )
                        chance = scores[j].sigmoid()
                        wrong[sound].append(-(1 - chance if sound else chance).log())
                        said[sound] += int((scores[j] <= 0) == sound)
                    level = extended(known, b, level, here, there)
                    left = [j for j in left if j != there]
        expected = 0.5 * sum(torch.stack(part).mean() for part in wrong.values())
    assert float(loss) == pytest.approx(float(expected), rel=1e-4)
    counts = [said[False], len(wrong[False]), said[True], len(wrong[True])]
    assert seen.tolist() == counts
    assert min(counts[1], counts[3]) > 10


def test_a_step_reports_what_search_makes_of_the_tours():
    _, figures = stepped(replace(HEADED, nodes=15))
    assert figures["searched_cost"] < figures["cost"]
    assert figures["foresight_loss"] == 0


@pytest.mark.parametrize(
    ("phase", "learns"), [("exact", False), ("online", True), ("offline", False)]
)
def test_the_head_learns_online_and_never_otherwise(phase, learns):
    net, _ = stepped(HEADED, phase, oracle=network().eval())
    moved = [parameter.grad is not None for parameter in net.foresight.parameters()]
    assert all(moved) if learns else not any(moved)
    assert all(parameter.grad is not None for parameter in net.heuristic.parameters())


def test_the_heads_gradient_is_as_large_as_the_others_to_a_power_of_ten():
    """With the same tours and the other loss many times as large, it is as many times as large, in powers of ten."""
    config = replace(HEADED, nodes=15, hardness="medium")
    largest, totals = [], []
    for sharpness in (0.0, 500.0):
        net, figures = stepped(replace(config, sharpness=(sharpness, sharpness)), "online")
        largest.append(max(float(p.grad.abs().max()) for p in net.foresight.parameters()))
        totals.append((figures["loss"] + figures["searched_loss"]) / figures["foresight_loss"])
    powers = [10 ** math.floor(math.log10(total)) for total in totals]
    assert powers[1] >= 10 * powers[0]
    assert largest[1] / largest[0] == pytest.approx(powers[1] / powers[0], rel=1e-3)


def test_offline_without_a_frozen_head_is_our_own_mistake():
    with pytest.raises(AssertionError, match="frozen head"):
        stepped(HEADED, "offline")
