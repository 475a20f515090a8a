#!/usr/bin/env python3
"""Times apsis beside SciPy, edt and OpenCV on the same images, in one run, and checks that all agree.

    peers.py LIBAPSIS LIBMASKS [SIDE-2D [SIDE-3D [THREADS]]]          default 4096, 256, one thread a core

LIBMASKS is the benchmark's masks as a shared library.  Peers that are not installed are left out.  One CSV line an
image: milliseconds of each, and how often apsis fits into the time of each peer."""

import ctypes
import os
import statistics
import sys
import time

import numpy as np

APSIS_VERSION, CPU, U8, F32 = 100, -1, 2, 5


class Image(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("ndim", ctypes.c_int32),
                ("size", ctypes.c_int64 * 3), ("stride", ctypes.c_int64 * 3), ("memory", ctypes.c_int),
                ("reserved", ctypes.c_int32)]


def view(array, kind):
    sizes = (ctypes.c_int64 * 3)(*array.shape[::-1])
    return Image(array.ctypes.data, kind, array.ndim, sizes)


def apsis(path, threads):
    library = ctypes.CDLL(path)
    library.apsis_message.restype = ctypes.c_char_p
    context = ctypes.c_void_p()
    if library.apsis_create(APSIS_VERSION, CPU, ctypes.byref(context)) or library.apsis_set_threads(context, threads):
        sys.exit(library.apsis_message(None).decode())

    def distance(mask, out):
        if library.apsis_distance(context, ctypes.byref(view(mask, U8)), ctypes.byref(view(out, F32)), None, None):
            sys.exit(library.apsis_message(context).decode())
        return out

    return distance


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


def milliseconds(call, runs):
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def compare(distance, others, masks, ndim, side, threads):
    names = (ctypes.c_char_p * 64).in_dll(masks, f"bench_masks_{ndim}d")
    for name in names:
        if name is None:
            break
        mask = np.empty((side,) * ndim, np.uint8)
        sizes = [ctypes.c_int64(side if axis < ndim else 1) for axis in range(3)]
        masks.bench_mask(name, *sizes, mask.ctypes.data_as(ctypes.c_void_p))
        out, holes = np.empty(mask.shape, np.float32), 1 - mask
        ours = milliseconds(lambda: distance(mask, out), 9)
        row = [name.decode(), f"{side}^{ndim}", str(threads), f"{ours:.2f}"]
        for peer, call in others.items():
            if peer == "opencv" and ndim == 3:
                row += ["", ""]
                continue
            theirs = milliseconds(lambda: call(holes), 1 if peer == "scipy" else 5)
            wrong = np.abs(call(holes) - out).max() > 0.01
            row += [f"{theirs:.1f}", f"{theirs / ours:.1f}" + (" (results differ)" if wrong else "")]
        print(",".join(row), flush=True)


def main():
    number = lambda index, default: int(sys.argv[index]) if len(sys.argv) > index else default
    threads = number(5, len(os.sched_getaffinity(0)))
    masks = ctypes.CDLL(sys.argv[2])
    distance, others = apsis(sys.argv[1], threads), peers(threads)
    print("mask,size,threads,apsis_ms," + ",".join(f"{name}_ms,{name}_ratio" for name in others))
    for ndim, side in (2, number(3, 4096)), (3, number(4, 256)):
        if side:
            compare(distance, others, masks, ndim, side, threads)


if __name__ == "__main__":
    main()
