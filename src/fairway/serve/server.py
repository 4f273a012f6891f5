"""From settings to a process that listens, and ends cleanly."""

import asyncio
import json
import logging
import resource
import signal
import socket
from contextlib import suppress

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairway.errors import InvalidRequest
from fairway.serve.app import create_app
from fairway.serve.bodies import Bodies
from fairway.serve.logs import log
from fairway.serve.service import FINISHING, Service
from fairway.serve.settings import Settings

GRACE = 5
"""Seconds for answers to be sent after all work has ended."""
BACKLOG = 2048
"""Connections that the system holds until they are taken up."""
HEAD = 10.0
"""Seconds in which the head of a request must have come in."""


class Protocol(H11Protocol):
    """Closes connections on which no request comes in, or one that never gets past its head."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyrefly: ignore[bad-override]
        """Begin to wait for a request; an answer in two parts is not held back for 40 ms in between."""
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP as everything else is refused."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"error": "this is not HTTP as it is understood here"}).encode()
            size = str(len(body)).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", size)]
            headers.append((b"connection", b"close"))
            for part in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(part))
        self.transport.close()

    def _watch(self) -> None:
        idle = self.cycle is None or self.cycle.response_complete
        if not idle and self._limit is not None:
            self._limit.cancel()
            self._limit = None
        elif idle and self._limit is None:
            self._limit = self.loop.call_later(HEAD, self._give_up)

    def _give_up(self) -> None:
        self._limit = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


class Server(uvicorn.Server):
    """Has jobs parked as soon as it is told to end."""

    def __init__(self, config: uvicorn.Config, service: Service, bodies: Bodies) -> None:
        super().__init__(config)
        self._service, self._bodies = service, bodies

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin: workers, jobs, and then listen, which is told."""
        await super().startup(sockets)
        for each in sockets or ():
            host, port = each.getsockname()[:2]
            log("listening", host=host, port=port)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: take on no more, park jobs, answer what is open."""
        log("ending")
        await self._service.drain()
        self._bodies.end()
        await super().shutdown(sockets)


def serve(settings: Settings) -> None:
    """Listen until told to end."""
    _allow_many_connections()
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        http=Protocol,
        ws="none",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=int(FINISHING) + GRACE,
    )
    bound = listening(settings.host, settings.port)
    for each in (signal.SIGTERM, signal.SIGINT):
        # The server raises once more what has ended it, when all is done.
        signal.signal(each, lambda *_: None)
    Server(config, app.state.service, app.state.bodies).run(sockets=[bound])


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    six = ":" in host
    try:
        return socket.create_server(
            (host, port),
            family=socket.AF_INET6 if six else socket.AF_INET,
            backlog=BACKLOG,
            dualstack_ipv6=six and socket.has_dualstack_ipv6(),
        )
    except (OSError, UnicodeError) as error:
        said = str(getattr(error, "strerror", None) or error).partition(" (while ")[0]
        raise InvalidRequest(
            f"--host {host} --port {port}: cannot be listened on ({said})"
        ) from error


def _allow_many_connections() -> None:
    """Have as many files open as the system lets this process."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
