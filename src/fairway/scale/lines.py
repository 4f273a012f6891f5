"""Files of JSON lines, packed or not, read line by line."""

import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from fairway.errors import InvalidFile
from fairway.problems.files.text import LARGEST_TEXT

READ = 8192
"""Packed bytes that are unpacked at once: a few lines, and even of the most repetitive file no more than fits."""


def lines(path: Path) -> Iterator[bytes]:
    """All lines of a file; where it is damaged or cut short, those before that, and then an error."""
    from zstandard import ZstdError

    try:
        with path.open("rb") as file:
            packed = path.suffix == ".zst"
            with closing(io.BufferedReader(_Unpacked(file))) if packed else file as whole:
                while line := whole.readline(LARGEST_TEXT + 1):
                    if len(line) > LARGEST_TEXT:
                        raise ValueError(f"a line has more than {LARGEST_TEXT} bytes")
                    yield line
    except (OSError, ValueError, ZstdError) as error:
        raise InvalidFile(f"{path}: cannot be read ({error}); expected JSON lines") from error


class _Unpacked(io.RawIOBase):
    """The content of a zstd file, of which each frame must be whole; zstandard's own readers take the half of one."""

    def __init__(self, file: BinaryIO) -> None:
        from zstandard import ZstdDecompressor

        self._file, self._unpacker = file, ZstdDecompressor()
        self._frame: Any = None
        self._packed = self._content = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any buffer
        """Fill a buffer, as far as there is something."""
        while not self._content:
            packed = self._packed or self._file.read(READ)
            if not packed:
                if self._frame is not None:
                    raise OSError("it is cut short")
                return 0
            self._frame = self._frame or self._unpacker.decompressobj()
            self._content, self._packed = self._frame.decompress(packed), self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        size = min(len(buffer), len(self._content))
        buffer[:size], self._content = self._content[:size], self._content[size:]
        return size
