#!/usr/bin/env python3
"""Fills the tables of pages from files of figures, or says which of them differ.

    tables.py [--check] FIGURES PAGE...

A table stands between a line `<!-- table NAME -->` and the line `<!-- end of table -->`.  FIGURES is a folder of what
`./run bench figures` writes: a line `# commit X; machine; command`, and then what the benchmark prints."""

import csv
import itertools
import os
import re
import sys

import papers

SHAPES = {**papers.IMAGES, "disc": "disc (3-D: ball)", "blobs": "blobs", "pixel-disc": "disc about a pixel", "ring": "ring",
          "single": "single site", "diagonal": "diagonal", "left-strip": "left strip", "text": "text", "full": "full",
          "row": "one row", "spiral": "spiral", "comb": "comb", "maze": "maze", "empty": "empty",
          "cells-10000": "10 000 cells", "cells-10000000": "10 million cells", "values-4": "noise of 4 values",
          **{f"grain4-0.{n}": f"noise {n}0 %, grain 4" for n in range(1, 10)}}
PLANES = ["noise-0.0001", "noise-0.01", "noise-0.1", "noise-0.3", "noise-0.5", "noise-0.7", "noise-0.9", "blobs", "disc",
          "pixel-disc", "ring", "single", "diagonal", "left-strip", "text", "full", "row"]
VOLUMES = ["noise-0.01", "noise-0.1", "noise-0.5", "blobs", "disc"]
LABELLED = ["noise-0.1", "noise-0.3", "noise-0.5", "noise-0.7", "noise-0.9", "grain4-0.5", "spiral", "comb", "blobs", "text",
            "full", "empty"]
FEW = ["noise-0.01", "noise-0.5", "blobs", "disc", "text"]  # those of README.md


class Figures:
    """The rows of a file, and where they are from."""

    def __init__(self, folder, name):
        self.name = name
        with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
            lines = file.readlines()
        found = re.fullmatch(r"# commit (\w+); ([^;]+); (.+)\n", lines[0])
        if not found:
            sys.exit(f"tables: {name}: the first line is no '# commit X; machine; command'")
        self.source = found.groups()
        self.rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))

    def matching(self, where):
        return [row for row in self.rows if all(row[key] == str(value) for key, value in where.items())]

    def get(self, field, **where):
        """The field of the only row in which other fields are such; empty if there is no row."""
        rows = self.matching(where)
        if len(rows) > 1:
            sys.exit(f"tables: {self.name}: {len(rows)} rows for {where}")
        return rows[0][field] if rows else ""

    def first(self, field, **where):
        """The field of the first of several rows that were measured alike."""
        return next((row[field] for row in self.matching(where)), "")


def rounded(figure, decimals):
    """With no more decimals than the figure has itself."""
    return figure and f"{float(figure):.{min(decimals, len(figure.partition('.')[2]))}f}"


def three(figure):
    """Three digits."""
    return figure and rounded(figure, len(papers.words(figure).partition(".")[2]))


def two(figure):
    return rounded(figure, 1 if figure and float(figure) < 10 else 0)


def bold(figure):
    return f"**{figure}**"


def pair(one, other):
    return ", ".join(figure for figure in (one, other) if figure)


def also(figure, other):
    return f"{figure} ({other})" if other else figure


def peer(figures, library, **where):
    """A library's milliseconds, and how often apsis fits into them."""
    ratio = figures.get(library + "_ratio", **where)
    return also(rounded(figures.get(library + "_ms", **where), 0), ratio and ratio + "×") or "2-D only"


def distance_h200(folder):
    f = Figures(folder, "cuda.csv")
    sizes = {"16384²": (16384, 1), "8192²": (8192, 1), "4096²": (4096, 1), "512³": (512, 512), "768³": (768, 768)}
    for mask in PLANES:
        cells = [SHAPES[mask]]
        for side, depth in sizes.values():
            where = {"mask": mask, "width": side, "depth": depth}
            cells += [three(f.get("ms", **where)), rounded(f.get("times_floor", **where), 1)]
        yield cells


def forms_h200(folder):
    alone, forms, scale = (Figures(folder, name) for name in ("cuda.csv", "cuda-forms.csv", "scale-H200.csv"))
    plane, cube = {"width": 16384, "height": 16384}, {"height": 512, "depth": 512}
    ways = {"16384², `float`": (alone, {**plane, "depth": 1}),
            "16384², with nearest (int32)": (forms, {"group": "nearest", **plane}),
            "16384², set in bits": (forms, {"group": "bit"}),
            "16384², squared int32": (forms, {"group": "squared"}),
            "16384², signed": (forms, {"group": "signed"}),
            "65536², `float`": (scale, {"width": 65536}),
            "16383 × 16381": (forms, {"group": "odd", "width": 16383}),
            "100 × 1 000 000": (forms, {"group": "odd", "height": 1000000}),
            "1 000 000 × 100": (forms, {"group": "odd", "width": 1000000}),
            "2048 × 2048 × 30": (forms, {"group": "odd", "width": 2048}),
            "30 × 2048 × 2048": (forms, {"group": "odd", "width": 30}),
            "100 slices of 2048²": (forms, {"group": "slices", "depth": 100}),
            "20480², as many pixels": (forms, {"group": "slices", "width": 20480}),
            "512³, spacing 1, 1, 2.5": (forms, {"group": "spacing", **cube}),
            "512³, with nearest (int32)": (forms, {"group": "nearest", **cube}),
            "768³, with nearest (int32)": (forms, {"group": "nearest", "depth": 768})}
    for name, (f, where) in ways.items():
        yield [name] + [three(f.first("ms", mask=mask, **where)) for mask in ("noise-0.01", "noise-0.5", "blobs", "disc")]


def host_h200(folder):
    f = Figures(folder, "cuda-host.csv")
    names = {"f32": "`float`", "f32+nearest": "`float`, nearest"}
    for memory in "page-locked", "pageable":
        for mask in "noise-0.5", "blobs":
            for outputs, name in names.items():
                get = lambda field, memory=memory: f.get(field, width=16384, mask=mask, memory=memory, outputs=outputs)
                copies = sum(float(get(way, "page-locked")) for way in ("in_alone_ms", "out_alone_ms"))
                yield [SHAPES[mask], memory, name, *(rounded(get(field), 1) for field in ("ms", "in_alone_ms", "out_alone_ms")),
                       rounded(get("times_longer_copy"), 2), f"{float(get('ms')) / copies:.2f}"]


def labels_h200(folder, side, connectivities):
    f = Figures(folder, "cuda-labels.csv")
    for image in "cells-10000", "cells-10000000", "text", "values-4":
        get = lambda group, field="ms", c=0: f.get(field, group=group, image=image, width=side, connectivity=c)
        times = lambda group: also(three(get(group)), f"{float(get(group)) / float(get(group, 'ms_binary')):.1f}")
        yield [SHAPES[image], *(rounded(get("components", c=c), 2) for c in connectivities),
               *(times(group) for group in ("distance", "nearest")),
               *(three(get(group)) for group in ("statistics", "contacts"))]


def worst_h200(folder):
    f = Figures(folder, "cuda-worst.csv")
    for kind, name in {"strokes": "strokes", "fractal": "fractals", "dust": "dust", "sparse": "sparse"}.items():
        get = lambda field, size, call: rounded(f.get(field, kind=kind, size=size, call=call), 2)
        yield [name] + [also(get("worst_ms", *of), get("median_ms", *of))
                        for of in (("16384^2", "distance"), ("16384^2", "distance+nearest"), ("16384^2", "components"),
                                   ("512^3", "distance"), ("512^3", "distance+nearest"))]


def bounds_h200(folder):
    """The kernels that take a tenth of a call or more."""
    rows = Figures(folder, "cuda-bounds.csv").rows
    for (call, image, size), kernels in itertools.groupby(rows, lambda row: (row["call"], row["image"], row["size"])):
        kernels = list(kernels)
        whole = sum(float(kernel["us"]) for kernel in kernels)
        name = f"{call}, {SHAPES[image]}, {size.replace('^2', '²').replace('^3', '³').replace(' x ', ' × ')}"
        for kernel in kernels:
            share = float(kernel["us"]) / whole
            if share < 0.1:
                continue
            issue, dram, l2, l1 = (int(kernel[f"{unit}_percent"]) for unit in ("issue", "dram", "l2", "l1"))
            bound = "bytes" if max(dram, l2) >= 75 else "instructions" if issue >= 60 else "latency"
            yield [name, f"`{kernel['kernel']}`", *(f"{figure:.0f} %" for figure in (100 * share, issue, dram, l2, l1)), bound]
            name = ""


def small_h200(folder):
    f = Figures(folder, "cuda-small.csv")
    for side in 64, 256, 512, 1024, 2048:
        times = [f.get("ms", mask=mask, width=side) for mask in FEW]
        yield [f"{side}²"] + [f"{1000 * float(ms):.1f}" for ms in times]


def components_h200(folder):
    f = Figures(folder, "cuda-components.csv")
    outputs = [("plane", "i32", "ms"), ("statistics", "i32+statistics", "ms"), ("alone", "statistics+count", "ms"),
               ("alone", "statistics+count", "ms_less_copy"), ("alone", "count", "ms")]
    for mask in LABELLED:
        yield [SHAPES[mask]] + [pair(*(rounded(f.get(field, group=group, mask=mask, connectivity=c, outputs=what), 2)
                                       for c in (1, 2))) for group, what, field in outputs]


def components_volumes_h200(folder):
    f = Figures(folder, "cuda-components.csv")
    for mask in "noise-0.01", "noise-0.1", "noise-0.3", "noise-0.5", "blobs", "disc", "full":
        yield ["ball" if mask == "disc" else SHAPES[mask]] + \
              [pair(*(rounded(f.get("ms", group="volume", mask=mask, width=side, connectivity=c), 2) for c in (1, 3)))
               for side in (512, 1024)]


def components_graph_h200(folder):
    f = Figures(folder, "cuda-components.csv")
    for mask in LABELLED:
        yield [SHAPES[mask]] + [f"{1000 * float(f.get('ms', group='graph', mask=mask, connectivity=c)):.0f}" for c in (1, 2)]


def components_small_h200(folder):
    f = Figures(folder, "cuda-components-small.csv")
    micros = lambda mask, side, c: f"{1000 * float(f.get('ms', mask=mask, width=side, connectivity=c)):.1f}"
    for mask in "noise-0.5", "grain4-0.5", "blobs", "text", "spiral", "comb":
        yield [SHAPES[mask]] + [pair(*(micros(mask, side, c) for c in (1, 2))) for side in (64, 128, 256, 512, 1024)]


def batches_h200(folder):
    f = Figures(folder, "cuda-batches.csv")
    for mask in "noise-0.5", "blobs", "text":
        cells = [SHAPES[mask]]
        for side in 256, 288:
            for across in 8, 32:
                batch = f.get("ms", mask=mask, width=side, depth=across * across)
                one = f.get("ms", mask=mask, width=side * across, depth=1)
                cells.append(also(three(batch), f"{float(batch) / float(one):.2f}×"))
        yield cells


PATHS = {("-disc", 4096): "disc", ("full", 4096): "full", ("-blobs", 4096): "outside of blobs",
         ("noise-0.7", 4096): "noise 70 %", ("maze", 4096): "maze, corridors of one pixel",
         ("wide-spiral", 4096): "spiral of 28 511 pixels", ("coil", 4096): "coil", ("full", 512): "full",
         ("-blobs", 512): "outside of blobs", ("blobs", 512): "one blob", ("noise-0.5", 512): "noise 50 %"}


def size(side):
    return f"{side}²" if side > 512 else f"{side}³"


def paths_h200(folder):
    f = Figures(folder, "cuda-paths.csv")
    for (mask, side), name in PATHS.items():
        yield [f"{name}, {size(side)}"] + [three(f.get("ms", mask=mask, width=side, outputs=what))
                                           for what in ("distance", "distance+nearest")]


FAR = {"-disc": "disc", "full": "full", "-blobs": "outside of blobs", "holes": "disc with holes", "-islands": "holes",
       "noise-0.8": "noise 80 %", "noise-0.9": "noise 90 %", "coil": "coil", "comb": "comb", "maze": "maze",
       "spiral": "spiral, one pixel wide", "annulus": "ring, a tenth of the width", "noise-0.5": "noise 50 %",
       "torus": "torus", "islands": "99 225 islands of up to 120 pixels"}


def eccentricity_h200(folder):
    f = Figures(folder, "cuda-eccentricity.csv")
    for side, groups in (1024, ("shapes", "ring")), (4096, ("large", "small")), (96, ("volume",)):
        for mask, name in FAR.items():
            for group in groups:
                get = lambda field: f.get(field, group=group, mask=mask, width=side)
                solid = {"-disc": "ball", "full": "cube"}.get(mask, name) if side == 96 else name
                if get("ms"):
                    yield [f"{solid}, {size(side)}", three(get("ms")), get("fields")]


WHOLE = {"full": "full", "-disc": "disc", "holes": "disc with holes", "-blobs": "outside of blobs", "noise-0.8": "noise 80 %",
         "noise-0.9": "noise 90 %", "coil": "coil", "maze": "maze", "ring": "ring, 2 pixels thick"}


def eccentricity_cpu(folder):
    files = {1024: "paths-eccentricity.csv", 4096: "paths-eccentricity-4096.csv", 64: "paths-eccentricity.csv"}
    for side, file in files.items():
        f = Figures(folder, file)
        for mask, name in WHOLE.items():
            get = lambda field, more="": f.get(field, question="eccentricity" + more, side=side, shape=mask)
            shape = "ball" if mask == "-disc" and side == 64 else name
            if get("ms"):
                yield [f"{shape}, {size(side)}", get("components"), also(get("fields"), get("fields", "+farthest")),
                       also(rounded(get("ms"), 0), rounded(get("ms", "+farthest"), 0))]


def threads_cpu(folder):
    f = Figures(folder, "cpu-threads.csv")
    for row in f.rows:
        if row["threads"] == "1":
            where = {key: row[key] for key in ("question", "dimensions", "side", "mask")}
            ms = [f.get("ms", threads=n, **where) for n in (1, 2, 4, 8, 16)]
            shape = {**SHAPES, **WHOLE}[row["mask"]]
            shape = "ball" if shape == "disc" and row["dimensions"] == "3d" else shape
            yield [f"{row['question']}, {shape}, {size(int(row['side']))}", *map(three, ms),
                   f"{float(ms[0]) / float(ms[-1]):.1f}×" if ms[-1] else ""]


def peers(folder):
    f = Figures(folder, "peers.csv")
    for dimensions, power, masks in ("4096^2", "4096²", PLANES), ("256^3", "256³", VOLUMES):
        for mask in masks:
            where = {"mask": mask, "size": dimensions}
            if ours := f.get("apsis_ms", **where):
                yield [SHAPES[mask], power, rounded(ours, 1)] + [peer(f, each, **where) for each in ("opencv", "edt", "scipy")]


def peers_components(folder):
    f = Figures(folder, "peers-components.csv")
    for dimensions, power, masks, axes in ("4096^2", "4096²", PLANES, {1: 4, 2: 8}), ("256^3", "256³", VOLUMES, {1: 6, 3: 26}):
        for mask in masks:
            for connectivity, neighbours in axes.items():
                where = {"question": "labels", "mask": mask, "size": dimensions, "connectivity": connectivity}
                yield [f"{SHAPES[mask]}, {power}", str(neighbours), rounded(f.get("apsis_ms", **where), 1)] + \
                      [peer(f, library, **where) for library in ("opencv", "scipy", "cc3d")]


def peers_statistics(folder):
    f = Figures(folder, "peers-components.csv")
    for mask in PLANES:
        where = {"question": "statistics", "mask": mask}
        yield [SHAPES[mask], rounded(f.get("apsis_ms", **where), 1), peer(f, "opencv", **where)]


def readme_distance_cpu(folder):
    f = Figures(folder, "peers.csv")
    for mask in FEW:
        get = lambda library: f.get(library + "_ms", mask=mask, size="4096^2")
        yield [SHAPES[mask].split(" (")[0], bold(rounded(get("apsis"), 1))] + \
              [two(get(each)) for each in ("opencv", "edt", "scipy")]


def readme_components_cpu(folder):
    f = Figures(folder, "peers-components.csv")
    for mask in FEW:
        labels = lambda library: f.get(library + "_ms", question="labels", mask=mask, size="4096^2", connectivity=2)
        known = lambda library: f.get(library + "_ms", question="statistics", mask=mask)
        yield [SHAPES[mask].split(" (")[0], bold(rounded(labels("apsis"), 1))] + \
              [two(labels(each)) for each in ("opencv", "scipy", "cc3d")] + \
              [bold(rounded(known("apsis"), 1)), two(known("opencv"))]


def readme_distance_h200(folder):
    f = Figures(folder, "cuda.csv")
    for mask in FEW:
        yield ["disc, ball" if mask == "disc" else SHAPES[mask]] + \
              [rounded(f.get("ms", mask=mask, width=side, depth=depth), 2) for side, depth in ((16384, 1), (512, 512))]


def readme_more_h200(folder):
    components, paths = Figures(folder, "cuda-components.csv"), Figures(folder, "cuda-paths.csv")
    whole = Figures(folder, "cuda-eccentricity.csv")
    plane = lambda mask: rounded(components.get("ms", group="plane", mask=mask, connectivity=2), 2)
    volume = lambda mask: rounded(components.get("ms", group="volume", mask=mask, width=512, connectivity=3), 2)
    path = lambda mask: rounded(paths.get("ms", mask=mask, width=4096, outputs="distance"), 1)
    far = lambda mask: rounded(whole.get("ms", mask=mask, width=4096), 0)
    yield ["components, 16384²", also(plane("noise-0.5"), "50 %"), plane("blobs"), "", ""]
    yield ["components, 512³", also(volume("noise-0.5"), "50 %"), volume("blobs"), volume("disc"), ""]
    yield ["geodesic distance, 4096²", also(path("noise-0.7"), "70 %"), path("-blobs"), path("-disc"), path("maze")]
    yield ["eccentricity, 4096²", also(far("noise-0.8"), "80 %"), far("-blobs"), far("-disc"), far("maze")]


def sources(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".csv") and name != "papers.csv":
            commit, machine, command = Figures(folder, name).source
            yield [f"`{name}`", commit, machine, f"`{command}`"]


TABLES = {
    "sources": (["file", "commit", "machine", "command"], sources),
    "distance-h200": (["image"] + [cell for side in ("16384²", "8192²", "4096²", "512³", "768³")
                                   for cell in (side + " ms", "× floor")], distance_h200),
    "forms-h200": (["form", "noise 1 %", "noise 50 %", "blobs", "disc"], forms_h200),
    "host-h200": (["image", "memory", "outputs", "ms", "set in", "outputs out", "× longer copy", "× sum of page-locked copies"],
                  host_h200),
    "labels-planes-h200": (["16384²", "components, 4", "8", "distance", "with nearest", "statistics", "contacts"],
                           lambda folder: labels_h200(folder, 16384, (0, 2))),
    "labels-volumes-h200": (["512³", "components, 6", "26", "distance", "with nearest", "statistics", "contacts"],
                            lambda folder: labels_h200(folder, 512, (0, 3))),
    "worst-h200": (["kind", "distance, 16384²", "with nearest", "labels, 8 neighbours", "distance, 512³", "with nearest"],
                   worst_h200),
    "bounds-h200": (["call", "kernel", "of the call", "issue", "DRAM", "L2", "L1", "bound"], bounds_h200),
    "small-h200": (["size"] + [SHAPES[mask].split(" (")[0] for mask in FEW], small_h200),
    "components-h200": (["image", "labels", "labels and statistics", "statistics and count", "less the copy", "count"],
                        components_h200),
    "components-volumes-h200": (["image", "512³", "1024³"], components_volumes_h200),
    "components-graph-h200": (["image", "4", "8"], components_graph_h200),
    "components-small-h200": (["image", "64²", "128²", "256²", "512²", "1024²"], components_small_h200),
    "batches-h200": (["image", "64 of 256²", "1024 of 256²", "64 of 288²", "1024 of 288²"], batches_h200),
    "paths-h200": (["shape", "ms", "with the nearest seed"], paths_h200),
    "eccentricity-h200": (["shape", "ms", "fields"], eccentricity_h200),
    "eccentricity-cpu": (["shape", "components", "fields", "ms"], eccentricity_cpu),
    "threads-cpu": (["call", *(f"{n} ms" for n in (1, 2, 4, 8, 16)), "16 threads"], threads_cpu),
    "peers": (["image", "size", "apsis", "OpenCV", "edt", "SciPy"], peers),
    "peers-components": (["image", "neighbours", "apsis", "OpenCV", "SciPy", "cc3d"], peers_components),
    "peers-statistics": (["image", "apsis", "OpenCV"], peers_statistics),
    "readme-distance-cpu": (["image, 4096²", "apsis", "OpenCV", "edt", "SciPy"], readme_distance_cpu),
    "readme-components-cpu": (["image, 4096²", "apsis", "OpenCV", "SciPy", "cc3d", "apsis, statistics", "OpenCV, statistics"],
                              readme_components_cpu),
    "readme-distance-h200": (["image", "16384²", "512³"], readme_distance_h200),
    "readme-more-h200": (["", "noise", "blobs (paths: outside of them)", "disc", "maze"], readme_more_h200),
}
PAPERS = ["papers-distance", "papers-instances", "papers-sweep", "papers-batches"]


def lines_of(name, folder):
    if name in PAPERS:
        files = (os.path.join(folder, file) for file in ("papers.csv", "papers-h200.csv"))
        return list(papers.tables(*files))[PAPERS.index(name)]
    if name not in TABLES:
        sys.exit(f"tables: there is no table '{name}'")
    head, rows = TABLES[name]
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *rows(folder)]]
    return [lines[0].replace("|  |", "| |"), "|---" * len(head) + "|"] + lines[1:]


def filled(page, folder):
    fill = lambda found: "\n".join([found[1], *lines_of(found[2], folder), found[3]])
    return re.sub(r"(<!-- table ([\w-]+) -->)\n.*?(<!-- end of table -->)", fill, page, flags=re.DOTALL)


def main(*arguments):
    check, (folder, *pages) = "--check" in arguments, [each for each in arguments if each != "--check"]
    differs, missing = False, {*TABLES, *PAPERS}
    for path in pages:
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = filled(before, folder)
        missing -= set(re.findall(r"<!-- table ([\w-]+) -->\n", before))
        if before == after:
            continue
        differs = True
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)
            continue
        for old, new in zip(before.splitlines(), after.splitlines()):
            if old != new:
                print(f"{path}: the page has\n    {old}\nand the figures say\n    {new}")
                break
        print(f"{path} differs from the figures; ./run bench tables fills its tables")
    if missing:
        sys.exit(f"tables: no page has {', '.join(sorted(missing))}")
    return check and differs


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
