"""gallery.py SETS MAPS [DEVICE]: maps of a page of text, of random points and of a flower.

SETS has page.pgm, points.pgm and flower.pgm, which bindings/gallery/make.py draws.  DEVICE is cpu, best or the number of a GPU.
"""

import pathlib
import sys

import numpy as np

import apsis


def read(path):
    """A set: the pixels that are not 0."""
    with open(path, "rb") as file:
        _, width, height, _ = file.readline().split()
        return np.frombuffer(file.read(), np.uint8).reshape(int(height), int(width))


def write_table(path, known):
    """What is known of components, a line for each; numbers in as few digits as tell them apart."""
    with open(path, "w") as file:
        print("label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean", file=file)
        for label, (first, area, lower, upper, centroid, _value) in enumerate(known, 1):
            means = (np.format_float_positional(mean, trim="-") for mean in centroid)
            print(label, first, area, *lower, *upper, *means, sep=",", file=file)


def main(sets, maps, device="best"):
    sets, maps = pathlib.Path(sets), pathlib.Path(maps)
    context = apsis.Context(int(device) if device.isdigit() else device)
    print("on", context.name)

    page = read(sets / "page.pgm")
    context.distance(page).tofile(maps / "distance.f32")

    context.voronoi(read(sets / "points.pgm"), connected=True).tofile(maps / "cells.i32")

    labels, count, known = context.components(page, connectivity=2, statistics=True)
    labels.tofile(maps / "letters.i32")
    write_table(maps / "letters.csv", known)
    print(f"{count} letters; the largest has {known['area'].max()} pixels")

    reach, extents = context.eccentricity(read(sets / "flower.pgm"), extents=True)
    reach.tofile(maps / "reach.f32")
    for extent in extents:
        print(f"the flower: diameter {extent['diameter']:.3f}, radius {extent['radius']:.3f}")

    try:
        context.distance(page, max_distance=-1)
    except apsis.ArgumentError as error:  # a ValueError
        print("refused:", error)


main(*sys.argv[1:])
