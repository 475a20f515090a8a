"""Arrays on a GPU, of CuPy and of PyTorch: the results are there too, and are those of the CPU.  Without a GPU, or without the
library of such arrays, tests are skipped."""

import importlib

import numpy as np
import pytest

import apsis
import apsis.ndimage as ndimage

pytestmark = pytest.mark.skipif(apsis.device_count() == 0, reason="no GPU")


class CuPy:
    def __init__(self):
        self.library = importlib.import_module("cupy")

    def to_device(self, array):
        return self.library.asarray(array)

    def to_host(self, array):
        return self.library.asnumpy(array)

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def kind(self):
        return self.library.ndarray


class PyTorch:
    def __init__(self):
        self.library = importlib.import_module("torch")

    def to_device(self, array):
        return self.library.from_numpy(np.ascontiguousarray(array)).cuda()

    def to_host(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.library.cuda.stream(self.library.cuda.Stream())

    def kind(self):
        return self.library.Tensor


@pytest.fixture(params=[CuPy, PyTorch])
def maker(request):
    try:
        return request.param()
    except ImportError:
        pytest.skip(f"no {request.param.__name__}")


def random_set(*shape, density=0.1, seed=1):
    return np.random.default_rng(seed).random(shape) < density


def check(maker, function, *sets, **options):
    """One function on arrays on the GPU, beside the same on the CPU."""
    there = function(*map(maker.to_device, sets), **options)
    here = function(*sets, **options)
    there, here = (list(r) if isinstance(r, tuple) else [r] for r in (there, here))
    assert len(there) == len(here)
    for t, h in zip(there, here):
        if isinstance(t, maker.kind()):
            t = maker.to_host(t)
        else:
            assert not isinstance(h, np.ndarray) or h.dtype.names, "a map has left the GPU"
        np.testing.assert_array_equal(t, h)


@pytest.mark.parametrize("shape", [(97, 130), (20, 33, 70)])
def test_every_function_gives_what_the_cpu_gives(maker, shape):
    mask = random_set(*shape)
    check(maker, apsis.distance, mask, nearest=True, spacing=1 if len(shape) == 2 else (2, 1, 1))
    check(maker, apsis.distance, mask, signed=True, dtype=np.float64)
    check(maker, apsis.voronoi, mask)
    check(maker, apsis.components, ~mask, statistics=True, connectivity=2)
    check(maker, apsis.geodesic, ~mask, random_set(*shape, density=0.01, seed=2), nearest=True)
    check(maker, apsis.eccentricity, ~mask, farthest=True, extents=True)


def test_cells_are_connected(maker):
    check(maker, apsis.voronoi, random_set(200, 300, density=0.001), connected=True)


def test_views_are_taken_as_they_lie(maker):
    mask = random_set(60, 90)
    there = maker.to_device(mask)
    for view in (lambda a: a.T, lambda a: a[3:50, ::2], lambda a: a[::3]):
        np.testing.assert_array_equal(maker.to_host(apsis.distance(view(there))), apsis.distance(view(mask)))


def test_other_types_and_outputs(maker):
    mask = random_set(50, 60)
    there = maker.to_device(mask.astype(np.int32))
    out = maker.to_device(np.zeros((50, 60), np.float64))
    assert apsis.distance(there, out=out) is out
    np.testing.assert_array_equal(maker.to_host(out), apsis.distance(mask, dtype=np.float64))


def test_work_is_queued_on_the_current_stream(maker):
    mask = random_set(2000, 3000, density=0.001)
    expected = apsis.distance(mask)
    with maker.stream():
        there = maker.to_device(mask)
        for _ in range(20):
            distance = apsis.distance(there)
        result = maker.to_host(distance)
    np.testing.assert_array_equal(result, expected)


def test_functions_of_scipys_names_take_cupys_arrays():
    cupy = pytest.importorskip("cupy")
    mask = random_set(60, 80)
    there = cupy.asarray(mask)
    for ours in (lambda a: ndimage.distance_transform_edt(a, sampling=(2, 1), return_indices=True),
                 lambda a: ndimage.distance_transform_cdt(a, "taxicab", return_indices=True),
                 lambda a: ndimage.label(a, np.ones((3, 3)))):
        (map, *more), (expected, *rest) = ours(there), ours(mask)
        assert isinstance(map, cupy.ndarray) and map.dtype == expected.dtype
        np.testing.assert_array_equal(cupy.asnumpy(map), expected)
        np.testing.assert_array_equal(cupy.asnumpy(more[0]) if isinstance(more[0], cupy.ndarray) else more[0], rest[0])


def test_more_than_2_31_elements():
    torch = pytest.importorskip("torch")
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
