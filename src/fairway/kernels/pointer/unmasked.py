"""Scores of heads that see every node, for very many steps at once: what a PIP-D head is trained on."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from fairway.kernels.pointer import Pointer
from fairway.problems.batch import rows


def open_scores(
    pointer: Pointer, node: Int[Tensor, "B S"], resource: Float[Tensor, "B S"]
) -> Float[Tensor, "B S N"]:
    """The same as `reference.scores` with nothing masked, without its weights of every head, step and node in memory.

    The resource joins the query as further components, the drift the key. Where products are in bf16 both are split
    into a rounded part and the rest, so that the resource keeps the digits that it needs.
    """
    query, key, value = (
        tensor.unflatten(-1, (pointer.heads, -1)).transpose(1, 2)
        for tensor in (pointer.query[rows(node), node], pointer.key, pointer.value)
    )
    depth = query.shape[-1]
    asked = resource[:, None, :, None].expand(-1, pointer.heads, -1, 1)
    told = pointer.drift[..., None]
    if key.dtype == torch.float32:
        query, key = torch.cat([query, asked], -1), torch.cat([key, told], -1)
    else:
        query = torch.cat([query, *_split(asked, key.dtype, (0, 1, 0)), query[..., :5] * 0], -1)
        key = torch.cat([key, *_split(told, key.dtype, (0, 0, 1)), key[..., :5] * 0], -1)
        value = torch.nn.functional.pad(value, (0, 8))
    answer = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=1.0)
    answer = answer[..., :depth].transpose(1, 2).flatten(2)
    score = (answer @ pointer.aim.mT).float() + pointer.bias[:, None, :]
    return score if pointer.clip is None else pointer.clip * score.tanh()


def _split(
    exact: Float[Tensor, "B H S 1"], dtype: torch.dtype, parts: tuple[int, ...]
) -> list[Float[Tensor, "B H S 1"]]:
    """The rounded value (0) and what rounding lost (1)."""
    rounded = exact.to(dtype)
    both = (rounded, (exact - rounded.to(exact.dtype)).to(dtype))
    return [both[part] for part in parts]
