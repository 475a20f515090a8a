"""A context of the library, and its transforms as methods."""

from __future__ import annotations

import ctypes
import math
import threading
from typing import Any, Iterable, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import DTypeLike

from . import _arrays as arrays
from . import _labels as values
from . import _library as c
from . import _lines as lines
from ._arrays import LABELS, LENGTHS, MASKS, Array
from ._calls import _ROOM, Calls, Device, chosen_device, outside
from ._errors import wrong
from ._options import Periodic, Spacing, Weights, flag, flags, measures_mask, options, periodic_flags, real

__all__ = ["COMPONENT", "CONTACT", "Context", "Device", "EXTENT", "context_for", "device_count", "outside"]

#: What is known of one component: see apsis_component.  Coordinates are x, y, z: the last axis of an array first.
COMPONENT = np.dtype([("first", "i8"), ("area", "i8"), ("lower", "i8", 3), ("upper", "i8", 3), ("centroid", "f8", 3),
                      ("value", "i8")])
#: How far a component reaches: see apsis_extent.
EXTENT = np.dtype([("first", "i8"), ("ends", "i8", 2), ("centre", "i8"), ("diameter", "f8"), ("radius", "f8"),
                   ("gap", "f8")])
#: How two values touch: see apsis_contact.  Faces are those across x, y, z.
CONTACT = np.dtype([("a", "i8"), ("b", "i8"), ("faces", "i8", 3), ("corners", "i8"), ("area", "f8")])
#: What is measured of a value: see apsis_measure.
MEASURE = np.dtype([("component", COMPONENT), ("border", "i8"), ("euler", "i8"), ("filled", "i8"), ("convex", "i8"),
                    ("faces", "i8", 3), ("surface", "f8"), ("moments", "f8", 6), ("axes", "f8", 3), ("orientation", "f8"),
                    ("eccentricity", "f8"), ("perimeter", "f8"), ("crofton", "f8", 2), ("convex_area", "f8"),
                    ("feret", "f8", 2), ("feret_contour", "f8"), ("intensity_sum", "f8"), ("intensity_mean", "f8"),
                    ("intensity_min", "f8"), ("intensity_max", "f8"), ("reserved", "f8", 8)])

#: What is known of a path: see apsis_path.
PATH = np.dtype([("start", "i8"), ("seed", "i8"), ("first", "i8"), ("count", "i8"), ("length", "f8"), ("cost", "f8"),
                 ("straight", "f8"), ("tortuosity", "f8")])

#: How far two surfaces are apart: see apsis_surface_distances.  Of pairs the first is of the first array's surface.
SURFACE_DISTANCES = np.dtype([("value", "i8"), ("points", "i8", 2), ("area", "f8", 2), ("within", "f8", 2),
                              ("largest", "f8", 2), ("percentile", "f8", 2), ("mean", "f8", 2), ("hausdorff", "f8"),
                              ("hausdorff_percentile", "f8"), ("average", "f8"), ("dice", "f8")])


class SurfaceDistances(NamedTuple):
    """How far the surfaces of two sets are apart: SURFACE_DISTANCES, without a value."""

    points: tuple[int, int]
    area: tuple[float, float]
    within: tuple[float, float]
    largest: tuple[float, float]
    percentile: tuple[float, float]
    mean: tuple[float, float]
    hausdorff: float
    hausdorff_percentile: float
    average: float
    dice: float


def device_count() -> int:
    """One more than the highest number of a usable CUDA device; 0 if there is none."""
    return int(c.lib.apsis_device_count())


class Context(Calls):
    """Where work runs.

    Parameters
    ----------
    device : str, int or sequence of int, default "best"
        "cpu", "best" (the first usable GPU, otherwise the CPU), or the number of a CUDA device.  Several numbers spread
        distance and complete Voronoi maps of arrays of the CPU over these devices; other calls run on the first.
    threads : int, default 0
        At most so many threads on the CPU; 0 is one a core.
    progress : callable, optional
        Called now and then, on the thread of the call, with how much is done, from 0 to 1.  A true result stops the call,
        which raises Cancelled.
    log : callable, optional
        Called with a line of text now and then, perhaps on another thread.

    Notes
    -----
    The methods are the functions of the package, which have a context for each thread and device.  Several threads may share
    a context, and take turns.  A context is neither copied nor pickled: each process makes its own.
    """

    def distance(self, set: Array, *, nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
                 out: Optional[Array] = None, nearest_out: Optional[Array] = None, spacing: Spacing = None,
                 metric: str = "euclidean", max_distance: Optional[float] = None, complement: bool = False,
                 signed: bool = False, slices: bool = False, method: str = "auto", labels: bool = False,
                 border: bool = False, periodic: Periodic = False, weights: Weights = None) -> Any:
        """apsis.distance in this context."""
        source = arrays.as_given("set", set, labels)
        given = flags(complement=complement, signed=signed, slices=slices, labels=labels, border=border)
        around = periodic_flags(periodic, len(source.shape), slices)
        has_ends = len(source.shape) == 1 and border and (complement or signed or labels)
        is_line = has_ends and not around  # a periodic line has no ends
        chosen = options(len(source.shape), (given & ~c.BORDER if has_ends else given) | around, spacing=spacing, metric=metric,
                         max_distance=max_distance, method=method, weights=weights)
        outputs = [arrays.output("out", out, "dtype", dtype, LENGTHS, set, source),
                   arrays.index_output("nearest_out", nearest_out, "nearest", nearest, set, source)]
        if is_line:
            lines.with_ends(source, outputs, lambda line, maps: self._transform(c.lib.apsis_distance, [line], maps, chosen))
        else:
            self._transform(c.lib.apsis_distance, [source], outputs, chosen)
        return arrays.results(outputs)

    def voronoi(self, set: Array, *, connected: bool = False, out: Optional[Array] = None, dtype: Optional[DTypeLike] = None,
                spacing: Spacing = None, metric: str = "euclidean", max_distance: Optional[float] = None,
                complement: bool = False, slices: bool = False, method: str = "auto", mixed: bool = False,
                labels: bool = False, periodic: Periodic = False) -> Array:
        """apsis.voronoi in this context."""
        source = arrays.as_given("set", set, labels)
        chosen = options(len(source.shape), flags(complement=complement, connected=connected, slices=slices, mixed=mixed,
                                                  labels=labels) | periodic_flags(periodic, len(source.shape), slices),
                         spacing=spacing, metric=metric, max_distance=max_distance, method=method)
        wanted = values.map_type(True if dtype is None else dtype, source) if labels else True if dtype is None else dtype
        outputs = [arrays.index_output("out", out, "dtype", wanted, set, source)]
        if labels:
            values.check_room(outputs[0], source)
        self._transform(c.lib.apsis_voronoi, [source], outputs, chosen)
        if labels:
            values.mend(outputs[0], source)
        return arrays.results(outputs)

    def components(self, set: Array, *, connectivity: Optional[int] = 1, statistics: bool = False,
                   dtype: Optional[DTypeLike] = np.int32, out: Optional[Array] = None, largest: Optional[int] = None,
                   min_area: Optional[int] = None, max_area: Optional[int] = None, border: bool = True, inner: bool = True,
                   complement: bool = False, slices: bool = False, method: str = "auto", labels: bool = False,
                   delta: Optional[float] = None, periodic: Periodic = False) -> Any:
        """apsis.components in this context."""
        source = arrays.as_given("set", set, labels) if delta is None else arrays.as_grey("set", set)
        labels = flag("labels", labels) or delta is not None
        around = periodic_flags(periodic, len(source.shape), slices)
        no_border, no_inner = not flag("border", border), not flag("inner", inner)
        if len(source.shape) == 1 and (no_border or no_inner):  # a row of an image is all border
            if labels or around:
                raise wrong(f"border and inner are True alone for {'labels' if labels else 'periodic sets'} of one axis")
            source = lines.by_ends(source, flag("complement", complement), no_border, no_inner)
            no_border = no_inner = False
        chosen = options(len(source.shape), flags(complement=complement, slices=slices, no_border=no_border,
                                                  no_inner=no_inner, labels=labels) | around,
                         connectivity=connectivity, largest=largest, min_area=min_area, max_area=max_area, method=method,
                         delta=delta)
        numbers = arrays.output("out", out, "dtype", dtype, LABELS, set, source)
        known_type = COMPONENT if flag("statistics", statistics) else None
        count, known = self._transform_counted(c.lib.apsis_components, source, [numbers], known_type, chosen)
        if known is not None and labels:
            known["value"] = values.signed(known["value"], source)
        result = numbers.result if numbers else None
        return (result, count) if known is None else (result, count, known)

    def statistics(self, labels: Array, *, dense: bool = False) -> np.ndarray[Any, Any]:
        """apsis.statistics in this context."""
        source = arrays.as_labels("labels", labels)
        room = values.greatest("labels", source) + 1 if flag("dense", dense) else None
        chosen = options(len(source.shape), flags(dense=dense, labels=True))
        _, known = self._transform_counted(c.lib.apsis_statistics, source, [], COMPONENT, chosen, "labels", room)
        assert known is not None
        return known if dense else values.in_order(known, source, "value")

    def contacts(self, labels: Array, *, connectivity: Optional[int] = 1, spacing: Spacing = None,
                 slices: bool = False, periodic: Periodic = False) -> np.ndarray[Any, Any]:
        """apsis.contacts in this context."""
        source = arrays.as_labels("labels", labels)
        around = periodic_flags(periodic, len(source.shape), slices)
        chosen = options(len(source.shape), flags(slices=slices, labels=True) | around, connectivity=connectivity,
                         spacing=spacing)
        _, known = self._transform_counted(c.lib.apsis_contacts, source, [], CONTACT, chosen, "labels")
        assert known is not None
        if len(source.shape) == 1:  # where faces are points
            known["area"] = known["faces"][:, 0]
        return values.in_order(known, source, "a", "b")

    def morphology(self, operation: str, set: Array, radius: float, *, out: Optional[Array] = None,
                   dtype: Optional[DTypeLike] = None, spacing: Spacing = None, metric: str = "euclidean",
                   complement: bool = False, slices: bool = False, border: bool = False, labels: bool = False) -> Array:
        """The functions of apsis.morphology in this context: "dilate", "erode", "open" or "close"."""
        source = arrays.as_given("set", set, labels)
        if flag("border", border) and len(source.shape) == 1:
            raise wrong("border is True, but set has 1 axis, and 2 or 3 are needed")
        if operation not in c.OPERATIONS:
            raise wrong(f"operation is {operation!r}, but must be one of {', '.join(c.OPERATIONS)}")
        chosen = options(len(source.shape), flags(complement=complement, slices=slices, border=border, labels=labels),
                         spacing=spacing, metric=metric)
        if labels:
            wanted = values.map_type(True if dtype is None else dtype, source)
            outputs = [arrays.index_output("out", out, "dtype", wanted, set, source)]
            values.check_room(outputs[0], source)
        else:
            outputs = [arrays.output("out", out, "dtype", np.bool_ if dtype is None else dtype, MASKS, set, source)]
        images = arrays.images_of([source], outputs)
        self._call(c.lib.apsis_morphology, images, c.OPERATIONS[operation], real("radius", radius),
                   *map(arrays.reference, images), ctypes.byref(chosen))
        if labels:
            values.mend(outputs[0], source)
        return arrays.results(outputs)

    def surface_distance(self, first: Array, second: Array, *, surface: str = "pixels", percentile: float = 95,
                         tolerance: float = 0, spacing: Spacing = None, metric: str = "euclidean") -> SurfaceDistances:
        """apsis.metrics.surface_distance in this context."""
        sources = [arrays.as_set("first", first), arrays.as_set("second", second)]
        fields = self._surface_distances(sources, surface, percentile, tolerance, spacing, metric)[0].tolist()[1:]
        numbers: list[Any] = [tuple(np.asarray(each).tolist()) if np.ndim(each) else each for each in fields]
        return SurfaceDistances(*numbers)

    def label_surface_distances(self, first: Array, second: Array, *, surface: str = "pixels", percentile: float = 95,
                                tolerance: float = 0, spacing: Spacing = None,
                                metric: str = "euclidean") -> np.ndarray[Any, Any]:
        """apsis.metrics.label_surface_distances in this context."""
        sources = [arrays.as_labels("first", first), arrays.as_labels("second", second)]
        types = [arrays.dtype_in(source) for source in sources]
        if types[0] != types[1]:  # which may have the same value in other bits
            raise wrong(f"second has dtype {types[1]}, but first has {types[0]}; convert one of them")
        known = self._surface_distances(sources, surface, percentile, tolerance, spacing, metric, labels=True)
        return values.in_order(known, sources[0], "value")

    def _surface_distances(self, sources: list[Any], surface: str, percentile: float, tolerance: float, spacing: Spacing,
                           metric: str, labels: bool = False) -> np.ndarray[Any, Any]:
        shapes = [tuple(source.shape) for source in sources]
        if shapes[0] != shapes[1]:
            raise wrong(f"second has shape {shapes[1]}, but first has {shapes[0]}")
        if len(shapes[0]) == 1:
            raise wrong("first has 1 axis, and 2 or 3 are needed")
        if surface not in c.SURFACES:
            raise wrong(f"surface is {surface!r}, but must be one of {', '.join(c.SURFACES)}")
        chosen = options(len(shapes[0]), flags(labels=labels), spacing=spacing, metric=metric)
        images = arrays.images_of(sources, [], ("first", "second"))
        count, room = ctypes.c_int64(), _ROOM if labels else 1
        while True:
            known = np.empty(room, SURFACE_DISTANCES)
            self._call(c.lib.apsis_surface_distance, images, *map(arrays.reference, images), c.SURFACES[surface],
                       real("percentile", percentile), real("tolerance", tolerance), known.ctypes.data, room,
                       ctypes.byref(count), ctypes.byref(chosen))
            if count.value <= room:
                return known[:count.value]
            room = count.value

    def thickness(self, set: Array, *, out: Optional[Array] = None, dtype: DTypeLike = np.float32, spacing: Spacing = None,
                  complement: bool = False, slices: bool = False, border: bool = False) -> Array:
        """apsis.morphology.local_thickness in this context."""
        return self._balls(c.lib.apsis_thickness, set, out, dtype, spacing, complement, slices, border)

    def medial_axis(self, set: Array, *, out: Optional[Array] = None, dtype: DTypeLike = np.float32, spacing: Spacing = None,
                    complement: bool = False, slices: bool = False, border: bool = False) -> Array:
        """apsis.morphology.medial_axis in this context."""
        return self._balls(c.lib.apsis_medial_axis, set, out, dtype, spacing, complement, slices, border)

    def _balls(self, function: Any, set: Array, out: Optional[Array], dtype: DTypeLike, spacing: Spacing, complement: bool,
               slices: bool, border: bool) -> Array:
        source = arrays.as_set("set", set)
        if flag("border", border) and len(source.shape) == 1:
            raise wrong("border is True, but set has 1 axis, and 2 or 3 are needed")
        chosen = options(len(source.shape), flags(complement=complement, slices=slices, border=border), spacing=spacing)
        outputs = [arrays.output("out", out, "dtype", dtype, LENGTHS, set, source)]
        self._transform(function, [source], outputs, chosen)
        return arrays.results(outputs)

    def measures(self, labels: Array, intensity: Optional[Array] = None, *, wanted: Iterable[str] = (),
                 connectivity: Optional[int] = 1, spacing: Spacing = None) -> np.ndarray[Any, Any]:
        """apsis.measure.measures in this context."""
        sources = [arrays.as_labels("labels", labels)]
        if len(sources[0].shape) == 1:
            raise wrong("labels has 1 axis, and 2 or 3 are needed")
        mask = measures_mask(wanted)
        if intensity is not None:
            sources.append(arrays.as_intensity("intensity", intensity))
            arrays.check_shape("intensity", sources[1], sources[0], "labels")
        chosen = options(len(sources[0].shape), flags(labels=True), connectivity=connectivity, spacing=spacing)
        images = arrays.images_of(sources, [], ("labels", "intensity"))
        count, room = ctypes.c_int64(), _ROOM
        grey = images[1] if len(images) > 1 else None
        while True:
            known = np.empty(room, MEASURE)
            self._call(c.lib.apsis_measures, images, arrays.reference(images[0]), arrays.reference(grey), mask,
                       known.ctypes.data, room, ctypes.byref(count), ctypes.byref(chosen))
            if count.value <= room:
                break
            room = count.value
        return values.records_in_order(known[:count.value], sources[0], "component")

    def cost_distance(self, costs: Array, seeds: Array, *, set: Optional[Array] = None,
                      nearest: Union[bool, DTypeLike] = False, dtype: Optional[DTypeLike] = np.float32,
                      out: Optional[Array] = None, nearest_out: Optional[Array] = None, connectivity: Optional[int] = None,
                      spacing: Spacing = None, metric: str = "euclidean", max_distance: Optional[float] = None,
                      complement: bool = False, slices: bool = False, labels: bool = False,
                      weights: Weights = None) -> Any:
        """apsis.paths.cost_distance in this context."""
        source, starts = arrays.as_costs("costs", costs), arrays.as_given("seeds", seeds, labels)
        ways = None if set is None else arrays.as_set("set", set)
        chosen = options(len(source.shape), flags(complement=complement, slices=slices, labels=labels), spacing=spacing,
                         metric=metric, max_distance=max_distance, connectivity=connectivity, weights=weights)
        wanted = values.map_type(nearest, starts) if labels else nearest
        outputs = [arrays.output("out", out, "dtype", dtype, LENGTHS, costs, source),
                   arrays.index_output("nearest_out", nearest_out, "nearest", wanted, costs, source)]
        if labels:
            values.check_room(outputs[1], starts)
        images = self._path_images(ways, source, starts, outputs)
        self._call(c.lib.apsis_cost_distance, images, *map(arrays.reference, images), ctypes.byref(chosen))
        if labels:
            values.mend(outputs[1], starts)
        return arrays.results(outputs)

    def shortest_paths(self, starts: Any, seeds: Array, *, set: Optional[Array] = None, costs: Optional[Array] = None,
                       connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
                       max_distance: Optional[float] = None, complement: bool = False, slices: bool = False,
                       weights: Weights = None) -> Any:
        """apsis.paths.shortest_paths in this context."""
        ends = arrays.as_set("seeds", seeds)
        ways = None if set is None else arrays.as_set("set", set)
        given = None if costs is None else arrays.as_costs("costs", costs)
        begins = np.asarray(starts)
        if begins.ndim != 1 or begins.dtype.kind not in "iu":
            if begins.size:
                raise wrong(f"starts has shape {begins.shape} and dtype {begins.dtype}, but must be flat indices, in one axis")
            begins = np.empty(0)
        begins = np.ascontiguousarray(begins, np.int64)
        chosen = options(len(ends.shape), flags(complement=complement, slices=slices), spacing=spacing, metric=metric,
                         max_distance=max_distance, connectivity=connectivity, weights=weights)
        images = self._path_images(ways, given, ends, [])
        known, count = np.empty(len(begins), PATH), ctypes.c_int64()
        pixels = np.empty(len(begins) * 2 * sum(ends.shape), np.int64)
        while True:
            self._call(c.lib.apsis_paths, images, *map(arrays.reference, images), begins.ctypes.data, len(begins),
                       known.ctypes.data, pixels.ctypes.data, len(pixels), ctypes.byref(count), ctypes.byref(chosen))
            if count.value <= len(pixels):
                return known, _paths(known, pixels)
            pixels = np.empty(count.value, np.int64)

    def longest_paths(self, set: Array, *, connectivity: Optional[int] = None, spacing: Spacing = None,
                      metric: str = "euclidean", complement: bool = False, slices: bool = False, labels: bool = False,
                      weights: Weights = None) -> Any:
        """apsis.paths.longest_paths in this context."""
        source = arrays.as_given("set", set, labels)
        chosen = options(len(source.shape), flags(complement=complement, slices=slices, labels=labels), spacing=spacing,
                         metric=metric, connectivity=connectivity, weights=weights)
        images = arrays.images_of([source], [])
        size = math.prod(source.shape)  # paths of different components have no pixel in common
        known, pixels, counts = np.empty(size // 2 + size % 2, PATH), np.empty(size, np.int64), (ctypes.c_int64 * 2)()
        paths, pixel_count = (ctypes.cast(ctypes.byref(counts, 8 * i), ctypes.POINTER(ctypes.c_int64)) for i in range(2))
        self._do(lambda: int(c.lib.apsis_longest_paths(
            self._handle, *map(arrays.reference, images), known.ctypes.data, len(known), paths, pixels.ctypes.data, len(pixels),
            pixel_count, ctypes.byref(chosen))), images, True)
        known = known[:counts[0]].copy()
        return known, _paths(known, pixels)

    @staticmethod
    def _path_images(set: Optional[Array], costs: Optional[Array], seeds: Array, outputs: list[Any]) -> list[Optional[c.Image]]:
        """The images of a call, of which the first two may be left out."""
        given = [(name, array) for name, array in (("costs", costs), ("seeds", seeds), ("set", set)) if array is not None]
        for name, array in given[1:]:
            arrays.check_shape(name, array, given[0][1], given[0][0])
        images = arrays.images_of([array for _, array in given], outputs, tuple(name for name, _ in given))
        by_name = {image.name: image for image in images[:len(given)] if image is not None}
        return [*(by_name.get(name) for name in ("set", "costs", "seeds")), *images[len(given):]]

    def geodesic(self, set: Array, seeds: Array, *, nearest: Union[bool, DTypeLike] = False,
                 dtype: Optional[DTypeLike] = np.float32, out: Optional[Array] = None, nearest_out: Optional[Array] = None,
                 connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
                 max_distance: Optional[float] = None, complement: bool = False, slices: bool = False,
                 labels: bool = False, periodic: Periodic = False, weights: Weights = None) -> Any:
        """apsis.geodesic in this context."""
        source, starts = arrays.as_set("set", set), arrays.as_given("seeds", seeds, labels)
        arrays.check_shape("seeds", starts, source)
        around = periodic_flags(periodic, len(source.shape), slices)
        chosen = options(len(source.shape), flags(complement=complement, slices=slices, labels=labels) | around,
                         spacing=spacing, metric=metric, max_distance=max_distance, connectivity=connectivity,
                         weights=weights)
        wanted = values.map_type(nearest, starts) if labels else nearest
        outputs = [arrays.output("out", out, "dtype", dtype, LENGTHS, set, source),
                   arrays.index_output("nearest_out", nearest_out, "nearest", wanted, set, source)]
        if labels:
            values.check_room(outputs[1], starts)
        self._transform(c.lib.apsis_geodesic, [source, starts], outputs, chosen)
        if labels:
            values.mend(outputs[1], starts)
        return arrays.results(outputs)

    def eccentricity(self, set: Array, *, farthest: Union[bool, DTypeLike] = False, extents: bool = False,
                     dtype: Optional[DTypeLike] = np.float32, out: Optional[Array] = None, farthest_out: Optional[Array] = None,
                     connectivity: Optional[int] = None, spacing: Spacing = None, metric: str = "euclidean",
                     complement: bool = False, slices: bool = False, budget: Optional[int] = None, method: str = "auto",
                     labels: bool = False, periodic: Periodic = False, weights: Weights = None) -> Any:
        """apsis.eccentricity in this context."""
        source = arrays.as_given("set", set, labels)
        around = periodic_flags(periodic, len(source.shape), slices)
        chosen = options(len(source.shape), flags(complement=complement, slices=slices, labels=labels) | around,
                         spacing=spacing, metric=metric, connectivity=connectivity, budget=budget, method=method,
                         weights=weights)
        outputs = [arrays.output("out", out, "dtype", dtype, LENGTHS, set, source),
                   arrays.index_output("farthest_out", farthest_out, "farthest", farthest, set, source)]
        known_type = EXTENT if flag("extents", extents) else None
        _, known = self._transform_counted(c.lib.apsis_eccentricity, source, outputs, known_type, chosen)
        return arrays.results(outputs, *([] if known is None else [known]))


def _paths(known: np.ndarray[Any, Any], pixels: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The pixels of each path, as arrays of their own."""
    return [pixels[first:first + count].copy() for first, count in zip(known["first"], known["count"])]


# ---- The context of a thread ----

_own = threading.local()


def context_for(array: Any, device: Optional[Device] = None, threads: int = 0) -> Context:
    """This thread's context for a device; by default that of an array on a GPU, or the CPU, for which `threads` counts."""
    if arrays.is_data_array(array):
        array = array.data
    if device is None:
        device = arrays.device_of(array) if arrays.on_device(array) else "cpu"
    chosen = chosen_device(device)
    threads = threads if chosen == c.CPU else 0
    contexts: dict[Any, Context] = _own.__dict__.setdefault("contexts", {})
    if (chosen, threads) not in contexts:
        contexts[chosen, threads] = Context(chosen, threads=threads)
    return contexts[chosen, threads]
