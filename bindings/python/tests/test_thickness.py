"""apsis.morphology's local thickness and medial axis: against PoreSpy's definition, by brute force, and answers by hand."""

import numpy as np
import pytest

import apsis
from apsis.morphology import local_thickness, medial_axis

ndimage = pytest.importorskip("scipy.ndimage")


def by_porespy(image, spacing=None):
    """PoreSpy's local_thickness(image, method="legacy", sizes=numpy.unique(dt)), with SciPy's distances."""
    dt = ndimage.distance_transform_edt(image, sampling=spacing)
    found = np.zeros(image.shape)
    for radius in np.unique(dt[image])[::-1]:
        covered = ndimage.distance_transform_edt(dt < radius, sampling=spacing) < radius
        found[(found == 0) & covered] = radius
    return found


@pytest.mark.parametrize("shape", [(30, 41), (13, 12, 15)])
def test_as_porespy(shape):
    rng = np.random.default_rng(271)
    for spacing in (None, (2, 1, 3)[:len(shape)]):
        for _ in range(5):
            image = ndimage.gaussian_filter(rng.random(shape), 1.5) > 0.49
            np.testing.assert_array_equal(local_thickness(image, dtype=float, spacing=spacing), by_porespy(image, spacing))


def test_porespy_itself():
    theirs = pytest.importorskip("porespy").filters.local_thickness
    image = ndimage.gaussian_filter(np.random.default_rng(272).random((60, 70)), 2) > 0.49
    ours = local_thickness(image, dtype=float)
    # Its distances are float32: radii between two of them.
    all_radii = np.unique(ndimage.distance_transform_edt(image)[image]) - 1e-3
    np.testing.assert_allclose(theirs(image, method="legacy", sizes=all_radii), ours, atol=1.1e-3)
    whole = theirs(image)  # whole numbers alone
    assert (whole <= ours).all() and (ours < whole.max() + 1).all()


@pytest.mark.parametrize("shape", [(25, 33), (11, 12, 13)])
def test_the_balls_of_the_axis_are_the_set(shape):
    image = ndimage.gaussian_filter(np.random.default_rng(273).random(shape), 1) > 0.49
    squares = medial_axis(image, dtype=np.int32)
    again = np.zeros(shape, bool)
    places = np.indices(shape)
    for centre in np.argwhere(squares):
        apart = ((places - centre.reshape(-1, *[1] * len(shape))) ** 2).sum(axis=0)
        again |= apart < squares[tuple(centre)]
    np.testing.assert_array_equal(again, image)
    lengths = ndimage.distance_transform_edt(image)
    np.testing.assert_array_equal(medial_axis(image)[squares > 0], lengths[squares > 0].astype("f4"))


def test_arrays_and_options():
    image = np.zeros((9, 12), np.int32)
    image[2:5, 3:9] = 7
    assert (local_thickness(image, dtype="int64")[image > 0] == 4).all()
    out = np.zeros((12, 9), np.float32).T
    assert local_thickness(image, out=out) is out and out.max() == 2
    np.testing.assert_array_equal(local_thickness(image == 0, complement=True), out)
    assert np.isinf(local_thickness(np.ones((3, 4)))).all()
    assert (local_thickness(np.ones((3, 4)), border=True) == 2).all()
    stack = np.stack([image, image.T[:9].repeat(2, axis=1)[:, :12]])
    np.testing.assert_array_equal(medial_axis(stack, slices=True), np.stack([medial_axis(each) for each in stack]))


def test_errors():
    image = np.eye(4)
    with pytest.raises(apsis.UnsupportedError, match="border is set with complement"):
        local_thickness(image, border=True, complement=True)
    with pytest.raises(apsis.ArgumentError, match="1 axis"):
        medial_axis(image[0], border=True)
    with pytest.raises(apsis.ArgumentError, match="spacing is not 1"):
        medial_axis(image, dtype="int32", spacing=2)
    with pytest.raises(apsis.ArgumentError, match="dtype"):
        local_thickness(image, dtype=np.uint8)
