"""apsis.cc3d beside the package connected-components-3d, where that is installed."""

import inspect

import numpy as np
import pytest

import apsis
import apsis.cc3d as ours
from test_labels import brute_contacts

SHAPES = [(50,), (15, 17), (8, 9, 10)]
TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, bool]
CONNECTIVITIES = {1: (6, 18, 26), 2: (4, 6, 8, 18, 26), 3: (6, 18, 26)}


def image(shape, dtype=np.uint16, seed=2, order="C"):
    labels = np.random.default_rng(seed).integers(0, 4, shape)
    return np.asarray(np.where(labels == 3, -2 if np.dtype(dtype).kind in "if" else 3, labels).astype(dtype), order=order)


@pytest.fixture
def theirs():
    return pytest.importorskip("cc3d")


def in_order(labels):
    """Labels numbered by their first elements, as C has them in memory."""
    values, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(np.where(values == 0, -1, first)))
    return rank[numbers].reshape(labels.shape) + (0 not in values)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_components(theirs, shape, dtype, order):
    labels = image(shape, dtype, order=order)
    for connectivity in CONNECTIVITIES[len(shape)]:
        for options in ({}, {"binary_image": True}, {"out_dtype": np.uint32}, {"out_dtype": np.uint64}):
            found, count = ours.connected_components(labels, connectivity=connectivity, return_N=True, **options)
            if "binary_image" in options:  # cc3d 4.1 looks at values there, too, if connectivity is 4
                labels = (labels != 0).astype(dtype)
            expected, many = theirs.connected_components(labels, connectivity=connectivity, return_N=True, **options)
            labels = image(shape, dtype, order=order)
            assert count == many and found.dtype == expected.dtype and found.shape == expected.shape
            assert found.flags.f_contiguous == expected.flags.f_contiguous
            np.testing.assert_array_equal(in_order(found), in_order(expected))
            lying = found.T if order == "F" else found
            np.testing.assert_array_equal(lying, in_order(lying))


def grey(shape, dtype, order):
    """Values that rise along each axis by steps, with background.

    Of one sign, and whole ones where there is one axis: cc3d 4.1.1 finds that -1 and 1 differ by much, and in an array of one
    axis that 1.5 and 1.5 differ.
    """
    rng = np.random.default_rng(8)
    values = 2 + sum(np.indices(shape)) + rng.integers(0, 9, shape)
    if np.dtype(dtype).kind == "f" and len(shape) > 1:
        values = values / 4
    return np.asarray(np.where(rng.random(shape) < 0.2, 0, values).astype(dtype), order=order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [each for each in TYPES if each is not bool])
@pytest.mark.parametrize("shape", SHAPES)
def test_delta(theirs, shape, dtype, order):
    image = grey(shape, dtype, order)
    for connectivity in CONNECTIVITIES[len(shape)]:
        for delta in (0, 1, 2, 5, 1000):
            if delta == 1000 and np.dtype(dtype).itemsize == 1:
                continue  # which cc3d makes one of the type
            found, count = ours.connected_components(image, connectivity=connectivity, delta=delta, return_N=True)
            expected, many = theirs.connected_components(image, connectivity=connectivity, delta=delta, return_N=True)
            assert count == many and found.dtype == expected.dtype
            assert found.flags.f_contiguous == expected.flags.f_contiguous
            np.testing.assert_array_equal(in_order(found), in_order(expected))
            k = ours.largest_k(image, 3, connectivity=connectivity, delta=delta)
            assert np.bincount(k.ravel())[1:].sum() == np.sort(np.bincount(found.ravel())[1:])[-3:].sum()


def test_nothing_is_copied(monkeypatch):
    """Images of either order, and views, are labelled as they lie; labels of 32 and 64 bits are written where they stay."""
    taken = []
    call = apsis.Context.components

    def components(self, set, **options):
        taken.append((set, options["out"]))
        return call(self, set, **options)
    monkeypatch.setattr(apsis.Context, "components", components)
    for dtype in (np.uint8, np.int32, np.uint64, bool):
        for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2], np.asfortranarray):
            labels = view(image((40, 30, 20), dtype))
            found = ours.connected_components(labels, out_dtype=np.uint32)
            source, out = taken.pop()
            assert np.shares_memory(source, labels) and np.shares_memory(out, found)
            assert labels.flags.f_contiguous <= source.flags.c_contiguous


def test_the_narrowest_type(theirs):
    runs = np.tile(np.array([1, 0], np.uint8), (300, 400))
    for labels in (np.zeros((300, 400), np.uint8), np.ones((300, 400), np.uint8), runs, runs.T, runs.T.copy(), runs != 0,
                   runs[:120], (runs[:120] != 0), np.arange(70000).reshape(100, 700), np.arange(65000).reshape(100, 650),
                   np.arange(65536).reshape(64, 32, 32), np.arange(65535), np.arange(65536), np.ones((60, 60, 60), bool),
                   np.ones((60, 61, 63), bool), np.ones((1000, 300), bool)):
        for connectivity in (CONNECTIVITIES[labels.ndim]):
            expected = theirs.connected_components(labels, connectivity=connectivity).dtype
            assert ours.connected_components(labels, connectivity=connectivity).dtype == expected
        assert ours.estimate_provisional_labels(labels) == theirs.estimate_provisional_labels(labels)
    with pytest.raises(ValueError, match="out_dtype is uint16, but there may be more than 65535 labels"):
        ours.connected_components(np.arange(70000) + 1, out_dtype=np.uint16)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
def test_labels_in_a_file(tmp_path, dtype, order):
    labels = image((12, 13, 14), order=order)
    expected = ours.connected_components(labels)
    found = ours.connected_components(labels, out_file=str(tmp_path / "labels"), out_dtype=dtype)
    np.testing.assert_array_equal(found, expected)
    found.flush()
    lying = np.fromfile(tmp_path / "labels", dtype).reshape(labels.shape, order=order)
    np.testing.assert_array_equal(lying, expected)
    with open(tmp_path / "other", "w+b") as file:
        np.testing.assert_array_equal(ours.connected_components(labels, out_file=file, out_dtype=dtype), expected)


@pytest.mark.parametrize("no_slice_conversion", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3), (70000, 2)])
def test_statistics(theirs, shape, order, no_slice_conversion):
    for dtype in (np.uint8, np.int32, np.uint64, bool):
        labels = np.asarray(np.abs(image(shape, dtype)) * (1 if dtype is bool else dtype(3)), order=order)
        found, expected = (module.statistics(labels, no_slice_conversion) for module in (ours, theirs))
        assert found.keys() == expected.keys()
        for name in found:
            if isinstance(expected[name], np.ndarray):
                np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)
                assert found[name].dtype == expected[name].dtype
            else:
                assert found[name] == expected[name]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
def test_contacts(theirs, shape, order):
    for dtype in (np.uint8, np.int8, np.int32, np.uint64):
        labels = image(shape, dtype, order=order)
        for connectivity in CONNECTIVITIES[len(shape)]:
            for options in ({}, {"anisotropy": (2, 3.5, 5)[:max(len(shape), 2)]}):
                found, expected = (module.contacts(labels, connectivity, **options) for module in (ours, theirs))
                assert found.keys() == expected.keys()
                np.testing.assert_allclose([found[pair] for pair in found], [expected[pair] for pair in found], rtol=1e-6)
            assert ours.region_graph(labels, connectivity) == theirs.region_graph(labels, connectivity)
            # Where corners count, cc3d 4.1 counts some across the border.
            expected = brute_contacts(labels, min(len(shape), {4: 1, 6: 1, 8: 2, 18: 2, 26: 3}[connectivity]), 1)
            assert ours.contacts(labels, connectivity, False) == {(a, b): float(sum(rest)) for a, b, *rest, _ in expected}
    big = np.array([[2**63, 5]], np.uint64)
    assert ours.contacts(big) == {(5, 2**63): 1.0}


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_dust(theirs, shape, order, invert):
    for dtype in TYPES:
        for options in ({"threshold": 3}, {"threshold": 2.5}, {"threshold": (2, 5)}, {"threshold": [0, 3]},
                        {"threshold": 10**6}, {"threshold": 4, "connectivity": 6}, {"threshold": 0},
                        {"threshold": 4, "binary_image": True}):
            labels = image(shape, dtype, order=order)
            found, count = ours.dust(labels, invert=invert, return_N=True, **options)
            expected, many = theirs.dust(labels, invert=invert, return_N=True, **options)
            np.testing.assert_array_equal(found, expected.view(dtype))
            assert count == many and found.dtype == labels.dtype
            assert found.flags.f_contiguous == labels.flags.f_contiguous
            np.testing.assert_array_equal(labels, image(shape, dtype))
            assert ours.dust(labels, invert=invert, in_place=True, **options) is labels
            np.testing.assert_array_equal(labels, found)
    labels = ours.connected_components(image(shape, order=order))
    if not invert:
        np.testing.assert_array_equal(ours.dust(labels > 0, 3, precomputed_ccl=True), labels > 0)
        np.testing.assert_array_equal(ours.dust(labels.astype(np.uint64), 3, precomputed_ccl=True),
                                      ours.dust(labels, 3, precomputed_ccl=True))
    for threshold in (3, (2, 5)):
        found, expected = (module.dust(labels, threshold, precomputed_ccl=True, invert=invert, return_N=True)
                           for module in (ours, theirs))
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1] == expected[1]


@pytest.mark.parametrize("precomputed_ccl", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_largest(theirs, shape, order, precomputed_ccl):
    labels = image(shape, order=order)
    if precomputed_ccl:
        labels = theirs.connected_components(labels, connectivity=6)
    for k in (1, 2, 5, 10**6):
        (found, count), (expected, many) = (module.largest_k(labels, k, 6, return_N=True, precomputed_ccl=precomputed_ccl)
                                            for module in (ours, theirs))
        assert count == many and found.flags.f_contiguous == labels.flags.f_contiguous
        if found.dtype != expected.dtype:  # with fastremap, cc3d makes it narrower
            assert found.dtype == ours.connected_components(labels, connectivity=6).dtype and k > 1
        assert sorted(np.bincount(found.reshape(-1))[1:]) == sorted(np.bincount(expected.reshape(-1))[1:])
        pieces = ours.connected_components(labels, connectivity=6) if not precomputed_ccl else labels
        assert len(np.unique(pieces[found != 0])) == count and not pieces[found != 0].size == 0
    assert ours.largest_k(labels, 0, return_N=True)[1] == 0 and ours.largest_k(labels, 0).dtype == np.uint16


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_each(theirs, shape, binary, in_place):
    for order in "CF":
        labels = image(shape, np.uint32, order=order)
        found, expected = (module.each(labels, binary, in_place) for module in (ours, theirs))
        assert len(found) == len(expected)
        for (label, one), (number, other) in zip(found, expected):
            np.testing.assert_array_equal(one, other)
            assert label == number and one.dtype == other.dtype and one.flags.writeable == (not in_place)


def test_signatures(theirs):
    for name in theirs.__all__:
        function, given = getattr(ours, name), getattr(theirs, name)
        if inspect.isfunction(given) or inspect.isbuiltin(given) or hasattr(given, "__code__"):
            own = [each for each in inspect.signature(function).parameters.values() if each.name != "device"]
            wanted = inspect.signature(given).parameters.values()
            assert [(each.name, each.default) for each in own] == [(each.name, each.default) for each in wanted], name


def test_tensors():
    torch = pytest.importorskip("torch")
    labels = torch.from_numpy(image((9, 10), np.uint8))
    found = ours.connected_components(labels)
    assert isinstance(found, torch.Tensor)
    np.testing.assert_array_equal(found.numpy(), ours.connected_components(labels.numpy()))


CUBE = image((4, 5, 6), np.uint8)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: ours.connected_components(CUBE, delta=-1), ValueError, "delta is -1, but must be a number from 0 on"),
    (lambda: ours.connected_components(CUBE, delta=np.nan), ValueError, "delta is nan"),
    (lambda: ours.connected_components(CUBE, delta=np.inf), ValueError, "delta is inf"),
    (lambda: ours.connected_components(CUBE, delta="2"), TypeError, "delta is '2', but must be a number"),
    (lambda: ours.connected_components(CUBE / 3, delta=1), ValueError,
     r"set has the value 0\.\d+, but grey values are those that float32 holds"),
    (lambda: ours.connected_components(CUBE.astype(np.int64) << 40, delta=1), ValueError,
     r"set has the value \d+, but grey values are those that int32 holds"),
    (lambda: ours.connected_components(CUBE.astype(np.float16), delta=1), TypeError, "delta is 1, but of float16"),
    (lambda: ours.connected_components(CUBE, connectivity=6, periodic_boundary=2), TypeError,
     "periodic_boundary is 2, but must be True or False"),
    (lambda: ours.connected_components(CUBE, connectivity=8), ValueError,
     "connectivity is 8, but must be one of 6, 18, 26 for 3"),
    (lambda: ours.connected_components(CUBE[0], connectivity=5), ValueError, "connectivity is 5, but must be one of 4, 8, 6"),
    (lambda: ours.connected_components(CUBE[None]), ours.DimensionError, "data has 4 axes"),
    (lambda: ours.connected_components(CUBE.astype(complex)), TypeError, "data is a ndarray of dtype complex128"),
    (lambda: ours.connected_components(CUBE, out_dtype=np.uint8), ValueError, "out_dtype is uint8, but must be uint16"),
    (lambda: ours.connected_components(CUBE, return_N=2), TypeError, "return_N is 2, but must be True or False"),
    (lambda: ours.statistics(CUBE / 2), TypeError, "out_labels is a ndarray of dtype float64, but must be one of integers"),
    (lambda: ours.statistics(np.array([[9, 0]])), ValueError, "out_labels has the value 9"),
    (lambda: ours.statistics(np.array([[-1, 0]])), ValueError, "out_labels has the value -1"),
    (lambda: ours.contacts(CUBE / 2), TypeError, "labels is a ndarray of dtype float64, but must be one of integers or bools"),
    (lambda: ours.contacts(CUBE, connectivity=4), ValueError, "connectivity is 4, but must be one of 6, 18, 26 for 3"),
    (lambda: ours.contacts(CUBE, anisotropy=(1, 0, 1)), ValueError, r"anisotropy\[1\] is 0, but must be positive"),
    (lambda: ours.largest_k(CUBE, -1), ValueError, "k is -1, but must be at least 0"),
    (lambda: ours.largest_k(CUBE, 1, delta=-1), ValueError, "delta is -1"),
    (lambda: ours.dust(CUBE.tolist(), 3, in_place=True), TypeError, "in_place is True, but img is a list"),
    (lambda: ours.dust(CUBE, "3"), TypeError, "threshold is '3', but must be a number"),
    (lambda: ours.voxel_connectivity_graph(CUBE), NotImplementedError, "voxel_connectivity_graph: apsis has no voxel graphs"),
    (lambda: ours.color_connectivity_graph(CUBE), NotImplementedError, "color_connectivity_graph: apsis has no voxel graphs"),
    (lambda: ours.connected_components_stack([CUBE]), NotImplementedError, "connected_components_stack: apsis.slabs"),
])
def test_wrong_use(call, kind, words):
    with pytest.raises(kind, match=f"^{words}"):
        call()
