"""The command line: verbs that each call one function of the library, results on stdout, talk on stderr."""

import errno
import gc
import os
import signal
import sys
from io import TextIOWrapper

from fairway.cli.cleaning import cleaned
from fairway.errors import FairwayError
from fairway.extras import learning

ANSWERED, NOT_FEASIBLE, BAD_INPUT = 0, 1, 2
"""Exit codes: all is well; an answer that is not 'feasible'; usage or input that cannot be served."""

SELDOM = 50_000
"""Objects that are made before any are looked through for garbage; usually it is 700."""

INTERRUPTED, TERMINATED = 130, 143
"""What shells make of Ctrl-C and of SIGTERM."""

OF_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE, errno.EIO, errno.EBADF)
"""How writing an answer fails."""


def main() -> None:
    """Run the verb named on the command line; a bad input ends in one sentence and exit code 2."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - lives as long as the process
    if sys.stdout is None:
        # Closed: what is written fails, as on a full disk, and only where something is.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if isinstance(sys.stdout, TextIOWrapper):
        # A name may hold what a terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")
    if os.getpid() == 1:
        # The system ends every process on SIGTERM but the first of a container, unless that says what is to be done.
        # Its children need not be told: they end with it.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(TERMINATED))
    code = _run()
    if "torch" not in sys.modules:  # whose extensions would call what is left a leak
        gc.freeze()  # or the interpreter would go over every object once more at its exit, for a fifth of its time
    sys.exit(code)


def _run() -> int:
    try:
        from fairway.cli.verbs import app

        with learning():
            code = app(standalone_mode=True)
    except SystemExit as end:
        code = end.code
    except FairwayError as error:
        code = complain(error)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as error:
        code = _failed(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        return _output_lost(error)
    return code if isinstance(code, int) else ANSWERED


def for_a_moment() -> None:
    """Seldom look for garbage: in a process that ends within seconds that took a fifth of its start."""
    gc.set_threshold(SELDOM)


def complain(error: FairwayError | str) -> int:
    """Say on stderr, in one sentence, what cannot be served; the exit code."""
    print(f"fairway: {cleaned(str(error))}", file=sys.stderr)
    return BAD_INPUT


def _failed(error: OSError) -> int:
    """Something of the system failed: standard output, where that cannot be flushed, else what the error names."""
    try:
        sys.stdout.flush()
    except OSError as lost:
        return _output_lost(lost)
    if error.filename is None and error.errno in OF_OUTPUT:  # unbuffered, nothing is left to flush
        return _output_lost(error)
    where = "" if error.filename is None else f"{error.filename}: "
    return complain(f"{where}{error.strerror or error}")


def _output_lost(error: OSError) -> int:
    """The answer could not be written: quietly where its reader has gone, with a sentence where the disk is full."""
    # What is still buffered must go nowhere, or the interpreter would try, and fail, once more at its exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        complain(f"standard output cannot be written ({error.strerror or error})")
    return BAD_INPUT
