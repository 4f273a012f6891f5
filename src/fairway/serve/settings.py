"""What a service is started with."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from fairway.cores import cores
from fairway.errors import InvalidRequest

SHORTEST_TOKEN, LONGEST_TOKEN = 16, 4_096
"""Characters of a token."""


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
        for name, value in (("--workers", self.workers), ("--queue", self.queue)):
            if value < 1:
                raise InvalidRequest(f"{name} is {value}; expected a whole number, 1 or more")

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
        with file.open() as opened:
            token = opened.read(LONGEST_TOKEN + 1).strip()
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"--token-file {file}: cannot be read as text") from error
    if (
        not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise InvalidRequest(
            f"--token-file {file}: expected one word of {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters and digits"
        )
    return token
