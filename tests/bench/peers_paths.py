#!/usr/bin/env python3
"""Times apsis_cost_distance beside scikit-image's MCP_Geometric, in one run, and compares the costs.

    peers_paths.py LIBAPSIS LIBMASKS [SIDE-2D]      default 2048

One seed in the middle, a thread each, in milliseconds of its time: other work on the machine does not count.  One CSV line an
image of costs."""

import ctypes
import sys
import time

import numpy as np
from skimage.graph import MCP_Geometric

from common import F32, I32, U8, U16, Apsis, number, view

KINDS = {np.dtype(np.uint8): U8, np.dtype(np.uint16): U16, np.dtype(np.float32): F32}


def images(side):
    rng = np.random.default_rng(27)
    y, x = np.mgrid[:side, :side]
    waves = 128 + 100 * np.sin(x / 50) * np.cos(y / 70)
    yield "constant", np.ones((side, side), np.uint8)
    yield "waves", waves.astype(np.uint8)
    yield "noise", rng.integers(1, 256, (side, side), np.uint8)
    yield "noise 70 % passable", rng.integers(1, 256, (side, side), np.uint8) * (rng.random((side, side)) < 0.7)
    yield "noise of words", rng.integers(1, 65536, (side, side), np.uint16)
    yield "noise of floats", (rng.random((side, side)) * 10 + 0.1).astype(np.float32)


def thread_milliseconds(call, runs):
    times = []
    for _ in range(runs):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return 1e3 * min(times)


def main():
    library, side = sys.argv[1], number(3, 2048)
    apsis = Apsis(library, 1)
    print("costs,type,size,apsis_ms,apsis_nearest_ms,skimage_ms,ratio")
    for name, costs in images(side):
        costs[side // 2, side // 2] = 1
        seeds, distance, nearest = np.zeros_like(costs, np.uint8), np.empty(costs.shape, np.float32), np.empty(costs.shape, np.int32)
        seeds[side // 2, side // 2] = 1
        images_of = [ctypes.byref(view(costs, KINDS[costs.dtype])), ctypes.byref(view(seeds, U8)),
                     ctypes.byref(view(distance, F32))]
        both = ctypes.byref(view(nearest, I32))
        ours = thread_milliseconds(lambda: apsis.call("apsis_cost_distance", None, *images_of, None, None), 3)
        more = thread_milliseconds(lambda: apsis.call("apsis_cost_distance", None, *images_of, both, None), 3)
        real = np.where(costs > 0, costs.astype(np.float64), -1)
        found = []
        theirs = thread_milliseconds(
            lambda: found.append(MCP_Geometric(real).find_costs([(side // 2, side // 2)])[0]), 1)
        wanted = np.where(costs > 0, found[0], -1)
        verdict = "" if np.allclose(distance, wanted, rtol=1e-6) else " (results differ)"
        print(f"{name},{costs.dtype},{side}^2,{ours:.0f},{more:.0f},{theirs:.0f},{theirs / ours:.1f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
