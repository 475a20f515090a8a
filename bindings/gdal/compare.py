#!/usr/bin/python3
"""Before and after: times gdal_proximity.py, as it is installed, without libapsis_gdal.so and with it, and counts what differs.

    compare.py LIBRARY [SIZE [DENSITY ...]]       noise on SIZE x SIZE pixels, targets one in so many percent
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy
from osgeo import gdal

RUNS = 3  # of which the median counts


def noise(path, size, density):
    random = numpy.random.default_rng(2026)
    dataset = gdal.GetDriverByName("GTiff").Create(path, size, size, 1, gdal.GDT_Byte)
    for row in range(0, size, 256):
        pixels = random.random((min(256, size - row), size), numpy.float32) < density
        dataset.GetRasterBand(1).WriteArray(pixels.astype(numpy.uint8), 0, row)


def seconds(command, environment):
    times = []
    for _ in range(RUNS):
        if os.path.exists(command[-1]):
            os.remove(command[-1])
        start = time.monotonic()
        subprocess.run(command, env=environment, check=True)
        times.append(time.monotonic() - start)
    return sorted(times)[RUNS // 2]


def time_the_call(path):
    """The call alone, between rasters in memory: what the command below prints."""
    source = gdal.GetDriverByName("MEM").CreateCopy("", gdal.Open(path))
    target = gdal.GetDriverByName("MEM").Create("", source.RasterXSize, source.RasterYSize, 1, gdal.GDT_Float32)
    times = []
    for _ in range(RUNS):
        start = time.monotonic()
        gdal.ComputeProximity(source.GetRasterBand(1), target.GetRasterBand(1))
        times.append(time.monotonic() - start)
    print(sorted(times)[RUNS // 2])


def call_seconds(path, environment):
    command = [sys.executable, os.path.abspath(__file__), "--call", path]
    return float(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)


def compare(library, size, percent, folder):
    source, before, after = (os.path.join(folder, name) for name in ("source.tif", "before.tif", "after.tif"))
    noise(source, size, percent / 100)
    command = [shutil.which("gdal_proximity.py") or shutil.which("gdal_proximity"), "-q", source]
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    loaded = dict(plain, LD_PRELOAD=os.path.abspath(library))
    times = seconds(command + [before], plain), seconds(command + [after], loaded)
    calls = call_seconds(source, plain), call_seconds(source, loaded)
    bands = [gdal.Open(path) for path in (before, after)]
    wrong, largest = 0, 0
    for row in range(0, size, 256):
        own, exact = (band.ReadAsArray(0, row, size, min(256, size - row)) for band in bands)
        assert (own >= exact).all()  # a target that is not the nearest is farther
        wrong, largest = wrong + numpy.count_nonzero(own != exact), max(largest, (own - exact).max())
    print(f"{size} x {size}, {percent:g} %: {wrong} pixels were wrong, by up to {largest:.3f} pixels")
    for what, (one, other) in (("the command", times), ("the call alone", calls)):
        print(f"    {what}: {one:.2f} s, then {other:.2f} s, {one / other:.1f} times as fast", flush=True)


def main(library, size="8192", *percents):
    with tempfile.TemporaryDirectory() as folder:
        for percent in percents or ("1",):
            compare(library, int(size), float(percent), folder)


if __name__ == "__main__":
    time_the_call(sys.argv[2]) if sys.argv[1] == "--call" else main(*sys.argv[1:])
