"""Arrays of other libraries on the CPU, what their results are, and what is typed and documented."""

import doctest
import inspect
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import apsis
import apsis.paths
import apsis.ndimage as ndimage
from apsis import slabs

FOLDER = pathlib.Path(apsis.__file__).parents[1]
MASK = np.random.default_rng(6).random((20, 30)) < 0.2
VERBS = (apsis.distance, apsis.voronoi, apsis.components, apsis.geodesic, apsis.eccentricity)


def all_verbs(set, wrap=lambda array: array):
    yield from apsis.distance(set, nearest=True)
    yield apsis.distance(set, dtype=wrap(np.dtype("f8")))
    yield apsis.voronoi(set)
    yield apsis.components(set)[0]
    yield from apsis.geodesic(set, set, nearest=True)
    yield from apsis.eccentricity(set, farthest=True)


def test_tensors():
    torch = pytest.importorskip("torch")
    check_tensors(torch)


def check_tensors(torch):
    for mask in (MASK, MASK.T, MASK[::2, 1::3]):
        for set in (torch.from_numpy(mask), torch.from_numpy(mask).float(), torch.from_numpy(mask.astype(np.uint8))):
            for found, expected in zip(all_verbs(set), all_verbs(mask)):
                assert isinstance(found, torch.Tensor)
                np.testing.assert_array_equal(found.numpy(), expected)
    out = torch.zeros(MASK.shape, dtype=torch.float64)
    assert apsis.distance(torch.from_numpy(MASK), out=out) is out
    np.testing.assert_array_equal(out.numpy(), apsis.distance(MASK, dtype=float))
    assert apsis.distance(torch.from_numpy(MASK), dtype=torch.float64).dtype == torch.float64
    with pytest.raises(ValueError, match="out has strides"):
        apsis.distance(torch.from_numpy(MASK), out=torch.zeros((1, 30)).expand(20, 30))
    np.testing.assert_array_equal(apsis.distance(torch.from_numpy(MASK).bfloat16()), apsis.distance(MASK))
    for wrong in (torch.zeros((2, 2)).to_sparse(), torch.zeros((2, 2), device="meta")):
        with pytest.raises(TypeError, match="^set is a Tensor that is no array in memory"):
            apsis.distance(wrong)
    with pytest.raises(TypeError, match="^out is a Tensor that is no array in memory"):
        apsis.distance(MASK, out=torch.zeros(MASK.shape, dtype=torch.bfloat16))


def test_coordinates():
    xarray = pytest.importorskip("xarray")
    set = xarray.DataArray(MASK, dims=("lat", "lon"), coords={"lat": np.arange(20) / 2, "lon": np.arange(30) * 3},
                           attrs={"units": "of the mask"})
    for found, expected in zip(all_verbs(set), all_verbs(MASK)):
        assert found.dims == ("lat", "lon") and found.coords.equals(set.coords) and not found.attrs
        np.testing.assert_array_equal(found.values, expected)
    out = xarray.zeros_like(set, dtype=np.float32)
    assert apsis.distance(set, out=out) is out
    np.testing.assert_array_equal(out.values, apsis.distance(MASK))
    with apsis.Context("cpu") as context:
        assert context.voronoi(set).coords.equals(set.coords)


def test_masked_elements_are_not_overlooked():
    masked = np.ma.masked_array(MASK, mask=np.zeros_like(MASK))
    np.testing.assert_array_equal(apsis.distance(masked), apsis.distance(MASK))
    masked[3, 4] = np.ma.masked
    for verb in (apsis.distance, apsis.voronoi, apsis.components, apsis.eccentricity, ndimage.distance_transform_edt,
                 ndimage.label):
        name = "input" if verb.__module__.endswith("ndimage") else "set"
        with pytest.raises(ValueError, match=rf"^{name} has masked elements: {name}.filled\(\) says"):
            verb(masked)
    with pytest.raises(ValueError, match="^seeds has masked elements"):
        apsis.geodesic(MASK, masked)
    apsis.distance(masked.filled(0))


def test_tables():
    _, count, known = apsis.components(MASK, statistics=True)
    _, extents = apsis.eccentricity(MASK, extents=True, connectivity=1)
    columns, more = apsis.table(known), apsis.table(extents)
    assert list(columns) == ["label", "first", "area", "lower_x", "lower_y", "lower_z", "upper_x", "upper_y", "upper_z",
                             "centroid_x", "centroid_y", "centroid_z", "value"]
    assert list(more) == ["label", "first", "ends_0", "ends_1", "centre", "diameter", "radius", "gap"]
    np.testing.assert_array_equal(columns["upper_y"], known["upper"][:, 1])
    np.testing.assert_array_equal(columns["label"], np.arange(1, count + 1))
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(columns)) == len(pandas.DataFrame(more)) == count


# ---- Types and documentation ----

@pytest.mark.parametrize("verb", VERBS)
def test_functions_have_the_parameters_of_the_methods(verb):
    function, method = inspect.signature(verb), inspect.signature(getattr(apsis.Context, verb.__name__))
    (self, *ours), (*theirs, device) = method.parameters.values(), function.parameters.values()
    assert ours == theirs and self.name == "self" and device.name == "device"
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in theirs)


SLABS = [slabs.summary, slabs.merge, slabs.distance, slabs.relax, slabs.geodesic, slabs.parts, slabs.join, slabs.components,
         slabs.sums, slabs.merge_sums, slabs.measures]


@pytest.mark.parametrize("function", [*VERBS, apsis.table, *SLABS])
def test_documentation_tells_of_every_parameter(function):
    parameters, rest = inspect.getdoc(function).split("\nParameters\n----------\n")[1].split("\nReturns\n-------\n")
    named = {name.strip(" *") for line in parameters.splitlines() if line[:1].strip()
             for name in line.split(" : ")[0].split(",")}
    assert named == set(inspect.signature(function).parameters)
    assert "Examples\n" in rest or function in SLABS


def test_examples_of_the_documentation():
    for module, least in ((apsis._functions, 11), (apsis._slab_maps, 6), (apsis._slab_labels, 4), (apsis._slab_measures, 3),
                          (apsis.paths, 5)):
        failed, tried = doctest.testmod(module, extraglobs={"apsis": apsis})
        assert tried >= least and failed == 0


PROGRAM = """\
import apsis, apsis.cc3d, apsis.edt, apsis.measure, apsis.ndimage, apsis.slabs, apsis.__main__
apsis.contacts([[1]], spacing=2)["area"], apsis.statistics([[1]], dense=True)["value"]
apsis.edt.edtsq([[1]], (1, 2), parallel=0).sum(), apsis.cc3d.contacts([[1]])[1, 2] + 1
apsis.distance([[1]], nearest=True, spacing=(1, 2), max_distance=None, device="cpu")
apsis.Context("cpu", progress=print).voronoi([[1]], dtype="int64")
apsis.ndimage.label([[1]], structure=None)
first, last = apsis.slabs.summary([[1]], 0, device=apsis.Context([0, 1]))
apsis.slabs.distance([[1]], 1, 2, above=last, nearest=True, device="cpu")
apsis.slabs.join([apsis.slabs.parts([[1]], 0)], (1, 1), largest=2).count += 1
apsis.distance([[1]], spacing="wide")  # wrong
apsis.components([[1]], largest=1.5)  # wrong
apsis.distance([[1]], nearby=True)  # wrong
apsis.slabs.distance([[1]], 0, 1, above=apsis.slabs.Paths((1,)))  # wrong
"""


def test_types_are_checked():
    """By mypy, the package and a program that uses it: what is right is taken, and what is wrong is refused."""
    pytest.importorskip("mypy")
    assert (FOLDER / "apsis" / "py.typed").exists()
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-incremental",
                           "--cache-dir", os.devnull, "-c", PROGRAM], capture_output=True, text=True, cwd=FOLDER)
    errors = [line.split(": error:")[0] for line in done.stdout.splitlines() if ": error:" in line]
    wrong = [f"<string>:{number}" for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")]
    assert errors == wrong, done.stdout + done.stderr


def test_the_version_is_told():
    done = subprocess.run([sys.executable, "-m", "apsis", "--version"], capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode == 0 and done.stdout.startswith(f"apsis {apsis.__version__}, library {apsis.__version__[:3]}")


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">i4"])
def test_labels_of_every_integer_type(dtype):
    image = np.array([[3, 3, 0, 7], [7, 3, 7, 7]]).astype(dtype)
    for given in (image, image[:, ::-1], np.repeat(image, 2, 1)[:, ::2]):
        labels, count, known = apsis.components(given, labels=True, statistics=True)
        assert count == 3 and sorted(known["value"]) == [3, 7, 7]
        assert (labels[given == 3] == labels[given == 3][0]).all()
    assert apsis.components(image)[1] == 1 and apsis.components(image, statistics=True)[2]["value"] == 1
    if np.dtype(dtype).kind == "i":
        known = apsis.components(-image, labels=True, statistics=True)[2]
        assert sorted(known["value"]) == [-7, -7, -3]


def test_what_is_no_label_image():
    with pytest.raises(TypeError, match="float64.*integers"):
        apsis.components(np.ones((2, 2)), labels=True)
    with pytest.raises(apsis.ArgumentError, match="labels and complement"):
        apsis.components(np.ones((2, 2), int), labels=True, complement=True)
    with pytest.raises(apsis.ArgumentError, match="border"):
        apsis.components(np.ones(3, int), labels=True, border=False)
