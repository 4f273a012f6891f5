"""Bodies of requests as they come in: bounded in size, in time, and in what all of them take together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request

from fairway.serve.service import ClientGone, Refused

SECONDS = 30.0
"""In which a body must have come in."""
ALL = 16
"""Bodies of the largest size that may be held at a time."""


class Bodies:
    """Reads bodies, and knows how many bytes are held."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0
        self._coming: set[asyncio.Timeout] = set()
        self._ended = False

    @asynccontextmanager
    async def held(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request that says it is JSON, which counts until the request is dealt with."""
        self._check(request.headers)
        parts: list[bytes] = []
        try:
            await self._receive(request, parts)
            parts[:] = [b"".join(parts)]
            yield parts[0]
        finally:
            self._held -= sum(map(len, parts))

    def end(self) -> None:
        """Wait for no body any more, since the service ends."""
        self._ended = True
        for limit in self._coming:
            if not limit.expired():
                limit.reschedule(0.0)

    def _check(self, headers: Headers) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(
                415, "the body must be JSON; send the header Content-Type: application/json"
            )
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise Refused(415, "the body is compressed; send it as it is, without Content-Encoding")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self._most:
            raise self._too_large()

    async def _receive(self, request: Request, parts: list[bytes]) -> None:
        size, limit = 0, asyncio.timeout(0.0 if self._ended else SECONDS)
        try:
            async with limit:
                self._coming.add(limit)
                async for part in request.stream():
                    size += len(part)
                    self._held += len(part)
                    parts.append(part)
                    if size > self._most:
                        raise self._too_large()
                    if self._held > ALL * self._most:
                        raise Refused(429, "too much is being sent at once; try again in 1 s", 1)
        except TimeoutError as error:
            if self._ended:
                raise Refused(503, "the service is ending; send the request again", 1) from error
            raise Refused(408, f"the body did not come in within {SECONDS:g} s") from error
        except ClientDisconnect as error:
            raise ClientGone from error
        finally:
            self._coming.discard(limit)

    def _too_large(self) -> Refused:
        return Refused(413, f"the body is larger than {self._most} bytes, the most that is taken")
