"""Label images against brute force: every type of labels with the values that its sign gives, every dimension, wrong use."""

import itertools

import numpy as np
import pytest

import apsis

TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
SHAPES = [(23,), (9, 11), (5, 6, 7)]
BIG = [np.uint32, np.int64, np.uint64]


def image(shape, dtype=np.int32, seed=5):
    """Values of all signs, with background, in clumps."""
    choice = {"i": [0, 1, -1, np.iinfo(dtype).min, np.iinfo(dtype).max], "u": [0, 1, 2, np.iinfo(dtype).max]}
    values = np.array(choice[np.dtype(dtype).kind], dtype)
    values = values[values.astype(object) < 2**63]
    clumps = np.random.default_rng(seed).integers(0, len(values), [-(-n // 2) for n in shape])
    for axis, n in enumerate(shape):
        clumps = clumps.repeat(2, axis).take(range(n), axis)
    return values[clumps]


def places_of(shape):
    return np.indices(shape).reshape(len(shape), -1).T


def brute_distance(labels, spacing, border):
    """The exact distance to another value, and the lowest of the nearest; -1 if that is outside, or there is none."""
    shape, flat = labels.shape, labels.reshape(-1)
    places = places_of(shape)
    ring = places_of([n + 2 for n in shape]) - 1
    outside = ring[((ring < 0) | (ring >= shape)).any(1)] if border else ring[:0]
    distance, nearest = np.zeros(flat.size), np.arange(flat.size)
    for i in np.flatnonzero(flat):
        others = np.flatnonzero(flat != flat[i])
        inside, beyond = ((((to - places[i]) * spacing) ** 2.0).sum(1) for to in (places[others], outside))
        best, end = inside.min(initial=np.inf), beyond.min(initial=np.inf)
        distance[i] = np.sqrt(min(best, end))
        nearest[i] = others[inside.argmin()] if best < end else -1
    return distance.reshape(shape), nearest.reshape(shape)


@pytest.mark.parametrize("border", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_distance_to_another_value(shape, dtype, border):
    labels = image(shape, dtype)
    for spacing in (1, [1, 2, 3][:len(shape)]):
        expected, sites = brute_distance(labels, spacing, border)
        distance, nearest = apsis.distance(labels, labels=True, border=border, spacing=spacing, nearest=True, dtype=float)
        np.testing.assert_array_equal(distance, expected)
        np.testing.assert_array_equal(nearest, sites)


def test_a_line_has_two_ends():
    for bits in itertools.product(range(3), repeat=6):
        expected, sites = brute_distance(np.array(bits), 1, True)
        for found, wanted in zip(apsis.distance(bits, labels=True, border=True, nearest=True), (expected, sites)):
            np.testing.assert_array_equal(found, wanted)
        set = np.array(bits) != 0
        inside = brute_distance(set.astype(int), 1, True)
        for found, wanted in zip(apsis.distance(set, complement=True, border=True, nearest=True), inside):
            np.testing.assert_array_equal(found, wanted)
        signed = apsis.distance(set, signed=True, border=True)
        np.testing.assert_array_equal(signed[set], -inside[0][set])
        np.testing.assert_array_equal(signed[~set], apsis.distance(set)[~set])


def test_border_of_sets():
    set = image((9, 11)) != 0
    np.testing.assert_array_equal(apsis.distance(set, complement=True, border=True, dtype=float),
                                  brute_distance(set.astype(int), 1, True)[0])
    out, places = np.empty((9, 11)), np.empty((9, 11), np.int64)
    given = apsis.distance(set, signed=True, border=True, out=out, nearest_out=places)
    assert given[0] is out and given[1] is places
    np.testing.assert_array_equal(-out[set], brute_distance(set.astype(int), 1, True)[0][set])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_labels_grow_with_their_sign(shape, dtype):
    labels = image(shape, dtype)
    sites = apsis.voronoi(labels != 0)
    grown = apsis.voronoi(labels, labels=True)
    np.testing.assert_array_equal(grown, labels.reshape(-1)[sites].astype(np.int64))
    assert grown.dtype == (np.int64 if dtype in BIG else np.int32)
    out = np.empty(shape, np.int64)
    assert apsis.voronoi(labels, labels=True, out=out) is out
    np.testing.assert_array_equal(out, grown)
    near = apsis.voronoi(labels, labels=True, max_distance=1)
    np.testing.assert_array_equal(near, np.where(apsis.distance(labels != 0) <= 1, grown, 0))
    everywhere = np.ones(shape, bool)
    lengths, seeds = apsis.geodesic(everywhere, labels, nearest=True, labels=True)
    np.testing.assert_array_equal(lengths, apsis.geodesic(everywhere, labels != 0))
    _, indices = apsis.geodesic(everywhere, labels != 0, nearest=True)
    np.testing.assert_array_equal(seeds, labels.reshape(-1)[indices].astype(np.int64))
    none = apsis.geodesic(labels == 0, labels, nearest=True, labels=True)[1]
    assert none.dtype == grown.dtype and not none.any()


@pytest.mark.parametrize("dtype", [*TYPES, bool])
@pytest.mark.parametrize("shape", SHAPES)
def test_statistics_of_values(shape, dtype):
    labels = image(shape, np.int8).astype(bool) if dtype is bool else image(shape, dtype)
    for view in (labels, labels.T, labels[::-1], np.broadcast_to(labels[0], labels.shape)):
        known = apsis.statistics(view)
        assert known["value"].tolist() == np.unique(view).tolist()
        for each in known:
            where = np.argwhere(view == dtype(each["value"]))[:, ::-1]
            assert each["area"] == len(where)
            assert each["first"] == np.flatnonzero(view.reshape(-1) == dtype(each["value"]))[0]
            for name, expected in (("lower", where.min(0)), ("upper", where.max(0)), ("centroid", where.mean(0))):
                assert each[name][:len(shape)].tolist() == expected.tolist() and not each[name][len(shape):].any()


def test_statistics_by_value():
    labels = np.array([[5, 5, 0], [2, 5, 0]], np.int16)
    known = apsis.statistics(labels, dense=True)
    assert known["area"].tolist() == [2, 0, 1, 0, 0, 3] and known["value"].tolist() == list(range(6))
    assert known["first"][1] == -1 and known["lower"][1].tolist() == [-1, -1, -1]
    assert apsis.statistics(np.empty((0, 3), int), dense=True).size == apsis.statistics(np.empty((0, 3), int)).size == 0
    assert apsis.table(known)["value"].tolist() == list(range(6))
    many = np.arange(90000).reshape(300, 300)[::-1]
    assert apsis.statistics(many)["value"].tolist() == list(range(90000))


def brute_contacts(labels, connectivity, spacing):
    known = {}
    for step in itertools.product((-1, 0, 1), repeat=labels.ndim):
        if not 0 < np.abs(step).sum() <= connectivity or step < (0,) * labels.ndim:
            continue
        here = tuple(slice(max(-s, 0), n - max(s, 0)) for s, n in zip(step, labels.shape))
        there = tuple(slice(max(s, 0), n - max(-s, 0)) for s, n in zip(step, labels.shape))
        for a, b in zip(labels[here].reshape(-1).tolist(), labels[there].reshape(-1).tolist()):
            if a != b and a and b:
                faces, corners = known.setdefault((min(a, b), max(a, b)), [[0, 0, 0], [0]])
                if np.abs(step).sum() == 1:
                    faces[np.nonzero(step[::-1])[0][0]] += 1
                else:
                    corners[0] += 1
    sizes = np.array([*np.broadcast_to(spacing, labels.ndim)[::-1], 1, 1][:3], float)
    sizes[labels.ndim:] = 1
    return [(a, b, *faces, *corners, np.dot(faces, sizes.prod() / sizes if labels.ndim > 1 else [1, 0, 0]))
            for (a, b), (faces, corners) in sorted(known.items())]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_contacts(shape, dtype):
    for labels in (image(shape, dtype), image(shape, dtype, 6).T):
        for connectivity in range(1, len(shape) + 1):
            for spacing in (1, [2, 3, 5][:len(shape)]):
                found = apsis.contacts(labels, connectivity=connectivity, spacing=spacing)
                told = [(each["a"], each["b"], *each["faces"], each["corners"], each["area"]) for each in found]
                assert told == brute_contacts(labels, connectivity, spacing)
    columns = apsis.table(found)
    assert "label" not in columns and columns["faces_x"].tolist() == found["faces"][:, 0].tolist()


def test_contacts_of_slices():
    labels = image((4, 6, 7))
    together = sum(len(apsis.contacts(plane)) for plane in labels)
    assert apsis.contacts(labels, slices=True)["area"].sum() == sum(apsis.contacts(plane)["area"].sum() for plane in labels)
    assert 0 < len(apsis.contacts(labels, slices=True)) <= together


def test_values_of_components():
    labels = image((9, 11), np.int8)
    numbers, count, known = apsis.components(labels, labels=True, statistics=True)
    assert known["value"].tolist() == labels.reshape(-1)[known["first"]].tolist() and known["value"].min() < 0
    assert count == len(known) == numbers.max()


def brute_numbers(grey, connectivity, delta):
    """Components of neighbours of which none is 0 and whose values differ by at most delta, by flooding."""
    numbers, count = np.zeros(grey.shape, int), 0
    steps = [step for step in itertools.product((-1, 0, 1), repeat=grey.ndim) if 0 < np.abs(step).sum() <= connectivity]
    for place in np.ndindex(grey.shape):
        if numbers[place] or not grey[place] != 0:
            continue
        count += 1
        numbers[place], waiting = count, [place]
        while waiting:
            here = waiting.pop()
            for step in steps:
                there = tuple(np.add(here, step))
                if all(0 <= c < n for c, n in zip(there, grey.shape)) and grey[there] != 0 and not numbers[there]:
                    one, other = grey[here].item(), grey[there].item()
                    if one == other or abs(one - other) <= delta:
                        numbers[there] = count
                        waiting.append(there)
    return numbers


@pytest.mark.parametrize("dtype", [*TYPES, np.float16, np.float32, np.float64, ">i4", ">f4", bool])
@pytest.mark.parametrize("shape", SHAPES)
def test_delta(shape, dtype):
    rng = np.random.default_rng(3)
    grey = np.where(rng.random(shape) < 0.1, 0, sum(np.indices(shape)) // 2 + rng.integers(0, 7, shape))
    if np.dtype(dtype).kind in "if":
        grey -= 7
    grey = grey.astype(dtype)
    if np.dtype(dtype).kind == "f":
        grey.flat[::7] += 0.25
        grey.flat[5], grey.flat[6], grey.flat[9] = np.nan, np.nan, -np.inf
    for view in (grey, grey.T, grey[::-1], np.broadcast_to(grey[:1], grey.shape)):
        for connectivity in range(1, len(shape) + 1):
            for delta in (0, 1, 1.25, 3):
                numbers, count, known = apsis.components(view, delta=delta, connectivity=connectivity, statistics=True)
                np.testing.assert_array_equal(numbers, brute_numbers(view, connectivity, delta))
                assert count == len(known) == numbers.max()
                first = view.reshape(-1)[known["first"]]
                assert known["value"].tolist() == (np.ones(count) if first.dtype.kind == "f" else first).tolist()
    kept, number = apsis.components(grey, delta=1, min_area=3, dtype=bool)
    whole = apsis.components(grey, delta=1)[0]
    np.testing.assert_array_equal(kept, (np.bincount(whole.ravel())[whole] >= 3) & (whole > 0))
    assert number == len(np.unique(whole[kept])) and apsis.components(grey, labels=True, delta=1)[1] == whole.max()


LABELS = image((6, 7))

@pytest.mark.parametrize("call, kind, words", [
    (lambda: apsis.statistics(LABELS / 2), TypeError, "labels is a ndarray of dtype float64, but labels are integers or bools"),
    (lambda: apsis.contacts(LABELS / 2), TypeError, "labels is a ndarray of dtype float64"),
    (lambda: apsis.distance(LABELS / 2, labels=True), TypeError, "set is a ndarray of dtype float64"),
    (lambda: apsis.voronoi(LABELS / 2, labels=True), TypeError, "set is a ndarray of dtype float64"),
    (lambda: apsis.components(LABELS, labels=True, delta=-1), ValueError, "delta is -1, but must be a number from 0 on"),
    (lambda: apsis.components(LABELS, delta=np.nan), ValueError, "delta is nan, but must be a number from 0 on"),
    (lambda: apsis.components(LABELS, delta=np.inf), ValueError, "delta is inf, but must be a number from 0 on"),
    (lambda: apsis.components(LABELS, delta="1"), TypeError, "delta is '1', but must be a number"),
    (lambda: apsis.components(LABELS / 3, delta=1), ValueError,
     r"set has the value \S+, but grey values are those that float32 holds"),
    (lambda: apsis.components(np.full((2, 2), 1e300), delta=1), ValueError, r"set has the value 1e\+300, but grey values"),
    (lambda: apsis.components(LABELS.astype(np.int64) * 2, delta=1), ValueError,
     "set has the value -4294967296, but grey values are those that int32 holds"),
    (lambda: apsis.components(LABELS.astype(np.uint32), delta=1), ValueError, r"set has the value \d+, but grey values"),
    (lambda: apsis.components(LABELS * 1j, delta=1), TypeError, "set is a ndarray of dtype complex128, but grey values are"),
    (lambda: apsis.components(np.ones((2, 2, 2, 2)), delta=1), ValueError, "set has 4 axes, but 1, 2 or 3 are needed"),
    (lambda: apsis.components(np.ma.masked_equal(LABELS, 1), delta=1), ValueError, "set has masked elements"),
    (lambda: apsis.components(LABELS, delta=1, complement=True), ValueError, "labels and complement are set"),
    (lambda: apsis.components(LABELS, delta=1, method="tile-fill"), NotImplementedError, "method is tile-fill"),
    (lambda: apsis.components(LABELS[0], delta=1, border=False), ValueError, "border and inner are True alone for labels"),
    (lambda: apsis.geodesic(LABELS, LABELS / 2, labels=True), TypeError, "seeds is a ndarray of dtype float64"),
    (lambda: apsis.statistics(None), TypeError, "labels is None, but must be an array"),
    (lambda: apsis.contacts(3), TypeError, "labels is 3, but must be an array"),
    (lambda: apsis.statistics(np.ones((2, 2, 2, 2), int)), ValueError, "labels has 4 axes, but 1, 2 or 3 are needed"),
    (lambda: apsis.contacts(np.ones((), int)), ValueError, "labels has 0 axes"),
    (lambda: apsis.contacts(LABELS, connectivity=3), ValueError, "connectivity is 3, but must be at most 2"),
    (lambda: apsis.contacts(LABELS, spacing=(1, 2, 3)), ValueError, "spacing has 3 numbers, but the array has 2 axes"),
    (lambda: apsis.contacts(LABELS, slices=True), ValueError, "slices is True, but set has 2 axes"),
    (lambda: apsis.statistics(LABELS, dense=True), ValueError,
     "labels has the value -2147483648, but a dense table begins with 0"),
    (lambda: apsis.statistics(LABELS.astype(np.int8), dense=True), ValueError, "labels has the value -1, but a dense"),
    (lambda: apsis.distance(LABELS, labels=True, complement=True), ValueError, "labels is set with complement"),
    (lambda: apsis.distance(LABELS, labels=True, signed=True), ValueError, "labels is set with signed"),
    (lambda: apsis.distance(LABELS, labels=True, metric="chessboard"), NotImplementedError, "metric is chessboard"),
    (lambda: apsis.distance(LABELS, border=True), ValueError, "border is set, but without labels"),
    (lambda: apsis.distance(LABELS[0], border=True), ValueError, "border is set, but without labels"),
    (lambda: apsis.voronoi(LABELS.astype(np.int64), labels=True, dtype=np.int32), ValueError,
     "out has dtype int32, but labels of int64 need int64"),
    (lambda: apsis.geodesic(LABELS, LABELS.astype(np.uint32), labels=True, nearest=np.int32), ValueError,
     "nearest_out has dtype int32, but labels of uint32 need int64"),
])
def test_wrong_use(call, kind, words):
    with pytest.raises(kind, match=f"^{words}"):
        call()
