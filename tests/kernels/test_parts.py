"""What a kernel calls is made machine code with the kernel, and not by itself."""

from fairway.kernels.compiling import inner, njit
from fairway.kernels.parts import Part, Whole


@inner
def _more(number: int) -> int:
    return number + 1


@inner
def _twice(number: int) -> int:
    return 2 * _more(number)


@njit(nogil=True)
def _kernel(number: int) -> int:
    return _twice(number) + _more(number)


def test_parts_of_parts_are_linked_into_the_whole():
    assert _kernel(3) == 12
    (whole,) = _kernel.overloads.values()
    assert isinstance(whole.library, Whole)
    for part in (_more, _twice):
        (compiled,) = part.overloads.values()
        assert isinstance(compiled.library, Part)
        assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
