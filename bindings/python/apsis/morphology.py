"""A set dilated, eroded, opened or closed by a ball of any radius.

    import apsis.morphology as morphology
    smooth = morphology.opening(mask, 12.5)
    grown = morphology.dilation(volume, 3, spacing=(1.5, 0.4, 0.4))

The ball is of all elements at a distance of at most the radius, as `metric` and `spacing` measure it; a distance is compared as
it is in float64, rounded once.  The time does not grow with the radius.

isotropic_dilation, isotropic_erosion, isotropic_opening and isotropic_closing have the arguments and results of
scikit-image's.  What differs: arrays have 1 to 3 axes; an array without background is eroded to itself, and one without a set
dilated to itself; a radius below 0 is an error.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import DTypeLike

from ._arrays import Array
from ._calls import Device
from ._context import context_for
from ._options import Spacing

__all__ = ["closing", "dilation", "erosion", "isotropic_closing", "isotropic_dilation", "isotropic_erosion",
           "isotropic_opening", "opening"]


def dilation(set: Array, radius: float, *, out: Optional[Array] = None, dtype: DTypeLike = np.bool_, spacing: Spacing = None,
             metric: str = "euclidean", complement: bool = False, slices: bool = False, border: bool = False,
             device: Optional[Device] = None) -> Array:
    """The elements with one of the set in the ball around them.

    Parameters
    ----------
    set : array, of 1 to 3 axes
        Its non-zero elements are the set.
    radius : float
        That of the ball, in the unit of `spacing`: 0 or more, infinity too.
    out : array of the shape of `set`, optional
        Where the result goes, of bool or uint8 and any strides.
    dtype : dtype, default bool
        bool or uint8.
    metric : str, default "euclidean"
        "euclidean", "city-block" ("cityblock", "taxicab", "manhattan"): a diamond, or "chessboard": a square.
    border : bool, default False
        What lies outside the array is background, 0: a set is eroded from there, too.  By default the array is all there is.
        Not to close a set, nor to open a complement: give the array a margin.
    spacing, complement, slices, device
        As for apsis.distance.

    Returns
    -------
    array
        True in the set that it has become, of the kind and place of `set`.

    Examples
    --------
    >>> dilation([0, 0, 0, 1, 0, 0], 1.5)
    array([False, False,  True,  True,  True, False])
    """
    return _apply("dilate", set, radius, device, out, dtype, spacing, metric, complement, slices, border)


def erosion(set: Array, radius: float, *, out: Optional[Array] = None, dtype: DTypeLike = np.bool_, spacing: Spacing = None,
            metric: str = "euclidean", complement: bool = False, slices: bool = False, border: bool = False,
            device: Optional[Device] = None) -> Array:
    """The elements with nothing but the set in the ball around them.  Parameters are those of `dilation`."""
    return _apply("erode", set, radius, device, out, dtype, spacing, metric, complement, slices, border)


def opening(set: Array, radius: float, *, out: Optional[Array] = None, dtype: DTypeLike = np.bool_, spacing: Spacing = None,
            metric: str = "euclidean", complement: bool = False, slices: bool = False, border: bool = False,
            device: Optional[Device] = None) -> Array:
    """Eroded, then dilated: what the balls that lie in the set cover.  Parameters are those of `dilation`."""
    return _apply("open", set, radius, device, out, dtype, spacing, metric, complement, slices, border)


def closing(set: Array, radius: float, *, out: Optional[Array] = None, dtype: DTypeLike = np.bool_, spacing: Spacing = None,
            metric: str = "euclidean", complement: bool = False, slices: bool = False, border: bool = False,
            device: Optional[Device] = None) -> Array:
    """Dilated, then eroded: what no ball outside the set covers.  Parameters are those of `dilation`."""
    return _apply("close", set, radius, device, out, dtype, spacing, metric, complement, slices, border)


def isotropic_dilation(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_dilation."""
    return _into(out, dilation(image, radius, spacing=spacing))


def isotropic_erosion(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_erosion."""
    return _into(out, erosion(image, radius, spacing=spacing))


def isotropic_opening(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_opening."""
    return _into(out, opening(image, radius, spacing=spacing))


def isotropic_closing(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_closing."""
    return _into(out, closing(image, radius, spacing=spacing))


# ---- What they share ----

def _apply(operation: str, set: Array, radius: float, device: Optional[Device], out: Optional[Array], dtype: DTypeLike,
           spacing: Spacing, metric: str, complement: bool, slices: bool, border: bool) -> Array:
    return context_for(set, device).morphology(operation, set, radius, out=out, dtype=dtype, spacing=spacing, metric=metric,
                                               complement=complement, slices=slices, border=border)


def _into(out: Optional[Array], result: Any) -> Array:
    """The result, or a copy of it in an array that is given, which may be the image itself."""
    if out is None:
        return result
    if tuple(out.shape) != tuple(result.shape):
        raise ValueError(f"out has shape {tuple(out.shape)}, but image has {tuple(result.shape)}")
    out[...] = result
    return out
