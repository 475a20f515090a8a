"""What a failed call raises: Error, or one of its kinds that is a built-in exception too."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Any, Iterator, Mapping

from . import _library as c


class Error(Exception):
    """A call of the library has failed.  `status` is its apsis_status, and the message says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> Any:
        return type(self), (self.status, str(self)), self.__dict__


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


_KINDS: dict[int, type[Error]] = {
    c.ERROR_ARGUMENT: ArgumentError, c.ERROR_RANGE: ArgumentError, c.ERROR_UNSUPPORTED: UnsupportedError,
    c.ERROR_MEMORY: OutOfMemory, c.ERROR_CANCELLED: Cancelled}


def error(status: int, message: str) -> Error:
    """The exception for a status."""
    return _KINDS.get(status, Error)(status, message or c.lib.apsis_status_name(status).decode())


def wrong(message: str) -> ArgumentError:
    """The exception for an argument of a right type and a wrong value."""
    return ArgumentError(c.ERROR_ARGUMENT, message)


def unsupported(message: str) -> UnsupportedError:
    """The exception for an argument that is valid, but not taken."""
    return UnsupportedError(c.ERROR_UNSUPPORTED, message)


@contextmanager
def named(**names: str) -> Iterator[None]:
    """In what is raised, arguments have the names that another package's function gives them: `named(set="image")`."""
    try:
        yield
    except (Error, TypeError) as failure:
        message = re.sub(r"(^|\bbut )(\w+)(?= has| is)", lambda found: found[1] + names.get(found[2], found[2]), str(failure))
        failure.args = (message,)
        raise


_TYPES = {"U8": "uint8", "U16": "uint16", "I32": "int32", "I64": "int64", "F32": "float32", "F64": "float64"}
_FIELDS = {"size": "shape", "stride": "strides", "spacing": "spacing"}


def in_python(message: str, names: Mapping[str, str], axes: int) -> str:
    """A message of the library in the words of its caller here.

    `names` has the arguments for the library's images.  The library counts axes from the last one of an array.
    """
    def axis(found: re.Match[str]) -> str:
        return f"{_FIELDS[found[1]]}[{max(axes - 1 - int(found[2]), 0)}]"

    def spacing(found: re.Match[str]) -> str:
        return f"spacing is ({', '.join(found.groups()[axes - 1::-1])}),"

    message = re.sub(r"^\w+: (options: )?", "", message)  # the name of the call
    message = re.sub(r"^slabs(?=\[)", "labels", re.sub(r"^slab: ", "", message))
    message = message.replace("NULL", "None").replace("apsis_", "")
    message = re.sub(r"\b(\w+)(?=:| overlaps|$)", lambda found: names.get(found[1], found[1]), message)
    message = re.sub(r"\bspacing is (\S+), (\S+), (\S+),", spacing, message)
    message = re.sub(r"\b(size|stride|spacing)\[(\d)\]", axis, message)
    message = re.sub(r"^(\w+): type is an integer", r"\1 has an integer dtype", message)
    message = re.sub(r"^(\w+): type is ", r"\1 has dtype ", message)
    return re.sub(r"APSIS_(\w+)", lambda found: _TYPES.get(found[1], found[1].lower().replace("_", "-")), message)
