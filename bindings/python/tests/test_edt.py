"""apsis.edt beside the package edt, where that is installed, and beside brute force."""

import inspect

import numpy as np
import pytest

import apsis.edt as ours
from test_labels import brute_distance

SHAPES = [(30,), (11, 13), (6, 7, 8)]
TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, bool]


def image(shape, dtype=np.uint16, seed=2):
    small = np.random.default_rng(seed).integers(0, 4, [-(-n // 3) for n in shape])
    return np.kron(small, np.ones((3,) * len(shape), int))[tuple(map(slice, shape))].astype(dtype)


@pytest.fixture
def theirs():
    return pytest.importorskip("edt")


@pytest.mark.parametrize("black_border", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_distances(shape, dtype, black_border):
    for order in "CF":
        labels = np.asarray(image(shape, dtype), order=order)
        for anisotropy in (None, [2.5, 1, 7.25][:len(shape)]):
            expected = brute_distance(labels, 1 if anisotropy is None else anisotropy, black_border)[0]
            found = ours.edt(labels, anisotropy, black_border)
            np.testing.assert_array_equal(found, expected.astype(np.float32))
            assert found.dtype == np.float32 and found.flags.f_contiguous == labels.flags.f_contiguous
            squares = ours.edtsq(labels, anisotropy, black_border, parallel=2)
            np.testing.assert_array_equal(squares, (expected ** 2).astype(np.float32))
            assert squares.dtype == np.float32 and squares.flags.f_contiguous == labels.flags.f_contiguous


@pytest.mark.parametrize("function", ["edt", "edtsq", "sdf", "sdfsq"])
@pytest.mark.parametrize("shape", SHAPES)
def test_beside_edt(theirs, shape, function):
    for dtype in TYPES:
        labels = image(shape, dtype)
        for options in ({}, {"black_border": True}, {"anisotropy": (2.5, 1, 7.25)[:len(shape)] if len(shape) > 1 else 2.5}):
            found, expected = (getattr(module, function)(labels, **options) for module in (ours, theirs))
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            assert found.dtype == expected.dtype


def test_functions_of_so_many_axes(theirs):
    for axes, shape in enumerate(SHAPES, 1):
        labels = image(shape)
        for function in (f"edt{axes}d", f"edt{axes}dsq"):
            found, expected = (getattr(module, function)(labels, black_border=True) for module in (ours, theirs))
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            with pytest.raises(TypeError, match=f"data has {axes % 3 + 1} axes, but this function is for {axes}"):
                getattr(ours, function)(image(SHAPES[axes % 3]))


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float32, bool])
@pytest.mark.parametrize("shape", SHAPES)
def test_each(theirs, shape, dtype, in_place):
    for order in "CF":
        labels = np.asarray(image(shape, dtype), order=order)
        distances = ours.edt(labels)
        found, expected = (module.each(labels, distances, in_place) for module in (ours, theirs))
        assert len(found) == len(expected)
        for (label, one), (number, other) in zip(found, expected):
            np.testing.assert_array_equal(one, other)
            assert label == number and one.dtype == other.dtype and one.flags.writeable == (not in_place)


def test_lists_and_no_elements():
    np.testing.assert_array_equal(ours.edtsq([1, 1, 1, 0, 2, 2]), [9, 4, 1, 0, 1, 4])
    np.testing.assert_array_equal(ours.edt(np.array([[-0.0, 0.5], [0.5, 0.5]])), np.float32([[0, 1], [1, np.sqrt(2)]]))
    assert ours.edt(np.zeros((0, 3))).shape == ours.edtsq(np.zeros((0, 3))).shape == (0, 3)
    assert np.isinf(ours.edt(np.ones((3, 4)))).all() and np.isinf(ours.edt(np.ones((3, 4), bool))).all()


def test_signatures(theirs):
    """Those that edt tells: what it has, in its order and with its defaults."""
    for name in ("edt", "edtsq", "sdf", "sdfsq", "each"):
        own = [each for each in inspect.signature(getattr(ours, name)).parameters.values() if each.name != "device"]
        given = inspect.signature(getattr(theirs, name)).parameters.values()
        assert [(each.name, each.default) for each in own] == [(each.name, each.default) for each in given], name


@pytest.mark.parametrize("call, kind, words", [
    (lambda: ours.edt(image((4, 4)), voxel_graph=np.ones((4, 4), np.uint8)), NotImplementedError, "voxel_graph is array"),
    (lambda: ours.edt(np.ones((2, 2, 2, 2))), TypeError, "data has 4 axes, but 1, 2 or 3"),
    (lambda: ours.edt(np.ones((2, 2), complex)), TypeError, "data is a ndarray of dtype complex128"),
    (lambda: ours.edt(image((4, 4)), (1, 2, 3)), ValueError, "anisotropy has 3 numbers, but the array has 2 axes"),
    (lambda: ours.edt(image((4, 4)), (1, 0)), ValueError, r"anisotropy\[1\] is 0, but must be positive"),
    (lambda: ours.edt(image((4, 4)), black_border=2), TypeError, "black_border is 2, but must be True or False"),
    (lambda: ours.edt(image((4, 4)), parallel="all"), TypeError, "parallel is 'all', but must be a whole number"),
    (lambda: ours.each(image((4, 4)), np.ones((4, 5))), ValueError, r"dt has shape \(4, 5\), but labels has \(4, 4\)"),
])
def test_wrong_use(call, kind, words):
    with pytest.raises(kind, match=f"^{words}"):
        call()
