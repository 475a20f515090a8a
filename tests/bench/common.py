"""What the comparisons with other libraries share: apsis through ctypes, the benchmark's masks, a stopwatch."""

import ctypes
import os
import statistics
import sys
import time

import numpy as np

CPU, U8, I32, F32 = -1, 2, 3, 5


class Image(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("ndim", ctypes.c_int32),
                ("size", ctypes.c_int64 * 3), ("stride", ctypes.c_int64 * 3), ("memory", ctypes.c_int),
                ("reserved", ctypes.c_int32)]


def view(array, kind):
    sizes = (ctypes.c_int64 * 3)(*array.shape[::-1])
    return Image(array.ctypes.data, kind, array.ndim, sizes)


class Apsis:
    """The library with a CPU context; call(name, ...) ends the program if the call fails."""

    def __init__(self, path, threads):
        self.library = ctypes.CDLL(path)
        self.library.apsis_message.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        if self.library.apsis_create(self.library.apsis_version(), CPU, ctypes.byref(self.context)):
            sys.exit(self.library.apsis_message(None).decode())
        self.call("apsis_set_threads", threads)

    def call(self, name, *arguments):
        if getattr(self.library, name)(self.context, *arguments):
            sys.exit(self.library.apsis_message(self.context).decode())


def milliseconds(call, runs):
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def each_mask(path, ndim, side):
    """Yields the benchmark's masks, with their names."""
    masks = ctypes.CDLL(path)
    for name in (ctypes.c_char_p * 64).in_dll(masks, f"bench_masks_{ndim}d"):
        if name is None:
            return
        mask = np.empty((side,) * ndim, np.uint8)
        sizes = [ctypes.c_int64(side if axis < ndim else 1) for axis in range(3)]
        masks.bench_mask(name, *sizes, mask.ctypes.data_as(ctypes.c_void_p))
        yield name.decode(), mask


def arguments():
    """The two libraries, the sides in 2-D and 3-D, and the threads, of the command line."""
    number = lambda index, default: int(sys.argv[index]) if len(sys.argv) > index else default
    return sys.argv[1], sys.argv[2], number(3, 4096), number(4, 256), number(5, len(os.sched_getaffinity(0)))
