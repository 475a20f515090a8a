"""The five transforms as functions, each in this thread's context for the device."""

from __future__ import annotations

import reprlib
from typing import Any, Callable, Optional, Union

import numpy as np
from numpy.typing import DTypeLike

from ._arrays import Array
from ._context import Context, Device, context_for
from ._options import Spacing


def _in_context(method: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    device = arguments.pop("device")
    return method(context_for(arguments["set"], device), **arguments)


def distance(set: Array, *, nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
             out: Optional[Array] = None, nearest_out: Optional[Array] = None, spacing: Spacing = None,
             metric: str = "euclidean", max_distance: Optional[float] = None, complement: bool = False, signed: bool = False,
             slices: bool = False, method: str = "auto", device: Optional[Device] = None) -> Any:
    """The distance from every element to the nearest one of the set, the non-zero elements.

    Parameters
    ----------
    set : array, of 1 to 3 axes
        Its non-zero elements are the set.
    nearest : bool or dtype, default False
        Gives the flat index of the nearest element of the set, too: int32 or int64; True is the smallest that fits.
    dtype : dtype, default float32
        float32 or float64; int32 or int64 for the exact square (Euclidean), or for the distance itself (the other metrics).
        None leaves the distances out.
    out, nearest_out : array of the shape of `set`, optional
        Where the distances and the indices go, of any strides.  It decides the type.
    spacing : float or sequence of float, optional
        The size of an element along each axis of the array, in your unit; by default 1.
    metric : str, default "euclidean"
        "euclidean", "city-block" ("cityblock", "taxicab", "manhattan"), "chessboard"; "chamfer" for method "sequential-scan".
    max_distance : float, optional
        Stops looking beyond this distance, in the unit of `spacing`.  None, or 0: no limit.
    complement : bool, default False
        The set is the zero elements instead.
    signed : bool, default False
        Inside the set, minus the distance to its complement.
    slices : bool, default False
        Each [z] of an array of 3 axes is an image of its own.
    method : str, default "auto"
        A published method by name, to compare with: see docs/methods.md.
    device : str, int or sequence of int, optional
        "cpu", "best", the number of a CUDA device, or those of several; by default where the array is.

    Returns
    -------
    array, or tuple of arrays
        The distances, with `nearest` a tuple of both, of the kind and place of `set`.  If no element of the set is within
        max_distance, the distance is inf, or the largest integer, and the index -1.

    Raises
    ------
    TypeError
        An argument is of a type that is not taken.
    apsis.Error
        ArgumentError, a ValueError; UnsupportedError, a NotImplementedError; OutOfMemory, a MemoryError; Cancelled.

    Examples
    --------
    >>> apsis.distance([[0, 0, 0, 1], [0, 0, 0, 0]], metric="city-block")
    array([[3., 2., 1., 0.],
           [4., 3., 2., 1.]], dtype=float32)
    """
    return _in_context(Context.distance, locals())


def voronoi(set: Array, *, connected: bool = False, out: Optional[Array] = None, dtype: Optional[DTypeLike] = None,
            spacing: Spacing = None, metric: str = "euclidean", max_distance: Optional[float] = None,
            complement: bool = False, slices: bool = False, method: str = "auto", mixed: bool = False,
            device: Optional[Device] = None) -> Array:
    """The Voronoi map: for every element the site, an element of the set, of the cell that it is in.

    Parameters
    ----------
    set, spacing, metric, max_distance, complement, slices, method, device
        As for `distance`.
    connected : bool, default False
        Hides exclaves, so that every cell is connected.
    out : array of the shape of `set`, optional
        Where the map goes, of int32 or int64 and any strides.
    dtype : dtype, optional
        int32 or int64; by default the smallest that fits.
    mixed : bool, default False
        For the methods "sweep", "sweep-blocks", "sweep-rows": as they leave it, with some exclaves hidden and others not.

    Returns
    -------
    array
        The flat index of the site; -1 if no site is within max_distance.

    Examples
    --------
    >>> apsis.voronoi([1, 0, 0, 0, 0, 1])
    array([0, 0, 0, 5, 5, 5], dtype=int32)
    """
    return _in_context(Context.voronoi, locals())


def components(set: Array, *, connectivity: Optional[int] = 1, statistics: bool = False, dtype: Optional[DTypeLike] = np.int32,
               out: Optional[Array] = None, largest: Optional[int] = None, min_area: Optional[int] = None,
               max_area: Optional[int] = None, border: bool = True, inner: bool = True, complement: bool = False,
               slices: bool = False, method: str = "auto", labels: bool = False, device: Optional[Device] = None) -> Any:
    """The connected components of the set, numbered 1, 2, 3, ... by their lowest element.

    Parameters
    ----------
    set, complement, slices, method, device
        As for `distance`.  With `slices` the numbers go on from slice to slice, and `largest` is for each of them.
    connectivity : int, default 1
        The number of axes along which neighbours may differ: 1 or 2 in 2-D (4 or 8 neighbours), 1, 2 or 3 in 3-D (6, 18, 26).
    statistics : bool, default False
        Gives what is known of each component, too.
    dtype : dtype, default int32
        int32 or int64; uint8 or bool for the set without what is left out; None for no labels.
    out : array of the shape of `set`, optional
        Where the labels go, of any strides.  It decides the type.
    largest : int, optional
        Leaves out all but so many, those of the largest area.
    min_area, max_area : int, optional
        Leaves out those of fewer elements, and those of more.
    border, inner : bool, default True
        False leaves out those that touch the border of the array, or those that do not.
    labels : bool, default False
        The array is a label image, of integers: neighbours are connected where their values are equal, and not 0.

    Returns
    -------
    labels : array or None
        The number of an element's component; 0 outside the set and in what is left out.
    count : int
        How many components there are.
    statistics : array of COMPONENT
        Only with `statistics`: first (the flat index of the lowest element), area, lower, upper, centroid and value (that of
        its elements with `labels`, otherwise 1); coordinates are in elements, and x, y, z, the last axis of the array first.  apsis.table makes columns of it.

    Examples
    --------
    >>> apsis.components([1, 1, 0, 1], border=False)
    (array([0, 0, 0, 0], dtype=int32), 0)
    """
    return _in_context(Context.components, locals())


def geodesic(set: Array, seeds: Array, *, nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
             out: Optional[Array] = None, nearest_out: Optional[Array] = None, connectivity: Optional[int] = None,
             spacing: Spacing = None, metric: str = "euclidean", max_distance: Optional[float] = None,
             complement: bool = False, slices: bool = False, device: Optional[Device] = None) -> Any:
    """The length of the shortest path inside the set from every element of it to the nearest seed.

    Parameters
    ----------
    set, dtype, out, nearest_out, spacing, max_distance, complement, slices, device
        As for `distance`; integers are for spacing 1 and a metric that is not Euclidean, in thirds if it is "chamfer".
    seeds : array of the shape of `set`
        Its non-zero elements; those outside the set do not count.
    nearest : bool or dtype, default False
        Gives the flat index of the nearest seed, too.
    connectivity : int, optional
        As for `components`; by default 1 for "city-block", otherwise the number of axes.
    metric : str, default "euclidean"
        The length of a step: "euclidean", "city-block", "chessboard", or "chamfer" (3, 4 or 5 thirds).

    Returns
    -------
    array, or tuple of arrays
        The lengths, with `nearest` a tuple of both.  Where no path leads, or it is longer than max_distance, the length is
        inf, or the largest integer, and the index -1; outside the set both are -1.

    Examples
    --------
    >>> apsis.geodesic([1, 1, 1, 0, 1], [1, 0, 0, 0, 0])
    array([ 0.,  1.,  2., -1., inf], dtype=float32)
    """
    return _in_context(Context.geodesic, locals())


def eccentricity(set: Array, *, farthest: Union[bool, DTypeLike] = False, extents: bool = False,
                 dtype: Optional[DTypeLike] = np.float32, out: Optional[Array] = None, farthest_out: Optional[Array] = None,
                 connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
                 complement: bool = False, slices: bool = False, budget: Optional[int] = None, method: str = "auto",
                 device: Optional[Device] = None) -> Any:
    """The length of the longest of the shortest paths from every element of the set to the others of its component.

    Parameters
    ----------
    set, dtype, out, connectivity, spacing, metric, complement, slices, method, device
        As for `geodesic`.
    farthest : bool or dtype, default False
        Gives the flat index of the farthest element, too: int32 or int64; True is the smallest that fits.
    extents : bool, default False
        Gives how far each component reaches, too.
    farthest_out : array of the shape of `set`, optional
        Where the indices go, of any strides.
    budget : int, optional
        At most so many distance fields for a component.  Where it runs out, a BudgetWarning says so, and results are bounds.

    Returns
    -------
    array, or tuple
        The lengths, and the indices and extents that are asked for, in this order.  Outside the set both maps are -1.
        Extents are an array of EXTENT: first, ends (flat indices), centre, diameter, radius, and gap, by how much a length may
        be larger than the one given.

    Examples
    --------
    >>> apsis.eccentricity([1, 1, 1, 0, 1])
    array([ 2.,  1.,  2., -1.,  0.], dtype=float32)
    """
    return _in_context(Context.eccentricity, locals())


def table(known: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """What is known of components as columns, for pandas.DataFrame and its like.

    Parameters
    ----------
    known : array of COMPONENT or EXTENT
        The statistics of `components`, or the extents of `eccentricity`.

    Returns
    -------
    dict of str to array
        "label", 1, 2, 3, ..., and each field, of which coordinates become x, y and z, and ends 0 and 1.

    Examples
    --------
    >>> labels, count, known = apsis.components([[1, 0, 1]], statistics=True)
    >>> apsis.table(known)["lower_x"]
    array([0, 2])
    """
    if getattr(getattr(known, "dtype", None), "names", None) is None or known.ndim != 1:
        raise TypeError(f"known is {reprlib.repr(known)}, but must be the statistics of components, or the extents of "
                        "eccentricity")
    columns = {"label": np.arange(1, len(known) + 1)}
    for name in known.dtype.names or ():
        field = known[name]
        if field.ndim == 1:
            columns[name] = field
        else:
            columns.update({f"{name}_{part}": field[:, i] for i, part in enumerate("xyz" if field.shape[1] == 3 else "01")})
    return columns
