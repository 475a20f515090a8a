"""The transforms as functions, each in this thread's context for the device."""

from __future__ import annotations

import reprlib
from typing import Any, Callable, Optional, Union

import numpy as np
from numpy.typing import DTypeLike

from ._arrays import Array
from ._context import CONTACT, Context, Device, context_for
from ._options import Periodic, Spacing, Weights


def _in_context(method: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    device = arguments.pop("device")
    return method(context_for(next(iter(arguments.values())), device), **arguments)


def distance(set: Array, *, nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
             out: Optional[Array] = None, nearest_out: Optional[Array] = None, spacing: Spacing = None,
             metric: str = "euclidean", max_distance: Optional[float] = None, complement: bool = False, signed: bool = False,
             slices: bool = False, method: str = "auto", labels: bool = False, border: bool = False,
             periodic: Periodic = False, weights: Weights = None, device: Optional[Device] = None) -> Any:
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
    weights : sequence of int, optional
        Of chamfer steps: as for `geodesic`.
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
    labels : bool, default False
        `set` is a label image, of integers: from each element but 0 to the nearest one of another value, of which 0 is one.
        An element of 0 has distance 0.  The metric is Euclidean or city-block.
    border : bool, default False
        What lies outside the array is background, 0: with `labels`, `complement` or `signed`.  Where no element of the array
        is nearer, the index is -1.
    periodic : bool or sequence of int, default False
        The array closes on itself along these axes, behind the last element follows the first; True: along all, but for that
        of `slices`.
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
    >>> apsis.distance([7, 7, 7, 4, 4, 0], labels=True, border=True)
    array([1., 2., 1., 1., 1., 0.], dtype=float32)
    """
    return _in_context(Context.distance, locals())


def voronoi(set: Array, *, connected: bool = False, out: Optional[Array] = None, dtype: Optional[DTypeLike] = None,
            spacing: Spacing = None, metric: str = "euclidean", max_distance: Optional[float] = None,
            complement: bool = False, slices: bool = False, method: str = "auto", mixed: bool = False,
            labels: bool = False, periodic: Periodic = False, device: Optional[Device] = None) -> Array:
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
    labels : bool, default False
        `set` is a label image, of integers: gives the label of the site, so that labels grow.  The type is that which has room
        for all labels of their type: int32, or int64 for uint32, int64 and uint64.
    periodic : bool or sequence of int, default False
        As for `distance`.

    Returns
    -------
    array
        The flat index of the site, -1 if no site is within max_distance; with `labels` its label, and 0.

    Examples
    --------
    >>> apsis.voronoi([1, 0, 0, 0, 0, 1])
    array([0, 0, 0, 5, 5, 5], dtype=int32)
    >>> apsis.voronoi([7, 0, 0, 0, 0, 4], labels=True, max_distance=1, dtype="int64")
    array([7, 7, 0, 0, 4, 4])
    """
    return _in_context(Context.voronoi, locals())


def components(set: Array, *, connectivity: Optional[int] = 1, statistics: bool = False, dtype: Optional[DTypeLike] = np.int32,
               out: Optional[Array] = None, largest: Optional[int] = None, min_area: Optional[int] = None,
               max_area: Optional[int] = None, border: bool = True, inner: bool = True, complement: bool = False,
               slices: bool = False, method: str = "auto", labels: bool = False, delta: Optional[float] = None,
               periodic: Periodic = False,
               device: Optional[Device] = None) -> Any:
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
    delta : float, optional
        The array is a grey image: neighbours are connected where neither is 0 and their values differ by at most this.  A NaN
        differs from everything.  Values are those that int32 holds, or of floats, float32.
    periodic : bool or sequence of int, default False
        The array closes on itself along these axes, and has no border there; True: along all, but for that of `slices`.

    Returns
    -------
    labels : array or None
        The number of an element's component; 0 outside the set and in what is left out.
    count : int
        How many components there are.
    statistics : array of COMPONENT
        Only with `statistics`: first (the flat index of the lowest element), area, lower, upper, centroid and value (that of
        its elements with `labels`, of the first one with `delta` and integers, otherwise 1); coordinates are in elements, and
        x, y, z, the last axis of the array first.  apsis.table makes columns of it.

    Examples
    --------
    >>> apsis.components([1, 1, 0, 1], border=False)
    (array([0, 0, 0, 0], dtype=int32), 0)
    >>> apsis.components([0.5, 0.75, 0, 7, 6.5], delta=0.5)
    (array([1, 1, 0, 2, 2], dtype=int32), 2)
    """
    return _in_context(Context.components, locals())


def statistics(labels: Array, *, dense: bool = False, device: Optional[Device] = None) -> Any:
    """What is known of each value of a label image, wherever its elements are: nothing is labelled.

    Parameters
    ----------
    labels : array of integers or bools, of 1 to 3 axes
        The label image.  Its background, 0, is a value too.
    dense : bool, default False
        Element i of the result is what is known of value i, from 0 to the greatest; of one that does not occur the area is 0,
        first, lower and upper are -1, and the centroid is 0.  No value may be negative.
    device : str, int or sequence of int, optional
        As for `distance`.

    Returns
    -------
    array of COMPONENT
        Of the values that occur, in ascending order, or with `dense` of all: see `components`.  Values of uint64 from 2**63
        are told less 2**64.

    Examples
    --------
    >>> apsis.statistics([[7, 7, 0], [-2, 7, 0]])[["value", "area"]].tolist()
    [(-2, 1), (0, 2), (7, 3)]
    """
    return _in_context(Context.statistics, locals())


def contacts(labels: Array, *, connectivity: Optional[int] = 1, spacing: Spacing = None, slices: bool = False,
             periodic: Periodic = False, device: Optional[Device] = None) -> Any:
    """Which values of a label image touch, and how much.  The background, 0, touches nothing.

    Parameters
    ----------
    labels : array of integers or bools, of 1 to 3 axes
        The label image.
    connectivity : int, default 1
        As for `components`: along how many axes elements that touch may differ.
    spacing : float or sequence of float, optional
        The size of an element along each axis of the array, in your unit; by default 1.
    slices, device
        As for `distance`.
    periodic : bool or sequence of int, default False
        The array closes on itself along these axes; True: along all, but for that of `slices`.  Along an axis of two elements
        these touch twice.

    Returns
    -------
    array of CONTACT
        Of every two values that have neighbouring elements, in ascending order: the lower one `a`, the greater one `b`; faces,
        how many pairs of elements lie side by side along x, y and z, the last axis of the array first; corners, how many are
        neighbours across an edge or a corner alone; and area, that of the faces, in 2-D their length, in 1-D their number.

    Examples
    --------
    >>> apsis.contacts([[1, 1, 2], [1, 3, 2]], connectivity=2)[["a", "b", "area", "corners"]].tolist()
    [(1, 2, 1.0, 1), (1, 3, 2.0, 1), (2, 3, 1.0, 1)]
    """
    return _in_context(Context.contacts, locals())


def geodesic(set: Array, seeds: Array, *, nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
             out: Optional[Array] = None, nearest_out: Optional[Array] = None, connectivity: Optional[int] = None,
             spacing: Spacing = None, metric: str = "euclidean", max_distance: Optional[float] = None,
             complement: bool = False, slices: bool = False, labels: bool = False, periodic: Periodic = False,
             weights: Weights = None, device: Optional[Device] = None) -> Any:
    """The length of the shortest path inside the set from every element of it to the nearest seed.

    Parameters
    ----------
    set, dtype, out, nearest_out, spacing, max_distance, complement, slices, device
        As for `distance`; integers are for spacing 1 and a metric that is not Euclidean, sums of weights if it is "chamfer".
    seeds : array of the shape of `set`
        Its non-zero elements; those outside the set do not count.
    nearest : bool or dtype, default False
        Gives the flat index of the nearest seed, too.
    connectivity : int, optional
        As for `components`; by default 1 for "city-block", otherwise the number of axes.
    metric : str, default "euclidean"
        The length of a step: "euclidean", "city-block", "chessboard", or "chamfer" (3, 4 or 5 thirds, or as `weights` say).
    weights : sequence of int, optional
        Of chamfer steps along one axis, a, two, b, and three, c, with 3 axes; with 2 axes c is that of a knight's move, by 1
        and 2, and may be left out.  Lengths are sums of weights, divided by a.  So (5, 7, 11) is MorphoLibJ's chess-knight, but
        leaps over no wall: one of the two elements that touch both ends of the move must be in the set.  a <= b <= 2a; with 3
        axes b <= c <= 3b/2, with 2 axes c is at least 2a and 3b/2, and at most a + b.  The move takes no periodic axes.
    labels : bool, default False
        `seeds` is a label image, of integers: `nearest` gives the label of the nearest seed, and 0 in place of -1, of the types
        that `voronoi` has.
    periodic : bool or sequence of int, default False
        The array closes on itself along these axes; True: along all, but for that of `slices`.

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
                 labels: bool = False, periodic: Periodic = False, weights: Weights = None,
                 device: Optional[Device] = None) -> Any:
    """The length of the longest of the shortest paths from every element of the set to the others of its component.

    Parameters
    ----------
    set, dtype, out, connectivity, spacing, metric, weights, complement, slices, periodic, method, device
        As for `geodesic`.
    farthest : bool or dtype, default False
        Gives the flat index of the farthest element, too: int32 or int64; True is the smallest that fits.
    extents : bool, default False
        Gives how far each component reaches, too.
    farthest_out : array of the shape of `set`, optional
        Where the indices go, of any strides.
    budget : int, optional
        At most so many distance fields for a component.  Where it runs out, a BudgetWarning says so, and results are bounds.
    labels : bool, default False
        `set` is a label image: every value other than 0 is a set of its own.

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
    known : array of COMPONENT, EXTENT or CONTACT
        The statistics of `components` or `statistics`, the extents of `eccentricity`, or `contacts`.

    Returns
    -------
    dict of str to array
        "label", 1, 2, 3, ..., but for contacts, and each field, of which coordinates become x, y and z, and ends 0 and 1.  Of
        the statistics of values, "value" is what tells them.

    Examples
    --------
    >>> labels, count, known = apsis.components([[1, 0, 1]], statistics=True)
    >>> apsis.table(known)["lower_x"]
    array([0, 2])
    """
    if getattr(getattr(known, "dtype", None), "names", None) is None or known.ndim != 1:
        raise TypeError(f"known is {reprlib.repr(known)}, but must be the statistics of components, the extents of "
                        "eccentricity, or contacts")
    columns = {} if known.dtype == CONTACT else {"label": np.arange(1, len(known) + 1)}
    for name in known.dtype.names or ():
        field = known[name]
        if field.ndim == 1:
            columns[name] = field
        else:
            columns.update({f"{name}_{part}": field[:, i] for i, part in enumerate("xyz" if field.shape[1] == 3 else "01")})
    return columns
