"""How far the surfaces of two sets are apart, as MONAI, scikit-image and DeepMind's surface-distance define them.

    import apsis.metrics as metrics
    found = metrics.surface_distance(segmentation, truth, percentile=95, tolerance=1, spacing=(2.5, 0.7, 0.7))
    found.hausdorff_percentile, found.average, found.dice
    for each in metrics.label_surface_distances(organs, true_organs, surface="corners"):
        print(each["value"], each["hausdorff"])

A surface is points: "pixels" those elements of a set that have one of their 4 neighbours, or in three axes 6, outside of it or
of the array (MONAI); "all" all of them (scikit-image's hausdorff_distance); and "corners" the corners between elements of which
some are in the set and others are not.  A corner weighs as much as the contour of marching squares there has length, or the
surface of marching cubes area (surface-distance, and MONAI's use_subvoxels).
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._arrays import Array
from ._calls import Device
from ._context import SURFACE_DISTANCES, SurfaceDistances, context_for
from ._options import Spacing

__all__ = ["SURFACE_DISTANCES", "SurfaceDistances", "label_surface_distances", "surface_distance"]


def surface_distance(first: Array, second: Array, *, surface: str = "pixels", percentile: float = 95, tolerance: float = 0,
                     spacing: Spacing = None, metric: str = "euclidean", device: Optional[Device] = None) -> SurfaceDistances:
    """Compares two sets by their surfaces.

    Parameters
    ----------
    first, second : arrays, of 2 or 3 axes
        Their non-zero elements are the sets.  They lie on the CPU.
    surface : "pixels", "all" or "corners"
        What a surface is: see above.
    percentile : float, default 95
        From 0 to 100: that of the distances, as numpy.percentile has it; of corners the least distance up to which that part
        of the area is.
    tolerance : float, default 0
        In the unit of `spacing`: up to which distance `within` counts, and `dice`.
    spacing, metric, device
        As for apsis.distance.

    Returns
    -------
    SurfaceDistances
        `hausdorff`, `hausdorff_percentile`, `average` (symmetric), `dice`; and in pairs, of the points of the first surface and
        of the second: `points`, how many, `area`, what they weigh, and of that `within`; `largest`, `percentile`, `mean`.  To a
        surface without points distances are infinite; what is said of the points of such a surface is nan, and the larger of
        two is that of the other.  If both are without points all is nan, but for the counts.

    Examples
    --------
    >>> surface_distance([[1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]).hausdorff
    2.0
    """
    context = context_for(first, device)
    return context.surface_distance(first, second, surface=surface, percentile=percentile, tolerance=tolerance,
                                    spacing=spacing, metric=metric)


def label_surface_distances(first: Array, second: Array, *, surface: str = "pixels", percentile: float = 95,
                            tolerance: float = 0, spacing: Spacing = None, metric: str = "euclidean",
                            device: Optional[Device] = None) -> np.ndarray[Any, Any]:
    """Compares two label images value by value: each value but 0 that occurs in one of them is a pair of sets.

    Parameters
    ----------
    first, second : arrays of integers of one dtype, of 2 or 3 axes
    surface, percentile, tolerance, spacing, metric, device
        As for surface_distance.

    Returns
    -------
    array of SURFACE_DISTANCES
        In ascending order of `value`; the other fields are those of SurfaceDistances.

    Examples
    --------
    >>> label_surface_distances([[1, 0, 0], [0, 0, 7]], [[0, 0, 1], [0, 0, 7]])[["value", "hausdorff"]].tolist()
    [(1, 2.0), (7, 0.0)]
    """
    context = context_for(first, device)
    return context.label_surface_distances(first, second, surface=surface, percentile=percentile, tolerance=tolerance,
                                           spacing=spacing, metric=metric)
