"""The command line: verbs that each call one function of the library, results on stdout, talk on stderr."""

import os
import sys
from io import TextIOWrapper

from fairway.errors import FairwayError

ANSWERED, NOT_FEASIBLE, BAD_INPUT = 0, 1, 2
"""Exit codes: all is well; an answer that is not 'feasible'; usage or input that cannot be served."""

INTERRUPTED = 130
"""What shells make of Ctrl-C."""


def main() -> None:
    """Run the verb named on the command line; a bad input ends in one sentence and exit code 2."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # a name may hold what a terminal cannot show
    sys.exit(_run())


def _run() -> int:
    try:
        from fairway.cli.verbs import app

        code = app(standalone_mode=True)
    except SystemExit as end:
        code = end.code
    except FairwayError as error:
        print(f"fairway: {error}", file=sys.stderr)
        code = BAD_INPUT
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as error:
        return _output_lost(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        return _output_lost(error)
    return code if isinstance(code, int) else ANSWERED


def _output_lost(error: OSError) -> int:
    """The answer could not be written: quietly where its reader has gone, with a sentence where the disk is full."""
    # What is still buffered must go nowhere, or the interpreter would try, and fail, once more at its exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        print(
            f"fairway: standard output cannot be written ({error.strerror or error})",
            file=sys.stderr,
        )
    return BAD_INPUT
