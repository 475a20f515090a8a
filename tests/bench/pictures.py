#!/usr/bin/env python3
"""Draws distances and cells of what the papers take, sparse sites, a photograph and vessels, by the command.

    pictures.py LIBBENCH-MASKS APSIS FOLDER

The images are the benchmark's (masks.c), and the pictures NAME-distance.png and NAME-cells.png."""

import ctypes
import os
import struct
import subprocess
import sys
import tempfile

SIDE = 256
DISTANCE, CELLS = ("distance", "distance"), ("voronoi", "cells")  # a verb, and what its picture is called
IMAGES = {"sparse": ("noise-0.001", DISTANCE, CELLS), "photograph": ("photograph", DISTANCE, CELLS),
          "vessels": ("vessels", DISTANCE)}


def draw(masks, name):
    """A byte for each pixel, 1 for the sites."""
    pixels = ctypes.create_string_buffer(SIDE * SIDE)
    masks.bench_mask(name.encode(), *[ctypes.c_int64(extent) for extent in (SIDE, SIDE, 1)], pixels)
    return pixels.raw


def write_tiff(path, pixels):
    """Bytes in one strip, as they are."""
    short, long = 3, 4
    tags = [(256, short, SIDE), (257, short, SIDE), (258, short, 8), (259, short, 1), (262, short, 1), (273, long, 8),
            (277, short, 1), (278, short, SIDE), (279, long, len(pixels))]
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, 8 + len(pixels)) + pixels)
        file.write(struct.pack("<H", len(tags)))
        for tag, kind, value in tags:
            file.write(struct.pack("<HHII", tag, kind, 1, value))
        file.write(struct.pack("<I", 0))


def main(library, command, folder):
    masks = ctypes.CDLL(library)
    with tempfile.TemporaryDirectory() as scratch:
        image, map_ = os.path.join(scratch, "image.tif"), os.path.join(scratch, "map.tif")
        for name, (mask, *pictures) in IMAGES.items():
            write_tiff(image, draw(masks, mask))
            for verb, kind in pictures:
                picture = os.path.join(folder, f"{name}-{kind}.png")
                subprocess.run([command, verb, image, map_, "--picture", picture, "--overwrite"], check=True)


main(*sys.argv[1:])
