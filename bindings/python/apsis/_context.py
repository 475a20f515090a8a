"""A context of the library, and the five transforms as its methods."""

import ctypes
import threading
import warnings

import numpy as np

from . import _arrays as arrays
from . import _library as c
from ._errors import BudgetWarning, error

#: What is known of one component: see apsis_component.  Coordinates are x, y, z: the last axis of an array first.
COMPONENT = np.dtype([("first", "i8"), ("area", "i8"), ("lower", "i8", 3), ("upper", "i8", 3), ("centroid", "f8", 3)])
#: How far a component reaches: see apsis_extent.
EXTENT = np.dtype([("first", "i8"), ("ends", "i8", 2), ("centre", "i8"), ("diameter", "f8"), ("radius", "f8"),
                   ("gap", "f8")])

_ROOM = 4096  # components that fit without asking twice


def device_count():
    """One more than the highest number of a usable CUDA device; 0 if there is none."""
    return c.lib.apsis_device_count()


class Context:
    """Where work runs: "cpu", "best" (the first usable GPU, otherwise the CPU), or the number of a CUDA device.

    Use one from one thread at a time; the functions of the package have one for each thread and device.

    threads   at most so many threads on the CPU; 0 is one a core.
    progress  called with how much is done, 0 to 1; a true result stops the call (Cancelled).
    log       called with a line of text now and then.
    """

    def __init__(self, device="best", *, threads=0, progress=None, log=None):
        self._handle = ctypes.c_void_p()
        number = {"cpu": c.CPU, "best": c.BEST}.get(device, device)
        if not isinstance(number, int):
            raise ValueError(f'device is {device!r}, but must be "cpu", "best" or the number of a CUDA device')
        major, minor, patch = c.VERSION
        status = c.lib.apsis_create(major * 10000 + minor * 100 + patch, number, ctypes.byref(self._handle))
        if status != c.OK:
            raise error(status, c.lib.apsis_message(None).decode())
        self._raised = None
        self._progress = c.PROGRESS(self._tell(progress)) if progress else c.PROGRESS()
        self._log = c.LOG(lambda _, line: log(line.decode())) if log else c.LOG()
        self._check(c.lib.apsis_set_progress(self._handle, self._progress, None))
        self._check(c.lib.apsis_set_log(self._handle, self._log, None))
        self._check(c.lib.apsis_set_threads(self._handle, threads))

    def close(self):
        """Waits for the context's work, and frees it."""
        if self._handle:
            c.lib.apsis_destroy(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    @property
    def device(self):
        """The number of its CUDA device, or -1 for the CPU."""
        return c.lib.apsis_device(self._handle)

    @property
    def name(self):
        """What it runs on, in words."""
        return c.lib.apsis_device_name(self._handle).decode()

    def sync(self):
        """Waits for what has been queued on a GPU, and reports an error in it."""
        self._check(c.lib.apsis_sync(self._handle))

    def distance(self, set, *, nearest=False, dtype=np.float32, out=None, nearest_out=None, spacing=None, metric="euclidean",
                 max_distance=0, complement=False, signed=False, slices=False, method="auto"):
        """How far every element is from the nearest non-zero one, and with `nearest` which one that is (its flat index).

        dtype       float32 or float64; int32 or int64 for the square (Euclidean) or the distance itself.
        nearest     True, or int32 or int64: the type of the indices, by default the smallest that fits.
        spacing     the size of an element along each axis, in the order of the array's axes; or one number.
        complement  the set is the zero elements instead.
        signed      inside the set, minus the distance to the outside.
        slices      each [z] of a 3-D array is an image of its own.

        Returns the distances, or with `nearest` a tuple; dtype=None leaves the distances out.
        """
        set = arrays.as_set(set)
        if out is None and dtype is not None:
            out = arrays.empty_like(set, dtype)
        if nearest_out is None and nearest:
            nearest_out = arrays.empty_like(set, _index_type(set, nearest))
        options = _options(set, spacing=spacing, metric=metric, max_distance=max_distance, method=method,
                           flags=complement * c.COMPLEMENT | signed * c.SIGNED | slices * c.SLICES)
        self._call(c.lib.apsis_distance, {"set": set}, {"out": out, "nearest_out": nearest_out}, options)
        return _results(out, nearest_out)

    def voronoi(self, set, *, connected=False, out=None, dtype=None, spacing=None, metric="euclidean", max_distance=0,
                complement=False, slices=False, method="auto", mixed=False):
        """For every element the flat index of the site, a non-zero element, of the cell that it is in.

        connected  hide exclaves, so that every cell is connected.
        """
        set = arrays.as_set(set)
        if out is None:
            out = arrays.empty_like(set, _index_type(set, dtype))
        options = _options(set, spacing=spacing, metric=metric, max_distance=max_distance, method=method,
                           flags=complement * c.COMPLEMENT | connected * c.CONNECTED | slices * c.SLICES | mixed * c.MIXED)
        self._call(c.lib.apsis_voronoi, {"set": set}, {"out": out}, options)
        return out

    def components(self, set, *, connectivity=1, statistics=False, dtype=np.int32, out=None, largest=0, min_area=0,
                   max_area=0, border=True, inner=True, complement=False, slices=False, method="auto"):
        """Numbers the connected components 1, 2, 3, ... by their lowest element, 0 outside.

        connectivity    the axes along which neighbours may differ: 1, 2, 3 (4, 8 neighbours in 2-D; 6, 18, 26 in 3-D).
        statistics      an array of COMPONENT too.
        dtype           int32 or int64; uint8 or bool for the set alone, without what is left out; None for no labels.
        largest, min_area, max_area   leave out all but the largest, the smaller, and the larger ones.
        border, inner   False leaves out those that touch the array's border, or do not.

        Returns (labels, how many), or (labels, how many, statistics).
        """
        set = arrays.as_set(set)
        if out is None and dtype is not None:
            out = arrays.empty_like(set, dtype)
        options = _options(set, connectivity=connectivity, largest=largest, min_area=min_area, max_area=max_area,
                           method=method, flags=complement * c.COMPLEMENT | slices * c.SLICES | (not border) * c.NO_BORDER |
                           (not inner) * c.NO_INNER)
        count, known = self._call_counted(c.lib.apsis_components, {"set": set}, {"out": out},
                                          statistics and COMPONENT, options)
        return (out, count, known) if statistics else (out, count)

    def geodesic(self, set, seeds, *, nearest=False, dtype=np.float32, out=None, nearest_out=None, connectivity=0,
                 spacing=None, metric="euclidean", max_distance=0, complement=False, slices=False):
        """The length of the shortest path within the set to the nearest seed, and with `nearest` which seed that is."""
        set, seeds = arrays.as_set(set), arrays.as_set(seeds)
        if out is None and dtype is not None:
            out = arrays.empty_like(set, dtype)
        if nearest_out is None and nearest:
            nearest_out = arrays.empty_like(set, _index_type(set, nearest))
        options = _options(set, spacing=spacing, metric=metric, max_distance=max_distance, connectivity=connectivity,
                           flags=complement * c.COMPLEMENT | slices * c.SLICES)
        self._call(c.lib.apsis_geodesic, {"set": set, "seeds": seeds}, {"out": out, "nearest_out": nearest_out}, options)
        return _results(out, nearest_out)

    def eccentricity(self, set, *, farthest=False, extents=False, dtype=np.float32, out=None, farthest_out=None,
                     connectivity=0, spacing=None, metric="euclidean", complement=False, slices=False, budget=0,
                     method="auto"):
        """The length of the shortest path to the farthest element of the component, and with `farthest` which that is.

        extents  an array of EXTENT too: diameter, its ends, radius and centre of every component.
        budget   at most so many distance fields for a component; where it runs out, a BudgetWarning says so.
        """
        set = arrays.as_set(set)
        if out is None and dtype is not None:
            out = arrays.empty_like(set, dtype)
        if farthest_out is None and farthest:
            farthest_out = arrays.empty_like(set, _index_type(set, farthest))
        options = _options(set, spacing=spacing, metric=metric, connectivity=connectivity, budget=budget, method=method,
                           flags=complement * c.COMPLEMENT | slices * c.SLICES)
        _, known = self._call_counted(c.lib.apsis_eccentricity, {"set": set}, {"out": out, "farthest_out": farthest_out},
                                      extents and EXTENT, options)
        return _results(out, farthest_out, *([known] if extents else []))

    # ---- Calls ----

    def _tell(self, progress):
        def told(_, done):
            try:
                return int(bool(progress(done)))
            except BaseException as raised:  # it must not pass through C: the call stops, and then raises it
                self._raised = raised
                return 1
        return told

    def _check(self, status):
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if status == c.ERROR_BUDGET:
            warnings.warn(c.lib.apsis_message(self._handle).decode(), BudgetWarning, stacklevel=5)
        elif status != c.OK:
            raise error(status, c.lib.apsis_message(self._handle).decode())

    def _images(self, inputs, outputs):
        """The images of a call; those on a GPU set its stream."""
        given = [array for array in (*inputs.values(), *outputs.values()) if array is not None]
        for array in given:
            if arrays.on_device(array):
                self._check(c.lib.apsis_set_stream(self._handle, arrays.stream_of(array)))
                break
        return ([arrays.as_image(name, array, c.U8) for name, array in inputs.items()] +
                [None if array is None else arrays.as_image(name, array) for name, array in outputs.items()])

    def _call(self, function, inputs, outputs, options):
        images = self._images(inputs, outputs)
        self._check(function(self._handle, *map(arrays.reference, images), ctypes.byref(options)))

    def _call_counted(self, function, inputs, outputs, known_type, options):
        """Calls a function that tells what is known of components; again if there are more than expected."""
        images = self._images(inputs, outputs)
        count = ctypes.c_int64()
        known = np.empty(_ROOM if known_type else 0, known_type or np.int8)

        def call(images):
            self._check(function(self._handle, *map(arrays.reference, images), known.ctypes.data if known_type else None,
                                 len(known), ctypes.byref(count), ctypes.byref(options)))
        call(images)
        if known_type and count.value > len(known):
            known = np.empty(count.value, known_type)
            call(images[:len(inputs)] + [None] * len(outputs))
        return count.value, known[:count.value] if known_type else None


# ---- The context of a thread ----

_own = threading.local()


def context_for(array, device=None):
    """This thread's context for a device; by default that of an array on a GPU, or the CPU."""
    if device is None:
        device = arrays.device_of(array) if arrays.on_device(array) else "cpu"
    contexts = _own.__dict__.setdefault("contexts", {})
    if device not in contexts:
        contexts[device] = Context(device)
    return contexts[device]


# ---- Options and results ----

def _options(array, *, flags=0, spacing=None, metric="euclidean", method="auto", **fields):
    options = c.Options(struct_size=ctypes.sizeof(c.Options), flags=flags, **fields)
    for field, names, value in (("metric", c.METRICS, metric), ("method", c.METHODS, method)):
        if value not in names:
            raise ValueError(f"{field} is {value!r}, but must be one of {', '.join(names)}")
        setattr(options, field, names[value])
    axes = len(array.shape)
    if spacing is not None:
        steps = [float(spacing)] * axes if np.isscalar(spacing) else [float(step) for step in spacing]
        if len(steps) != axes:
            raise ValueError(f"spacing has {len(steps)} numbers, but the array has {axes} axes")
        for axis, step in enumerate(steps):
            if not (0 < step < np.inf):
                raise ValueError(f"spacing[{axis}] is {step:g}, but must be positive and finite")
        steps = list(reversed(steps)) + [1.0] * (3 - axes)
        options.spacing[:] = steps
    return options


def _index_type(array, wanted):
    if wanted is None or wanted is True:
        return np.int32 if np.prod(array.shape, dtype=np.int64) <= 2**31 else np.int64
    return wanted


def _results(*results):
    given = [result for result in results if result is not None]
    return given[0] if len(given) == 1 else tuple(given)
