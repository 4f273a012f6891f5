"""The exact look-ahead for draft limits: a port is allowed iff all the others can still be served after it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from fairway.kernels.lookahead.config import TOLERANCE, Mask
from fairway.problems.batch import Batch
from fairway.problems.problem import State


@dataclass(frozen=True, slots=True, eq=False)
class DueDateOrder:
    """The ports in order of their draft: the order in which they can be served if they can be served at all."""

    order: Int[Tensor, "B N"]
    rank: Int[Tensor, "B N"]
    """Where each port stands in that order."""
    demand: Float[Tensor, "B N"]
    draft: Float[Tensor, "B N"]


def due_date_order(batch: Batch) -> DueDateOrder:
    """Sort the ports of a batch once."""
    assert batch.gain is not None, "the exact mask is for loads"
    return in_due_order(batch.gain, batch.latest)


def in_due_order(demand: Float[Tensor, "B N"], limit: Float[Tensor, "B N"]) -> DueDateOrder:
    """The ports by their limits; the depot's draft is not checked, so it comes last."""
    draft = limit.clone()
    draft[:, 0] = torch.inf
    order = draft.argsort(dim=-1, stable=True)
    return DueDateOrder(
        order, order.argsort(dim=-1), demand.gather(-1, order), draft.gather(-1, order)
    )


def exact(known: DueDateOrder, state: State, tolerance: float = TOLERANCE) -> Mask:
    """What is known of each port: allowed iff it floats there and the rest can be served in order of draft.

    Serving the rest by draft, the load at port k is what is on board plus all of the rest up to k, plus the candidate's
    cargo where the candidate comes after k in that order (before k, it is among 'all up to k' already).
    """
    rank = known.rank[:, None, :].expand_as(state.unvisited)
    left = state.unvisited.gather(-1, known.order[:, None, :].expand_as(state.unvisited))
    demand = torch.where(left, known.demand[:, None, :], 0.0)
    load = state.resource[..., None] + demand.cumsum(-1)
    room = torch.where(left, known.draft[:, None, :] - load, torch.inf)
    resource = state.resource[..., None] + known.demand[:, None, :]
    before = _before(room)
    after = _before(room.flip(-1)).flip(-1)
    spare = torch.minimum(before - known.demand[:, None, :], after)
    slack = torch.minimum(spare, known.draft[:, None, :] - resource)
    slack, resource = slack.gather(-1, rank), resource.gather(-1, rank)
    return Mask(resource, resource + slack, state.unvisited & (slack >= -tolerance))


def _before(room: Float[Tensor, "B P N"]) -> Float[Tensor, "B P N"]:
    """The least room at any port earlier in the order."""
    first = torch.full_like(room[..., :1], torch.inf)
    return torch.cat([first, room[..., :-1].cummin(-1).values], dim=-1)
