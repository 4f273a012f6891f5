"""The endpoints."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles

from fairway import __version__
from fairway.serve import gauges, jobs, manual, refusals, requests, responses
from fairway.serve.bodies import Bodies
from fairway.serve.frames import Frame
from fairway.serve.guard import Guard
from fairway.serve.pool import QueueFull
from fairway.serve.service import Refused, Service
from fairway.serve.settings import Settings
from fairway.serve.store import KeyTaken, Record

PAGE = Path(str(resources.files("fairway.serve") / "page"))
LONGEST_KEY, LARGEST_PAGE, LARGEST_NUMBER = 200, 1000, 2**53
MOST_STREAMS = 2000
"""Event streams that may be open at a time."""
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=LONGEST_KEY, min_length=1),
]
router = APIRouter(dependencies=[Depends(refusals.known_parameters)])
watched = APIRouter()
"""What monitors and browsers ask for, with whatever parameters they add."""
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": responses.Refusal, "description": words}
    for status, words in {
        400: "What is wrong, in a sentence",
        401: "The token is missing or wrong",
        408: "The body came in too slowly",
        413: "More than this service takes on",
        415: "The body is not JSON, or is compressed",
        429: "Too many wait; see Retry-After",
        503: "The store of jobs cannot be read or written; see Retry-After",
    }.items()
}
SOLVED: dict[int | str, dict[str, Any]] = {
    status: REFUSALS[status] for status in (400, 401, 408, 413, 415, 429)
}
READ = {status: REFUSALS[status] for status in (400, 401)}
STORED = {status: REFUSALS[status] for status in (400, 401, 503)} | {404: responses.NOT_FOUND}


@router.post(
    "/solve",
    openapi_extra=responses.body(requests.Solve),
    responses={200: {"model": responses.Plan}, **SOLVED},
)
async def solve(request: Request) -> Response:
    """Solve an instance and wait for the plan, which comes within the seconds asked for."""
    return await _solved("solve", request)


@router.post(
    "/verify",
    openapi_extra=responses.body(requests.Verify),
    responses={200: {"model": responses.Verdict}, **SOLVED},
)
async def verify(request: Request) -> Response:
    """Judge an order of the stops: its schedule with times, and every violation."""
    return await _handled("verify", request)


@router.post(
    "/explain",
    openapi_extra=responses.body(requests.Explain),
    responses={200: {"model": responses.Explanation}, **SOLVED},
)
async def explain(request: Request) -> Response:
    """Say why an instance has no tour: the stops that collide, and the smallest changes that would help."""
    return await _solved("explain", request)


@router.post(
    "/convert",
    openapi_extra=responses.body(requests.Convert),
    responses={200: {"model": responses.Converted}, **SOLVED},
)
async def convert(request: Request) -> Response:
    """Write an instance, or with a tour its plan, in another format; to json, with what is unusual about it."""
    return await _handled("convert", request)


@router.post(
    "/vroom",
    openapi_extra=responses.VROOM_BODY,
    responses={200: {"model": responses.Vroom}, **responses.vroom(SOLVED)},
)
async def vroom(
    request: Request,
    seconds: Annotated[float, Query(ge=0)] = 1.0,
    speed: Annotated[
        float | None, Query(gt=0, description="km/h, where there are no matrices")
    ] = None,
) -> Response:
    """Solve VROOM's problem with one vehicle, and answer with VROOM's solution."""
    options = {"seconds": seconds} | ({} if speed is None else {"speed": speed})
    async with _body(request) as body:
        return _response(await _service(request).solved("vroom", body, request, options))


@router.get(
    "/examples",
    responses={200: {"model": list[responses.Example]}, **READ, 429: REFUSALS[429]},
)
async def examples(request: Request) -> Response:
    """List small instances to start from, one of which has no tour."""
    return _response(await _service(request).handled("examples", b"", request))


@router.post(
    "/jobs",
    status_code=202,
    openapi_extra=responses.body(requests.Solve),
    responses={
        202: {"model": responses.Accepted},
        409: {"model": responses.Refusal, "description": "The key stands for another body"},
        **REFUSALS,
    },
)
async def accept(request: Request, key: Key = None) -> Response:
    """Accept an instance to be solved; the same Idempotency-Key with the same body is the same job."""
    try:
        async with _body(request) as body:
            record = await _accepted(_service(request), request, body, key)
    except KeyTaken as error:
        raise Refused(
            409, "the Idempotency-Key was used with another body; choose a new one"
        ) from error
    except QueueFull as error:
        raise _service(request).full() from error
    accepted = {"id": record.id, "status": record.status}
    return JSONResponse(accepted, 202, {"Location": f"/jobs/{record.id}"})


@router.get("/jobs", responses={200: {"model": responses.Jobs}, **READ, 503: REFUSALS[503]})
async def listed(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 100,
    after: Annotated[int | None, Query(ge=0, le=LARGEST_NUMBER)] = None,
) -> Response:
    """List jobs, the newest first; `next` is what to ask for `after`, also once those jobs have expired."""
    found, following = await _service(request).jobs.page(limit, after)
    return JSONResponse({"jobs": [jobs.summary(each) for each in found], "next": following})


@router.get("/jobs/{id}", responses={200: {"model": responses.Job}, **STORED})
async def job(request: Request, id: str) -> Response:  # noqa: A002
    """Tell how a job stands, with the best plan so far."""
    return _told(await _service(request).jobs.get(id))


@router.delete("/jobs/{id}", responses={200: {"model": responses.Job}, **STORED})
async def stop(request: Request, id: str) -> Response:  # noqa: A002
    """Stop a job and keep the best plan so far; a job that is over stays as it is."""
    return _told(await _service(request).jobs.stop(id))


@router.get(
    "/jobs/{id}/events",
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"},
        **STORED,
        429: REFUSALS[429],
    },
)
async def events(request: Request, id: str) -> Response:  # noqa: A002
    """Follow a job: events `status`, `improvement`, `bound` and, with the whole job, `end`."""
    service = _service(request)
    if await service.jobs.get(id) is None:
        raise Refused(404, "there is no such job; it may have expired")
    if service.streams >= MOST_STREAMS:
        raise Refused(429, "too many event streams are open; try again in 10 s", 10)
    return StreamingResponse(
        _counted(service, id),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@watched.get("/health", responses={200: {"model": responses.Health}})
async def health(request: Request) -> Response:
    """Tell whether the service is up, how many workers are ready and how many requests wait."""
    service = _service(request)
    return JSONResponse(
        {
            "status": "ok",
            "version": __version__,
            "ready": service.solvers.ready > 0 and service.desk.ready > 0,
            "workers": service.solvers.ready,
            "busy": service.solvers.busy,
            "waiting": service.solvers.waiting,
            "limits": responses.limits(service.settings.limits),
        }
    )


@watched.get("/metrics", responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Counters in the text format of Prometheus."""
    service = _service(request)
    text = service.metrics.text(gauges.of(service))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@watched.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """The endpoints for people."""
    return Response(manual.page(request.app.openapi()), media_type="text/html")


@watched.get("/", include_in_schema=False)
async def page() -> Response:
    """The web page."""
    return FileResponse(PAGE / "index.html")


def create_app(settings: Settings) -> FastAPI:
    """The application, whose workers start with it."""
    service = Service(settings)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.jobs.park()
        await service.close()

    middleware = [Middleware(Guard, settings=settings, metrics=service.metrics)]
    if settings.origins:  # around the guard: a page is to read its refusals too
        middleware.insert(
            0,
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
                expose_headers=["X-Request-Id", "Retry-After", "Location"],
            ),
        )
    app = FastAPI(
        title="Fairway",
        version=__version__,
        description="Tours of one vehicle that keep hard constraints: solved, judged and explained.",
        middleware=middleware,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.state.bodies = Bodies(settings.limits.max_body)
    app.include_router(router)
    app.include_router(watched)
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    refusals.handle(app)
    responses.complete(app)
    return app


def _service(request: Request) -> Service:
    return request.app.state.service


def _body(request: Request) -> AbstractAsyncContextManager[bytes]:
    return request.app.state.bodies.held(request)


async def _accepted(service: Service, request: Request, body: bytes, key: str | None) -> Record:
    """The job that the key stands for, or a new one, once the desk has looked at its body."""
    record = None if key is None else await service.jobs.known(key, body)
    if record is not None:
        return record
    with service.solvers.place():
        await service.handled("check", body, request)
        return await service.jobs.accept(body, key)


async def _solved(verb: str, request: Request) -> Response:
    async with _body(request) as body:
        return _response(await _service(request).solved(verb, body, request))


async def _handled(verb: str, request: Request) -> Response:
    async with _body(request) as body:
        return _response(await _service(request).handled(verb, body, request))


def _response(answer: Frame) -> Response:
    name = answer.head["name"]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'} if name else {}
    return Response(answer.payload, media_type=answer.head["media"], headers=headers)


def _told(record: Record | None) -> Response:
    if record is None:
        raise Refused(404, "there is no such job; it may have expired")
    return Response(jobs.document(record), media_type="application/json")


async def _counted(service: Service, number: str) -> AsyncIterator[bytes]:
    service.streams += 1
    try:
        async for each in service.jobs.events(number):
            yield each
    finally:
        service.streams -= 1
