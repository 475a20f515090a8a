"""Draws balls.tif: two balls on a table with their shadows, 300 x 200 pixels of 8 bits, some noise, and one pixel in a
thousand white."""
import math
import struct
import zlib

WIDTH, HEIGHT, HORIZON = 300, 200, 120
BALLS = [(230, 142, 38), (110, 96, 78)]       # x, y and radius, the nearest first
SHADOWS = [(175, 172, 90), (262, 182, 45)]    # x, y and half the width
LIGHT = (-0.5, -0.6, 0.62)


def background(x, y):
    if y < HORIZON:
        return 140 - 0.25 * x
    grey = 110 + 0.9 * (y - HORIZON)
    for cx, cy, half in SHADOWS:
        d = ((x - cx) / half) ** 2 + ((y - cy) / (half / 4)) ** 2
        if d < 1:
            grey *= 0.35 + 0.65 * d * d
    return grey


def scene(x, y):
    for cx, cy, radius in BALLS:
        dx, dy = (x - cx) / radius, (y - cy) / radius
        d = 1 - dx * dx - dy * dy
        if d >= 0:
            return 25 + 215 * max(0, LIGHT[0] * dx + LIGHT[1] * dy + LIGHT[2] * math.sqrt(d))
    return background(x, y)


def pixels():
    state = 7

    def random():
        nonlocal state
        state = state * 16807 % 2147483647
        return state / 2147483647

    for y in range(HEIGHT):
        for x in range(WIDTH):
            grey = min(max(int(scene(x, y) + 24 * (random() - 0.5)), 0), 254)
            yield 255 if random() < 0.001 else grey


def write_tiff(path, samples):
    """One strip, deflated."""
    strip = zlib.compress(bytes(samples), 9)
    short, long = 3, 4
    tags = [(256, short, WIDTH), (257, short, HEIGHT), (258, short, 8), (259, short, 8), (262, short, 1), (273, long, 8),
            (277, short, 1), (278, short, HEIGHT), (279, long, len(strip))]
    at = (8 + len(strip) + 1) & ~1
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, at) + strip)
        file.write(b"\0" * (at - 8 - len(strip)) + struct.pack("<H", len(tags)))
        for tag, kind, value in tags:
            file.write(struct.pack("<HHII", tag, kind, 1, value))
        file.write(struct.pack("<I", 0))


write_tiff("balls.tif", pixels())
