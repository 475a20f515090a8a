#!/usr/bin/env python3
"""Times apsis_measures beside scikit-image, and apsis_thickness beside PoreSpy and localthickness, in one run, and compares.

    peers_measures.py LIBAPSIS LIBMASKS [SIDE-2D [SIDE-3D [THREADS]]]      default 2048, 128, one thread a core

Label images are of 16 bits: cells, a Voronoi map of one site in 1600 pixels, from which 1 % of the pixels are taken; and text,
a value for each letter.  regionprops_table is asked for three groups of properties: shapes, hulls, and intensities of a second
image, which is noise.  The largest difference is that of a property, or the part of it where it is above 1.  It may be 1e-5.

Local thickness is of the blobs, and differences are in pixels.  PoreSpy's radii are whole numbers, with which it never exceeds
the thickness.  Given every radius it is exact, which takes so long that it is asked on 256^2 and 32^3.  localthickness makes
balls of small steps: it may exceed the thickness or fall short of it, so that only the set is compared.

Times are wall-clock, and of the processor, of all threads together, so that what else a machine does weighs little.
scikit-image has one thread, and so has localthickness.  One CSV line a question, an image and a package."""

import ctypes

import edt
import localthickness
import numba
import numpy as np
import porespy
from skimage.measure import regionprops_table

from common import COMPONENT, F32, U8, U16, Apsis, Options, arguments, cells, fill_mask, letters, timed, view

MEASURE = np.dtype([("component", COMPONENT), ("border", "i8"), ("euler", "i8"), ("filled", "i8"), ("convex", "i8"),
                    ("faces", "i8", 3), ("surface", "f8"), ("moments", "f8", 6), ("axes", "f8", 3), ("orientation", "f8"),
                    ("eccentricity", "f8"), ("perimeter", "f8"), ("crofton", "f8", 2), ("convex_area", "f8"),
                    ("feret", "f8", 2), ("feret_contour", "f8"), ("intensity_sum", "f8"), ("intensity_mean", "f8"),
                    ("intensity_min", "f8"), ("intensity_max", "f8"), ("reserved", "f8", 8)])
MOMENTS, PERIMETER, EULER, HULL, FERET, INTENSITY = 1 << 0, 1 << 1, 1 << 3, 1 << 5, 1 << 6, 1 << 7

SOLID = "area", "centroid", "axis_major_length", "axis_minor_length", "euler_number"
FLAT = *SOLID, "orientation", "perimeter", "perimeter_crofton"
INTENSITIES = "intensities", INTENSITY, ("intensity_mean", "intensity_min", "intensity_max")
GROUPS = {2: [("shapes", MOMENTS | PERIMETER | EULER, FLAT), ("hulls", HULL | FERET, ("area_convex", "feret_diameter_max")),
              INTENSITIES],
          3: [("shapes", MOMENTS | EULER, SOLID), INTENSITIES]}


def as_properties(found, ndim):
    """What apsis found, with scikit-image's names."""
    return {"area": found["component"]["area"], "centroid": found["component"]["centroid"][:, ndim - 1::-1],
            "axis_major_length": found["axes"][:, 0], "axis_minor_length": found["axes"][:, ndim - 1],
            "euler_number": found["euler"], "orientation": found["orientation"], "perimeter": found["perimeter"],
            "perimeter_crofton": found["crofton"][:, 1], "area_convex": found["convex"],
            "feret_diameter_max": found["feret_contour"],
            **{name: found[name] for name in INTENSITIES[2]}}


def farthest(ours, table, names):
    """The largest difference; infinite if there are more values in one than in the other."""
    largest = 0
    for name in names:
        theirs = table[name] if name in table else np.stack([table[f"{name}-{k}"] for k in range(ours[name].shape[1])], 1)
        if theirs.shape != ours[name].shape:
            return np.inf
        apart = np.abs(ours[name] - theirs)
        if name == "orientation":  # pi/2 and -pi/2 are the same, and rounding decides which it is in scikit-image
            apart = np.abs(np.sin(apart))
        largest = max(largest, (apart / np.maximum(1, np.abs(theirs))).max())
    return largest


def report(question, name, image, threads, ours, peer, theirs, apart, same):
    verdict = "" if same else " (results differ)"
    print(f"{question},{name},{image.shape[0]}^{image.ndim},{threads},{ours[0]:.2f},{ours[1]:.2f},{peer},{theirs[0]:.0f},"
          f"{theirs[1]:.0f},{theirs[0] / ours[0]:.1f},{theirs[1] / ours[1]:.1f},{apart}{verdict}", flush=True)


def compare_measures(apsis, name, labels, threads):
    grey = np.random.default_rng(27).random(labels.shape, np.float32)
    found, count = np.zeros(int(labels.max()), MEASURE), ctypes.c_int64()
    options = ctypes.byref(Options(connectivity=labels.ndim))
    for group, wanted, names in GROUPS[labels.ndim]:
        second = grey if wanted & INTENSITY else None
        image = None if second is None else ctypes.byref(view(second, F32))
        ours = timed(lambda: apsis.call("apsis_measures", ctypes.byref(view(labels, U16)), image, wanted,
                                        ctypes.c_void_p(found.ctypes.data), ctypes.c_int64(len(found)), ctypes.byref(count),
                                        options), 5)
        tables = []
        theirs = timed(lambda: tables.append(regionprops_table(labels, second, names)), 2)
        apart = farthest(as_properties(found[:count.value], labels.ndim), tables[0], names)
        report(f"{group} of {count.value}", name, labels, threads, ours, "scikit-image", theirs, f"{apart:.0e},", apart < 1e-5)


def thickness_of(apsis, image, threads, peers):
    """Beside each of the peers: its name, what it computes, and whether that may be."""
    thickness = np.empty(image.shape, np.float32)
    of, to = ctypes.byref(view(image, U8)), ctypes.byref(view(thickness, F32))
    ours = timed(lambda: apsis.call("apsis_thickness", of, to, None), 5)
    for peer, call, may_be in peers:
        found = []
        theirs = timed(lambda: found.append(call(image)), 1)
        apart = np.abs(found[0] - thickness)[image]
        report("thickness", "blobs", image, threads, ours, peer, theirs, f"{apart.max():.2g},{apart.mean():.2g}",
               may_be(found[0], thickness))


def with_every_radius(image):
    distances = edt.edt(image)
    return porespy.filters.local_thickness(image, dt=distances, method="legacy", sizes=np.unique(distances[image]))


def compare_thickness(apsis, masks, shape, threads):
    image, part = (fill_mask(masks, b"blobs", of) != 0 for of in (shape, (256,) * 2 if len(shape) == 2 else (32,) * 3))
    porespy.filters.local_thickness(part)  # is compiled by that
    thickness_of(apsis, image, threads,
                 [("PoreSpy", porespy.filters.local_thickness, lambda theirs, ours: (theirs <= ours).all()),
                  ("localthickness", localthickness.local_thickness, lambda theirs, ours: ((theirs > 0) == (ours > 0)).all())])
    thickness_of(apsis, part, threads,
                 [("PoreSpy: every radius", with_every_radius, lambda theirs, ours: np.allclose(theirs, ours, rtol=1e-6))])


def main():
    library, masks, side_2d, side_3d, threads = arguments(2048, 128)
    apsis = Apsis(library, threads)
    numba.set_num_threads(threads)
    porespy.settings.ncores, porespy.settings.tqdm["disable"] = threads, True
    print("question,image,size,threads,apsis_ms,apsis_processor_ms,peer,peer_ms,peer_processor_ms,ratio,processor_ratio,"
          "largest_difference,mean_difference")
    for shape in (side_2d,) * 2, (side_3d,) * 3:
        if not shape[0]:
            continue
        porous = np.where(fill_mask(masks, b"noise-0.01", shape), np.uint16(0), cells(apsis, masks, shape, 1 / 1600))
        compare_measures(apsis, "cells", porous, threads)
        if len(shape) == 2:
            compare_measures(apsis, "text", letters(apsis, masks, shape), threads)
        compare_thickness(apsis, masks, shape, threads)


if __name__ == "__main__":
    main()
