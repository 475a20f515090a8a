"""Paths of least cost through an image, and the longest of the shortest ones in each component.

    import apsis.paths as paths
    cost = paths.cost_distance(friction, seeds)
    known, ways = paths.shortest_paths([start], seeds, costs=friction)
    rows, columns = np.unravel_index(ways[0], friction.shape)
    known, fibres = paths.longest_paths(mask)
    known["tortuosity"]

A step between two neighbours costs the mean of their costs, times its length: as skimage.graph.MCP_Geometric has it.  What
differs: an element of cost 0 is in no path, as one is whose cost is negative, infinite or not a number; a diagonal step is
long as in apsis.geodesic, which is less than 2^-26 off; and of paths that cost the same the lowest is told.

Arrays lie on the CPU, and have 1 to 3 axes.  Costs are of uint8, bool, uint16 or float32; others become float32, rounded.
"""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from numpy.typing import DTypeLike

from ._arrays import Array
from ._calls import Device
from ._context import PATH, context_for
from ._options import Spacing, Weights

__all__ = ["PATH", "cost_distance", "longest_paths", "shortest_paths"]


def cost_distance(costs: Array, seeds: Array, *, set: Optional[Array] = None, nearest: Union[bool, DTypeLike] = False,
                  dtype: Optional[DTypeLike] = np.float32, out: Optional[Array] = None, nearest_out: Optional[Array] = None,
                  connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
                  max_distance: Optional[float] = None, complement: bool = False, slices: bool = False, labels: bool = False,
                  weights: Weights = None, device: Optional[Device] = None) -> Any:
    """The least cost of a path from a seed to every element.

    Parameters
    ----------
    costs : array, of 1 to 3 axes
        For each unit of length.
    seeds : array of the shape of `costs`
        Its non-zero elements; those through which no path leads do not count.
    set : array of the shape of `costs`, optional
        Its non-zero elements, or with `complement` the zero ones, are where paths may go.  By default, everywhere.
    dtype : dtype, default float32
        Of costs: float32 or float64; int32 or int64, for costs of integers, spacing 1 and a metric that is not Euclidean, for
        twice the cost, and of "chamfer" that times weights[0], by default 3; None leaves them out.
    max_distance : float, optional
        What costs more counts as no path.
    nearest, out, nearest_out, connectivity, spacing, metric, weights, slices, labels, device
        As for apsis.geodesic.

    Returns
    -------
    array, or tuple of arrays
        The costs, with `nearest` a tuple of both: as apsis.geodesic gives them.

    Examples
    --------
    >>> cost_distance([1, 1, 5, 1, 0, 1], [1, 0, 0, 0, 0, 0])
    array([ 0.,  1.,  4.,  7., -1., inf], dtype=float32)
    """
    return context_for(costs, device).cost_distance(
        costs, seeds, set=set, nearest=nearest, dtype=dtype, out=out, nearest_out=nearest_out, connectivity=connectivity,
        spacing=spacing, metric=metric, max_distance=max_distance, complement=complement, slices=slices, labels=labels,
        weights=weights)


def shortest_paths(starts: Any, seeds: Array, *, set: Optional[Array] = None, costs: Optional[Array] = None,
                   connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
                   max_distance: Optional[float] = None, complement: bool = False, slices: bool = False,
                   weights: Weights = None, device: Optional[Device] = None) -> Any:
    """The shortest paths from some elements to their nearest seeds; with costs, those of least cost.

    Parameters
    ----------
    starts : sequence of int
        Flat indices of the elements to begin at.
    seeds : array, of 1 to 3 axes
        Its non-zero elements are where paths end.
    set, costs : arrays of the shape of `seeds`, optional
        As for `cost_distance`.  Without costs a path costs its length.
    connectivity, spacing, metric, weights, max_distance, complement, slices, device
        As for `cost_distance`.

    Returns
    -------
    known : array of PATH
        Of each path: "start", "seed" (-1: there is none), "count" of its elements, "length", "cost", "straight" (the Euclidean
        distance between its ends) and "tortuosity", length / straight.
    paths : list of arrays of int64
        The flat indices of its elements, from the start to the seed; empty where there is none.  Of several paths the lowest:
        from the start on, of the elements that may come next, that of the lowest index.

    Examples
    --------
    >>> known, paths = shortest_paths([5], [[1, 0, 0], [0, 0, 0]], metric="city-block")
    >>> paths[0].tolist(), float(known["length"][0])
    ([5, 2, 1, 0], 3.0)
    """
    return context_for(seeds, device).shortest_paths(
        starts, seeds, set=set, costs=costs, connectivity=connectivity, spacing=spacing, metric=metric,
        max_distance=max_distance, complement=complement, slices=slices, weights=weights)


def longest_paths(set: Array, *, connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
                  complement: bool = False, slices: bool = False, labels: bool = False, weights: Weights = None,
                  device: Optional[Device] = None) -> Any:
    """The longest of the shortest paths in each component, between the ends that apsis.eccentricity tells.

    Parameters
    ----------
    set : array, of 1 to 3 axes
        Its non-zero elements are the set.
    connectivity, spacing, metric, weights, complement, slices, labels, device
        As for apsis.eccentricity.

    Returns
    -------
    known, paths
        As `shortest_paths` gives them, of components 1, 2, ... in the order of apsis.components.

    Examples
    --------
    >>> known, paths = longest_paths([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]])
    >>> paths[0].tolist(), round(float(known["tortuosity"][0]), 3)
    ([0, 1, 6, 10], 1.207)
    """
    return context_for(set, device).longest_paths(set, connectivity=connectivity, spacing=spacing, metric=metric,
                                                  complement=complement, slices=slices, labels=labels, weights=weights)
