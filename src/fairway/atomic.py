"""Writing files so that a reader, or a crash, never sees half of one."""

import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from fairway.errors import InvalidFile

DESCRIPTORS = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}
"""Names of streams that may be files by themselves, and must be written on, not replaced."""

PREFIX, SUFFIX = ".fairway-", ".part"
"""Of files that are not whole yet."""


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` whole or not at all; an existing file stays as it was on failure."""
    try:
        if (stream := _stream(path)) is not None:
            with stream:
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "you have no permission to write here; choose another place"
        if not isinstance(error, PermissionError):
            hint = f"choose a place with room for {len(content)} bytes"
        raise InvalidFile(f"{path}: cannot be written ({reason}); {hint}") from error


def sweep(folder: Path) -> None:
    """Remove what writers that were killed left in a folder; nobody else may be writing there."""
    for part in folder.glob(f"{PREFIX}*{SUFFIX}"):
        part.unlink(missing_ok=True)


def _stream(path: Path) -> BinaryIO | None:
    """What a name stands for that is not a file to be replaced: an open descriptor, a pipe, a device."""
    if str(path) in DESCRIPTORS:
        return os.fdopen(os.dup(DESCRIPTORS[str(path)]), "wb")
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return path.open("wb") if is_special else None


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=PREFIX, suffix=SUFFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those a plain `open` would have given."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
