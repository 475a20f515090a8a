"""What a failed call raises: Error, or one of its kinds that is a built-in exception too."""

from . import _library as c


class Error(Exception):
    """A call of the library has failed.  `status` is its apsis_status, and the message says why."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class ArgumentError(Error, ValueError):
    """An argument breaks its documented rule, or a result might not fit the output's type."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not in this version or build, or not on this device."""


class OutOfMemory(Error, MemoryError):
    """Host or device memory ran out."""


class Cancelled(Error):
    """A progress callback asked to stop."""


class BudgetWarning(UserWarning):
    """The budget of an eccentricity has run out: what was returned are lower bounds; `gap` says how far off they may be."""


_KINDS = {c.ERROR_ARGUMENT: ArgumentError, c.ERROR_RANGE: ArgumentError, c.ERROR_UNSUPPORTED: UnsupportedError,
          c.ERROR_MEMORY: OutOfMemory, c.ERROR_CANCELLED: Cancelled}


def error(status, message):
    """The exception for a status."""
    return _KINDS.get(status, Error)(status, message or c.lib.apsis_status_name(status).decode())
