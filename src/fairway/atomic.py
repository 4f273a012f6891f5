"""Writing files so that a reader, or a crash, never sees half of one."""

import os
import tempfile
from pathlib import Path

from fairway.errors import InvalidFile


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` whole or not at all; an existing file stays as it was on failure."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)  # a pipe or a device: nothing to replace
        else:
            _replace(path.resolve() if path.is_symlink() else path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidFile(
            f"{path}: cannot be written ({reason}); choose a writable place with room for {len(content)} bytes"
        ) from error


def write_text(path: Path, content: str) -> None:
    """Write `content` as UTF-8, whole or not at all."""
    write_bytes(path, content.encode())


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
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
