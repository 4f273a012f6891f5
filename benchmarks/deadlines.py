"""`python -m benchmarks.deadlines`: whether `solve` keeps its budget in a warm process on a busy machine.

Processes that never rest run beside it. Instances of both problems are drawn, and each run is one of them with one
budget, without a policy and with the one that ships, by turns. A run is within where it is late by no more than 0.2 s
or a tenth of its budget. The largest instances are left out where the budget is below a second.
"""

import argparse
import faulthandler
import itertools
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from fairway import generate, solve
from fairway.problems.instance import Instance
from fairway.solver.warmup import warm_up_all

KINDS = (("tsptw", "medium"), ("tsptw", "hard"), ("tspdl", "hard"))
LATE, SHARE = 0.2, 0.1
"""Seconds, and the part of the budget, by which a run may be late."""
LARGE, ENOUGH = 1_000, 1.0
"""Instances with more nodes than this are solved with at least so many seconds."""


def busy() -> None:
    """Never rest."""
    while True:
        pass


@contextmanager
def beside(count: int) -> Iterator[None]:
    """So many processes that never rest, for as long as this is entered."""
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=busy, daemon=True) for _ in range(count)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.join()


def drawn(nodes: int, number: int) -> Instance:
    """One instance of this size, of each kind by turns."""
    problem, hardness = KINDS[number % len(KINDS)]
    return generate(problem, n=nodes, hardness=hardness, count=1, seed=number)[0]


def taken(instance: Instance, seconds: float, guided: bool) -> float:
    """What a run takes."""
    policy = f"general-{instance.problem}" if guided else None
    said = f"{instance.problem}, {instance.nodes} nodes, {seconds:g} s, {policy}"
    return spent(said, seconds, lambda: solve(instance, seconds=seconds, policy=policy))


def spent(said: str, seconds: float, run: Callable[[], object]) -> float:
    """What a run takes by the clock on the wall, all that the caller waits for included.

    Of a late one, stderr has what it was at when it became so, and how much of its time it had a core.
    """
    late = seconds + allowed(seconds)
    began, worked = time.monotonic(), time.process_time()
    faulthandler.dump_traceback_later(late)
    run()
    faulthandler.cancel_dump_traceback_later()
    span, worked = time.monotonic() - began, time.process_time() - worked
    if span > late:
        print(f"{said}: took {span:.3f} s, of the CPU {worked:.3f} s", file=sys.stderr, flush=True)
    return span


def allowed(seconds: float) -> float:
    """By how much a run may be late."""
    return max(LATE, SHARE * seconds)


def row(spans: np.ndarray, seconds: float) -> tuple[str, ...]:
    """How many were within, how late the worst two were, and whether any took twice its budget."""
    late = spans - seconds
    within = (late <= allowed(seconds)).mean()
    last = np.sort(late)[-2:] if len(late) > 1 else np.repeat(late, 2)
    twice = int((spans > 2 * seconds).sum())
    return f"{100 * within:.1f} %", f"{last[1]:+.3f} s", f"{last[0]:+.3f} s", str(twice)


def main() -> None:
    """One row for each size and budget."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deadlines", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="of each budget, over all sizes")
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.1, 1.0, 5.0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[50, 200, 500, 1000, 2000])
    parser.add_argument("--busy", type=int, default=4, help="processes beside it")
    asked = parser.parse_args()
    warm_up_all()
    columns = ("seconds given", "nodes", "policy", "runs", "within", "latest", "next", "twice")
    table = Table(*columns, box=box.MARKDOWN)
    with beside(asked.busy):
        for seconds in asked.seconds:
            sizes = [n for n in asked.nodes if n <= LARGE or seconds >= ENOUGH]
            cases = list(itertools.product(sizes, (False, True)))
            each = -(-asked.runs // len(cases))
            found = []
            for nodes, guided in cases:
                spans = np.array(
                    [taken(drawn(nodes, number), seconds, guided) for number in range(each)]
                )
                said = "general" if guided else "none"
                table.add_row(f"{seconds:g}", str(nodes), said, str(each), *row(spans, seconds))
                found.append(spans)
            whole = np.concatenate(found)
            table.add_row(
                f"{seconds:g}", "all", "both", str(len(whole)), *row(whole, seconds),
                end_section=True,
            )  # fmt: skip
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
