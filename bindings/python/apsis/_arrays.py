"""Arrays as images of the library, without a copy where their strides allow it: NumPy's, those on a GPU that have
`__cuda_array_interface__` (CuPy, PyTorch, Numba), PyTorch's in the memory of the CPU, and xarray's.

An array's last axis is the image's x.  The library's images have two axes at least: an array of one is an image of one row.
"""

from __future__ import annotations

import ctypes
import math
import reprlib
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import DTypeLike

from . import _library as c
from ._errors import error, wrong
from ._options import flag

#: What is taken and given back: an array of NumPy, CuPy, PyTorch or xarray, for which type checkers have no common name.
Array = Any

LENGTHS = (np.float32, np.float64, np.int32, np.int64)
INDICES = (np.int32, np.int64)
GREYS = (np.uint8, np.bool_, np.uint16, np.int32, np.float32)
SAMPLES = (np.uint8, np.bool_, np.uint16, np.float32)  # costs and intensities
LABELS = (np.int32, np.int64, np.uint8, np.bool_)
MASKS = (np.bool_, np.uint8)

_TYPES = {"i4": c.I32, "i8": c.I64, "f4": c.F32, "f8": c.F64, "u1": c.U8, "b1": c.U8}

#: The types of sets, by the bytes of an element: whether it is 0 does not depend on its sign.
_SET_TYPES = {1: c.U8, 2: c.U16, 4: c.I32, 8: c.I64}


def _set_type(dtype: np.dtype[Any]) -> int:
    """The type of an input; float32 of grey images alone."""
    return c.F32 if dtype == np.float32 else _SET_TYPES[dtype.itemsize]


def _maker(array: Any) -> str:
    """The name of the library that an array is of."""
    return type(array).__module__.partition(".")[0]


def is_data_array(array: Any) -> bool:
    """Whether an array is xarray's."""
    return _maker(array) == "xarray" and type(array).__name__ == "DataArray"


def on_device(array: Array) -> bool:
    """Whether an array lies on a GPU."""
    if _maker(array) == "torch":  # of which some tensors raise if they are asked for their interface
        return bool(getattr(array, "is_cuda", False))
    return hasattr(array, "__cuda_array_interface__")


def device_of(array: Array) -> int:
    """The CUDA device number of an array on a GPU."""
    device = getattr(array, "device", None)
    for name in ("id", "index"):  # CuPy, PyTorch
        number = getattr(device, name, None)
        if isinstance(number, int):
            return number
    return 0


def stream_of(array: Array) -> tuple[int, Any]:
    """The stream on which an array is worked on, and what keeps it from being destroyed, if that is known."""
    if _maker(array) == "cupy":
        import cupy
        current = cupy.cuda.get_current_stream(device_of(array))
        return int(current.ptr), current
    if _maker(array) == "torch":
        import torch
        current = torch.cuda.current_stream(array.device)
        return int(current.cuda_stream), current
    number = array.__cuda_array_interface__.get("stream") or 0
    return 0 if number == 1 else int(number), None  # 1 is CUDA's default stream, too


# ---- What a caller gives ----

def _bare(name: str, array: Any) -> Array:
    """An array of NumPy, or one on a GPU, without what is around it."""
    if array is None or isinstance(array, (str, bytes, bool, int, float, complex, np.generic)):
        raise TypeError(f"{name} is {reprlib.repr(array)}, but must be an array")
    if is_data_array(array):
        return _bare(name, array.data)
    try:
        if on_device(array):
            _layout(array)  # of which a sparse tensor has none
            return array
        if _maker(array) == "torch":
            return array.numpy()
        return array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    except ValueError as reason:
        raise wrong(f"{name} is no array: {reason}") from None
    except (AttributeError, TypeError, RuntimeError) as reason:
        raise TypeError(f"{name} is a {type(array).__name__} that is no array in memory: {reason}") from None


def as_set(name: str, array: Any) -> Array:
    """An array as a set, of integers or one byte a pixel: its non-zero elements."""
    given = array
    if _maker(array) == "torch":
        array = array.detach()
        if not array.is_sparse and array.element_size() != 1 and (array.is_floating_point() or array.is_complex()):
            array = array != 0  # of every type, those that NumPy lacks among them
    array = _bare(name, array)
    if isinstance(array, np.ma.MaskedArray):
        array = _unmasked(name, array)
    dtype, shape, strides = _layout(array)
    if dtype.kind not in "biufc":
        raise TypeError(f"{name} is a {type(given).__name__} of dtype {dtype}, but must be an array of numbers or bools")
    _check_axes(name, shape)
    is_taken = dtype.itemsize == 1 or (dtype.kind in "iu" and _is_aligned(array, dtype, strides))
    return array if is_taken and not _repeats(shape, strides) else array != 0


def _unmasked(name: str, array: np.ma.MaskedArray[Any, Any]) -> Array:
    if np.ma.is_masked(array):
        raise wrong(f"{name} has masked elements: {name}.filled() says whether they are in the set")
    return array.data


def _check_axes(name: str, shape: tuple[int, ...]) -> None:
    if not 1 <= len(shape) <= 3:
        raise wrong(f"{name} has {len(shape)} axes, but 1, 2 or 3 are needed")


def as_labels(name: str, array: Any) -> Array:
    """An array as a label image, of integers."""
    given = array.detach() if _maker(array) == "torch" else array
    bare = _bare(name, given)
    dtype, shape, strides = _layout(bare)
    if dtype.kind not in "biu":
        raise TypeError(f"{name} is a {type(array).__name__} of dtype {dtype}, but labels are integers or bools")
    if _is_aligned(bare, dtype, strides) and not _repeats(shape, strides):
        return as_set(name, given)
    if on_device(bare):
        raise wrong(f"{name} has strides {strides}, but labels on a GPU lie apart, on multiples of {dtype.itemsize} bytes")
    return as_set(name, np.array(bare, dtype=dtype.newbyteorder("=")))


def _plain(name: str, array: Any) -> Array:
    """An array without what is around it, and without a mask."""
    bare = _bare(name, array.detach() if _maker(array) == "torch" else array)
    return _unmasked(name, bare) if isinstance(bare, np.ma.MaskedArray) else bare


def as_grey(name: str, array: Any) -> Array:
    """An array as a grey image, of a type that the library takes: another is made one that holds its values."""
    bare = _plain(name, array)
    dtype, shape, strides = _layout(bare)
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} is a {type(array).__name__} of dtype {dtype}, but grey values are integers, floats or bools")
    _check_axes(name, shape)
    if dtype in GREYS and _is_aligned(bare, dtype, strides) and not _repeats(shape, strides):
        return bare
    if on_device(bare):
        raise wrong(f"{name} has dtype {dtype} and strides {strides}, but grey values on a GPU are of {_alternatives(GREYS)}, "
                    "apart and aligned")
    kind = dtype.type if dtype.newbyteorder("=") in GREYS else np.float32 if dtype.kind == "f" else np.int32
    with np.errstate(over="ignore"):
        made = bare.astype(kind)
    differs = (made != bare) & (bare == bare)  # a NaN is one in any type
    if differs.any():
        raise wrong(f"{name} has the value {bare[differs][0]}, but grey values are those that {np.dtype(kind)} holds")
    return made


def as_intensity(name: str, array: Any) -> Array:
    """An array of intensities: bool, uint8, uint16 or float32."""
    bare = _plain(name, array)
    dtype, shape, strides = _layout(bare)
    if dtype not in SAMPLES:
        raise TypeError(f"{name} is a {type(array).__name__} of dtype {dtype}, but must be one of {_alternatives(SAMPLES)}")
    return bare if _is_aligned(bare, dtype, strides) and not _repeats(shape, strides) else bare.copy()


def as_costs(name: str, array: Any) -> Array:
    """An array as a cost image: a type that the library lacks becomes float32, rounded."""
    bare = _plain(name, array)
    dtype, shape, strides = _layout(bare)
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} is a {type(array).__name__} of dtype {dtype}, but costs are integers, floats or bools")
    _check_axes(name, shape)
    if on_device(bare):
        raise error(c.ERROR_UNSUPPORTED, f"{name} lies on a GPU, but costs are taken on the CPU alone")
    if dtype in SAMPLES and _is_aligned(bare, dtype, strides) and not _repeats(shape, strides):
        return bare
    kind = dtype.type if dtype.newbyteorder("=") in SAMPLES else np.float32
    with np.errstate(over="ignore", under="ignore"):
        return bare.astype(kind)


def as_given(name: str, array: Any, labels: Any) -> Array:
    """An array as a label image, if `labels` says that it is one, or as a set."""
    return as_labels(name, array) if flag("labels", labels) else as_set(name, array)


def dtype_in(array: Array) -> np.dtype[Any]:
    """The type of an array's elements."""
    return _layout(array)[0]


def _is_aligned(array: Array, dtype: np.dtype[Any], strides: tuple[int, ...]) -> bool:
    """Whether elements lie, and are stored, as those of the library."""
    data = array.__cuda_array_interface__["data"][0] if on_device(array) else array.ctypes.data
    return dtype.isnative and not any(place % dtype.itemsize for place in (data, *strides))


def check_shape(name: str, array: Array, set: Array, set_name: str = "set") -> None:
    """Raises unless an array has the shape of the set."""
    if tuple(array.shape) != tuple(set.shape):
        raise wrong(f"{name} has shape {tuple(array.shape)}, but {set_name} has {tuple(set.shape)}")


def dtype_of(name: str, wanted: Any, allowed: tuple[type, ...]) -> np.dtype[Any]:
    """One of the types that an output may have; PyTorch's names are known too."""
    try:
        dtype = np.dtype(str(wanted).rpartition(".")[2] if _maker(wanted) == "torch" else wanted)
    except TypeError:
        raise TypeError(f"{name} is {reprlib.repr(wanted)}, but must be a dtype") from None
    if dtype not in allowed:
        raise wrong(f"{name} is {dtype}, but must be {_alternatives(allowed)}")
    return dtype


def index_type(name: str, wanted: Any, shape: tuple[int, ...]) -> Optional[np.dtype[Any]]:
    """The type of indices in an array of this shape: True is the smallest that fits, False is none."""
    if wanted is True or wanted is np.True_:
        return np.dtype(np.int32 if math.prod(shape) <= 2**31 else np.int64)
    return None if wanted is None or wanted is False or wanted is np.False_ else dtype_of(name, wanted, INDICES)


class Output(NamedTuple):
    """An output of a call: the array that is filled, and what the caller gets."""

    name: str
    array: Array
    result: Array


def make_output(name: str, dtype: Optional[np.dtype[Any]], set: Any, bare: Array) -> Optional[Output]:
    """A new output of the kind and place of the set, unless dtype is None."""
    if dtype is None:
        return None
    array = empty(bare, dtype)
    return Output(name, array, _dressed(array, set))


def given_output(name: str, out: Any, allowed: tuple[type, ...], set: Array) -> Output:
    """An output of the caller's."""
    if getattr(out, "requires_grad", False):
        raise wrong(f"{name} requires a gradient, but must be a plain tensor, such as {name}.detach()")
    if not (isinstance(out, np.ndarray) or on_device(out) or _maker(out) in ("torch", "xarray")):
        raise TypeError(f"{name} is {reprlib.repr(out)}, but must be an array")
    array = _bare(name, out)
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, but must be a plain one, such as {name}.data")
    check_shape(name, array, set)
    dtype, shape, strides = _layout(array)
    if dtype not in allowed:
        raise wrong(f"{name} has dtype {dtype}, but must be of {_alternatives(allowed)}")
    if array.__cuda_array_interface__["data"][1] if on_device(array) else not array.flags.writeable:
        raise wrong(f"{name} is read-only")
    if _repeats(shape, strides):
        raise wrong(f"{name} has strides {strides}: its elements overlap")
    return Output(name, array, out)


def _alternatives(types: tuple[type, ...]) -> str:
    *names, last = [np.dtype(kind).name for kind in types]
    return f"{', '.join(names)} or {last}"


# ---- Layout ----

def _layout(array: Array) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]:
    """The type, shape and strides of an array."""
    if not on_device(array):
        return array.dtype, array.shape, array.strides
    interface = array.__cuda_array_interface__
    dtype, shape, strides = np.dtype(interface["typestr"]), tuple(interface["shape"]), interface.get("strides")
    if strides is None:
        strides = [dtype.itemsize * int(np.prod(shape[i + 1:], dtype=np.int64)) for i in range(len(shape))]
    return dtype, shape, tuple(strides)


def _repeats(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements along an axis are one: for this the library has no stride, as 0 is "packed" to it."""
    return 0 not in shape and any(stride == 0 and n > 1 for stride, n in zip(strides, shape))


def as_image(name: str, array: Array, kind: Optional[int] = None) -> c.Image:
    """The image of an array, which it keeps with its name and place.  `kind` is the type of a set."""
    dtype, shape, strides = _layout(array)
    memory = c.DEVICE if on_device(array) else c.HOST
    data = array.__cuda_array_interface__["data"][0] if on_device(array) else array.ctypes.data
    size = [*reversed(shape), *[1] * (2 - len(shape))]
    # An axis of one pixel may have any stride; a packed one (0) is always right there.
    step = [0 if n <= 1 else s for n, s in zip(size, [*reversed(strides), 0])]
    image = c.Image(data=data if 0 not in size else None, type=kind or _TYPES[dtype.str[1:]], ndim=len(size), memory=memory)
    image.size[:len(size)] = size
    image.stride[:len(step)] = step
    image.name, image.array = name, array
    if on_device(array):
        image.device, (image.stream, image.keeper) = device_of(array), stream_of(array)
    return image


def reference(image: Optional[c.Image]) -> Any:
    """What a call takes for an image, or for none."""
    return None if image is None else ctypes.byref(image)


# ---- What a caller gets ----

def empty(array: Array, dtype: Any) -> Array:
    """A new array of the same shape and place."""
    if not on_device(array):
        return np.empty(array.shape, dtype)
    if _maker(array) == "cupy":
        import cupy
        with cupy.cuda.Device(device_of(array)):
            return cupy.empty(array.shape, dtype)
    if _maker(array) == "torch":
        import torch
        return torch.empty(tuple(array.shape), dtype=getattr(torch, np.dtype(dtype).name), device=array.device)
    raise TypeError(f"apsis cannot make a {type(array).__name__}: give the outputs, as arrays")


def _dressed(array: Array, like: Any) -> Array:
    """An array in what is around the one that was given: a tensor, the coordinates of xarray."""
    if is_data_array(like):
        return type(like)(_dressed(array, like.data), like.coords, like.dims)
    if _maker(like) == "torch" and not on_device(array):
        import torch
        return torch.from_numpy(array)
    return array


def to_host(array: Array) -> np.ndarray[Any, Any]:
    """An array of NumPy, or one on a GPU as a copy."""
    if not on_device(array):
        return np.asarray(array)
    return np.asarray(array.get() if _maker(array) == "cupy" else array.cpu())


# ---- Inputs and outputs of a call ----

def output(name: str, out: Optional[Array], dtype_name: str, dtype: Optional[DTypeLike], allowed: tuple[type, ...], set: Any,
           source: Array) -> Optional[Output]:
    if out is not None:
        return given_output(name, out, allowed, source)
    return make_output(name, None if dtype is None else dtype_of(dtype_name, dtype, allowed), set, source)


def index_output(name: str, out: Optional[Array], type_name: str, wanted: Any, set: Any, source: Array,
                 shape: Optional[tuple[int, ...]] = None) -> Optional[Output]:
    """An output of indices in the set, or in an image of another shape that it is a part of."""
    if out is not None:
        return given_output(name, out, INDICES, source)
    return make_output(name, index_type(type_name, wanted, shape or tuple(source.shape)), set, source)


def _apart(array: Array, outputs: list[Optional[Output]]) -> Array:
    """An input of integers; a copy, if an output may lie in its memory."""
    if on_device(array) or array.itemsize == 1:
        return array
    given = [output.array for output in outputs if output is not None and not on_device(output.array)]
    return array.copy() if any(np.may_share_memory(array, other) for other in given) else array


def images_of(inputs: list[Array], outputs: list[Optional[Output]],
              names: tuple[str, ...] = ("set", "seeds")) -> list[Optional[c.Image]]:
    inputs = [_apart(array, outputs) for array in inputs]
    return [*(as_image(name, array, _set_type(_layout(array)[0])) for name, array in zip(names, inputs)),
            *(None if output is None else as_image(output.name, output.array) for output in outputs)]


def results(outputs: list[Optional[Output]], *others: Any) -> Any:
    given = [*(output.result for output in outputs if output is not None), *others]
    if not given:
        raise wrong("dtype is None, and nothing else is asked for")
    return given[0] if len(given) == 1 else tuple(given)
