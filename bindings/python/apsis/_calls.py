"""Calls of the library in a context of it: one at a time, on the streams of their arrays, answering signals meanwhile."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
import warnings
from typing import Any, Callable, Iterator, NoReturn, Optional, Sequence, TypeVar, Union

import numpy as np

from . import _arrays as arrays
from . import _library as c
from ._arrays import Array, Output
from ._errors import BudgetWarning, error, in_python, wrong
from ._options import whole

Device = Union[str, int, Sequence[int]]
Own = TypeVar("Own", bound="Calls")

_ROOM = 4096  # components that fit without asking twice
_SHORT = 1 << 18  # pixels: a map of fewer is made before a signal can be waited for
_LISTEN = 0.05  # seconds between looks at signals and progress
_PATIENCE = 0.1  # seconds that a call which is to stop may take before it is left to itself

#: The arguments for the library's images.
_NAMES = {"distance": "out", "nearest": "nearest_out", "cells": "out", "labels": "out", "result": "out", "eccentricity": "out",
          "farthest": "farthest_out"}


def chosen_device(device: Any) -> Union[int, tuple[int, ...]]:
    """The number of a device, or those of several."""
    if isinstance(device, (list, tuple, range, np.ndarray)):
        for place, number in enumerate(device):
            if isinstance(number, (bool, np.bool_)) or not isinstance(number, (int, np.integer)) or number < 0:
                raise ValueError(f"device[{place}] is {number!r}, but must be the number of a CUDA device")
        if len(device) == 0:
            raise ValueError(f"device is {device!r}, but must have the number of a CUDA device")
        return tuple(map(int, device))
    number = {"cpu": c.CPU, "best": c.BEST}.get(device) if isinstance(device, str) else device
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise ValueError(f'device is {device!r}, but must be "cpu", "best", the number of a CUDA device or a list of them')
    return int(number)


class _Report:
    """What the library calls back: how far it is, and lines of text."""

    def __init__(self, log: Optional[Callable[[str], object]]) -> None:
        self.log = log
        self.done = 0.0
        self.stop = False
        self.raised: Optional[BaseException] = None

    def tell(self, _: Any, done: float) -> bool:
        self.done = done
        return self.stop or self.raised is not None

    def note(self, _: Any, line: bytes) -> None:
        try:
            if self.log:
                self.log(line.decode())
        except BaseException as raised:  # it must not pass through C
            self.raised = raised


class Calls:
    """What an apsis.Context is beside its transforms."""

    def __init__(self, device: Device = "best", *, threads: int = 0, progress: Optional[Callable[[float], object]] = None,
                 log: Optional[Callable[[str], object]] = None) -> None:
        self._handle = ctypes.c_void_p()
        self._lock = threading.Lock()
        self._busy: set[int] = set()  # the threads of the call that is running
        self._left: Optional[threading.Event] = None  # the end of a call that was interrupted
        self._stream = 0
        self._keeper: Any = None  # of the last call: see stream_of
        number = chosen_device(device)
        for name, callback in (("progress", progress), ("log", log)):
            if callback is not None and not callable(callback):
                raise TypeError(f"{name} is {callback!r}, but must be callable")
        count = whole("threads", threads, 2**31 - 1)
        major, minor, patch = c.VERSION
        version = major * 10000 + minor * 100 + patch
        if isinstance(number, tuple):
            numbers = (ctypes.c_int * len(number))(*number)
            status = c.lib.apsis_create_devices(version, numbers, len(number), ctypes.byref(self._handle))
        else:
            status = c.lib.apsis_create(version, number, ctypes.byref(self._handle))
        if status != c.OK:
            raise error(status, in_python(c.lib.apsis_message(None).decode(), {}, 2))
        self._progress = progress
        self._report = _Report(log)
        self._log = c.LOG(self._report.note) if log else c.LOG()
        self._do(lambda: int(c.lib.apsis_set_log(self._handle, self._log, None) or
                             c.lib.apsis_set_threads(self._handle, count)))

    def close(self) -> None:
        """Waits for the context's work, and frees it.  It may be called twice."""
        with self._turn():
            c.lib.apsis_destroy(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):  # nothing else knows of it, so that no lock is needed
            c.lib.apsis_destroy(self._handle)

    def __reduce__(self) -> NoReturn:
        raise TypeError("an apsis.Context is neither copied nor pickled: make another one")

    @property
    def device(self) -> int:
        """The number of its CUDA device, of several the first, or -1 for the CPU."""
        self._check_open()
        return int(c.lib.apsis_device(self._handle))

    @property
    def name(self) -> str:
        """What it runs on, in words."""
        self._check_open()
        return str(c.lib.apsis_device_name(self._handle).decode())

    def sync(self) -> None:
        """Waits for what has been queued on a GPU, and reports an error in it."""
        self._do(lambda: int(c.lib.apsis_sync(self._handle)))

    def _transform(self, function: Any, inputs: list[Array], outputs: list[Optional[Output]], chosen: c.Options) -> None:
        images = arrays.images_of(inputs, outputs)
        self._call(function, images, *map(arrays.reference, images), ctypes.byref(chosen))

    def _transform_counted(self, function: Any, source: Array, outputs: list[Optional[Output]],
                           known_type: Optional[np.dtype[Any]], chosen: c.Options, name: str = "set",
                           room: Optional[int] = None) -> tuple[int, Optional[np.ndarray[Any, Any]]]:
        """Calls a function that tells what is known of components, again if there are more than expected, or of values."""
        images = arrays.images_of([source], outputs, (name,))
        count = ctypes.c_int64()
        known = None if known_type is None else np.empty(_ROOM if room is None else room, known_type)

        def call() -> int:
            return self._on_streams(images, lambda: int(
                function(self._handle, *map(arrays.reference, images), None if known is None else known.ctypes.data,
                         0 if known is None else len(known), ctypes.byref(count), ctypes.byref(chosen))))
        is_long = function is c.lib.apsis_eccentricity
        self._do(call, images, is_long)
        if known is not None and count.value > len(known):
            known = np.empty(count.value, known_type)
            images[1:] = [None] * len(outputs)
            self._do(call, images, is_long, warn=False)  # it has warned
        return count.value, None if known is None else known[:count.value if room is None else room]

    def _call(self, function: Any, images: Sequence[Optional[c.Image]], *arguments: Any) -> None:
        """Calls a function of the library that takes these images."""
        self._do(lambda: self._on_streams(images, lambda: int(function(self._handle, *arguments))), images)

    def _on_streams(self, images: Sequence[Optional[c.Image]], call: Callable[[], int]) -> int:
        """Makes a call on the stream of the first array on a GPU, behind what is queued on those of the others.

        If they are several, the call's end is waited for: none but the first stream would be behind it.
        """
        streams = {image.stream: image.keeper for image in images if image is not None and image.memory == c.DEVICE}
        status = c.OK
        for stream in reversed(streams):
            status = status or int(c.lib.apsis_set_stream(self._handle, stream))
            self._stream, self._keeper = stream, streams[stream]
        status = status or call()
        return status or (int(c.lib.apsis_sync(self._handle)) if len(streams) > 1 else c.OK)

    def _leave_stream(self) -> None:
        """The stream must be there until the next call: a context keeps it that long, if it can, or else leaves it now."""
        if self._stream and self._keeper is None:
            c.lib.apsis_set_stream(self._handle, None)
            self._stream = 0

    def _check_places(self, images: Sequence[Optional[c.Image]]) -> None:
        """Raises unless all arrays on a GPU are on that of the context."""
        for image in images:
            if image is not None and image.memory == c.DEVICE and image.device != self.device:
                own = "the CPU" if self.device == c.CPU else f"device {self.device}"
                raise wrong(f"{image.name} lies on device {image.device}, but the work is done on {own}")

    def _check_open(self) -> None:
        if not self._handle:
            raise ValueError("the context is closed")

    def _do(self, call: Callable[[], int], images: Sequence[Optional[c.Image]] = (), is_long: bool = False,
            warn: bool = True) -> None:
        """Makes a call that gives a status, while no other is made in this context, and raises what is wrong."""
        with self._turn():
            self._check_open()
            self._check_places(images)
            status = self._run(call, images, is_long)
            raised, self._report.raised = self._report.raised, None
            message = "" if status == c.OK else c.lib.apsis_message(self._handle).decode()
            self._leave_stream()
        if raised:
            raise raised
        if status != c.OK:
            axes = len(images[0].array.shape) if images and images[0] else 2
            message = in_python(message, {**_NAMES, **{image.name: image.name for image in images if image}}, axes)
            if status != c.ERROR_BUDGET:
                raise error(status, message)
            if warn:
                warnings.warn(message, BudgetWarning, stacklevel=outside())

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Nothing else is done in this context meanwhile."""
        if threading.get_ident() in self._busy:
            raise RuntimeError("the context is at work: what it calls back cannot use it")
        with self._lock:
            if self._left:
                self._left.wait()
                self._left = None
            with self._at_work():
                yield

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        self._busy.add(threading.get_ident())
        try:
            yield
        finally:
            self._busy.discard(threading.get_ident())

    def _run(self, call: Callable[[], int], images: Sequence[Optional[c.Image]], is_long: bool) -> int:
        """Makes a call so that signals are answered meanwhile, Ctrl-C among them, and progress is told.

        Python answers signals on the main thread, between two of its instructions.  So a call that may take long runs on
        another thread, and is asked to stop through the library's progress callback, which comes between parts of its work.
        Where a part takes longer than _PATIENCE, the call is left to itself, and the next one waits for its end.
        """
        if images and images[0] and all(image is None or image.memory == c.HOST for image in images):
            is_long = is_long or images[0].array.size >= _SHORT
        is_heard = is_long and threading.current_thread() is threading.main_thread()
        if not (images and (is_heard or self._progress or self._log)):
            return call()
        report = self._report
        report.done, report.stop, report.raised = 0.0, False, None
        tell = c.PROGRESS(report.tell) if is_heard or self._progress else c.PROGRESS()
        answer: list[int] = []
        ended = threading.Event()

        def work() -> None:
            try:
                with self._at_work():
                    c.lib.apsis_set_progress(self._handle, tell, None)
                    answer.append(c.ERROR_CANCELLED if report.stop else call())
                    c.lib.apsis_set_progress(self._handle, c.PROGRESS(), None)
            finally:
                ended.set()
        worker = threading.Thread(target=work, name="apsis")
        try:
            try:
                worker.start()
            except RuntimeError:  # no more threads may be started, as when the interpreter ends
                return call()
            while not ended.wait(_LISTEN):
                self._tell(report.done)
            status = answer[0] if answer else c.ERROR_INTERNAL
            if status == c.OK:
                self._tell(1.0)
        except BaseException:
            report.stop = True
            if worker.ident is not None:
                self._left = ended
                ended.wait(_PATIENCE)
            raise
        return status

    def _tell(self, done: float) -> None:
        if self._progress and self._progress(done):
            raise error(c.ERROR_CANCELLED, "the progress callback asked to stop")


def outside() -> int:
    """How many calls up is the first that is not of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level
