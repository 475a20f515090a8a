"""Arrays on a device with nothing but __cuda_array_interface__, in memory of the library: for tests without CuPy and PyTorch,
and without a GPU on the fake device."""

import ctypes
import types

import numpy as np

import apsis
from apsis import _library as c
from apsis._arrays import as_image
from apsis._context import context_for

c.lib.apsis_alloc.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
c.lib.apsis_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
c.lib.apsis_free.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


class Block:
    """Packed elements on the device, and room for them on the host, of which views are made."""

    def __init__(self, array):
        self.context = apsis.Context(0)
        self.host = np.array(array, order="C")
        self.image = image_of(self.host)
        self.image.data = None
        self.call("apsis_alloc", c.DEVICE, ctypes.byref(self.image))
        self.call("apsis_copy", ctypes.byref(image_of(self.host)), ctypes.byref(self.image))

    def fetch(self):
        self.wait()
        self.call("apsis_copy", ctypes.byref(self.image), ctypes.byref(image_of(self.host)))

    def call(self, function, *arguments):
        assert getattr(c.lib, function)(self.context._handle, *arguments) == c.OK, c.lib.apsis_message(self.context._handle)
        self.context.sync()

    def wait(self):
        """On the fake device nothing is done before."""
        context_for(None, 0).sync()

    def __del__(self):
        self.wait()
        c.lib.apsis_free(self.context._handle, ctypes.byref(self.image))


def image_of(array):
    return as_image("block", array.reshape(-1).view(np.uint8))


class Array:
    """A view of a block: at each time as `view`, of the host's room, lies in it."""

    def __init__(self, block, view, device=0):
        self.block, self.view, self.device = block, view, types.SimpleNamespace(id=device)
        self.shape, self.dtype = view.shape, view.dtype

    @property
    def __cuda_array_interface__(self):
        offset = self.view.ctypes.data - self.block.host.ctypes.data
        return {"shape": self.shape, "typestr": self.dtype.str, "strides": self.view.strides,
                "data": ((self.block.image.data or 0) + offset, False), "version": 3, "stream": 1}

    def __getitem__(self, key):
        return Array(self.block, self.view[key])

    @property
    def T(self):
        return Array(self.block, self.view.T)

    def get(self):
        self.block.fetch()
        return self.view.copy()


def asarray(array):
    block = Block(array)
    return Array(block, block.host)
