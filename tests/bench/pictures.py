#!/usr/bin/env python3
"""Draws maps of what the papers take, sparse sites, a photograph and vessels, and of blobs, by the command.

    pictures.py LIBBENCH-MASKS APSIS FOLDER

The images are the benchmark's (masks.c).  NAME-distance.png and NAME-cells.png are pictures that the command draws.  Of other
maps it draws none, so they are coloured here: NAME-opened.png, NAME-thickness.png, NAME-axis.png and NAME-path.png."""

import csv
import ctypes
import itertools
import math
import os
import struct
import subprocess
import sys
import tempfile
import zlib

SIDE = 256
DISTANCE, CELLS = ("distance", "distance"), ("voronoi", "cells")  # a verb, and what its picture is called
IMAGES = {"sparse": ("noise-0.001", DISTANCE, CELLS), "photograph": ("photograph", DISTANCE, CELLS),
          "vessels": ("vessels", DISTANCE)}
RADIUS = 3  # of the ball that opens and closes

DARK, GREY, WHITE, RED, BLUE = (16, 16, 16), (96, 96, 96), (255, 255, 255), (225, 87, 55), (66, 133, 200)
RAMP = (0, 77, 106), (6, 138, 128), (119, 194, 111), (252, 231, 101)  # the command's, less the darkest quarter (colour.cpp)


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


def read_tiff(path, sample):
    """The samples of a map, which the command has written as one tile."""
    tile_offsets = 324
    with open(path, "rb") as file:
        data = file.read()
    directory, = struct.unpack_from("<I", data, 4)
    count, = struct.unpack_from("<H", data, directory)
    tags = [struct.unpack_from("<HHII", data, directory + 2 + 12 * i) for i in range(count)]
    offset, = [value for tag, _, _, value in tags if tag == tile_offsets]
    return struct.unpack_from(f"<{SIDE * SIDE}{sample}", data, offset)


def write_png(path, colours):
    """Red, green and blue of each pixel."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    bytes_ = bytes(itertools.chain.from_iterable(colours))
    rows = b"".join(b"\0" + bytes_[row:row + 3 * SIDE] for row in range(0, len(bytes_), 3 * SIDE))
    header = struct.pack(">2I5B", SIDE, SIDE, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def shades(values):
    """The colours of values, dark for those near 0 and light for the greatest; what is 0 or less is outside the set."""
    greatest = max(values)

    def shade(value):
        place = value / greatest * (len(RAMP) - 1)
        below = min(int(place), len(RAMP) - 2)
        return tuple(round(a + (place - below) * (b - a)) for a, b in zip(RAMP[below], RAMP[below + 1]))

    return [shade(value) if value > 0 else DARK for value in values]


class Set:
    """The pixels that are 1, in a file for the command."""

    def __init__(self, apsis, scratch, pixels):
        self.apsis, self.scratch, self.pixels = apsis, scratch, pixels
        self.file = self.path("set.tif")
        write_tiff(self.file, pixels)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def map(self, sample, verb, *words):
        """The samples of what a verb makes of the set, and of other files if it takes some."""
        out = self.path("map.tif")
        subprocess.run([self.apsis, verb, self.file, *words, out, "--tiled", "--overwrite"], check=True)
        return read_tiff(out, sample)


def opened_and_closed(set_):
    """The set is white and red, and opening takes away what is red; closing adds what is blue."""
    opened, closed = (set_.map("B", "morphology", "--radius", str(RADIUS), "--operation", operation)
                      for operation in ("open", "close"))
    return [WHITE if stays else RED if was else BLUE if comes else DARK
            for stays, was, comes in zip(opened, set_.pixels, closed)]


def thickness(set_):
    return shades(set_.map("f", "thickness"))


def medial_axis(set_):
    """In white, on the local thickness."""
    radii = set_.map("f", "medial-axis", "--border")
    return [WHITE if radius else colour for radius, colour in zip(radii, shades(set_.map("f", "thickness", "--border")))]


def longest_path(set_):
    """In white, on the lengths of paths from where it begins; the other components are grey."""
    table, seed = set_.path("paths.csv"), set_.path("seed.tif")
    labels = set_.map("i", "paths", "--table", table)
    with open(table, newline="") as file:
        path = max(csv.DictReader(file), key=lambda row: float(row["length"]))
    write_tiff(seed, bytes(pixel == int(path["start"]) for pixel in range(SIDE * SIDE)))
    lengths = set_.map("f", "geodesic", seed)
    reached = shades([length if length < math.inf else 0 for length in lengths])
    return [WHITE if label == int(path["label"]) else GREY if length == math.inf else colour
            for label, length, colour in zip(labels, lengths, reached)]


# A picture, what draws it, and of which set: a mask, and the value of its pixels.
COLOURED = {"photograph-opened": (opened_and_closed, "photograph", 1), "vessels-thickness": (thickness, "vessels", 0),
            "blobs-axis": (medial_axis, "blobs", 1), "photograph-path": (longest_path, "photograph", 1)}


def main(library, command, folder):
    masks = ctypes.CDLL(library)
    with tempfile.TemporaryDirectory() as scratch:
        image, map_ = os.path.join(scratch, "image.tif"), os.path.join(scratch, "map.tif")
        for name, (mask, *pictures) in IMAGES.items():
            write_tiff(image, draw(masks, mask))
            for verb, kind in pictures:
                picture = os.path.join(folder, f"{name}-{kind}.png")
                subprocess.run([command, verb, image, map_, "--picture", picture, "--overwrite"], check=True)
        for name, (colours, mask, value) in COLOURED.items():
            set_ = Set(command, scratch, bytes(pixel == value for pixel in draw(masks, mask)))
            write_png(os.path.join(folder, name + ".png"), colours(set_))


main(*sys.argv[1:])
