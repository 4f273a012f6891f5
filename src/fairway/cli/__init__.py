"""The command line: verbs that each call one function of the library, results on stdout, talk on stderr."""

import os
import sys

from fairway.errors import FairwayError

ANSWERED, NOT_FEASIBLE, BAD_INPUT = 0, 1, 2
"""Exit codes: all is well; an answer that is not 'feasible'; usage or input that cannot be served."""


def main() -> None:
    """Run the verb named on the command line; a bad input ends in one sentence and exit code 2."""
    from fairway.cli.verbs import app

    try:
        app()
    except FairwayError as error:
        print(f"fairway: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output has gone; pointing stdout nowhere keeps the exit quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(NOT_FEASIBLE)
