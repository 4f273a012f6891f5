"""The gradient of the tours' log-probabilities: one program per head, instance and block of nodes, over all steps."""

import triton
import triton.language as tl

from fairway.kernels.pointer.gpu.facts import LOG2E, power


@triton.jit
def gradient(
    said, drift, tours, resources, answers, backs, softmaxes, grades, weight,
    d_query, d_value_key, d_drift, P, M,
    D: tl.constexpr, H: tl.constexpr, W: tl.constexpr, C: tl.constexpr, Q: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    """What queries, keys, values and drifts of one head owe to C nodes; a step counts with the weight of its tour.

    The resource goes with the query through one product, in two parts so that it keeps its digits.
    """
    h, b, block = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.program_id(2)
    HD: tl.constexpr = D // H
    said, steps = said + b * 4 * W * D, b * P * M
    column, d, every = block * C + tl.arange(0, C), h * HD + tl.arange(0, HD), tl.arange(0, W)
    part = tl.arange(0, 2 * HD)
    value = tl.load(said + W * D + column[:, None] * D + d[None, :])
    key = tl.load(said + 2 * W * D + d[None, :] * W + column[:, None])
    turn = tl.load(drift + (b * H + h) * W + column)
    dtype = key.dtype
    d_asked, d_value = tl.zeros((W, HD), tl.float32), tl.zeros((C, HD), tl.float32)
    d_key = tl.zeros((C, 2 * HD), tl.float32)
    for first in range(0, P * M, Q):
        step = first + tl.arange(0, Q)
        real = step < P * M
        at = steps + step
        grade = tl.load(grades + at[:, None] * W + column[None, :], mask=real[:, None], other=0.0)
        node = tl.load(tours + at - P, mask=real & (step >= P), other=0)
        resource = tl.load(resources + at, mask=real, other=0.0)
        softmax = tl.load(softmaxes + at * H + h, mask=real, other=0.0)
        scale = tl.load(weight + b * P + step % P, mask=real, other=0.0)
        wide = at[:, None] * D + d[None, :]
        answer = tl.load(answers + wide, mask=real[:, None], other=0.0)
        back = tl.load(backs + wide, mask=real[:, None], other=0.0).to(tl.float32) * scale[:, None]
        query = tl.load(said + node[:, None] * D + d[None, :])
        match = resource[:, None] * turn[None, :]
        match = tl.dot(query, tl.trans(key), match, input_precision=EXACT)
        share = tl.where(grade != 0, power(match * LOG2E - softmax[:, None]), 0.0)
        low = back.to(dtype)
        d_value = tl.dot(tl.trans(share.to(dtype)), low, d_value, input_precision=EXACT)
        d_share = tl.dot(low, tl.trans(value), input_precision=EXACT)
        d_match = share * (d_share - tl.sum(answer.to(tl.float32) * back, axis=1)[:, None])
        d_low = d_match.to(dtype)
        asked = said + node[:, None] * D + h * HD + part[None, :]
        asked = tl.load(asked, mask=(part < HD)[None, :], other=0.0)
        rounded = resource.to(dtype)
        asked = tl.where(part[None, :] == HD, rounded[:, None], asked)
        rest = (resource - rounded.to(tl.float32)).to(dtype)
        asked = tl.where(part[None, :] == HD + 1, rest[:, None], asked)
        d_key = tl.dot(tl.trans(d_low), asked, d_key, input_precision=EXACT)
        d_ask = tl.dot(d_low, key, input_precision=EXACT)
        stood = (every[:, None] == node[None, :]).to(dtype)
        d_asked = tl.dot(stood, d_ask.to(dtype), d_asked, input_precision=EXACT)
    blocks = tl.num_programs(2)
    tl.store(d_query + ((b * blocks + block) * W + every[:, None]) * D + d[None, :], d_asked)
    tl.store(d_value_key + b * 2 * W * D + column[:, None] * D + d[None, :], d_value)
    by_part = d_value_key + (b * 2 + 1) * W * D + (h * HD + part[None, :]) * W + column[:, None]
    tl.store(by_part, d_key, mask=(part < HD)[None, :])
    d_turn = tl.sum(tl.where(part[None, :] >= HD, d_key, 0.0), axis=1)
    tl.store(d_drift + (b * H + h) * W + column, d_turn)
