#!/usr/bin/env python3
"""Times apsis_components beside OpenCV, SciPy and cc3d on the same images, in one run, and checks that all agree.

    peers_components.py LIBAPSIS LIBMASKS [SIDE-2D [SIDE-3D [THREADS]]]     default 4096, 256, one thread a core

All write 32-bit labels, into an array that is there already where they can (cc3d makes a new one).  One CSV line an image,
a connectivity and a question (labels, or statistics alone beside OpenCV's labels and statistics): milliseconds of each, and
how often apsis fits into the time of each peer.  Calls take turns, and each peer's least time counts, as does that of apsis,
so that what else a machine does weighs little."""

import numpy as np

from common import COMPONENT, Apsis, arguments, components, each_mask, same_partition, take_turns


def label_calls(mask, axes, threads):
    """Each returns its labels."""
    calls, out = {}, np.zeros(mask.shape, np.int32)
    neighbours = {(2, 1): 4, (2, 2): 8, (3, 1): 6, (3, 2): 18, (3, 3): 26}[mask.ndim, axes]
    try:
        import cv2
        cv2.setNumThreads(threads)
        if mask.ndim == 2:
            calls["opencv"] = lambda: cv2.connectedComponents(mask, out, neighbours, cv2.CV_32S)[1]
    except ImportError:
        pass
    try:
        from scipy import ndimage
        shape = ndimage.generate_binary_structure(mask.ndim, axes)
        calls["scipy"] = lambda: (ndimage.label(mask, shape, output=out), out)[1]
    except ImportError:
        pass
    try:
        import cc3d
        calls["cc3d"] = lambda: cc3d.connected_components(mask, connectivity=neighbours, out_dtype=np.uint32)
    except ImportError:
        pass
    return calls


def statistics_calls(mask, axes, threads):
    """Each returns its areas, without that of the background."""
    try:
        import cv2
    except ImportError:
        return {}
    neighbours = 4 * axes
    return {"opencv": lambda: cv2.connectedComponentsWithStats(mask, connectivity=neighbours)[2][1:, 4]}


def report(question, name, mask, axes, threads, ours, others, same):
    times = take_turns({"apsis": ours, **others}, 7)
    row = [question, name, f"{mask.shape[0]}^{mask.ndim}", str(axes), str(threads), f"{times['apsis']:.2f}"]
    for peer in "opencv", "scipy", "cc3d":
        if peer in others:
            verdict = "" if same(others[peer]()) else " (results differ)"
            row += [f"{times[peer]:.1f}", f"{times[peer] / times['apsis']:.1f}{verdict}"]
        else:
            row += ["", ""]
    print(",".join(row), flush=True)


def main():
    library, masks, side_2d, side_3d, threads = arguments()
    apsis = Apsis(library, threads)
    print("question,mask,size,connectivity,threads,apsis_ms,opencv_ms,opencv_ratio,scipy_ms,scipy_ratio,cc3d_ms,cc3d_ratio")
    for ndim, side in (2, side_2d), (3, side_3d):
        for name, mask in each_mask(masks, ndim, side) if side else ():
            labels = np.zeros(mask.shape, np.int32)
            for axes in (1, 2) if ndim == 2 else (1, 3):
                report("labels", name, mask, axes, threads, lambda: components(apsis, mask, labels, axes),
                       label_calls(mask, axes, threads), lambda other: same_partition(labels, other))
            if ndim == 2:
                array = np.empty(components(apsis, mask, None, 1), COMPONENT)
                report("statistics", name, mask, 1, threads, lambda: components(apsis, mask, None, 1, array),
                       statistics_calls(mask, 1, threads), lambda other: np.array_equal(np.sort(other), np.sort(array["area"])))


if __name__ == "__main__":
    main()
