"""The published rule on the published beds: deterministic greedy tours, figure for figure."""

import json

import pytest
import torch

from fairway.classical.greedy import nearest, tightest
from fairway.kernels.lookahead import AUTHORS, Rule, ahead, none
from fairway.problems.batch import TSPDLBatch, to_batch
from fairway.problems.beds import beds, load_bed
from fairway.search.rollout import rollout
from fairway.search.select import greedy

RULES = {"edd": tightest, "nn": nearest}
LOOKS = {
    None: none,
    0: lambda batch: ahead(batch, Rule(steps=0)),
    1: lambda batch: ahead(batch, AUTHORS),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, bed in beds().items() if bed.published])
def test_greedy_tours_under_the_authors_mask_have_the_recorded_figures(shared, name):
    """In float64, so exactly: infeasible tours, fallbacks, and means to six digits."""
    recorded = json.loads((shared / "beds/conformance.json").read_text())
    batch = to_batch(load_bed(name), dtype=torch.float64)
    rows = [row for row in recorded if row["set"] == name.replace("-", "_")]
    assert len(rows) == 6
    for row in rows:
        look = LOOKS[row["pip"]](batch)
        built = rollout(batch, look=look, score=RULES[row["rule"]](batch), select=greedy)
        share = batch.horizon[:, None] if isinstance(batch, TSPDLBatch) else 1.0
        feasible = built.worst <= 1e-5
        assert int((~feasible).sum()) == row["infeasible"], row
        assert int(built.dead_ends.sum()) == row["fallbacks"], row
        late, count = (
            ("violation", "viol_nodes") if "mean_violation" in row else ("timeout", "timeout_nodes")
        )
        assert built.length.mean().item() == pytest.approx(row["mean_len_all"], rel=1e-6)
        assert (built.excess / share).mean().item() == pytest.approx(row[f"mean_{late}"], rel=1e-6)
        assert built.broken.double().mean().item() == pytest.approx(row[f"mean_{count}"], rel=1e-6)
        if row["obj_feas"] is not None:
            assert built.length[feasible].mean().item() == pytest.approx(row["obj_feas"], rel=1e-6)
