"""On a GPU: whether steps recorded as CUDA graphs learn what plain calls learn, model by model.

    python -m benchmarks.recordings

Prints how far the losses of both are apart over some steps, and the gradients of the last, relative to the largest, and
ends with 1 where one is further than the tolerance. The learning rate is zero, so that rounding does not add up from
step to step, and matrix products are float32, since in bf16 rounding alone would differ as much.
"""

import sys
from dataclasses import replace
from unittest import mock

import torch

from fairway.recipes import recipe_named
from fairway.train.config import Foresight, Rate
from fairway.train.loop import Budget, train
from fairway.train.processes import DistContext
from fairway.train.recorded import Recordings
from fairway.train.run import begin

STEPS, TOLERANCE = 12, 2e-3
PLAN = Foresight(2, 3, 1, 1, trusted=0.0, tours=4)
"""Of a PIP-D head: online and offline within the steps."""
POLICY = {"batch": 32, "tours": 10, "half": False, "rate": Rate(0.0)}
HEADED = {"epoch": 64, "foresight": PLAN}
COLONY = {"batch": 4, "ants": 6, "epoch": 8, "epochs": 6, "rate": (0.0, 0.0)}
CASES = {
    "pomo-star-pip-tsptw50-hard": POLICY,
    "pomo-star-pip-d-tsptw50-hard": POLICY | HEADED,
    "am-star-pip-tsptw50-hard": POLICY | {"batch": 64, "tours": 1, "epoch": 256},
    "fairway-tspdl50-hard": POLICY,
    "general-tsptw": POLICY | {"mixture": (("hard", 50), ("easy", 30))},
    "gfacs-star-pip-tsptw50-medium": COLONY,
    "gfacs-star-pip-d-growing-tsptw50-medium": COLONY | {"foresight": PLAN},
}


def learnt(config, device="cuda"):
    """The loss of each step, and the gradient of the last."""
    run = begin(config, torch.device(device))
    budget = Budget(instances=STEPS * config.batch)
    losses = [record.figures["loss"] for record in train(run, budget, DistContext(), every=0)]
    gradients = [p.grad.flatten() for p in run.policy.parameters() if p.grad is not None]
    return torch.tensor(losses), torch.cat(gradients).cpu()


def main():
    worst = 0.0
    for name, changes in CASES.items():
        config = replace(recipe_named(name), **changes)
        recorded = learnt(config)
        with (
            mock.patch("fairway.train.runner.recorded", lambda work, *_: work),
            mock.patch.object(Recordings, "play", lambda _, kind, work, *given: work(*given)),
        ):
            plain = learnt(config)
        pairs = zip(recorded, plain, strict=True)
        apart = [float((a - b).abs().max() / b.abs().max()) for a, b in pairs]
        worst = max(worst, *apart)
        print(f"{name:42s} losses {apart[0]:.1e}  gradient {apart[1]:.1e}")
    return int(worst > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
