#!/usr/bin/env python3
"""Draws time against pixels, both in powers of ten, from what `bench scale` and `bench_cuda scale` print, as SVG.

    plot.py PICTURE.svg CSV...                    a file that is not there is left out

A file's curves bear its name, from the last '-' on: scale-cpu.csv is CPU.  Device times are those of kernels alone."""

import csv
import math
import os
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800, 520, 60, 100, 40, 50
PIXELS, MS = (3.5, 9.8), (-2.4, 3.4)  # exponents of ten at the ends of the axes
MASKS = {"noise-0.01": ("noise 1 %", "#2a6fbb"), "noise-0.5": ("noise 50 %", "#3fa56b"),
         "blobs": ("blobs", "#c8553d"), "row": ("one row of sites", "#8a5aa8")}


def x_of(pixels):
    return LEFT + (math.log10(pixels) - PIXELS[0]) / (PIXELS[1] - PIXELS[0]) * (WIDTH - LEFT - RIGHT)


def y_of(ms):
    return HEIGHT - BOTTOM - (math.log10(ms) - MS[0]) / (MS[1] - MS[0]) * (HEIGHT - TOP - BOTTOM)


def read(path):
    """Of each mask the (pixels, ms) of a file; lines that are no measurement are passed over."""
    curves = {}
    with open(path, newline="") as file:
        lines = [line for line in file if "," in line and not line.startswith("#")]
    header = next(i for i, line in enumerate(lines) if ",mask," in line)
    for row in csv.DictReader(lines[header:]):
        if row["mask"] in MASKS and row.get("group", "scale") == "scale":
            side = int(row.get("side") or row["width"])
            curves.setdefault(row["mask"], []).append((side * side, float(row["ms"])))
    return curves


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}"{more}>{words}</text>'


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def axes():
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for k in range(6, 17):  # sides that are powers of two
        x = x_of(4**k)
        yield line(x, TOP, x, bottom, "#eee")
        if k % 2 == 0:
            yield text(x, bottom + 18, f"{2**k}²", ' text-anchor="middle"')
    for e in range(math.ceil(MS[0]), math.floor(MS[1]) + 1):
        yield line(LEFT, y_of(10**e), right, y_of(10**e), "#ddd")
        yield text(LEFT - 8, y_of(10**e) + 4, f"{10**e:g}", ' text-anchor="end"')
    yield text(LEFT, TOP - 14, "milliseconds a map", ' font-weight="bold"')
    yield text((LEFT + right) / 2, HEIGHT - 12, "pixels", ' text-anchor="middle" font-weight="bold"')


def rate(gigapixels):
    """A line of as many pixels a second, for the eye."""
    low, high = [10**e for e in PIXELS]
    low, high = max(low, 10**MS[0] * gigapixels * 1e6), min(high, 10**MS[1] * gigapixels * 1e6)
    ends = [f"{x_of(p):.1f},{y_of(p / gigapixels / 1e6):.1f}" for p in (low, high)]
    yield f'<polyline points="{" ".join(ends)}" fill="none" stroke="#aaa" stroke-dasharray="2 4"/>'
    yield text(x_of(high) + 4, y_of(high / gigapixels / 1e6) + 4, f"{gigapixels} Gpixel/s", ' fill="#777" font-size="11"')


def curves_of(path):
    name = os.path.splitext(os.path.basename(path))[0].split("-")[-1].upper()
    curves = read(path)
    for mask, points in curves.items():
        colour, spots = MASKS[mask][1], [(x_of(pixels), y_of(ms)) for pixels, ms in points]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        yield f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in spots)
    slowest = max((points[-1] for points in curves.values()), key=lambda point: point[1])
    yield text(x_of(slowest[0]), y_of(slowest[1]) - 12, name, ' text-anchor="middle" font-weight="bold"')


def legend():
    for i, (name, colour) in enumerate(MASKS.values()):
        yield f'<circle cx="{LEFT + 24}" cy="{TOP + 20 + 20 * i}" r="4" fill="{colour}"/>'
        yield text(LEFT + 36, TOP + 24 + 20 * i, name)


def main():
    picture, files = sys.argv[1], [path for path in sys.argv[2:] if os.path.exists(path)]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
             '<rect width="100%" height="100%" fill="white"/>', *axes()]
    for gigapixels in 1, 100:
        parts += rate(gigapixels)
    for path in files:
        parts += curves_of(path)
    with open(picture, "w") as out:
        out.write("\n".join([*parts, *legend(), "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
