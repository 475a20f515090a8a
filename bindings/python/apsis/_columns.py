"""What slabs are told of each other, an element for each column, and their other arguments: checked."""

from __future__ import annotations

import ctypes
import operator
import reprlib
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays as arrays
from ._arrays import Array
from ._context import Context, Device, context_for
from ._errors import wrong
from ._options import flag, whole

Columns = NDArray[np.int64]

NONE = np.iinfo(np.int64).max
LONGEST = 2**30


def as_slab(set: Array, by_value: bool = False) -> Array:
    source = arrays.as_given("set", set, flag("by_value", by_value))
    if len(source.shape) == 1:
        raise wrong("set has 1 axis, but a slab has 2 or 3")
    return source


def context_of(array: Array, device: Union[Device, Context, None]) -> Context:
    return device if isinstance(device, Context) else context_for(array, device)


def place(name: str, value: Any) -> int:
    try:
        return whole(name, operator.index(value), LONGEST)
    except TypeError:
        raise TypeError(f"{name} is {reprlib.repr(value)}, but must be a whole number") from None


def image_shape(source: Array, extent: Any) -> tuple[int, ...]:
    """The shape of the image that a slab is of."""
    return (place("extent", extent), *source.shape[1:])


def told_shape(source: Array, labels: bool) -> tuple[int, ...]:
    """The shape of what a slab tells each way: of label images three numbers a column."""
    return (3, *source.shape[1:]) if labels else tuple(source.shape[1:])


def columns_like(source: Array, value: int, labels: bool = False) -> Columns:
    return np.full(told_shape(source, labels), value, np.int64)


def _checked(name: str, array: Any, shape: tuple[int, ...]) -> Columns:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is {reprlib.repr(array)}, but must be an array of int64")
    if array.dtype != np.int64:
        raise wrong(f"{name} has dtype {array.dtype}, but must be of int64")
    if array.shape != shape:
        raise wrong(f"{name} has shape {array.shape}, but must have {shape}")
    checked: Columns = array
    return checked


def taken(name: str, array: Any, shape: tuple[int, ...]) -> Columns:
    """What is told of the columns, as the library reads it."""
    return np.ascontiguousarray(_checked(name, array, shape))


def written(name: str, array: Any, shape: tuple[int, ...]) -> Columns:
    """What is told of the columns, where the library writes it."""
    checked = _checked(name, array, shape)
    if not (checked.flags.c_contiguous and checked.flags.writeable):
        raise wrong(f"{name} is read-only or not contiguous, but is written to")
    return checked


def address(array: NDArray[Any]) -> Any:
    """The address of an array, which it keeps: a call that is interrupted may go on: see Context._run."""
    return array.ctypes.data_as(ctypes.c_void_p)


def check_kind(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {reprlib.repr(value)}, but must be a slabs.{kind.__name__}")
