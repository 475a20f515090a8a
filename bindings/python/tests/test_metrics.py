"""apsis.metrics: against MONAI's formulas with SciPy, and answers by hand."""

import numpy as np
import pytest

import apsis
from apsis.metrics import surface_distance

ndimage = pytest.importorskip("scipy.ndimage")


def by_scipy(first, second, percentile, tolerance, spacing):
    edges = [set ^ ndimage.binary_erosion(set) for set in (first, second)]
    lengths = [ndimage.distance_transform_edt(~edges[1 - k], sampling=spacing)[edges[k]] for k in range(2)]
    both = np.concatenate(lengths)
    return (max(each.max() for each in lengths), max(np.percentile(each, percentile) for each in lengths), both.mean(),
            (both <= tolerance).mean())


@pytest.mark.parametrize("shape", [(17, 40), (9, 12, 15)])
def test_as_scipy(shape):
    rng = np.random.default_rng(31)
    for spacing in (None, (2, 1, 3)[:len(shape)], (0.7, 1.3, 2.9)[:len(shape)]):
        for percentile in (0, 50, 95, 100):
            first, second = (ndimage.gaussian_filter(rng.random(shape), 1.5) > 0.5 for _ in range(2))
            found = surface_distance(first, second, percentile=percentile, tolerance=1.5, spacing=spacing)
            np.testing.assert_allclose(found[-4:], by_scipy(first, second, percentile, 1.5, spacing), rtol=1e-12)
            assert found.hausdorff == max(found.largest) and found.hausdorff_percentile == max(found.percentile)


def test_views_and_types():
    first = np.zeros((9, 12), np.int32)
    first[2:5, 3:9] = 7
    second = first[::-1, ::-1] > 0
    found = surface_distance(first, second)
    assert found == surface_distance(first.T, second.T) and found.pixels == (14, 14)


def test_without_a_surface():
    point, none = np.eye(1, 9).reshape(3, 3), np.zeros((3, 3))
    found = surface_distance(point, none, tolerance=1)
    assert found.pixels == (1, 0) and found.largest[0] == np.inf and np.isnan(found.largest[1])
    assert found.hausdorff == found.average == np.inf and found.dice == 0
    assert np.isnan(surface_distance(none, none)[-4:]).all()


def test_errors():
    image = np.eye(4)
    with pytest.raises(apsis.ArgumentError, match=r"second has shape \(4, 3\), but first has \(4, 4\)"):
        surface_distance(image, image[:, :3])
    with pytest.raises(apsis.ArgumentError, match="1 axis"):
        surface_distance(image[0], image[0])
    with pytest.raises(apsis.ArgumentError, match="percentile is 101"):
        surface_distance(image, image, percentile=101)
    with pytest.raises(apsis.ArgumentError, match="tolerance is -1"):
        surface_distance(image, image, tolerance=-1)
