#!/usr/bin/env python3
"""Prints the tables of docs/performance.md in which the papers' figures and ours stand side by side.

    papers.py docs/figures/papers.csv OURS.csv          what bench_papers printed, of one run or of several"""

import csv
import sys

IMAGES = {"noise-0.0001": "noise 0.01 %", "noise-0.01": "noise 1 %", "noise-0.1": "noise 10 %", "noise-0.3": "noise 30 %",
          "noise-0.5": "noise 50 %", "noise-0.7": "noise 70 %", "noise-0.9": "noise 90 %", "photograph": "photograph",
          "vessels": "vessels", "disc": "disc"}
SIDES, BATCHES = (1024, 2048, 4096, 8192, 16384), (2, 8, 32, 100)
SCAN, SWEEP, OURS = "elizondo-2020", "honda-2017", ""
MAPS = ("mixed_ms", "connected_ms", "complete_ms", "distance_ms")


def read(path, figures):
    """Figures by paper, group, image, side, number of images and method."""
    with open(path, newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    for row in csv.DictReader(lines):
        if row["side"] != "side":
            figures[row.get("paper", OURS), row["group"], row["image"], int(row["side"]), int(row["images"]), row["method"]] = row


def words(ms):
    """Three digits."""
    if not ms:
        return ""
    number = float(ms)
    return f"{number:.{3 if number < 1 else 2 if number < 10 else 1 if number < 100 else 0}f}"


def table(head, rows):
    """Lines; rows with nothing but an image and a side are left out."""
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|"] + [f"| {' | '.join(row)} |" for row in rows if any(row[2:])]


def tables(papers, ours):
    """The lines of the table of distance maps, of that of instances, of the sweep's maps, and of batches."""
    figures = {}
    read(papers, figures)
    read(ours, figures)
    get = lambda paper, image, side, images, method, what="distance_ms": figures.get(
        (paper, "batch" if images > 1 else "plane", image, side, images, method), {}).get(what) or ""
    many = lambda paper, image, side, images, *methods: [words(get(paper, image, side, images, m)) for m in methods]
    both = lambda values: ", ".join(values) if any(values) else ""

    yield table(["image", "side", "raster scan, PBA+: GTX 1070", "sweep, PBA, jump flooding: GTX 1080", "raster scan", "sweep",
                 "jump flooding", "NPP", "auto"],
                ([name, f"{side}²", both(many(SCAN, image, side, 1, "raster scan", "PBA+")),
                  both(many(SWEEP, image, side, 1, "sweep", "PBA", "jump flooding")),
                  *many(OURS, image, side, 1, "raster scan", "sweep", "jump flooding", "NPP", "auto")]
                 for image, name in IMAGES.items() for side in SIDES))
    yield table(["image"] + [f"{side}²" for side in SIDES],
                ([name] + [both([get(paper, image, side, 1, "raster scan", "instances") for paper in (SCAN, OURS)
                                 if (paper, "plane", image, side, 1, "raster scan") in figures]) for side in SIDES]
                 for image, name in IMAGES.items()))
    yield table(["image", "side", "mixed, a kernel a line", "mixed", "connected", "complete", "distance"],
                ([IMAGES[image], f"{side}²"] +
                 [both([words(get(paper, image, side, 1, method, what)) for paper in (SWEEP, OURS)])
                  for method, what in [("sweep, rows", MAPS[0])] + [("sweep", what) for what in MAPS]]
                 for image in ("photograph", "noise-0.5", "noise-0.01", "noise-0.0001") for side in (4096, 16384)))
    yield table(["image", "images", "sweep, PBA, jump flooding: GTX 1080", "sweep, blocks", "sweep", "jump flooding", "NPP", "auto"],
                ([IMAGES[image], str(images), both(many(SWEEP, image, 2048, images, "sweep, blocks", "PBA", "jump flooding")),
                  *many(OURS, image, 2048, images, "sweep, blocks", "sweep", "jump flooding", "NPP", "auto")]
                 for image in ("photograph", "noise-0.5", "noise-0.01", "noise-0.0001") for images in BATCHES))


if __name__ == "__main__":
    for lines in tables(*sys.argv[1:]):
        print("\n".join(lines), end="\n\n")
