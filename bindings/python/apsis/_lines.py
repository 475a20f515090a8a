"""Arrays of one axis where the border counts.  As an image of one row, which they are to the library, they are all border: the
border of a line is its two ends.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from . import _arrays as arrays
from . import _library as c
from ._arrays import Array, Output
from ._errors import error


def by_ends(line: Array, complement: bool, no_border: bool, no_inner: bool) -> Array:
    """A line, or its complement, without the components of the set that touch its ends, or without the others."""
    if line.shape[0] == 0:
        return line
    inside = line == 0 if complement else line != 0
    gaps = (~inside).cumsum(0)
    at_ends = inside & ((gaps == 0) | (gaps == gaps[-1]))
    if no_border:
        inside = inside & ~at_ends
    if no_inner:
        inside = inside & at_ends
    return ~inside if complement else inside


def with_ends(line: Array, outputs: list[Optional[Output]], transform: Callable[[Array, list[Optional[Output]]], None]) -> None:
    """Distances, and nearest elements, of a line that has background at both ends: it is put there."""
    if arrays.on_device(line):
        raise error(c.ERROR_UNSUPPORTED, "border is True, but set is a line on a GPU: such have no border yet")
    extent = line.shape[0]
    longer = np.zeros(extent + 2, line.dtype)
    longer[1:-1] = line
    filled = [None if output is None else Output(output.name, np.empty(longer.shape, output.array.dtype), None)
              for output in outputs]
    transform(longer, filled)
    for output, other in zip(outputs, filled):
        if output is not None and other is not None:
            inner = other.array[1:-1]
            output.array[...] = _indices(inner, line) if output.name == "nearest_out" else inner


def _indices(places: np.ndarray[Any, Any], line: Array) -> np.ndarray[Any, Any]:
    """Those in the line; -1 where an end is as near, to which all but the background looks."""
    extent = line.shape[0]
    own = np.arange(extent)
    places = np.maximum(places - 1, -1)
    is_end = (line != 0) & (np.abs(own - places) >= extent - own)
    return np.where(is_end, -1, places)
