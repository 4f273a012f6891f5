"""`python -m benchmarks.bed RUN --references LKH.npz`: a trained policy on a published bed, greedy x 8 symmetries.

Sol. and Inst. are the shares of infeasible tours and of instances without a feasible one, by the paper's tolerance. The
gap is the mean over the solved instances, to the published costs as they stand, as in the paper.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from fairway.policies.checkpoint import load_policy
from fairway.problems.batch import to_batch
from fairway.problems.beds import load_bed
from fairway.recipes import recipe_named
from fairway.train.processes import device_named
from fairway.train.validate import greedy_over_views

AT_A_TIME = 250


def main() -> None:
    """Score and print one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("--bed", default="tsptw50-hard")
    parser.add_argument("--references", type=Path, required=True)
    parser.add_argument("--first", type=int, help="only so many instances")
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    device = device_named(asked.device)
    policy, card = load_policy(asked.run, device)
    policy.eval()
    config = replace(recipe_named(card.trained["recipe"]), half=False)
    instances = load_bed(asked.bed)[: asked.first]
    with np.load(asked.references) as file:
        cost = file["cost"][: asked.first]
    parts = [
        greedy_over_views(
            config, policy, to_batch(instances[i : i + AT_A_TIME], device), config.guard
        )
        for i in range(0, len(instances), AT_A_TIME)
    ]
    fails, lengths = (torch.cat(part, dim=1).cpu() for part in zip(*parts, strict=True))
    best = torch.where(fails, torch.inf, lengths).amin(0).double().numpy()
    solved = np.isfinite(best)
    scale = 100 if config.problem == "tsptw" else 1
    gap = 100 * (scale * best / cost - 1)[solved].mean()
    print(
        f"{asked.bed}, {len(instances)} instances: Sol. {100 * fails.float().mean():.2f} %  "
        f"Inst. {100 * (~solved).mean():.2f} %  length {best[solved].mean():.4f}  gap {gap:.3f} %"
    )


if __name__ == "__main__":
    main()
