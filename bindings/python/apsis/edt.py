"""Functions with the names, arguments and results of the package edt, computed by apsis.

    import apsis.edt as edt
    distances = edt.edt(labels, anisotropy=(6, 6, 30), black_border=True)

Labels are arrays of integers, bools or floats, of 1 to 3 axes; each value but 0 is a set of its own.  What differs: distances
are exact, and rounded once; results do not depend on the order in memory; `voxel_graph` is not taken.  `device` is an addition:
see apsis.distance.  As with edt, `parallel` is 1 thread by default, and 0 are all.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._calls import Device
from ._context import context_for
from ._label_arrays import Each, Numbers, as_integers, as_it_lies, in_memory, is_of_fortran, refuse
from ._options import flag, steps, whole

__all__ = ["each", "edt", "edt1d", "edt1dsq", "edt2d", "edt2dsq", "edt3d", "edt3dsq", "edtsq", "sdf", "sdfsq"]

Anisotropy = Union[float, Sequence[float], NDArray[Any], None]
Distances = NDArray[np.float32]


def edt(data: ArrayLike, anisotropy: Anisotropy = None, black_border: bool = False, parallel: int = 1, voxel_graph: Any = None,
        order: Any = None, *, device: Optional[Device] = None) -> Distances:
    """The Euclidean distance from each element of a label to the nearest of another value; 0 on the background.

    Parameters and results are those of edt.edt.  If all elements have one label, distances are infinite.
    """
    distances: Distances = _transform(data, np.float32, anisotropy, black_border, parallel, voxel_graph, device)
    return distances


def edtsq(data: ArrayLike, anisotropy: Anisotropy = None, black_border: bool = False, parallel: int = 1,
          voxel_graph: Any = None, order: Any = None, *, device: Optional[Device] = None) -> Distances:
    """The square of what edt gives.  Parameters and results are those of edt.edtsq."""
    distances = _transform(data, np.float64, anisotropy, black_border, parallel, voxel_graph, device)
    with np.errstate(over="ignore"):
        squares: Distances = np.square(distances, out=distances).astype(np.float32)
    return squares


def sdf(data: ArrayLike, anisotropy: Anisotropy = None, black_border: bool = False, parallel: int = 1,
        voxel_graph: Any = None, order: Any = None, *, device: Optional[Device] = None) -> Distances:
    """What edt gives, less on the background the distance to the nearest label: as edt.sdf."""
    data = in_memory("data", data)
    options = anisotropy, black_border, parallel, voxel_graph, order
    return edt(data, *options, device=device) - edt(data == 0, *options, device=device)


def sdfsq(data: ArrayLike, anisotropy: Anisotropy = None, black_border: bool = False, parallel: int = 1,
          voxel_graph: Any = None, *, device: Optional[Device] = None) -> Distances:
    """What edtsq gives, less on the background the square to the nearest label: as edt.sdfsq."""
    data = in_memory("data", data)
    options = anisotropy, black_border, parallel, voxel_graph
    return edtsq(data, *options, device=device) - edtsq(data == 0, *options, device=device)


def edt1d(data: ArrayLike, anisotropy: Anisotropy = 1.0, black_border: bool = False) -> Distances:
    """edt of 1 axis."""
    return edt(_of_axes(data, 1), anisotropy, black_border)


def edt1dsq(data: ArrayLike, anisotropy: Anisotropy = 1.0, black_border: bool = False) -> Distances:
    """edtsq of 1 axis."""
    return edtsq(_of_axes(data, 1), anisotropy, black_border)


def edt2d(data: ArrayLike, anisotropy: Anisotropy = (1.0, 1.0), black_border: bool = False, parallel: int = 1,
          voxel_graph: Any = None) -> Distances:
    """edt of 2 axes."""
    return edt(_of_axes(data, 2), anisotropy, black_border, parallel, voxel_graph)


def edt2dsq(data: ArrayLike, anisotropy: Anisotropy = (1.0, 1.0), black_border: bool = False, parallel: int = 1,
            voxel_graph: Any = None) -> Distances:
    """edtsq of 2 axes."""
    return edtsq(_of_axes(data, 2), anisotropy, black_border, parallel, voxel_graph)


def edt3d(data: ArrayLike, anisotropy: Anisotropy = (1.0, 1.0, 1.0), black_border: bool = False, parallel: int = 1,
          voxel_graph: Any = None) -> Distances:
    """edt of 3 axes."""
    return edt(_of_axes(data, 3), anisotropy, black_border, parallel, voxel_graph)


def edt3dsq(data: ArrayLike, anisotropy: Anisotropy = (1.0, 1.0, 1.0), black_border: bool = False, parallel: int = 1,
            voxel_graph: Any = None) -> Distances:
    """edtsq of 3 axes."""
    return edtsq(_of_axes(data, 3), anisotropy, black_border, parallel, voxel_graph)


def each(labels: ArrayLike, dt: ArrayLike, in_place: bool = False) -> Each:
    """Iterates over labels, and the distances of each, 0 elsewhere.

    Parameters and results are those of edt.each.  With `in_place` it is one array that changes, and is read-only.
    """
    labels, distances = in_memory("labels", labels), np.asarray(dt)
    if distances.shape != labels.shape:
        raise ValueError(f"dt has shape {distances.shape}, but labels has {labels.shape}")
    return Each(labels, np.float32, lambda box, inside: np.where(inside, distances[box], 0), flag("in_place", in_place))


# ---- What they share ----

def _of_axes(data: ArrayLike, axes: int) -> Numbers:
    array = in_memory("data", data)
    if array.ndim != axes:
        raise TypeError(f"data has {array.ndim} axes, but this function is for {axes}")
    return array


def _transform(data: ArrayLike, dtype: Any, anisotropy: Anisotropy, black_border: bool, parallel: int, voxel_graph: Any,
               device: Optional[Device]) -> Any:
    """Distances in the order in memory that the labels have."""
    array = in_memory("data", data)
    if not 1 <= array.ndim <= 3:
        raise TypeError(f"data has {array.ndim} axes, but 1, 2 or 3 are needed")
    refuse("paths inside labels are for apsis.geodesic: apsis has no voxel graphs", "voxel_graph", voxel_graph, None)
    spacing = None if anisotropy is None else steps("anisotropy", anisotropy, array.ndim)
    if spacing is not None and is_of_fortran(array):
        spacing.reverse()
    threads = max(parallel, 0) if isinstance(parallel, int) else whole("parallel", parallel, 2**31 - 1)
    is_set = array.dtype == bool
    distances = context_for(array, device, threads).distance(
        as_it_lies(as_integers(array)), dtype=dtype, spacing=spacing, border=flag("black_border", black_border),
        complement=is_set, labels=not is_set)
    return distances.T if is_of_fortran(array) else distances
