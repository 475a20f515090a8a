"""A set, or labels, dilated, eroded, opened or closed by a ball of any radius; the largest balls in it, and its medial axis.

    import apsis.morphology as morphology
    smooth = morphology.opening(mask, 12.5)
    grown = morphology.dilation(volume, 3, spacing=(1.5, 0.4, 0.4))
    radius = morphology.local_thickness(pores)

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
from ._errors import named
from ._options import Spacing

__all__ = ["closing", "dilation", "erosion", "isotropic_closing", "isotropic_dilation", "isotropic_erosion",
           "isotropic_opening", "local_thickness", "medial_axis", "opening"]


def dilation(set: Array, radius: float, *, out: Optional[Array] = None, dtype: Optional[DTypeLike] = None,
             spacing: Spacing = None, metric: str = "euclidean", complement: bool = False, slices: bool = False,
             border: bool = False, labels: bool = False, device: Optional[Device] = None) -> Array:
    """The elements with one of the set in the ball around them; or labels, grown where there is 0.

    Parameters
    ----------
    set : array, of 1 to 3 axes
        Its non-zero elements are the set.
    radius : float
        That of the ball, in the unit of `spacing`: 0 or more, infinity too.
    out : array of the shape of `set`, optional
        Where the result goes, of bool or uint8 and any strides; of labels, int32 or int64.
    dtype : dtype, optional
        bool, the default, or uint8.  Of labels int32 or int64; by default the one that holds those of `set`.
    metric : str, default "euclidean"
        "euclidean", "city-block" ("cityblock", "taxicab", "manhattan"): a diamond, or "chessboard": a square.
    border : bool, default False
        What lies outside the array is background, 0: a set is eroded from there, too.  By default the array is all there is.
        Not to close a set, nor to open a complement: give the array a margin.
    labels : bool, default False
        The array is a label image, and so is the result.  An element of 0 gets the nearest label in the ball around it.  A
        label is eroded, and opened, as the set of its elements; not for "chessboard".  The set of all labels is closed, and its
        new elements get the nearest label.
    spacing, complement, slices, device
        As for apsis.distance.

    Returns
    -------
    array
        True in the set that it has become, or its labels, of the kind and place of `set`.

    Examples
    --------
    >>> dilation([0, 0, 0, 1, 0, 0], 1.5)
    array([False, False,  True,  True,  True, False])
    """
    return _apply("dilate", set, radius, device, out, dtype, spacing, metric, complement, slices, border,
                  labels)


def erosion(set: Array, radius: float, *, out: Optional[Array] = None, dtype: Optional[DTypeLike] = None,
            spacing: Spacing = None, metric: str = "euclidean", complement: bool = False, slices: bool = False,
            border: bool = False, labels: bool = False, device: Optional[Device] = None) -> Array:
    """The elements with nothing but the set, or their label, in the ball around them.  Parameters are those of `dilation`."""
    return _apply("erode", set, radius, device, out, dtype, spacing, metric, complement, slices, border,
                  labels)


def opening(set: Array, radius: float, *, out: Optional[Array] = None, dtype: Optional[DTypeLike] = None,
            spacing: Spacing = None, metric: str = "euclidean", complement: bool = False, slices: bool = False,
            border: bool = False, labels: bool = False, device: Optional[Device] = None) -> Array:
    """Eroded, then dilated: what the balls that lie in the set, or in a label, cover.  Parameters are those of `dilation`."""
    return _apply("open", set, radius, device, out, dtype, spacing, metric, complement, slices, border,
                  labels)


def closing(set: Array, radius: float, *, out: Optional[Array] = None, dtype: Optional[DTypeLike] = None,
            spacing: Spacing = None, metric: str = "euclidean", complement: bool = False, slices: bool = False,
            border: bool = False, labels: bool = False, device: Optional[Device] = None) -> Array:
    """Dilated, then eroded: what no ball outside the set, or all labels, covers.  Parameters are those of `dilation`."""
    return _apply("close", set, radius, device, out, dtype, spacing, metric, complement, slices, border,
                  labels)


def local_thickness(set: Array, *, out: Optional[Array] = None, dtype: DTypeLike = np.float32, spacing: Spacing = None,
                    complement: bool = False, slices: bool = False, border: bool = False,
                    device: Optional[Device] = None) -> Array:
    """The radius of the largest ball in the set that covers the element, wherever its centre is; 0 outside of the set.

    The ball around an element of the set is that of the elements nearer to it than the nearest one outside.  That is the
    radius of PoreSpy's local_thickness, which has the whole numbers alone among the radii unless it is given others (its
    method="legacy" with sizes), and of localthickness; BoneJ gives twice the radius.

    Parameters
    ----------
    set : array, of 1 to 3 axes
        Its non-zero elements are the set.
    out : array of the shape of `set`, optional
        Where the radii go, of float32, float64, int32 or int64 and any strides.
    dtype : dtype, default float32
        float32 or float64; int32 or int64: the square of the radius, for spacing 1.
    border : bool, default False
        What lies outside the array is background, 0.  By default the array is all there is, and balls reach beyond it.  Not for
        a complement: give the array a margin.
    spacing, complement, slices, device
        As for apsis.distance.

    Returns
    -------
    array
        The radii, of the kind and place of `set`; infinity, or the largest integer, if there is nothing outside of the set.

    Examples
    --------
    >>> local_thickness([0, 1, 1, 1, 0, 1], dtype="int32")
    array([0, 4, 4, 4, 0, 1], dtype=int32)
    """
    return context_for(set, device).thickness(set, out=out, dtype=dtype, spacing=spacing, complement=complement, slices=slices,
                                              border=border)


def medial_axis(set: Array, *, out: Optional[Array] = None, dtype: DTypeLike = np.float32, spacing: Spacing = None,
                complement: bool = False, slices: bool = False, border: bool = False, device: Optional[Device] = None) -> Array:
    """The radius of the ball around each element of the medial axis, and 0 elsewhere.

    The balls of the axis cover the set and nothing else.  It is the reduced discrete medial axis of Coeurjolly and Montanvert,
    and no skeleton, as skimage.morphology.medial_axis is: it need not be connected.  Parameters and results are those of
    `local_thickness`.

    Examples
    --------
    >>> medial_axis([0, 1, 1, 1, 0, 1])
    array([0., 0., 2., 0., 0., 1.], dtype=float32)
    """
    return context_for(set, device).medial_axis(set, out=out, dtype=dtype, spacing=spacing, complement=complement,
                                                slices=slices, border=border)


def isotropic_dilation(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_dilation."""
    with named(set="image"):
        return _into(out, dilation(image, radius, spacing=spacing))


def isotropic_erosion(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_erosion."""
    with named(set="image"):
        return _into(out, erosion(image, radius, spacing=spacing))


def isotropic_opening(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_opening."""
    with named(set="image"):
        return _into(out, opening(image, radius, spacing=spacing))


def isotropic_closing(image: Array, radius: float, out: Optional[Array] = None, spacing: Spacing = None) -> Array:
    """As skimage.morphology.isotropic_closing."""
    with named(set="image"):
        return _into(out, closing(image, radius, spacing=spacing))


# ---- What they share ----

def _apply(operation: str, set: Array, radius: float, device: Optional[Device], out: Optional[Array],
           dtype: Optional[DTypeLike], spacing: Spacing, metric: str, complement: bool, slices: bool, border: bool,
           labels: bool) -> Array:
    return context_for(set, device).morphology(operation, set, radius, out=out, dtype=dtype, spacing=spacing, metric=metric,
                                               complement=complement, slices=slices, border=border, labels=labels)


def _into(out: Optional[Array], result: Any) -> Array:
    """The result, or a copy of it in an array that is given, which may be the image itself."""
    if out is None:
        return result
    if tuple(out.shape) != tuple(result.shape):
        raise ValueError(f"out has shape {tuple(out.shape)}, but image has {tuple(result.shape)}")
    out[...] = result
    return out
