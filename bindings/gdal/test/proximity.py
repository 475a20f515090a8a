"""What the tests share: rasters in memory, the proximity of apsis, that of GDAL itself beside it, and brute force."""
import ctypes

import numpy
from osgeo import gdal, gdal_array

gdal.PushErrorHandler("CPLQuietErrorHandler")
gdal.SetCacheMax(1 << 30)  # one strip, unless a test wants more

loaded = ctypes.CDLL(None)  # what programs find: apsis's
library = next(line.split()[-1] for line in open("/proc/self/maps") if "/libgdal.so" in line)
own = ctypes.CDLL(library)  # GDAL's own
for functions in (loaded, own):
    functions.GDALComputeProximity.argtypes = [ctypes.c_void_p] * 2 + [ctypes.POINTER(ctypes.c_char_p)] + [ctypes.c_void_p] * 2


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


assert address(loaded.GDALComputeProximity) != address(own.GDALComputeProximity), "LD_PRELOAD is not libapsis_gdal.so"


def raster(pixels, type=None, nodata=None, transform=None):
    """A dataset in memory with these pixels."""
    height, width = pixels.shape
    type = type or gdal_array.NumericTypeCodeToGDALTypeCode(pixels.dtype)
    dataset = gdal.GetDriverByName("MEM").Create("", width, height, 1, type)
    dataset.GetRasterBand(1).WriteArray(pixels)
    if nodata is not None:
        dataset.GetRasterBand(1).SetNoDataValue(nodata)
    if transform:
        dataset.SetGeoTransform(transform)
    return dataset


def blank(source, type=gdal.GDT_Float32, nodata=None):
    """A raster of the source's size, full of what nobody writes."""
    return raster(numpy.full((source.RasterYSize, source.RasterXSize), 77), type, nodata)


def by_apsis(source, options=(), type=gdal.GDT_Float32, nodata=None):
    target = blank(source, type, nodata)
    assert gdal.ComputeProximity(source.GetRasterBand(1), target.GetRasterBand(1), list(options)) == 0, gdal.GetLastErrorMsg()
    return target.ReadAsArray()


def call_own(source, target, options=()):
    words = (ctypes.c_char_p * (len(options) + 1))(*[word.encode() for word in options], None)
    bands = [int(dataset.GetRasterBand(1).this) for dataset in (source, target)]
    return own.GDALComputeProximity(*bands, words, None, None)


def by_gdal(source, options=(), type=gdal.GDT_Float32, nodata=None):
    target = blank(source, type, nodata)
    assert call_own(source, target, options) == 0, gdal.GetLastErrorMsg()
    return target.ReadAsArray()


def squares(mask, size=(1.0, 1.0)):
    """The square of the distance of every pixel to the nearest one in the mask, by looking at all: first those of its column,
    then the columns.  Pixels are of a size along x and y; with whole numbers that is exact."""
    height, width = mask.shape
    y = numpy.arange(height)[:, None] * size[1]
    in_column = numpy.full((height, width), numpy.inf)
    for row in numpy.flatnonzero(mask.any(axis=1)):
        offset = numpy.broadcast_to((y - y[row]) ** 2, mask.shape)
        in_column = numpy.minimum(in_column, numpy.where(mask[row], offset, numpy.inf))
    x = numpy.arange(width) * size[0]
    best = numpy.full((height, width), numpy.inf)
    for column in range(width):
        best = numpy.minimum(best, in_column[:, column, None] + (x - x[column]) ** 2)
    return best


def distances(mask):
    return numpy.sqrt(squares(mask)).astype(numpy.float32)


def noise(random, shape, density):
    return (random.random(shape) < density).astype(numpy.uint8)
