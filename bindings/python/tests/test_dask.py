"""apsis.dask: the maps of the whole image, whatever the chunks; sizes of graphs, metadata, and what is refused."""

import functools
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="dask is not installed, so apsis.dask is not tested")
dask = pytest.importorskip("dask")

import apsis  # noqa: E402
import apsis.dask  # noqa: E402

random = np.random.default_rng(26)
PLANE, VOLUME = (23, 17), (11, 9, 8)
CHUNKS = {
    PLANE: [(23, 17), (1, 17), (5, 17), (23, 1), (23, 6), (7, 5), (4, 2), ((0, 3, 0, 20), 17), ((3, 0, 20), (16, 1)), (22, 16)],
    VOLUME: [(11, 9, 8), (1, 9, 8), (4, 9, 8), (11, 1, 8), (11, 9, 3), (3, 4, 5), (2, 2, 2), ((0, 3, 0, 8), 9, 8),
             ((3, 0, 8), (8, 1), 8), (10, 8, 7)],
}
SHAPES = [PLANE, VOLUME]


@pytest.fixture(autouse=True)
def small_slabs():
    """Slabs of a few rows, although the images are small."""
    with dask.config.set({"scheduler": "synchronous", "array.chunk-size": 8 * 70}):
        yield


def lazy(image, chunks):
    return da.from_array(image, chunks=chunks)


def cuts(*images):
    """Images in chunks of all kinds, on one thread and on several."""
    for k, chunks in enumerate(CHUNKS[images[0].shape]):
        with dask.config.set(scheduler=("synchronous", "threads")[k % 2]):
            yield [lazy(images[0], chunks), *[lazy(image, tuple(n // 2 + 1 for n in image.shape)) for image in images[1:]]]


def compare(got, expected):
    """Computes dask arrays, and compares what they said of themselves, too."""
    several = isinstance(expected, tuple)
    got, expected = (got, expected) if several else ((got,), (expected,))
    assert len(got) == len(expected)
    for one, computed, right in zip(got, dask.compute(*got), expected):
        assert one.dtype == computed.dtype == np.asarray(right).dtype and type(one._meta) is np.ndarray
        if one.dtype == apsis.COMPONENT:
            assert computed.tobytes() == right.tobytes()
            continue
        assert one.shape == computed.shape == np.shape(right)
        np.testing.assert_array_equal(computed, right)


# ---- One result, however it is cut ----

@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("density", [0, 0.02, 0.5])
@pytest.mark.parametrize("how", [
    {}, {"nearest": True}, {"complement": True, "nearest": np.int64, "dtype": np.float64}, {"max_distance": 2},
    {"metric": "chessboard", "signed": True}, {"metric": "city-block", "dtype": np.int32, "nearest": True},
    {"signed": True, "spacing": (3, 2, 1)},
    {"signed": True, "complement": True, "dtype": np.int64, "nearest": True}, {"nearest": True, "dtype": None, "spacing": 0.5}])
def test_distances_are_those_of_the_whole_image(shape, density, how):
    image = random.random(shape) < density
    if isinstance(how.get("spacing"), tuple):
        how = {**how, "spacing": how["spacing"][:image.ndim]}
    expected = apsis.distance(image, **how)
    for set, in cuts(image):
        compare(apsis.dask.distance(set, **how), expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("how", [{}, {"dtype": np.int64, "metric": "cityblock"}, {"complement": True, "max_distance": 1.5,
                                                                                   "spacing": 0.5}])
def test_nearest_elements_are_those_of_the_whole_image(shape, how):
    image = random.random(shape) < 0.1
    expected = apsis.voronoi(image, **how)
    for set, in cuts(image):
        compare((apsis.dask.nearest(set, **how), apsis.dask.voronoi(set, **how)), (expected, expected))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("density", [0, 0.3, 0.6, 1])
@pytest.mark.parametrize("how", [
    {}, {"connectivity": 2}, {"connectivity": None}, {"complement": True}, {"dtype": np.int64}, {"dtype": bool, "min_area": 2},
    {"largest": 3}, {"border": False, "min_area": 2, "max_area": 40}, {"inner": False, "dtype": np.uint8}])
def test_labels_and_statistics_are_those_of_the_whole_image(shape, density, how):
    image = random.random(shape) < density
    labels, count, known = apsis.components(image, statistics=True, **how)
    options = {name: value for name, value in how.items() if name != "dtype"}
    for set, in cuts(image):
        compare(apsis.dask.label(set, **how), (labels, np.int64(count)))
        compare((*apsis.dask.label(set, statistics=True, **how), apsis.dask.statistics(set, **options)),
                (labels, np.int64(count), known, known))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.uint16, np.uint32, np.int64])
@pytest.mark.parametrize("how", [{}, {"connectivity": 2, "dtype": np.int64}, {"largest": 3}, {"border": False, "dtype": bool}])
def test_components_of_label_images_are_those_of_the_whole_image(shape, dtype, how):
    cells = random.integers(-1 if np.dtype(dtype).kind == "i" else 0, 3, shape).astype(dtype)
    labels, count, known = apsis.components(cells, labels=True, statistics=True, **how)
    options = {name: value for name, value in how.items() if name != "dtype"}
    for set, in cuts(cells):
        compare(apsis.dask.label(set, labels=True, **how), (labels, np.int64(count)))
        compare((*apsis.dask.label(set, labels=True, statistics=True, **how),
                 apsis.dask.statistics(set, labels=True, **options)), (labels, np.int64(count), known, known))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("how", [
    {}, {"nearest": True, "connectivity": 1}, {"metric": "city-block", "dtype": np.int64}, {"complement": True, "spacing": 0.5},
    {"metric": "chamfer", "nearest": np.int64, "dtype": None}, {"max_distance": 3, "spacing": (1, 2, 3)}])
def test_geodesic_distances_are_those_of_the_whole_image(shape, how):
    if isinstance(how.get("spacing"), tuple):
        how = {**how, "spacing": how["spacing"][:len(shape)]}
    for density in (0.005, 0.1):
        image, seeds = random.random(shape) < 0.6, random.random(shape) < density
        expected = apsis.geodesic(image, seeds, **how)
        for both in cuts(image, seeds):
            compare(apsis.dask.geodesic(*both, **how), expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64])
@pytest.mark.parametrize("how", [{}, {"border": True, "dtype": np.int64}, {"nearest": True, "max_distance": 2}])
def test_maps_of_label_images_are_those_of_the_whole_image(shape, dtype, how):
    image = random.integers(0, 3, shape).repeat(2, axis=-1)[..., :shape[-1]].astype(dtype)
    image[:, : shape[1] // 2] = image[0, : shape[1] // 2]  # runs that go through all slabs
    cells = image * (random.random(shape) < 0.1)
    between, grown = apsis.distance(image, labels=True, **how), apsis.voronoi(cells, labels=True, max_distance=3)
    for one, other in zip(cuts(image), cuts(cells)):
        compare(apsis.dask.distance(*one, labels=True, **how), between)
        compare(apsis.dask.voronoi(*other, labels=True, max_distance=3), grown)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64])
def test_values_and_contacts_of_label_images_are_those_of_the_whole_image(shape, dtype):
    image, how = random.integers(-2, 3, shape).astype(dtype), {"connectivity": 2, "spacing": 0.1}
    known, pairs = apsis.statistics(image), apsis.contacts(image, **how)
    for [labels] in cuts(image):
        got = dask.compute(apsis.dask.value_statistics(labels), apsis.dask.contacts(labels, **how))
        assert got[0].tobytes() == known.tobytes() and got[1].tobytes() == pairs.tobytes()


# ---- Images that close on themselves ----

@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("periodic", [[0], [1], [-1], True])
def test_images_that_close_on_themselves(shape, periodic):
    image, seeds = random.random(shape) < 0.4, random.random(shape) < 0.03
    sparse = random.random(shape) < 0.03
    calls = [("distance", [sparse], {"signed": True}), ("distance", [image], {"metric": "chessboard"}),
             ("distance", [sparse], {"nearest": True, "spacing": 0.5}), ("voronoi", [sparse], {"max_distance": 3}),
             ("geodesic", [image, seeds], {"nearest": True, "connectivity": 1}), ("geodesic", [image, seeds], {})]
    for name, given, how in calls:
        expected = getattr(apsis, name)(*given, periodic=periodic, **how)
        for arrays in cuts(*given):
            compare(getattr(apsis.dask, name)(*arrays, periodic=periodic, **how), expected)
    for how in ({"connectivity": 2}, {"border": False, "largest": 4}):
        labels, count, known = apsis.components(image, statistics=True, periodic=periodic, **how)
        for set, in cuts(image):
            got = apsis.dask.label(set, statistics=True, periodic=periodic, **how)
            compare((*got, apsis.dask.statistics(set, periodic=periodic, **how)), (labels, np.int64(count), known, known))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("periodic", [[0], [1], [-1], True])
def test_label_images_that_close_on_themselves(shape, periodic):
    image = random.integers(0, 3, shape).repeat(3, axis=-1)[..., :shape[-1]].astype(np.int16)
    image[:, : shape[1] // 2] = image[0, : shape[1] // 2]  # runs all around
    cells = image * (random.random(shape) < 0.1)
    calls = [("distance", image, {"nearest": True}), ("distance", image, {"border": True, "dtype": np.int64}),
             ("voronoi", cells, {}), ("voronoi", cells, {"max_distance": 3})]
    for name, given, how in calls:
        expected = getattr(apsis, name)(given, labels=True, periodic=periodic, **how)
        for labels, in cuts(given):
            compare(getattr(apsis.dask, name)(labels, labels=True, periodic=periodic, **how), expected)
    numbers, count, known = apsis.components(image, labels=True, statistics=True, periodic=periodic)
    pairs = apsis.contacts(image, connectivity=2, spacing=0.1, periodic=periodic)
    for labels, in cuts(image):
        compare(apsis.dask.label(labels, labels=True, statistics=True, periodic=periodic), (numbers, np.int64(count), known))
        got = apsis.dask.contacts(labels, connectivity=2, spacing=0.1, periodic=periodic).compute()
        assert got.tobytes() == pairs.tobytes()


def test_the_last_chunk_faces_the_first_one():
    image = np.zeros((9, 4), np.uint8)
    image[0, 0], image[-1] = 5, 5
    set = lazy(image, (1, 2))
    assert apsis.dask.label(set, periodic=[0])[1].compute() == 1
    assert apsis.dask.distance(set, periodic=[0], dtype=np.int32)[1, 3].compute() == 4
    assert apsis.dask.contacts(lazy(np.arange(1, 10).reshape(9, 1), (2, 1)), periodic=[0])["a"].compute().tolist() \
        == [1, 1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("shape", [(2, 5), (2, 2), (3, 2, 4)])
def test_rings_of_few_rows(shape):
    image, seeds = random.random(shape) < 0.7, random.random(shape) < 0.2
    for rows in range(1, shape[0] + 1):
        set, starts = (lazy(each, (rows, *shape[1:])) for each in (image, seeds))
        compare(apsis.dask.distance(set, nearest=True, periodic=True), apsis.distance(image, nearest=True, periodic=True))
        compare(apsis.dask.geodesic(set, starts, periodic=True), apsis.geodesic(image, seeds, periodic=True))
        labels, count = apsis.components(image, periodic=True)
        compare(apsis.dask.label(set, periodic=True), (labels, np.int64(count)))


def test_a_path_that_crosses_slabs_many_times():
    image = np.zeros((20, 41), bool)
    image[:, ::2] = True
    image[0, 1::4] = image[-1, 3::4] = True  # a meander
    seeds = np.zeros_like(image)
    seeds[-1, 0] = True
    expected = apsis.geodesic(image, seeds, nearest=True)
    assert np.isfinite(expected[0][:, -1]).all()
    compare(apsis.dask.geodesic(lazy(image, (3, 7)), lazy(seeds, (20, 41)), nearest=True), expected)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (1, 1), (0, 3, 4), (4, 0, 3)])
def test_images_of_almost_nothing(shape):
    image = np.ones(shape, bool)
    set = lazy(image, shape)
    compare(apsis.dask.distance(set, nearest=True), apsis.distance(image, nearest=True))
    labels, count, known = apsis.components(image, statistics=True)
    compare(apsis.dask.label(set, statistics=True), (labels, np.int64(count), known))
    compare(apsis.dask.geodesic(set, set), apsis.geodesic(image, image))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int32, np.float64, np.complex64])
def test_elements_that_are_not_zero_are_the_set(dtype):
    image = (random.random(PLANE) < 0.2).astype(dtype) * dtype(1 if dtype is bool else 3)
    compare(apsis.dask.distance(lazy(image, (4, 5)), signed=True), apsis.distance(image, signed=True))
    compare(apsis.dask.label(lazy(image, (4, 5))), (apsis.components(image)[0], np.int64(apsis.components(image)[1])))


# ---- Graphs ----

def tasks_of(*arrays):
    return len(set().union(*(dict(array.__dask_graph__()) for array in arrays)))


@pytest.mark.parametrize("name, call, most", [
    ("distance", apsis.dask.distance, 4.7), ("distance and nearest", lambda set: apsis.dask.distance(set, nearest=True), 6.7),
    ("label", apsis.dask.label, 5.4), ("statistics", apsis.dask.statistics, 2.7),
    ("geodesic", lambda set: apsis.dask.geodesic(set, set), 4.1)])
def test_graphs_of_ten_thousand_slabs(name, call, most):
    rows = 10000
    set = da.zeros((2 * rows, 30), chunks=(2, 30), dtype=bool)
    start = time.perf_counter()
    made = call(set)
    seconds = time.perf_counter() - start
    made = made if isinstance(made, tuple) else (made,)
    count = tasks_of(*made) - tasks_of(set)
    print(f"{name}: {count} tasks of 10 000 slabs, made in {seconds:.2f} s")
    assert count < most * rows + 10
    assert seconds < 10  # 0.5 to 0.9 on a machine that does nothing else


def test_the_depth_of_graphs_grows_as_a_logarithm():
    def depth(array):
        needs = array.__dask_graph__().get_all_dependencies()
        longest = functools.lru_cache(None)(lambda key: 1 + max(map(longest, needs[key]), default=0))
        return max(map(longest, needs))
    few, many = (da.zeros((rows, 3), chunks=(1, 3), dtype=bool) for rows in (16, 1024))
    for call, steps in ((apsis.dask.distance, 2), (lambda set: apsis.dask.label(set)[0], 4), (apsis.dask.statistics, 2)):
        assert depth(call(many)) - depth(call(few)) == 3 * steps  # a level of the tree for each factor of 4


def test_maps_are_not_rechunked_and_have_the_same_chunks():
    set = lazy(random.random((40, 30)) < 0.2, (7, 9))
    distance, labels = apsis.dask.distance(set), apsis.dask.label(set)[0]
    assert distance.chunks == labels.chunks == ((2,) * 20, (30,))
    assert apsis.dask.distance(lazy(np.zeros((40, 30)), (7, 30))).chunks == ((7,) * 5 + (5,), (30,))
    assert [len(along) for along in apsis.dask.distance(lazy(np.zeros((64, 8, 8)), 5)).chunks] == [4, 1, 1]
    assert distance.numblocks == (20, 1) and (distance + labels).compute().shape == (40, 30)


def test_a_set_is_read_once_for_several_maps():
    reads = []

    def read(block, block_info=None):
        reads.append(block_info[0]["chunk-location"])
        return block
    set = lazy(random.random((12, 8)) < 0.3, (3, 8)).map_blocks(read, dtype=bool, meta=np.empty((0, 0), bool))
    del reads[:]
    dask.compute(apsis.dask.distance(set), *apsis.dask.label(set, statistics=True))
    assert sorted(reads) == [(k, 0) for k in range(4)]


def test_names_are_those_of_the_arguments():
    image = random.random(PLANE) < 0.2
    one, other = (apsis.dask.distance(lazy(image, 5), nearest=True) for _ in range(2))
    assert one[0].name == other[0].name != apsis.dask.distance(lazy(image, 5), signed=True).name
    compare(one[1] - other[1], np.zeros(PLANE, np.int32))
    assert apsis.dask.label(lazy(image, 5))[0].name != apsis.dask.label(lazy(image, 5), connectivity=2)[0].name


def test_data_arrays_keep_dimensions_and_coordinates():
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    image = random.random(PLANE) < 0.2
    given = xarray.DataArray(image, {"lat": np.linspace(50, 45, 23), "lon": np.linspace(5, 9, 17)}, ("lat", "lon")).chunk(6)
    whole = apsis.distance(image)
    for got in (apsis.dask.distance(given), xarray.apply_ufunc(apsis.dask.distance, given, dask="allowed")):
        assert got.chunks and got.dims == given.dims
        xarray.testing.assert_identical(got.coords.to_dataset(), given.coords.to_dataset())
        np.testing.assert_array_equal(got.compute().values, whole)
    labels, count = apsis.dask.label(given)
    assert labels.sel(lat=50, lon=5).compute() == apsis.components(image)[0][0, 0] and count.compute() == labels.max()


# ---- What is refused, and when: by the call, before anything is computed ----

SET = da.zeros((4, 3), chunks=2, dtype=bool)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: apsis.dask.distance(np.zeros((4, 3))), TypeError, "^set is a ndarray, but must be a dask array"),
    (lambda: apsis.dask.geodesic(SET, None), TypeError, "^seeds is a NoneType, but must be a dask array"),
    (lambda: apsis.dask.distance(SET.astype("M8[s]")), TypeError, r"^set has dtype datetime64\[s\], but must be an array of"),
    (lambda: apsis.dask.distance(SET[0]), ValueError, "^set has 1 axes, but 2 or 3 are needed"),
    (lambda: apsis.dask.distance(SET[SET.any(1)]), ValueError, r"^set has chunks of unknown sizes: set.compute"),
    (lambda: apsis.dask.distance(da.zeros((2**31, 2), chunks=2**27)), ValueError, "^extent is 2147483648, but must"),
    (lambda: apsis.dask.label(da.zeros((2**31, 2), chunks=2**27)), ValueError, r"^shape\[0\] is 2147483648, but must be"),
    (lambda: apsis.dask.distance(SET, spacing=(1, 0)), ValueError, r"^spacing\[1\] is 0, but must be positive and finite"),
    (lambda: apsis.dask.distance(SET, spacing=(1, 1, 1)), ValueError, "^spacing has 3 numbers, but the array has 2 axes"),
    (lambda: apsis.dask.distance(SET, dtype=np.int16), ValueError, "^dtype is int16, but must be float32"),
    (lambda: apsis.dask.distance(SET, dtype=None), ValueError, "^dtype is None, and nothing else is asked for"),
    (lambda: apsis.dask.distance(SET, max_distance=-1), ValueError, "^max_distance is -1, but must be positive"),
    (lambda: apsis.dask.distance(SET, signed="yes"), TypeError, "^signed is 'yes', but must be True or False"),
    (lambda: apsis.dask.distance(SET, complement=2), TypeError, "^complement is 2, but must be True or False"),
    (lambda: apsis.dask.distance(SET, device="gpu"), ValueError, '^device is \'gpu\', but must be "cpu", "best"'),
    (lambda: apsis.dask.distance(SET, metric="chessboard", nearest=True), NotImplementedError, "nearest"),
    (lambda: apsis.dask.nearest(SET, dtype=np.float32), ValueError, "^nearest is float32, but must be int32 or int64"),
    (lambda: apsis.dask.label(SET, connectivity=3), ValueError, "^connectivity is 3, but must be at most 2"),
    (lambda: apsis.dask.label(SET, dtype=np.float32), ValueError, "^dtype is float32, but must be int32, int64, uint8 or bool"),
    (lambda: apsis.dask.label(SET, dtype=None), ValueError, "dtype is None"),
    (lambda: apsis.dask.distance(SET / 2, labels=True), TypeError, "^set has dtype float64, but labels are integers or bools"),
    (lambda: apsis.dask.distance(SET, labels=True, signed=True), ValueError, "^labels.* signed"),
    (lambda: apsis.dask.voronoi(SET.astype("u1"), labels=True, complement=True), ValueError, "^labels.* complement"),
    (lambda: apsis.dask.distance(SET, border=True), ValueError, "^border"),
    (lambda: apsis.dask.label(SET / 2, labels=True), TypeError, "^set has dtype float64, but labels are integers or bools"),
    (lambda: apsis.dask.label(SET, labels="yes"), TypeError, "^labels is 'yes', but must be True or False"),
    (lambda: apsis.dask.statistics(SET, labels=True, complement=True), ValueError, "^labels and complement are set"),
    (lambda: apsis.dask.label(SET, largest=0), ValueError, "^largest is 0, but must be from 1 to"),
    (lambda: apsis.dask.label(SET, statistics=3), TypeError, "^statistics is 3, but must be True or False"),
    (lambda: apsis.dask.statistics(SET, border=None), TypeError, "^border is None, but must be True or False"),
    (lambda: apsis.dask.geodesic(SET, SET[1:]), ValueError, r"^seeds has shape \(3, 3\), but set has \(4, 3\)"),
    (lambda: apsis.dask.geodesic(SET, SET, dtype=np.int32), ValueError, "dtype"),
    (lambda: apsis.dask.geodesic(SET, SET, metric="octile"), ValueError, "^metric is 'octile', but must be one of"),
    (lambda: apsis.dask.distance(SET, periodic=1), TypeError, "^periodic is 1, but must be True, False or a sequence of axes"),
    (lambda: apsis.dask.label(SET, periodic=[2]), ValueError, "^periodic has the axis 2, but the array has 2 axes"),
    (lambda: apsis.dask.distance(SET[:, :1], periodic=True), ValueError, "at least 2"),
    (lambda: apsis.dask.distance(SET[:1], periodic=True), ValueError, "at least 2"),
    (lambda: apsis.dask.label(SET[:1], periodic=[0]), ValueError, "at least 2"),
    (lambda: apsis.dask.contacts(SET[:, :1], periodic=[1]), ValueError, "at least 2"),
    (lambda: apsis.dask.geodesic(SET[:1], SET[:1], periodic=[0]), ValueError, "at least 2"),
])
def test_wrong_arguments_are_refused_by_the_call(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_masked_elements_are_refused_when_they_are_met():
    masked = np.ma.masked_array(np.zeros((4, 3)), np.eye(4, 3))
    with pytest.raises(ValueError, match=r"^set has masked elements"):
        apsis.dask.distance(da.from_array(masked, chunks=2, asarray=False)).compute()


def test_more_components_than_the_type_of_labels_holds():
    """Numbers are checked when they are there: that a count of 2^31 does not fit is seen without as many elements."""
    import apsis._dask_tasks as tasks
    told = apsis.slabs.parts(np.ones((1, 3)), 0)
    told.before = 2**31 - 1
    with pytest.raises(ValueError, match="numbers may go up to 2147483648"):
        tasks.components(tasks.pack(np.ones((1, 3), bool)), tasks.Slab(0, (1, 3)), told, {"dtype": np.int32})


# ---- On a GPU ----

@pytest.mark.parametrize("chunks", CHUNKS[PLANE])
def test_blocks_of_cupy_stay_on_the_gpu(chunks):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not apsis.device_count():
        pytest.skip("no GPU")
    image, seeds = random.random(PLANE) < 0.4, random.random(PLANE) < 0.1
    set, starts = (da.from_array(cupy.asarray(each), chunks=chunks, asarray=False) for each in (image, seeds))
    labels, count, known = apsis.dask.label(set, statistics=True, largest=5)
    right, right_count, right_known = apsis.components(image, statistics=True, largest=5)
    made = *apsis.dask.distance(set, nearest=True, signed=True), *apsis.dask.geodesic(set, starts, nearest=True), labels
    those = *apsis.distance(image, nearest=True, signed=True), *apsis.geodesic(image, seeds, nearest=True), right
    for lazily, expected in zip(made, those):
        got = lazily.compute()
        assert isinstance(lazily._meta, cupy.ndarray) and isinstance(got, cupy.ndarray) and got.dtype == lazily.dtype
        np.testing.assert_array_equal(got.get(), expected)
    compare((count, known), (np.int64(right_count), right_known))
