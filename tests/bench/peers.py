#!/usr/bin/env python3
"""Times apsis beside SciPy, edt and OpenCV on the same images, in one run, and checks that all agree.

    peers.py LIBAPSIS LIBMASKS [SIDE-2D [SIDE-3D [THREADS]]]          default 4096, 256, one thread a core

LIBMASKS is the benchmark's masks as a shared library.  Peers that are not installed are left out.  One CSV line an
image: milliseconds of each, and how often apsis fits into the time of each peer."""

import ctypes

import numpy as np

from common import F32, U8, Apsis, arguments, each_mask, milliseconds, view


def peers(threads):
    """Each takes the zero pixels as the set, the other way round from apsis."""
    found = {}
    try:
        import cv2
        cv2.setNumThreads(threads)
        found["opencv"] = lambda holes: cv2.distanceTransform(holes, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    except ImportError:
        pass
    try:
        import edt
        found["edt"] = lambda holes: edt.edt(holes, parallel=threads)
    except ImportError:
        pass
    try:
        from scipy import ndimage
        found["scipy"] = ndimage.distance_transform_edt
    except ImportError:
        pass
    return found


def compare(apsis, others, path, ndim, side, threads):
    for name, mask in each_mask(path, ndim, side):
        out, holes = np.empty(mask.shape, np.float32), 1 - mask
        ours = milliseconds(lambda: apsis.call("apsis_distance", ctypes.byref(view(mask, U8)), ctypes.byref(view(out, F32)),
                                               None, None), 9)
        row = [name, f"{side}^{ndim}", str(threads), f"{ours:.2f}"]
        for peer, call in others.items():
            if peer == "opencv" and ndim == 3:
                row += ["", ""]
                continue
            theirs = milliseconds(lambda: call(holes), 1 if peer == "scipy" else 5)
            wrong = np.abs(call(holes) - out).max() > 0.01
            row += [f"{theirs:.1f}", f"{theirs / ours:.1f}" + (" (results differ)" if wrong else "")]
        print(",".join(row), flush=True)


def main():
    library, masks, side_2d, side_3d, threads = arguments()
    apsis, others = Apsis(library, threads), peers(threads)
    print("mask,size,threads,apsis_ms," + ",".join(f"{name}_ms,{name}_ratio" for name in others))
    for ndim, side in (2, side_2d), (3, side_3d):
        if side:
            compare(apsis, others, masks, ndim, side, threads)


if __name__ == "__main__":
    main()
