"""Components of slabs: see slabs.py."""

from __future__ import annotations

import ctypes
import dataclasses
import reprlib
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _arrays as arrays
from . import _labels as values
from . import _library as c
from ._arrays import LABELS, Array
from ._columns import LONGEST, Columns, address, as_slab, check_kind, columns_like, context_of, place, written
from ._context import COMPONENT, Context, Device
from ._errors import wrong
from ._options import Periodic, flag, flags, options, periodic_flags, whole

#: What is known of a component, or of its elements in a slab: see apsis_part.  `sum` has those of x, y, z over its elements.
PART = np.dtype([("first", "i8"), ("area", "i8"), ("lower", "i8", 3), ("upper", "i8", 3), ("sum", "i8", 3),
                 ("value", "i8")])

_ROOM = 4096  # parts that fit without asking twice


@dataclasses.dataclass
class Labels:
    """What a slab tells of its components, and is told by `join`.

    Attributes
    ----------
    start, rows : int
        How many rows of the image are before it, and how many it has.
    count : int
        How many components it has; of slabs that have been joined, all of them.
    first, last : array of int64
        The numbers in its first and in its last row: its own, and after `join` those of the image.
    parts : array of PART, or None
        What is known of its components, if that is wanted.
    before : int
        The components of the image that begin in rows before it.
    numbers : array of int64, or None
        The numbers in the image of its own components, 0 for what is left out; there with parts.
    """

    start: int
    rows: int
    count: int
    first: Columns
    last: Columns
    parts: Optional[NDArray[Any]] = None
    before: int = 0
    numbers: Optional[Columns] = None


def parts(set: Array, start: int, *, statistics: bool = False, connectivity: Optional[int] = 1,
          largest: Optional[int] = None, min_area: Optional[int] = None, max_area: Optional[int] = None, border: bool = True,
          inner: bool = True, complement: bool = False, by_value: bool = False, periodic: Periodic = False,
          device: Union[Device, Context, None] = None) -> Labels:
    """Numbers the components of a slab.

    Parameters
    ----------
    set, start, device
        As for `summary`.
    statistics : bool, default False
        Tells what is known of each, too, for `measure`.
    connectivity, largest, min_area, max_area, border, inner, complement
        As for apsis.components, and the same in `join` and `components`.  Here none are left out: the rest of a component may
        be in other slabs.
    by_value : bool, default False
        The array is a label image, of integers: neighbours are connected where their values are equal, and not 0.  Then each
        slab tells what is known of its components, as that has their values.  On the CPU.
    periodic : bool or sequence of int, default False
        The axes of the image along which it closes on itself, or True: along all.

    Returns
    -------
    Labels
        What `join` takes.
    """
    source = as_slab(set, by_value)
    chosen = _selection(len(source.shape), connectivity, largest, min_area, max_area, border, inner, complement, by_value,
                        periodic)
    told = Labels(place("start", start), source.shape[0], 0, columns_like(source, 0), columns_like(source, 0))
    if flag("statistics", statistics) or by_value or _selects(chosen):
        told.parts = np.empty(_ROOM, PART)
    context, images = context_of(source, device), arrays.images_of([source], [])
    while True:
        slab = _raw(told)
        context._call(c.lib.apsis_slab_parts, images, arrays.reference(images[0]), ctypes.byref(slab), ctypes.byref(chosen))
        told.count = slab.count
        if told.parts is None or told.count <= len(told.parts):
            break
        told.parts = np.empty(told.count, PART)
    if told.parts is not None:
        told.parts = told.parts[:told.count].copy()
        if by_value:
            told.parts["value"] = values.signed(told.parts["value"], source)
    return told


def join(labels: Sequence[Labels], shape: Sequence[int], *, connectivity: Optional[int] = 1, largest: Optional[int] = None,
         min_area: Optional[int] = None, max_area: Optional[int] = None, border: bool = True, inner: bool = True,
         complement: bool = False, by_value: bool = False, periodic: Periodic = False,
         device: Union[Device, Context, None] = None) -> Labels:
    """Tells slabs, from the top, the numbers of their components in the image.

    Parameters
    ----------
    labels : sequence of Labels
        As `parts` gives them, each of which begins where the one before it ends.  They are written to.
    shape : tuple of int
        That of the image.
    connectivity, largest, min_area, max_area, border, inner, complement, by_value, periodic
        As for `parts`.  Unless they leave components out, the slabs may be some of those of the image.
    device
        Whose context says what is wrong: the work is the host's.

    Returns
    -------
    Labels
        The slabs as one: `count` of components, and their `parts` if the slabs have them.  It may be joined with others; then
        `renumber` passes on what it is told.
    """
    size = [whole(f"shape[{axis}]", extent, LONGEST) for axis, extent in enumerate(shape)]
    if len(size) not in (2, 3):
        raise wrong(f"shape has {len(size)} axes, but 2 or 3 are needed")
    chosen = _selection(len(size), connectivity, largest, min_area, max_area, border, inner, complement, by_value, periodic)
    for k, told in enumerate(labels):
        check_kind(f"labels[{k}]", told, Labels)
        told.numbers = None if told.parts is None else np.zeros(told.count, np.int64)
    raw = _raw_all("labels", labels, tuple(size[1:]))
    known = None
    if any(told.parts is not None for told in labels):
        known = np.empty(sum(told.count for told in labels), PART)
    count = ctypes.c_int64()
    context = context_of(np.empty(0), device)
    context._call(c.lib.apsis_slab_join, [], len(size), (ctypes.c_int64 * len(size))(*size[::-1]), raw, len(labels),
                  None if known is None else address(known), 0 if known is None else len(known), ctypes.byref(count),
                  ctypes.byref(chosen))
    _take_before(labels, raw)
    with_rows = [told for told in labels if told.rows] or [Labels(0, 0, 0, np.zeros(size[1:], np.int64),
                                                                 np.zeros(size[1:], np.int64))]
    return Labels(labels[0].start if labels else 0, sum(told.rows for told in labels), count.value, with_rows[0].first.copy(),
                  with_rows[-1].last.copy(), None if known is None else known[:count.value].copy())


def renumber(joined: Labels, labels: Sequence[Labels], *, device: Union[Device, Context, None] = None) -> None:
    """Passes on to slabs what one has been told that they became by `join`.

    Parameters
    ----------
    joined : Labels
        That which `join` gave, and which has been joined with others since.
    labels : sequence of Labels
        Those that it gave it for, which are written to.
    device
        As for `join`.
    """
    check_kind("joined", joined, Labels)
    columns = np.shape(joined.first)
    raw = _raw_all("labels", labels, columns)
    own = _raw_all("joined", [joined], columns)
    context_of(np.empty(0), device)._call(c.lib.apsis_slab_renumber, [], int(np.prod(columns, dtype=np.int64)), own, raw,
                                        len(labels))
    _take_before(labels, raw)


def components(set: Array, labels: Labels, *, dtype: DTypeLike = np.int32, out: Optional[Array] = None,
               connectivity: Optional[int] = 1, largest: Optional[int] = None, min_area: Optional[int] = None,
               max_area: Optional[int] = None, border: bool = True, inner: bool = True, complement: bool = False,
               by_value: bool = False, periodic: Periodic = False, device: Union[Device, Context, None] = None) -> Array:
    """The rows of a slab, of the labels that apsis.components gives for the whole image.

    Parameters
    ----------
    set : array, of 2 or 3 axes
        The slab, the same as in `parts`.
    labels : Labels
        That which `parts` gave for it, joined.
    dtype, out
        As for apsis.components.
    connectivity, largest, min_area, max_area, border, inner, complement, by_value, periodic, device
        As for `parts`.

    Returns
    -------
    array
        The labels.

    Examples
    --------
    >>> upper, lower = [[1, 0, 1]], [[1, 1, 1]]
    >>> told = [apsis.slabs.parts(upper, 0), apsis.slabs.parts(lower, 1)]
    >>> apsis.slabs.join(told, (2, 3)).count
    1
    >>> apsis.slabs.components(upper, told[0])
    array([[1, 0, 1]], dtype=int32)
    """
    source = as_slab(set, by_value)
    check_kind("labels", labels, Labels)
    if labels.rows != source.shape[0]:
        raise wrong(f"set has {source.shape[0]} rows, but labels is of a slab of {labels.rows}")
    chosen = _selection(len(source.shape), connectivity, largest, min_area, max_area, border, inner, complement, by_value,
                        periodic)
    slab = _raw_all("labels", [labels], tuple(source.shape[1:]))
    outputs = [arrays.output("out", out, "dtype", dtype, LABELS, set, source)]
    images = arrays.images_of([source], outputs)
    result = arrays.results(outputs)
    context_of(source, device)._call(c.lib.apsis_slab_components, images, arrays.reference(images[0]), slab,
                                   arrays.reference(images[1]), ctypes.byref(chosen))
    return result


def measure(parts: NDArray[Any]) -> NDArray[Any]:
    """What apsis.components says of components, from the parts of whole ones.

    Parameters
    ----------
    parts : array of PART
        Those that `join` gives for all slabs of an image.

    Returns
    -------
    array of COMPONENT
        The statistics of apsis.components.
    """
    if not isinstance(parts, np.ndarray) or parts.dtype != PART or parts.ndim != 1:
        raise TypeError(f"parts is {reprlib.repr(parts)}, but must be an array of PART, such as those of join")
    parts = np.ascontiguousarray(parts)
    known = np.empty(len(parts), COMPONENT)
    c.lib.apsis_slab_measure(len(parts), parts.ctypes.data, known.ctypes.data)
    return known


# ---- What they share ----

def _selection(axes: int, connectivity: Optional[int], largest: Optional[int], min_area: Optional[int],
               max_area: Optional[int], border: bool, inner: bool, complement: bool, by_value: bool,
               periodic: Periodic) -> c.Options:
    given = flags(complement=complement, labels=flag("by_value", by_value), no_border=not flag("border", border),
                  no_inner=not flag("inner", inner))
    return options(axes, given | periodic_flags(periodic, axes), connectivity=connectivity, largest=largest,
                   min_area=min_area, max_area=max_area)


def _selects(chosen: c.Options) -> bool:
    """Whether options leave components out."""
    return bool(chosen.flags & (c.NO_BORDER | c.NO_INNER) or chosen.largest or chosen.min_area or chosen.max_area)


def _raw(told: Labels) -> c.SlabLabels:
    """The library's structure, which has the addresses of the arrays."""
    slab = c.SlabLabels(start=told.start, rows=told.rows, count=told.count, before=told.before, first=told.first.ctypes.data,
                        last=told.last.ctypes.data)
    if told.parts is not None:
        slab.parts, slab.capacity = told.parts.ctypes.data, len(told.parts)
    if told.numbers is not None:
        slab.numbers = told.numbers.ctypes.data
    slab.kept = (told.first, told.last, told.parts, told.numbers)
    return slab


def _raw_all(name: str, labels: Sequence[Labels], columns: tuple[int, ...]) -> Any:
    """The structures of slabs, whose arrays have been checked."""
    for k, told in enumerate(labels):
        check_kind(f"{name}[{k}]", told, Labels)
        written(f"{name}[{k}].first", told.first, columns)
        written(f"{name}[{k}].last", told.last, columns)
        if told.parts is not None and (told.parts.dtype != PART or not told.parts.flags.c_contiguous):
            raise TypeError(f"{name}[{k}].parts must be a contiguous array of PART")
        if told.numbers is not None:
            written(f"{name}[{k}].numbers", told.numbers, (told.count,))
    each = [_raw(told) for told in labels]
    raw: Any = (c.SlabLabels * len(labels))(*each)
    raw.kept = each  # which the copies in it are not
    return raw


def _take_before(labels: Sequence[Labels], raw: Any) -> None:
    for told, slab in zip(labels, raw):
        told.before = slab.before
