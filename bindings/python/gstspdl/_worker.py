# gst-spdl: process that forks workers, and the workers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""_processes.py starts main() in a fresh interpreter. That process has one thread,
so that a fork copies no lock that another thread holds. It unpickles the job
once; the workers share its memory."""

import ctypes
import errno
import gc
import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from typing import Any, BinaryIO, Callable, Dict, List, Optional

from . import _map, _native as native
from ._sample import Sample

# SpdlForkOperation of forkserver.h.
_BEGIN = 1
_COLLECT = 2

# Time for workers to end by themselves, in s.
_GRACE = 1.0
_PR_SET_PDEATHSIG = 1
# A message of the socket must fit into its buffer.
_MAX_TEXT = 50_000


class FunctionJob:
    """Calls a function of Loader.map() with each item."""

    def __init__(self, function: Callable[[Sample], Any]) -> None:
        self._function = function

    def serve(self, link: int, number: int) -> None:
        _seed()
        while True:
            result = _map.call(self._function, _receive(link))
            made = Sample(result) if result else None
            try:
                native.process_link_send(link, result)
            except native.Error as error:
                if _is_closed(error):
                    raise
                failed = Sample(native.sample_new_failed(
                    error.message.encode()))
                native.process_link_send(link, failed._pointer)
            del made


def _receive(link: int) -> Sample:
    pointer = native.process_link_receive(link)
    assert pointer is not None
    return Sample(pointer)


def _seed() -> None:
    """Gives each worker random numbers of its own."""
    modules = sys.modules
    seed = int.from_bytes(os.urandom(4), "little")
    if "random" in modules:
        modules["random"].seed(seed)
    if "numpy.random" in modules:
        modules["numpy.random"].seed(seed)
    if "torch" in modules:
        modules["torch"].manual_seed(seed)
        modules["torch"].set_num_threads(1)


def _is_closed(error: native.Error) -> bool:
    return error.domain == "g-io-error-quark" and error.code == _CLOSED


# G_IO_ERROR_CLOSED
_CLOSED = 18


def _work(fd: int, number: int, job: Any, parent: int) -> None:
    """The life of a worker, which ends with its socket."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return
    link = native.process_link_new(fd)
    try:
        job.serve(link, number)
    except native.Error as error:
        if not _is_closed(error):
            traceback.print_exc()


class _Server:
    """Forks workers, as forkserver.h describes."""

    def __init__(self, control: socket.socket, job: Any) -> None:
        self._control = control
        self._job = job
        self._pids: Dict[int, bool] = {}

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        parent = _open_parent()
        if parent is not None:
            poll.register(parent, select.POLLIN)
        while True:
            ready = [fd for fd, _ in poll.poll()]
            if self._control.fileno() not in ready:
                break  # the parent was killed, but a child of it was not
            data, fds, _, _ = socket.recv_fds(self._control, 8, 1)
            if not data:
                break
            operation, argument = struct.unpack("=ii", data)
            if operation == _BEGIN:
                value = self._begin(fds[0], argument)
            else:
                value = self._collect(argument)
            if not _send(self._control, struct.pack("=i", value)):
                break
        self._end()

    def _begin(self, fd: int, number: int) -> int:
        os.set_inheritable(fd, False)
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(fd)
            return -(error.errno or errno.EAGAIN)
        if pid:
            os.close(fd)
            self._pids[pid] = True
            return pid
        status = 1
        try:
            self._control.close()
            _work(fd, number, self._job, parent)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            _flush()
            os._exit(status)

    def _collect(self, pid: int) -> int:
        try:
            self._pids.pop(pid, None)
            return os.waitpid(pid, 0)[1]
        except OSError as error:
            return -(error.errno or errno.ECHILD)

    def _end(self) -> None:
        """Waits for workers to end with their sockets. The kernel kills the
        rest when this process ends."""
        end = time.monotonic() + _GRACE
        while self._pids and time.monotonic() < end:
            for pid in list(self._pids):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    del self._pids[pid]
            if self._pids:
                time.sleep(0.002)


def _open_parent() -> Optional[int]:
    """A descriptor that becomes readable when the parent ends."""
    try:
        return os.pidfd_open(os.getppid())
    except (AttributeError, OSError):
        return None


def _flush() -> None:
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def main(fd: int, payload: BinaryIO) -> None:
    """Reads a job from `payload`, and serves the requests of a socket."""
    # Ctrl-C reaches all processes of a terminal: the trainer decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=fd)
    try:
        with payload:
            job = pickle.load(payload)
        native.init()
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        if threading.active_count() > 1:
            _warn_of_threads()
    except BaseException:
        text = traceback.format_exc()[-_MAX_TEXT:]
        _send(control, b"!" + text.encode(errors="replace"))
        return
    gc.collect()
    gc.freeze()
    if _send(control, b"ready"):
        _Server(control, job).run()
    _flush()
    os._exit(0)


def _send(control: socket.socket, answer: bytes) -> bool:
    try:
        control.send(answer)
        return True
    except BrokenPipeError:
        return False  # the loader is gone


def _warn_of_threads() -> None:
    names: List[str] = [thread.name for thread in threading.enumerate()
                        if thread is not threading.main_thread()]
    sys.stderr.write(
        "gst-spdl: a module that the function imports started the threads "
        f"{', '.join(names)}. Worker processes do not have them\n")
