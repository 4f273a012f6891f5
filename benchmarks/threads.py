"""`python -m benchmarks.threads [--threads N] [--rounds N] [BEDS...]`: one search by labels, shared among threads.

The first instance of each test set, a beam below a tour that is known; every answer must equal that of one thread.
Ratios are of medians, one thread and several by turns in one run; they say nothing where other work is going on.
"""

import argparse
import math
import statistics
import time
from dataclasses import replace

import fairway
from fairway.kernels.labels.bound import Bound, cheapest_legs
from fairway.kernels.labels.label_model import LabelModel, label_model_of
from fairway.kernels.labels.relaxed import Effort, ascended
from fairway.kernels.labels.run import Limits, run
from fairway.kernels.preprocessing import preprocess
from fairway.problems.beds import beds, load_bed
from fairway.problems.model import model_of

BEDS = ("tspdl100-medium", "tspdl100-hard", "tspdl50-medium", "tsptw100-medium", "tsptw100-easy")
WIDTHS = (1 << 15, 1 << 17)
SLACK = 1e-4
"""By what part of its cost labels may be dearer than the tour: it is found again."""


def prepared(bed: str) -> tuple[LabelModel, Bound, float]:
    """What is searched below which cost."""
    instance = load_bed(bed)[0]
    upper = (1 + SLACK) * fairway.solve(instance, seconds=2, workers=1).value
    model = model_of(instance)
    pruned = None if model.resource.by_set else preprocess(model)
    labels = label_model_of(model, pruned=pruned)
    effort = Effort(2, 5, 16, math.inf)
    return labels, ascended(labels, cheapest_legs(labels), upper, effort), upper


def main() -> None:
    """Print one row for each test set and width."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("beds", nargs="*", metavar="BEDS", help=", ".join(beds()))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    print(f"{'':18}{'labels kept':>14}{'one thread':>12}{asked.threads:>6} threads{'ratio':>8}")
    for bed in asked.beds or BEDS:
        labels, bound, upper = prepared(bed)
        for width in WIDTHS:
            limits = Limits(width, upper, 1 << 30, math.inf)
            spent, found = {1: [], asked.threads: []}, set()
            for _ in range(asked.rounds):
                for threads, times in spent.items():
                    began = time.perf_counter()
                    outcome = run(labels, bound, replace(limits, threads=threads))
                    times.append(time.perf_counter() - began)
                    found.add((outcome.open, outcome.cost, outcome.kept))
            if len(found) > 1:
                raise SystemExit(f"{bed}: threads change the answer: {found}")
            one, several = (statistics.median(times) for times in spent.values())
            kept = next(iter(found))[2]
            print(
                f"{bed:18}{kept:14,}{one:10.2f} s{several:12.2f} s{one / several:8.2f}", flush=True
            )


if __name__ == "__main__":
    main()
