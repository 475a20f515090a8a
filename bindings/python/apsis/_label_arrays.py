"""Label images as edt and cc3d take them: NumPy's, of every number type, in the order of C or of Fortran."""

from __future__ import annotations

import reprlib
from typing import Any, Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from . import _arrays as arrays
from ._context import context_for

Numbers = NDArray[Any]


def in_memory(name: str, data: Any, kinds: str = "biuf") -> Numbers:
    """An array in the memory of the CPU, to which tensors of PyTorch are copied."""
    if is_tensor(data):
        data = data.detach().cpu().numpy()
    if arrays.on_device(data):
        raise TypeError(f"{name} is a {type(data).__name__} on a GPU, but must be an array of NumPy")
    array = np.asarray(data)
    if array.dtype.kind not in kinds:
        wanted = "numbers" if "f" in kinds else "integers"
        raise TypeError(f"{name} is a {type(data).__name__} of dtype {array.dtype}, but must be one of {wanted} or bools")
    return array


def is_tensor(data: Any) -> bool:
    """Whether this is PyTorch's."""
    return type(data).__module__.partition(".")[0] == "torch"


def is_of_fortran(array: Numbers) -> bool:
    """Whether the first axis is the one that lies together, and not the last one."""
    return array.flags.f_contiguous and not array.flags.c_contiguous


def as_it_lies(array: Numbers) -> Numbers:
    """A view of which the last axis lies together, if an axis does."""
    return array.T if is_of_fortran(array) else array


def as_integers(array: Numbers) -> Numbers:
    """Labels of any number type as integers that are equal where these are, and 0 where they are: of floats, their bits."""
    if array.dtype.kind != "f":
        return array
    if array.dtype.itemsize > 8:
        raise TypeError(f"labels of dtype {array.dtype} are not taken, but those of float64 are")
    with_zero: Numbers = array + array.dtype.type(0)  # which makes 0 of -0
    return with_zero.view(f"i{array.dtype.itemsize}")


class Each:
    """Iterates over labels, and an image of each.

    `paint` gives what the image shows in a box of the labels, where an element is of the label or is not.  With `in_place` it
    is one image that changes, and is read-only.
    """

    def __init__(self, labels: Numbers, dtype: Any, paint: Callable[[Any, NDArray[np.bool_]], Numbers], in_place: bool) -> None:
        self._labels, self._dtype, self._paint, self._in_place = labels, dtype, paint, in_place
        self._integers = as_integers(labels)
        lying = as_it_lies(self._integers)
        known = context_for(lying).statistics(lying)
        self._known = known[known["value"] != 0]

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[tuple[Any, Numbers]]:
        lying, image = as_it_lies(self._labels), None
        for each in self._known:
            box = box_of(each, self._labels)
            place = np.unravel_index(each["first"], lying.shape)
            label = lying[place]
            if image is None or not self._in_place:
                image = np.zeros(self._labels.shape, self._dtype, "F" if self._labels.flags.f_contiguous else "C")
            image[box] = self._paint(box, self._labels[box] == label)
            image.flags.writeable = not self._in_place
            yield label.item(), image
            if self._in_place:
                image.flags.writeable = True
                image[box] = 0


def box_of(each: Any, labels: Numbers) -> tuple[slice, ...]:
    """The box that statistics tell of labels as they lie, along the axes of the array."""
    return slices_of(*(axes_of(each[name], labels).tolist() for name in ("lower", "upper")))


def slices_of(lower: list[int], upper: list[int]) -> tuple[slice, ...]:
    return tuple(slice(first, last + 1) for first, last in zip(lower, upper))


def axes_of(coordinates: Numbers, labels: Numbers) -> Numbers:
    """Coordinates, x first, that statistics tell of labels as they lie, along the axes of the array."""
    own = coordinates[..., :labels.ndim]
    return own if is_of_fortran(labels) else own[..., ::-1]


def refuse(what: str, name: str, value: Any, default: Any) -> None:
    """Raises unless an argument has its default, as apsis has nothing for it."""
    if value is not default and (isinstance(value, np.ndarray) or value != default):
        raise NotImplementedError(f"{name} is {reprlib.repr(value)}, but {what}")
