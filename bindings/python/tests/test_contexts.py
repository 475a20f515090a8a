"""Contexts and errors: threads, processes, copies, signals."""

import concurrent.futures
import copy
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import apsis

MASK = np.random.default_rng(5).random((300, 400)) < 0.2


# ---- Copies and threads ----

@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_contexts_are_not_copied(take):
    with apsis.Context("cpu") as context:
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            take(context)


def test_threads_take_turns_in_a_context():
    expected = apsis.distance(MASK, nearest=True)
    with apsis.Context("cpu") as context:
        def work(_):
            with pytest.raises(ValueError, match="spacing has 3"):
                context.distance(MASK, spacing=(1, 2, 3))
            return [context.distance(MASK, nearest=True) for _ in range(20)]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for results in pool.map(work, range(3)):
                for result in results:
                    np.testing.assert_array_equal(result, expected)


def test_a_closed_context_says_so():
    context = apsis.Context("cpu")
    context.close()
    context.close()
    for use in (lambda: context.distance(MASK), lambda: context.components(MASK), lambda: context.name,
                lambda: context.device, context.sync):
        with pytest.raises(ValueError, match="the context is closed"):
            use()


def test_callbacks_cannot_use_their_context():
    for name in ("progress", "log"):
        with apsis.Context("cpu", **{name: lambda *_: context.distance(MASK)}) as context:
            with pytest.raises(RuntimeError, match="the context is at work"):
                context.distance(MASK)


def test_callbacks():
    for name in ("progress", "log"):
        with pytest.raises(TypeError, match=f"^{name} is 3, but must be callable"):
            apsis.Context("cpu", **{name: 3})

        def fail(_):
            raise KeyError("mine")
        with apsis.Context("cpu", **{name: fail}) as context:
            with pytest.raises(KeyError, match="mine"):
                context.distance(MASK)
    where = set()
    with apsis.Context("cpu", progress=lambda _: where.add(threading.get_ident())) as context:
        context.distance(MASK)
    assert where == {threading.get_ident()}


# ---- Errors and processes ----

def test_errors_can_be_pickled():
    for error in (apsis.Error(8, "words"), apsis.ArgumentError(1, "words"), apsis.UnsupportedError(2, "words"),
                  apsis.OutOfMemory(4, "words"), apsis.Cancelled(7, "words")):
        error.note = "more"
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(again) is type(error) and again.status == error.status
            assert str(again) == "words" and again.note == "more"


def work_or_refuse(spacing):
    return apsis.distance(np.tile(MASK, (2, 2)), spacing=spacing)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes(method):
    start = multiprocessing.get_context(method)
    expected = work_or_refuse(2)
    with concurrent.futures.ProcessPoolExecutor(1, start) as pool:
        np.testing.assert_array_equal(list(pool.map(work_or_refuse, [2]))[0], expected)
        with pytest.raises(apsis.ArgumentError, match="spacing has 3 numbers"):
            list(pool.map(work_or_refuse, [(1, 2, 3)]))
    with start.Pool(1) as pool:
        np.testing.assert_array_equal(pool.map(work_or_refuse, [2])[0], expected)
        with pytest.raises(apsis.ArgumentError, match="spacing has 3 numbers"):
            pool.map(work_or_refuse, [(1, 2, 3)])


def test_work_at_the_end_of_the_interpreter():
    program = "import atexit, apsis, numpy as np\natexit.register(lambda: print(apsis.distance(np.ones((600, 600))).max()))"
    done = run(program)
    assert done.stdout == "0.0\n" and done.stderr == ""


def run(program, *arguments):
    folder = str(pathlib.Path(apsis.__file__).parents[1])
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": folder})


# ---- Signals ----

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import apsis

maze = np.ones((1500, 1500), bool)  # which takes long
maze[1::2] = False
maze[1::4, -1] = maze[3::4, 0] = True
small = np.ones((3, 3), bool)

def interrupt():
    global sent
    time.sleep(0.3)
    sent = time.perf_counter()
    os.kill(os.getpid(), getattr(signal, sys.argv[2]))

def ring(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, ring)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background programs begin without it
context = apsis.Context(sys.argv[3], progress=(lambda done: None) if sys.argv[1] == "progress" else None)
for attempt in range(3):
    try:
        threading.Thread(target=interrupt).start()
        while True:
            context.eccentricity(maze, extents=True)
    except (KeyboardInterrupt, TimeoutError) as raised:
        print(type(raised).__name__, time.perf_counter() - sent)
    assert context.components(small)[1] == 1
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no such signals here")
@pytest.mark.parametrize("device", ["cpu", *["best"] * (apsis.device_count() > 0)])
@pytest.mark.parametrize("progress", ["progress", "none"])
@pytest.mark.parametrize("name, raised", [("SIGINT", "KeyboardInterrupt"), ("SIGALRM", "TimeoutError")])
def test_signals_are_answered(device, progress, name, raised):
    done = run(PROGRAM, progress, name, device)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    kinds, times = zip(*(line.split() for line in done.stdout.splitlines()))
    assert kinds == (raised,) * 3
    assert min(map(float, times)) < 0.2, times  # other programs may hold up one of them


def test_a_handler_that_does_not_raise_stops_nothing():
    heard = []
    earlier = signal.signal(signal.SIGINT, lambda *_: heard.append(time.perf_counter()))
    mask = np.random.default_rng(6).random((2000, 2000)) < 0.7
    try:
        expected = apsis.geodesic(mask, mask)
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        seeds = np.zeros_like(mask)
        seeds[0, :2] = True
        result = apsis.geodesic(mask, seeds)
        while not heard:
            time.sleep(0.01)
        np.testing.assert_array_equal(result, apsis.geodesic(mask, seeds))
        np.testing.assert_array_equal(expected, apsis.geodesic(mask, mask))
    finally:
        signal.signal(signal.SIGINT, earlier)
