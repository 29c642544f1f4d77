# gst-spdl: thread that pins batches of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import os
import threading
from collections import deque
from typing import Any, Deque, Optional, Tuple

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import _utils

from .fetch import Answer, Task
from .workers import Worker, Workers


def pin(data: Any, device: Any) -> Any:
    """Copies tensors into page-locked memory."""
    return _utils.pin_memory.pin_memory(data, device)


def _get_device() -> int:
    """The current device, which belongs to a thread."""
    if hasattr(torch, "accelerator"):
        return int(torch.accelerator.current_device_index())
    return int(torch.cuda.current_device())


def _set_device(number: int) -> None:
    if hasattr(torch, "accelerator"):
        torch.accelerator.set_device_index(number)
    else:
        torch.cuda.set_device(number)


class PinningWorkers(Workers):
    """Workers whose answers a thread receives and pins as soon as they are due.

    The thread and the trainer share the workers under a lock. The thread does not
    hold the lock while it waits for a worker or pins. Only the thread receives, so
    only it replaces a worker."""

    def __init__(self, device: Any, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._device = device
        self._number = _get_device()
        self._changed = threading.Condition()
        #: answers that the trainer may take
        self._ready: Deque[Tuple[Worker, Answer]] = deque()
        # Wakes the thread while it waits for a worker.
        self._read_end, self._write_end = os.pipe()
        # A full pipe wakes as well as one more byte.
        os.set_blocking(self._write_end, False)
        self._thread: Optional[threading.Thread] = None

    def start(self) -> None:
        super().start()
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="spdl-pin")
        self._thread.start()

    def add(self, worker: Worker, task: Task) -> None:
        with self._changed:
            super().add(worker, task)
            self._changed.notify_all()
            if not self._in_order:
                self._wake()  # it must wait for this worker, too

    def take(self, timeout: float) -> Tuple[Worker, Answer]:
        if os.getpid() != self._owner:
            self._check()  # the lock may be held by a thread of the parent
        with self._changed:
            is_there = self._changed.wait_for(
                lambda: self._ready or self._is_stopped, timeout or None)
            if not is_there:
                raise RuntimeError(
                    f"DataLoader timed out after {timeout} seconds")
            if not self._ready:
                self._check()
            found = self._ready.popleft()
            found[0].n_ahead -= 1
            return found

    def end(self) -> None:
        if os.getpid() != self._owner:
            return
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
            self._wake()
        if self._thread is None:
            self._close()
        elif self._thread is not threading.current_thread():
            self._thread.join()
        # Else it ends soon: the iterator was garbage that it collected.

    def _wake(self) -> None:
        if self._write_end >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(self._write_end, b".")

    def _close(self) -> None:
        with self._changed:
            if self._write_end >= 0:
                os.close(self._read_end)
                os.close(self._write_end)
            self._read_end = self._write_end = -1
            self._end_all()

    # The thread

    def _run(self) -> None:
        try:
            torch.set_num_threads(1)
            _set_device(self._number)
            while self._wait_task():
                self._move()
        except Exception as error:
            with self._changed:
                self._error = error
                self._is_stopped = True
                self._changed.notify_all()
        finally:
            self._close()

    def _wait_task(self) -> bool:
        """Waits for a task. Returns False when the thread is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._order or self._is_stopped)
        return not self._is_stopped

    def _move(self) -> None:
        """Receives and pins an answer."""
        with self._changed:
            due = self._list_due()
        worker = self._wait(due, 0, self._read_end)
        if worker is None:
            os.read(self._read_end, 1 << 16)
            return
        with self._changed:
            found = self._receive(worker)
        if found is None:
            return
        self._pin(found[1])
        with self._changed:
            self._ready.append(found)
            self._changed.notify_all()

    def _pin(self, answer: Answer) -> None:
        if answer.is_end or isinstance(answer.data, ExceptionWrapper):
            return
        try:
            answer.data = pin(answer.data, self._device)
        except Exception:
            self._numbers.n_failures += 1
            answer.data = ExceptionWrapper(
                where=f"in pin memory thread for device {self._number}")
