"""A small client for many requests at once: one connection for each, kept open."""

import asyncio
import json
import random
from typing import Any, NamedTuple

SECONDS = 60.0
"""After which a request counts as hanging."""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One connection, opened again where the service has closed it."""

    def __init__(self, port: int) -> None:
        self._port, self._line = port, None

    async def ask(self, method: str, path: str, body: bytes = b"", *headers: str) -> Answer:
        """The answer to one request; TimeoutError where there is none."""
        async with asyncio.timeout(SECONDS):
            try:
                return await self._asked(method, path, body, headers)
            except (ConnectionError, asyncio.IncompleteReadError):
                if self._line is None:  # it was a new one
                    raise
                self.close()
                return await self._asked(method, path, body, headers)

    def close(self) -> None:
        if self._line is not None:
            self._line[1].close()
        self._line = None

    async def _asked(self, method: str, path: str, body: bytes, more: tuple[str, ...]) -> Answer:
        if self._line is None:
            line = await asyncio.open_connection("127.0.0.1", self._port)
        else:
            line = self._line
        reader, writer = line
        kind = ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
        head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *kind, *more]
        writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(each.lower().split(": ", 1) for each in lines if each)
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        self._line = line
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(first.split()[1]), headers, content)


def hard_instance(stops: int, seed: int = 3) -> dict[str, Any]:
    """Pickups and deliveries, of which no proof comes to an end soon."""
    chance = random.Random(seed)
    points = [[chance.randint(0, 999), chance.randint(0, 999)] for _ in range(stops + 1)]
    return {
        "problem": "tour",
        "coordinates": points,
        "pairs": [[stop, stop + 1] for stop in range(1, stops, 2)],
        "demand": [0, *[1, -1] * (stops // 2)],
        "load": "signed",
        "capacity": 5,
    }


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
