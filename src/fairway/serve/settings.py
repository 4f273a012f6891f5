"""What a service is started with."""

import ipaddress
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.problems.files.text import bounded

SHORTEST_TOKEN = 16
"""Characters of a token."""
LONGEST_TOKEN = 4_096
"""Bytes of its file."""
LAST_PORT = 65_535
LEAST_MEMORY = 256
"""Megabytes without which a worker process cannot begin."""
ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")
"""A site as browsers name it in the header Origin."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a single request may ask for; workers are told too."""

    max_stops: int = 1000
    max_seconds: float = 60.0
    max_body: int = 16 << 20
    """Bytes of a request."""
    max_memory: int = 2 << 30
    """Bytes that a worker process may have of its own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the service listens, how much it takes on, and what it keeps."""

    store: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = field(default_factory=cores)
    queue: int = 64
    """Requests and jobs that may wait for a worker."""
    limits: Limits = Limits()
    keep_hours: float = 24.0
    """How long a finished job is kept."""
    token: str | None = None
    origins: tuple[str, ...] = ()
    """Other sites whose pages may call the service."""

    def __post_init__(self) -> None:
        if self.token is None and not self.loopback:
            raise InvalidRequest(
                f"--host {self.host} can be reached by others; give --token-file with a token that they must know, "
                "or listen on 127.0.0.1"
            )
        limits = self.limits
        for name, value, least in (
            ("--workers", self.workers, 1),
            ("--queue", self.queue, 1),
            ("--max-stops", limits.max_stops, 1),
            ("--max-body", limits.max_body >> 20, 1),
            ("--max-memory", limits.max_memory >> 20, LEAST_MEMORY),
        ):
            if value < least:
                raise InvalidRequest(f"{name} is {value}; expected a whole number, {least} or more")
        for name, value in (
            ("--max-seconds", limits.max_seconds),
            ("--keep-hours", self.keep_hours),
        ):
            if not 0 < value < math.inf:
                raise InvalidRequest(f"{name} is {value:g}; expected a number above 0")
        if not 0 <= self.port <= LAST_PORT:
            raise InvalidRequest(f"--port is {self.port}; expected 0 to {LAST_PORT}")
        for origin in self.origins:
            if not ORIGIN.fullmatch(origin):
                raise InvalidRequest(
                    f"--cors {origin} is no origin; expected one like https://plans.example, without a path"
                )

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def token_in(file: Path) -> str:
    """The token that is the content of a file."""
    try:
        token = bounded(file, LONGEST_TOKEN).decode().strip()
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"--token-file {file}: cannot be read as text") from error
    if (
        len(token) < SHORTEST_TOKEN
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise InvalidRequest(
            f"--token-file {file}: expected one word of {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters and digits"
        )
    return token
