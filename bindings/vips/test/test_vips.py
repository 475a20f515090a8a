"""test_vips.py: the operations of the plug-in, through pyvips and the vips command, against brute force.  VIPSHOME says where
the plug-in is."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyvips

failures = 0


def check(right, what):
    global failures
    if not right:
        failures += 1
        print("FAILED:", what, file=sys.stderr)


def throws(call, words):
    try:
        call()
    except pyvips.Error as error:
        return words in str(error)
    return False


def image(array):
    return pyvips.Image.new_from_array(array)


def pixels(image):
    return image.numpy().reshape(image.height, image.width)


def lengths(sites, shape, metric):
    """From every pixel (rows of the array) to every site."""
    y, x = np.indices(shape)
    dy, dx = (abs(a.reshape(-1, 1) - b) for a, b in zip((y, x), sites))
    measures = {"euclidean": lambda: dx**2 + dy**2, "city-block": lambda: dx + dy, "chessboard": lambda: np.maximum(dx, dy)}
    return measures[metric]()


def nearest(mask, metric):
    """The exact distance, and the lowest index of a nearest site."""
    sites = np.nonzero(mask)
    if not len(sites[0]):
        return np.full(mask.shape, np.inf, np.float32), np.full(mask.shape, -1, np.int32)
    far = lengths(sites, mask.shape, metric)
    which = far.argmin(1)
    least = far[np.arange(len(far)), which].reshape(mask.shape).astype(float)
    index = (sites[0] * mask.shape[1] + sites[1])[which].reshape(mask.shape)
    return (np.sqrt(least) if metric == "euclidean" else least).astype(np.float32), index.astype(np.int32)


def neighbours(y, x, mask, corners):
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            to = y + dy, x + dx
            if (dy or dx) and (corners or not dy or not dx) and 0 <= to[0] < mask.shape[0] and 0 <= to[1] < mask.shape[1]:
                if mask[to]:
                    yield to


def flood(mask, start, corners):
    """The number of steps to all that can be reached."""
    steps, front = {start: 0}, [start]
    for at in front:
        for to in neighbours(*at, mask, corners):
            if to not in steps:
                steps[to] = steps[at] + 1
                front.append(to)
    return steps


def parts(mask, corners):
    labels, count = np.zeros(mask.shape, np.int32), 0
    for at in zip(*np.nonzero(mask)):
        if not labels[at]:
            count += 1
            for to in flood(mask, at, corners):
                labels[to] = count
    return labels, count


def distances(rng):
    for shape, density in (((1, 1), 1), ((40, 57), 0.02), ((57, 40), 0.5), ((1, 70), 0.05), ((70, 1), 0.05), ((9, 8), 0),
                           ((6, 5), 1)):
        mask = (rng.random(shape) < density).astype(np.uint8) * rng.integers(1, 256, shape, np.uint8)
        for metric in ("euclidean", "city-block", "chessboard"):
            what = f"{shape}, {density}, {metric}"
            far, index = nearest(mask, metric)
            out = pixels(image(mask).apsis_distance(metric=metric))
            check(out.dtype == np.float32 and np.array_equal(out, far), f"distance {what}")
            check(np.array_equal(pixels(image(mask).apsis_voronoi(metric=metric)), index), f"voronoi {what}")
            inside, _ = nearest(mask == 0, metric)
            out = pixels(image(mask).apsis_distance(metric=metric, complement=True))
            check(np.array_equal(out, inside), f"complement {what}")
            signed = pixels(image(mask).apsis_distance(metric=metric, signed=True))
            check(np.array_equal(signed, np.where(mask, -inside, far)), f"signed {what}")


def strips(rng):
    """The map of a large image is made by strips, when it is asked for, from several threads, and in any order."""
    for shape, density in (((97, 57), 0.002), ((300, 1000), 0.01), ((64, 33), 0), ((1, 9), 0.5)):
        mask = image((rng.random(shape) < density).astype(np.uint8))
        for options in ({}, {"metric": "city-block"}, {"complement": True}, {"max_distance": 9}):
            whole = pixels(mask.apsis_distance(**options))
            for rows in (1, 7, 32, 64, 1000):
                out = pixels(mask.apsis_distance(strip_rows=rows, **options))
                check(np.array_equal(out, whole), f"strips {shape}, {rows}, {options}")
            out = mask.apsis_distance(strip_rows=5, **options)
            turned = np.rot90(whole[::-1], -1)
            check(np.array_equal(pixels(out.flipver().rot90()), turned), f"strips {shape}, {options}, in another order")
    signed = mask.apsis_distance(strip_rows=3, signed=True)
    check(np.array_equal(pixels(signed), pixels(mask.apsis_distance(signed=True))), "signed maps have no strips")


def kinds_of_images(rng):
    mask = (rng.random((33, 41)) < 0.1).astype(float)
    expected, index = nearest(mask, "euclidean")
    for kind in (np.uint8, np.int8, np.uint16, np.int32, np.float32, np.float64):
        check(np.array_equal(pixels(image((mask * 3).astype(kind)).apsis_distance()), expected), f"{kind}")
    check(np.array_equal(pixels(image(mask * 0.25).apsis_distance()), expected), "a quarter is not zero")
    limited = pixels(image(mask).apsis_distance(max_distance=2))
    check(np.array_equal(limited, np.where(expected > 2, np.inf, expected).astype(np.float32)), "max_distance")
    limited = pixels(image(mask).apsis_voronoi(max_distance=2))
    check(np.array_equal(limited, np.where(expected > 2, -1, index)), "max_distance, voronoi")
    check(throws(lambda: image(np.zeros((4, 4, 3), np.uint8)).apsis_distance(), "one band"), "bands")
    check(throws(lambda: image(mask).apsis_distance(metric="beeline"), "beeline"), "a metric there is none of")
    blocks = pixels(image(mask).apsis_distance(metric="city-block"))
    for metric in ("cityblock", "taxicab", "manhattan"):
        check(np.array_equal(pixels(image(mask).apsis_distance(metric=metric)), blocks), metric)
    cells = pixels(image(mask).apsis_voronoi(connected=True))
    whole = (len(flood(cells == c, (c // 41, c % 41), True)) == (cells == c).sum() for c in np.unique(cells))
    check(all(whole), "connected")


def components(rng):
    for shape, density in (((30, 41), 0.5), ((41, 30), 0.3), ((1, 50), 0.7), ((12, 12), 0), ((12, 12), 1)):
        mask = (rng.random(shape) < density).astype(np.uint8)
        for many in (4, 8):
            expected, count = parts(mask, many == 8)
            out, told = image(mask).apsis_components(neighbours=many, segments=True)
            check(np.array_equal(pixels(out), expected) and told["segments"] == count, f"components {shape}, {density}, {many}")
            areas = np.bincount(expected.ravel())
            areas[0] = 0
            kept = pixels(image(mask).apsis_components(neighbours=many, min_area=3, max_area=9)) > 0
            check(np.array_equal(kept, (areas[expected] >= 3) & (areas[expected] <= 9)), "areas")
            largest = pixels(image(mask).apsis_components(neighbours=many, largest=1)) > 0
            check(largest.sum() == areas.max(), "largest")


def eccentricities(rng):
    mask = (rng.random((20, 23)) < 0.7).astype(np.uint8)
    for metric in ("city-block", "chessboard"):
        out, told = image(mask).apsis_eccentricity(metric=metric, farthest=True)
        out, far = pixels(out), pixels(told["farthest"])
        for at in zip(*np.indices(mask.shape).reshape(2, -1)):
            steps = flood(mask, at, metric == "chessboard") if mask[at] else {}
            reach = max(steps.values()) if steps else -1
            end = min((y * 23 + x for (y, x), length in steps.items() if length == reach), default=-1)
            if out[at] != reach or far[at] != end:
                check(False, f"eccentricity {metric} at {at}")
                return


def the_command(rng):
    """Sequential reading, of a file with more rows than libvips takes at once, and the result in a file."""
    mask = (rng.random((700, 301)) < 0.0004).astype(np.uint8) * 255
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "in.png"), Path(folder, "out.tif")
        image(mask).write_to_file(str(source))
        check("apsis_distance" in subprocess.run(["vips", "-l"], check=True, capture_output=True, text=True).stdout, "vips -l")
        words = ["vips", "apsis_distance", f"{source}[access=sequential]", str(out)]
        ran = subprocess.run(words, capture_output=True, text=True)
        check(ran.returncode == 0 and not ran.stderr, ran.stderr)
        check(np.array_equal(pixels(pyvips.Image.new_from_file(str(out))), nearest(mask, "euclidean")[0]), "the command")


rng = np.random.default_rng(1)
for test in (distances, strips, kinds_of_images, components, eccentricities, the_command):
    test(rng)
print(failures, "failures")
sys.exit(failures != 0)
