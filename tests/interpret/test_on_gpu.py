"""Lists, evaluations, batches and labels on a GPU, which the emulation stands in for."""

import time
from functools import partial

import numpy as np
import pytest
from emulation import emulate

import fairway
from fairway.evaluate.solvers import SolverEval
from fairway.judge import Solution, verify
from fairway.problems.generate import generate
from fairway.scale.answers import answer_pieces
from fairway.scale.labels import labels, save
from fairway.scale.sources import Members
from fairway.search import side_by_side
from fairway.search.improve import improve
from fairway.solver import on_gpu
from fairway.solver.request import Request

NODES = 20


@pytest.fixture
def gpu(monkeypatch):
    numbers_of, search = side_by_side.numbers_of, side_by_side.search
    monkeypatch.setattr(side_by_side, "gpu_here", lambda: True)
    monkeypatch.setattr(side_by_side, "numbers_of", lambda some, device: numbers_of(some, "cpu"))
    monkeypatch.setattr(side_by_side, "search", partial(search, run=emulate))


def drawn(problem, hardness, count=2):
    return generate(problem, n=NODES, hardness=hardness, count=count, seed=4)


def test_a_mixed_list_is_answered_in_order(gpu):
    kinds = [("tsptw", "easy"), ("tspdl", "hard"), ("tsptw", "hard")]
    listed = [each for number in range(2) for kind in kinds for each in (drawn(*kind)[number],)]
    results = fairway.solve(listed, iterations=100, device="cuda", workers=1)
    for instance, result in zip(listed, results, strict=True):
        assert verify(instance, result.tour).cost == result.cost
    assert [result.method for result in results[:2]] == ["local search"] * 2
    assert results[2].status == "optimal"  # narrow windows are proved on the cores
    again = fairway.solve(listed, iterations=100, device="cuda", workers=1)
    assert [result.tour for result in again] == [result.tour for result in results]


@pytest.mark.parametrize("kind", [("tsptw", "easy"), ("tspdl", "hard")])
def test_an_answer_is_no_worse_than_the_plan(gpu, kind):
    listed = list(drawn(*kind))
    best = fairway.solve(listed, iterations=2_000, workers=1)
    results = fairway.solve(
        listed, iterations=1, device="cuda", initial=[best[0].tour, None], workers=1
    )
    assert results[0].cost <= best[0].cost
    assert results[1].status == "feasible"


@pytest.mark.parametrize("kind", [("tsptw", "easy"), ("tspdl", "hard")])
def test_judging_and_bounds_are_within_the_seconds(gpu, monkeypatch, kind):
    problem, hardness = kind
    listed = list(generate(problem, n=100, hardness=hardness, count=150, seed=4))
    tours = np.array([improve(each, iterations=1).tour for each in listed])
    asked = []

    def at_once(some, seconds, *_):
        asked.append(seconds)
        return side_by_side.Found(tours, np.ones(len(some), bool), 1, 1)

    monkeypatch.setattr(on_gpu, "tours_on_gpu", at_once)
    began = time.perf_counter()
    results = fairway.solve(listed, seconds=0.2, device="cuda", workers=1)
    assert time.perf_counter() - began < 0.7  # all bounds alone would take longer
    assert 0 < sum(asked) < 0.2
    assert [result.tour for result in results] == [*map(tuple, tours.tolist())]
    assert any(result.lower_bound > 0 for result in results)


def test_without_a_gpu_the_cores_go_on(capsys):
    listed = list(drawn("tspdl", "hard"))
    results = fairway.solve(listed, iterations=10, device="cuda", workers=1)
    assert all(result.tour is not None for result in results)
    if not side_by_side.gpu_here():
        assert "no GPU" in capsys.readouterr().err


def test_an_evaluation_is_of_the_whole_set(gpu):
    instances = drawn("tsptw", "easy", 3)
    config = SolverEval(solver="local-search", seconds=0.3, device="cuda")
    with config.opened(instances) as method:
        proposals = list(method.run(instances, 0))
    assert method.device == "cuda"
    for instance, proposal in zip(instances, proposals, strict=True):
        assert isinstance(verify(instance, proposal.tours[0]), Solution)


@pytest.mark.parametrize("kind", [("tsptw", "easy"), ("tspdl", "hard"), ("tsptw", "hard")])
def test_a_batch_has_the_answers_of_a_set(gpu, kind):
    request = Request(iterations=50, device="cuda", relax="none")
    answers = answer_pieces([Members(drawn(*kind, 3))], 0, request)
    assert len(answers.lines) == 3
    assert answers.statuses["unknown"] == 0


def test_labels_are_instances_with_tours_of_their_cost(gpu, tmp_path):
    save(list(labels(f"tspdl:hard:{NODES}", 3, 0.2, device="cuda")), tmp_path)
    instances = fairway.read(tmp_path / "instances.npz")
    with np.load(tmp_path / "tours.npz") as file:
        assert len(instances) == len(file["tour"]) == 3
        for instance, tour, cost in zip(instances, file["tour"], file["cost"], strict=True):
            assert verify(instance, tour).cost == cost
