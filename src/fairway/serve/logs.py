"""One line of JSON on stderr for each thing that happens, and nothing that a client has put in."""

import json
import sys
import traceback
from datetime import UTC, datetime
from typing import Any


def log(what: str, **told: Any) -> None:  # noqa: ANN401
    """One line; of a client nothing but an id of its own."""
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json.dumps({"time": moment, "event": what, **told}), file=sys.stderr, flush=True)


def log_failure(error: Exception, **told: Any) -> None:  # noqa: ANN401
    """What failed and where, without what it was about."""
    places = reversed(traceback.extract_tb(error.__traceback__))
    where = [f"{place.name} ({place.filename}:{place.lineno})" for place in places]
    log("error", **told, failed=type(error).__name__, where=where)
