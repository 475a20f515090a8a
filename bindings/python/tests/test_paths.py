"""apsis.paths: against scikit-image's MCP_Geometric and route_through_array, against apsis.geodesic, and answers by hand."""

import numpy as np
import pytest

import apsis
from apsis.paths import PATH, cost_distance, longest_paths, shortest_paths


def random_costs(rng, shape, dtype):
    costs = rng.integers(1, 200, shape).astype(dtype) if np.dtype(dtype).kind in "iu" else rng.random(shape).astype(dtype) + 0.1
    costs[rng.random(shape) < 0.1] = 0
    return costs


@pytest.mark.parametrize("shape", [(40, 53), (9, 12, 15)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64", "int64"])
def test_as_scikit_image(shape, dtype):
    graph = pytest.importorskip("skimage.graph", reason="scikit-image is not there to compare with")
    rng = np.random.default_rng(27)
    costs = random_costs(rng, shape, dtype)
    there = np.where(costs > 0, costs.astype(float), -1)
    seeds = rng.random(shape) < 0.005
    seeds.flat[costs.argmax()] = True
    end = np.flatnonzero(seeds & (costs > 0))[0]
    one = np.zeros(shape, bool)
    one.flat[end] = True
    for full in (True, False):
        want = graph.MCP_Geometric(there, fully_connected=full).find_costs(np.argwhere(seeds & (costs > 0)))[0]
        connectivity = len(shape) if full else 1
        got = cost_distance(costs, seeds, dtype=float, connectivity=connectivity)
        np.testing.assert_allclose(got[costs > 0], want[costs > 0], rtol=1e-6)
        assert (got[costs == 0] == -1).all()
        start = np.where(np.isfinite(want), want, -1).argmax()
        _, weight = graph.route_through_array(there, np.unravel_index(start, shape), np.unravel_index(end, shape),
                                              fully_connected=full, geometric=True)
        known, paths = shortest_paths([start], one, costs=costs, connectivity=connectivity)
        assert known["cost"][0] == pytest.approx(weight, rel=1e-6)
        assert paths[0][0] == start and paths[0][-1] == end == known["seed"][0]


def test_as_geodesic():
    rng = np.random.default_rng(3)
    mask, seeds = rng.random((30, 40)) < 0.7, rng.random((30, 40)) < 0.01
    for metric in ("euclidean", "city-block", "chamfer"):
        lengths, nearest = apsis.geodesic(mask, seeds, nearest=True, dtype=float, metric=metric)
        for costs, set in ((mask, None), (np.ones(mask.shape), mask)):
            got = cost_distance(costs, seeds, set=set, nearest=True, dtype=float, metric=metric)
            assert (got[0] == lengths).all() and (got[1] == nearest).all()
        known, paths = shortest_paths(np.arange(mask.size), seeds, set=mask, metric=metric)
        found = known["count"] > 0
        assert (found == (nearest.ravel() >= 0)).all() and (known["seed"] == nearest.ravel()).all()
        assert (known["length"][found] == lengths.ravel()[found]).all() and (known["cost"] == known["length"]).all()
        assert [len(path) for path in paths] == known["count"].tolist() and known.dtype == PATH


def test_weights():
    rng = np.random.default_rng(5)
    room = np.ones((9, 11), bool)
    seed = np.zeros(room.shape, bool)
    seed[4, 5] = True
    dy, dx = np.abs(np.indices(room.shape) - np.reshape((4, 5), (2, 1, 1)))
    long, short = np.maximum(dx, dy), np.minimum(dx, dy)
    knights = np.minimum(short, long - short)
    length = 11 * knights + 7 * (short - knights) + 5 * (long - short - knights)
    got = apsis.geodesic(room, seed, metric="chamfer", weights=(5, 7, 11), dtype=int)
    np.testing.assert_array_equal(got, length)
    np.testing.assert_array_equal(apsis.geodesic(room, seed, metric="chamfer", weights=(5, 7, 11), dtype=float), length / 5)
    np.testing.assert_array_equal(apsis.distance(seed, metric="chamfer", method="sequential-scan", weights=(5, 7, 11),
                                                 dtype=np.int32, device="cpu"), length)
    known, ways = shortest_paths([0], seed, metric="chamfer", weights=(5, 7, 11))
    assert known["length"][0] == length[0, 0] / 5 and len(ways[0]) < long[0, 0] + 1
    mask = rng.random((30, 40)) < 0.6
    _, extents = apsis.eccentricity(mask, extents=True, metric="chamfer", weights=(5, 7, 11))
    known, _ = longest_paths(mask, metric="chamfer", weights=(5, 7, 11))
    assert (known["length"] == extents["diameter"]).all()
    volume = np.ones((3, 3, 3))
    got = cost_distance(volume.astype(np.uint8), volume.cumsum().reshape(3, 3, 3) == 1, metric="chamfer", weights=(4, 6, 7))
    assert got[1, 1, 1] == 1.75 and got[0, 1, 1] == 1.5
    assert apsis.geodesic([1, 1, 1], [1, 0, 0], metric="chamfer", weights=(5, 7, 11)).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"weights\[2\] is 10 in 5, 7, 10, but must be from 11 to 12, for a knight's move"):
        apsis.geodesic(room, seed, metric="chamfer", weights=(5, 7, 10))
    with pytest.raises(NotImplementedError, match="a periodic axis does not take it"):
        apsis.geodesic(room, seed, metric="chamfer", weights=(5, 7, 11), periodic=True)


def test_longest_paths():
    rng = np.random.default_rng(4)
    mask = rng.random((40, 50)) < 0.55
    known, paths = longest_paths(mask, connectivity=1)
    _, extents = apsis.eccentricity(mask, extents=True, connectivity=1)
    assert (known["length"] == extents["diameter"]).all() and len(paths) == len(extents)
    assert [[path[0], path[-1]] for path in paths] == extents["ends"].tolist()
    known, paths = longest_paths([[-1, -1, 5], [0, -1, 5]], labels=True, metric="city-block")
    assert [path.tolist() for path in paths] == [[0, 1, 4], [2, 5]]


def test_a_long_path():
    mask = np.zeros((101, 101), bool)
    mask[::2] = True
    mask[1::4, -1] = mask[3::4, 0] = True
    seeds = np.zeros_like(mask)
    seeds[0, 0] = True
    known, paths = shortest_paths([mask.size - 1], seeds, set=mask, connectivity=1)
    assert known["length"][0] == mask.sum() - 1 == len(paths[0]) - 1


def test_labels_and_views():
    costs, seeds = np.array([1, 1, 1, 5, 1, 0], np.uint8), np.array([-7, 0, 0, 0, 3, 9])
    _, labels = cost_distance(costs, seeds, nearest=True, labels=True)
    assert labels.tolist() == [-7, -7, -7, 3, 3, 0]
    rng = np.random.default_rng(5)
    costs, seeds = rng.integers(1, 9, (12, 20)).astype(np.uint8), rng.random((12, 20)) < 0.02
    assert (cost_distance(costs[::-1, ::2], seeds[::-1, ::2]) ==
            cost_distance(costs[::-1, ::2].copy(), seeds[::-1, ::2].copy())).all()
    assert (cost_distance(costs.T, seeds.T, spacing=(2, 1)) == cost_distance(costs, seeds, spacing=(1, 2)).T).all()


def test_errors():
    image = np.ones((4, 4), np.uint8)
    with pytest.raises(apsis.ArgumentError, match=r"seeds has shape \(4, 3\), but costs has \(4, 4\)"):
        cost_distance(image, image[:, :3])
    with pytest.raises(apsis.ArgumentError, match=r"starts\[0\] is 16, but the image has 16 pixels"):
        shortest_paths([16], image)
    with pytest.raises(apsis.ArgumentError, match="flat indices"):
        shortest_paths([(0, 1)], image)
    with pytest.raises(apsis.ArgumentError, match="complement"):
        cost_distance(image, image, complement=True)
    with pytest.raises(TypeError, match="complex"):
        cost_distance(image * 1j, image)
    known, paths = shortest_paths([], image)
    assert len(known) == 0 and paths == []
