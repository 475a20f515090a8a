"""Rasters that do not fit in GDAL's cache are computed strip by strip, and nothing tells."""
import os
import resource
import tempfile
import unittest

import numpy
from osgeo import gdal

from proximity import by_apsis, distances, noise, raster


def tiff(path, pixels, *options):
    height, width = pixels.shape
    dataset = gdal.GetDriverByName("GTiff").Create(path, width, height, 1, gdal.GDT_Byte, options)
    dataset.GetRasterBand(1).WriteArray(pixels)
    return dataset


class Strips(unittest.TestCase):
    def setUp(self):
        self.cache = gdal.GetCacheMax()
        self.random = numpy.random.default_rng(3)

    def tearDown(self):
        gdal.SetCacheMax(self.cache)

    def in_strips(self, rows, width):
        """Strips of so many rows, but of 32 at least."""
        gdal.SetCacheMax(int(6.5 * width * rows) + 1)

    def masks(self):
        for height, width, density in [(257, 40, 0.01), (1000, 3, 0.01), (33, 500, 0.001), (64, 64, 0.5), (700, 60, 0.0003)]:
            mask = noise(self.random, (height, width), density)
            mask[height // 5, width // 2] = 1
            yield mask
        far = numpy.zeros((900, 70), numpy.uint8)
        for row in (0, 899):  # all strips but one know of it through others
            far[:] = 0
            far[row, 7] = 1
            yield far.copy()
        yield numpy.zeros((300, 50), numpy.uint8)

    def test_any_strips(self):
        for mask in self.masks():
            want = numpy.where(numpy.isinf(d := distances(mask)), 65535, d)
            for rows in (1, 33, 47, 100, 10**6):
                self.in_strips(rows, mask.shape[1])
                numpy.testing.assert_array_equal(by_apsis(raster(mask)), want, err_msg=f"{mask.shape}, strips of {rows} rows")

    def test_options_in_strips(self):
        pixels = numpy.where(self.random.random((400, 90)) < 0.01, self.random.integers(1, 5, (400, 90)), 0).astype(numpy.uint8)
        source = raster(pixels, nodata=3, transform=(0, 30, 0, 0, 0, -10))
        for options in ([], ["VALUES=2"], ["MAXDIST=9"], ["DISTUNITS=GEO", "MAXDIST=200"], ["FIXED_BUF_VAL=1", "MAXDIST=9"],
                        ["USE_INPUT_NODATA=YES", "VALUES=1", "NODATA=-1"]):
            self.in_strips(10**6, 90)
            whole = by_apsis(source, options)
            for rows in (1, 50, 399):
                self.in_strips(rows, 90)
                numpy.testing.assert_array_equal(by_apsis(source, options), whole, err_msg=str(options))

    def test_tiles_and_blocks(self):
        with tempfile.TemporaryDirectory() as folder:
            for i, options in enumerate((["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"], ["BLOCKYSIZE=50"], ["COMPRESS=LZW"])):
                mask = noise(self.random, (500, 130), 0.002)
                source = tiff(os.path.join(folder, f"{i}.tif"), mask, *options)
                for rows in (1, 70, 150):
                    self.in_strips(rows, 130)
                    numpy.testing.assert_array_equal(by_apsis(source), distances(mask))

    def test_threads(self):
        mask = noise(self.random, (300, 200), 0.002)
        for threads in ("1", "2", "7", "ALL_CPUS", "words"):
            gdal.SetConfigOption("GDAL_NUM_THREADS", threads)
            numpy.testing.assert_array_equal(by_apsis(raster(mask)), distances(mask))
        gdal.SetConfigOption("GDAL_NUM_THREADS", None)

    def test_memory(self):
        """A raster of 64 million pixels, for which a single strip would take 400 megabytes, in 32."""
        width, height = 4000, 16000
        with tempfile.TemporaryDirectory() as folder:
            create = gdal.GetDriverByName("GTiff").Create
            source = create(os.path.join(folder, "source.tif"), width, height, 1, gdal.GDT_Byte, ["SPARSE_OK=TRUE"])
            source.GetRasterBand(1).WriteArray(numpy.ones((1, 1), numpy.uint8), 123, 15000)
            target = create(os.path.join(folder, "target.tif"), width, height, 1, gdal.GDT_UInt16, ["COMPRESS=LZW"])
            gdal.SetCacheMax(32 << 20)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            self.assertEqual(gdal.ComputeProximity(source.GetRasterBand(1), target.GetRasterBand(1)), 0)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            self.assertLess(grown, 120 << 10)
            y = numpy.arange(height)[:, None] - 15000.0
            for x in (0, 123, 3999):
                want = numpy.floor(numpy.sqrt(y * y + (x - 123.0) ** 2).astype(numpy.float32) + 0.5)
                numpy.testing.assert_array_equal(target.ReadAsArray(x, 0, 1, height), want)


if __name__ == "__main__":
    unittest.main()
