"""What cc3d makes of its arguments: neighbours, and the type and place of labels.

The type of labels is the narrowest that is sure to have room, before anything is labelled: for runs of equal values along the
axis that lies together, or, of a set, for as many components as fit in.  Runs are counted until it is clear that they are too
many for 16 bits, which takes a moment for most images.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
from numpy.typing import DTypeLike

from ._label_arrays import Numbers, as_it_lies, is_of_fortran

_TYPES = (np.uint16, np.uint32, np.uint64)
_BLOCK = 1 << 20  # elements, of which runs are counted at a time


class DimensionError(Exception):
    """The array has a wrong number of axes."""


def axes_of_neighbours(connectivity: int, ndim: int) -> int:
    """Along how many axes neighbours may differ, by their number."""
    if not 1 <= ndim <= 3:
        raise DimensionError(f"data has {ndim} axes, but 1, 2 or 3 are needed")
    known = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3} if ndim == 2 else {6: 1, 18: 2, 26: 3}
    if connectivity not in known:
        raise ValueError(f"connectivity is {connectivity}, but must be one of {', '.join(map(str, known))} for {ndim} axes")
    return min(known[connectivity], ndim)


def runs_of(array: Numbers, most: Optional[int] = None) -> int:
    """How many runs of equal values other than 0 there are; of more than `most` it is enough to know that."""
    lying = as_it_lies(array)
    runs, step = 0, max(1, _BLOCK // max(1, math.prod(lying.shape[1:])))
    if lying.ndim == 1:
        lying, step = lying[None], 1
    for start in range(0, len(lying), step):
        rows = lying[start:start + step].reshape(-1, lying.shape[-1])
        begins = rows[:, 1:] != rows[:, :-1]
        begins &= rows[:, 1:] != 0
        runs += int(np.count_nonzero(begins)) + int(np.count_nonzero(rows[:, 0]))
        if most is not None and runs > most:
            break
    return runs


def _most_labels(array: Numbers, connectivity: int, is_set: bool, enough: int) -> int:
    """No fewer than the labels that there will be; if they are more than `enough`, no more is said."""
    if not is_set:
        return array.size if array.size <= enough else min(array.size, runs_of(array, enough))
    blocks: int = math.prod(n + n % 2 for n in array.shape) * 2 ** (3 - array.ndim)
    return min(array.size, blocks // {4: 2, 6: 2, 8: 4, 18: 4, 26: 8}[connectivity] + 1)


def output_type(array: Numbers, connectivity: int, is_set: bool, wanted: Optional[DTypeLike]) -> np.dtype[Any]:
    """The type of labels: the one that is wanted, if it has room, or else the narrowest that has."""
    if wanted is not None and np.dtype(wanted) not in _TYPES:
        raise ValueError(f"out_dtype is {np.dtype(wanted)}, but must be uint16, uint32 or uint64")
    for kind in _TYPES if wanted is None else (wanted,):
        dtype = np.dtype(kind)
        room = int(np.iinfo(dtype).max)
        most = room - 1 if wanted is None else room
        if dtype == np.uint64 or _most_labels(array, connectivity, is_set, most) <= most:
            return dtype
    raise ValueError(f"out_dtype is {dtype}, but there may be more than {room} labels")


def output_for(file: Any, dtype: np.dtype[Any], array: Numbers) -> tuple[Numbers, Numbers]:
    """An array for labels, in memory or in a file, and the one of signed integers to be filled: the same, if it can be."""
    order: Any = "F" if is_of_fortran(array) else "C"
    labels: Numbers
    if file is None:
        labels = np.empty(array.shape, dtype, order)
    else:
        labels = np.memmap(file, dtype, "w+" if isinstance(file, str) else "r+", shape=array.shape, order=order)
    signed = np.dtype(np.int64 if array.size >= 2**31 or dtype == np.uint64 else np.int32)
    if signed.itemsize == dtype.itemsize:
        return labels, labels.view(signed)
    return labels, np.empty(array.shape, signed, order)
