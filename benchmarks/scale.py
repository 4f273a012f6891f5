"""`python -m benchmarks.scale kills | nodes | overhead`: what batches promise, in full; `make soak` runs all three.

kills: a batch is killed with -9 at even intervals and run again each time; its files must be, byte for byte, those of
an uninterrupted run of a part. Tells the time, the rate and the peak memory of all processes together.
nodes: Ray with nodes that come and go and workers killed at random: every instance must be answered exactly once.
overhead: the same batch on local processes and on Ray, in turn, the start apart: rates, and the CPU time per instance
of all processes together, Ray's own included; medians of pairs, of which every other one begins with Ray. With
`--count 480000 --chunk 60000` parts are of 1.2 s and more.
"""

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fairway.scale.results import files_of, records

LAW, SEED = "tsptw:hard:50", 7
LOOK = 0.2
"""Seconds between two looks at a run."""


def started(out: Path, count: int, *words: str) -> subprocess.Popen:
    command = ["batch", LAW, "--count", count, "--seed", SEED, "--out", out, *words]
    return subprocess.Popen([sys.executable, "-m", "fairway", *map(str, command)])


def family(pid: int) -> Iterator[int]:
    """A process and all that it has started."""
    yield pid
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, check=False
    )
    for child in found.stdout.split():
        yield from family(int(child))


def memory(pid: int) -> int:
    """Bytes of a process and all that it has started, what they share counted once."""
    total = 0
    for each in family(pid):
        try:
            text = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(
            1024 * int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:"
        )
    return total


def watched(process: subprocess.Popen, out: Path, files: float) -> int:
    """The peak memory of a run, which is killed once it has left so many files."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        if len(list(out.glob("*.zst"))) >= files:
            process.kill()
            process.wait()
            break
        time.sleep(LOOK)
    return peak


def kills(count: int, part: int, chunk: int, times: int, folder: Path) -> None:
    whole, some = folder / "whole", folder / "part"
    total, began, peak = -(-count // chunk), time.monotonic(), 0
    for kill in range(1, times + 1):
        process = started(whole, count, "--chunk", str(chunk))
        peak = max(peak, watched(process, whole, total * kill / (times + 1)))
        done = len(files_of(whole))
        print(
            f"killed with {done} of {total} files, after {time.monotonic() - began:.0f} s",
            flush=True,
        )
        assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"
    process = started(whole, count, "--chunk", str(chunk))
    peak = max(peak, watched(process, whole, float("inf")))
    spent = time.monotonic() - began
    assert process.returncode == 0
    print(
        f"{count:,} instances in {spent:.0f} s with {times} kills: {count / spent:,.0f} per second",
        flush=True,
    )
    print(f"peak memory of all processes: {peak / 2**20:,.0f} MB")
    assert started(some, part, "--chunk", str(chunk)).wait() == 0
    for path in files_of(some):
        assert (whole / path.name).read_bytes() == path.read_bytes(), path.name
    print(f"{len(files_of(some))} files of an uninterrupted run of {part:,}: the same bytes")
    check_once(whole, count)


def check_once(out: Path, count: int) -> None:
    """That the files hold every instance once, in order."""
    following = 0
    for path in files_of(out):
        for record in records(path):
            assert record["index"] == following
            following += 1
    assert following == count, following
    print(f"every one of {count:,} instances answered exactly once")


def actors(nodes: list) -> Iterator[int]:
    """The processes of our own nodes that are at a task."""
    for node in nodes:
        for process in node.all_processes["raylet"]:
            for pid in family(process.process.pid):
                with suppress(OSError):
                    if b"_Remote.answer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                        yield pid


def nodes(count: int, chunk: int, folder: Path) -> None:
    """Two nodes to begin with; one is added and removed again and again, and workers are killed at random."""
    import ray
    from ray.cluster_utils import Cluster

    from fairway.scale.batch import Batch, run
    from fairway.scale.engine import Engine
    from fairway.scale.results import Folder
    from fairway.scale.sources import Named
    from fairway.solver.request import Request

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    fixed, third = [cluster.add_node(num_cpus=1) for _ in range(2)], None
    ray.init(address=cluster.address, log_to_driver=False)
    asked = Batch([Named(LAW, count, SEED)], Request(relax="none"), Folder(folder / "nodes"), chunk)
    rng, killed, changes, done = random.Random(1), 0, 0, 0
    for progress in run(asked, Engine("ray")):
        if progress.done == done:
            continue
        done = progress.done
        if rng.random() < 0.2:
            gone = None if third is None else cluster.remove_node(third, allow_graceful=False)
            third = cluster.add_node(num_cpus=1) if third is None else gone
            changes += 1
        if rng.random() < 0.2 and (busy := [*actors(fixed)]):
            os.kill(rng.choice(busy), signal.SIGKILL)
            killed += 1
    print(f"{progress.done:,} instances with {changes} changes of nodes, {killed} workers killed")
    assert not progress.set_aside
    ray.shutdown()
    cluster.shutdown()
    check_once(folder / "nodes", count)


def spent(pid: int) -> float:
    """CPU seconds of a process and all that it has started and that is still there."""
    ticks = 0
    for each in family(pid):
        with suppress(OSError):
            words = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def pace(kind: str, count: int, chunk: int, folder: Path) -> tuple[float, float]:
    """Seconds by the clock and of the CPU that an instance takes on one kind of workers, from the second chunk on."""
    from fairway.scale.batch import Batch, run
    from fairway.scale.engine import Engine
    from fairway.scale.results import Folder
    from fairway.scale.sources import Named
    from fairway.solver.request import Request

    asked = Batch([Named(LAW, count, SEED)], Request(relax="none"), Folder(folder), chunk)
    marks = []
    # pyrefly: ignore[bad-argument-type]
    for progress in run(asked, Engine(kind, workers=2)):
        if progress.done == (count if marks else 2 * chunk) and len(marks) < 2:
            marks.append((progress.done, time.perf_counter(), spent(os.getpid())))
    (first, began, before), (last, ended, after) = marks
    return (ended - began) / (last - first), (after - before) / (last - first)


def overhead(count: int, chunk: int, pairs: int, folder: Path) -> None:
    """Rates and CPU time of local processes and of Ray, in turn, and how much more Ray takes."""
    assert count % chunk == 0, "all chunks are alike"
    assert count >= 4 * chunk, "there is something to measure beside the start"
    kinds, more = ["local", "ray"], []
    for turn in range(pairs):
        found = {}
        for kind in kinds:
            clock, cpu = found[kind] = pace(kind, count, chunk, folder / f"{kind}{turn}")
            print(
                f"{kind}: {1 / clock:,.0f} per second, {1e6 * cpu:.1f} us of CPU each", flush=True
            )
        columns = zip(found["ray"], found["local"], strict=True)
        more.append([100 * (theirs / ours - 1) for theirs, ours in columns])
        kinds.reverse()
    clock, cpu = (statistics.median(column) for column in zip(*more, strict=True))
    each = ", ".join(f"{least:.1f}" for least, _ in more)
    print(f"Ray takes {clock:.1f} % more time (pairs: {each}) and {cpu:.1f} % more CPU, medians")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["kills", "nodes", "overhead"])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--part", type=int, default=50_000)
    parser.add_argument("--chunk", type=int, default=5_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        if asked.what == "kills":
            kills(asked.count, asked.part, asked.chunk, asked.kills, folder)
        elif asked.what == "nodes":
            nodes(asked.count, asked.chunk, folder)
        else:
            overhead(asked.count, asked.chunk, asked.pairs, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
