"""How kernels are compiled and kept: numba's `njit` with a cache that needs no writable package.

Compiled code is looked for in `NUMBA_CACHE_DIR` if that is set, in the package, in the user's cache folder and in a
private temporary folder, and is kept in the first of these that can be written. Where none can, every process compiles
anew and says so. A ready cache is used even if it belongs to another user and cannot be written.
"""

import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, flock
from functools import cache
from hashlib import sha256
from inspect import unwrap
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.cpu import CPUContext
from numba.core.runtime import rtsys

from fairway import clock
from fairway.folders import cache_folder, private_folder
from fairway.kernels.parts import AsPart, AsWhole

HERE = Path(__file__).parent
_said: set[str] = set()


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable], Any]:  # noqa: ANN401 - numba's own
    """Like numba's, but for where compiled code is kept; checks of types at run time are left out."""
    options.setdefault("pipeline_class", AsWhole)

    def compiled(function: Callable) -> Any:  # noqa: ANN401
        function = unwrap(function)
        dispatcher = numba.njit(**options)(function)
        if cache:
            dispatcher._cache = _Cache(function)
        return dispatcher

    return compiled


_BARE: dict[str, Any] = {"nogil": True, "_nrt": False, "no_cfunc_wrapper": True}

bare = njit(cache=True, **_BARE)
"""For loops that allocate nothing: counting references took most of their time, and is left out."""
inner = njit(**_BARE, no_cpython_wrapper=True, pipeline_class=AsPart)
"""For what only such loops call: a way in from Python takes longer to compile than most functions."""
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
"""For numbers that functions are called with: literals would have all that they are passed to compiled once more."""


class _Uncounted(event.Listener):
    """Stops the clock of budgets while a kernel is compiled or loaded, so that each may wait until it is needed."""

    def on_start(self, event: event.Event) -> None:
        clock.stop()

    def on_end(self, event: event.Event) -> None:
        clock.go_on()


event.register("numba:compiler_lock", _Uncounted())


@cache
def kept_in() -> Path | None:
    """The first folder that can be written, made if need be; None where there is none."""
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"not only open")
            return folder
    return None


def hush() -> None:
    """Leave it to another process, the one that started this one, to say that code is being compiled."""
    _said.add("compiling")


def _folders() -> Iterator[Path]:
    """Where compiled code may be; later ones are not asked for before they are needed.

    Outside the package, where several versions of it may meet, each has a folder of its own.
    """
    own = f"kernels-{stamp().hex()[:16]}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / own
    yield HERE / "__pycache__"
    for base in (cache_folder, private_folder):
        with suppress(OSError):  # there may be no place for temporary files at all
            if _safe(base()):
                yield base() / own


def _safe(folder: Path) -> bool:
    """Whether nobody else can have put code there: what is found is run."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return True
    shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid in (os.getuid(), 0) and not shared


def _announce() -> None:
    if "compiling" in _said:
        return
    _said.add("compiling")
    where = "once on this machine, in 5 to 30 s (`fairway warmup` compiles everything ahead)"
    if kept_in() is None:
        where = "in every process, since no folder to keep the result in can be written (set NUMBA_CACHE_DIR to one)"
    print(f"fairway: compiling, {where}; no time limit counts it", file=sys.stderr)


@cache
def stamp() -> bytes:
    """Of all kernels, since each holds the code of those that it calls; by content, which a copy does not change."""
    sources = sorted(HERE.rglob("*.py"))
    return sha256(b"".join(sha256(source.read_bytes()).digest() for source in sources)).digest()


class _Locator:
    """What numba wants to know of a function whose code is kept; where that is, is left to `_Layers`."""

    def __init__(self, function: Callable, file: str) -> None:
        self._py_file = file
        self._name = f"{Path(file).parent.name}-{function.__code__.co_firstlineno}"

    @classmethod
    def from_function(cls, function: Callable, file: str) -> "_Locator":
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(HERE / "__pycache__")

    def get_source_stamp(self) -> bytes:
        return stamp()

    def get_disambiguator(self) -> str:
        return self._name

    def ensure_cache_path(self) -> None:
        """Nothing yet: a ready cache is never written."""


class _Layers:
    """The code of one function: read from whichever folder has it, written to the first that can be."""

    def __init__(self, name: str) -> None:
        self._name = name

    def load(self, key: object) -> object:
        for folder in _folders():
            with suppress(Exception):  # an index may be cut short, or name types of another version
                if (found := self._within(folder).load(key)) is not None:
                    return found
        _announce()
        return None

    def save(self, key: object, code: object) -> None:
        if (folder := kept_in()) is not None:
            # A full disk costs the next process its time, and nothing else.
            with suppress(OSError), _alone(folder):
                try:
                    self._within(folder).save(key, code)
                except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
                    (folder / f"{self._name}.nbi").unlink()  # an index that names what is no more
                    self._within(folder).save(key, code)

    def _within(self, folder: Path) -> IndexDataCacheFile:
        return IndexDataCacheFile(str(folder), self._name, stamp())


@contextmanager
def taking_turns() -> Iterator[None]:
    """Wait until no other process compiles in such a block: what the first keeps, the others only load."""
    with ExitStack() as stack:
        if (folder := kept_in()) is not None:
            with suppress(OSError):  # where files cannot be locked, each compiles on its own
                stack.enter_context(_alone(folder, "turns"))
        yield


@contextmanager
def _alone(folder: Path, name: str = "lock") -> Iterator[None]:
    """Wait until no other process writes there: of two indices at once one would be lost, or name the other's code."""
    lock = os.open(
        folder / name, os.O_RDONLY | os.O_CREAT
    )  # another user's file need not be writable
    try:
        flock(lock, LOCK_EX)
        yield
    finally:
        os.close(lock)


class _Implementation(CompileResultCacheImpl):
    _locator_classes = (_Locator,)  # pyrefly: ignore[bad-override-mutable-attribute]


class _Cache(FunctionCache):
    _impl_class = _Implementation

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        self._cache_file = _Layers(self._impl.filename_base)  # pyrefly: ignore[bad-assignment]

    def load_overload(self, sig: object, target_context: CPUContext) -> object:
        """Compiled code, for which numba need not know, as for compiling, of all that it can compile."""
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)
