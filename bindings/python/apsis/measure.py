"""What is known of each value of a label image: shape, and intensity in a second image.

    import apsis.measure as measure
    table = measure.regionprops_table(labels, image, properties=("label", "area", "perimeter", "intensity_mean"))

regionprops_table has the arguments and names of scikit-image's, and the properties that `PROPERTIES` lists.  What differs:
arrays have 2 or 3 axes, intensities one channel and dtype bool, uint8, uint16 or float32; perimeter, area_convex, solidity and
feret_diameter_max are for 2 axes.  measures gives all that the library measures.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import Array
from ._calls import Device
from ._context import MEASURE, context_for
from ._errors import named, unsupported
from ._options import Spacing

__all__ = ["MEASURE", "PROPERTIES", "measures", "regionprops_table"]


def measures(labels: Array, intensity: Optional[Array] = None, *, wanted: Iterable[str] = (), connectivity: Optional[int] = 1,
             spacing: Spacing = None, device: Optional[Device] = None) -> NDArray[Any]:
    """Measures each value of a label image but 0.

    Parameters
    ----------
    labels : array of integers or bools, of 2 or 3 axes
    intensity : array of the same shape, optional
        Of bool, uint8, uint16 or float32.
    wanted : names
        Of "moments", "perimeter", "surface", "euler", "filled", "hull", "feret", "intensity": see apsis_measures.h.
    connectivity : int, default 1
        Of the Euler number.
    spacing, device
        As for apsis.distance.

    Returns
    -------
    structured array of dtype MEASURE
        Of the values that occur, in ascending order.  Coordinates are x, y, z: the last axis first.

    Examples
    --------
    >>> found = measures([[1, 1, 1], [1, 0, 1], [1, 1, 1]], wanted=("euler", "filled"))
    >>> found["component"]["area"], found["euler"], found["filled"]
    (array([8]), array([0]), array([9]))
    """
    return context_for(labels, device).measures(labels, intensity, wanted=wanted, connectivity=connectivity, spacing=spacing)


class _Table:
    """What the library has measured, as properties with scikit-image's names."""

    def __init__(self, known: NDArray[Any], ndim: int, spacing: NDArray[Any]) -> None:
        self._known, self._ndim, self._spacing = known, ndim, spacing
        self._pixel = float(np.prod(spacing))

    def __getitem__(self, field: str) -> NDArray[Any]:
        return self._known[field]

    def component(self, field: str) -> NDArray[Any]:
        """Coordinates along the axes of the array."""
        values = self._known["component"][field]
        return values[:, :self._ndim][:, ::-1] if values.ndim == 2 else values

    def pixels(self, count: NDArray[Any]) -> NDArray[Any]:
        return count * self._pixel

    def area(self) -> NDArray[Any]:
        return self.pixels(self.component("area"))

    def bbox(self) -> NDArray[Any]:
        return np.hstack([self.component("lower"), self.component("upper") + 1])

    def area_bbox(self) -> NDArray[Any]:
        return self.pixels((self.component("upper") + 1 - self.component("lower")).prod(1))

    def axis(self, which: int) -> NDArray[Any]:
        return self["axes"][:, which if which == 0 else self._ndim - 1]

    def inertia_tensor(self) -> NDArray[Any]:
        xx, yy, zz, xy, xz, yz = self["moments"].T / self.component("area")
        if self._ndim == 2:
            return np.stack([xx, -xy, -xy, yy], 1)
        return np.stack([xx + yy, -yz, -xz, -yz, xx + zz, -xy, -xz, -xy, yy + zz], 1)

    def inertia_tensor_eigvals(self) -> NDArray[Any]:
        shape = -1, self._ndim, self._ndim
        return np.clip(np.linalg.eigvalsh(self.inertia_tensor().reshape(shape))[:, ::-1], 0, None)

    def equivalent_diameter_area(self) -> NDArray[Any]:
        return np.asarray((2 * self._ndim * self.area() / np.pi) ** (1 / self._ndim))


#: The properties: what the library is asked for, and what becomes of it.
PROPERTIES: dict[str, tuple[tuple[str, ...], Callable[[_Table], NDArray[Any]]]] = {
    "label": ((), lambda t: t.component("value")),
    "num_pixels": ((), lambda t: t.component("area")),
    "area": ((), _Table.area),
    "bbox": ((), _Table.bbox),
    "area_bbox": ((), _Table.area_bbox),
    "extent": ((), lambda t: t.area() / t.area_bbox()),
    "centroid": ((), lambda t: t.component("centroid") * t._spacing),
    "centroid_local": ((), lambda t: (t.component("centroid") - t.component("lower")) * t._spacing),
    "equivalent_diameter_area": ((), _Table.equivalent_diameter_area),
    "area_filled": (("filled",), lambda t: t.pixels(t["filled"])),
    "area_convex": (("hull",), lambda t: t.pixels(t["convex"])),
    "solidity": (("hull",), lambda t: t.component("area") / t["convex"]),
    "feret_diameter_max": (("feret",), lambda t: t["feret_contour"]),
    "axis_major_length": (("moments",), lambda t: t.axis(0)),
    "axis_minor_length": (("moments",), lambda t: t.axis(-1)),
    "inertia_tensor": (("moments",), _Table.inertia_tensor),
    "inertia_tensor_eigvals": (("moments",), _Table.inertia_tensor_eigvals),
    "eccentricity": (("moments",), lambda t: t["eccentricity"]),
    "orientation": (("moments",), lambda t: t["orientation"]),
    "perimeter": (("perimeter",), lambda t: t["perimeter"]),
    "perimeter_crofton": (("perimeter",), lambda t: t["crofton"][:, 1]),
    "euler_number": (("euler",), lambda t: t["euler"]),
    "intensity_max": (("intensity",), lambda t: t["intensity_max"]),
    "intensity_mean": (("intensity",), lambda t: t["intensity_mean"]),
    "intensity_min": (("intensity",), lambda t: t["intensity_min"]),
}

_IN_2D = ("eccentricity", "orientation", "perimeter", "perimeter_crofton", "area_convex", "solidity", "feret_diameter_max")


def regionprops_table(label_image: Array, intensity_image: Optional[Array] = None,
                      properties: Iterable[str] = ("label", "bbox"), *, cache: bool = True, separator: str = "-",
                      spacing: Spacing = None, device: Optional[Device] = None) -> dict[str, NDArray[Any]]:
    """As skimage.measure.regionprops_table, for the properties that PROPERTIES lists.

    `cache` is not looked at.  As there, values below 0 are left out, and spacing is of the axes of the array.

    Examples
    --------
    >>> regionprops_table([[1, 1, 0], [0, 0, 2]], properties=("label", "area", "centroid"))
    {'label': array([1, 2]), 'area': array([2., 1.]), 'centroid-0': array([0., 1.]), 'centroid-1': array([0.5, 2. ])}
    """
    names = [properties] if isinstance(properties, str) else list(properties)
    ndim = len(label_image.shape) if hasattr(label_image, "shape") else np.ndim(label_image)
    for name in names:
        if name not in PROPERTIES:
            raise unsupported(f"properties has {name!r}, but it may have {', '.join(PROPERTIES)}")
        if name in _IN_2D and ndim != 2:
            raise unsupported(f"properties has {name!r}, which is for arrays of 2 axes, but label_image has {ndim}")
        if "intensity" in PROPERTIES[name][0] and intensity_image is None:
            raise unsupported(f"properties has {name!r}, which needs intensity_image")
    wanted = {each for name in names for each in PROPERTIES[name][0]}
    with named(labels="label_image", intensity="intensity_image"):
        known = context_for(label_image, device).measures(label_image, intensity_image if "intensity" in wanted else None,
                                                          wanted=sorted(wanted), connectivity=ndim, spacing=spacing)
    along = np.ones(ndim) if spacing is None else np.broadcast_to(np.asarray(spacing, float), (ndim,))
    table = _Table(known[known["component"]["value"] > 0], ndim, along)
    columns: dict[str, NDArray[Any]] = {}
    for name in names:
        values = np.ascontiguousarray(PROPERTIES[name][1](table))
        if values.ndim == 1:
            columns[name] = values
            continue
        shape = (ndim, ndim) if name == "inertia_tensor" else values.shape[1:]
        for k, place in enumerate(np.ndindex(shape)):
            columns[separator.join([name, *map(str, place)])] = values[:, k].copy()
    return columns
