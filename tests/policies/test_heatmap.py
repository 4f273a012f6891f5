from dataclasses import replace
from math import log

import pytest
import torch

from fairway.errors import InvalidRequest
from fairway.policies.config import HeatmapConfig
from fairway.policies.features import features
from fairway.policies.heatmap import FAINT, HeatmapNetwork, neighbours
from fairway.problems.batch import take
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS

SMALL = HeatmapConfig(layers=3, width=8)


def drawn(problem="tsptw", nodes=12, count=2):
    return draw(DISTRIBUTIONS[problem, "medium"], nodes, count, torch.Generator().manual_seed(1))


def network(config=SMALL, seed=0):
    torch.manual_seed(seed)
    made = HeatmapNetwork(config)
    with torch.no_grad():  # statistics that would show if they were left out
        for name, buffer in made.named_buffers():
            buffer.uniform_(0.5, 1.5) if name.endswith("var") else buffer.normal_()
    return made


def normalised(norm, rows):
    """Batch normalisation written out, over all rows in training and by the running statistics otherwise."""
    mean, variance = norm.running_mean, norm.running_var
    if norm.training:
        mean, variance = rows.mean(0), rows.var(0, unbiased=False)
    return (rows - mean) / (variance + 1e-5).sqrt() * norm.weight + norm.bias


def by_lists_of_edges(net, batch):
    """The authors' network as they write it: a list of edges of all graphs, and sums over it, edge by edge."""
    instances, nodes = batch.latest.shape
    to = neighbours(batch, net.config.graph, net.config.share)
    edges = [(b, i, j) for b in range(instances) for i in range(nodes) for j in to[b, i].tolist()]
    tails = [b * nodes + i for b, i, _ in edges]
    heads = [b * nodes + j for b, _, j in edges]
    places = batch.geometry.coordinates
    ways = torch.stack([(places[b, i] - places[b, j]).square().sum().sqrt() for b, i, j in edges])
    silu = torch.nn.functional.silu
    x = silu(net.embed_nodes(features(batch).flatten(0, 1)))
    w = silu(net.embed_edges(ways[:, None]))
    for layer in net.layers:
        messages = torch.sigmoid(w) * layer.heard(x)[heads]
        sums, counts = torch.zeros_like(x), torch.zeros(len(x), 1)
        for tail, message in zip(tails, messages, strict=True):
            sums[tail] += message
            counts[tail] += 1
        told = layer.edge(w) + layer.tail(x)[tails] + layer.head(x)[heads]
        x = x + silu(normalised(layer.node_norm, layer.own(x) + sums / counts))
        w = w + silu(normalised(layer.edge_norm, told))
    eta = torch.full((instances, nodes, nodes), FAINT)
    embedded = torch.zeros(instances, nodes, nodes, net.config.width)
    for (b, i, j), edge in zip(edges, w, strict=True):
        eta[b, i, j] = torch.sigmoid(net.heuristic(edge)).item() + FAINT
        embedded[b, i, j] = edge
    return eta, net.flow(w).unflatten(0, (instances, -1)).mean(1), embedded


@pytest.mark.parametrize("graph", ["union", "limits"])
@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("training", [True, False])
def test_dense_gathers_are_the_network_over_lists_of_edges(graph, problem, training):
    net, batch = network(replace(SMALL, graph=graph)).train(training), drawn(problem)
    with torch.no_grad():
        eta, log_z, _ = by_lists_of_edges(net, batch)
        heatmap = net(batch)
    assert torch.allclose(heatmap.log_heuristic().exp(), eta, rtol=1e-4, atol=1e-12)
    assert torch.allclose(heatmap.log_z, log_z, atol=1e-5)


def test_every_pair_without_an_edge_is_faint_and_every_edge_is_more():
    heatmap = network()(drawn())
    logs = heatmap.log_heuristic()
    on_edges = torch.zeros_like(logs, dtype=torch.bool).scatter(-1, heatmap.neighbours, True)
    assert (logs[~on_edges] == torch.tensor(log(FAINT))).all()
    assert (logs[on_edges] > log(FAINT)).all()
    assert (logs <= 0).all()


def test_an_edge_that_is_worth_nothing_is_faint_and_still_teaches():
    net = network()
    with torch.no_grad():
        net.heuristic[-1].bias.fill_(-200.0)
    glow = net(drawn()).glow
    assert glow.detach().allclose(torch.full_like(glow, log(FAINT)))
    glow.sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in net.parameters())


def test_instances_do_not_depend_on_their_company_once_trained():
    net, batch = network().eval(), drawn(count=3)
    together, alone = net(batch).log_heuristic(), net(take(batch, slice(1, 2))).log_heuristic()
    assert torch.allclose(together[1:2], alone, atol=1e-5)


def test_the_papers_network_has_the_papers_size():
    """Twelve layers of 32 units: per layer five linear maps and two norms, then the two heads."""
    net = HeatmapNetwork(HeatmapConfig(foresight=True))
    linear = 32 * 32 + 32
    body = (4 * 32 + 32) + (32 + 32) + 12 * (5 * linear + 2 * 64)
    heuristic, flow = 2 * linear + 33, linear + 2 * 33
    head = (65 * 32 + 32) + 2 * linear + 33
    assert sum(p.numel() for p in net.parameters()) == body + heuristic + flow + head


def test_the_head_reads_the_last_edge_the_candidates_edge_and_the_level():
    net, batch = network(replace(SMALL, foresight=True)).eval(), drawn()
    with torch.no_grad():
        heatmap = net(batch)
        _, _, embedded = by_lists_of_edges(net, batch)
        before = torch.tensor([[0, 3, 0, 7], [0, 2, 0, 5]])
        here = torch.tensor([[0, 5, int(heatmap.neighbours[0, 0, 0]), 1], [0, 4, 9, 11]])
        resource = torch.tensor([[0.0, 1.5, 2.0, 3.0], [0.0, 0.3, 4.0, 2.5]])
        found = net.forecast(heatmap, batch)(before, here, resource)
        for b in range(2):
            for s in range(4):
                last = embedded[b, before[b, s], here[b, s]]
                share = (resource[b, s] / batch.latest[b, 0])[None]
                for j in range(12):
                    read = torch.cat([last, embedded[b, here[b, s], j], share])
                    expected = net.foresight(net.foresight.join(read))
                    assert float(found[b, s, j]) == pytest.approx(float(expected), abs=1e-5)


def test_a_network_of_nothing_is_refused():
    with pytest.raises(InvalidRequest, match="expected 1 or more"):
        HeatmapConfig(share=0)
