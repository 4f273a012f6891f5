"""Ray with several nodes on one machine: nodes come and go, workers are killed, and nothing is lost or done twice."""

import os
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import ray
import tasks

import fairway
from fairway.errors import InvalidRequest
from fairway.evaluate.methods import PolicyEval
from fairway.evaluate.solvers import SolverEval
from fairway.scale import driver
from fairway.scale.batch import Batch, run
from fairway.scale.engine import Engine
from fairway.scale.executor import Lost
from fairway.scale.ray_pool import RayPool
from fairway.scale.results import Folder, files_of, records
from fairway.scale.sources import Named
from fairway.solver.request import Request

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own warnings
RAY = Engine("ray")


@pytest.fixture(scope="module")
def cluster():
    """A head without cores and two nodes with one each; this process is connected to it."""
    from ray.cluster_utils import Cluster

    before = os.environ.get("PYTHONPATH")
    ours = (Path(tasks.__file__).parent, Path(fairway.__file__).parents[1], before)
    os.environ["PYTHONPATH"] = os.pathsep.join(str(path) for path in ours if path)
    head = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    os.environ["PYTHONPATH"] = before or ""


def contents(folder):
    return {path.name: path.read_bytes() for path in files_of(folder)}


def test_nodes_and_workers_come_and_go_and_every_instance_is_answered_once(
    cluster, workers, tmp_path, monkeypatch
):
    named, quick = [Named("tsptw:hard:20", 1_000, 7)], Request(relax="none")
    list(run(Batch(named, quick, Folder(tmp_path / "known"), 50), workers))
    shaky = partial(tasks.shaky, folder=tmp_path, fatal=(555, 811))
    monkeypatch.setattr(driver, "answer_pieces", shaky)
    added = removed = None
    for progress in run(Batch(named, quick, Folder(tmp_path / "out"), 50), RAY):
        if progress.done >= 150 and added is None:
            added = cluster.add_node(num_cpus=1)
        if progress.done >= 400 and removed is None:
            removed = cluster.remove_node(added, allow_graceful=False) or True
    assert (progress.done, progress.set_aside, removed) == (1_000, [], True)
    assert {path.name for path in tmp_path.iterdir()} == {"known", "out", "555", "811"}
    assert contents(tmp_path / "out") == contents(tmp_path / "known")
    found = [record["index"] for path in files_of(tmp_path / "out") for record in records(path)]
    assert found == list(range(1_000))


@pytest.mark.soak
def test_a_lost_actor_takes_one_task_with_it_and_no_more(cluster, tmp_path):
    doomed = partial(tasks.die_once, tmp_path / "mark")
    with RayPool(workers=1) as pool:
        tickets = [pool.submit(doomed), pool.submit(partial(tasks.double, 4))]
        found = {}
        while len(found) < 2:
            found.update(pool.collect(1.0))
    assert isinstance(found[tickets[0]], Lost)
    assert found[tickets[1]] == 8


def tours(config, instances):
    with config.opened(instances) as method:
        return [proposal.tours for proposal in method.run(instances, 0)]


@pytest.mark.parametrize(
    "kind", [pytest.param("fairway", marks=pytest.mark.soak), "exact", "policy"]
)
def test_evaluations_on_ray_give_the_tours_of_this_machine(cluster, kind):
    instances = fairway.generate("tsptw", n=12, count=12, seed=4)
    if kind == "policy":
        ours, theirs = (
            PolicyEval(policy=Path("general-tsptw"), together=5, device="cpu", engine=engine)
            for engine in (None, RAY)
        )
    else:
        ours, theirs = (SolverEval(solver=kind, workers=1, engine=engine) for engine in (None, RAY))
    for here, there in zip(tours(ours, instances), tours(theirs, instances), strict=True):
        assert np.array_equal(here, there)


def test_gpus_that_this_machine_has_not_are_refused_and_not_waited_for(monkeypatch):
    ended = []
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", lambda **_: None)
    monkeypatch.setattr("ray.shutdown", lambda: ended.append(True))
    monkeypatch.setattr("ray.cluster_resources", lambda: {"CPU": 2.0})
    with pytest.raises(InvalidRequest, match="and this machine has 0; leave"):
        Engine("ray", gpus_per_task=0.5).opened()
    assert ended


@pytest.mark.parametrize("kind", [ConnectionError, Exception])
@pytest.mark.parametrize(("address", "where"), [("auto", "at 'auto'"), (None, "on this machine")])
def test_a_ray_that_does_not_start_or_answer_is_told_in_a_sentence(
    monkeypatch, kind, address, where
):
    def unreachable(**_):
        raise kind("Could not find any running Ray instance.\nmore")

    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", unreachable)
    said = re.escape(f"cannot be reached {where} (Could not find any running Ray instance.)")
    with pytest.raises(InvalidRequest, match=said):
        RayPool(address=address)
