#!/usr/bin/env python3
"""Times apsis_morphology beside OpenCV's morphologyEx, in one run, and checks that both give the same.

    peers_morphology.py LIBAPSIS LIBMASKS [SIDE-2D [- [THREADS]]]      default 4096, one thread a core

The ball has a radius of 50 pixels.  One CSV line an image and an operation, beside the distance map of the same image."""

import ctypes

import cv2
import numpy as np

from common import F32, U8, Apsis, arguments, each_mask, milliseconds, view

RADIUS = 50
OPERATIONS = {"dilate": cv2.MORPH_DILATE, "erode": cv2.MORPH_ERODE, "open": cv2.MORPH_OPEN, "close": cv2.MORPH_CLOSE}


def compare(apsis, name, mask, ball, threads):
    result, distances = np.empty_like(mask), np.empty(mask.shape, np.float32)
    of, to = ctypes.byref(view(mask, U8)), ctypes.byref(view(result, U8))
    distance = milliseconds(lambda: apsis.call("apsis_distance", of, ctypes.byref(view(distances, F32)), None, None), 5)
    for number, (operation, of_peer) in enumerate(OPERATIONS.items()):
        ours = milliseconds(lambda: apsis.call("apsis_morphology", number, ctypes.c_double(RADIUS), of, to, None), 5)
        theirs = milliseconds(lambda: cv2.morphologyEx(mask, of_peer, ball), 1)
        verdict = "" if (cv2.morphologyEx(mask, of_peer, ball) == result).all() else " (results differ)"
        print(f"{operation},{name},{mask.shape[0]}^2,{threads},{distance:.2f},{ours:.2f},{theirs:.1f},{theirs / ours:.1f}"
              f"{verdict}", flush=True)


def main():
    library, masks, side, _, threads = arguments()
    apsis = Apsis(library, threads)
    cv2.setNumThreads(threads)
    squares = np.arange(-RADIUS, RADIUS + 1) ** 2
    ball = (squares[:, None] + squares <= RADIUS ** 2).astype(np.uint8)
    print("operation,mask,size,threads,distance_ms,apsis_ms,opencv_ms,ratio")
    for name, mask in each_mask(masks, 2, side):
        compare(apsis, name, mask, ball, threads)


if __name__ == "__main__":
    main()
