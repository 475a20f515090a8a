"""apsis.ndimage beside SciPy and scikit-image, and under SciPy's own tests."""

import itertools
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.ndimage as theirs
import skimage.morphology
import skimage.segmentation

import apsis.ndimage as ours
import scipy_suite

HERE = pathlib.Path(__file__).parent


def image(*shape, density=0.7, seed=3):
    return np.random.default_rng(seed).random(shape) < density


@pytest.mark.parametrize("shape", [(40,), (30, 41), (11, 12, 13)])
def test_edt(shape):
    input = image(*shape)
    for sampling in (None, 2.5, list(range(1, len(shape) + 1))):
        expected = theirs.distance_transform_edt(input, sampling)
        np.testing.assert_allclose(ours.distance_transform_edt(input, sampling), expected, rtol=1e-15)
    distances, indices = ours.distance_transform_edt(input, return_indices=True)
    offsets = indices - np.indices(shape)
    np.testing.assert_array_equal(np.sqrt((offsets ** 2).sum(0)), distances)
    assert not input[tuple(indices)].any()


@pytest.mark.parametrize("metric", ["taxicab", "chessboard"])
def test_cdt(metric):
    input = image(30, 41)
    np.testing.assert_array_equal(ours.distance_transform_cdt(input, metric), theirs.distance_transform_cdt(input, metric))
    assert (ours.distance_transform_cdt(np.ones((3, 3)), metric) == -1).all()


def test_into_arrays_that_are_given():
    input = image(30, 41)
    distances, indices = np.empty((30, 41)), np.empty((2, 30, 41), np.int32)
    assert ours.distance_transform_edt(input, return_indices=True, distances=distances, indices=indices) is None
    np.testing.assert_array_equal(distances, theirs.distance_transform_edt(input))
    labels = np.empty((30, 41), np.int16)
    assert ours.label(input, output=labels) == theirs.label(input)[1]
    np.testing.assert_array_equal(labels, theirs.label(input)[0])


@pytest.mark.parametrize("shape", [(40,), (30, 41), (11, 12, 13)])
def test_label_and_boxes(shape):
    input = image(*shape, density=0.4)
    for connectivity in range(1, len(shape) + 1):
        structure = theirs.generate_binary_structure(len(shape), connectivity)
        labels, count = ours.label(input, structure)
        expected, many = theirs.label(input, structure)
        np.testing.assert_array_equal(labels, expected)
        assert count == many and labels.dtype == expected.dtype
        assert ours.find_objects(labels) == theirs.find_objects(labels)
    assert ours.find_objects(np.array([0, 3, 3, 1])) == theirs.find_objects(np.array([0, 3, 3, 1]))


@pytest.mark.parametrize("shape, structures", [((1,), 2), ((40,), 2), ((0, 5), 16), ((30, 41), 16), ((9, 10, 11), 60)])
def test_label_by_any_symmetric_structure(shape, structures):
    axes = len(shape)
    centre = 3 ** axes // 2
    chosen = itertools.islice(itertools.product((0, 1), repeat=centre), 0, None, max(1, 2 ** centre // structures))
    for number, half in enumerate(chosen):
        structure = np.array([*half, number % 2, *half[::-1]]).reshape((3,) * axes)  # the centre does not matter
        for density in (0.2, 0.5, 0.9):
            input = image(*shape, density=density)
            labels, count = ours.label(input, structure)
            expected, many = theirs.label(input, structure)
            np.testing.assert_array_equal(labels, expected)
            assert count == many and labels.dtype == expected.dtype
    into = np.empty(shape, np.int16)
    assert ours.label(input, structure, into) == many
    np.testing.assert_array_equal(into, expected)


@pytest.mark.parametrize("spacing", [1, (1, 2)])
def test_labels_grow(spacing):
    labels, count = theirs.label(image(60, 70, density=0.03))
    near = np.stack([theirs.distance_transform_edt(labels != label, spacing) for label in range(1, count + 1)])
    is_nearest = near == near.min(axis=0)
    for distance in (0, 1, 2.5, 100):
        grown = ours.expand_labels(labels, distance, spacing)
        expected = skimage.segmentation.expand_labels(labels, distance, spacing)
        np.testing.assert_array_equal(grown != 0, expected != 0)
        has_one = is_nearest.sum(axis=0) == 1  # where several are equally near, any of them may be taken
        np.testing.assert_array_equal(grown[has_one], expected[has_one])
        y, x = np.nonzero(grown)
        assert is_nearest[grown[y, x] - 1, y, x].all()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
                                   np.float32])
@pytest.mark.parametrize("shape", [(40,), (20, 31), (9, 10, 11)])
def test_labels_of_every_type_grow(shape, dtype):
    labels, count = theirs.label(image(*shape, density=0.05))
    labels = np.where(labels == count, -3 if np.dtype(dtype).kind in "if" else 1, labels % 120).astype(dtype)
    for view in (labels, labels.T, labels[::-1]):
        for distance in (-1, 0, 1, 3, np.inf):
            grown = ours.expand_labels(view, distance)
            expected = skimage.segmentation.expand_labels(view, distance)
            assert grown.dtype == view.dtype and grown.shape == view.shape
            np.testing.assert_array_equal(grown != 0, expected != 0)
            near = np.stack([theirs.distance_transform_edt(view != label) for label in np.unique(view[view != 0])])
            has_one = (near == near.min(axis=0)).sum(axis=0) == 1
            np.testing.assert_array_equal(grown[has_one], expected[has_one])
    assert ours.expand_labels(np.zeros((0, 3), dtype)).shape == (0, 3)
    assert not ours.expand_labels(np.zeros(shape, dtype)).any()


def told(function, *arguments, **options):
    """The result, or the type of what is raised, and the types of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments, **options)
        except Exception as raised:
            result = np.array(type(raised).__name__)
    return result, [warning.category for warning in caught]


@pytest.mark.parametrize("kind", ["bool", "labels", "mask of integers", "one label", "uint8", "negative", "empty", "float"])
@pytest.mark.parametrize("options", [{}, {"max_size": 9}, {"max_size": 9, "connectivity": 2}, {"min_size": 10},
                                     {"min_size": 10, "connectivity": 2}, {"max_size": 0}, {"min_size": 0}])
@pytest.mark.parametrize("into", [None, "itself", bool, np.int32, np.uint8])
def test_small_labels_go(kind, options, into):
    input = image(60, 70, density=0.5)
    labels = theirs.label(input)[0]
    given = {"bool": input, "labels": labels, "mask of integers": input.astype(int), "one label": 3 * (labels == 5),
             "uint8": (labels % 200).astype(np.uint8), "negative": labels - 2, "empty": np.zeros((0, 4), int),
             "float": labels / 2}[kind]
    # scikit-image 0.26 takes min_size for max_size, against what it says of it.
    theirs_options = {"max_size" if name == "min_size" else name: max(value - (name == "min_size"), 0)
                      for name, value in options.items()}
    results = []
    for function, how in ((ours.remove_small_objects, options), (skimage.morphology.remove_small_objects, theirs_options)):
        ar = given.copy()
        out = None if into is None else ar if into == "itself" else np.full(ar.shape, 1, into)
        results.append(told(function, ar, **how, out=out))
        assert out is None or results[-1][0] is out or results[-1][0].shape == ()
    (found, warned), (expected, categories) = results
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype and warned == [FutureWarning] * ("min_size" in options) + categories
    _, (category, *_) = told(skimage.morphology.remove_small_objects, input, min_size=3)
    assert category is FutureWarning


def test_differences_do_not_hide_behind_ties():
    input, distances = image(12, 13), ours.distance_transform_cdt

    def check(change):
        def wrong(*arguments, **options):
            maps = [np.array(map) for map in distances(*arguments, **options)]
            change(*maps)
            return maps
        scipy_suite.compare(theirs.distance_transform_cdt, wrong, input, "taxicab", return_indices=True)
    check(lambda map, places: None)
    for change in (lambda map, places: map.__setitem__((3, 4), map[3, 4] + 1), lambda map, places: places.fill(0),
                   lambda map, places: places.__setitem__((slice(None), 3, 4), np.argwhere(~input)[-1])):
        with pytest.raises(scipy_suite.Regression):
            check(change)


def test_under_scipys_own_tests():
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "scipy_suite", "--pyargs",
                           "scipy.ndimage.tests.test_measurements", "scipy.ndimage.tests.test_morphology"],
                          cwd=HERE, env={**os.environ, "PYTHONPATH": str(HERE.parent)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    print(done.stdout.splitlines()[-1])
