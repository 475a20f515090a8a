"""gdal_proximity.py as Debian has it, with the library loaded before it and without."""
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy
from osgeo import gdal

from proximity import distances, noise

COMMAND = shutil.which("gdal_proximity.py") or shutil.which("gdal_proximity")


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.mask = noise(numpy.random.default_rng(8), (256, 256), 0.01)
        dataset = gdal.GetDriverByName("GTiff").Create(self.path("source.tif"), 256, 256, 1, gdal.GDT_Byte)
        dataset.GetRasterBand(1).WriteArray(self.mask)
        dataset.SetGeoTransform((100, 2, 0, 200, 0, -2))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_command(self, name, words, preloaded):
        environment = dict(os.environ)
        if not preloaded:
            del environment["LD_PRELOAD"]
        done = subprocess.run([COMMAND, self.path("source.tif"), self.path(name), *words], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, gdal.Open(self.path(name))

    def both(self, *words):
        said, got = self.run_command("apsis.tif", words, True)
        own_said, want = self.run_command("gdal.tif", words, False)
        self.assertEqual(said, own_said)
        self.assertEqual(got.GetGeoTransform(), want.GetGeoTransform())
        self.assertEqual(got.GetRasterBand(1).DataType, want.GetRasterBand(1).DataType)
        return got.ReadAsArray(), want.ReadAsArray()

    def test_plain(self):
        got, own = self.both()
        numpy.testing.assert_array_equal(got, distances(self.mask))
        self.assertLess(numpy.count_nonzero(own != got), 50)

    def test_words(self):
        for words in (["-q", "-maxdist", "5", "-nodata", "-1"], ["-distunits", "GEO", "-values", "1"], ["-ot", "Byte"],
                      ["-maxdist", "7", "-fixed-buf-val", "1", "-nodata", "0", "-ot", "Byte", "-co", "COMPRESS=LZW"]):
            got, own = self.both(*words)
            self.assertLess(numpy.count_nonzero(own != got), 50)
            for name in ("apsis.tif", "gdal.tif"):
                os.remove(self.path(name))


if __name__ == "__main__":
    unittest.main()
