"""Arrays that close on themselves: against tilings of copies, and neighbours that NumPy rolls over the seams."""

import numpy as np
import pytest

import apsis

SHAPES = [(7,), (6, 9), (4, 5, 6)]


def image(shape, values=2, seed=5):
    return np.random.default_rng(seed).integers(0, values, shape).astype(np.uint8)


def middle(tiled, shape):
    return tiled[tuple(slice(length, 2 * length) for length in shape)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("labels", [False, True])
def test_distance_in_a_tiling(shape, labels):
    source = image(shape, 3) * (image(shape, 4, 6) == 0)
    want = middle(apsis.distance(np.tile(source, (3,) * len(shape)), labels=labels), shape)
    np.testing.assert_array_equal(apsis.distance(source, labels=labels, periodic=True), want)
    np.testing.assert_array_equal(apsis.distance(source, labels=labels, periodic=range(len(shape))), want)


def test_one_axis():
    source = image((5, 8), 5) == 0
    want = apsis.distance(np.tile(source, (1, 3)))[:, 8:16]
    np.testing.assert_array_equal(apsis.distance(source, periodic=[-1]), want)
    np.testing.assert_array_equal(apsis.distance(source, periodic=(1,)), want)


def test_ties_go_to_the_lower_index():
    assert apsis.distance([0, 1, 0, 0, 0, 1], nearest=True, dtype=None, periodic=True).tolist() == [1, 1, 1, 1, 5, 5]
    assert apsis.voronoi([0, 1, 0, 0, 0, 1], periodic=True).tolist() == [1, 1, 1, 1, 5, 5]
    assert apsis.voronoi([0, 1, 0, 0, 0, 1], periodic=True, connected=True).tolist() == [1, 1, 1, 1, 5, 5]
    assert apsis.distance([0, 1, 0, 0, 0, 0], metric="chessboard", dtype="int32", periodic=True).tolist() == [1, 0, 1, 2, 3, 2]


@pytest.mark.parametrize("shape", SHAPES)
def test_components_across_seams(shape):
    source = image(shape, 3)
    labels, count, known = apsis.components(source, labels=True, periodic=True, statistics=True)
    assert len(known) == count == labels.max()
    for axis in range(len(shape)):
        behind = np.roll(source, -1, axis)
        same = (source == behind) & (source > 0)
        np.testing.assert_array_equal(labels[same], np.roll(labels, -1, axis)[same])
    np.testing.assert_array_equal(known["area"], np.bincount(labels.ravel(), minlength=count + 1)[1:])
    assert count <= apsis.components(source, labels=True)[1]


def test_there_is_no_border_along_a_periodic_axis():
    ring = np.array([[0, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]], bool)
    assert apsis.components(ring, border=False)[1] == 0
    assert apsis.components(ring, border=False, periodic=[1])[1] == 1


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_contacts_across_seams(shape):
    source = image(shape, 4)
    faces = {}
    for axis in range(len(shape)):
        for pair in zip(source.ravel().tolist(), np.roll(source, -1, axis).ravel().tolist()):
            if 0 not in pair and pair[0] != pair[1]:
                faces[min(pair), max(pair)] = faces.get((min(pair), max(pair)), 0) + 1
    found = apsis.contacts(source, periodic=True)
    assert {(int(c["a"]), int(c["b"])): int(c["faces"].sum()) for c in found} == faces


def test_two_elements_touch_twice():
    assert apsis.contacts([1, 2])["area"].tolist() == [1]
    assert apsis.contacts([1, 2], periodic=True)["area"].tolist() == [2]


def test_paths_on_a_torus():
    torus = np.ones((6, 9), bool)
    seed = np.zeros_like(torus)
    seed[0, 0] = True
    around = [np.minimum(np.arange(n), n - np.arange(n)) for n in torus.shape]
    lengths = apsis.geodesic(torus, seed, metric="city-block", periodic=True)
    np.testing.assert_array_equal(lengths, around[0][:, None] + around[1])
    np.testing.assert_array_equal(apsis.eccentricity(torus, metric="city-block", periodic=True), 3 + 4)
    assert apsis.eccentricity([1, 1, 0, 1], periodic=[0]).tolist() == [1, 2, -1, 2]
    assert apsis.eccentricity([1, 1, 2, 1], labels=True, periodic=True).tolist() == [1, 2, 0, 2]


def test_slices_do_not_follow_each_other():
    source = image((3, 4, 5))
    labels, _ = apsis.components(source, slices=True, periodic=True)
    again, _ = apsis.components(source, slices=True, periodic=[1, 2])
    np.testing.assert_array_equal(labels, again)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: apsis.distance(image((3, 4)), periodic=[2]), ValueError, "periodic has the axis 2, but the array has 2 axes"),
    (lambda: apsis.distance(image((3, 4)), periodic=1), TypeError, "periodic is 1, but must be"),
    (lambda: apsis.components(image((3, 1)), periodic=True), ValueError, "at least 2"),
    (lambda: apsis.distance(image((3, 4)), method="sweep", periodic=True), NotImplementedError, "periodic axes are for"),
    (lambda: apsis.components(image((4,)), border=False, periodic=True), ValueError, "border and inner are True alone"),
])
def test_wrong_use(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
