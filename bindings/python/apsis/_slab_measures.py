"""Measures of the values of label images that are cut into slabs: see slabs.py."""

from __future__ import annotations

import ctypes
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays as arrays
from . import _labels as values
from . import _library as c
from ._arrays import Array
from ._columns import as_slab, context_of, place
from ._context import MEASURE, Context, Device
from ._errors import wrong
from ._options import Spacing, flags, measures_mask, options
from ._slab_labels import PART
from ._slab_values import _joined, _told

#: What is counted of a value in a slab: see apsis_sums.
SUMS = np.dtype([("part", PART), ("wanted", "i8"), ("products_low", "i8", 6), ("products_high", "i8", 6), ("faces", "i8", 3),
                 ("diagonals", "i8"), ("euler", "i8"), ("steps", "i8", 3), ("intensity_low", "i8", 8),
                 ("intensity_high", "i8", 8), ("least", "i8"), ("largest", "i8"), ("special", "i8"), ("reserved", "i8", 4)])


def sums(labels: Array, start: int, before: Optional[Array] = None, intensity: Optional[Array] = None, *,
         wanted: Iterable[str] = (), connectivity: Optional[int] = 1,
         device: Union[Device, Context, None] = None) -> NDArray[Any]:
    """What is counted of each value of a slab of a label image but 0.

    Parameters
    ----------
    labels, start, device
        As `set` for `summary`.
    before : array, optional
        The last rows of the image before the slab, of volumes planes, and of the same dtype: 4 of them for "perimeter", 1 for
        "surface" or "euler", fewer where the image begins, or more.  They are not counted.
    intensity : array of the shape of labels, optional
        Of bool, uint8, uint16 or float32.
    wanted, connectivity
        As for apsis.measure.measures, but for "filled", "hull" and "feret", which slabs cannot tell.

    Returns
    -------
    array of SUMS
        In ascending order of the values.  `measures` makes of what `merge_sums` gives for all slabs what
        apsis.measure.measures says.

    Examples
    --------
    >>> image = np.array([[7, 7, 0], [7, 0, 0]])
    >>> told = [apsis.slabs.sums(image[k:k + 1], k, image[:k], wanted=["surface"]) for k in range(2)]
    >>> apsis.slabs.measures(apsis.slabs.merge_sums(*told), image.shape)["surface"].tolist()
    [8.0]
    """
    source, begin, mask = as_slab(labels, True), place("start", start), measures_mask(wanted)
    sources, names = [source], ["labels"]
    if before is not None:
        rows = arrays.as_labels("before", before)
        if arrays.dtype_in(rows) != arrays.dtype_in(source):
            raise wrong(f"before has dtype {arrays.dtype_in(rows)}, but labels has {arrays.dtype_in(source)}")
        if tuple(rows.shape[1:]) != tuple(source.shape[1:]):
            raise wrong(f"before has rows of shape {tuple(rows.shape[1:])}, but labels has {tuple(source.shape[1:])}")
        sources, names = [*sources, rows], [*names, "before"]
    if intensity is not None:
        grey = arrays.as_intensity("intensity", intensity)
        arrays.check_shape("intensity", grey, source, "labels")
        sources, names = [*sources, grey], [*names, "intensity"]
    chosen = options(len(source.shape), flags(labels=True), connectivity=connectivity)
    images = arrays.images_of(sources, [], tuple(names))
    given = dict(zip(names, images))
    told = _told(source, device, SUMS, lambda context, images, room, capacity, count: context._call(
        c.lib.apsis_slab_sums, images, arrays.reference(given["labels"]), arrays.reference(given.get("intensity")),
        arrays.reference(given.get("before")), begin, mask, room, capacity, count, ctypes.byref(chosen)), images)
    return values.records_in_order(told, source, "part")


def merge_sums(*sums: NDArray[Any]) -> NDArray[Any]:
    """The sums of several slabs, added up by value, of what all were asked for.

    Parameters
    ----------
    *sums : array of SUMS
        As `sums` and `merge_sums` give them.

    Returns
    -------
    array of SUMS
        In ascending order of the values.
    """
    all_sums = _joined("sums", sums, SUMS)
    return all_sums[:c.lib.apsis_slab_merge_sums(len(all_sums), all_sums.ctypes.data)]


def measures(sums: NDArray[Any], shape: Sequence[int], *, spacing: Spacing = None) -> NDArray[Any]:
    """Makes of the sums of all slabs what apsis.measure.measures says of the image.

    Parameters
    ----------
    sums : array of SUMS
        As `merge_sums` gives them.
    shape : of the image
    spacing
        As for apsis.measure.measures.

    Returns
    -------
    array of MEASURE
    """
    known = np.ascontiguousarray(_joined("sums", (sums,), SUMS))
    size = [place(f"shape[{k}]", extent) for k, extent in enumerate(shape)][::-1]
    if len(size) not in (2, 3):
        raise wrong(f"shape has {len(size)} axes, but 2 or 3 are needed")
    found, chosen = np.empty(len(known), MEASURE), options(len(size), flags(labels=True), spacing=spacing)
    with Context("cpu") as context:
        context._call(c.lib.apsis_slab_measures, [], len(size), (ctypes.c_int64 * len(size))(*size), known.ctypes.data,
                      len(known), found.ctypes.data, ctypes.byref(chosen))
    return found
