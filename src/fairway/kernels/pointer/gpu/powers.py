"""Powers of two and reciprocals, as one instruction each: exact ones spend several more on what never matters here."""

import os

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _power_at_once(x):
    """Two to the power of x; nothing below 2^-126."""
    return tl.inline_asm_elementwise(
        "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _inverse_at_once(x):
    """One by x."""
    return tl.inline_asm_elementwise(
        "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _power_interpreted(x):
    """The same where there is no GPU to give the instruction to."""
    return tl.exp2(x)


@triton.jit
def _inverse_interpreted(x):
    """Likewise."""
    return 1 / x


_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
power = _power_interpreted if _INTERPRETED else _power_at_once
inverse = _inverse_interpreted if _INTERPRETED else _inverse_at_once
