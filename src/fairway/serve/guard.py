"""What every request passes: an id, a look at who asks, the log and the counters."""

import asyncio
import hmac
import json
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairway.serve.logs import log, log_failure
from fairway.serve.metrics import Metrics
from fairway.serve.settings import Settings

ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
OPEN = re.compile(r"/|/health|/docs|/openapi\.json|/favicon\.ico|/page(/.*)?")
"""What may be had without the token: nothing that anybody has put in."""
HERE = re.compile(r"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?", re.IGNORECASE)
"""What a browser on this machine calls a service that listens on loopback."""
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
POLICY = (
    "default-src 'self'; img-src 'self' data: blob: http: https:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Scripts are ours alone; pictures may come from a tile server that the user names."""


class Guard:
    """Stands before the endpoints."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._token = None if settings.token is None else settings.token.encode()
        self._cross = bool(settings.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, headers = time.monotonic(), Headers(scope=scope)
        method = scope["method"]
        if method == "HEAD" and OPEN.fullmatch(scope["path"]):  # the server sends no body then
            scope = {**scope, "method": "GET"}
        given = headers.get("x-request-id", "")
        number = given if ID.fullmatch(given) else secrets.token_hex(8)
        status = 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                out = MutableHeaders(scope=message)
                out["X-Request-Id"] = number
                for name, value in SAFE.items():
                    out.setdefault(name, value)
                if out.get("content-type", "").startswith("text/html"):
                    out["Content-Security-Policy"] = POLICY
                if self._cross:
                    out["Cross-Origin-Resource-Policy"] = "cross-origin"
            await send(message)

        try:
            if (refused := self._refusal(scope, headers)) is None:
                await self._app(scope, receive, sent)
            else:
                await answer(sent, *refused)
        except asyncio.CancelledError:  # the service ends, and waits no longer
            if not status:
                await answer(sent, 503, "the service is ending; send the request again")
        except Exception as error:
            log_failure(error, request=number)
            if not status:
                await answer(sent, 500, "the service failed; its log says where")
        finally:
            route = getattr(scope.get("route"), "path", "other")
            seconds = time.monotonic() - began
            self._metrics.count(_known(method), route, status, seconds)
            told = {"method": _known(method), "route": route, "status": status}
            log("request", request=number, **told, seconds=round(seconds, 4))

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Why a request is not let in."""
        host = headers.get("host", "")
        if self._token is None and not HERE.fullmatch(host):
            return (
                421,
                "this service answers to localhost and 127.0.0.1 alone; start it with --token-file for others",
            )
        if self._token is None or OPEN.fullmatch(scope["path"]) or scope["method"] == "OPTIONS":
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        told = given.strip().encode("utf-8", "replace")
        if kind.lower() == "bearer" and hmac.compare_digest(told, self._token):
            return None
        return 401, "the token is missing or wrong; send the header Authorization: Bearer TOKEN"


async def answer(send: Send, status: int, sentence: str) -> None:
    """A refusal as JSON."""
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _known(method: str) -> str:
    return method if method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS") else "other"
