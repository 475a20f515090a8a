"""Functions with the names, arguments and results of SciPy's ndimage and scikit-image, computed by apsis.

    import apsis.ndimage as ndimage
    ndimage.distance_transform_edt(image, sampling=(2, 1))
    labels, count = ndimage.label(image)

What differs: arrays have 1 to 3 axes; `label` knows the structures of 4 and 8, 6, 18 and 26 neighbours; of several nearest
elements `return_indices` gives the lowest; where an image has no background, distances are infinite, or -1 for
distance_transform_cdt, and indices -1.
"""

import numpy as np

from . import _arrays as arrays
from ._context import context_for

__all__ = ["distance_transform_cdt", "distance_transform_edt", "expand_labels", "find_objects", "label",
           "remove_small_objects"]


def distance_transform_edt(input, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None):
    """The Euclidean distance from every non-zero element to the nearest zero one: scipy.ndimage.distance_transform_edt."""
    return _transform(input, np.float64, return_distances, return_indices, distances, indices, spacing=sampling)


def distance_transform_cdt(input, metric="chessboard", return_distances=True, return_indices=False, distances=None,
                           indices=None):
    """The city-block ("taxicab") or chessboard distance to a zero element: scipy.ndimage.distance_transform_cdt."""
    names = {"taxicab": "city-block", "cityblock": "city-block", "manhattan": "city-block", "chessboard": "chessboard"}
    if not isinstance(metric, str):
        given = np.asarray(metric, bool)
        if given.shape != (3,) * np.ndim(input):
            raise ValueError("metric is a structure, but its sizes are not all 3")
        kinds = {_generate(np.ndim(input), 1).tobytes(): "taxicab", np.ones_like(given).tobytes(): "chessboard"}
        metric = kinds.get(given.tobytes(), metric)
    if not isinstance(metric, str) or metric not in names:
        raise ValueError(f"invalid metric provided: {metric!r}, but it must be one of {', '.join(names)}, "
                         "or a structure of these")
    return _transform(input, np.int32, return_distances, return_indices, distances, indices, metric=names[metric], none=-1)


def label(input, structure=None, output=None):
    """Labels connected non-zero elements: scipy.ndimage.label.

    Returns (labels, how many), or the number alone if `output` is an array.
    """
    array = input if arrays.on_device(input) else np.asarray(input)
    if getattr(array.dtype, "kind", "") == "c":
        raise TypeError("input is complex, which label does not take")
    shape, connectivity = tuple(array.shape), _connectivity_of(structure, len(array.shape))
    given = output if isinstance(output, np.ndarray) or arrays.on_device(output) else None
    if given is not None and tuple(given.shape) != shape:
        raise ValueError(f"output has shape {given.shape}, but input has {shape}")
    wanted = given.dtype if given is not None else np.dtype(np.int32 if output is None else output)
    direct = wanted if wanted in (np.int32, np.int64) else np.int32
    into = given if given is not None and direct == wanted and shape else None
    elements = array if shape else array.reshape(1)
    labels, count = context_for(array).components(elements, connectivity=connectivity, dtype=direct, out=into)
    if np.issubdtype(wanted, np.integer) and count > np.iinfo(wanted).max:
        raise RuntimeError(f"insufficient bit-depth in requested output type: there are {count} labels")
    if given is None:
        return labels.reshape(shape).astype(wanted, copy=False), count
    if into is None:
        given[...] = labels.reshape(shape)
    return count


def find_objects(input, max_label=0):
    """The box of each label, as slices, or None where there is no such label: scipy.ndimage.find_objects."""
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


def expand_labels(label_image, distance=1, spacing=1):
    """Grows labels by up to `distance` without letting them overlap: skimage.segmentation.expand_labels."""
    label_image = np.asarray(label_image)
    if distance < 0:
        return label_image.copy()
    # What lies at no distance is the label itself; a limit of 0 would be none.
    limit = max(float(distance), np.finfo(float).tiny)
    nearest = context_for(label_image).distance(label_image, dtype=None, nearest=np.int64, spacing=spacing,
                                                max_distance=limit)
    return np.where(nearest >= 0, label_image.reshape(-1)[np.maximum(nearest, 0)] if label_image.size else label_image,
                    np.zeros((), label_image.dtype))


def remove_small_objects(ar, min_size=None, connectivity=1, *, max_size=64, out=None):
    """Leaves out components, or labels, of up to `max_size` elements, or, as it was before scikit-image 0.26, of fewer than
    `min_size`: skimage.morphology.remove_small_objects."""
    ar = np.asarray(ar)
    least = int(max_size) + 1 if min_size is None else int(min_size)
    if not (ar.dtype == bool or np.issubdtype(ar.dtype, np.integer)):
        raise TypeError(f"Only bool or integer image types are supported. Got {ar.dtype}.")
    if out is None:
        out = np.empty_like(ar)
    if ar.dtype == bool:
        kept, _ = context_for(ar).components(ar, connectivity=connectivity, min_area=least, dtype=bool)
        np.copyto(out, kept)  # which may be `ar`
        return out
    if ar.size and ar.min() < 0:
        raise ValueError("Negative value labels are not supported.")
    areas = np.bincount(ar.reshape(-1))
    np.copyto(out, np.where((areas < least)[ar], 0, ar))
    return out


# ---- What they share ----

def _generate(axes, connectivity):
    """The structure of the neighbours that differ along at most so many axes."""
    return np.abs(np.indices((3,) * axes) - 1).sum(axis=0) <= connectivity


def _connectivity_of(structure, axes):
    if structure is None or axes == 0:
        return 1
    structure = np.asarray(structure, dtype=bool)
    if structure.ndim != axes:
        raise RuntimeError("structure and input must have equal rank")
    if structure.shape != (3,) * axes:
        raise ValueError("structure dimensions must be equal to 3")
    if not np.array_equal(structure, structure[(slice(None, None, -1),) * axes]):
        raise ValueError("structuring element is not symmetric")
    for connectivity in range(1, axes + 1):
        if np.array_equal(structure, _generate(axes, connectivity)):
            return connectivity
    raise ValueError("structure is not that of the neighbours that differ along at most 1, 2 or 3 axes, which apsis knows")


def _transform(input, dtype, return_distances, return_indices, distances, indices, none=None, **options):
    """Distances and coordinates of the nearest zero elements, into the arrays given or new ones."""
    if not return_distances and not return_indices:
        raise RuntimeError("neither distances nor indices are asked for")
    for given, wanted, name in ((distances, return_distances, "distances"), (indices, return_indices, "indices")):
        if given is not None and not wanted:
            raise RuntimeError(f"return_{name} must be True if {name} is supplied")
    array = arrays.as_set(np.atleast_1d(input) if not arrays.on_device(input) else input)
    if distances is not None:
        _require(distances, "distances", array.shape, dtype)
    if indices is not None:
        _require(indices, "indices", (len(array.shape), *array.shape), np.int32)
    made = distances if distances is not None else arrays.empty_like(array, dtype) if return_distances else None
    results = context_for(array).distance(array, complement=True, dtype=None, out=made,
                                          nearest=np.int64 if return_indices else False, **options)
    if none is not None and made is not None:
        made[made == np.iinfo(np.int32).max] = none
    places = None
    if return_indices:
        places = _coordinates(results[1] if made is not None else results, indices)
    answer = [result for result, given in ((made, distances), (places, indices)) if result is not None and given is None]
    return None if not answer else answer[0] if len(answer) == 1 else tuple(answer)


def _coordinates(nearest, indices):
    """The coordinates of flat indices, along the axes in their order."""
    if indices is None:
        indices = arrays.empty_like(nearest, np.int32)[None].repeat(len(nearest.shape), 0)
    rest = nearest
    for axis in reversed(range(len(nearest.shape))):
        indices[axis] = rest % nearest.shape[axis]
        rest = rest // nearest.shape[axis]
    indices[:, nearest < 0] = -1
    return indices


def _require(array, name, shape, dtype):
    if tuple(array.shape) != tuple(shape):
        raise RuntimeError(f"{name} array has wrong shape")
    if np.dtype(str(array.dtype).rpartition(".")[2]) != dtype:
        raise RuntimeError(f"{name} array must be {np.dtype(dtype).name}")
