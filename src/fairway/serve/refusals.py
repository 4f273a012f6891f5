"""How requests are refused: always with a sentence, whatever was wrong."""

from collections.abc import Mapping
from difflib import get_close_matches

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from fairway.problems.files.text import shortened
from fairway.serve.logs import log
from fairway.serve.service import ClientGone, Refused
from fairway.serve.store import StoreFailed


def handle(app: FastAPI) -> None:
    """Have all that may be raised on the way to an answer told as a refusal."""
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(StoreFailed, _unkept)
    app.add_exception_handler(ClientGone, _nobody)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def known_parameters(request: Request) -> None:
    """Refuse what in an address is unknown or stands there twice, which would go by unheard."""
    known = [each.alias for each in request.scope["route"].dependant.query_params]
    told = [name for name, _ in request.query_params.multi_items()]
    for name in told:
        if name not in known:
            expected = f"expected {', '.join(known)}" if known else "this address takes none"
            alike = get_close_matches(name, known, n=1)
            hint = f", and looks like {alike[0]!r}" if alike else ""
            raise Refused(400, f"the parameter {shortened(name)} is unknown{hint}; {expected}")
        if told.count(name) > 1:
            raise Refused(400, f"the parameter {name!r} is given twice; expected it once")


def _refusal(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Response:
    """A sentence, which clients of VROOM get with a code of VROOM's."""
    ours = status >= 500
    code = {"code": 1 if ours else 2} if request.url.path == "/vroom" else {}
    return JSONResponse({**code, "error": sentence}, status, headers)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _refusal(request, error.status, error.sentence, error.headers)


async def _unkept(request: Request, error: Exception) -> Response:
    log("store", failed=str(error))
    said = "the store of jobs cannot be read or written, its disk may be full; try again in 10 s"
    return _refusal(request, 503, said, {"Retry-After": "10"})


async def _nobody(_: Request, _error: Exception) -> Response:
    return Response(status_code=499)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"][1:]))
    said = f"{where!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
    return _refusal(request, 400, said)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = {
        404: "there is nothing at this address; see /docs",
        405: "this address does not take this method; see /docs",
    }.get(error.status_code, str(error.detail))
    return _refusal(request, error.status_code, sentence, error.headers)
