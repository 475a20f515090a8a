"""Arrays on a GPU, of CuPy, of PyTorch, and with nothing but __cuda_array_interface__, for the tests of them."""

import importlib

import numpy as np
import pytest

from apsis import _context


class CuPy:
    def __init__(self):
        self.library = importlib.import_module("cupy")
        self.kind = self.library.ndarray

    def to_device(self, array):
        return self.library.asarray(array)

    def to_host(self, array):
        return self.library.asnumpy(array)

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def is_done(self):
        return self.library.cuda.get_current_stream().done

    def wait(self):
        self.library.cuda.Device().synchronize()


class PyTorch:
    def __init__(self):
        self.library = importlib.import_module("torch")
        self.kind = self.library.Tensor

    def to_device(self, array):
        return self.library.from_numpy(np.ascontiguousarray(array)).cuda()

    def to_host(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.library.cuda.stream(self.library.cuda.Stream())

    def is_done(self):
        return self.library.cuda.current_stream().query()

    def wait(self):
        self.library.cuda.synchronize()


class Plain:
    """Of which no results can be made: they are given."""

    def __init__(self):
        self.library = importlib.import_module("plain")
        self.kind = self.library.Array

    def to_device(self, array):
        return self.library.asarray(array)

    def to_host(self, array):
        return array.get()


@pytest.fixture(scope="module", autouse=True)
def contexts_are_closed():
    """So that the fake device, which looks for what is left at the end, finds nothing."""
    yield
    for context in _context._own.__dict__.pop("contexts", {}).values():
        context.close()


def one_of(kind):
    try:
        return kind()
    except ImportError:
        pytest.skip(f"no {kind.__name__}")


@pytest.fixture(params=[CuPy, PyTorch])
def maker(request):
    """What makes arrays of a library."""
    return one_of(request.param)


@pytest.fixture(params=[CuPy, PyTorch, Plain])
def any_maker(request):
    return one_of(request.param)


def random_set(*shape, density=0.1, seed=1):
    return np.random.default_rng(seed).random(shape) < density


def label_image(shape, dtype):
    values = np.random.default_rng(3).integers(-2 if np.dtype(dtype).kind == "i" else 0, 4, [-(-n // 4) for n in shape])
    return np.kron(values, np.ones((4,) * len(shape), int))[tuple(map(slice, shape))].astype(dtype)


def check(maker, function, *sets, **options):
    """One function on arrays on the GPU, beside the same on the CPU."""
    there = function(*map(maker.to_device, sets), **options)
    here = function(*sets, **options)
    there, here = (list(r) if isinstance(r, tuple) else [r] for r in (there, here))
    assert len(there) == len(here)
    for t, h in zip(there, here):
        if isinstance(t, maker.kind):
            t = maker.to_host(t)
        else:
            assert not isinstance(h, np.ndarray) or h.dtype.names, "a map has left the GPU"
        np.testing.assert_array_equal(t, h)
