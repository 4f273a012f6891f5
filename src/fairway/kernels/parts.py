"""How kernels are put together: their parts are optimised and made machine code once, with the whole.

Numba optimises every function, with all that it calls, and makes machine code of it, though of most functions only what
has been linked into a caller is ever run.
"""

from collections.abc import Iterator
from typing import Any

from llvmlite.binding import Linkage, ModuleRef
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.cpu import CPUContext


class Part(JITCodeLibrary):
    """Code that is only run as a part of other code, with which it is linked, optimised and made machine code."""

    def _optimize_functions(self, ll_module: ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Leave everything to the whole."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Nowhere: there is no machine code."""
        return 0

    @property
    def codegen(self) -> Any:  # noqa: ANN401 - numba's own
        """What is told of the environment, which only code that is run by itself has."""
        return self

    def set_env(self, name: str, env: object) -> None:
        """Nothing to do."""


class Whole(JITCodeLibrary):
    """Code with all of its parts, and theirs."""

    def finalize(self) -> None:
        """Link, optimise and make machine code."""
        self._linking_libraries = list(dict.fromkeys(_with_parts(self._linking_libraries)))
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Let nothing but the whole be seen from outside: a part that is called once then is no function any more."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


def _with_parts(libraries: list[JITCodeLibrary]) -> Iterator[JITCodeLibrary]:
    waiting, seen = list(libraries), set()
    while waiting:
        library = waiting.pop()
        if library not in seen:
            seen.add(library)
            yield library
            if isinstance(library, Part):
                waiting += library._linking_libraries


class AsPart(Compiler):
    """Numba's compiler, for parts."""

    library: type[JITCodeLibrary] = Part

    def __init__(self, typing: object, target: CPUContext, library: Any, *rest: object) -> None:  # noqa: ANN401
        if library is None:
            library = self.library(target.codegen(), "fairway")
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)


class AsWhole(AsPart):
    """Numba's compiler, for what is called from Python."""

    library = Whole
