"""Arrays as images of the library, without a copy where their strides allow it: NumPy's, and those on a GPU that have
`__cuda_array_interface__` (CuPy, PyTorch, Numba).

An array's last axis is the image's x.  One-dimensional arrays are images of one row.
"""

import ctypes

import numpy as np

from . import _library as c

TYPES = {"i4": c.I32, "i8": c.I64, "f4": c.F32, "f8": c.F64, "u1": c.U8, "b1": c.U8}


def on_device(array):
    """Whether an array lies on a GPU."""
    return hasattr(array, "__cuda_array_interface__")


def device_of(array):
    """The CUDA device number of an array on a GPU."""
    device = getattr(array, "device", None)
    for name in ("id", "index"):  # CuPy, PyTorch
        if isinstance(getattr(device, name, None), int):
            return getattr(device, name)
    return 0


def stream_of(array):
    """The stream on which whoever made the array works: that of the array, or the library's current one."""
    stream = array.__cuda_array_interface__.get("stream")
    if stream is not None:
        return int(stream)
    maker = type(array).__module__.partition(".")[0]
    if maker == "cupy":
        import cupy
        return cupy.cuda.get_current_stream().ptr
    if maker == "torch":
        import torch
        return torch.cuda.current_stream(array.device).cuda_stream
    return 0


def as_set(array):
    """An array as a set, of one byte a pixel: its non-zero elements."""
    if on_device(array):
        kind = np.dtype(array.__cuda_array_interface__["typestr"])
        return array if kind.itemsize == 1 else array != 0
    array = np.asarray(array)
    is_bytes = array.dtype.itemsize == 1 and array.dtype.kind in "bui"
    is_repeated = any(stride == 0 and n > 1 for stride, n in zip(array.strides, array.shape))  # 0 is "packed" to the library
    return array if is_bytes and not is_repeated else array != 0


def empty_like(array, dtype):
    """A new array of the same shape and place."""
    if not on_device(array):
        return np.empty(array.shape, dtype)
    maker = type(array).__module__.partition(".")[0]
    if maker == "cupy":
        import cupy
        with cupy.cuda.Device(device_of(array)):
            return cupy.empty(array.shape, dtype)
    if maker == "torch":
        import torch
        return torch.empty(tuple(array.shape), dtype=getattr(torch, np.dtype(dtype).name), device=array.device)
    raise TypeError(f"apsis cannot make a {type(array).__name__}: give the outputs, as arrays")


def as_image(name, array, kind=None):
    """The apsis_image of an array, which must outlive it.  `kind` is the type of a set."""
    if on_device(array):
        interface = array.__cuda_array_interface__
        dtype, shape, strides = np.dtype(interface["typestr"]), interface["shape"], interface.get("strides")
        data, memory = interface["data"][0], c.DEVICE
    else:
        dtype, shape, strides, data, memory = array.dtype, array.shape, array.strides, array.ctypes.data, c.HOST
    if not 1 <= len(shape) <= 3:
        raise ValueError(f"{name} has {len(shape)} axes, but 1, 2 or 3 are needed")
    if not dtype.isnative:
        raise ValueError(f"{name} has dtype {dtype}, which is not in this machine's byte order")
    if kind is None and dtype.str[1:] not in TYPES:
        raise ValueError(f"{name} has dtype {dtype}, but must be of int32, int64, float32, float64, uint8 or bool")
    if strides is None:
        strides = [dtype.itemsize * int(np.prod(shape[i + 1:], dtype=np.int64)) for i in range(len(shape))]
    size, step = list(reversed(shape)), list(reversed(strides))
    if len(size) == 1:
        size, step = size + [1], step + [0]
    # An axis of one pixel may have any stride; a packed one (0) is always right there.
    step = [0 if n <= 1 else s for n, s in zip(size, step)]
    image = c.Image(data=data if 0 not in size else None, type=kind or TYPES[dtype.str[1:]], ndim=len(size), memory=memory)
    image.size[:len(size)] = size
    image.stride[:len(step)] = step
    return image


def reference(image):
    return None if image is None else ctypes.byref(image)
