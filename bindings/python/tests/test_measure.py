"""apsis.measure: against scikit-image's regionprops_table, where it is there, and answers by hand."""

import doctest

import numpy as np
import pytest

import apsis
from apsis import measure

SHAPES = [(40, 57), (9, 12, 15)]
TYPES = [np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.int64]
EVERYTHING = ("moments", "perimeter", "surface", "euler", "filled", "hull", "feret", "intensity")


def cells(shape, dtype=np.int32, seed=3):
    """Clumps of pixels with holes, some of them in several pieces, and some of a pixel or a line."""
    rng = np.random.default_rng(seed)
    ndimage = pytest.importorskip("scipy.ndimage")
    blobs = ndimage.gaussian_filter(rng.random(shape), 1.3)
    labels = ndimage.label(blobs > np.quantile(blobs, 0.6))[0] % 60
    labels[blobs > np.quantile(blobs, 0.97)] = 0
    labels[rng.random(shape) < 0.01] = 61
    labels[(3,) * (len(shape) - 1)] = 0
    labels[(3,) * (len(shape) - 1)][2:7] = 63
    return labels.astype(dtype)


def in_2d_alone(name):
    return name in measure._IN_2D


def compare(labels, image, names, spacing):
    skimage = pytest.importorskip("skimage.measure")
    given = {} if spacing is None else {"spacing": spacing}
    in_double = None if image is None else image.astype(float)  # of which the mean is not one of float32
    want = skimage.regionprops_table(labels.astype(np.int64), in_double, properties=names, **given)
    got = measure.regionprops_table(labels, image, properties=names, **given)
    assert list(got) == list(want)
    for name in got:
        # There the smaller root of a difference that is 0 is one of its rounding errors.
        error = 1e-7 if name == "axis_minor_length" else 1e-9
        np.testing.assert_allclose(got[name], want[name], rtol=1e-9, atol=error, err_msg=name)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_as_scikit_image(shape, dtype):
    labels, rng = cells(shape, dtype), np.random.default_rng(5)
    names = [name for name in measure.PROPERTIES if len(shape) == 2 or not in_2d_alone(name)]
    if dtype != np.int32:
        return compare(labels, rng.integers(0, 256, shape).astype(np.uint8), names, None)
    for kind in (np.uint8, np.uint16, np.float32):
        compare(labels, (rng.random(shape) * 200).astype(kind), names, None)
    isotropic = 0.7
    compare(labels, None, [name for name in names if "intensity" not in name], (isotropic,) * len(shape))
    compare(labels, None, [name for name in names if not name.startswith(("intensity", "perimeter"))],
            (2.0, 0.5, 1.25)[:len(shape)])


@pytest.mark.parametrize("seed", range(6))
def test_small_cells(seed):
    rng = np.random.default_rng(seed)
    names = [name for name in measure.PROPERTIES if "intensity" not in name]
    for _ in range(40):
        labels = rng.integers(0, 3, rng.integers(1, 8, 2))
        compare(labels, None, [name for name in names if name != "orientation"], None)


def test_crofton_with_2_directions():
    skimage = pytest.importorskip("skimage.measure")
    labels = cells(SHAPES[0])
    for each in measure.measures(labels, wanted="perimeter"):
        region = labels == each["component"]["value"]
        np.testing.assert_allclose(each["crofton"][0], skimage.perimeter_crofton(region, 2), rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_euler_by_connectivity(shape):
    skimage = pytest.importorskip("skimage.measure")
    labels = cells(shape)
    for connectivity in {1, len(shape)}:
        for each in measure.measures(labels, wanted="euler", connectivity=connectivity):
            region = labels == each["component"]["value"]
            assert each["euler"] == skimage.euler_number(np.pad(region, 1), connectivity)


def test_a_square():
    labels = np.zeros((6, 8), int)
    labels[1:4, 2:7] = 5
    labels[2, 3] = 0
    found = measure.measures(labels, labels.astype(np.float32), wanted=EVERYTHING)
    assert len(found) == 1
    one = found[0]
    assert one["component"]["value"] == 5 and one["component"]["area"] == 14 and one["border"] == 0
    assert one["euler"] == 0 and one["filled"] == 15 and one["convex"] == 15 and one["convex_area"] == 15
    assert one["faces"].tolist() == [8, 12, 0] and one["surface"] == 20
    assert one["feret"][0] == 3 and one["feret"][1] == np.hypot(3, 5)
    assert one["intensity_sum"] == 70 and one["intensity_min"] == one["intensity_max"] == one["intensity_mean"] == 5


def test_sums_of_floats_are_exact():
    values = np.array([[1e30, 1, -1e30, 2.0 ** -149]], np.float32)
    found = measure.measures(np.ones((1, 4), int), values, wanted="intensity")
    assert found["intensity_sum"] == 1 and found["intensity_min"] == -values[0, 0] and found["intensity_max"] == values[0, 0]
    values[0, 1] = np.nan
    assert np.isnan(measure.measures(np.ones((1, 4), int), values, wanted="intensity")[0]["intensity_max"])


def test_views():
    labels = cells(SHAPES[0])
    whole = measure.regionprops_table(labels, properties=("label", "area", "perimeter"))
    for view in (labels[::-1], labels[:, ::-1], np.asfortranarray(labels)):
        got = measure.regionprops_table(view, properties=("label", "area", "perimeter"))
        for name in whole:
            np.testing.assert_array_equal(got[name], whole[name])


def test_nothing():
    table = measure.regionprops_table(np.zeros((4, 5), int), properties=("label", "centroid", "inertia_tensor"))
    assert list(table) == ["label", "centroid-0", "centroid-1", *(f"inertia_tensor-{k}-{n}" for k in (0, 1) for n in (0, 1))]
    assert all(len(column) == 0 for column in table.values())


def test_examples_of_the_documentation():
    failed, tried = doctest.testmod(measure)
    assert tried >= 3 and failed == 0


def test_errors():
    labels, volume = np.eye(4, dtype=int), np.zeros((3, 3, 3), int)
    with pytest.raises(apsis.UnsupportedError, match="properties has 'coords', but it may have label, num_pixels"):
        measure.regionprops_table(labels, properties=("coords",))
    with pytest.raises(apsis.UnsupportedError, match="'perimeter', which is for arrays of 2 axes, but label_image has 3"):
        measure.regionprops_table(volume, properties=("perimeter",))
    with pytest.raises(apsis.UnsupportedError, match="'intensity_max', which needs intensity_image"):
        measure.regionprops_table(labels, properties=("intensity_max",))
    with pytest.raises(apsis.UnsupportedError, match="spacing is .* must be equal"):
        measure.regionprops_table(labels, properties=("perimeter",), spacing=(1, 2))
    with pytest.raises(apsis.ArgumentError, match="wanted has 'colour', but it may have moments, perimeter"):
        measure.measures(labels, wanted="colour")
    with pytest.raises(apsis.ArgumentError, match="labels has 1 axis"):
        measure.measures(labels[0])
    with pytest.raises(TypeError, match="intensity is a ndarray of dtype float64, but must be one of uint8, bool"):
        measure.measures(labels, np.ones((4, 4)), wanted="intensity")
    with pytest.raises(apsis.ArgumentError, match="intensity has shape"):
        measure.measures(labels, np.ones((4, 3), np.uint8), wanted="intensity")
