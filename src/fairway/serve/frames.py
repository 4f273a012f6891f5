"""How the service and its workers talk: frames of a small JSON head and a payload that is passed on as it is."""

import asyncio
import json
import socket
import struct
import threading
from typing import Any, NamedTuple

SIZES = struct.Struct("!II")


class Frame(NamedTuple):
    """One message."""

    head: dict[str, Any]
    payload: bytes = b""

    def packed(self) -> bytes:
        """The bytes of it."""
        head = json.dumps(self.head).encode()
        return SIZES.pack(len(head), len(self.payload)) + head + self.payload


class Channel:
    """A worker's end, which several threads may send to and one receives from."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(True)
        self._stream = self._socket.makefile("rb")
        self._sending = threading.Lock()

    def send(self, frame: Frame) -> None:
        """Send one frame, whole."""
        with self._sending:
            self._socket.sendall(frame.packed())

    def receive(self) -> Frame:
        """The next frame; EOFError where there will be none."""
        head, payload = SIZES.unpack(self._exactly(SIZES.size))
        return Frame(json.loads(self._exactly(head)), self._exactly(payload))

    def _exactly(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) < count:
            raise EOFError
        return data


async def receive(stream: asyncio.StreamReader) -> Frame:
    """The service's end of the same; IncompleteReadError where there will be no more."""
    head, payload = SIZES.unpack(await stream.readexactly(SIZES.size))
    return Frame(json.loads(await stream.readexactly(head)), await stream.readexactly(payload))
