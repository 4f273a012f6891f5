"""The published rule on the published beds: deterministic greedy tours, figure for figure."""

import json

import pytest
import torch

from fairway.classical.greedy import nearest, tightest
from fairway.kernels.lookahead import AUTHORS, along, none
from fairway.problems.batch import each, to_batch
from fairway.problems.beds import beds, load_bed
from fairway.search.rollout import greedy, rollout

RULES = {"edd": tightest, "nn": nearest}
LOOKS = {None: none, 1: lambda batch: along(batch, 1, AUTHORS)}
PART = 100
"""Instances at a time: their tables fit a cache, and are not given back to the system after each step."""


def widened(batch):
    """The figures were made in float64 from data divided in float32; the depot's closing decides nothing here."""
    return each(batch, torch.Tensor.double)


def figures(instances, rule, look):
    """Infeasible, dead ends, length, excess and late nodes of one tour for each instance, in float64."""
    parts = []
    for first in range(0, len(instances), PART):
        batch = widened(to_batch(instances[first : first + PART]))
        built = rollout(batch, look=look(batch), score=rule(batch), select=greedy)
        share = batch.horizon[:, None] if instances.problem == "tspdl" else 1.0
        columns = (
            built.worst > 1e-5,
            built.dead_ends,
            built.length,
            built.excess / share,
            built.broken,
        )
        parts.append(torch.cat([column.double() for column in columns], dim=1))
    return torch.cat(parts).T


@pytest.mark.soak
@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("name", [name for name, bed in beds().items() if bed.published])
def test_greedy_tours_under_the_authors_mask_have_the_recorded_figures(shared, name, rule):
    """Exactly: infeasible tours and fallbacks to the unit, means to twelve digits; with no mask and with one step."""
    recorded = json.loads((shared / "beds/conformance.json").read_text())
    of_this = [
        row for row in recorded if (row["set"], row["rule"]) == (name.replace("-", "_"), rule)
    ]
    rows = [row for row in of_this if row["pip"] in LOOKS]
    assert len(rows) == len(LOOKS)
    for row in rows:
        late = "violation" if "mean_violation" in row else "timeout"
        count = "viol_nodes" if "mean_viol_nodes" in row else "timeout_nodes"
        infeasible, dead_ends, length, excess, broken = figures(
            load_bed(name), RULES[rule], LOOKS[row["pip"]]
        )
        assert int(infeasible.sum()) == row["infeasible"], row
        assert int(dead_ends.sum()) == row["fallbacks"], row
        assert length.mean().item() == pytest.approx(row["mean_len_all"], rel=1e-12)
        assert excess.mean().item() == pytest.approx(row[f"mean_{late}"], rel=1e-12)
        assert broken.mean().item() == pytest.approx(row[f"mean_{count}"], rel=1e-12)
        if row["obj_feas"] is not None:
            assert length[infeasible == 0].mean().item() == pytest.approx(
                row["obj_feas"], rel=1e-12
            )
