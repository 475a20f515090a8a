"""apsis.metrics: against MONAI's, scikit-image's and surface-distance's formulas with SciPy, and answers by hand."""

import itertools

import numpy as np
import pytest

import apsis
from apsis.metrics import label_surface_distances, surface_distance

ndimage = pytest.importorskip("scipy.ndimage")


def lengths_between(points, spacing):
    """Of the points of each surface, to the other."""
    return [ndimage.distance_transform_edt(~points[1 - k], sampling=spacing)[points[k]] for k in range(2)]


def by_monai(first, second, percentile, tolerance, spacing):
    lengths = lengths_between([set ^ ndimage.binary_erosion(set) for set in (first, second)], spacing)
    both = np.concatenate(lengths)
    return (max(each.max() for each in lengths), max(np.percentile(each, percentile) for each in lengths), both.mean(),
            (both <= tolerance).mean())


def pieces_of(corners):
    """Corners of a cube, in pieces that edges connect."""
    while corners:
        piece = {min(corners)}
        while more := {each for each in corners - piece if any(np.abs(np.subtract(each, one)).sum() == 1 for one in piece)}:
            piece |= more
        corners = corners - piece
        yield piece


def areas_of(code, spacing):
    """The lengths or areas around the corners of a code, piece by piece, as marching cubes has them."""
    axes, sides = len(spacing), np.asarray(spacing, float)
    corners = {each for bit, each in enumerate(itertools.product((0, 1), repeat=axes)) if code >> bit & 1}
    if 2 * len(corners) > 2 ** axes:
        corners = set(itertools.product((0, 1), repeat=axes)) - corners
    faces = sides.prod() / sides
    slant = np.linalg.norm(faces)
    for piece in pieces_of(corners):
        along = [[each for each in piece if tuple(np.bitwise_xor(each, np.eye(axes, dtype=int)[a])) in piece]
                 for a in range(axes)]
        edges = [len(each) // 2 for each in along]
        across = [faces[[b for b in range(axes) if b != a]] for a in range(axes)]
        if axes == 2:
            yield np.linalg.norm(sides) / 2 if len(piece) == 1 else sides[np.argmax(edges)]
        elif len(piece) == 1:
            yield slant / 8
        elif len(piece) == 2:
            yield np.linalg.norm(across[int(np.argmax(edges))]) / 2
        elif len(piece) == 3:
            yield faces[edges.index(0)] / 2 + slant * 3 / 8
        elif 0 in edges:
            yield faces[edges.index(0)]
        elif any(sum(each in axis for axis in along) == 3 for each in piece):
            yield slant * 6 / 8
        else:  # a chain: the ends are those with one edge
            ends = {a for a in range(3) for each in along[a] if sum(each in axis for axis in along) == 1}
            yield slant / 2 + sum(np.linalg.norm(across[a]) for a in ends) / 4


def by_surface_distance(first, second, percentile, tolerance, spacing):
    axes, bits = first.ndim, 2 ** first.ndim
    kernel = 1 << np.arange(bits).reshape((2,) * axes)
    codes = [ndimage.correlate(np.pad(set, 1).astype(int), kernel, mode="constant")[(slice(1, None),) * axes]
             for set in (first, second)]
    table = np.array([sum(areas_of(code, spacing)) for code in range(2 ** bits)])
    points = [(each != 0) & (each != 2 ** bits - 1) for each in codes]
    lengths, areas = lengths_between(points, spacing), [table[codes[k]][points[k]] for k in range(2)]
    ranks = []
    for length, area in zip(lengths, areas):
        order = np.lexsort([area, length])
        sums = np.cumsum(area[order]) / area.sum()
        ranks.append(length[order][min(np.searchsorted(sums, percentile / 100), len(sums) - 1)])
    length, area = np.concatenate(lengths), np.concatenate(areas)
    return (max(each.max() for each in lengths), max(ranks), (length * area).sum() / area.sum(),
            area[length <= tolerance].sum() / area.sum())


def by_scikit_image(first, second, percentile, tolerance, spacing):
    lengths = lengths_between([first, second], spacing)
    both = np.concatenate(lengths)
    return (max(each.max() for each in lengths), max(np.percentile(each, percentile) for each in lengths), both.mean(),
            (both <= tolerance).mean())


PEERS = {"pixels": by_monai, "corners": by_surface_distance, "all": by_scikit_image}


@pytest.mark.parametrize("surface", PEERS)
@pytest.mark.parametrize("shape", [(17, 40), (9, 12, 15)])
def test_as_scipy(surface, shape):
    rng = np.random.default_rng(31)
    for spacing in ((1, 1, 1)[:len(shape)], (2, 1, 3)[:len(shape)], (0.7, 1.3, 2.9)[:len(shape)]):
        for percentile in (0, 50, 94.7, 100):
            first, second = (ndimage.gaussian_filter(rng.random(shape), rng.choice([0, 1.5])) > 0.5 for _ in range(2))
            found = surface_distance(first, second, surface=surface, percentile=percentile, tolerance=1.5, spacing=spacing)
            np.testing.assert_allclose(found[-4:], PEERS[surface](first, second, percentile, 1.5, spacing), rtol=1e-12)
            assert found.hausdorff == max(found.largest) and found.hausdorff_percentile == max(found.percentile)


def test_as_scikit_image():
    metrics = pytest.importorskip("skimage.metrics")
    rng = np.random.default_rng(32)
    for shape in ((30, 21), (9, 14, 8)):
        first, second = (rng.random(shape) < 0.03 for _ in range(2))
        found = surface_distance(first, second, surface="all")
        assert found.hausdorff == pytest.approx(metrics.hausdorff_distance(first, second), rel=1e-12)
        assert max(found.mean) == pytest.approx(metrics.hausdorff_distance(first, second, method="modified"), rel=1e-12)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_labels(kind):
    rng = np.random.default_rng(33)
    first, second = (ndimage.zoom(rng.integers(0, 5, (4, 5)), 6, order=0).astype(kind) for _ in range(2))
    for image in first, second:
        image[image == 4] = np.iinfo(kind).max if kind != np.uint64 else 4
        image[image == 3] = kind(0) - kind(7) if np.iinfo(kind).min < 0 else 3
    found = label_surface_distances(first, second, tolerance=2, surface="corners")
    assert found["value"].tolist() == [value for value in np.union1d(first, second).tolist() if value]
    for each in found:
        alone = surface_distance(first == kind(each["value"]), second == kind(each["value"]), tolerance=2, surface="corners")
        assert [tuple(field) if isinstance(field, np.ndarray) else field for field in each.tolist()[1:]] == list(alone)


def test_many_labels():
    first = np.arange(90 * 70).reshape(90, 70)
    found = label_surface_distances(first, np.roll(first, 1))
    assert found["value"].tolist() == list(range(1, first.size)) and (found["points"] == 1).all()
    assert label_surface_distances(np.zeros((3, 3), int), np.zeros((3, 3), int)).size == 0


def test_views_and_types():
    first = np.zeros((9, 12), np.int32)
    first[2:5, 3:9] = 7
    second = first[::-1, ::-1] > 0
    found = surface_distance(first, second)
    assert found == surface_distance(first.T, second.T) and found.points == (14, 14) and found.area == (14, 14)


def test_without_a_surface():
    point, none = np.eye(1, 9).reshape(3, 3), np.zeros((3, 3))
    for surface in PEERS:
        found = surface_distance(point, none, surface=surface, tolerance=1)
        assert found.points == (4 if surface == "corners" else 1, 0)
        assert found.largest[0] == np.inf and np.isnan(found.largest[1])
        assert found.hausdorff == found.average == np.inf and found.dice == 0
        assert np.isnan(surface_distance(none, none, surface=surface)[-4:]).all()


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
    with pytest.raises(apsis.ArgumentError, match="surface is 'edges', but must be one of pixels, all, corners"):
        surface_distance(image, image, surface="edges")
    with pytest.raises(apsis.ArgumentError, match="second has dtype int16, but first has int8"):
        label_surface_distances(image.astype(np.int8), image.astype(np.int16))


def test_numbers_are_plain():
    found = surface_distance(np.eye(3), np.eye(3)[::-1])
    assert all(type(number) is int for number in found.points) and type(found.dice) is float
    assert all(type(number) is float for name in ("area", "within", "largest", "percentile", "mean")
               for number in getattr(found, name))
    empty = surface_distance(np.zeros((3, 3)), np.eye(3))
    assert empty.hausdorff == np.inf and np.isnan(empty.largest[0]) and empty.largest[1] == np.inf
