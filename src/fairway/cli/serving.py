"""The verb `serve`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from fairway.errors import InvalidRequest

MEGABYTE = 1 << 20


def serve(
    host: Annotated[
        str, Option(help="Address to listen on; others than loopback need a token")
    ] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on (0: any that is free)")] = 8000,
    workers: Annotated[
        int | None, Option(help="Number of processes that solve (default: all cores)")
    ] = None,
    queue: Annotated[int, Option(help="Requests and jobs that may wait")] = 64,
    max_stops: Annotated[int, Option(help="Most stops of an instance")] = 1000,
    max_seconds: Annotated[float, Option(help="Longest time limit of a request")] = 60.0,
    max_body: Annotated[int, Option(help="Largest request, in megabytes")] = 16,
    max_memory: Annotated[int, Option(help="Memory per worker process, in megabytes")] = 2048,
    store: Annotated[
        Path | None, Option(help="Where jobs are kept (default: in the user's state folder)")
    ] = None,
    keep_hours: Annotated[float, Option(help="Hours that a finished job is kept")] = 24.0,
    token_file: Annotated[
        Path | None, Option(help="File with the token that clients must send")
    ] = None,
    cors: Annotated[
        list[str] | None, Option(help="Origin of pages that may call the service")
    ] = None,
) -> None:
    """Serve solving, judging and explaining over HTTP, with a web page."""
    from fairway.cores import cores
    from fairway.folders import state_folder

    try:
        from fairway.serve.server import serve as listen
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in (
            "fastapi",
            "pydantic",
            "starlette",
            "uvicorn",
        ):
            raise
        raise InvalidRequest(
            "serving needs FastAPI; install it with: pip install 'fairway[serve]'"
        ) from error
    from fairway.serve.settings import Limits, Settings, token_in

    listen(
        Settings(
            store=store or state_folder() / "jobs.sqlite",
            host=host,
            port=port,
            workers=cores() if workers is None else workers,
            queue=queue,
            limits=Limits(max_stops, max_seconds, max_body * MEGABYTE, max_memory * MEGABYTE),
            keep_hours=keep_hours,
            token=None if token_file is None else token_in(token_file),
            origins=tuple(cors or ()),
        )
    )
