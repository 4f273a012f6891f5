"""The search of `kernels/moves/gpu` on a CPU: its source compiled by the C++ compiler of the machine."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from torch import Tensor

from fairway.kernels.moves.gpu import Variant, source

COMPILER = shutil.which("g++") or shutil.which("c++") or "no C++ compiler"
# Sums of products round as on the GPU, and numbers wrap around as there.
FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-w", "-shared", "-fPIC")


@cache
def _library(variant: Variant) -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp())
    (folder / "search.cpp").write_text(source())
    command = [COMPILER, *FLAGS, *variant.macros, "search.cpp", "-o", "search.so"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "search.so"))
    shutil.rmtree(folder)
    return library


def emulate(variant: Variant, name: str, walkers: int, tensors: Sequence[Tensor]) -> None:
    """A `Launch` that runs on this machine."""
    assert all(tensor.is_contiguous() for tensor in tensors)
    getattr(_library(variant), name)(*(ctypes.c_void_p(t.data_ptr()) for t in tensors))
