"""apsis.ndimage beside SciPy and scikit-image, and under SciPy's own tests."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import scipy.ndimage as theirs
import skimage.morphology
import skimage.segmentation

import apsis.ndimage as ours

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


def test_small_labels_go():
    input = image(60, 70, density=0.5)
    removed = skimage.morphology.remove_small_objects
    for connectivity in (1, 2):
        expected = removed(input, max_size=9, connectivity=connectivity)
        np.testing.assert_array_equal(ours.remove_small_objects(input, max_size=9, connectivity=connectivity), expected)
        np.testing.assert_array_equal(ours.remove_small_objects(input, 10, connectivity), expected)
    labels = theirs.label(input)[0]
    np.testing.assert_array_equal(ours.remove_small_objects(labels), removed(labels))
    np.testing.assert_array_equal(ours.remove_small_objects(labels, max_size=0), removed(labels, max_size=0))
    expected = removed(input)
    assert ours.remove_small_objects(input, out=input) is input
    np.testing.assert_array_equal(input, expected)


def test_under_scipys_own_tests():
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "scipy_suite", "--pyargs",
                           "scipy.ndimage.tests.test_measurements", "scipy.ndimage.tests.test_morphology"],
                          cwd=HERE, env={**os.environ, "PYTHONPATH": str(HERE.parent)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    print(done.stdout.splitlines()[-1])
