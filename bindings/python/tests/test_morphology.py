"""apsis.morphology: against SciPy's distances, scikit-image's functions, and answers by hand."""

import numpy as np
import pytest

import apsis
import apsis.morphology as morphology
from apsis.morphology import closing, dilation, erosion, opening

ndimage = pytest.importorskip("scipy.ndimage")
NAMES = ["isotropic_dilation", "isotropic_erosion", "isotropic_opening", "isotropic_closing"]


def by_scipy(name, image, radius, spacing):
    """As scikit-image has it, which takes an image with background for granted."""
    def dilated(one):
        return ndimage.distance_transform_edt(~one, sampling=spacing) <= radius if one.any() else one

    def eroded(one):
        return ~dilated(~one)
    steps = {"isotropic_dilation": [dilated], "isotropic_erosion": [eroded], "isotropic_opening": [eroded, dilated],
             "isotropic_closing": [dilated, eroded]}[name]
    for step in steps:
        image = step(image)
    return image


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(30,), (17, 40), (9, 12, 15)])
def test_as_scipy(name, shape):
    rng = np.random.default_rng(27)
    for radius in (0, 0.7, 1, 2 ** 0.5, 3.5, 100):
        for spacing in (None, (2,) * len(shape), (3, 1, 2)[:len(shape)]):
            image = rng.random(shape) < rng.choice([0.02, 0.5, 0.97])
            result = getattr(morphology, name)(image, radius, spacing=spacing)
            assert result.dtype == bool
            np.testing.assert_array_equal(result, by_scipy(name, image, radius, spacing))


@pytest.mark.parametrize("name", NAMES)
def test_as_scikit_image(name):
    theirs = getattr(pytest.importorskip("skimage.morphology"), name)
    image = ndimage.gaussian_filter(np.random.default_rng(28).random((60, 70)), 4) > 0.5
    for radius in (1, 1.5, 2, 2.3):
        assert erosion(image, radius).any() and not dilation(image, radius).all()  # else SciPy's distances are to nothing
        out = np.empty(image.shape, bool)
        assert getattr(morphology, name)(image, radius, out=out, spacing=(1, 1)) is out
        np.testing.assert_array_equal(out, theirs(image, radius, spacing=(1, 1)))
    same = image.copy()
    getattr(morphology, name)(same, 1, out=same)
    np.testing.assert_array_equal(same, theirs(image, 1))


def test_options():
    full = np.ones((5, 7), np.uint8)
    assert erosion(full, 2).all()
    inner = erosion(full, 2, border=True, dtype="uint8")
    assert inner.dtype == np.uint8 and inner.sum() == 3 and inner[2, 2:5].all()
    assert opening(full, 2, metric="chessboard", border=True).all()
    one = np.zeros((5, 7), int)
    one[2, 3] = -9
    assert dilation(one, 2, metric="taxicab").sum() == 13
    assert dilation(one, 2, metric="chessboard").sum() == 25
    assert dilation(one, 2).sum() == 13 and dilation(one, np.inf).all()
    np.testing.assert_array_equal(erosion(one, 1, complement=True), ~dilation(one, 1))
    both = np.stack([one, full])
    assert dilation(both, 1, slices=True)[0].sum() == 5 and dilation(both, 1)[0].all()
    out = np.zeros((7, 5), np.uint8).T
    assert closing(one, 1, out=out) is out and out.sum() == 1


def test_labels():
    rng = np.random.default_rng(29)
    labels = np.kron(rng.integers(0, 4, (6, 8)), np.ones((7, 7), int)).astype(np.uint16)
    labels[labels == 3] = 60000
    values = [value for value in np.unique(labels) if value]
    for function in (erosion, opening):
        result = function(labels, 2, labels=True)
        assert result.dtype == np.int32
        np.testing.assert_array_equal(result, sum(value * function(labels == value, 2).astype(int) for value in values))
    grown = apsis.voronoi(labels, labels=True, max_distance=3)
    np.testing.assert_array_equal(dilation(labels, 3, labels=True, dtype="int64"), grown)
    whole = closing(labels, 3, labels=True)
    np.testing.assert_array_equal(whole, np.where(closing(labels > 0, 3), grown, 0))
    out = np.empty((56, 42), np.int64).T
    assert opening(labels, 1, labels=True, out=out) is out
    np.testing.assert_array_equal(dilation(np.array([-5, 0, 0, 7], np.int8), 1, labels=True), [-5, -5, 7, 7])
    high = np.array([2**32 - 1] * 3 + [0], np.uint32)
    np.testing.assert_array_equal(erosion(high, 1, labels=True), [2**32 - 1] * 2 + [0] * 2)
    with pytest.raises(NotImplementedError, match="chessboard|CHESSBOARD"):
        erosion(labels, 1, labels=True, metric="chessboard")
    with pytest.raises((TypeError, ValueError), match="bool"):
        erosion(labels, 1, labels=True, dtype=bool)
    with pytest.raises(ValueError, match="complement|COMPLEMENT"):
        erosion(labels, 1, labels=True, complement=True)


def test_what_is_wrong():
    image = np.eye(4)
    for radius, kind in ((-1, ValueError), (np.nan, ValueError), ("1", TypeError), (None, TypeError)):
        with pytest.raises(kind, match="radius"):
            dilation(image > 0, radius)
    with pytest.raises(NotImplementedError, match="margin"):
        closing(image > 0, 1, border=True)
    with pytest.raises(ValueError, match="border"):
        erosion([1, 1, 1], 1, border=True)
    with pytest.raises(ValueError, match="shape"):
        morphology.isotropic_opening(image > 0, 1, out=np.empty((3, 4), bool))
    with pytest.raises(ValueError, match="operation"):
        apsis.Context("cpu").morphology("thin", image > 0, 1)
