"""Functions with the names, arguments and results of SciPy's ndimage and scikit-image, computed by apsis.

    import apsis.ndimage as ndimage
    ndimage.distance_transform_edt(image, sampling=(2, 1))
    labels, count = ndimage.label(image)

What differs: arrays have 1 to 3 axes; of several nearest elements `return_indices` gives the lowest; where an image has no
background, distances are infinite, or -1 for distance_transform_cdt, and indices -1.
"""

from __future__ import annotations

import itertools
import math
import reprlib
import warnings
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _arrays as arrays
from ._arrays import Array
from ._context import context_for, outside
from ._errors import named
from ._options import ALIASES, real, steps

__all__ = ["distance_transform_cdt", "distance_transform_edt", "expand_labels", "find_objects", "label",
           "remove_small_objects"]


def distance_transform_edt(input: Array, sampling: Union[float, ArrayLike, None] = None, return_distances: bool = True,
                           return_indices: bool = False, distances: Optional[Array] = None,
                           indices: Optional[Array] = None) -> Any:
    """The Euclidean distance from every non-zero element to the nearest zero one.

    Parameters and results are those of scipy.ndimage.distance_transform_edt.
    """
    spacing = None if sampling is None else steps("sampling", sampling, max(np.ndim(input), 1))
    return _transform(input, np.float64, return_distances, return_indices, distances, indices, spacing=spacing)


def distance_transform_cdt(input: Array, metric: Union[str, ArrayLike] = "chessboard", return_distances: bool = True,
                           return_indices: bool = False, distances: Optional[Array] = None,
                           indices: Optional[Array] = None) -> Any:
    """The city-block ("taxicab") or chessboard distance from every non-zero element to the nearest zero one.

    Parameters and results are those of scipy.ndimage.distance_transform_cdt.
    """
    name: Any = metric
    if not isinstance(metric, str):
        given = np.asarray(metric, bool)
        if given.shape != (3,) * np.ndim(input):
            raise ValueError("metric is a structure, but its sizes are not all 3")
        kinds = {_generate(np.ndim(input), 1).tobytes(): "taxicab", np.ones_like(given).tobytes(): "chessboard"}
        name = kinds.get(given.tobytes(), metric)
    if not isinstance(name, str) or name not in ("chessboard", *ALIASES):
        raise ValueError(f"invalid metric provided: {metric!r}, but it must be one of {', '.join(('chessboard', *ALIASES))}, "
                         "or a structure of these")
    return _transform(input, np.int32, return_distances, return_indices, distances, indices, metric=name, none=-1)


def label(input: Array, structure: Optional[ArrayLike] = None, output: Any = None) -> Any:
    """Labels connected non-zero elements.

    Parameters and results are those of scipy.ndimage.label: (labels, how many), or the number alone if `output` is an array.
    Structures other than those of 4 and 8, 6, 18 and 26 neighbours take NumPy, on the CPU, many times as long.
    """
    array = _taken(input)
    if getattr(array.dtype, "kind", "") == "c":
        raise TypeError("input is complex, which label does not take")
    shape = tuple(array.shape)
    connectivity, neighbours = _neighbours_of(structure, len(shape))
    given = output if isinstance(output, np.ndarray) or arrays.on_device(output) else None
    if given is not None and tuple(given.shape) != shape:
        raise ValueError(f"output has shape {given.shape}, but input has {shape}")
    wanted = given.dtype if given is not None else np.dtype(np.int32 if output is None else output)
    direct = wanted if wanted in (np.int32, np.int64) else np.dtype(np.int32)
    into = given if given is not None and direct == wanted and shape and connectivity else None
    elements = arrays.as_set("input", array if shape else array.reshape(1))
    if connectivity:
        labels, count = context_for(array).components(elements, connectivity=connectivity, dtype=direct, out=into)
    else:
        labels, count = _label_by(neighbours, elements)
    if np.issubdtype(wanted, np.integer) and count > np.iinfo(wanted).max:
        raise RuntimeError(f"insufficient bit-depth in requested output type: there are {count} labels")
    if given is None:
        return labels.reshape(shape).astype(wanted, copy=False), count
    if into is None:
        given[...] = labels.reshape(shape)
    return count


def find_objects(input: ArrayLike, max_label: int = 0) -> list[Any]:
    """The box of each label, as slices, or None where there is no such label.

    Parameters and results are those of scipy.ndimage.find_objects.
    """
    input = np.asarray(input)
    if input.ndim == 0:
        return [None] * (int(input) - 1) + [()] * int(input > 0)
    if not np.issubdtype(input.dtype, np.integer):
        raise RuntimeError("data type not supported")
    most = int(max_label) if max_label >= 1 else max(int(input.max(initial=0)), 0)
    where = np.nonzero((input > 0) & (input <= most))
    values = input[where].astype(np.int64) - 1
    lower = np.full((input.ndim, most), np.iinfo(np.int64).max)
    upper = np.full((input.ndim, most), -1)
    for axis, places in enumerate(where):
        np.minimum.at(lower[axis], values, places)
        np.maximum.at(upper[axis], values, places)
    found = np.zeros(most, bool)
    found[values] = True
    return [tuple(slice(int(lower[a, k]), int(upper[a, k]) + 1) for a in range(input.ndim)) if found[k] else None
            for k in range(most)]


def expand_labels(label_image: ArrayLike, distance: float = 1, spacing: Any = 1) -> np.ndarray[Any, Any]:
    """Grows labels by up to `distance` without letting them overlap.

    Parameters and results are those of skimage.segmentation.expand_labels.  Where several labels are equally near, that of the
    lowest element is taken.
    """
    label_image = np.asarray(label_image)
    if real("distance", distance) < 0:
        return np.zeros_like(label_image)  # as nothing is that near, not even to itself
    # What lies at no distance is the label itself; a limit of 0 would be none.
    limit = max(float(distance), np.finfo(float).tiny)
    of_integers = label_image.dtype.kind in "biu"
    with named(set="label_image"):
        cells = context_for(label_image).voronoi(label_image, spacing=spacing, max_distance=limit, labels=of_integers)
    if of_integers:
        return np.asarray(cells, label_image.dtype)
    labels: np.ndarray[Any, Any] = np.append(label_image.reshape(-1), label_image.dtype.type(0))  # -1 is that of no site
    grown: np.ndarray[Any, Any] = labels[cells]
    return grown


def remove_small_objects(ar: np.ndarray[Any, Any], min_size: Optional[int] = None, connectivity: int = 1, *,
                         max_size: int = 64, out: Optional[np.ndarray[Any, Any]] = None) -> np.ndarray[Any, Any]:
    """Leaves out components, or labels, of up to `max_size` elements.

    Parameters, results and warnings are those of skimage.morphology.remove_small_objects since scikit-image 0.26.  `min_size`
    is the older parameter: those of fewer elements are left out.
    """
    ar = np.asarray(ar)
    least = math.floor(real("max_size", max_size)) + 1
    if min_size is not None:
        least = math.ceil(real("min_size", min_size))
        warnings.warn("min_size is deprecated since scikit-image 0.26: use max_size, which leaves out those of max_size "
                      "elements, too", FutureWarning, stacklevel=outside())
    if not (ar.dtype == bool or np.issubdtype(ar.dtype, np.integer)):
        raise TypeError(f"Only bool or integer image types are supported. Got {ar.dtype}.")
    if out is None:
        out = np.empty_like(ar)
    _require(out, "out", ar.shape, None)
    if out.dtype == bool:
        kept, _ = context_for(ar).components(ar, connectivity=connectivity, min_area=least, dtype=bool)
        np.copyto(out, kept)  # which may be `ar`
        return out
    labels = ar.astype(out.dtype, copy=False)
    if least > 1:
        if labels.size and labels.min() < 0:
            raise ValueError("Negative value labels are not supported.")
        areas = np.bincount(labels.reshape(-1))
        if len(areas) == 2:
            warnings.warn("Only one label was provided to `remove_small_objects`. Did you mean to use a boolean array?",
                          stacklevel=outside())
        labels = np.where((areas < least)[labels], 0, labels)
    np.copyto(out, labels, casting="unsafe")
    return out


# ---- What they share ----

def _taken(input: Array) -> Array:
    """What is not an array of CuPy's as one of NumPy's."""
    if not arrays.on_device(input):
        return np.asanyarray(input)
    if type(input).__module__.partition(".")[0] != "cupy":
        raise TypeError(f"input is a {type(input).__name__} on a GPU, but must be an array of NumPy or CuPy")
    return input


def _generate(axes: int, connectivity: int) -> np.ndarray[Any, Any]:
    """The structure of the neighbours that differ along at most so many axes."""
    structure: np.ndarray[Any, Any] = np.abs(np.indices((3,) * axes) - 1).sum(axis=0) <= connectivity
    return structure


def _neighbours_of(structure: Optional[ArrayLike], axes: int) -> tuple[int, np.ndarray[Any, Any]]:
    """The connectivity that a structure stands for, or 0 if there is none, and the structure."""
    if structure is None or axes == 0:
        return 1, _generate(axes, 1)
    structure = np.asarray(structure, dtype=bool)
    if structure.ndim != axes:
        raise RuntimeError("structure and input must have equal rank")
    if structure.shape != (3,) * axes:
        raise ValueError("structure dimensions must be equal to 3")
    if not np.array_equal(structure, np.flip(structure)):
        raise ValueError("structuring element is not symmetric")
    matching = (k for k in range(1, axes + 1) if np.array_equal(structure, _generate(axes, k)))
    return next(matching, 0), structure


def _label_by(structure: np.ndarray[Any, Any], array: Array) -> tuple[np.ndarray[Any, Any], int]:
    """Labels by the neighbours of a structure.

    Every element points to one of its component that is not above it; at last all point to the lowest.  In each round the
    roots of neighbours are joined, the higher to the lowest, and all pointers are made to lead to roots.
    """
    inside = arrays.to_host(array) != 0
    root = np.arange(inside.size)
    index = root.reshape(inside.shape)
    pairs = []
    for offset in itertools.islice(itertools.product((-1, 0, 1), repeat=inside.ndim), 3 ** inside.ndim // 2):
        if not structure[tuple(step + 1 for step in offset)]:
            continue
        here = tuple(slice(max(-step, 0), n - max(step, 0)) for step, n in zip(offset, inside.shape))
        there = tuple(slice(max(step, 0), n - max(-step, 0)) for step, n in zip(offset, inside.shape))
        both = inside[here] & inside[there]
        pairs.append(np.stack([index[here][both], index[there][both]]))
    edges = np.concatenate([np.empty((2, 0), np.intp), *pairs], axis=1)
    while True:
        ends = root[edges]
        edges, ends = (each[:, ends[0] != ends[1]] for each in (edges, ends))
        if edges.shape[1] == 0:
            break
        np.minimum.at(root, ends.max(axis=0), ends.min(axis=0))
        while not np.array_equal(root, root[root]):
            root = root[root]
    labels = np.zeros(inside.shape, np.int32)
    roots, numbers = np.unique(root.reshape(inside.shape)[inside], return_inverse=True)
    labels[inside] = numbers.reshape(-1) + 1
    return labels, len(roots)


def _transform(input: Array, dtype: type, return_distances: bool, return_indices: bool, distances: Optional[Array],
               indices: Optional[Array], none: Optional[int] = None, **options: Any) -> Any:
    """Distances and coordinates of the nearest zero elements, into the arrays given or new ones."""
    if not return_distances and not return_indices:
        raise RuntimeError("neither distances nor indices are asked for")
    for given, wanted, name in ((distances, return_distances, "distances"), (indices, return_indices, "indices")):
        if given is not None and not wanted:
            raise RuntimeError(f"return_{name} must be True if {name} is supplied")
    array = _taken(input)
    array = arrays.as_set("input", array if array.ndim else array.reshape(1))
    if distances is not None:
        _require(distances, "distances", array.shape, dtype)
    if indices is not None:
        _require(indices, "indices", (len(array.shape), *array.shape), np.int32)
    made = distances if distances is not None else arrays.empty(array, dtype) if return_distances else None
    results = context_for(array).distance(array, complement=True, dtype=None, out=made,
                                          nearest=np.int64 if return_indices else False, **options)
    if none is not None and made is not None:
        made[made == np.iinfo(np.int32).max] = none
    places = None
    if return_indices:
        places = _coordinates(results[1] if made is not None else results, indices)
    answer = [result for result, given in ((made, distances), (places, indices)) if result is not None and given is None]
    return None if not answer else answer[0] if len(answer) == 1 else tuple(answer)


def _coordinates(nearest: Array, indices: Optional[Array]) -> Array:
    """The coordinates of flat indices, along the axes in their order."""
    if indices is None:
        indices = arrays.empty(nearest, np.int32)[None].repeat(len(nearest.shape), 0)
    rest = nearest
    for axis in reversed(range(len(nearest.shape))):
        indices[axis] = rest % nearest.shape[axis]
        rest = rest // nearest.shape[axis]
    indices[:, nearest < 0] = -1
    return indices


def _require(array: Array, name: str, shape: tuple[int, ...], dtype: Optional[type]) -> None:
    """Raises what SciPy does, unless an array that is given can take a result; of any type if dtype is None."""
    if not hasattr(array, "dtype"):
        raise TypeError(f"{name} is {reprlib.repr(array)}, but must be an array")
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise ValueError(f"{name} is read-only")
    if tuple(array.shape) != tuple(shape):
        raise RuntimeError(f"{name} array has wrong shape")
    if dtype is not None and np.dtype(str(array.dtype).rpartition(".")[2]) != dtype:
        raise RuntimeError(f"{name} array must be {np.dtype(dtype).name}")
