"""Every option gives what GDAL gives, byte for byte, where GDAL finds the nearest target; and elsewhere what it should."""
import itertools
import unittest

import numpy
from osgeo import gdal

from proximity import by_apsis, by_gdal, distances, raster, squares


def classes(random, shape=(90, 110)):
    """Mostly 0, and a few pixels of 1 to 5."""
    return numpy.where(random.random(shape) < 0.02, random.integers(1, 6, shape), 0).astype(numpy.uint8)


class Options(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(7)

    def check(self, pixels, options, targets=lambda values: values != 0, type=gdal.GDT_Float32, nodata=None, **given):
        """As GDAL, but where that is wrong without limits."""
        source = raster(pixels, **given)
        words = [word for word in options if word.startswith("VALUES")]
        right = by_gdal(source, words) == distances(targets(pixels))
        self.assertGreater(numpy.count_nonzero(right), 0.98 * right.size)
        got, want = by_apsis(source, options, type, nodata), by_gdal(source, options, type, nodata)
        numpy.testing.assert_array_equal(got[right], want[right], err_msg=str(options))
        return got, want

    def test_values(self):
        pixels = classes(self.random)
        for values in ([1], [2, 3], [5, 5, 77], [0]):
            self.check(pixels, ["VALUES=" + ",".join(map(str, values))], lambda p: numpy.isin(p, values))
        self.check(pixels, ["VALUES="])
        self.check(pixels, ["VALUES=1.9, 3"], lambda p: numpy.isin(p, [1, 3]))
        self.assertTrue((by_apsis(raster(pixels), ["VALUES=9"]) == 65535).all())

    def test_types_of_the_source(self):
        random = self.random
        few = random.random((90, 110)) < 0.03
        self.check(numpy.where(few, -3, 0).astype(numpy.int16), ["VALUES=-3"])
        self.check(numpy.where(few, 4000000000, 0).astype(numpy.uint32), [])


    def test_fractions_are_rounded_as_by_gdal(self):
        pixels = numpy.where(self.random.random((90, 110)) < 0.05, self.random.uniform(-2, 2, (90, 110)), 0)
        source = raster(pixels.astype(numpy.float32))
        numpy.testing.assert_array_equal(by_apsis(source) == 0, by_gdal(source) == 0)
        numpy.testing.assert_array_equal(by_apsis(source, ["VALUES=-1"]) == 0, by_gdal(source, ["VALUES=-1"]) == 0)

    def test_types_of_the_target(self):
        pixels = classes(self.random, (40, 400))
        pixels[:, 100:] = 0
        types = [gdal.GDT_Byte, gdal.GDT_UInt16, gdal.GDT_Int16, gdal.GDT_UInt32, gdal.GDT_Int32, gdal.GDT_Float64]
        for type, options in itertools.product(types, [[], ["MAXDIST=20"], ["MAXDIST=20", "NODATA=-5.6"]]):
            self.check(pixels, options, type=type)

    def test_distances_in_geo(self):
        pixels = classes(self.random)
        for size in (30, 0.25, 0.1, 1 / 3):
            for options in (["DISTUNITS=GEO"], ["DISTUNITS=geo", f"MAXDIST={5 * size}"], ["DISTUNITS=PIXEL", "MAXDIST=5"]):
                self.check(pixels, options, transform=(500, size, 0, 700, 0, -size))

    def test_pixels_that_are_not_square(self):
        """GDAL takes their width for both, and warns."""
        pixels = classes(self.random, (60, 70))
        for width, height, turned in ((30, 10, False), (2, 3, False), (0.3, 0.1, False), (1.1, 1.7, True)):
            want = numpy.sqrt(squares(pixels != 0, (width, height)))
            transform = (0, width, 0, 0, 0, -height)
            if turned:
                transform = (0, 0.6 * width, 0.8 * height, 0, 0.8 * width, -0.6 * height)
            gdal.ErrorReset()
            got = by_apsis(raster(pixels, transform=transform), ["DISTUNITS=GEO"])
            self.assertEqual(gdal.GetLastErrorMsg(), "")
            numpy.testing.assert_allclose(got, want, rtol=1e-7)
            limited = by_apsis(raster(pixels, transform=transform), ["DISTUNITS=GEO", "MAXDIST=40.01"])
            numpy.testing.assert_array_equal(limited, numpy.where(want <= 40.01, got, 65535))
        by_apsis(raster(pixels, transform=(0, 1, 0.5, 0, 0, -1)), ["DISTUNITS=GEO"])
        self.assertIn("inaccurate", gdal.GetLastErrorMsg())

    def test_limits(self):
        pixels = classes(self.random)
        for limit in ("0", "0.5", "1", "1.4142135", "1.4142136", "2.5", "5", "-5", "1e9", "inf", "nan", "words"):
            self.check(pixels, ["MAXDIST=" + limit])

    def test_what_is_beyond(self):
        pixels = classes(self.random)
        self.check(pixels, ["MAXDIST=3", "NODATA=-1"])
        self.check(pixels, ["MAXDIST=3", "NODATA=1e300"])
        self.check(pixels, ["MAXDIST=3"], nodata=-9999)
        self.check(pixels, ["MAXDIST=3", "NODATA=12"], nodata=-9999)

    def test_pixels_without_a_value(self):
        pixels = classes(self.random)
        pixels[20:50, 30:80] = 3
        chosen = [], ["VALUES=1"], ["VALUES=3"], ["MAXDIST=4", "VALUES=1"]
        for use, options in itertools.product(("YES", "NO", "1", "off"), chosen):
            values = [int(options[-1][7:])] if options else [1, 2, 3, 4, 5]
            self.check(pixels, [f"USE_INPUT_NODATA={use}"] + options, lambda p: numpy.isin(p, values), nodata=-1)
            self.check(pixels, [f"USE_INPUT_NODATA={use}", "NODATA=-2"] + options, lambda p: numpy.isin(p, values))

    def test_input_nodata(self):
        pixels = classes(self.random)
        pixels[20:50, 30:80] = 3
        source = raster(pixels, nodata=3)
        for options in (["VALUES=1"], ["VALUES=1,3"], ["VALUES=1", "MAXDIST=4"], ["VALUES=1", "FIXED_BUF_VAL=1"], []):
            for use in ("YES", "NO"):
                words = options + ["USE_INPUT_NODATA=" + use, "NODATA=-7"]
                got, want = by_apsis(source, words), by_gdal(source, words)
                targets = numpy.isin(pixels, [int(v) for v in options[0][7:].split(",")]) if options else pixels != 0
                right = by_gdal(raster(pixels), options[:1]) == distances(targets)
                numpy.testing.assert_array_equal(got[right], want[right], err_msg=str(words))
        hidden = by_apsis(source, ["VALUES=1", "USE_INPUT_NODATA=YES", "NODATA=-7"])
        numpy.testing.assert_array_equal(hidden == -7, pixels == 3)

    def test_fixed_values(self):
        pixels = classes(self.random)
        for options in (["FIXED_BUF_VAL=1"], ["FIXED_BUF_VAL=7.5", "MAXDIST=4"], ["FIXED_BUF_VAL=-3", "MAXDIST=4", "NODATA=0"],
                        ["FIXED_BUF_VAL=2", "DISTUNITS=GEO", "MAXDIST=90"]):
            self.check(pixels, options, transform=(0, 30, 0, 0, 0, -30))
        self.check(pixels, ["FIXED_BUF_VAL=300", "MAXDIST=4"], type=gdal.GDT_Byte)

    def test_in_place(self):
        """GDAL cannot; a strip is read before it is written."""
        pixels = classes(self.random).astype(numpy.float32)
        both = raster(pixels)
        self.assertEqual(gdal.ComputeProximity(both.GetRasterBand(1), both.GetRasterBand(1)), 0)
        numpy.testing.assert_array_equal(both.ReadAsArray(), distances(pixels != 0))


if __name__ == "__main__":
    unittest.main()
