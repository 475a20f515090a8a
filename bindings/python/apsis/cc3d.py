"""Functions with the names, arguments and results of the package connected-components-3d (cc3d), computed by apsis.

    import apsis.cc3d as cc3d
    labels, count = cc3d.connected_components(image, connectivity=26, return_N=True)
    known, touching = cc3d.statistics(labels), cc3d.contacts(labels)

Images are arrays of integers, bools or floats, of 1 to 3 axes, in the order of C or of Fortran.  What differs: components are
numbered in the order of their first elements, those of largest_k too; areas of contacts are of float64; values
that `delta` is for must be those that int32 or float32 holds; there are no voxel graphs.  `device` is an addition: see
apsis.distance.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import DTypeLike

from ._calls import Device
from ._cc3d_types import DimensionError, axes_of_neighbours, output_for, output_type, runs_of
from ._context import context_for
from ._label_arrays import (Each, Numbers, as_integers, as_it_lies, axes_of, in_memory, is_of_fortran, is_tensor, refuse,
                            slices_of)
from ._options import flag, real, steps

__all__ = ["DimensionError", "color_connectivity_graph", "connected_components", "connected_components_stack", "contacts",
           "dust", "each", "estimate_provisional_labels", "largest_k", "region_graph", "statistics", "voxel_connectivity_graph"]

_NO_GRAPHS = "apsis has no voxel graphs: contacts tells which labels touch, and apsis.geodesic follows paths in a set"

Threshold = Union[float, Sequence[float]]


def connected_components(data: Any, max_labels: int = -1, connectivity: int = 26, return_N: bool = False,
                         delta: float = 0, out_dtype: Optional[DTypeLike] = None, out_file: Any = None,
                         periodic_boundary: bool = False, binary_image: bool = False, *,
                         device: Optional[Device] = None) -> Any:
    """Numbers the components of a label image: neighbours are connected where their values are equal, and not 0.

    With `delta` it is a grey image, and they are connected where values differ by at most that.

    Parameters and results are those of cc3d.connected_components: `max_labels` does nothing, and without `out_dtype` it is the
    narrowest type that is sure to have room.  Tensors of PyTorch are taken, and given back in the memory of the CPU.
    """
    array = in_memory("data", data)
    axes_of_neighbours(connectivity, array.ndim)
    is_periodic = flag("periodic_boundary", periodic_boundary)
    near = _nearness(array, binary_image, delta)
    labels, count = _components(array, connectivity, near, device, out_dtype, out_file, periodic=is_periodic)
    if is_tensor(data):
        import torch
        labels = torch.from_numpy(labels)
    return (labels, count) if flag("return_N", return_N) else labels


def statistics(out_labels: Any, no_slice_conversion: bool = False, *, device: Optional[Device] = None) -> dict[str, Any]:
    """How many elements each label has, its box and its centroid, by label.

    Parameters and results are those of cc3d.statistics: "voxel_counts", "bounding_boxes" and "centroids", of labels from 0 to
    the greatest.
    """
    labels = in_memory("out_labels", out_labels, "biu")
    labels = labels.reshape(labels.shape + (1,) * (2 - labels.ndim))
    if labels.size == 0:
        return {"voxel_counts": None, "bounding_boxes": None, "centroids": None}
    for value in (labels.min(), labels.max()):
        if not 0 <= value <= labels.size:
            raise ValueError(f"out_labels has the value {value}, but labels from 0 to the number of elements are taken")
    known = context_for(labels, device).statistics(as_it_lies(labels), dense=True)
    is_none = known["area"] == 0
    centroids = axes_of(known["centroid"], labels).copy()
    centroids[is_none] = np.nan
    size: np.dtype[Any] = np.dtype(np.uint32 if max(labels.shape) > np.iinfo(np.uint16).max else np.uint16)
    boxes = np.empty((len(known), 2 * labels.ndim), size)
    boxes[:, 0::2], boxes[:, 1::2] = axes_of(known["lower"], labels), axes_of(known["upper"], labels)
    boxes[is_none, 0::2], boxes[is_none, 1::2] = np.iinfo(size).max, 0
    counts = known["area"].astype(np.uint32 if labels.size < 2**32 else np.uint64)
    if flag("no_slice_conversion", no_slice_conversion):
        return {"voxel_counts": counts, "bounding_boxes": boxes, "centroids": centroids}
    slices = [None if area == 0 else slices_of(box[0::2], box[1::2]) for area, box in zip(counts.tolist(), boxes.tolist())]
    return {"voxel_counts": counts, "bounding_boxes": slices, "centroids": centroids}


def largest_k(img: Any, k: int, connectivity: int = 26, delta: float = 0, return_N: bool = False, binary_image: bool = False,
              precomputed_ccl: bool = False, *, device: Optional[Device] = None) -> Any:
    """The k largest components, numbered in the order of their first elements; of equal ones, the lower.

    Parameters and results are those of cc3d.largest_k: of one that is chosen among several, a mask.
    """
    array, k = in_memory("img", img), operator.index(k)
    if k < 0:
        raise ValueError(f"k is {k}, but must be at least 0")
    near = _nearness(array, binary_image, delta)
    if k == 0 or array.size == 0:
        labels, count = np.zeros(array.shape, np.uint16, _order_of(array)), 0
    elif flag("precomputed_ccl", precomputed_ccl):
        labels, count = _largest_of(array, k, device)
    else:
        labels, count = _components(array, connectivity, near, device, largest=k)
        if k == 1 and _count(array, connectivity, near, device) > 1:
            labels = labels == 1
    return (labels, count) if flag("return_N", return_N) else labels


def dust(img: Any, threshold: Threshold, connectivity: int = 26, in_place: bool = False, binary_image: bool = False,
         precomputed_ccl: bool = False, invert: bool = False, return_N: bool = False, *,
         device: Optional[Device] = None) -> Any:
    """Leaves out components of fewer elements than `threshold`, or of a number outside of a range, lower <= number < upper.

    Parameters and results are those of cc3d.dust.
    """
    array = in_memory("img", img)
    if flag("in_place", in_place) and array is not img:
        raise TypeError(f"in_place is True, but img is a {type(img).__name__}, and no array of NumPy")
    lower, upper = threshold if isinstance(threshold, (tuple, list)) else (threshold, np.inf)
    least, most = (math.ceil(min(max(real("threshold", each), 0), array.size + 1)) for each in (lower, upper))
    lying = as_it_lies(array)
    if flag("precomputed_ccl", precomputed_ccl):
        areas = context_for(array, device).statistics(lying, dense=True)["area"]
        is_kept = (areas >= least) & (areas < most) if not flag("invert", invert) else (areas < least) | (areas >= most)
        is_kept[:1] = False  # the background
        kept, count = is_kept[_as_indices(lying)], int(np.count_nonzero(is_kept & (areas > 0)))
    else:
        kept, count = _kept(array, connectivity, _nearness(array, binary_image, 0), least, most, flag("invert", invert), device)
    if in_place:
        np.copyto(lying, array.dtype.type(0), where=~kept)
    else:
        lying = np.where(kept, lying, array.dtype.type(0))
    result = img if in_place else lying.T if is_of_fortran(array) else lying
    return (result, count) if flag("return_N", return_N) else result


def contacts(labels: Any, connectivity: int = 26, surface_area: bool = True, anisotropy: Sequence[float] = (1, 1, 1), *,
             device: Optional[Device] = None) -> dict[tuple[int, int], float]:
    """The area of the faces that every two labels have in common, or, without `surface_area`, how many elements touch.

    Parameters and results are those of cc3d.contacts.
    """
    array = in_memory("labels", labels, "biu")
    if array.ndim == 1:
        array = array[:, None]
    axes = axes_of_neighbours(connectivity, array.ndim)
    width, height, depth = steps("anisotropy", [*anisotropy, *[1] * (3 - len(anisotropy))], 3)
    known = context_for(array, device).contacts(as_it_lies(array), connectivity=axes)
    faces = axes_of(known["faces"], array)
    areas = np.array([height * depth, width * depth, width * height])[:array.ndim]
    amounts = faces @ areas if flag("surface_area", surface_area) else (faces.sum(1) + known["corners"]).astype(float)
    first, second = (known[name].astype(array.dtype).tolist() for name in "ab")  # uint64 as such
    return {(min(a, b), max(a, b)): amount for a, b, amount in zip(first, second, amounts.tolist())}


def region_graph(labels: Any, connectivity: int = 26, *, device: Optional[Device] = None) -> set[tuple[int, int]]:
    """Which labels touch.  Parameters and results are those of cc3d.region_graph."""
    return set(contacts(labels, connectivity, device=device))


def each(labels: Any, binary: bool = False, in_place: bool = False) -> Each:
    """Iterates over labels, and an image of each: of the label, or with `binary` a mask.

    Parameters and results are those of cc3d.each.  With `in_place` it is one array that changes, and is read-only.
    """
    array = in_memory("labels", labels)
    if flag("binary", binary):
        return Each(array, np.bool_, lambda box, inside: inside, flag("in_place", in_place))
    return Each(array, array.dtype, lambda box, inside: np.where(inside, array[box], array.dtype.type(0)),
                flag("in_place", in_place))


def estimate_provisional_labels(data: Any) -> tuple[int, int, int]:
    """How many runs of equal values there are, and the first and last row that has one, -1 without any."""
    array = in_memory("data", data)
    lying = as_it_lies(array)
    rows = np.flatnonzero((lying != 0).any(-1))
    return runs_of(array), *((int(rows[0]), int(rows[-1])) if rows.size else (-1, -1))


def voxel_connectivity_graph(data: Any, connectivity: int = 26) -> Any:
    """Not to be had from apsis."""
    raise NotImplementedError(f"voxel_connectivity_graph: {_NO_GRAPHS}")


def color_connectivity_graph(vcg: Any, connectivity: int = 26, return_N: bool = False) -> Any:
    """Not to be had from apsis."""
    raise NotImplementedError(f"color_connectivity_graph: {_NO_GRAPHS}")


def connected_components_stack(stacked_images: Any, connectivity: int = 26, return_N: bool = False,
                               binary_image: bool = False) -> Any:
    """Not to be had from apsis in this form."""
    raise NotImplementedError("connected_components_stack: apsis.slabs numbers the components of an image that is cut, and "
                              "apsis.dask those of an array larger than memory")


# ---- What they share ----

def _order_of(array: Numbers) -> Any:
    return "F" if is_of_fortran(array) else "C"


def _nearness(array: Numbers, binary_image: bool, delta: float) -> Optional[float]:
    """How far the values of neighbours may differ; None if all but 0 count as one."""
    if not 0 <= real("delta", delta) < np.inf:
        raise ValueError(f"delta is {delta}, but must be a number from 0 on")
    if flag("binary_image", binary_image) or array.dtype == bool:
        return None
    if delta == (np.finfo if array.dtype.kind == "f" else np.iinfo)(array.dtype).max:
        return None
    if delta and array.dtype == np.float16:
        raise TypeError(f"delta is {delta}, but of float16 only equal values are connected")
    return real("delta", delta)


def _as_indices(labels: Numbers) -> Numbers:
    """Labels with which a table is read: to NumPy bools are a mask."""
    return labels.view(np.uint8) if labels.dtype == bool else labels


def _source(array: Numbers, near: Optional[float]) -> tuple[Numbers, dict[str, Any]]:
    """What apsis.components takes, and how."""
    if near:
        return as_it_lies(array), {"delta": near}
    return as_it_lies(array if near is None else as_integers(array)), {"labels": near is not None}


def _components(array: Numbers, connectivity: int, near: Optional[float], device: Optional[Device],
                out_dtype: Optional[DTypeLike] = None, out_file: Any = None, largest: Optional[int] = None,
                periodic: bool = False) -> tuple[Any, int]:
    """Labels of the type that cc3d would choose, in the order in memory that the image has, and how many."""
    axes = axes_of_neighbours(connectivity, array.ndim)
    if array.size == 0:
        return np.zeros(array.shape, array.dtype if out_dtype is None else out_dtype), 0
    labels, filled = output_for(out_file, output_type(array, connectivity, near is None, out_dtype), array)
    source, how = _source(array, near)
    closing = [axis for axis, length in enumerate(source.shape) if periodic and length > 1]
    _, count = context_for(array, device).components(source, connectivity=axes, largest=largest, periodic=closing, **how,
                                                     out=filled.T if is_of_fortran(array) else filled)
    if filled.dtype.itemsize != labels.dtype.itemsize:
        labels[...] = filled
    return labels, count


def _count(array: Numbers, connectivity: int, near: Optional[float], device: Optional[Device]) -> int:
    axes = axes_of_neighbours(connectivity, array.ndim)
    source, how = _source(array, near)
    count: int = context_for(array, device).components(source, connectivity=axes, dtype=None, **how)[1]
    return count


def _kept(array: Numbers, connectivity: int, near: Optional[float], least: int, most: int, invert: bool,
          device: Optional[Device]) -> tuple[Numbers, int]:
    """The mask, as the image lies, of components of so many elements, fewer than `most`, or of the others; and how many."""
    (source, how), axes = _source(array, near), axes_of_neighbours(connectivity, array.ndim)
    mask, count = np.zeros(source.shape, bool), 0
    if max(least, 1) < most:
        mask, count = context_for(array, device).components(source, connectivity=axes, dtype=np.bool_, min_area=least,
                                                            max_area=most - 1, **how)
    if invert:
        return (source != 0) & ~mask, _count(array, connectivity, near, device) - count
    return mask, count


def _largest_of(labels: Numbers, k: int, device: Optional[Device]) -> tuple[Numbers, int]:
    """The k largest of labels that there are, in their order."""
    areas = context_for(labels, device).statistics(as_it_lies(labels), dense=True)["area"]
    areas[0] = 0
    if np.count_nonzero(areas) <= k:
        return labels.copy("K"), len(areas) - 1
    kept = np.sort(np.lexsort([np.arange(len(areas)), -areas])[:k])
    if k == 1:
        return labels == kept[0], 1
    numbers = np.zeros(len(areas), labels.dtype)
    numbers[kept] = np.arange(1, k + 1)
    lying = numbers[_as_indices(as_it_lies(labels))]
    return lying.T if is_of_fortran(labels) else lying, k
