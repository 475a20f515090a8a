"""What fails fails as in GDAL: its error, its return value, and what was not reached is not touched."""
import os
import tempfile
import unittest

import numpy
from osgeo import gdal

from proximity import blank, by_apsis, call_own, distances, noise, raster

FAILURE = 3  # CE_Failure


def run(source, target, options=(), callback=None):
    gdal.ErrorReset()
    return gdal.ComputeProximity(source.GetRasterBand(1), target.GetRasterBand(1), list(options), callback=callback)


class Failures(unittest.TestCase):
    def setUp(self):
        self.mask = noise(numpy.random.default_rng(5), (300, 200), 0.01)
        self.source = raster(self.mask)
        self.addCleanup(gdal.SetCacheMax, gdal.GetCacheMax())

    def in_strips(self):
        gdal.SetCacheMax(1)

    def progress(self):
        told = []

        def callback(done, message, user):
            told.append(done)
            return 1

        self.assertEqual(run(self.source, blank(self.source), (), callback), 0)
        return told

    def test_progress(self):
        for prepare in (lambda: None, self.in_strips):
            prepare()
            told = self.progress()
            self.assertEqual((told[0], told[-1]), (0, 1))
            self.assertEqual(told, sorted(told))
            self.assertGreater(len(told), 3)

    def test_cancelling_at_any_time(self):
        for prepare in (lambda: None, self.in_strips):
            prepare()
            calls = len(self.progress())
            for last in range(0, calls, max(1, calls // 40)):
                left = [last]

                def callback(done, message, user):
                    left[0] -= 1
                    return int(left[0] >= 0)

                self.assertEqual(run(self.source, blank(self.source), (), callback), FAILURE)
                self.assertEqual(gdal.GetLastErrorNo(), gdal.CPLE_UserInterrupt)
                self.assertEqual(gdal.GetLastErrorMsg(), "User terminated")

    def test_cancelling_leaves_the_rest(self):
        target = blank(self.source)
        self.assertEqual(run(self.source, target, (), lambda done, message, user: 0), FAILURE)
        self.assertTrue((target.ReadAsArray() == 77).all())
        self.in_strips()  # the target is written from the top, once its turn has come
        target = blank(self.source)
        self.assertEqual(run(self.source, target, (), lambda done, message, user: int(done < 0.7)), FAILURE)
        pixels = target.ReadAsArray()
        written = (pixels != 77).any(axis=1)
        rows = numpy.count_nonzero(written)
        self.assertTrue(0 < rows < 300 and written[:rows].all())
        numpy.testing.assert_array_equal(pixels[:rows], distances(self.mask)[:rows])

    def check_as_own(self, source, target, options, words):
        self.assertEqual(run(source, target, options), FAILURE)
        number, message = gdal.GetLastErrorNo(), gdal.GetLastErrorMsg()
        gdal.ErrorReset()
        self.assertEqual(call_own(source, target, options), FAILURE)
        self.assertEqual(number, gdal.GetLastErrorNo())
        self.assertIn(words, message)

    def test_bad_options(self):
        self.check_as_own(self.source, blank(self.source), ["DISTUNITS=MILES"], "MILES")
        self.check_as_own(self.source, blank(self.source), ["DISTUNITS="], "DISTUNITS")

    def test_sizes_that_differ(self):
        self.check_as_own(self.source, raster(numpy.zeros((300, 199))), [], "same size")
        self.check_as_own(self.source, raster(numpy.zeros((301, 200))), [], "same size")

    def test_files_that_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file.tif")
            file = gdal.GetDriverByName("GTiff").Create(path, 200, 300, 1, gdal.GDT_Byte)
            file.GetRasterBand(1).WriteArray(self.mask)
            file = None  # closes it
            for prepare in (lambda: None, self.in_strips):
                prepare()
                self.check_as_own(self.source, gdal.Open(path), [], "")  # opened to be read
            os.truncate(path, 40000)  # of 60000 bytes of pixels
            for prepare in (self.in_strips, lambda: gdal.SetCacheMax(1 << 30)):
                prepare()
                self.check_as_own(gdal.Open(path), blank(self.source), [], "")

    def test_the_next_call_is_good(self):
        run(self.source, blank(self.source), (), lambda done, message, user: 0)
        run(self.source, blank(self.source), ["DISTUNITS=MILES"])
        numpy.testing.assert_array_equal(by_apsis(self.source), distances(self.mask))


if __name__ == "__main__":
    unittest.main()
