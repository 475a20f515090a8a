"""Statistics and contacts of the values of label images that are cut into slabs: see slabs.py."""

from __future__ import annotations

import ctypes
import reprlib
from typing import Any, Callable, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays as arrays
from . import _labels as values
from . import _library as c
from ._arrays import Array
from ._columns import as_slab, context_of, place
from ._context import CONTACT, Context, Device
from ._errors import wrong
from ._options import Periodic, Spacing, flags, options, periodic_flags
from ._slab_labels import PART

_ROOM = 1024  # values, or pairs, that fit without asking twice


def statistics(labels: Array, start: int, *, device: Union[Device, Context, None] = None) -> NDArray[Any]:
    """What is known of each value of a slab of a label image.

    Parameters
    ----------
    labels, start, device
        As `set` for `summary`.

    Returns
    -------
    array of PART
        In ascending order of the values.  `measure` makes of what `merge_parts` gives for all slabs what apsis.statistics says.

    Examples
    --------
    >>> told = [apsis.slabs.statistics([[7, 7, 0]], 0), apsis.slabs.statistics([[7, 0, 0]], 1)]
    >>> apsis.slabs.measure(apsis.slabs.merge_parts(*told))[["value", "area"]].tolist()
    [(0, 3), (7, 3)]
    """
    source, begin = as_slab(labels, True), place("start", start)
    chosen = options(len(source.shape), flags(labels=True))
    told = _told(source, device, PART, lambda context, images, room, capacity, count: context._call(
        c.lib.apsis_slab_statistics, images, arrays.reference(images[0]), begin, room, capacity, count, ctypes.byref(chosen)))
    return values.in_order(told, source, "value")


def merge_parts(*parts: NDArray[Any]) -> NDArray[Any]:
    """The parts of several slabs, added up by value.

    Parameters
    ----------
    *parts : array of PART
        As `statistics` and `merge_parts` give them.

    Returns
    -------
    array of PART
        In ascending order of the values.
    """
    all_parts = _joined("parts", parts, PART)
    return all_parts[:c.lib.apsis_slab_merge_parts(len(all_parts), all_parts.ctypes.data)]


def contacts(labels: Array, before: Optional[Array] = None, *, connectivity: Optional[int] = 1, spacing: Spacing = None,
             periodic: Periodic = False, device: Union[Device, Context, None] = None) -> NDArray[Any]:
    """Which values touch in a slab of a label image, and across the cut before it.

    Parameters
    ----------
    labels, device
        As `set` for `summary`.
    before : array, optional
        The row of the image before the slab, of volumes the plane; None if there is none.  Of an image that closes on itself
        along its first axis the last row is the one before the first slab.
    connectivity, spacing, periodic
        As for apsis.contacts.

    Returns
    -------
    array of CONTACT
        As apsis.contacts gives them; those of all slabs are for `merge_contacts`.
    """
    source = as_slab(labels, True)
    row = None
    if before is not None:
        row = _values_in_library(np.asarray(before, arrays.dtype_in(source)))
        if row.shape != tuple(source.shape[1:]):
            raise wrong(f"before has shape {row.shape}, but must have {tuple(source.shape[1:])}")
    axes = len(source.shape)
    chosen = options(axes, flags(labels=True) | periodic_flags(periodic, axes), connectivity=connectivity, spacing=spacing)
    told = _told(source, device, CONTACT, lambda context, images, room, capacity, count: context._call(
        c.lib.apsis_slab_contacts, images, arrays.reference(images[0]), None if row is None else row.ctypes.data, room, capacity,
        count, ctypes.byref(chosen)))
    return values.in_order(told, source, "a", "b")


def merge_contacts(*contacts: NDArray[Any], axes: int, spacing: Spacing = None) -> NDArray[Any]:
    """The contacts of several slabs, added up by pair.

    Parameters
    ----------
    *contacts : array of CONTACT
        As `contacts` and `merge_contacts` give them.
    axes : int
        How many the image has: 2 or 3.
    spacing
        As for `contacts`.

    Returns
    -------
    array of CONTACT
        Of all slabs, those of apsis.contacts.
    """
    pairs = _joined("contacts", contacts, CONTACT)
    count, chosen = ctypes.c_int64(len(pairs)), options(axes, flags(labels=True), spacing=spacing)
    with Context("cpu", threads=1) as context:
        context._call(c.lib.apsis_slab_merge_contacts, [], axes, pairs.ctypes.data, ctypes.byref(count), ctypes.byref(chosen))
    return pairs[:count.value]


def _told(source: Array, device: Union[Device, Context, None], dtype: np.dtype[Any], call: Callable[..., Any],
          images: Optional[list[Optional[c.Image]]] = None) -> NDArray[Any]:
    """What a slab tells, asked once more if there was no room for all.  `images` are those of the call, of which the first is
    of the source."""
    context, images, count = context_of(source, device), images or arrays.images_of([source], []), ctypes.c_int64()
    room = np.empty(_ROOM, dtype)
    while True:
        call(context, images, room.ctypes.data, len(room), ctypes.byref(count))
        if count.value <= len(room):
            return room[:count.value].copy()
        room = np.empty(count.value, dtype)


def _joined(name: str, told: tuple[Any, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    for k, one in enumerate(told):
        if not isinstance(one, np.ndarray) or one.dtype != dtype or one.ndim != 1:
            raise TypeError(f"{name}[{k}] is {reprlib.repr(one)}, but must be an array such as the function {name} gives")
    return np.concatenate([np.empty(0, dtype), *told])


def _values_in_library(row: NDArray[Any]) -> NDArray[np.int64]:
    """The values of an array as the library reads them: see _labels."""
    kind = "u" if row.dtype.itemsize < 4 else "i"
    return np.ascontiguousarray(row.view(f"{kind}{row.dtype.itemsize}").astype(np.int64))
