"""A policy that ranks the labels of the exact search."""

import brute
import numpy as np
import pytest
import torch

from fairway.inference.guide import WORTH, PolicyGuide
from fairway.inference.model import Model
from fairway.kernels.lookahead import Guard
from fairway.policies.attention import Policy
from fairway.policies.config import PolicyConfig
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.sets import instance_set
from fairway.search.decode import scoring, watch
from fairway.search.exact import beam, prove
from fairway.search.rollout import rollout


@pytest.fixture
def model():
    torch.manual_seed(4)
    policy = Policy(PolicyConfig(layers=1, width=32, heads=2, hidden=16)).eval()
    return Model(policy.requires_grad_(False), "small", "tsptw", Guard(), {})


class Watched(PolicyGuide):
    """Notes what it says of whole tours."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seen = []

    def rank(self, parents, labels, parent):
        ranks = super().rank(parents, labels, parent)
        self.seen.append((parents, labels, parent.copy(), ranks))
        return ranks


def test_with_room_for_all_labels_it_is_exact(rng, model):
    for _ in range(15):
        instance = brute.windows(rng, 6)
        found = beam(instance, 10_000, rank=PolicyGuide(model, instance_set([instance])))
        expected = prove(instance)
        assert (found.status, found.cost) == (expected.status, pytest.approx(expected.cost))


def test_labels_are_as_likely_as_the_policy_finds_their_tours(model):
    """Along the best tour, the guide adds up the log-probabilities of its stops."""
    compared = 0
    instances = generate("tsptw", n=9, hardness="easy", count=6, seed=2)
    for one in (instances[index : index + 1] for index in range(6)):
        guide = Watched(model, one)
        tour = beam(one[0], 10_000, rank=guide).tour
        likely = followed(guide.seen, tour)
        if likely is not None:
            expected = log_probability(model, one, tour)
            assert likely == pytest.approx(expected, rel=1e-3, abs=1e-3)
            compared += 1
    assert compared > 2


def log_probability(model, one, tour):
    batch, total, stops = to_batch(one), 0.0, iter(tour)

    def forced(scores):
        nonlocal total
        stop = next(stops)
        total += float(scores.log_softmax(-1)[0, 0, stop])
        return torch.tensor([[stop]])

    score = scoring(batch, model.policy(batch))
    rollout(batch, look=watch(batch, Guard(), None), score=score, select=forced)
    return total


def followed(seen, tour):
    """What the guide holds of the labels that visit the stops of a tour in order, or None where they were dropped."""
    row = 0
    likely = None
    for depth, (_, labels, parent, ranks) in enumerate(seen):
        mine = np.flatnonzero((parent == row) & (labels.last == tour[depth]))
        if len(mine) != 1:
            return None
        likely = float(labels.bound[mine[0]] - ranks[mine[0]]) / (WORTH * 100)
        row = mine[0]  # nothing is cut at this width, so rows stay where they are
    return likely
