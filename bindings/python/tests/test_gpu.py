"""Arrays on a GPU, of CuPy, of PyTorch, and with nothing but __cuda_array_interface__: the results are there too, and are those
of the CPU.  Without a GPU, or without the library of such arrays, tests are skipped.  `-k plain` are those of the last kind,
which the fake device takes, too, if $APSIS_LIBRARY is that of tests/fake_device."""

import numpy as np
import pytest

import apsis
import apsis.ndimage as ndimage
from gpu_arrays import (CuPy, Plain, PyTorch, any_maker, check, contexts_are_closed, label_image, maker, one_of,  # noqa: F401
                        random_set)

pytestmark = pytest.mark.skipif(apsis.device_count() == 0, reason="no GPU")


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
