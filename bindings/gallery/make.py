"""make.py COMMAND PAGE.tif FOLDER: the gallery that every language draws up: three sets, in FOLDER/sets, and what the apsis
command makes of them, in FOLDER/maps.

A set is a PGM, which any viewer shows: a line "P5 WIDTH HEIGHT 1", and then a byte a pixel, 1 inside.  A map is nothing but
its pixels, .i32 or .f32, little-endian.
"""

import math
import pathlib
import struct
import subprocess
import sys

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, OFFSETS, ROWS, COUNTS = 256, 257, 258, 259, 262, 273, 278, 279


def points(width, height, count):
    """Some random pixels."""
    pixels, state = bytearray(width * height), 1
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        pixels[(state >> 33) % len(pixels)] = 1
    return width, height, bytes(pixels)


def flower(side):
    """A shape of five petals."""
    middle = (side - 1) / 2

    def inside(x, y):
        return math.hypot(x, y) <= middle * (0.6 + 0.4 * math.cos(5 * math.atan2(y, x)))
    return side, side, bytes(inside(x - middle, y - middle) for y in range(side) for x in range(side))


def tiff(width, height, pixels):
    """A set as the simplest TIFF."""
    tags = [(WIDTH, width), (HEIGHT, height), (BITS, 8), (COMPRESSION, 1), (PHOTOMETRIC, 1), (OFFSETS, 8), (ROWS, height),
            (COUNTS, len(pixels))]
    pixels += bytes(len(pixels) % 2)  # a directory is at an even place
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<I", 8 + len(pixels)) + pixels + struct.pack("<H", len(tags)) + entries + bytes(4)


def read(path):
    """Width, height and pixels of a TIFF of the command's."""
    file = path.read_bytes()
    directory, = struct.unpack_from("<I", file, 4)
    tags = {}
    for i in range(struct.unpack_from("<H", file, directory)[0]):
        at = directory + 2 + 12 * i
        tag, kind, count = struct.unpack_from("<HHI", file, at)
        if kind in (3, 4):
            size = {3: 2, 4: 4}[kind] * count
            values = at + 8 if size <= 4 else struct.unpack_from("<I", file, at + 8)[0]
            tags[tag] = struct.unpack_from(f"<{count}{'HI'[kind - 3]}", file, values)
    strips = (file[offset:offset + count] for offset, count in zip(tags[OFFSETS], tags[COUNTS]))
    return tags[WIDTH][0], tags[HEIGHT][0], b"".join(strips)


def main(command, page, folder):
    folder = pathlib.Path(folder)
    sets, maps = folder / "sets", folder / "maps"
    sets.mkdir(parents=True, exist_ok=True)
    maps.mkdir(exist_ok=True)
    drawing = folder / "drawing.tif"

    def run(verb, set, *options):
        subprocess.run([command, verb, set, drawing, *options, "--device", "cpu", "--overwrite", "--quiet"], check=True)
        return read(drawing)

    def draw(map, verb, set, *options):
        (maps / map).write_bytes(run(verb, folder / f"{set}.tif", *options)[2])

    drawn = {"page": run("components", page, "--sites", "black", "--type", "u8"), "points": points(640, 480, 200),
             "flower": flower(301)}
    for name, (width, height, pixels) in drawn.items():
        (sets / f"{name}.pgm").write_bytes(b"P5 %d %d 1\n" % (width, height) + pixels)
        (folder / f"{name}.tif").write_bytes(tiff(width, height, pixels))
    draw("distance.f32", "distance", "page")
    draw("cells.i32", "voronoi", "points", "--connected")
    draw("letters.i32", "components", "page", "--connectivity", "8", "--stats", maps / "letters.csv")
    draw("reach.f32", "eccentricity", "flower")


main(*sys.argv[1:])
