# gst-spdl: coroutines as stages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import asyncio
import contextlib
import functools
import os
import threading
import time
from typing import Any, Awaitable, Callable, Dict, Optional, Set

from .._errors import LoaderError
from .._media.results import call, make_failure
from .._media.sample import Sample
from .._native import library as native
from .._native.endings import call_at_end


# Time for the tasks that functions left to end, in s.
_GRACE = 1.0


class _EventLoop(threading.Thread):
    """Runs the coroutines of all stages. Lives as long as the interpreter, so
    that a function may keep a session of a client from epoch to epoch."""

    def __init__(self) -> None:
        super().__init__(name="spdl-coroutines", daemon=True)
        self.loop = asyncio.new_event_loop()
        self._cpu_time = 0
        self._has_ended = False
        self.start()

    def run(self) -> None:
        # As in threads of a pipeline, stop() does not wait for the function
        # that calls it, and the trainer's threads come first.
        native.thread_set_loading()
        asyncio.set_event_loop(self.loop)
        while not self._has_ended:
            # It also ends if a coroutine calls stop() of the loop, or raises one
            # of these, which fails its item.
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                self.loop.run_forever()

    def take_cpu_time(self) -> int:
        """CPU time of the thread since the last call, in ns."""
        now = time.thread_time_ns()
        before, self._cpu_time = self._cpu_time, now
        return now - before

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.loop.call_soon_threadsafe(
            functools.partial(function, *arguments))

    async def _end_all(self) -> None:
        """Ends what coroutines have started and left."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_GRACE)
        await self.loop.shutdown_asyncgens()
        self._has_ended = True
        self.loop.stop()

    def end(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end_all(), self.loop)
        self.join()
        self.loop.close()


_event_loop: Optional[_EventLoop] = None
_lock = threading.Lock()


def _start_loop() -> _EventLoop:
    global _event_loop
    with _lock:
        if _event_loop is None:
            _event_loop = _EventLoop()
            call_at_end(_end_loop)
        return _event_loop


def _end_loop() -> None:
    if _event_loop is not None:
        _event_loop.end()


def _begin_child() -> None:
    global _event_loop, _lock
    _event_loop = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_begin_child)


class Coroutines:
    """Runs an async function with the items of a stage."""

    def __init__(self, function: Callable[[Sample], Awaitable[Any]],
                 number: int) -> None:
        #: the library's queue of items
        self.pointer: int = native.queue_new(number)
        if not self.pointer:
            raise LoaderError("Too many files are open to start an async "
                              "function: close some, or raise ulimit -n",
                              code="map")
        self._function = function
        self._thread = _start_loop()
        #: those that run, with their timeouts
        self._tasks: Dict[Any, Optional[asyncio.TimerHandle]] = {}
        #: those of them that have been cancelled
        self._cancelled: Set[Any] = set()
        self._thread.call(self._thread.loop.add_reader,
                          native.queue_get_fd(self.pointer), self._begin_all)

    def close(self) -> None:
        """Frees the queue, after its stage."""
        if self._thread is _event_loop:  # else in a forked child
            self._thread.call(self._close)

    def _close(self) -> None:
        self._thread.loop.remove_reader(native.queue_get_fd(self.pointer))
        native.queue_unref(self.pointer)

    # In the thread of the loop

    def _begin_all(self) -> None:
        is_cancelled, timeout = native.queue_clear(self.pointer)
        if is_cancelled:
            for task in list(self._tasks):
                self._cancel(task)
        for number, sample in native.queue_take(self.pointer):
            self._begin(number, Sample(sample), timeout / 1e9)

    def _begin(self, number: int, sample: Sample, timeout: float) -> None:
        loop = self._thread.loop
        task = loop.create_task(self._run(sample))
        self._tasks[task] = (loop.call_later(timeout, self._expire, task)
                             if timeout else None)
        task.add_done_callback(
            functools.partial(self._finish, number, timeout, sample))

    async def _run(self, sample: Sample) -> Any:
        return await self._function(sample)

    def _expire(self, task: Any) -> None:
        if not task.done():
            self._tasks[task] = None
            self._cancel(task)

    def _cancel(self, task: Any) -> None:
        # Once: a second exception would end what a coroutine awaits to clean
        # up, for example when stop() follows a timeout.
        if task not in self._cancelled:
            self._cancelled.add(task)
            task.cancel()

    def _finish(self, number: int, timeout: float, sample: Sample,
                task: Any) -> None:
        timer = self._tasks.pop(task)
        self._cancelled.discard(task)
        if timer is not None:
            timer.cancel()
        result: Optional[int]
        if timeout and timer is None:
            if not task.cancelled():  # it caught the cancellation
                task.exception()  # else asyncio would log it
            result = make_failure(
                f"The coroutine took longer than task-timeout ({timeout:.3f} "
                "s), so it was cancelled")
        elif task.cancelled():
            result = make_failure("The coroutine was cancelled")
        else:
            result = call(task.result, sample)
        native.task_finish(number, result, self._thread.take_cpu_time())
