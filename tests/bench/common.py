"""What the comparisons with other libraries share: apsis through ctypes, the benchmark's masks, stopwatches."""

import ctypes
import os
import statistics
import sys
import time

import numpy as np

CPU, U8, I32, F32, U16 = -1, 2, 3, 5, 7
LABELS = 1 << 7
VALUES = 65535  # of 16 bits, other than 0
MARGIN = 300    # of a page, without text


class Image(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("ndim", ctypes.c_int32),
                ("size", ctypes.c_int64 * 3), ("stride", ctypes.c_int64 * 3), ("memory", ctypes.c_int),
                ("reserved", ctypes.c_int32)]


def view(array, kind):
    sizes = (ctypes.c_int64 * 3)(*array.shape[::-1])
    return Image(array.ctypes.data, kind, array.ndim, sizes)


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("spacing", ctypes.c_double * 3),
                ("max_distance", ctypes.c_double), ("metric", ctypes.c_int), ("method", ctypes.c_int),
                ("connectivity", ctypes.c_int32), ("largest", ctypes.c_int32), ("min_area", ctypes.c_int64),
                ("max_area", ctypes.c_int64), ("budget", ctypes.c_int64), ("delta", ctypes.c_double)]

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(Options), **fields)


COMPONENT = np.dtype([("first", "i8"), ("area", "i8"), ("lower", "i8", 3), ("upper", "i8", 3), ("centroid", "f8", 3),
                      ("value", "i8")])


class Apsis:
    """The library with a context; call(name, ...) ends the program if the call fails."""

    def __init__(self, path, threads, device=CPU):
        self.library = ctypes.CDLL(path)
        self.library.apsis_message.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        if self.library.apsis_create(self.library.apsis_version(), device, ctypes.byref(self.context)):
            sys.exit(self.library.apsis_message(None).decode())
        self.call("apsis_set_threads", threads)

    def call(self, name, *arguments):
        if getattr(self.library, name)(self.context, *arguments):
            sys.exit(self.library.apsis_message(self.context).decode())


def components(apsis, image, labels, axes, array=None, flags=0):
    """Returns how many there are.  `labels` and `array` may be None."""
    kind = U16 if image.dtype == np.uint16 else U8
    count = ctypes.c_int64()
    apsis.call("apsis_components", ctypes.byref(view(image, kind)),
               labels is not None and ctypes.byref(view(labels, I32)) or None,
               array is not None and ctypes.c_void_p(array.ctypes.data) or None,
               ctypes.c_int64(len(array) if array is not None else 0), ctypes.byref(count),
               ctypes.byref(Options(connectivity=axes, flags=flags)))
    return count.value


def same_partition(labels, other):
    """Whether two labellings differ in their numbers only."""
    other = other.astype(np.int64).ravel()
    becomes = np.zeros(labels.max() + 1, np.int64)
    becomes[labels.ravel()] = other
    return bool((becomes[labels.ravel()] == other).all()) and len(np.unique(becomes)) == len(becomes)


def timed(call, runs):
    """The least milliseconds, and the least of the processor, of all threads together."""
    times = []
    for _ in range(runs):
        start = time.perf_counter(), time.process_time()
        call()
        times.append((1e3 * (time.perf_counter() - start[0]), 1e3 * (time.process_time() - start[1])))
    return [min(each) for each in zip(*times)]


def milliseconds(call, runs):
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def take_turns(calls, rounds, clock=time.perf_counter):
    """The least milliseconds of each call, by name; calls take turns, after one round that warms up."""
    times = {name: [] for name in calls}
    for round in range(rounds + 1):
        for name, call in calls.items():
            start = clock()
            call()
            if round:
                times[name].append(1e3 * (clock() - start))
    return {name: min(each) for name, each in times.items()}


def fill_mask(path, name, shape):
    """One of the benchmark's masks."""
    mask = np.empty(shape, np.uint8)
    sizes = [ctypes.c_int64(size) for size in (*shape[::-1], 1)[:3]]
    ctypes.CDLL(path).bench_mask(name, *sizes, mask.ctypes.data_as(ctypes.c_void_p))
    return mask


def cells(apsis, masks, shape, density):
    """A Voronoi map of so many sites a pixel, whose values are taken modulo 65535, of 16 bits."""
    mask = fill_mask(masks, f"noise-{density:.12f}".encode(), shape)
    labels, values = np.zeros(shape, np.uint16), np.empty(shape, np.int32)
    labels[mask != 0] = np.arange(np.count_nonzero(mask)) % VALUES + 1
    apsis.call("apsis_voronoi", ctypes.byref(view(labels, U16)), ctypes.byref(view(values, I32)),
               ctypes.byref(Options(flags=LABELS)))
    return values.astype(np.uint16)


def letters(apsis, masks, shape):
    """A value for each letter of a page, modulo 65535, of 16 bits."""
    page = fill_mask(masks, b"text", (shape[-2] + MARGIN, shape[-1] + MARGIN))[MARGIN:, MARGIN:]
    numbers = np.empty(shape, np.int32)
    components(apsis, np.ascontiguousarray(np.broadcast_to(page, shape)), numbers, 1)
    return np.where(numbers > 0, (numbers - 1) % VALUES + 1, 0).astype(np.uint16)


def each_mask(path, ndim, side):
    """Yields the benchmark's masks, with their names."""
    masks = ctypes.CDLL(path)
    for name in (ctypes.c_char_p * 64).in_dll(masks, f"bench_masks_{ndim}d"):
        if name is None:
            return
        yield name.decode(), fill_mask(path, name, (side,) * ndim)


def number(index, default):
    """An argument of the command line that is a whole number; the default if it is left out, or `-`."""
    word = sys.argv[index] if len(sys.argv) > index else "-"
    if word == "-":
        return default
    if not word.isdigit():
        sys.exit(f"{sys.argv[0]}: argument {index} is '{word}', but must be a whole number, or - for {default}")
    return int(word)


def arguments(side_2d=4096, side_3d=256):
    """The two libraries, the sides in 2-D and 3-D, by default these, and the threads, of the command line."""
    return sys.argv[1], sys.argv[2], number(3, side_2d), number(4, side_3d), number(5, len(os.sched_getaffinity(0)))
