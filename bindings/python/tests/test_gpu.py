"""Arrays on a GPU, of CuPy, of PyTorch, and with nothing but __cuda_array_interface__: the results are there too, and are those
of the CPU.  Without a GPU, or without the library of such arrays, tests are skipped.  `-k plain` are those of the last kind,
which the fake device takes, too, if $APSIS_LIBRARY is that of tests/fake_device."""

import concurrent.futures
import contextlib
import gc
import importlib

import numpy as np
import pytest

import apsis
import apsis.ndimage as ndimage
from apsis import _arrays, _context

pytestmark = pytest.mark.skipif(apsis.device_count() == 0, reason="no GPU")


class CuPy:
    def __init__(self):
        self.library = importlib.import_module("cupy")
        self.kind = self.library.ndarray

    def to_device(self, array):
        return self.library.asarray(array)

    def to_host(self, array):
        return self.library.asnumpy(array)

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def is_done(self):
        return self.library.cuda.get_current_stream().done

    def wait(self):
        self.library.cuda.Device().synchronize()


class PyTorch:
    def __init__(self):
        self.library = importlib.import_module("torch")
        self.kind = self.library.Tensor

    def to_device(self, array):
        return self.library.from_numpy(np.ascontiguousarray(array)).cuda()

    def to_host(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.library.cuda.stream(self.library.cuda.Stream())

    def is_done(self):
        return self.library.cuda.current_stream().query()

    def wait(self):
        self.library.cuda.synchronize()


class Plain:
    """Of which no results can be made: they are given."""

    def __init__(self):
        self.library = importlib.import_module("plain")
        self.kind = self.library.Array

    def to_device(self, array):
        return self.library.asarray(array)

    def to_host(self, array):
        return array.get()


@pytest.fixture(scope="module", autouse=True)
def contexts_are_closed():
    """So that the fake device, which looks for what is left at the end, finds nothing."""
    yield
    for context in _context._own.__dict__.pop("contexts", {}).values():
        context.close()


def one_of(kind):
    try:
        return kind()
    except ImportError:
        pytest.skip(f"no {kind.__name__}")


@pytest.fixture(params=[CuPy, PyTorch])
def maker(request):
    """What makes arrays of a library."""
    return one_of(request.param)


@pytest.fixture(params=[CuPy, PyTorch, Plain])
def any_maker(request):
    return one_of(request.param)


def random_set(*shape, density=0.1, seed=1):
    return np.random.default_rng(seed).random(shape) < density


def label_image(shape, dtype):
    values = np.random.default_rng(3).integers(-2 if np.dtype(dtype).kind == "i" else 0, 4, [-(-n // 4) for n in shape])
    return np.kron(values, np.ones((4,) * len(shape), int))[tuple(map(slice, shape))].astype(dtype)


def check(maker, function, *sets, **options):
    """One function on arrays on the GPU, beside the same on the CPU."""
    there = function(*map(maker.to_device, sets), **options)
    here = function(*sets, **options)
    there, here = (list(r) if isinstance(r, tuple) else [r] for r in (there, here))
    assert len(there) == len(here)
    for t, h in zip(there, here):
        if isinstance(t, maker.kind):
            t = maker.to_host(t)
        else:
            assert not isinstance(h, np.ndarray) or h.dtype.names, "a map has left the GPU"
        np.testing.assert_array_equal(t, h)


# ---- What is computed ----

@pytest.mark.parametrize("shape", [(500,), (97, 130), (20, 33, 70)])
def test_every_function_gives_what_the_cpu_gives(maker, shape):
    mask = random_set(*shape)
    check(maker, apsis.distance, mask, nearest=True, spacing=(2, 1, 1)[3 - len(shape):])
    check(maker, apsis.distance, mask, signed=True, dtype=np.float64)
    check(maker, apsis.voronoi, mask, connected=True)
    for more in ({"statistics": True, "connectivity": len(shape)}, {"border": False}, {"inner": False, "dtype": bool},
                 {"largest": 3, "complement": True}):
        check(maker, apsis.components, ~mask, **more)
    check(maker, apsis.geodesic, ~mask, random_set(*shape, density=0.01, seed=2), nearest=True)
    check(maker, apsis.eccentricity, ~mask, farthest=True, extents=True)
    if len(shape) == 3:
        check(maker, apsis.distance, mask, slices=True)


def test_cells_are_connected(maker):
    check(maker, apsis.voronoi, random_set(200, 300, density=0.001), connected=True)


def test_more_components_than_expected(maker):
    mask = np.zeros((200, 200), bool)
    mask[::2, ::2] = True
    check(maker, apsis.components, mask, statistics=True)


@pytest.mark.parametrize("shape", [(0,), (0, 7), (3, 0, 5)])
def test_no_elements(maker, shape):
    check(maker, apsis.distance, np.zeros(shape, bool), nearest=True)
    check(maker, apsis.components, np.zeros(shape, bool), statistics=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64, np.float16, np.float64])
def test_sets_of_every_type(maker, dtype):
    mask = random_set(50, 60)
    check(maker, apsis.distance, mask.astype(dtype) * dtype(3))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("shape", [(500,), (97, 130), (20, 33, 70)])
def test_label_images(maker, shape, dtype):
    labels = label_image(shape, dtype)
    check(maker, apsis.voronoi, labels, labels=True, max_distance=3)
    check(maker, apsis.components, labels, labels=True, statistics=True)
    check(maker, apsis.statistics, labels)
    check(maker, apsis.statistics, np.abs(labels), dense=True)
    check(maker, apsis.contacts, labels, connectivity=len(shape))
    check(maker, apsis.geodesic, np.ones(shape, bool), labels, nearest=True, labels=True)
    check(maker, apsis.distance, labels, labels=True, nearest=True, border=len(shape) > 1)
    if len(shape) == 1:
        with pytest.raises(NotImplementedError, match="border is True, but set is a line on a GPU"):
            apsis.distance(maker.to_device(labels), labels=True, border=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64])
def test_plain_label_images(dtype):
    labels = label_image((60, 70), dtype)
    for view in (labels, labels.T, labels[::2]):
        there = one_of(Plain).to_device(view)
        np.testing.assert_array_equal(apsis.statistics(there), apsis.statistics(view))
        np.testing.assert_array_equal(apsis.contacts(there, connectivity=2), apsis.contacts(view, connectivity=2))
        out = one_of(Plain).to_device(np.zeros(view.shape, np.float32))
        apsis.distance(there, labels=True, border=True, out=out)
        np.testing.assert_array_equal(out.get(), apsis.distance(view, labels=True, border=True))
    with pytest.raises(ValueError, match="labels has strides"):
        apsis.statistics(one_of(Plain).library.Array(there.block, np.broadcast_to(there.view[0], (3, 70))))


# ---- Arrays ----

@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[3:50, ::2], lambda a: a[::3], lambda a: a[1:, 5:],
                                  lambda a: a[::-1, ::-2]], ids=["transposed", "part", "rows", "shifted", "reversed"])
def test_views_are_taken_as_they_lie(any_maker, view):
    mask = random_set(60, 90)
    if isinstance(any_maker, PyTorch) and min(view(mask).strides) < 0:
        pytest.skip("PyTorch has no negative strides")
    expected, nearest = apsis.distance(view(mask), nearest=True)
    room = np.full(mask.shape, 7, np.float32)
    maps = any_maker.to_device(room), any_maker.to_device(room.astype(np.int64))
    out, sites = map(view, maps)
    result = apsis.distance(view(any_maker.to_device(mask)), out=out, nearest_out=sites)
    assert result[0] is out and result[1] is sites
    for (there, map_of), right in zip(((maps[0], np.float32), (maps[1], np.int64)), (expected, nearest)):
        here = room.astype(map_of)
        view(here)[...] = right
        np.testing.assert_array_equal(any_maker.to_host(there), here)  # and nothing around it has changed


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_outputs_that_are_given(any_maker, dtype):
    mask, seeds = random_set(50, 60, density=0.6), random_set(50, 60, density=0.01)
    there, starts = any_maker.to_device(mask), any_maker.to_device(seeds)
    out = any_maker.to_device(np.zeros((50, 60), dtype))
    options = {"metric": "city-block"}
    for verb, sets in ((apsis.distance, (seeds,)), (apsis.geodesic, (mask, seeds)), (apsis.eccentricity, (mask,))):
        assert verb(*(there if set is mask else starts for set in sets), out=out, **options) is out
        np.testing.assert_array_equal(any_maker.to_host(out), verb(*sets, dtype=dtype, **options))
    if dtype in (np.int32, np.int64):
        labels, count, known = apsis.components(there, out=out, statistics=True)
        _, expected_count, expected = apsis.components(mask, statistics=True)
        assert labels is out and count == expected_count and (known == expected).all()
        np.testing.assert_array_equal(any_maker.to_host(out), apsis.components(mask)[0])
        np.testing.assert_array_equal(any_maker.to_host(apsis.voronoi(starts, out=out)), apsis.voronoi(seeds))


def test_arrays_on_the_host_and_on_the_device(any_maker):
    mask, seeds = random_set(50, 60, density=0.6), random_set(50, 60, density=0.01)
    expected = apsis.geodesic(mask, seeds)
    there, starts = any_maker.to_device(mask), any_maker.to_device(seeds)
    out, far = np.zeros((50, 60), np.float32), any_maker.to_device(np.zeros((50, 60), np.float32))
    np.testing.assert_array_equal(apsis.geodesic(there, seeds, out=out), expected)
    np.testing.assert_array_equal(any_maker.to_host(apsis.geodesic(mask, starts, out=far, device=0)), expected)
    np.testing.assert_array_equal(apsis.geodesic(mask, seeds, device=0), expected)


# ---- What is refused ----

def test_outputs_that_are_refused(any_maker):
    there = any_maker.to_device(random_set(50, 60))
    for shape, dtype, words in (((60, 50), np.float32, r"out has shape \(60, 50\), but set has \(50, 60\)"),
                                ((50, 60), np.float16, "out has dtype float16, but must be of float32, float64, int32 or"),
                                ((50, 60), np.uint8, "out has dtype uint8, but must be")):
        with pytest.raises(apsis.ArgumentError, match=f"^{words}"):
            apsis.distance(there, out=any_maker.to_device(np.zeros(shape, dtype)))
    shared = any_maker.to_device(np.zeros((50, 60), np.int32))
    with pytest.raises(apsis.ArgumentError, match="^nearest_out overlaps out"):
        apsis.distance(there, out=shared, nearest_out=shared)
    with pytest.raises(apsis.ArgumentError, match=r"^spacing\[1\] is 0, but must be positive"):
        apsis.distance(there, spacing=(1, 0), out=shared)
    assert not any_maker.to_host(shared).any()


def test_arrays_on_other_devices(any_maker):
    mask = random_set(50, 60)
    there, out = any_maker.to_device(mask), any_maker.to_device(np.zeros((50, 60), np.float32))
    with pytest.raises(apsis.ArgumentError, match="^set lies on device 0, but the work is done on the CPU"):
        apsis.distance(there, out=out, device="cpu")
    with pytest.raises(apsis.ArgumentError, match="^out lies on device 0, but the work is done on the CPU"):
        apsis.distance(mask, out=out)
    with pytest.raises(apsis.ArgumentError, match="^seeds lies on device 0, but the work is done on the CPU"):
        apsis.geodesic(mask, there)
    assert not any_maker.to_host(out).any()


def test_plain_arrays_on_another_gpu():
    plain = one_of(Plain)
    out = plain.to_device(np.zeros((50, 60), np.float32))
    out.device.id = 1
    with pytest.raises(apsis.ArgumentError, match="^out lies on device 1, but the work is done on device 0"):
        apsis.distance(plain.to_device(random_set(50, 60)), out=out)


def test_tensors_with_gradients():
    torch = one_of(PyTorch).library
    mask = random_set(50, 60).astype(np.float32)
    for device in ("cpu", "cuda"):
        there = torch.tensor(mask, device=device, requires_grad=True)
        distance = apsis.distance(there)
        assert distance.device.type == device and not distance.requires_grad
        np.testing.assert_array_equal(distance.cpu().numpy(), apsis.distance(mask))
        with pytest.raises(apsis.ArgumentError, match=r"^out requires a gradient, but .* out.detach\(\)"):
            apsis.distance(there, out=there)
    with pytest.raises(apsis.ArgumentError, match="^out has strides .*: its elements overlap"):
        apsis.distance(there, out=torch.zeros((1, 60), device="cuda").expand(50, 60))


def test_tensors_that_are_no_arrays():
    torch = one_of(PyTorch).library
    mask = random_set(50, 60)
    there = torch.from_numpy(mask).cuda()
    np.testing.assert_array_equal(apsis.distance(there.bfloat16()).cpu().numpy(), apsis.distance(mask))
    with pytest.raises(TypeError, match="^set is a Tensor that is no array in memory"):
        apsis.distance(there.float().to_sparse())


def test_plain_arrays_without_outputs():
    plain = one_of(Plain)
    there = plain.to_device(random_set(50, 60))
    with pytest.raises(TypeError, match="cannot make a Array: give the outputs"):
        apsis.distance(there)
    assert apsis.components(there, dtype=None)[1] == apsis.components(random_set(50, 60))[1]


# ---- Streams ----

SHAPE = (2000, 3000)


class Work:
    """On a new stream: much work, then a set that takes the place of an empty one."""

    def __init__(self, maker):
        self.maker, self.sin = maker, maker.library.sin
        self.mask = random_set(*SHAPE, density=0.001)
        self.expected = apsis.distance(self.mask)
        self.empty, self.full, self.set = map(maker.to_device, (np.zeros(SHAPE, bool), self.mask, np.zeros(SHAPE, bool)))
        self.out, self.room = maker.to_device(np.zeros(SHAPE, np.float32)), maker.to_device(np.ones(1 << 28, np.float32))
        with self.queued(1):  # what is compiled and allocated once
            apsis.distance(self.set, out=self.out)
        self.set[...] = self.empty
        maker.wait()

    @contextlib.contextmanager
    def queued(self, times=400):
        """On an H200 400 times take 0.2 seconds."""
        with self.maker.stream():
            for _ in range(times):
                self.sin(self.room, out=self.room)
            self.set[...] = self.full
            self.out[...] = -7
            yield
        self.maker.wait()


def test_work_is_queued_behind_and_before_others(maker):
    work = Work(maker)
    with work.queued():
        assert not maker.is_done(), "this is too little work"
        assert apsis.distance(work.set, out=work.out) is work.out
        assert not maker.is_done(), "apsis has waited"
        work.set[...] = work.empty
        result = work.out + 0
        work.out[...] = 0
        np.testing.assert_array_equal(maker.to_host(result), work.expected)
        assert not maker.to_host(work.out).any()


def test_on_another_stream_it_would_be_wrong(maker, monkeypatch):
    """So the test above finds work that is queued elsewhere."""
    work = Work(maker)
    monkeypatch.setattr(_arrays, "stream_of", lambda array: (0, None))
    with work.queued():
        result = apsis.distance(work.set)
    assert np.isinf(maker.to_host(result)).all()


def test_streams_that_are_gone(maker):
    mask = random_set(300, 400)
    expected = apsis.distance(mask)
    for _ in range(20):
        with maker.stream():
            result = apsis.distance(maker.to_device(mask))
        gc.collect()
        maker.wait()
        np.testing.assert_array_equal(maker.to_host(result), expected)


def test_every_function_on_a_stream(maker):
    work = Work(maker)
    with work.queued():
        labels, count, known = apsis.components(work.set, statistics=True)
    assert count == len(known) == int(labels.max()) == apsis.components(work.mask)[1]
    with work.queued():
        cells = apsis.voronoi(work.set)
        lengths = apsis.geodesic(work.set, work.full)
        results = maker.to_host(cells), maker.to_host(lengths)
    np.testing.assert_array_equal(results[0], apsis.voronoi(work.mask))
    np.testing.assert_array_equal(results[1], apsis.geodesic(work.mask, work.mask))


def test_sets_are_converted_on_the_stream(maker):
    work = Work(maker)
    numbers = maker.to_device(np.zeros(SHAPE, np.int32))
    numbers[...] = work.empty
    apsis.distance(numbers)
    with work.queued():
        numbers[...] = work.set
        result = maker.to_host(apsis.distance(numbers))
    np.testing.assert_array_equal(result, work.expected)


def test_progress_on_a_stream(maker):
    work, told = Work(maker), []
    with apsis.Context(0, progress=told.append) as context, work.queued():
        result = maker.to_host(context.distance(work.set))
    np.testing.assert_array_equal(result, work.expected)
    assert told[-1] == 1


def test_arrays_of_several_libraries():
    """Each on a stream of its own: the result is behind the work on both, and done."""
    makers = one_of(CuPy), one_of(PyTorch)
    for one, other in (makers, makers[::-1]):
        work, more = Work(one), Work(other)
        with more.queued(times=800), work.queued():
            assert apsis.distance(work.set, out=more.out) is more.out
            assert one.is_done() and other.is_done()
            np.testing.assert_array_equal(other.to_host(more.out), work.expected)


def test_threads_on_streams_of_their_own(maker):
    masks = [random_set(700, 900, density=0.01, seed=seed) for seed in range(4)]
    expected = [apsis.distance(mask) for mask in masks]

    def work(number):
        with maker.stream():
            there = maker.to_device(masks[number])
            return [maker.to_host(apsis.distance(there)) for _ in range(20)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for results, right in zip(pool.map(work, range(4)), expected):
            for result in results:
                np.testing.assert_array_equal(result, right)


def test_work_is_captured_in_a_graph():
    torch = one_of(PyTorch).library
    first, second = random_set(*SHAPE, density=0.001), random_set(*SHAPE, density=0.01)
    set, out = torch.from_numpy(first).cuda(), torch.zeros(SHAPE, device="cuda")
    apsis.distance(set, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        apsis.distance(set, out=out)
    for mask in (first, second):
        set.copy_(torch.from_numpy(mask))
        graph.replay()
        np.testing.assert_array_equal(out.cpu().numpy(), apsis.distance(mask))


# ---- In place of SciPy, and large ----

def test_functions_of_scipys_names_take_cupys_arrays():
    cupy = one_of(CuPy).library
    mask = random_set(60, 80)
    there = cupy.asarray(mask)
    for ours in (lambda a: ndimage.distance_transform_edt(a, sampling=(2, 1), return_indices=True),
                 lambda a: ndimage.distance_transform_cdt(a, "taxicab", return_indices=True),
                 lambda a: ndimage.label(a, np.ones((3, 3)))):
        (map, *more), (expected, *rest) = ours(there), ours(mask)
        assert isinstance(map, cupy.ndarray) and map.dtype == expected.dtype
        np.testing.assert_array_equal(cupy.asnumpy(map), expected)
        np.testing.assert_array_equal(cupy.asnumpy(more[0]) if isinstance(more[0], cupy.ndarray) else more[0], rest[0])
    labels = cupy.zeros(mask.shape, np.int16)
    assert ndimage.label(there, output=labels) == ndimage.label(mask)[1]
    np.testing.assert_array_equal(cupy.asnumpy(labels), ndimage.label(mask)[0])


@pytest.mark.parametrize("kind", [PyTorch, Plain])
def test_functions_of_scipys_names_refuse_other_arrays(kind):
    there = one_of(kind).to_device(random_set(60, 80))
    for function in (ndimage.distance_transform_edt, ndimage.distance_transform_cdt, ndimage.label):
        with pytest.raises(TypeError, match="^input is a (Tensor|Array) on a GPU, but must be an array of NumPy or CuPy"):
            function(there)


def test_more_than_2_31_elements():
    torch = one_of(PyTorch).library
    height, width, step = 40000, 65536, 16
    if torch.cuda.mem_get_info()[0] < 80 << 30:
        pytest.skip("less than 80 GiB of memory of the GPU are free")
    mask = torch.zeros((height, width), dtype=torch.uint8, device="cuda")
    mask[::step, ::step] = 1
    mask[::step, 1::step] = 1
    labels, count, known = apsis.components(mask, dtype=np.int64, statistics=True)
    rows, columns = height // step, width // step
    assert count == rows * columns == len(known)
    expected = torch.arange(1, count + 1, device="cuda").reshape(rows, columns)
    assert torch.equal(labels[::step, ::step], expected) and torch.equal(labels[::step, 1::step], expected)
    assert int((labels != 0).sum()) == 2 * count
    assert (known["area"] == 2).all() and known["first"][-1] == (height - step) * width + width - step
    del labels
    _, alone = apsis.components(mask, dtype=None)
    assert alone == count
    distance = apsis.distance(mask)
    assert float(distance[:-step, :-step].max()) == np.float32(np.sqrt(8**2 + 7**2))
    assert int((distance == 0).sum()) == 2 * count
