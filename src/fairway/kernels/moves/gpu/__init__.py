"""Local search on a GPU: the source beside this, compiled when it is first needed, and how it is launched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torch import Tensor

LANES = 32
PARTS = ("lanes.h", "tour.cu", "descent.cu", "search.cu")
"""Of the source, in this order."""
MOST_NODES = 1024
"""That one warp can hold, the depot counted twice."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What the source is compiled for."""

    slots: int
    """Positions of a tour per lane."""
    by_set: bool
    symmetric: bool
    warps: int = 4
    """Per block."""
    blocks: int = 6
    """Per multiprocessor, which decides how many registers a thread may have."""

    @property
    def macros(self) -> list[str]:
        """For a compiler."""
        return [
            f"-DSLOTS={self.slots}",
            f"-DWARPS={self.warps}",
            f"-DBLOCKS={self.blocks}",
            f"-DBY_SET={int(self.by_set)}",
            f"-DSYMMETRIC={int(self.symmetric)}",
        ]


Launch = Callable[[Variant, str, int, Sequence[Tensor]], None]
"""Runs a kernel of a variant by its name for so many walkers."""


def variant_for(nodes: int, *, by_set: bool, symmetric: bool) -> Variant:
    """For so many nodes: slots are a power of two, so that few variants are ever compiled."""
    slots = 2
    while LANES * slots < nodes:
        slots *= 2
    if slots <= 4:
        return Variant(slots, by_set, symmetric)
    # The more a lane holds, the fewer share a multiprocessor's registers and shared memory.
    return Variant(slots, by_set, symmetric, warps=2 if slots < 32 else 1, blocks=32 // slots + 2)


def source() -> str:
    """Of all kernels, for any compiler of C++."""
    here = Path(__file__).parent
    return "\n".join((here / name).read_text() for name in PARTS)


def launch(variant: Variant, name: str, walkers: int, tensors: Sequence[Tensor]) -> None:
    """On the GPU that is current, without waiting for it."""
    blocks = -(-walkers // variant.warps)
    _compiled(variant, name)((blocks, 1, 1), (LANES * variant.warps, 1, 1), list(tensors))


@cache
def _compiled(variant: Variant, name: str):
    import torch

    # Sums of products must round as they do elsewhere.
    options = ["--fmad=false", "--std=c++17", *variant.macros]
    return torch.cuda._compile_kernel(source(), name, nvcc_options=options)
