#!/usr/bin/env python3
"""Times apsis on label images beside cc3d (components) and edt (distances), in one run, and checks that all agree.

    peers_labels.py LIBAPSIS LIBMASKS [SIDE-2D [SIDE-3D [THREADS]]]     default 4096, 256, one thread a core

Images are of 16 bits: cells-10000, a Voronoi map of so many sites; cells-27, one with a site in 27 pixels, whose values are
taken modulo 65535; text, a value for each letter; and values-4, noise of 0 to 3.  One CSV line an image and a question.

Times are of the processor, of all threads together, so that what else a machine does weighs little: calls take turns, and the
least of seven counts.  The ratio is between the times that calls take with their threads: cc3d has one."""

import ctypes
import time

import cc3d
import edt
import numpy as np

from common import (F32, LABELS, U16, Apsis, Options, arguments, cells, components, fill_mask, letters, same_partition,
                    take_turns, view)


def each_image(apsis, masks, shape):
    yield "cells-10000", cells(apsis, masks, shape, 10000 / np.prod(shape))
    yield "cells-27", cells(apsis, masks, shape, 1 / 27)
    yield "text", letters(apsis, masks, shape)
    yield "values-4", fill_mask(masks, b"values-4", shape).astype(np.uint16)


def report(question, name, labels, threads, ours, theirs, peer_threads, same):
    times = take_turns({"apsis": ours, "peer": theirs}, 7, time.process_time)
    ratio = times["peer"] / peer_threads * threads / times["apsis"]
    verdict = "" if same(theirs()) else " (results differ)"
    print(f"{question},{name},{labels.shape[0]}^{labels.ndim},{threads},{times['apsis']:.2f},{times['peer']:.1f},{ratio:.1f}"
          f"{verdict}", flush=True)


def compare(apsis, name, labels, threads):
    numbers = np.zeros(labels.shape, np.int32)
    for axes, neighbours in enumerate((4, 8) if labels.ndim == 2 else (6, 18, 26), 1):
        report(f"components {neighbours}", name, labels, threads,
               lambda: components(apsis, labels, numbers, axes, flags=LABELS),
               lambda: cc3d.connected_components(labels, connectivity=neighbours, out_dtype=np.uint32), 1,
               lambda other: same_partition(numbers, other))
    distances = np.zeros(labels.shape, np.float32)
    report("distance", name, labels, threads,
           lambda: apsis.call("apsis_distance", ctypes.byref(view(labels, U16)), ctypes.byref(view(distances, F32)), None,
                              ctypes.byref(Options(flags=LABELS))),
           lambda: edt.edt(labels, parallel=threads), threads, lambda other: np.abs(other - distances).max() < 0.01)


def main():
    library, masks, side_2d, side_3d, threads = arguments()
    apsis = Apsis(library, threads)
    print("question,image,size,threads,apsis_ms,peer_ms,ratio")
    for ndim, side in (2, side_2d), (3, side_3d):
        for name, labels in each_image(apsis, masks, (side,) * ndim) if side else ():
            compare(apsis, name, labels, threads)


if __name__ == "__main__":
    main()
