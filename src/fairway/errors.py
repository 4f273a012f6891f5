"""The exceptions Fairway raises on purpose: each message says what is wrong, where, and what would fix it."""


class FairwayError(Exception):
    """The root of every error meant for the user; the command line turns it into one sentence and exit code 2."""


class InvalidInstance(FairwayError):
    """The numbers given do not describe a tour that could be planned.

    `field` and `index` say which of them is to blame, where it is one, so that a reader can find its line.
    """

    def __init__(self, message: str, field: str | None = None, index: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.index = index


class InvalidFile(FairwayError):
    """A file could not be read as, or written in, the format asked for."""


class InvalidTour(FairwayError):
    """What was given as a tour is not a sequence of stops at all."""


class InvalidRequest(FairwayError):
    """A name or a parameter that Fairway does not know or cannot serve."""


class CorruptBed(FairwayError):
    """A test bed came out with other bits than the published ones."""


class WorkerLost(FairwayError):
    """A process of ours could not be started, or was lost at its work."""


class LearningMissing(FairwayError):
    """What was asked for needs packages of the extra `learn`, which are not installed."""


class SolverMissing(FairwayError):
    """A solver by others that was asked for is not on this machine."""


class EngineMissing(FairwayError):
    """Workers that were asked for need a package that is not installed."""
