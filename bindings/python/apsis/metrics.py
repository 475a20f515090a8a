"""How far the surfaces of two sets are apart, as MONAI defines it.

    import apsis.metrics as metrics
    found = metrics.surface_distance(segmentation, truth, percentile=95, tolerance=1, spacing=(2.5, 0.7, 0.7))
    found.hausdorff_percentile, found.average, found.dice

A surface is the elements of a set with one of their 4 neighbours, or in three axes 6, outside of it or of the array.
"""

from __future__ import annotations

from typing import Optional

from ._arrays import Array
from ._calls import Device
from ._context import SurfaceDistances, context_for
from ._options import Spacing

__all__ = ["SurfaceDistances", "surface_distance"]


def surface_distance(first: Array, second: Array, *, percentile: float = 95, tolerance: float = 0, spacing: Spacing = None,
                     metric: str = "euclidean", device: Optional[Device] = None) -> SurfaceDistances:
    """Compares two sets by their surfaces.

    Parameters
    ----------
    first, second : arrays, of 2 or 3 axes
        Their non-zero elements are the sets.  They lie on the CPU.
    percentile : float, default 95
        From 0 to 100: that of the distances, as numpy.percentile has it.
    tolerance : float, default 0
        In the unit of `spacing`: up to which distance `within` counts, and `dice`.
    spacing, metric, device
        As for apsis.distance.

    Returns
    -------
    SurfaceDistances
        `hausdorff`, `hausdorff_percentile`, `average` (symmetric), `dice`; and in pairs, of the elements of the first surface
        and of the second: `pixels`, `within`, `largest`, `percentile`, `mean`.  To a surface without elements distances are
        infinite.

    Examples
    --------
    >>> surface_distance([[1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]).hausdorff
    2.0
    """
    context = context_for(first, device)
    return context.surface_distance(first, second, percentile=percentile, tolerance=tolerance, spacing=spacing, metric=metric)
