"""dask_picture.py FOLDER [SIZE]: a map larger than the memory of any worker, and a picture of it.

In FOLDER it makes set.zarr, SIZE by SIZE elements (20 000 unless told otherwise) in chunks of both axes, maps the distances of
all elements to the set by four worker processes of 1 GB each into distance.zarr, and draws distance.png, 1000 pixels wide.  It
takes dask, distributed and zarr, and prints where the dashboard is if bokeh is there, too.
"""

import pathlib
import struct
import sys
import time
import zlib

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, progress

import apsis.dask


def points(block_info=None):
    """Some elements of a chunk, fewer towards the top: one in 2000 to one in 200 000."""
    place = block_info[None]
    rows = np.arange(*place["array-location"][0])[:, None] / place["shape"][0]
    random = np.random.default_rng(place["chunk-location"])
    return random.random(place["chunk-shape"], np.float32) < 0.0005 * 0.01 ** (1 - rows)


def write_png(path, grey):
    """A picture of bytes."""
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    lines = np.insert(grey, 0, 0, axis=1).tobytes()  # each begins with its filter: none
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">2I5B", *grey.shape[::-1], 8, 0, 0, 0, 0)) +
                     part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b""))


def peak(dask_worker):
    """The most memory that a worker has had."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def main(folder, size=20000):
    folder, size = pathlib.Path(folder), int(size)
    chunks = da.core.normalize_chunks(max(size // 10, 1), (size, size))
    with LocalCluster(n_workers=4, threads_per_worker=1, memory_limit="1GB") as cluster, Client(cluster) as client:
        print("dashboard:", cluster.dashboard_link)
        made = da.map_blocks(points, chunks=chunks, dtype=bool, meta=np.empty((0, 0), bool))
        made.to_zarr(str(folder / "set.zarr"), overwrite=True)

        mask = da.from_zarr(str(folder / "set.zarr"))
        distance = apsis.dask.distance(mask)
        print(f"{len(distance.dask)} tasks for {distance.numblocks[0]} slabs, a map of {distance.nbytes / 1e9:g} GB")
        start = time.perf_counter()
        stored = client.persist(distance.to_zarr(str(folder / "distance.zarr"), overwrite=True, compute=False))
        progress(stored, notebook=False)
        dask.compute(stored)
        seconds = time.perf_counter() - start
        print(f"\n{seconds:.1f} s; the most memory of a worker: {max(client.run(peak).values()):.2f} GB")

        step = max(size // 1000, 1)
        small = da.from_zarr(str(folder / "distance.zarr"))[::step, ::step].compute()
    grey = 255 * np.sqrt(small / small.max())
    write_png(folder / "distance.png", grey.astype(np.uint8))
    print("picture:", folder / "distance.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
