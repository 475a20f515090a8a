"""Maps of dask arrays, larger than the memory of a machine: the results are those of the whole image, byte for byte.

    import apsis.dask
    mask = dask.array.from_zarr("mask.zarr")               # 2 or 3 axes, any chunks, blocks of NumPy or of CuPy
    distance = apsis.dask.distance(mask)                   # lazy, as are all
    labels, count = apsis.dask.label(mask, connectivity=2)
    distance.to_zarr("distance.zarr")

The set is cut into slabs along its first axis, and read once: after that one bit an element is kept, of label images all.  A
set whose chunks have whole rows, or planes, is cut as it is; any other is rechunked, a byte an element, to slabs of which a
map of 8 bytes an element has the size that dask's `array.chunk-size` says, of volumes to 16 planes at least.  Maps have the
chunks of the slabs, and are not rechunked.  What slabs tell each other is small, and goes up and down a tree: of n slabs
there are 3 to 7 n tasks.  `periodic` is for every axis, the one that is cut among them.

Arguments are checked before anything is computed.  xarray's DataArrays of dask arrays are taken and given back, too.
"""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from numpy.typing import DTypeLike

from . import _arrays as arrays
from . import _dask_graphs as graphs
from . import _dask_tasks as tasks
from . import slabs
from ._arrays import Array
from ._context import Device
from ._options import Periodic, Spacing, Weights, flag

__all__ = ["contacts", "distance", "geodesic", "label", "nearest", "statistics", "value_statistics", "voronoi"]


def distance(set: Array, *, nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
             spacing: Spacing = None, metric: str = "euclidean", max_distance: Optional[float] = None, complement: bool = False,
             signed: bool = False, labels: bool = False, border: bool = False, periodic: Periodic = False,
             device: Optional[Device] = None) -> Any:
    """The distance from every element to the nearest one of the set, the non-zero elements.

    Parameters
    ----------
    set : dask array, of 2 or 3 axes
        Its non-zero elements are the set.
    nearest, dtype, spacing, metric, max_distance, complement, signed, border, periodic
        As for apsis.distance.  The chessboard metric gives no nearest elements.
    labels : bool, default False
        The array is a label image, of integers: the distance is that to the nearest element of another value.  It is kept in the
        size of its elements.
    device : str, int or sequence of int, optional
        Where a worker does the work, as for apsis.distance; by default where its blocks are.

    Returns
    -------
    dask array, or tuple of two
        The distances, with `nearest` a tuple of both.

    Examples
    --------
    >>> set = dask.array.from_array(np.array([[0, 0, 0, 1], [0, 0, 0, 0]]), chunks=(1, 2))
    >>> apsis.dask.distance(set, metric="city-block").compute()
    array([[3., 2., 1., 0.],
           [4., 3., 2., 1.]], dtype=float32)
    """
    how: dict[str, Any] = {"nearest": nearest, "dtype": dtype, "spacing": spacing, "metric": metric,
                           "max_distance": max_distance, "complement": complement, "signed": signed, "border": border,
                           "periodic": periodic}
    if flag("labels", labels):
        return _of_labels("distance", set, slabs.distance, tasks.distance_of_labels, how, device)
    cut = graphs.cut("set", set)
    ends = _ends(cut, periodic) if cut.extent else []
    like = slabs.distance(cut.nothing(), 0, cut.extent, *ends, device="cpu", **how)
    graphs.check_device(device)
    how["device"] = device
    bits = graphs.bits(cut)
    sides = [bool(complement), not complement] if signed else [bool(complement)]
    told = graphs.outside(cut, bits, sides, cut.is_ring(periodic), device)
    return graphs.maps("distance", cut, set, like, how, [bits, told],
                       lambda k, slab: (tasks.distance, bits.ref(k), slab, cut.extent, told.ref(k), how))


def _ends(cut: graphs.Cut, periodic: Periodic) -> list[Any]:
    """What a slab without rows, before all others, is told of an image that is all in the set."""
    above, below = (np.full(cut.mask.shape[1:], row, np.int64) for row in (cut.extent - 1, 0))
    return [above if cut.is_ring(periodic) else None, below]


def _of_labels(name: str, set: Array, function: Any, task: Any, how: dict[str, Any], device: Optional[Device]) -> Any:
    """The maps of a label image that `function` makes of a slab, and `task` on a worker."""
    cut = graphs.cut("set", set, by_value=True)
    below = np.ones((3, *cut.mask.shape[1:]), np.int64) if cut.extent else None
    if below is not None:
        below[0] = 0
    like = function(cut.nothing(cut.mask.dtype), 0, cut.extent, None, below, labels=True, device="cpu", **how)
    graphs.check_device(device)
    how["device"] = device
    values = graphs.bits(cut, True)
    told = graphs.outside_runs(cut, values, cut.is_ring(how["periodic"]), device)
    return graphs.maps(f"{name}-of-labels", cut, set, like, how, [values, told],
                       lambda k, slab: (task, values.ref(k), slab, cut.extent, told.ref(k), how))


def nearest(set: Array, *, dtype: Optional[DTypeLike] = None, spacing: Spacing = None, metric: str = "euclidean",
            max_distance: Optional[float] = None, complement: bool = False, periodic: Periodic = False,
            device: Optional[Device] = None) -> Array:
    """The nearest element of the set, the non-zero elements, to every element.

    Parameters
    ----------
    set, spacing, metric, max_distance, complement, periodic, device
        As for `distance`.
    dtype : dtype, optional
        int32 or int64; by default the smallest that fits.

    Returns
    -------
    dask array
        Flat indices in the whole array; -1 if no element of the set is within max_distance.
    """
    return distance(set, nearest=True if dtype is None else dtype, dtype=None, spacing=spacing, metric=metric,
                    max_distance=max_distance, complement=complement, periodic=periodic, device=device)


def voronoi(set: Array, *, dtype: Optional[DTypeLike] = None, spacing: Spacing = None, metric: str = "euclidean",
            max_distance: Optional[float] = None, complement: bool = False, labels: bool = False, periodic: Periodic = False,
            device: Optional[Device] = None) -> Array:
    """The complete Voronoi map: for every element the site, an element of the set, of the cell that it is in.

    That is the nearest one; connected cells, without their exclaves, need the whole map.

    Parameters
    ----------
    set, dtype, spacing, metric, max_distance, complement, periodic, device
        As for `nearest`.
    labels : bool, default False
        The array is a label image, of integers: gives the label of the site, so that labels grow (expand_labels).

    Returns
    -------
    dask array
        The flat index of the site; -1 if no site is within max_distance.  With `labels` its label, and 0.

    Examples
    --------
    >>> cells = dask.array.from_array(np.array([[7, 0, 0, 0, 9]]), chunks=(1, 3))
    >>> apsis.dask.voronoi(cells, labels=True, max_distance=1).compute()
    array([[7, 7, 0, 9, 9]])
    """
    if flag("labels", labels):
        how: dict[str, Any] = {"dtype": dtype, "spacing": spacing, "metric": metric, "max_distance": max_distance,
                               "complement": complement, "periodic": periodic}
        return _of_labels("voronoi", set, slabs.voronoi, tasks.voronoi_of_labels, how, device)
    return nearest(set, dtype=dtype, spacing=spacing, metric=metric, max_distance=max_distance, complement=complement,
                   periodic=periodic, device=device)


def label(set: Array, *, connectivity: Optional[int] = 1, statistics: bool = False, dtype: DTypeLike = np.int32,
          largest: Optional[int] = None, min_area: Optional[int] = None, max_area: Optional[int] = None, border: bool = True,
          inner: bool = True, complement: bool = False, labels: bool = False, periodic: Periodic = False,
          device: Optional[Device] = None) -> Any:
    """The connected components of the set, numbered 1, 2, 3, ... by their lowest element.

    Parameters
    ----------
    set, complement, device
        As for `distance`.
    connectivity, statistics, dtype, largest, min_area, max_area, border, inner, periodic
        As for apsis.components.  Whether the numbers fit dtype is known when they are computed.
    labels : bool, default False
        The array is a label image, of integers: neighbours are connected where their values are equal, and not 0.  It is kept
        in the size of its elements, and work is done on the CPU.

    Returns
    -------
    labels : dask array
        The number of an element's component; 0 outside the set and in what is left out.
    count : dask array of no axes
        How many components there are.
    statistics : dask array of COMPONENT
        Only with `statistics`: see there.

    Examples
    --------
    >>> labels, count = apsis.dask.label(dask.array.from_array(np.array([[1, 1, 0, 1]]), chunks=1))
    >>> dask.compute(labels, count)
    (array([[1, 1, 0, 2]], dtype=int32), 2)
    """
    how: dict[str, Any] = {"connectivity": connectivity, "largest": largest, "min_area": min_area, "max_area": max_area,
                           "border": border, "inner": inner, "complement": complement, "by_value": labels, "periodic": periodic}
    cut, bits, join = graphs.joined(set, flag("statistics", statistics), device, **how)
    how["dtype"] = dtype
    like = slabs.components(cut.nothing(), slabs.parts(cut.nothing(), 0, device="cpu"), device="cpu", **how)
    how["device"] = device
    told = graphs.numbers(join)
    numbers = graphs.maps("label", cut, set, like, how, [bits, told],
                          lambda k, slab: (tasks.components, bits.ref(k), slab, told.ref(k), how))
    return (numbers, graphs.count(join), graphs.measured(join)) if statistics else (numbers, graphs.count(join))


def statistics(set: Array, *, connectivity: Optional[int] = 1, largest: Optional[int] = None, min_area: Optional[int] = None,
               max_area: Optional[int] = None, border: bool = True, inner: bool = True, complement: bool = False,
               labels: bool = False, periodic: Periodic = False, device: Optional[Device] = None) -> Array:
    """What is known of each of the connected components of the set, found in one pass and without labels.

    Parameters
    ----------
    set, connectivity, largest, min_area, max_area, border, inner, complement, labels, periodic, device
        As for `label`.

    Returns
    -------
    dask array of COMPONENT
        As apsis.components gives them, of NumPy and in one chunk; how many they are is known when they are computed.

    Examples
    --------
    >>> set = dask.array.from_array(np.array([[1, 1, 0, 1]]), chunks=1)
    >>> apsis.dask.statistics(set)["area"].compute()
    array([2, 1])
    """
    _, _, join = graphs.joined(set, True, device, connectivity=connectivity, largest=largest, min_area=min_area,
                               max_area=max_area, border=border, inner=inner, complement=complement, by_value=labels,
                               periodic=periodic)
    return graphs.measured(join)


def value_statistics(labels: Array, *, device: Optional[Device] = None) -> Array:
    """What is known of each value of a label image, wherever its elements are: nothing is labelled.

    Parameters
    ----------
    labels : dask array of integers, of 2 or 3 axes
        It is kept in the size of its elements.
    device
        As for `distance`.

    Returns
    -------
    dask array of COMPONENT
        As apsis.statistics gives them, of NumPy and in one chunk; how many they are is known when they are computed.

    Examples
    --------
    >>> cells = dask.array.from_array(np.array([[7, 0], [7, 9]]), chunks=1)
    >>> apsis.dask.value_statistics(cells)["area"].compute()
    array([1, 2, 1])
    """
    cut = graphs.cut("labels", labels, by_value=True)
    graphs.check_device(device)
    return graphs.value_statistics(cut, graphs.bits(cut, True), device)


def contacts(labels: Array, *, connectivity: Optional[int] = 1, spacing: Spacing = None, periodic: Periodic = False,
             device: Optional[Device] = None) -> Array:
    """Which values of a label image touch, and how much.

    Parameters
    ----------
    labels, device
        As for `value_statistics`.
    connectivity, spacing, periodic
        As for apsis.contacts.

    Returns
    -------
    dask array of CONTACT
        As apsis.contacts gives them, of NumPy and in one chunk; how many they are is known when they are computed.
    """
    cut = graphs.cut("labels", labels, by_value=True)
    how: dict[str, Any] = {"connectivity": connectivity, "spacing": spacing, "periodic": periodic}
    slabs.contacts(cut.nothing(cut.mask.dtype), device="cpu", **how)
    graphs.check_device(device)
    return graphs.contacts(cut, graphs.bits(cut, True), how, device)


def geodesic(set: Array, seeds: Array, *, nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
             connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
             max_distance: Optional[float] = None, complement: bool = False, weights: Weights = None,
             periodic: Periodic = False, device: Optional[Device] = None) -> Any:
    """The length of the shortest path inside the set from every element of it to the nearest seed.

    Parameters
    ----------
    set, device
        As for `distance`.
    seeds : dask array of the shape of `set`, of any chunks
        Its non-zero elements; those outside the set do not count.
    nearest, dtype, connectivity, spacing, metric, weights, max_distance, complement, periodic
        As for apsis.geodesic, without a knight's move.

    Returns
    -------
    dask array, or tuple of two
        The lengths, with `nearest` a tuple of both.

    Notes
    -----
    Slabs first find the paths from their own seeds, all at once.  How often paths then cross from slab to slab depends on the
    image, and a graph of tasks does not: so one task follows them to the end, and the maps are made again by all.  That task
    has two bits for each element of the image in its memory.  Its time is that of a map of each slab, on one worker, as often
    as paths that cross into the slab become shorter: once or twice where the set is open, more often in a maze.
    """
    cut = graphs.cut("set", set)
    arrays.check_shape("seeds", graphs.taken("seeds", seeds), cut.mask)
    how: dict[str, Any] = {"connectivity": connectivity, "spacing": spacing, "metric": metric, "max_distance": max_distance,
                           "complement": complement, "weights": weights, "periodic": periodic}
    outputs: dict[str, Any] = {"nearest": nearest, "dtype": dtype}
    keeps_seeds = arrays.index_type("nearest", nearest, cut.mask.shape) is not None
    like = slabs.geodesic(cut.nothing(), cut.nothing(), 0, cut.extent, slabs.Paths(cut.mask.shape[1:], keeps_seeds),
                          device="cpu", **how, **outputs)
    graphs.check_device(device)
    how["device"] = device
    bits, starts = graphs.bits(cut), graphs.bits(graphs.cut("seeds", seeds, cut))
    paths = graphs.paths(cut, bits, starts, keeps_seeds, how)
    how = {**how, **outputs}
    return graphs.maps("geodesic", cut, set, like, how, [bits, starts, paths],
                       lambda k, slab: (tasks.geodesic, bits.ref(k), starts.ref(k), slab, cut.extent, paths.ref(k), how))
