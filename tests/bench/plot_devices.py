#!/usr/bin/env python3
"""Draws how many times faster several devices are than one, from what `bench_devices` prints, as SVG.

    plot_devices.py PICTURE.svg CSV ...

Sets of bytes alone: those of bits take as long."""

import csv
import sys

from plot import line, text

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 420, 60, 200, 40, 50
MOST = 4  # devices
COLOURS = {"noise-0.5": ("noise 50 %", "#3fa56b"), "blobs": ("blobs", "#c8553d"), "text": ("text", "#2a6fbb")}
DASHES = {"distance": "", "labels": ' stroke-dasharray="6 3"'}


def x_of(devices):
    return LEFT + (devices - 1) / (MOST - 1) * (WIDTH - LEFT - RIGHT)


def y_of(times):
    return HEIGHT - BOTTOM - (times - 1) / (MOST - 1) * (HEIGHT - TOP - BOTTOM)


def read(paths):
    """Of each map of an image the (devices, times)."""
    curves = {}
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                if row["set"] == "u8" and row["times_one"]:  # not what is too large for one device, or for these
                    size = row["width"] + ("³" if row["group"] == "volume" else "²")
                    points = curves.setdefault((row["outputs"], row["mask"], size), [])
                    points.append((int(row["devices"]), float(row["times_one"])))
    return curves


def axes():
    for n in range(1, MOST + 1):
        yield line(x_of(n), y_of(1), x_of(n), y_of(MOST), "#eee")
        yield line(x_of(1), y_of(n), x_of(MOST), y_of(n), "#ddd")
        yield text(x_of(n), y_of(1) + 18, str(n), ' text-anchor="middle"')
        yield text(x_of(1) - 8, y_of(n) + 4, str(n), ' text-anchor="end"')
    yield line(x_of(1), y_of(1), x_of(MOST), y_of(MOST), "#aaa")
    yield text(LEFT, TOP - 14, "times as fast as one", ' font-weight="bold"')
    yield text((x_of(1) + x_of(MOST)) / 2, HEIGHT - 12, "devices", ' text-anchor="middle" font-weight="bold"')


def curves_of(paths):
    labels = []
    for (output, mask, size), points in read(paths).items():
        name, colour = COLOURS[mask]
        joined = " ".join(f"{x_of(n):.1f},{y_of(times):.1f}" for n, times in points)
        yield f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.5"{DASHES[output]}/>'
        labels.append([y_of(points[-1][1]) + 4, f"{output}, {name}, {size}", colour])
    last = 0
    for y, words, colour in sorted(labels):  # none on top of another
        last = max(y, last + 13)
        yield text(x_of(MOST) + 8, last, words, f' fill="{colour}" font-size="11"')


def main():
    with open(sys.argv[1], "w") as out:
        out.write("\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
            '<rect width="100%" height="100%" fill="white"/>', *axes(), *curves_of(sys.argv[2:]), "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
