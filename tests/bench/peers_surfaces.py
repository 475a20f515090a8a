#!/usr/bin/env python3
"""Times apsis_surface_distance beside MONAI's and surface-distance's formulas in SciPy, in one run, and checks that they agree.

    peers_surfaces.py LIBAPSIS LIBMASKS [0 [SIDE-3D [THREADS]]]      default 256, one thread a core

As those packages do, the formulas look at the box alone that holds both sets.  Pairs are two balls, one of them moved by
(3, 1, 1), and 64 values that are such balls, with which the formulas go value by value.  Times are wall-clock, and of the
processor, of all threads together, so that what else a machine does weighs little.  One CSV line a pair and a surface."""

import ctypes

import numpy as np
from scipy import ndimage

from common import LABELS, U8, Apsis, Options, arguments, timed, view

PERCENTILE, TOLERANCE = 95, 1
FOUND = np.dtype([("value", "i8"), ("pairs", "f8", 12), ("hausdorff", "f8"), ("percentile", "f8"), ("average", "f8"),
                  ("dice", "f8")])


def ball(side, centre, radius, image, value):
    axes = [np.arange(side) - at for at in centre]
    image[axes[0][:, None, None] ** 2 + axes[1][:, None] ** 2 + axes[2] ** 2 <= radius ** 2] = value


def pairs(side):
    for part in 60, 120:
        images = np.zeros((2, side, side, side), np.uint8)
        for k, by in enumerate(((0, 0, 0), (1, 1, 3))):
            ball(side, [side // 2 + move for move in by], side * part // 256, images[k], 1)
        yield f"ball {side * part // 256}", images, 1
    images = np.zeros((2, side, side, side), np.uint8)
    step = side // 4
    for value in range(64):
        centre = [step // 2 + step * (value // each % 4) for each in (16, 4, 1)]
        for k, by in enumerate(((0, 0, 0), (1, 1, 2))):
            ball(side, [at + move for at, move in zip(centre, by)], step * 7 // 16, images[k], value + 1)
    yield "64 balls", images, 64


def by_monai(first, second):
    edges = [each ^ ndimage.binary_erosion(each) for each in (first, second)]
    return [ndimage.distance_transform_edt(~edges[1 - k])[edges[k]] for k in range(2)]


def by_surface_distance(first, second):
    """Without the weights, which are read from a table."""
    kernel = 1 << np.arange(8).reshape(2, 2, 2)
    codes = [ndimage.correlate(np.pad(each, 1).astype(np.uint8), kernel.astype(np.uint8), mode="constant")[1:, 1:, 1:]
             for each in (first, second)]
    points = [(each != 0) & (each != 255) for each in codes]
    return [ndimage.distance_transform_edt(~points[1 - k])[points[k]] for k in range(2)]


def largest(formula, images, values):
    found = []
    for value in range(1, values + 1):
        sets = images == value if values > 1 else images != 0
        box = ndimage.find_objects((sets[0] | sets[1]).view(np.uint8))[0]
        first, second = (np.pad(each[box], 1) for each in sets)
        found.append(max(each.max() for each in formula(first, second)))
    return found


def main():
    library, _, _, side, threads = arguments()
    apsis = Apsis(library, threads)
    print("surface,pair,size,threads,apsis_ms,apsis_processor_ms,scipy_ms,scipy_processor_ms,ratio,processor_ratio")
    for name, images, values in pairs(side):
        options = ctypes.byref(Options(flags=LABELS if values > 1 else 0))
        for surface, kind, formula in ("pixels", 0, by_monai), ("corners", 2, by_surface_distance):
            found = np.zeros(values, FOUND)
            ours = timed(lambda: apsis.call("apsis_surface_distance", ctypes.byref(view(images[0], U8)),
                                            ctypes.byref(view(images[1], U8)), kind, ctypes.c_double(PERCENTILE),
                                            ctypes.c_double(TOLERANCE), ctypes.c_void_p(found.ctypes.data),
                                            ctypes.c_int64(values), None, options), 5)
            peer = []
            theirs = timed(lambda: peer.append(largest(formula, images, values)), 1)
            verdict = "" if np.allclose(found["hausdorff"], peer[0]) else " (results differ)"
            print(f"{surface},{name},{side}^3,{threads},{ours[0]:.1f},{ours[1]:.1f},{theirs[0]:.0f},{theirs[1]:.0f},"
                  f"{theirs[0] / ours[0]:.1f},{theirs[1] / ours[1]:.1f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
