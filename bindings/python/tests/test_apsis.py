"""The package against brute force, and what only Python can get wrong: strides, types, errors, callbacks, threads."""

import pathlib
import re
import threading
import warnings

import numpy as np
import pytest

import apsis
from apsis import _library, metrics, slabs

INCLUDE = pathlib.Path(__file__).parents[3] / "include"
HEADER = "".join((INCLUDE / name).read_text() for name in ("apsis.h", "apsis_measures.h"))


def random_set(*shape, density=0.2, seed=1):
    return np.random.default_rng(seed).random(shape) < density


def brute_distance(mask, spacing=1):
    """Distance to the nearest set element and its flat index, the lowest of several."""
    sites = np.argwhere(mask)
    places = np.stack(np.meshgrid(*map(np.arange, mask.shape), indexing="ij"), -1)[..., None, :]
    squares = (((places - sites) * np.asarray(spacing)) ** 2).sum(-1)
    return np.sqrt(squares.min(-1)), np.ravel_multi_index(tuple(sites.T), mask.shape)[squares.argmin(-1)]


@pytest.mark.parametrize("shape", [(17,), (13, 19), (5, 7, 9)])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, float])
def test_distance_is_that_of_brute_force(shape, dtype):
    mask = random_set(*shape)
    distance, nearest = apsis.distance(mask.astype(dtype), nearest=True, dtype=np.float64)
    expected, sites = brute_distance(mask)
    np.testing.assert_array_equal(distance, expected)
    np.testing.assert_array_equal(nearest, sites)


def test_axes_are_in_the_order_of_the_array():
    mask = random_set(6, 7, 8)
    np.testing.assert_allclose(apsis.distance(mask, spacing=(1, 2, 5)), brute_distance(mask, (1, 2, 5))[0], rtol=1e-6)
    _, _, known = apsis.components(mask, statistics=True)
    z, y, x = np.unravel_index(known["first"][0], mask.shape)
    assert known["lower"][0][2] == z and known["lower"][0][0] <= x <= known["upper"][0][0] and known["lower"][0][1] <= y


def test_spacings_that_lie_far_apart():
    """The spacings of edt's own tests."""
    mask = np.zeros((30, 31, 250), bool)
    mask[0, 0, 0] = mask[-1, -1, -1] = True
    for spacing in ((1000000, 1200000, 40), (1e-7,) * 3, (1e8,) * 3):
        distance = apsis.distance(mask, spacing=spacing, dtype=np.float64)
        np.testing.assert_allclose(distance, brute_distance(mask, spacing)[0], rtol=1e-14)


@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[::-1], lambda a: a[1:-2, ::3], lambda a: a[::-2, ::-1],
                                  lambda a: np.broadcast_to(a[3], a.shape)])
def test_views_are_taken_as_they_lie(view):
    mask = view(random_set(24, 40, density=0.05))
    np.testing.assert_array_equal(apsis.distance(mask), apsis.distance(np.ascontiguousarray(mask)))
    out = view(np.full((24, 40), 7, np.int32)) if not isinstance(mask.base, np.broadcast) and mask.strides[0] else None
    if out is not None:
        apsis.components(mask, out=out, connectivity=2)
        np.testing.assert_array_equal(out, apsis.components(np.ascontiguousarray(mask), connectivity=2)[0])


def test_signed_slices_complement_and_limits():
    mask = random_set(4, 20, 30)
    signed = apsis.distance(mask, signed=True)
    np.testing.assert_array_equal(signed < 0, mask)
    np.testing.assert_array_equal(-signed[mask], apsis.distance(mask, complement=True)[mask])
    for z, plane in enumerate(apsis.distance(mask, slices=True)):
        np.testing.assert_array_equal(plane, apsis.distance(mask[z]))
    near = apsis.distance(mask, max_distance=1, dtype=np.float64)
    np.testing.assert_array_equal(near[np.isfinite(near)], brute_distance(mask)[0][brute_distance(mask)[0] <= 1])


def test_voronoi_is_the_map_of_nearest_elements():
    mask = random_set(31, 33, density=0.02)
    np.testing.assert_array_equal(apsis.voronoi(mask), brute_distance(mask)[1])


def test_components_with_what_is_known_of_them():
    mask = np.zeros((4, 6), bool)
    mask[0, 1:4] = mask[3, 5] = True
    labels, count, known = apsis.components(mask, statistics=True)
    assert count == 2 and labels[0, 2] == 1 and labels[3, 5] == 2
    assert known["area"].tolist() == [3, 1] and known["centroid"][0].tolist() == [2, 0, 0]
    assert apsis.components(mask, dtype=None, largest=1) == (None, 1)
    kept, count = apsis.components(mask, dtype=bool, border=False)
    assert not kept.any() and count == 0


def test_more_components_than_expected():
    mask = np.zeros((200, 200), bool)
    mask[::2, ::2] = True
    labels, count, known = apsis.components(mask, statistics=True)
    assert count == len(known) == labels.max() == 10000
    np.testing.assert_array_equal(known["first"], np.flatnonzero(mask))


def test_paths():
    corridor = np.ones((5, 5), bool)
    corridor[1:4, 1:4] = False
    seeds = np.zeros_like(corridor)
    seeds[0, 0] = True
    lengths, nearest = apsis.geodesic(corridor, seeds, nearest=True, metric="city-block", dtype=np.int32)
    assert lengths[4, 4] == 8 and lengths[2, 2] == -1 and nearest[4, 4] == 0
    reach, farthest, extents = apsis.eccentricity(corridor, farthest=True, extents=True, metric="city-block")
    assert (reach[corridor] == 8).all() and extents["diameter"][0] == 8 and farthest[0, 0] == 24


def test_a_budget_that_runs_out_warns():
    ring = np.hypot(*np.indices((64, 64)) - 31.5)
    ring = (ring < 31) & (ring > 29)
    with pytest.warns(apsis.BudgetWarning, match="budget is 2"):
        _, extents = apsis.eccentricity(ring, extents=True, budget=2)
    assert extents["gap"][0] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apsis.eccentricity(ring)


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"spacing\[1\] is -1"):
        apsis.distance(np.ones((3, 3)), spacing=(1, -1))
    with pytest.raises(ValueError, match="metric is 'taxi', but must be one of euclidean"):
        apsis.distance(np.ones((3, 3)), metric="taxi")
    with pytest.raises(ValueError, match="4 axes"):
        apsis.distance(np.ones((2, 2, 2, 2)))
    with pytest.raises(apsis.ArgumentError, match=r"out has shape \(3, 4\), but set has \(3, 3\)") as caught:
        apsis.distance(np.ones((3, 3)), out=np.empty((3, 4), np.float32))
    assert caught.value.status == _library.ERROR_ARGUMENT
    with pytest.raises(ValueError, match="dtype is float16, but must be float32"):
        apsis.distance(np.ones((3, 3)), dtype=np.float16)
    with pytest.raises(NotImplementedError):
        apsis.distance(np.ones((3, 3)), metric="chamfer")
    with pytest.raises(apsis.Error, match="device"):
        apsis.Context(1000)


def test_progress_and_log():
    told, lines = [], []
    with apsis.Context("cpu", progress=told.append, log=lines.append, threads=1) as context:
        context.distance(np.ones((300, 300)))
    assert told[-1] == 1 and told == sorted(told) and any("300 x 300" in line for line in lines)
    with apsis.Context("cpu", progress=lambda done: True) as context, pytest.raises(apsis.Cancelled):
        context.distance(np.ones((300, 300)))

    def fail(done):
        raise KeyError("mine")
    with apsis.Context("cpu", progress=fail) as context, pytest.raises(KeyError, match="mine"):
        context.distance(np.ones((300, 300)))


def test_threads_have_contexts_of_their_own():
    mask = random_set(400, 400)
    expected, results = apsis.distance(mask), {}
    threads = [threading.Thread(target=lambda k=k: results.update({k: apsis.distance(mask)})) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(result, expected) for result in results.values())


def test_the_programs_of_the_readme():
    text = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    names = {}
    for program in re.findall(r"```python\n(.*?)```", text, re.S):
        if "apsis.dask" not in program:  # which ./run test dask tests
            exec(program, names)
    assert names["count"] == 2 and names["distance"].shape == (480, 640)


# ---- The declarations are those of the header ----

def test_version():
    parts = [int(re.search(rf"APSIS_VERSION_{part} (\d+)", HEADER)[1]) for part in ("MAJOR", "MINOR", "PATCH")]
    assert tuple(parts) == apsis.VERSION and apsis.__version__ == ".".join(map(str, parts))


def test_enumerators():
    values = {name: eval(value) for name, value in re.findall(r"APSIS_(\w+)\s*=\s*(-?\d+(?: << \d+)?),?", HEADER)}
    for name, value in vars(_library).items():
        if name.isupper() and isinstance(value, int) and name != "VERSION":
            assert values[name] == value, name
    for names, own in (("EUCLIDEAN CITY_BLOCK CHESSBOARD CHAMFER", _library.METRICS),
                       ("AUTO RASTER_SCAN SWEEP JUMP_FLOOD TILE_FILL EVERY_SOURCE SWEEP_BLOCKS SWEEP_ROWS SEQUENTIAL_SCAN",
                        _library.METHODS), ("DILATE ERODE OPEN CLOSE", _library.OPERATIONS),
                       ("SURFACE_PIXELS SURFACE_ALL SURFACE_CORNERS",
                        {f"surface-{name}": value for name, value in _library.SURFACES.items()})):
        assert own == {name.lower().replace("_", "-"): values[name] for name in names.split()}


def test_structures_and_functions():
    def fields(structure):
        body = re.search(rf"typedef struct {structure} \{{(.*?)\n\}}", HEADER, re.S)[1]
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        return re.findall(r"(\w+)(?:\[\d\])?;", body)
    assert [name for name, _ in _library.Image._fields_] == fields("apsis_image")
    assert [name for name, _ in _library.Options._fields_] == fields("apsis_options")
    for name, ours in (("apsis_slab", _library.Slab), ("apsis_slab_paths", _library.SlabPaths),
                       ("apsis_slab_labels", _library.SlabLabels)):
        assert [field for field, _ in ours._fields_] == fields(name)
    assert list(slabs.PART.names) == fields("apsis_part") and slabs.PART.itemsize == 96
    assert list(slabs.SUMS.names) == fields("apsis_sums") and slabs.SUMS.itemsize == 448
    assert list(apsis.COMPONENT.names) == fields("apsis_component") and apsis.COMPONENT.itemsize == 96
    assert list(apsis.EXTENT.names) == fields("apsis_extent") and apsis.EXTENT.itemsize == 56
    assert list(apsis.CONTACT.names) == fields("apsis_contact") and apsis.CONTACT.itemsize == 56
    assert list(metrics.SURFACE_DISTANCES.names) == fields("apsis_surface_distances")
    assert metrics.SURFACE_DISTANCES.itemsize == 136
    for name, (_, arguments) in _library.PROTOTYPES.items():
        declared = re.search(rf"\b{name}\((.*?)\);", HEADER, re.S)[1]
        assert len(arguments) == (0 if declared == "void" else declared.count(",") + 1), name
