"""Arguments that are refused: before anything is written, and in the caller's own terms."""

import inspect
import warnings

import numpy as np
import pytest

import apsis
import apsis.measure as measure
import apsis.morphology as morphology
import apsis.ndimage as ndimage

MASK = np.random.default_rng(4).random((6, 7)) < 0.3

# Every verb with its first output, of this type.
VERBS = {"distance": (apsis.distance, np.float32), "voronoi": (apsis.voronoi, np.int32),
         "components": (apsis.components, np.int32), "eccentricity": (apsis.eccentricity, np.float32),
         "geodesic": (lambda set, **options: apsis.geodesic(set, set, **options), np.float32)}


@pytest.fixture(params=VERBS)
def verb(request):
    return VERBS[request.param]


# ---- Outputs ----

@pytest.mark.parametrize("strides, words", [((0, 4), r"strides \(0, 4\)"), ((28, 0), r"strides \(28, 0\)"),
                                            ((28, 2), r"multiple"), ((4, 4), r"strides\[0\] is 4, but pixels overlap below 28"),
                                            ((24, 4), r"strides\[0\] is 24, but pixels overlap below 28")])
def test_outputs_of_elements_that_overlap(verb, strides, words):
    function, dtype = verb
    memory = np.full(100, 77, dtype)
    out = np.lib.stride_tricks.as_strided(memory[20:], MASK.shape, strides)
    with pytest.raises(ValueError, match=rf"^out\b.*{words}"):
        function(MASK, out=out)
    assert (memory == 77).all()


def test_outputs_that_are_read_only(verb, tmp_path):
    function, dtype = verb
    out = np.full(MASK.shape, 77, dtype)
    out.tofile(tmp_path / "map")
    mapped = np.memmap(tmp_path / "map", dtype, "r", shape=MASK.shape)
    out.flags.writeable = False
    for array in (out, mapped):
        with pytest.raises(ValueError, match="^out is read-only"):
            function(MASK, out=array)
        assert (np.asarray(array) == 77).all()


def test_other_outputs(verb):
    function, dtype = verb
    for out, kind, words in (([[0.0]], TypeError, "out is"), (np.zeros((7, 6), dtype), ValueError, r"shape \(7, 6\), but set"),
                             (np.zeros(MASK.shape, np.float16), ValueError, "out has dtype float16, but must be of"),
                             (np.zeros(MASK.shape, np.dtype(dtype).newbyteorder()), ValueError, "out has dtype"),
                             (np.ma.zeros(MASK.shape, dtype), TypeError, "out is a masked array")):
        with pytest.raises(kind, match=words):
            function(MASK, out=out)
    with pytest.raises(ValueError, match="^nearest_out overlaps out$"):
        shared = np.zeros(MASK.shape, np.int32)
        apsis.distance(MASK, out=shared, nearest_out=shared)


# ---- Sets ----

@pytest.mark.parametrize("wrong", [None, "mask", b"mask", 3, 2.5, True, np.float32(1), np.array(["a"]), [None], object()])
def test_what_is_no_array(verb, wrong):
    with pytest.raises(TypeError, match="^set is"):
        verb[0](wrong)


def test_axes(verb):
    for shape in ((), (2, 2, 2, 2)):
        with pytest.raises(ValueError, match=f"^set has {len(shape)} axes, but 1, 2 or 3"):
            verb[0](np.ones(shape))
    with pytest.raises((TypeError, ValueError), match="^set is (no array|a list of dtype object)"):  # as NumPy has it
        verb[0]([[1, 2], [3]])


def test_seeds():
    with pytest.raises(TypeError, match="^seeds is None"):
        apsis.geodesic(MASK, None)
    with pytest.raises(ValueError, match=r"^seeds has shape \(7, 6\), but set has \(6, 7\)"):
        apsis.geodesic(MASK, MASK.T)


# ---- Options ----

FLAGS = {function: [name for name, parameter in inspect.signature(function).parameters.items()
                    if parameter.annotation == "bool"]
         for function in (apsis.distance, apsis.voronoi, apsis.components, apsis.geodesic, apsis.eccentricity,
                          apsis.statistics, apsis.contacts)}


@pytest.mark.parametrize("function, name", [(function, name) for function, names in FLAGS.items() for name in names])
def test_flags(function, name):
    set = MASK[None] if name == "slices" else MASK
    seeds = [set] if function is apsis.geodesic else []
    more = {"mixed": {"method": "sweep"}}.get(name, {})
    if function is apsis.distance and name == "border":
        more = {"complement": True}
    for value, same in ((1, True), (0, False), (np.True_, True), (np.int8(0), False)):
        given, expected = (function(set, *seeds, **{name: flag}, **more) for flag in (value, same))
        for a, b in zip(*(each if isinstance(each, tuple) else [each] for each in (given, expected))):
            np.testing.assert_array_equal(a, b)
    for value in (2, -1, None, "no", 0.5, MASK):
        with pytest.raises(TypeError, match=f"(?s)^{name} is .*, but must be True or False"):
            function(set, *seeds, **{name: value}, **more)


def test_there_are_flags():
    assert FLAGS[apsis.distance] == ["complement", "signed", "slices", "labels", "border"]
    assert "border" in FLAGS[apsis.components] and FLAGS[apsis.statistics] == ["dense"]


@pytest.mark.parametrize("name, value, kind, words", [
    ("max_distance", -1, ValueError, "max_distance is -1, but must be positive, or None"),
    ("max_distance", float("nan"), ValueError, "max_distance is nan"),
    ("max_distance", "far", TypeError, "max_distance is 'far', but must be a number"),
    ("max_distance", 10**400, ValueError, "max_distance is 1000.*, larger than a float holds"),
    ("spacing", (1, 2, 3), ValueError, "spacing has 3 numbers, but the array has 2 axes"),
    ("spacing", (1, 0), ValueError, r"spacing\[1\] is 0, but must be positive"),
    ("spacing", (1, "x"), TypeError, r"spacing\[1\] is 'x', but must be a number"),
    ("spacing", (1e-280, 1), ValueError, r"^spacing\[0\] is 1e-280, but must be from"),
    ("spacing", (1e-30, 1), NotImplementedError, r"^spacing\[0\] is 1e-30, too small"),
    ("metric", 7, TypeError, "metric is 7, but must be a string"),
    ("metric", None, TypeError, "metric is None"),
    ("metric", "chamfer", NotImplementedError, "^metric is chamfer, which is for paths, and for sequential-scan"),
    ("weights", (3, 4), ValueError, r"weights\[0\] is 3, but metric is not chamfer"),
    ("weights", 3, TypeError, "weights is 3, but must be a sequence of whole numbers"),
    ("weights", (3, 4, 5, 6), ValueError, "weights has 4 numbers, but must have 2 or 3"),
    ("weights", (3, 4.5), TypeError, r"weights\[1\] is 4.5, but must be a whole number"),
    ("method", "magic", ValueError, "method is 'magic', but must be one of auto"),
    ("nearest", np.int16, ValueError, "nearest is int16, but must be int32 or int64"),
    ("dtype", None, ValueError, "dtype is None, and nothing else is asked for"),
    ("dtype", "float", ValueError, None), ("dtype", "flat", TypeError, "dtype is 'flat', but must be a dtype"),
    ("device", "gpu", ValueError, "device is 'gpu', but must be"), ("device", 1.5, ValueError, "device is 1.5"),
    ("device", [], ValueError, r"device is \[\]"), ("device", {1}, ValueError, r"device is \{1\}"),
    ("method", "tile-fill", ValueError, "^method is tile-fill, but distance takes"),
    ("slices", True, ValueError, "slices is True, but set has 2 axes"),
])
def test_options(name, value, kind, words):
    if words is None:  # it is float64
        assert apsis.distance(MASK, **{name: value}).dtype == np.float64
        return
    with pytest.raises(kind, match=words):
        apsis.distance(MASK, **{name: value})


@pytest.mark.parametrize("call, kind, words", [
    (lambda: apsis.table(MASK), TypeError, "known is array"),
    (lambda: apsis.table(apsis.components(MASK, statistics=True)[2][0]), TypeError, r"known is (np\.void)?\("),
    (lambda: ndimage.distance_transform_edt(MASK, distances=[[1]]), TypeError, r"distances is \[\[1\]\], but must be an array"),
    (lambda: ndimage.distance_transform_edt(MASK, return_indices=True, indices=np.broadcast_to(np.int32(0), (2, 6, 7))),
     ValueError, "indices is read-only"),
    (lambda: ndimage.remove_small_objects(MASK, out=[[1]]), TypeError, "out is"),
    (lambda: ndimage.remove_small_objects(MASK, max_size="3"), TypeError, "max_size is '3', but must be a number"),
    (lambda: ndimage.expand_labels(MASK.astype(int), "1"), TypeError, "distance is '1', but must be a number"),
])
def test_other_functions(call, kind, words):
    with pytest.raises(kind, match=f"^{words}"):
        call()


@pytest.mark.parametrize("name", ["largest", "min_area", "max_area", "connectivity"])
def test_whole_numbers(name):
    for value, kind in ((-1, ValueError), (1.5, TypeError), ("1", TypeError), (2**70, ValueError), (0, ValueError)):
        if name == "min_area" and value == 0:
            continue
        with pytest.raises(kind, match=f"^{name} is"):
            apsis.components(MASK, **{name: value})
    np.testing.assert_array_equal(apsis.components(MASK, **{name: None})[0], apsis.components(MASK)[0])
    with pytest.raises(ValueError, match="connectivity is 3, but must be at most 2, the number of axes"):
        apsis.components(MASK, connectivity=3)


def test_axes_are_counted_as_those_of_the_array():
    with pytest.raises(apsis.UnsupportedError, match=r"^spacing\[1\] is 2 and spacing\[2\] is 3, but for the chessboard"):
        apsis.distance(np.ones((3, 3, 3)), spacing=(2, 2, 3), metric="chessboard")
    with pytest.raises(apsis.UnsupportedError, match=r"^spacing is \(1, 1, 100000\), but for paths"):
        apsis.geodesic(np.ones((3, 3, 3)), np.ones((3, 3, 3)), spacing=(1, 1, 1e5))
    with pytest.raises(ValueError, match="^out has an integer dtype, but spacing is not 1"):
        apsis.distance(MASK, dtype=np.int32, spacing=2)
    with pytest.raises(ValueError, match="^out has dtype int32, but a result may be as large as"):
        apsis.distance(np.broadcast_to(True, (2, 50000)), dtype=np.int32)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: ndimage.expand_labels(np.ones((2, 2, 2, 2), int)), apsis.ArgumentError, "^label_image has 4 axes"),
    (lambda: morphology.isotropic_opening(np.ones((2, 2, 2, 2)), 1), apsis.ArgumentError, "^image has 4 axes"),
    (lambda: measure.regionprops_table(np.ones((3, 3))), TypeError,
     "^label_image is a ndarray .* labels are integers or bools$"),
    (lambda: measure.regionprops_table(np.ones((4, 4), int), np.ones((3, 3), bool), ["intensity_mean"]), apsis.ArgumentError,
     r"^intensity_image has shape \(3, 3\), but label_image has \(4, 4\)$")])
def test_arguments_of_other_packages_functions_have_their_names(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_no_limit():
    far = apsis.distance(MASK, max_distance=None)
    np.testing.assert_array_equal(far, apsis.distance(MASK))
    assert np.isinf(apsis.distance(MASK, max_distance=1)).any()


@pytest.mark.parametrize("name", ["city-block", "cityblock", "taxicab", "manhattan"])
def test_names_of_metrics(name):
    expected = apsis.distance(MASK, metric="city-block")
    np.testing.assert_array_equal(apsis.distance(MASK, metric=name), expected)
    np.testing.assert_array_equal(apsis.geodesic(MASK, MASK, metric=name), apsis.geodesic(MASK, MASK, metric="city-block"))
    if name != "city-block":
        np.testing.assert_array_equal(ndimage.distance_transform_cdt(~MASK, name), expected)


def test_warnings_are_of_the_callers_line():
    ring = np.hypot(*np.indices((64, 64)) - 31.5)
    ring = (ring < 31) & (ring > 29)
    for call in (lambda: apsis.eccentricity(ring, budget=2), lambda: apsis.Context("cpu").eccentricity(ring, budget=2),
                 lambda: ndimage.remove_small_objects(MASK, 2)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert [warning.filename for warning in caught] == [__file__]


# ---- One dimension ----

@pytest.mark.parametrize("dtype", [np.int32, bool])
@pytest.mark.parametrize("complement", [False, True])
def test_one_dimension_has_two_ends(dtype, complement):
    for bits in range(256):
        line = np.array([bits >> i & 1 for i in range(8)], np.uint8)
        inside = np.pad((line == 0) if complement else line != 0, 1)
        starts, ends = np.flatnonzero(np.diff(inside.astype(int)) == 1), np.flatnonzero(np.diff(inside.astype(int)) == -1)
        for border, inner in ((True, True), (False, True), (True, False), (False, False)):
            labels, count = np.zeros(8, int), 0
            for start, end in zip(starts, ends):
                if border if start == 0 or end == 8 else inner:
                    count += 1
                    labels[start:end] = count
            found, many, known = apsis.components(line, border=border, inner=inner, complement=complement, statistics=True,
                                                  dtype=dtype)
            expected = labels if dtype is np.int32 else (labels > 0) != complement  # a mask is as the set is given
            np.testing.assert_array_equal(found, expected)
            assert many == count == len(known)
    assert apsis.components([], border=False)[1] == 0


def test_one_dimension_has_one_spacing_and_one_kind_of_neighbour():
    line = [1, 1, 0, 1]
    for metric in ("euclidean", "city-block", "chessboard"):
        np.testing.assert_array_equal(apsis.distance(line, spacing=2.5, metric=metric), [0, 0, 2.5, 0])
        np.testing.assert_array_equal(apsis.distance(line, spacing=[2.5], metric=metric), [0, 0, 2.5, 0])
        np.testing.assert_array_equal(apsis.eccentricity(line, spacing=0.1, metric=metric, dtype=float), [0.1, 0.1, -1, 0])
    with pytest.raises(ValueError, match="connectivity is 2, but must be at most 1"):
        apsis.components(line, connectivity=2)
    with pytest.raises(ValueError, match="slices is True, but set has 1 axes"):
        apsis.distance(line, slices=True)
