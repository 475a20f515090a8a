"""Distance maps and geodesic ones of slabs: see slabs.py."""

from __future__ import annotations

import ctypes
import reprlib
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import DTypeLike

from . import _arrays as arrays
from . import _labels as values
from . import _library as c
from ._arrays import LENGTHS, Array
from ._columns import (NONE, Columns, address, as_slab, check_kind, columns_like, context_of, image_shape, place, taken, told_shape,
                       written)
from ._context import Context, Device
from ._errors import wrong
from ._options import Periodic, Spacing, Weights, flag, flags, options, periodic_flags


# ---- Distance ----

def summary(set: Array, start: int, *, complement: bool = False, labels: bool = False,
            device: Union[Device, Context, None] = None) -> tuple[Columns, Columns]:
    """The first and the last row of each column that is in the set; of label images the first and the last run of a label.

    Parameters
    ----------
    set : array, of 2 or 3 axes
        The slab.  Its non-zero elements are the set.
    start : int
        How many rows of the image are before it.
    complement : bool, default False
        The set is the zero elements instead.
    labels : bool, default False
        `set` is a label image, of integers, for maps with `labels`.
    device : str, int, sequence of int or Context, optional
        Where the work is done; by default where the array is.

    Returns
    -------
    first, last : array of int64
        Row numbers in the whole image; the largest int64, and -1, in a column without the set.  With `labels` three of them,
        along a new first axis: the row of the label, the nearest row beyond its run, and the label.

    Examples
    --------
    >>> apsis.slabs.summary([[0, 1], [0, 0], [0, 1]], 10)
    (array([9223372036854775807,                  10]), array([-1, 12]))
    """
    source = as_slab(set, labels)
    first, last = columns_like(source, NONE, labels), columns_like(source, -1, labels)
    context, images = context_of(source, device), arrays.images_of([source], [])
    chosen = options(len(source.shape), flags(complement=complement, labels=labels))
    context._call(c.lib.apsis_slab_summary, images, arrays.reference(images[0]), place("start", start), address(first),
                  address(last), ctypes.byref(chosen))
    return first, last


def merge(*summaries: tuple[Columns, Columns], labels: bool = False) -> tuple[Columns, Columns]:
    """The first and the last rows of several slabs, in any order and grouping, as of one.

    Parameters
    ----------
    *summaries : tuple of two arrays
        As `summary` and `merge` give them.
    labels : bool, default False
        They are those of label images: of slabs that follow each other, none left out between one and those before it.

    Returns
    -------
    first, last : array of int64
        The lower first rows, and the higher last ones.

    Examples
    --------
    >>> one = apsis.slabs.summary([[0, 1]], 0)
    >>> apsis.slabs.merge(one, apsis.slabs.summary([[1, 1]], 7))
    (array([7, 0]), array([7, 7]))
    """
    if not summaries:
        raise wrong("summaries is empty, but those of one slab are needed")
    for k, pair in enumerate(summaries):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"summaries[{k}] is {reprlib.repr(pair)}, but must be the two arrays of a summary")
    shape = np.shape(summaries[0][0])
    given = [(taken(f"summaries[{k}][0]", first, shape), taken(f"summaries[{k}][1]", last, shape))
             for k, (first, last) in enumerate(summaries)]
    if flag("labels", labels) and shape[:1] != (3,):
        raise wrong(f"summaries[0][0] has shape {shape}, but with labels must have three numbers along its first axis")
    first, last = given[0][0].copy(), given[0][1].copy()
    call, columns = (c.lib.apsis_slab_merge_labels, first.size // 3) if labels else (c.lib.apsis_slab_merge, first.size)
    for other in given[1:]:
        call(columns, other[0].ctypes.data, other[1].ctypes.data, first.ctypes.data, last.ctypes.data)
    return first, last


def close(told: tuple[Columns, Columns], all_told: tuple[Columns, Columns], extent: int, *,
          labels: bool = False) -> tuple[Columns, Columns]:
    """What slabs above one, or below it, tell, with what lies behind the seam of an image that closes on itself along its first
    axis.

    Parameters
    ----------
    told : tuple of two arrays
        As `merge` gives them for the slabs above one, or for those below it; of none the largest int64, and -1.
    all_told : tuple of two arrays
        The same of all slabs of the image.
    extent : int
        How many rows the image has.
    labels : bool, default False
        They are those of label images, whose runs go on behind the seam.

    Returns
    -------
    first, last : array of int64
        What `distance` and `voronoi` take with the first axis in `periodic`.

    Examples
    --------
    >>> told = apsis.slabs.summary([[0, 1]], 0), apsis.slabs.summary([[1, 1]], 1)
    >>> apsis.slabs.close(told[0], apsis.slabs.merge(*told), 2)
    (array([1, 0]), array([1, 0]))
    """
    shape, pairs = np.shape(told[0]), (("told", told), ("all_told", all_told))
    given = [[taken(f"{name}[{i}]", pair[i], shape) for i in range(2)] for name, pair in pairs]
    first, last = (array.copy() for array in given[0])
    rows = place("extent", extent)
    if not flag("labels", labels):
        return np.where(first == NONE, given[1][0], first), np.where(last < 0, given[1][1], last)
    if shape[:1] != (3,):
        raise wrong(f"told[0] has shape {shape}, but with labels must have three numbers along its first axis")
    c.lib.apsis_slab_close_labels(first.size // 3, rows, given[1][0].ctypes.data, given[1][1].ctypes.data, first.ctypes.data,
                                  last.ctypes.data)
    return first, last


def distance(set: Array, start: int, extent: int, above: Optional[Columns] = None, below: Optional[Columns] = None,
             complement_above: Optional[Columns] = None, complement_below: Optional[Columns] = None, *,
             nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32, out: Optional[Array] = None,
             nearest_out: Optional[Array] = None, spacing: Spacing = None, metric: str = "euclidean",
             max_distance: Optional[float] = None, complement: bool = False, signed: bool = False, labels: bool = False,
             border: bool = False, periodic: Periodic = False, device: Union[Device, Context, None] = None) -> Any:
    """The rows of a slab, of what apsis.distance gives for the whole image.

    Parameters
    ----------
    set, start, device
        As for `summary`.
    extent : int
        How many rows the image has.
    above, below : array of int64, optional
        The last rows of what `merge` gives for the slabs before this one, and the first rows of those behind it; None if there
        is none.
    complement_above, complement_below : array of int64, optional
        The same of the complement, for `signed` alone.
    nearest, dtype, out, nearest_out, spacing, metric, max_distance, complement, signed, labels, border
        As for apsis.distance.  Indices are those in the whole image.  The chessboard metric gives none.
    periodic : bool or sequence of int, default False
        The axes of the image along which it closes on itself, or True: along all.  If the first one is among them, above and
        below are as `close` gives them.

    Returns
    -------
    array, or tuple of arrays
        The distances, with `nearest` a tuple of both.

    Examples
    --------
    >>> apsis.slabs.distance([[0, 0], [0, 0]], 5, 7, above=np.array([4, -1]), nearest=True)
    (array([[1.       , 1.4142135],
           [2.       , 2.236068 ]], dtype=float32), array([[8, 8],
           [8, 8]], dtype=int32))
    """
    source = as_slab(set, labels)
    slab = _slab(source, start, extent, labels, above=above, below=below, complement_above=complement_above,
                 complement_below=complement_below)
    axes = len(source.shape)
    chosen = options(axes, flags(complement=complement, signed=signed, labels=labels, border=border) |
                     periodic_flags(periodic, axes), spacing=spacing, metric=metric, max_distance=max_distance)
    outputs = [arrays.output("out", out, "dtype", dtype, LENGTHS, set, source),
               arrays.index_output("nearest_out", nearest_out, "nearest", nearest, set, source, image_shape(source, extent))]
    images = arrays.images_of([source], outputs)
    result = arrays.results(outputs)
    context_of(source, device)._call(c.lib.apsis_slab_distance, images, arrays.reference(images[0]), ctypes.byref(slab),
                                   *map(arrays.reference, images[1:]), ctypes.byref(chosen))
    return result


def voronoi(set: Array, start: int, extent: int, above: Optional[Columns] = None, below: Optional[Columns] = None, *,
            out: Optional[Array] = None, dtype: Optional[DTypeLike] = None, spacing: Spacing = None, metric: str = "euclidean",
            max_distance: Optional[float] = None, complement: bool = False, labels: bool = False, periodic: Periodic = False,
            device: Union[Device, Context, None] = None) -> Any:
    """The rows of a slab, of the complete map that apsis.voronoi gives for the whole image.

    Parameters
    ----------
    set, start, extent, above, below, periodic, device
        As for `distance`.
    out, dtype, spacing, metric, max_distance, complement, labels
        As for apsis.voronoi.

    Returns
    -------
    array
        Indices of sites in the whole image, or with `labels` their labels.

    Examples
    --------
    >>> told = apsis.slabs.summary([[7, 0, 9]], 4, labels=True)
    >>> apsis.slabs.voronoi([[0, 0, 0], [0, 0, 0]], 5, 7, told[1], labels=True, max_distance=1)
    array([[7, 0, 9],
           [0, 0, 0]])
    """
    source = as_slab(set, labels)
    slab = _slab(source, start, extent, labels, above=above, below=below)
    axes = len(source.shape)
    chosen = options(axes, flags(complement=complement, labels=labels) | periodic_flags(periodic, axes), spacing=spacing,
                     metric=metric, max_distance=max_distance)
    wanted = True if dtype is None else dtype
    outputs = [arrays.index_output("out", out, "dtype", values.map_type(wanted, source) if labels else wanted, set, source,
                                   image_shape(source, extent))]
    if labels:
        values.check_room(outputs[0], source)
    images = arrays.images_of([source], outputs)
    result = arrays.results(outputs)
    context_of(source, device)._call(c.lib.apsis_slab_voronoi, images, arrays.reference(images[0]), ctypes.byref(slab),
                                   arrays.reference(images[1]), ctypes.byref(chosen))
    if labels:
        values.mend(outputs[0], source)
    return result


def _slab(source: Array, start: int, extent: int, labels: bool, **told: Optional[Columns]) -> Any:
    """Where a slab is, and what of the image is outside it."""
    slab = c.Slab(start=place("start", start), extent=place("extent", extent))
    slab.kept = []
    for name, array in told.items():
        if array is not None:
            slab.kept.append(taken(name, array, told_shape(source, labels)))
            setattr(slab, name, slab.kept[-1].ctypes.data)
    return slab


# ---- Geodesic ----

class Paths:
    """What a slab tells of the shortest paths to its first row and to its last, as `relax` finds them out.

    Parameters
    ----------
    columns : tuple of int
        The shape of a row: that of the image without its first axis.
    nearest : bool, default False
        Keeps the nearest seeds, too, which maps of them need.

    Attributes
    ----------
    first, last : array of int64
        The lengths, as whole numbers; at first, and where no path leads, the largest int64.
    first_seeds, last_seeds : array of int64, or None
        The nearest seeds; -1 where no path leads.
    """

    def __init__(self, columns: Sequence[int], nearest: bool = False) -> None:
        keeps_seeds = flag("nearest", nearest)
        self.first: Columns = np.full(columns, NONE, np.int64)
        self.last: Columns = np.full(columns, NONE, np.int64)
        self.first_seeds: Optional[Columns] = np.full(columns, -1, np.int64) if keeps_seeds else None
        self.last_seeds: Optional[Columns] = np.full(columns, -1, np.int64) if keeps_seeds else None


def relax(set: Array, seeds: Array, start: int, extent: int, paths: Paths, above: Optional[Paths] = None,
          below: Optional[Paths] = None, *, connectivity: Optional[int] = None, spacing: Spacing = None,
          metric: str = "euclidean", max_distance: Optional[float] = None, complement: bool = False,
          weights: Weights = None, periodic: Periodic = False, device: Union[Device, Context, None] = None) -> int:
    """Brings what a slab tells of paths up to what the slabs beside it tell.

    Call it for the slabs in any order until it has changed nothing in any of them; one that has slabs beside it which have
    changed nothing since its last call may be left out.

    Parameters
    ----------
    set, start, extent, device
        As for `distance`.
    seeds : array of the shape of `set`
        Its non-zero elements; those outside the set do not count.
    paths : Paths
        What the slab tells, which is written to.
    above, below : Paths, optional
        What the slabs before it and behind it tell; None if there is none.
    connectivity, spacing, metric, weights, max_distance, complement
        As for apsis.geodesic, without a knight's move.
    periodic : bool or sequence of int, default False
        The axes of the image along which it closes on itself, or True: along all.  If the first one is among them, the last
        slab is the one before the first.

    Returns
    -------
    int
        How many elements of `paths` have changed.
    """
    return _walk(set, seeds, start, extent, paths, above, below, [None, None], complement, periodic, device,
                 connectivity=connectivity, spacing=spacing, metric=metric, max_distance=max_distance, weights=weights)


def geodesic(set: Array, seeds: Array, start: int, extent: int, paths: Paths, above: Optional[Paths] = None,
             below: Optional[Paths] = None, *, nearest: Union[bool, DTypeLike] = False,
             dtype: Optional[DTypeLike] = np.float32, out: Optional[Array] = None, nearest_out: Optional[Array] = None,
             connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
             max_distance: Optional[float] = None, complement: bool = False, weights: Weights = None,
             periodic: Periodic = False, device: Union[Device, Context, None] = None) -> Any:
    """The rows of a slab, of what apsis.geodesic gives for the whole image.

    Parameters
    ----------
    set, seeds, start, extent, paths, above, below
    connectivity, spacing, metric, weights, max_distance, complement, periodic, device
        As for `relax`, when it changes nothing any more in any slab.
    nearest, dtype, out, nearest_out
        As for apsis.geodesic.  Indices are those in the whole image.

    Returns
    -------
    array, or tuple of arrays
        The lengths, with `nearest` a tuple of both.

    Raises
    ------
    ArgumentError
        Paths of the slab have changed, so that the maps are not yet those of the image.

    Examples
    --------
    >>> paths = apsis.slabs.Paths((3,))
    >>> apsis.slabs.relax([[1, 1, 1]], [[1, 0, 0]], 0, 1, paths)
    6
    >>> apsis.slabs.geodesic([[1, 1, 1]], [[1, 0, 0]], 0, 1, paths)
    array([[0., 1., 2.]], dtype=float32)
    """
    source = as_slab(set)
    outputs = [arrays.output("out", out, "dtype", dtype, LENGTHS, set, source),
               arrays.index_output("nearest_out", nearest_out, "nearest", nearest, set, source, image_shape(source, extent))]
    result = arrays.results(outputs)
    changed = _walk(source, seeds, start, extent, paths, above, below, outputs, complement, periodic, device,
                    connectivity=connectivity, spacing=spacing, metric=metric, max_distance=max_distance, weights=weights)
    if changed:
        raise wrong(f"paths has changed in {changed} elements: relax the slabs until nothing changes")
    return result


def _walk(set: Array, seeds: Array, start: int, extent: int, paths: Paths, above: Optional[Paths], below: Optional[Paths],
          outputs: list[Optional[arrays.Output]], complement: bool, periodic: Periodic, device: Union[Device, Context, None],
          **how: Any) -> int:
    """Calls apsis_slab_geodesic: how much has changed of what the slab tells."""
    source, starts = as_slab(set), arrays.as_set("seeds", seeds)
    arrays.check_shape("seeds", starts, source)
    columns = tuple(source.shape[1:])
    slab = c.SlabPaths(start=place("start", start), extent=place("extent", extent))
    slab.kept = []
    for name, beside, field in (("above", above, "last"), ("below", below, "first")):
        if beside is not None:
            check_kind(name, beside, Paths)
            for suffix in ("", "_seeds"):
                array = getattr(beside, field + suffix)
                if array is not None:
                    slab.kept.append(taken(f"{name}.{field}{suffix}", array, columns))
                    setattr(slab, name + suffix, slab.kept[-1].ctypes.data)
    check_kind("paths", paths, Paths)
    for field in ("first", "last", "first_seeds", "last_seeds"):
        array = getattr(paths, field)
        if array is not None:
            slab.kept.append(written(f"paths.{field}", array, columns))
            setattr(slab, field, slab.kept[-1].ctypes.data)
    axes = len(source.shape)
    chosen = options(axes, flags(complement=complement) | periodic_flags(periodic, axes), **how)
    changed = ctypes.c_int64()
    images = arrays.images_of([source, starts], outputs)
    context_of(source, device)._call(c.lib.apsis_slab_geodesic, images, *map(arrays.reference, images[:2]), ctypes.byref(slab),
                                   *map(arrays.reference, images[2:]), ctypes.byref(changed), ctypes.byref(chosen))
    return changed.value
