import pytest
import torch

from fairway.policies.heatmap import neighbours
from fairway.problems.batch import to_batch
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.problems.instance import TSPDL, TSPTW
from fairway.problems.sets import instance_set


def drawn(problem, hardness, nodes, count=3):
    return draw(DISTRIBUTIONS[problem, hardness], nodes, count, torch.Generator().manual_seed(4))


def distance(batch, b, i, j):
    places = batch.geometry.coordinates[b]
    return float((places[i] - places[j]).square().sum().sqrt())


def by_overlap(batch, b, i):
    """The stops by how long both windows are open, one pair at a time."""

    def overlap(j):
        ends = min(float(batch.latest[b, i]), float(batch.latest[b, j]))
        return ends - max(float(batch.earliest[b, i]), float(batch.earliest[b, j]))

    stops = [j for j in range(1, batch.latest.shape[1]) if j != i]
    if i == 0:
        return sorted(stops, key=lambda j: (float(batch.earliest[b, j]), distance(batch, b, i, j)))
    return sorted(stops, key=lambda j: (-overlap(j), distance(batch, b, i, j)))


def by_draft(batch, b, i):
    draft = batch.latest[b].tolist()
    stops = [j for j in range(1, len(draft)) if j != i]
    wanted = 0.0 if i == 0 else draft[i]
    return sorted(stops, key=lambda j: (abs(draft[j] - wanted), distance(batch, b, i, j)))


@pytest.mark.parametrize("hardness", ["easy", "medium", "hard"])
def test_stops_know_those_whose_windows_overlap_most_and_the_depot_those_that_open_first(hardness):
    batch = drawn("tsptw", hardness, 23)
    found = neighbours(batch, "limits", 5)
    assert found.shape == (3, 23, 4)
    for b in range(3):
        for i in range(23):
            assert found[b, i].tolist() == by_overlap(batch, b, i)[:4]


def test_ports_know_those_of_like_draft_and_the_depot_those_of_the_lowest():
    batch = drawn("tspdl", "medium", 20)
    found = neighbours(batch, "limits", 5)
    for b in range(3):
        for i in range(20):
            assert found[b, i].tolist() == by_draft(batch, b, i)[:4]


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_the_union_adds_the_nearest_of_the_rest(problem):
    batch = drawn(problem, "medium", 21)
    limits, union = neighbours(batch, "limits", 5), neighbours(batch, "union", 5)
    assert torch.equal(union[..., :4], limits)
    for b in range(3):
        for i in range(21):
            rest = set(range(1, 21)) - {i} - set(limits[b, i].tolist())
            nearest = sorted(rest, key=lambda j, b=b, i=i: distance(batch, b, i, j))
            assert union[b, i, 4:].tolist() == nearest[:4]


@pytest.mark.parametrize("nodes", [3, 4, 5, 6, 11])
@pytest.mark.parametrize("graph", ["union", "limits"])
def test_no_edge_stands_twice_and_none_leads_to_the_depot_or_nowhere(nodes, graph):
    found = neighbours(drawn("tsptw", "hard", nodes), graph, 5)
    assert found.shape[-1] >= 1
    for b in range(3):
        for i in range(nodes):
            row = found[b, i].tolist()
            assert len(set(row)) == len(row)
            assert not {0, i} & set(row)


def test_distance_is_that_of_the_way_there_where_the_ways_differ():
    travel = [[0, 1, 1, 1], [9, 0, 8, 2], [9, 1, 0, 5], [9, 7, 3, 0]]
    drafts = TSPDL(travel, [0, 1, 1, 1], [3, 3, 3, 3])
    windows = TSPTW(travel, 0, 99)
    for instance in (drafts, windows):
        found = neighbours(to_batch(instance_set([instance])), "limits", 5)
        assert found[0, 1:, 0].tolist() == [3, 1, 2]
