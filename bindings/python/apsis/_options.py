"""The arguments of a call beside its arrays: checked, and as the library's options."""

from __future__ import annotations

import ctypes
import operator
import reprlib
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library as c
from ._errors import wrong

Spacing = Union[float, Sequence[float], None]
Periodic = Union[bool, Sequence[int]]
Weights = Optional[Sequence[int]]

#: Other names of the metrics: those of SciPy and scikit-learn.
ALIASES = {"cityblock": "city-block", "manhattan": "city-block", "taxicab": "city-block"}

_MOST_INT32, _MOST_INT64 = 2**31 - 1, 2**63 - 1


def flag(name: str, value: Any) -> bool:
    """True or False; 1 and 0 are them too."""
    if isinstance(value, (bool, np.bool_, int, np.integer)) and value in (False, True):
        return bool(value)
    raise TypeError(f"{name} is {reprlib.repr(value)}, but must be True or False")


def flags(**given: Any) -> int:
    """The library's flags, by their names."""
    return sum(getattr(c, name.upper()) for name, value in given.items() if flag(name, value))


def periodic_flags(value: Any, axes: int, slices: Any = False) -> int:
    """The library's flags for periodic axes of an array: True for all, but for that of slices, or their numbers."""
    if isinstance(value, (bool, np.bool_)):
        chosen = list(range(1 if slices else 0, axes)) if value else []
    else:
        try:
            chosen = [operator.index(each) for each in value]
        except TypeError:
            raise TypeError(f"periodic is {reprlib.repr(value)}, but must be True, False or a sequence of axes") from None
    for axis in chosen:
        if not -axes <= axis < axes:
            raise wrong(f"periodic has the axis {axis}, but the array has {axes} axes")
    return sum({c.PERIODIC_X << (axes - 1 - axis % axes) for axis in chosen})


def whole(name: str, value: Any, most: int, least: int = 0) -> int:
    """A whole number from `least` to `most`; None is 0, which stands for the default."""
    if value is None:
        return 0
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {reprlib.repr(value)}, but must be a whole number") from None
    if not least <= number <= most:
        raise wrong(f"{name} is {number}, but must be from {least} to {most}")
    return number


def real(name: str, value: Any) -> float:
    """A number."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except TypeError:
        raise TypeError(f"{name} is {reprlib.repr(value)}, but must be a number") from None
    except OverflowError:
        raise wrong(f"{name} is {reprlib.repr(value)}, larger than a float holds") from None


def steps(name: str, value: Any, axes: int) -> list[float]:
    """The size of an element along each axis, in the order of the array's axes."""
    given = [value] * axes if np.ndim(value) == 0 else list(value)
    if len(given) != axes:
        raise wrong(f"{name} has {len(given)} numbers, but the array has {axes} axes")
    numbers = [real(f"{name}[{axis}]", step) for axis, step in enumerate(given)]
    for axis, step in enumerate(numbers):
        if not 0 < step < np.inf:
            raise wrong(f"{name}[{axis}] is {step:g}, but must be positive and finite")
    return numbers


def _weights(given: Sequence[int], axes: int) -> list[int]:
    """The weights of chamfer steps, as the library has them."""
    if isinstance(given, (str, bytes)) or np.ndim(given) != 1:
        raise TypeError(f"weights is {reprlib.repr(given)}, but must be a sequence of whole numbers")
    if not 2 <= len(given) <= 3:
        raise wrong(f"weights has {len(given)} numbers, but must have 2 or 3")
    numbers = [whole(f"weights[{i}]", weight, _MOST_INT32) for i, weight in enumerate(given)]
    if axes == 1:  # no step goes along two axes
        del numbers[2:]
    return numbers + [0] * (4 - len(numbers))


def _one_of(name: str, value: Any, known: Mapping[str, int], aliases: Mapping[str, str]) -> int:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {reprlib.repr(value)}, but must be a string: one of {', '.join(known)}")
    value = aliases.get(value, value)
    if value not in known:
        raise wrong(f"{name} is {value!r}, but must be one of {', '.join([*known, *aliases])}")
    return known[value]


def measures_mask(wanted: Iterable[str]) -> int:
    """What is wanted of measures, by name, as the library has it."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in c.MEASURES:
            raise wrong(f"wanted has {name!r}, but it may have {', '.join(c.MEASURES)}")
    return sum({c.MEASURES[name] for name in names})


def options(axes: int, flags: int, *, spacing: Spacing = None, metric: str = "euclidean", method: str = "auto",
            max_distance: Optional[float] = None, connectivity: Optional[int] = None, largest: Optional[int] = None,
            min_area: Optional[int] = None, max_area: Optional[int] = None, budget: Optional[int] = None,
            delta: Optional[float] = None, weights: Weights = None) -> c.Options:
    """The library's options for an array of so many axes.  None is the default of each."""
    if flags & c.SLICES and axes != 3:
        raise wrong(f"slices is True, but set has {axes} axes, and 3 are needed")
    filled = c.Options(struct_size=ctypes.sizeof(c.Options), flags=flags)
    filled.metric = _one_of("metric", metric, c.METRICS, ALIASES)
    filled.method = _one_of("method", method, c.METHODS, {})
    filled.largest = whole("largest", largest, _MOST_INT32, least=1)
    filled.min_area = whole("min_area", min_area, _MOST_INT64)
    filled.max_area = whole("max_area", max_area, _MOST_INT64, least=1)
    filled.budget = whole("budget", budget, _MOST_INT64, least=1)
    if max_distance is not None:
        filled.max_distance = real("max_distance", max_distance)
        if not filled.max_distance >= 0:
            raise wrong(f"max_distance is {filled.max_distance:g}, but must be positive, or None for no limit")
    if delta is not None:
        filled.delta = real("delta", delta)
    if weights is not None:
        filled.weights[:] = _weights(weights, axes)
    image_axes = 2 if flags & c.SLICES else axes
    filled.connectivity = whole("connectivity", connectivity, _MOST_INT32, least=1)
    if filled.connectivity > image_axes:
        raise wrong(f"connectivity is {filled.connectivity}, but must be at most {image_axes}, the number of axes")
    if axes == 1:
        filled.connectivity = 1
    if spacing is not None:
        numbers = steps("spacing", spacing, axes)[::-1]
        # Axes that are the library's alone have no extent: whatever is equal to the others is never refused.
        filled.spacing[:] = numbers + [numbers[-1]] * (3 - axes)
    return filled
