"""Side constraints: what the order, loads, several windows and closed ways leave of the candidates of a mask."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from fairway.kernels.lookahead.config import TOLERANCE, Mask, MaskFn
from fairway.kernels.lookahead.due_dates import exact, in_due_order
from fairway.problems.batch import Side, rows
from fairway.problems.problem import State, opened


def beside(look: MaskFn, side: Side) -> MaskFn:
    """The same mask without what breaks a side constraint now, or for a growing load ever after.

    A stop is visited after all that must come before it, and an order can always be completed. A growing load is exact
    as it is alone, since the order has been counted in where limits are due. A shrinking load is exact by a stop's own
    limit: to visit a stop sooner only helps those that are left. Signed loads and ways are looked at one step ahead.
    """
    due, grows = in_due_order(side.demand, side.due), bool(side.due.isfinite().any())

    def looked(state: State) -> Mask:
        mask = look(state)
        resource = opened(mask.resource, side.gaps[:, None])
        load = torch.where(state.unvisited, 0.0, side.demand[:, None]).sum(-1)
        allowed = mask.allowed & (resource <= mask.bound + TOLERANCE)
        allowed &= (
            _ready(side, state) & _bears(side, load) & side.ways[rows(state.node), state.node]
        )
        if grows:
            allowed &= exact(due, State(state.node, load, state.unvisited)).allowed
        return Mask(resource, mask.bound, allowed)

    return looked


def _ready(side: Side, state: State) -> Bool[Tensor, "B P N"]:
    """Whether all that must come before a stop has been visited; of the last one, whether there is a way to the end."""
    waiting = state.unvisited.float() @ side.after.float().mT
    ends = side.ways[:, None, :, 0] | (state.unvisited.sum(-1, keepdim=True) > 1)
    return (waiting == 0) & ends


def _bears(side: Side, load: Float[Tensor, "B P"]) -> Bool[Tensor, "B P N"]:
    """Whether what has been visited leaves a stop within its limits."""
    load = load[..., None]
    return (side.low[:, None] - TOLERANCE <= load) & (load <= side.high[:, None] + TOLERANCE)
