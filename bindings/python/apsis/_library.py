"""libapsis through ctypes: apsis.h, declaration by declaration.

The library is the one that $APSIS_LIBRARY names, or else the one in the package, or else the one that the loader finds.  A call
releases the interpreter's lock, as every ctypes.CDLL call does.
"""

import ctypes
import ctypes.util
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p

VERSION = (0, 5, 0)

OK, ERROR_ARGUMENT, ERROR_UNSUPPORTED, ERROR_NO_DEVICE, ERROR_MEMORY = 0, 1, 2, 3, 4
ERROR_WORKSPACE, ERROR_RANGE, ERROR_CANCELLED, ERROR_DEVICE, ERROR_INTERNAL, ERROR_BUDGET = 5, 6, 7, 8, 9, 10

BIT, U8, I32, I64, F32, F64, U16 = 1, 2, 3, 4, 5, 6, 7
HOST, DEVICE = 0, 1
CPU, BEST = -1, -2

METRICS = {"euclidean": 0, "city-block": 1, "chessboard": 2, "chamfer": 3}
METHODS = {"auto": 0, "raster-scan": 1, "sweep": 2, "jump-flood": 3, "tile-fill": 4, "every-source": 5,
           "sweep-blocks": 6, "sweep-rows": 7, "sequential-scan": 8}

COMPLEMENT, SIGNED, CONNECTED, SLICES, NO_BORDER, NO_INNER, MIXED, LABELS, BORDER, DENSE = (1 << bit for bit in range(10))
PERIODIC_X = 1 << 10  # and the next ones for y and z

MEASURES = {name: 1 << bit for bit, name in enumerate(
    ("moments", "perimeter", "surface", "euler", "filled", "hull", "feret", "intensity"))}

OPERATIONS = {"dilate": 0, "erode": 1, "open": 2, "close": 3}
SURFACES = {"pixels": 0, "all": 1, "corners": 2}


class Image(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("type", c_int), ("ndim", c_int32), ("size", c_int64 * 3), ("stride", c_int64 * 3),
                ("memory", c_int), ("reserved", c_int32)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("spacing", c_double * 3), ("max_distance", c_double),
                ("metric", c_int), ("method", c_int), ("connectivity", c_int32), ("largest", c_int32), ("min_area", c_int64),
                ("max_area", c_int64), ("budget", c_int64), ("delta", c_double), ("weights", c_int32 * 4)]


# Those of slabs keep the arrays that they point to as `kept`: a call that is interrupted may go on, see Context._run.
class Slab(ctypes.Structure):
    _fields_ = [("start", c_int64), ("extent", c_int64), ("above", c_void_p), ("below", c_void_p),
                ("complement_above", c_void_p), ("complement_below", c_void_p)]


class SlabPaths(ctypes.Structure):
    _fields_ = [("start", c_int64), ("extent", c_int64), ("above", c_void_p), ("below", c_void_p), ("above_seeds", c_void_p),
                ("below_seeds", c_void_p), ("first", c_void_p), ("last", c_void_p), ("first_seeds", c_void_p),
                ("last_seeds", c_void_p)]


class SlabLabels(ctypes.Structure):
    _fields_ = [("start", c_int64), ("rows", c_int64), ("count", c_int64), ("before", c_int64), ("first", c_void_p),
                ("last", c_void_p), ("parts", c_void_p), ("capacity", c_int64), ("numbers", c_void_p)]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_double)
LOG = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)

_CONTEXT, _IMAGE, _OPTIONS, _COUNT = c_void_p, POINTER(Image), POINTER(Options), POINTER(c_int64)
_LABELS = POINTER(SlabLabels)

# Every function of apsis.h and apsis_measures.h that the package calls: what it returns and what it takes.
PROTOTYPES = {
    "apsis_version": (c_int, []),
    "apsis_status_name": (c_char_p, [c_int]),
    "apsis_device_count": (c_int, []),
    "apsis_create": (c_int, [c_int, c_int, POINTER(_CONTEXT)]),
    "apsis_create_devices": (c_int, [c_int, POINTER(c_int), c_int, POINTER(_CONTEXT)]),
    "apsis_destroy": (None, [_CONTEXT]),
    "apsis_device": (c_int, [_CONTEXT]),
    "apsis_device_name": (c_char_p, [_CONTEXT]),
    "apsis_message": (c_char_p, [_CONTEXT]),
    "apsis_distance": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_voronoi": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_components": (c_int, [_CONTEXT, _IMAGE, _IMAGE, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_statistics": (c_int, [_CONTEXT, _IMAGE, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_contacts": (c_int, [_CONTEXT, _IMAGE, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_morphology": (c_int, [_CONTEXT, c_int, c_double, _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_surface_distance": (c_int, [_CONTEXT, _IMAGE, _IMAGE, c_int, c_double, c_double, c_void_p, c_int64, _COUNT,
                                       _OPTIONS]),
    "apsis_thickness": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_medial_axis": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_measures": (c_int, [_CONTEXT, _IMAGE, _IMAGE, c_uint32, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_cost_distance": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _IMAGE, _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_paths": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _IMAGE, c_void_p, c_int64, c_void_p, c_void_p, c_int64, _COUNT,
                            _OPTIONS]),
    "apsis_longest_paths": (c_int, [_CONTEXT, _IMAGE, c_void_p, c_int64, _COUNT, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_geodesic": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_eccentricity": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _IMAGE, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_slab_summary": (c_int, [_CONTEXT, _IMAGE, c_int64, c_void_p, c_void_p, _OPTIONS]),
    "apsis_slab_merge": (None, [c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "apsis_slab_merge_labels": (None, [c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "apsis_slab_close_labels": (None, [c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "apsis_slab_distance": (c_int, [_CONTEXT, _IMAGE, POINTER(Slab), _IMAGE, _IMAGE, _OPTIONS]),
    "apsis_slab_voronoi": (c_int, [_CONTEXT, _IMAGE, POINTER(Slab), _IMAGE, _OPTIONS]),
    "apsis_slab_geodesic": (c_int, [_CONTEXT, _IMAGE, _IMAGE, POINTER(SlabPaths), _IMAGE, _IMAGE, _COUNT, _OPTIONS]),
    "apsis_slab_parts": (c_int, [_CONTEXT, _IMAGE, _LABELS, _OPTIONS]),
    "apsis_slab_join": (c_int, [_CONTEXT, c_int32, _COUNT, _LABELS, c_int64, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_slab_renumber": (c_int, [_CONTEXT, c_int64, _LABELS, _LABELS, c_int64]),
    "apsis_slab_components": (c_int, [_CONTEXT, _IMAGE, _LABELS, _IMAGE, _OPTIONS]),
    "apsis_slab_measure": (None, [c_int64, c_void_p, c_void_p]),
    "apsis_slab_statistics": (c_int, [_CONTEXT, _IMAGE, c_int64, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_slab_merge_parts": (c_int64, [c_int64, c_void_p]),
    "apsis_slab_contacts": (c_int, [_CONTEXT, _IMAGE, c_void_p, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_slab_merge_contacts": (c_int, [_CONTEXT, c_int32, c_void_p, _COUNT, _OPTIONS]),
    "apsis_slab_sums": (c_int, [_CONTEXT, _IMAGE, _IMAGE, _IMAGE, c_int64, c_uint32, c_void_p, c_int64, _COUNT, _OPTIONS]),
    "apsis_slab_merge_sums": (c_int64, [c_int64, c_void_p]),
    "apsis_slab_measures": (c_int, [_CONTEXT, c_int32, _COUNT, c_void_p, c_int64, c_void_p, _OPTIONS]),
    "apsis_set_stream": (c_int, [_CONTEXT, c_void_p]),
    "apsis_sync": (c_int, [_CONTEXT]),
    "apsis_set_threads": (c_int, [_CONTEXT, c_int]),
    "apsis_set_progress": (c_int, [_CONTEXT, PROGRESS, c_void_p]),
    "apsis_set_log": (c_int, [_CONTEXT, LOG, c_void_p]),
}


def _find() -> str:
    given = os.environ.get("APSIS_LIBRARY")
    if given:
        return given
    file = f"libapsis.so.{VERSION[0]}"
    packaged = os.path.join(os.path.dirname(__file__), "lib", file)
    return packaged if os.path.exists(packaged) else ctypes.util.find_library("apsis") or file


def _load() -> ctypes.CDLL:
    name = _find()
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"apsis: the shared library {name} cannot be loaded ({error}); install libapsis, "
                          "or set APSIS_LIBRARY to where it is") from None
    version = library.apsis_version()
    if version // 100 != VERSION[0] * 100 + VERSION[1]:
        raise ImportError(f"apsis: {name} is version {version // 10000}.{version // 100 % 100}.{version % 100}, "
                          f"but this package is for {VERSION[0]}.{VERSION[1]}")
    for function, (result, arguments) in PROTOTYPES.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


lib = _load()
