"""Batched local search on a GPU: gaps to reference costs against seconds, for all instances of each test set together.

    python -m benchmarks.gpu gaps --references FOLDER --seconds 10 30 60 -- tsptw100-easy tspdl100-hard
    python -m benchmarks.gpu solve --references FOLDER --seconds 60 -- tsptw100-easy
    python -m benchmarks.gpu cores --references FOLDER --seconds 0.1 1 --limit 1600 --workers 16 -- tsptw100-easy
    python -m benchmarks.gpu rates tsptw100-easy
    python -m benchmarks.gpu check tsptw50-easy tspdl100-hard

`gaps` counts everything from the instances in memory to judged tours, `solve` is `fairway.solve` with its results, and
`cores` the same without a GPU, with so many seconds per instance. FOLDER holds `lkh-BED.npz` files with an array
`cost`. `rates` are rounds per second by how many blocks share a multiprocessor; `check`
compares the decisions of the GPU with those of the emulation.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import fairway
from fairway.evaluate.references import load_references
from fairway.judge.many import verify_many
from fairway.problems.beds import load_bed
from fairway.search.side_by_side import Effort, numbers_of, search


def reference_costs(bed, folder):
    path = None if folder is None else folder / f"lkh-{bed}.npz"
    if path is not None and path.exists():
        with np.load(path) as file:
            return np.where(file["infeasible"], np.nan, file["cost"])
    return load_references(bed).cost


def gaps(args):
    print(
        f"{'bed':18}{'count':>7}{'asked s':>9}{'total s':>9}{'prepare s':>10}{'rounds':>10}{'per inst.':>10}"
        f"{'gap %':>9}{'median':>8}{'worst':>8}{'none':>6}"
    )
    tuned = {}
    for bed in args.beds:
        instances = load_bed(bed)
        instances = instances[: args.limit] if args.limit else instances
        known = reference_costs(bed, args.references)[: len(instances)]
        numbers = numbers_of(instances[:64], args.device)
        search(numbers, Effort(rounds=8, walkers=1), 0)  # compiles
        variant = numbers.variant
        if args.tune and variant.slots not in tuned:
            tuned[variant.slots] = fastest(numbers_of(instances, args.device), bed).blocks
        variant = replace(variant, blocks=tuned.get(variant.slots, variant.blocks))
        for seconds in args.seconds:
            began = time.perf_counter()
            numbers = replace(numbers_of(instances, args.device), variant=variant)
            torch.cuda.synchronize()
            prepared = time.perf_counter() - began
            found = search(numbers, Effort(seconds - prepared, walkers=args.walkers), args.seed)
            accepted, costs, _ = verify_many(instances, found.tours)
            costs = np.where(accepted & found.there, costs, np.nan)
            spent = time.perf_counter() - began
            gap = 100 * (costs / known - 1)
            print(
                f"{bed:18}{len(instances):7}{seconds:9.1f}{spent:9.2f}{prepared:10.2f}{found.rounds:10}{found.walkers:10}"
                f"{np.nanmean(gap):9.4f}{np.nanmedian(gap):8.3f}{np.nanmax(gap):8.2f}{np.isnan(costs).sum():6}",
                flush=True,
            )
            del numbers


def solved(args):
    """What `fairway.solve` makes of whole lists, on the GPU or on cores."""
    print(
        f"{'bed':18}{'count':>7}{'asked s':>9}{'total s':>9}{'gap %':>9}{'worst':>8}{'none':>6}{'proved':>8}"
        f"{'reported %':>12}"
    )
    how = {"device": "cuda"} if args.what == "solve" else {"workers": args.workers}
    for bed in args.beds:
        instances = load_bed(bed)
        instances = instances[: args.limit] if args.limit else instances
        known = reference_costs(bed, args.references)[: len(instances)]
        fairway.solve(list(instances[:8]), seconds=0.1, **how)  # compiles
        for seconds in args.seconds:
            began = time.perf_counter()
            results = fairway.solve(instances, seconds=seconds, seed=args.seed, **how)
            spent = time.perf_counter() - began
            costs = np.array([result.cost for result in results])
            gap = 100 * (np.where(np.isfinite(costs), costs, np.nan) / known - 1)
            proved = sum(result.status == "optimal" for result in results)
            reported = 100 * np.mean([min(result.gap, 10.0) for result in results])
            print(
                f"{bed:18}{len(results):7}{seconds:9.1f}{spent:9.2f}{np.nanmean(gap):9.4f}{np.nanmax(gap):8.2f}"
                f"{np.isinf(costs).sum():6}{proved:8}{reported:12.2f}",
                flush=True,
            )


def rate(numbers, rounds):
    torch.cuda.synchronize()
    began = time.perf_counter()
    search(numbers, Effort(rounds=rounds, walkers=1), 0)
    return rounds * len(numbers) / (time.perf_counter() - began)


def rates(args):
    for bed in args.beds:
        fastest(numbers_of(load_bed(bed), args.device), bed)


def fastest(numbers, bed):
    """The variant with the most rounds per second."""
    best = 0.0, numbers.variant
    for blocks in (3, 4, 5, 6, 8):
        variant = replace(numbers.variant, blocks=blocks)
        tried = replace(numbers, variant=variant)
        rate(tried, 2)  # compiles
        found = rate(tried, 200)
        print(f"{bed} {blocks} blocks: {found / 1e6:.2f} million rounds per second", flush=True)
        best = max(best, (found, variant), key=lambda pair: pair[0])
    return best[1]


def check(args):
    """Whether the GPU decides as the emulation does, round for round."""
    from tests.interpret.emulation import emulate

    for bed in args.beds:
        instances, effort = load_bed(bed)[:8], Effort(rounds=100, walkers=3)
        here = search(numbers_of(instances, "cpu"), effort, run=emulate)
        there = search(numbers_of(instances, args.device), effort)
        again = search(numbers_of(instances, args.device), effort)
        equal = np.array_equal(here.tours, there.tours), np.array_equal(again.tours, there.tours)
        print(f"{bed}: equal to the emulation {equal[0]}, equal to itself {equal[1]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("gaps", "solve", "cores", "rates", "check"))
    parser.add_argument("beds", nargs="+")
    parser.add_argument("--seconds", type=float, nargs="+", default=[10.0, 30.0, 60.0])
    parser.add_argument("--references", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--tune", action="store_true", help="choose the fastest variant first")
    parser.add_argument("--walkers", type=int)
    parser.add_argument("--workers", type=int, help="processes of `cores`")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    verbs = {"gaps": gaps, "solve": solved, "cores": solved, "rates": rates, "check": check}
    verbs[args.what](args)


if __name__ == "__main__":
    main()
