"""The pointer: attention from where a tour stands to where it may go, and how likely each way is.

`reference` is the definition, `gpu` (Triton) runs whole rollouts and must equal it, gradients included.
"""

from fairway.kernels.pointer.pointer import Facts as Facts
from fairway.kernels.pointer.pointer import Pointer as Pointer
