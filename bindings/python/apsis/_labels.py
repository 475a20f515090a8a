"""Values of label images.  The library has types of which the sign depends on the size: unsigned ones of 1 and 2 bytes, signed
ones of 4 and 8.  Here values get the sign back that the type of the array has.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

from . import _arrays as arrays
from ._arrays import Array, Output
from ._errors import wrong


def _needs_64_bits(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize == 8 or dtype == np.uint32


def map_type(wanted: Any, labels: Array) -> Any:
    """The type of a map of these labels: True is the smallest that has room for all of their type."""
    if wanted is True or wanted is np.True_:
        return np.dtype(np.int64 if _needs_64_bits(arrays.dtype_in(labels)) else np.int32)
    return wanted


def check_room(output: Optional[Output], labels: Array) -> None:
    """Raises unless a map has room for all labels of their type."""
    dtype = arrays.dtype_in(labels)
    if output is not None and _needs_64_bits(dtype) and arrays.dtype_in(output.array).itemsize < 8:
        raise wrong(f"{output.name} has dtype int32, but labels of {dtype} need int64")


def mend(output: Optional[Output], labels: Array) -> None:
    """Gives a map of labels their sign."""
    if output is None:
        return
    dtype, filled = arrays.dtype_in(labels), output.array
    if dtype.kind == "i" and dtype.itemsize < 4:
        bits = 8 * (arrays.dtype_in(filled).itemsize - dtype.itemsize)
        filled <<= bits
        filled >>= bits
    elif dtype == np.uint32:
        filled &= 2**32 - 1


def signed(values: np.ndarray[Any, Any], labels: Array) -> np.ndarray[Any, Any]:
    """Values that the library tells, with the sign that they have in the array."""
    return values.astype(arrays.dtype_in(labels)).astype(np.int64)


def in_order(known: np.ndarray[Any, Any], labels: Array, *fields: str) -> np.ndarray[Any, Any]:
    """What is known of values, or of pairs, with their sign and in ascending order."""
    for field in fields:
        known[field] = signed(known[field], labels)
    if len(fields) == 2:
        first, second = fields
        known[first], known[second] = np.minimum(known[first], known[second]), np.maximum(known[first], known[second])
    dtype = arrays.dtype_in(labels)
    if dtype.kind == ("i" if dtype.itemsize >= 4 else "u"):
        return known  # in the order of the library
    return known[np.lexsort([known[field] for field in reversed(fields)])]


def records_in_order(known: np.ndarray[Any, Any], labels: Array, field: str) -> np.ndarray[Any, Any]:
    """What is known of values, which are those of a field of records, with their sign and in ascending order."""
    known[field]["value"] = signed(known[field]["value"], labels)
    order = np.argsort(known[field]["value"], kind="stable")
    return known if (order[1:] > order[:-1]).all() else known[order]


def greatest(name: str, labels: Array) -> int:
    """The greatest label, -1 if there are none; of those that are not negative."""
    if math.prod(labels.shape) == 0:
        return -1
    dtype = arrays.dtype_in(labels)
    least = int(labels.min()) if dtype.kind == "i" else 0
    if least < 0:
        raise wrong(f"{name} has the value {least}, but a dense table begins with 0")
    return int(labels.max())
