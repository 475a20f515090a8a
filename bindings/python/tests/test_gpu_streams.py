"""Arrays on a GPU, on streams: work is queued behind and before that of others.  Without a GPU they are skipped."""

import concurrent.futures
import contextlib
import gc

import numpy as np
import pytest

import apsis
from apsis import _arrays
from gpu_arrays import CuPy, PyTorch, contexts_are_closed, maker, one_of, random_set  # noqa: F401

pytestmark = pytest.mark.skipif(apsis.device_count() == 0, reason="no GPU")

SHAPE = (2000, 3000)


class Work:
    """On a new stream: much work, then a set that takes the place of an empty one."""

    def __init__(self, maker):
        self.maker, self.sin = maker, maker.library.sin
        self.mask = random_set(*SHAPE, density=0.001)
        self.expected = apsis.distance(self.mask)
        self.empty, self.full, self.set = map(maker.to_device, (np.zeros(SHAPE, bool), self.mask, np.zeros(SHAPE, bool)))
        self.out, self.room = maker.to_device(np.zeros(SHAPE, np.float32)), maker.to_device(np.ones(1 << 28, np.float32))
        with self.queued(1):  # what is compiled and allocated once
            apsis.distance(self.set, out=self.out)
        self.set[...] = self.empty
        maker.wait()

    @contextlib.contextmanager
    def queued(self, times=400):
        """On an H200 400 times take 0.2 seconds."""
        with self.maker.stream():
            for _ in range(times):
                self.sin(self.room, out=self.room)
            self.set[...] = self.full
            self.out[...] = -7
            yield
        self.maker.wait()


def test_work_is_queued_behind_and_before_others(maker):
    work = Work(maker)
    with work.queued():
        assert not maker.is_done(), "this is too little work"
        assert apsis.distance(work.set, out=work.out) is work.out
        assert not maker.is_done(), "apsis has waited"
        work.set[...] = work.empty
        result = work.out + 0
        work.out[...] = 0
        np.testing.assert_array_equal(maker.to_host(result), work.expected)
        assert not maker.to_host(work.out).any()


def test_on_another_stream_it_would_be_wrong(maker, monkeypatch):
    """So the test above finds work that is queued elsewhere."""
    work = Work(maker)
    monkeypatch.setattr(_arrays, "stream_of", lambda array: (0, None))
    with work.queued():
        result = apsis.distance(work.set)
    assert np.isinf(maker.to_host(result)).all()


def test_streams_that_are_gone(maker):
    mask = random_set(300, 400)
    expected = apsis.distance(mask)
    for _ in range(20):
        with maker.stream():
            result = apsis.distance(maker.to_device(mask))
        gc.collect()
        maker.wait()
        np.testing.assert_array_equal(maker.to_host(result), expected)


def test_every_function_on_a_stream(maker):
    work = Work(maker)
    with work.queued():
        labels, count, known = apsis.components(work.set, statistics=True)
    assert count == len(known) == int(labels.max()) == apsis.components(work.mask)[1]
    with work.queued():
        cells = apsis.voronoi(work.set)
        lengths = apsis.geodesic(work.set, work.full)
        results = maker.to_host(cells), maker.to_host(lengths)
    np.testing.assert_array_equal(results[0], apsis.voronoi(work.mask))
    np.testing.assert_array_equal(results[1], apsis.geodesic(work.mask, work.mask))


def test_sets_are_converted_on_the_stream(maker):
    work = Work(maker)
    numbers = maker.to_device(np.zeros(SHAPE, np.int32))
    numbers[...] = work.empty
    apsis.distance(numbers)
    with work.queued():
        numbers[...] = work.set
        result = maker.to_host(apsis.distance(numbers))
    np.testing.assert_array_equal(result, work.expected)


def test_progress_on_a_stream(maker):
    work, told = Work(maker), []
    with apsis.Context(0, progress=told.append) as context, work.queued():
        result = maker.to_host(context.distance(work.set))
    np.testing.assert_array_equal(result, work.expected)
    assert told[-1] == 1


def test_arrays_of_several_libraries():
    """Each on a stream of its own: the result is behind the work on both, and done."""
    makers = one_of(CuPy), one_of(PyTorch)
    for one, other in (makers, makers[::-1]):
        work, more = Work(one), Work(other)
        with more.queued(times=800), work.queued():
            assert apsis.distance(work.set, out=more.out) is more.out
            assert one.is_done() and other.is_done()
            np.testing.assert_array_equal(other.to_host(more.out), work.expected)


def test_threads_on_streams_of_their_own(maker):
    masks = [random_set(700, 900, density=0.01, seed=seed) for seed in range(4)]
    expected = [apsis.distance(mask) for mask in masks]

    def work(number):
        with maker.stream():
            there = maker.to_device(masks[number])
            return [maker.to_host(apsis.distance(there)) for _ in range(20)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for results, right in zip(pool.map(work, range(4)), expected):
            for result in results:
                np.testing.assert_array_equal(result, right)


def test_work_is_captured_in_a_graph():
    torch = one_of(PyTorch).library
    first, second = random_set(*SHAPE, density=0.001), random_set(*SHAPE, density=0.01)
    set, out = torch.from_numpy(first).cuda(), torch.zeros(SHAPE, device="cuda")
    apsis.distance(set, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        apsis.distance(set, out=out)
    for mask in (first, second):
        set.copy_(torch.from_numpy(mask))
        graph.replay()
        np.testing.assert_array_equal(out.cpu().numpy(), apsis.distance(mask))
