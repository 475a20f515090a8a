#!/usr/bin/env python3
"""Times apsis on a GPU beside MONAI and CuPy, in one run, and checks that they agree.

    peers_cuda.py LIBAPSIS LIBMASKS [SIDE-2D [SIDE-3D [THREADS]]]      default 16384, 256, one thread a core

Surface distances are of balls as in peers_surfaces.py, as pixels: the 95th percentile.  MONAI takes its CPU path of images in
host memory and its cuCIM path of images on the device, and so does apsis its CPU and CUDA contexts.  Morphology is of balls of
growing radius, beside CuPy's binary_dilation and binary_opening, which look at a pixel's ball until they know.  Times are the
least of some calls, with the device idle before and after.  One CSV line a case.

It takes PyTorch, MONAI, cuCIM and CuPy, which are not installed by it."""

import ctypes
import time

import cupy
import numpy as np
import torch
from cupyx.scipy import ndimage
from monai.metrics import compute_hausdorff_distance

from common import LABELS, U8, Apsis, Options, arguments, fill_mask, view
from peers_surfaces import FOUND, PERCENTILE, TOLERANCE, pairs

OPERATIONS = ("dilate", 0, ndimage.binary_dilation), ("open", 2, ndimage.binary_opening)


def on_device(array, kind):
    image = view(np.empty(0, np.uint8).reshape((0,) * array.ndim), kind)
    image.data, image.size, image.memory = array.data.ptr, (ctypes.c_int64 * 3)(*array.shape[::-1]), 1
    return image


def least(call, runs):
    times = []
    for run in range(runs + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        found = call()
        torch.cuda.synchronize()
        if run:
            times.append(1e3 * (time.perf_counter() - start))
    return min(times), found


def surfaces(contexts, side):
    print("pair,size,apsis_cpu_ms,monai_cpu_ms,ratio,apsis_cuda_ms,monai_cuda_ms,ratio")
    for name, images, values in pairs(side):
        options = ctypes.byref(Options(flags=LABELS if values > 1 else 0))
        line = [name, f"{side}^3"]
        for context, device in zip(contexts, ("cpu", "cuda")):
            if device == "cuda":
                held = [cupy.asarray(each) for each in images]
                views = [on_device(each, U8) for each in held]
            else:
                views = [view(each, U8) for each in images]
            sets = [torch.as_tensor(each, device=device) for each in images]
            sets = [torch.stack([each == value for value in range(1, values + 1)])[None] for each in sets]

            def ours():
                found = np.zeros(values, FOUND)
                context.call("apsis_surface_distance", ctypes.byref(views[0]), ctypes.byref(views[1]), 0,
                             ctypes.c_double(PERCENTILE), ctypes.c_double(TOLERANCE), ctypes.c_void_p(found.ctypes.data),
                             ctypes.c_int64(values), None, options)
                return found["percentile"]

            def theirs():
                return compute_hausdorff_distance(*sets, include_background=True, percentile=PERCENTILE)[0].cpu().numpy()

            (our_time, our_found), (their_time, their_found) = least(ours, 7), least(theirs, 2)
            verdict = "" if np.allclose(our_found, their_found) else " (results differ)"
            line += [f"{our_time:.2f}", f"{their_time:.1f}", f"{their_time / our_time:.1f}{verdict}"]
        print(",".join(line), flush=True)


def morphology(context, masks, side):
    print("operation,mask,size,radius,distance_ms,apsis_ms,cupy_ms,ratio")
    for name in b"noise-0.5", b"blobs", b"text":
        mask = cupy.asarray(fill_mask(masks, name, (side, side)))
        result, of = cupy.empty_like(mask), on_device(mask, U8)
        distances = cupy.empty(mask.shape, np.float32)
        to, floats = on_device(result, U8), on_device(distances, 5)
        distance, _ = least(lambda: context.call("apsis_distance", ctypes.byref(of), ctypes.byref(floats), None, None), 7)
        for radius in 2, 5, 10, 50:
            squares = cupy.arange(-radius, radius + 1) ** 2
            ball = squares[:, None] + squares <= radius ** 2
            for operation, number, peer in OPERATIONS:
                ours, _ = least(lambda: context.call("apsis_morphology", number, ctypes.c_double(radius), ctypes.byref(of),
                                                     ctypes.byref(to), None), 7)
                theirs, found = least(lambda: peer(mask, ball, brute_force=True), 1)
                inside = (slice(2 * radius, -2 * radius),) * 2  # its image has another border
                verdict = "" if bool((found[inside] == (result[inside] != 0)).all()) else " (results differ)"
                print(f"{operation},{name.decode()},{side}^2,{radius},{distance:.2f},{ours:.2f},{theirs:.1f},"
                      f"{theirs / ours:.0f}{verdict}", flush=True)


def main():
    library, masks, plane, volume, threads = arguments()
    contexts = Apsis(library, threads), Apsis(library, threads, 0)
    surfaces(contexts, volume)
    morphology(contexts[1], masks, plane)


if __name__ == "__main__":
    main()
