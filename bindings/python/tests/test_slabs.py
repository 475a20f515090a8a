"""Images that are cut into slabs: the maps of the whole image, and what is refused."""

import pickle

import numpy as np
import pytest

import apsis
from apsis import measure, slabs

random = np.random.default_rng(24)
IMAGES = [random.random((23, 17)) < 0.1, random.random((11, 9, 8)) < 0.3, random.random((23, 17)) < 0.6]
NONE = np.iinfo(np.int64).max
CUTS = [0, 3, 3, 4, 9]  # one slab without rows; the last goes on to the end


def pieces(image):
    return [(start, image[start:end]) for start, end in zip(CUTS, [*CUTS[1:], len(image)])]


def outside(told):
    """What is above each slab, and below it."""
    return [(slabs.merge(*told[:k])[1] if k else None, slabs.merge(*told[k + 1:])[0] if k + 1 < len(told) else None)
            for k in range(len(told))]


# ---- Distance ----

@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("how", [{}, {"complement": True}, {"metric": "city-block", "dtype": np.int32}, {"max_distance": 2},
                                 {"nearest": np.int64, "dtype": None}])
@pytest.mark.parametrize("signed", [False, True])
def test_distances_are_those_of_the_whole_image(image, how, signed):
    how = {"nearest": True, **how, "signed": signed, "spacing": None if "metric" in how else (3, 2, 1)[:image.ndim]}
    whole = apsis.distance(image, **how)
    cut, complement = pieces(image), how.get("complement", False)
    sides = outside([slabs.summary(part, start, complement=complement) for start, part in cut])
    others = outside([slabs.summary(part, start, complement=not complement) for start, part in cut])
    maps = [slabs.distance(part, start, len(image), *sides[k], *(others[k] if signed else ()), **how)
            for k, (start, part) in enumerate(cut)]
    if how["dtype" if "dtype" in how else "nearest"] is None:
        whole, maps = (whole,), [(each,) for each in maps]
    for expected, parts in zip(whole, zip(*maps)):
        assert {part.dtype for part in parts} == {expected.dtype}
        np.testing.assert_array_equal(np.concatenate(parts), expected)


LABELS = [random.integers(-3, 3, (11, 9, 8)).astype(np.int16).repeat(2, axis=0), random.integers(0, 3, (23, 17)),
          random.integers(0, 250, (23, 17)).astype(np.uint32) * (random.random((23, 17)) < 0.1)]


@pytest.mark.parametrize("image", LABELS)
@pytest.mark.parametrize("how", [{}, {"border": True}, {"max_distance": 2}, {"metric": "city-block", "dtype": np.int32}])
def test_distances_between_labels_are_those_of_the_whole_image(image, how):
    whole, told = apsis.distance(image, labels=True, nearest=True, **how), label_summaries(image)
    maps = [slabs.distance(part, start, len(image), *sides, labels=True, nearest=True, **how)
            for (start, part), sides in zip(pieces(image), label_sides(told))]
    for expected, parts in zip(whole, zip(*maps)):
        np.testing.assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("image", LABELS)
@pytest.mark.parametrize("how", [{"max_distance": 2}, {"spacing": 2}])
def test_labels_of_sites_are_those_of_the_whole_image(image, how):
    whole, told = apsis.voronoi(image, labels=True, **how), label_summaries(image)
    parts = [slabs.voronoi(part, start, len(image), *sides, labels=True, **how)
             for (start, part), sides in zip(pieces(image), label_sides(told))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert {part.dtype for part in parts} == {whole.dtype}


@pytest.mark.parametrize("image", LABELS)
@pytest.mark.parametrize("periodic", [[0], True])
def test_maps_of_images_that_close_on_themselves(image, periodic):
    for labels in (True, False):
        told = [slabs.summary(part, start, labels=labels) for start, part in pieces(image)]
        all_told = slabs.merge(*told, labels=labels)
        none = np.full_like(told[0][0], NONE), np.full_like(told[0][0], -1)
        close = [slabs.close(slabs.merge(*those, labels=labels) if those else none, all_told, len(image), labels=labels)
                 for k in range(len(told)) for those in (told[:k], told[k + 1:])]
        sides = [(close[2 * k][1], close[2 * k + 1][0]) for k in range(len(told))]
        for function, how in (("distance", {"nearest": True, "dtype": None}), ("voronoi", {"max_distance": 3})):
            whole = getattr(apsis, function)(image, labels=labels, periodic=periodic, **how)
            parts = [getattr(slabs, function)(part, start, len(image), *side, labels=labels, periodic=periodic, **how)
                     for (start, part), side in zip(pieces(image), sides)]
            np.testing.assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("periodic", [[0], [1]])
def test_contacts_of_images_that_close_on_themselves(periodic):
    image, is_ring = LABELS[1], periodic == [0]
    told = [slabs.contacts(part, image[start - 1] if start or is_ring else None, periodic=periodic)
            for start, part in pieces(image)]
    assert slabs.merge_contacts(*told, axes=2).tobytes() == apsis.contacts(image, periodic=periodic).tobytes()


def test_what_is_closed_has_the_shape_of_all():
    one = np.zeros(4, np.int64), np.zeros(4, np.int64)
    with pytest.raises(ValueError, match="three numbers"):
        slabs.close(one, one, 3, labels=True)
    with pytest.raises(ValueError, match=r"^all_told\[1\] has shape \(3,\), but must have \(4,\)"):
        slabs.close(one, (one[0], one[1][:3]), 3)
    with pytest.raises(ValueError, match="^extent is -1"):
        slabs.close(one, one, -1)


def label_summaries(image):
    return [slabs.summary(part, start, labels=True) for start, part in pieces(image)]


def label_sides(told):
    return [(slabs.merge(*told[:k], labels=True)[1] if k else None,
             slabs.merge(*told[k + 1:], labels=True)[0] if k + 1 < len(told) else None) for k in range(len(told))]


@pytest.mark.parametrize("image", LABELS)
def test_values_are_those_of_the_whole_image(image):
    told = [slabs.statistics(part, start) for start, part in pieces(image)]
    assert slabs.measure(slabs.merge_parts(*told)).tobytes() == apsis.statistics(image).tobytes()


@pytest.mark.parametrize("image", LABELS)
@pytest.mark.parametrize("how", [{}, {"connectivity": 2, "spacing": 0.1}])
def test_contacts_are_those_of_the_whole_image(image, how):
    told = [slabs.contacts(part, image[start - 1] if start else None, **how) for start, part in pieces(image)]
    got = slabs.merge_contacts(*told, axes=image.ndim, spacing=how.get("spacing"))
    assert got.tobytes() == apsis.contacts(image, **how).tobytes()


@pytest.mark.parametrize("image", LABELS)
@pytest.mark.parametrize("how", [{}, {"spacing": 0.1}])
def test_measures_are_those_of_the_whole_image(image, how):
    wanted = ["moments", "surface", "euler", "intensity"] + ["perimeter"] * (image.ndim == 2)
    grey = random.random(image.shape, np.float32)
    told = [slabs.sums(part, start, image[max(start - 4, 0):start], grey[start:start + len(part)], wanted=wanted)
            for start, part in pieces(image)]
    merged = slabs.merge_sums(pickle.loads(pickle.dumps(slabs.merge_sums(*told[3:]))), *told[:3][::-1])
    assert slabs.measures(merged, image.shape, **how).tobytes() == measure.measures(image, grey, wanted=wanted, **how).tobytes()


def test_cells_are_those_of_the_whole_image():
    image = IMAGES[0]
    sides = outside([slabs.summary(part, start) for start, part in pieces(image)])
    parts = [slabs.voronoi(part, start, len(image), *sides[k]) for k, (start, part) in enumerate(pieces(image))]
    np.testing.assert_array_equal(np.concatenate(parts), apsis.voronoi(image))


def test_what_labels_tell_has_three_numbers():
    with pytest.raises(ValueError, match="three numbers"):
        slabs.merge((np.zeros(4, np.int64), np.zeros(4, np.int64)), labels=True)
    with pytest.raises(ValueError, match=r"above has shape \(4,\), but must have \(3, 4\)"):
        slabs.voronoi(np.zeros((2, 4), int), 1, 3, np.zeros(4, np.int64), labels=True)


def test_distances_go_into_arrays_that_are_given():
    image = IMAGES[0]
    whole, got = apsis.distance(image), np.zeros(image.shape[::-1], np.float32).T
    with apsis.Context("cpu", threads=1) as context:
        told = [slabs.summary(part, start, device=context) for start, part in pieces(image)]
        for (start, part), sides in zip(pieces(image), outside(told)):
            out = got[start:start + len(part)]
            assert slabs.distance(part, start, len(image), *sides, out=out, device=context) is out
    np.testing.assert_array_equal(got, whole)


def test_indices_are_of_a_type_that_fits_the_whole_image():
    _, nearest = slabs.distance(np.ones((1, 3)), 2**30 - 1, 2**30, nearest=True)
    np.testing.assert_array_equal(nearest, [np.arange(3) + 3 * (2**30 - 1)])
    assert nearest.dtype == np.int64


# ---- Geodesic ----

@pytest.mark.parametrize("image", [~IMAGES[0], *IMAGES[1:]])
@pytest.mark.parametrize("how", [{"nearest": True}, {"metric": "city-block", "dtype": np.int64}, {"complement": True}])
def test_geodesic_distances_are_those_of_the_whole_image(image, how):
    seeds = random.random(image.shape) < 0.05
    if "complement" in how:
        image = ~image
    paths = [slabs.Paths(image.shape[1:], nearest="nearest" in how) for _ in pieces(image)]

    def call(function, k, **more):
        start, part = pieces(image)[k]
        return function(part, seeds[start:start + len(part)], start, len(image), paths[k], paths[k - 1] if k else None,
                        paths[k + 1] if k + 1 < len(paths) else None, **more)
    options = {name: value for name, value in how.items() if name not in ("nearest", "dtype")}
    rounds = 0
    while sum(call(slabs.relax, k, **options) for k in range(len(paths))):
        paths = pickle.loads(pickle.dumps(paths))
        rounds += 1
    assert rounds > 1
    maps = [call(slabs.geodesic, k, **how) for k in range(len(paths))]
    whole = apsis.geodesic(image, seeds, **how)
    for expected, parts in zip(whole, zip(*maps)) if "nearest" in how else [(whole, maps)]:
        np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_a_geodesic_map_before_nothing_changes_is_refused():
    with pytest.raises(ValueError, match="^paths has changed in 2 elements: relax"):
        slabs.geodesic([[1, 0]], [[1, 0]], 0, 1, slabs.Paths((2,)))


# ---- Components ----

@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("how", [{}, {"connectivity": 2}, {"complement": True}, {"largest": 3},
                                 {"border": False, "min_area": 2, "max_area": 40}, {"inner": False}])
def test_components_are_those_of_the_whole_image(image, how):
    _, count, known = apsis.components(image, statistics=True, **how)
    told = [slabs.parts(part, start, statistics=True, **how) for start, part in pieces(image)]
    told = pickle.loads(pickle.dumps(told))
    joined = slabs.join(told, image.shape, **how)
    assert joined.count == count and (joined.start, joined.rows) == (0, len(image))
    assert slabs.measure(joined.parts).tobytes() == known.tobytes()
    for dtype in (np.int32, np.int64, bool):
        got = np.concatenate([slabs.components(part, each, dtype=dtype, **how) for (_, part), each in zip(pieces(image), told)])
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, apsis.components(image, dtype=dtype, **how)[0])


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("how", [{}, {"largest": 4}])
def test_slabs_are_joined_in_groups(image, how):
    labels, count = apsis.components(image, **how)
    told = [slabs.parts(part, start, **how) for start, part in pieces(image)]
    groups = [told[:2], told[2:]]
    joined = [slabs.join(group, image.shape) for group in groups]
    all_of_them = slabs.join(joined, image.shape, **how)
    assert all_of_them.count == count and (all_of_them.parts is None) == (not how)
    for each, group in zip(joined, groups):
        slabs.renumber(each, group)
    got = [slabs.components(part, each, **how) for (_, part), each in zip(pieces(image), told)]
    np.testing.assert_array_equal(np.concatenate(got), labels)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint32, np.int64])
@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("how", [{}, {"connectivity": 2, "largest": 4}, {"min_area": 2, "border": False}])
def test_components_of_label_images(image, dtype, how):
    cells = (np.arange(image.size).reshape(image.shape) // 3 % 4 - 1).astype(dtype) * image.astype(dtype)
    labels, count, known = apsis.components(cells, labels=True, statistics=True, **how)
    told = [slabs.parts(part, start, by_value=True, **how) for start, part in pieces(cells)]
    groups = [told[:2], told[2:]]
    joined = [slabs.join(group, cells.shape, connectivity=how.get("connectivity", 1), by_value=True) for group in groups]
    all_of_them = slabs.join(joined, cells.shape, by_value=True, **how)
    assert all_of_them.count == count and slabs.measure(all_of_them.parts).tobytes() == known.tobytes()
    for each, group in zip(joined, groups):
        slabs.renumber(each, group)
    got = [slabs.components(part, each, by_value=True, **how) for (_, part), each in zip(pieces(cells), told)]
    np.testing.assert_array_equal(np.concatenate(got), labels)


def test_a_slab_of_more_components_than_are_expected():
    image = np.zeros((200, 200), bool)
    image[::2, ::2] = True
    joined = slabs.join([slabs.parts(image, 0, statistics=True)], image.shape)
    assert slabs.measure(joined.parts).tobytes() == apsis.components(image, statistics=True)[2].tobytes()


# ---- What is refused ----

SET = np.zeros((2, 3), bool)
ROW = np.full(3, -1)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: slabs.summary([1, 0], 0), ValueError, "set has 1 axis, but a slab has 2 or 3"),
    (lambda: slabs.summary(SET, -1), ValueError, "start is -1, but must be from 0 to"),
    (lambda: slabs.summary(SET, None), TypeError, "start is None, but must be a whole number"),
    (lambda: slabs.merge(), ValueError, "summaries is empty"),
    (lambda: slabs.merge(ROW), TypeError, r"summaries\[0\] is .* must be the two arrays of a summary"),
    (lambda: slabs.merge((ROW, ROW), (ROW, ROW[1:])), ValueError, r"summaries\[1\]\[1\] has shape \(2,\), but must have"),
    (lambda: slabs.distance(SET, 4, 5), ValueError, "start is 4, but must be from 0 to 3: the slab has 2 of 5 rows"),
    (lambda: slabs.distance(SET, 0, 2**31), ValueError, "extent is 2147483648, but must be from 0 to"),
    (lambda: slabs.distance(SET, 1, 3, ROW[1:]), ValueError, r"above has shape \(2,\), but must have \(3,\)"),
    (lambda: slabs.distance(SET, 1, 3, ROW.astype(np.int32)), ValueError, "above has dtype int32, but must be of int64"),
    (lambda: slabs.distance(SET, 1, 3, [0, 0, 0]), TypeError, r"above is \[0, 0, 0\], but must be an array of int64"),
    (lambda: slabs.distance(SET, 1, 3, ROW + 2), ValueError, r"above\[0\] is 1, but must be from 0 to 0, or -1"),
    (lambda: slabs.distance(SET, 1, 4, None, ROW), ValueError, r"below\[0\] is -1, but must be from 3 to 3"),
    (lambda: slabs.distance(SET, 1, 3, ROW, signed=True), ValueError, r"above\[0\] is -1 and complement_above\[0\] is -1"),
    (lambda: slabs.distance(SET, 0, 2, metric="chessboard", nearest=True), NotImplementedError, "nearest"),
    (lambda: slabs.distance(SET, 0, 2, dtype=None), ValueError, "dtype is None, and nothing else is asked for"),
    (lambda: slabs.distance(SET, 0, 2, out=np.zeros((3, 2), np.float32)), ValueError, r"out has shape \(3, 2\), but set has"),
    (lambda: slabs.relax(SET, SET, 0, 2, slabs.Paths((2,))), ValueError, r"paths.first has shape \(2,\), but must have \(3,\)"),
    (lambda: slabs.relax(SET, SET, 0, 2, None), TypeError, "paths is None, but must be a slabs.Paths"),
    (lambda: slabs.relax(SET, SET, 1, 3, slabs.Paths((3,), True), slabs.Paths((3,))), ValueError,
     "above_seeds is None, but nearest seeds are wanted"),
    (lambda: slabs.relax(SET, SET[1:], 0, 2, slabs.Paths((3,))), ValueError, r"seeds has shape \(1, 3\), but set has"),
    (lambda: slabs.join([slabs.parts(SET, 1)], (2, 3)), ValueError, r"labels\[0\]: rows is 2, but must be from 0 to 1"),
    (lambda: slabs.join([slabs.parts(SET, 0)], (2, 4)), ValueError, r"labels\[0\].first has shape \(3,\), but must have"),
    (lambda: slabs.join([slabs.parts(SET, 0), slabs.parts(SET, 1)], (4, 3)), ValueError, "the slab before it ends at 2"),
    (lambda: slabs.join([slabs.parts(~SET, 0)], (2, 3), largest=1), ValueError, r"labels\[0\]: parts is None, but parts"),
    (lambda: slabs.join([slabs.parts(~SET, 0, largest=1)], (3, 3), largest=1), ValueError, "need the whole image"),
    (lambda: slabs.join([None], (2, 3)), TypeError, r"labels\[0\] is None, but must be a slabs.Labels"),
    (lambda: slabs.join([], (2,)), ValueError, "shape has 1 axes, but 2 or 3 are needed"),
    (lambda: slabs.components(~SET, slabs.parts(SET, 0)), ValueError, "count"),
    (lambda: slabs.parts(SET / 2, 0, by_value=True), TypeError, "set is a ndarray of dtype float64, but labels are integers"),
    (lambda: slabs.parts(SET, 0, by_value=True, complement=True), ValueError, "labels and complement are set"),
    (lambda: slabs.parts(SET, 0, by_value=3), TypeError, "by_value is 3, but must be True or False"),
    (lambda: slabs.join([slabs.parts(~SET, 0), slabs.parts(~SET, 2)], (4, 3), by_value=True), ValueError,
     r"labels\[0\]: parts is None, but they tell the values"),
    (lambda: slabs.components(SET[1:], slabs.parts(SET, 0)), ValueError, "set has 1 rows, but labels is of a slab of 2"),
    (lambda: slabs.sums(ROW[None], 1, wanted=["euler"]), ValueError, "before is None, but the slab needs 1 of the rows"),
    (lambda: slabs.sums(ROW[None], 1, ROW[None], wanted=["hull"]), NotImplementedError, "wanted has hull, which .* not for slabs"),
    (lambda: slabs.sums(ROW[None], 1, ROW[None, 1:]), ValueError, r"before has rows of shape \(2,\), but labels has \(3,\)"),
    (lambda: slabs.sums(ROW[None], 1, SET), ValueError, "before has dtype bool, but labels has int64"),
    (lambda: slabs.sums(SET, 0, intensity=ROW), TypeError, "intensity is a ndarray of dtype int64"),
    (lambda: slabs.sums(SET, 0, wanted="all"), ValueError, "wanted has 'all', but it may have moments"),
    (lambda: slabs.merge_sums(ROW), TypeError, r"sums\[0\] is .*, but must be an array such as the function sums gives"),
    (lambda: slabs.measures(slabs.sums(~SET, 0), (1, 3)), ValueError, r"sums\[0\] cannot be .* 3 x 1 x 1 pixels"),
    (lambda: slabs.measures(slabs.sums(~SET, 0), (2,)), ValueError, "shape has 1 axes, but 2 or 3 are needed"),
    (lambda: slabs.measure(ROW), TypeError, "parts is .*, but must be an array of PART"),
])
def test_wrong_arguments(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


# ---- Several devices ----

@pytest.mark.parametrize("device, words", [
    ([], r"device is \[\], but must have the number of a CUDA device"),
    ([0, -1], r"device\[1\] is -1, but must be the number of a CUDA device"), ((True,), r"device\[0\] is True")])
def test_lists_that_are_none_of_devices(device, words):
    for use in (lambda: apsis.Context(device), lambda: apsis.distance(SET, device=device)):
        with pytest.raises(ValueError, match=words):
            use()


def test_several_devices():
    most = apsis.device_count()
    with pytest.raises(apsis.Error) as raised:
        apsis.Context([*range(most), most])
    assert raised.value.status == 3 and raised.value.args[0]
    if most:
        image = random.random((300, 400)) < 0.01
        with apsis.Context([0, most - 1]) as context:
            assert context.device == 0
            for one, other in zip(context.distance(image, nearest=True), apsis.distance(image, nearest=True)):
                np.testing.assert_array_equal(one, other)
