"""A service in a process of its own, for as long as a block lasts, and a plain client of it."""

import http.client
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import fairway

READY = 400.0
"""Seconds in which a service must be ready, the first compilation included."""


class Reply(NamedTuple):
    status: int
    body: bytes
    headers: dict[str, str]

    def json(self) -> Any:
        return json.loads(self.body)


class Running:
    """A service that was started with some options; `kill` and `start` it again at will."""

    def __init__(self, store: Path, *options: str) -> None:
        self.store, self._options = store, options
        self.lines: list[str] = []
        self.port = 0

    def __enter__(self) -> "Running":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self, *, ready: bool = True) -> None:
        source = str(Path(fairway.__file__).parents[1])
        command = [sys.executable, "-m", "fairway", "serve", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [*command, "--store", str(self.store), *self._options],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
        )
        ports: queue.SimpleQueue[int] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(ports,), daemon=True).start()
        try:
            self.port = ports.get(timeout=READY)
            if self.port == 0:
                raise RuntimeError("the service did not start: " + "".join(self.lines))
            if ready:
                self.wait()
        except BaseException:
            self.kill()
            raise

    def wait(self) -> None:
        """Return once workers take orders."""
        until = time.monotonic() + READY
        while time.monotonic() < until:
            health = self.ask("GET", "/health").json()
            if health["ready"]:
                return
            time.sleep(0.05)
        raise RuntimeError("the service did not get ready")

    def kill(self) -> None:
        """End it without a word, as a power cut does."""
        self._process.kill()
        self._process.wait()

    def terminate(self, seconds: float = 30.0) -> int:
        """End it as a container engine does; the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(seconds)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: dict[str, str] | None = None,
        seconds: float = 60.0,
    ) -> Reply:
        """One request on a connection of its own; a body that is not bytes is sent as JSON."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        told = {"Content-Type": "application/json"} if body is not None else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, sent, {**told, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, answer.read(), dict(answer.getheaders()))
        finally:
            connection.close()

    def finished(self, job: str, seconds: float = 60.0) -> dict[str, Any]:
        """A job, once it is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            told = self.ask("GET", f"/jobs/{job}").json()
            if told["status"] not in ("waiting", "running"):
                return told
            time.sleep(0.05)
        raise TimeoutError(f"job {job} is still {told['status']}")

    def _listen(self, ports: queue.SimpleQueue[int]) -> None:
        stream = self._process.stderr
        assert stream is not None
        with stream:
            for line in stream:
                self.lines.append(line)
                if '"listening"' in line:
                    ports.put(json.loads(line)["port"])
        ports.put(0)
