# gst-spdl: process that forks workers, and the workers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""server.py starts main() in a new interpreter. That process forks another one
for each job, which unpickles the job once and forks its workers. These share its
memory. Each process has one thread when it forks, so that a fork copies no lock
that another thread holds. A trainer with one thread may fork the process of a job
itself."""

import atexit
import ctypes
import errno
import gc
import importlib
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
from functools import partial
from typing import (Any, Callable, Dict, Iterator, List, Optional, Sequence,
                    Tuple)

from .._functions.seeds import Seed, seed_all
from .._media.results import call
from .._media.sample import Sample
from .._native import library as native
from . import inherit

# SpdlForkOperation of processpool.h.
_BEGIN = 1
_COLLECT = 2

# Time for workers to end by themselves, in s.
_GRACE = 1.0
_PR_SET_PDEATHSIG = 1
# A message of the socket must fit into its buffer.
_MAX_TEXT = 50_000


class FunctionJob:
    """Calls a function of Loader.map() with each item."""

    def __init__(self, function: Callable[[Sample], Any],
                 seed: Seed = Seed()) -> None:
        self._function = function
        self._seed = seed

    def _call(self, item: Sample) -> Any:
        seed_all(self._seed.of(item))
        return self._function(item)

    def serve(self, link: int, number: int) -> None:
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        while True:
            item = _receive(link)
            result = call(partial(self._call, item), item, link)
            del item
            try:
                native.process_link_send(link, result)
            except native.Error as error:
                if is_closed(error):
                    raise
                native.process_link_send(link, native.sample_new_failed(
                    error.message.encode()))


def _receive(link: int) -> Sample:
    pointer = native.process_link_receive(link)
    assert pointer is not None
    return Sample(pointer)


def is_closed(error: native.Error) -> bool:
    """Returns whether the process at the other end of a link has ended."""
    return error.domain == "g-io-error-quark" and error.code == _CLOSED


# G_IO_ERROR_CLOSED
_CLOSED = 18


def _work(fd: int, number: int, job: Any, parent: int) -> None:
    """Main loop of a worker, which ends with its socket."""
    _end_with_parent(parent)
    link = native.process_link_new(fd)
    try:
        job.serve(link, number)
    except native.Error as error:
        if not is_closed(error):
            traceback.print_exc()


class _Server:
    """Forks workers, as processpool.h describes."""

    def __init__(self, control: socket.socket, job: Any) -> None:
        self._control = control
        self._job = job
        self._pids: Dict[int, bool] = {}

    def run(self) -> None:
        for data, fds in _receive_all(self._control):
            operation, argument = struct.unpack("=ii", data)
            if operation == _BEGIN:
                value = self._begin(fds[0], argument)
            else:
                value = self._collect(argument)
            if not _send(self._control, struct.pack("=i", value)):
                break
        self._end()

    def _begin(self, fd: int, number: int) -> int:
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
            atexit._clear()  # of the processes that it is a fork of
            self._control.close()
            inherit.renew()
            _work(fd, number, self._job, parent)
            _finish()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            _flush()
            os._exit(status)

    def _collect(self, pid: int) -> int:
        self._pids.pop(pid, None)
        try:
            status = self._await_end(pid)
            if status is None:
                os.kill(pid, signal.SIGKILL)
                status = self._await_end(pid)
            # Else it hangs in the kernel.
            return -errno.ETIMEDOUT if status is None else status
        except OSError as error:
            return -(error.errno or errno.ECHILD)

    def _await_end(self, pid: int) -> Optional[int]:
        end = time.monotonic() + _GRACE
        while time.monotonic() < end:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return status
            time.sleep(0.0005)
        return None

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


def _finish() -> None:
    """Does what multiprocessing does at the end of a process: removes its
    temporary files, ends its children, and waits for its threads. Modules are
    not finalized, as in any forked process."""
    atexit._run_exitfuncs()
    inherit.finish()
    threading._shutdown()  # type: ignore[attr-defined]


def _flush() -> None:
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def main(fd: int, modules: Sequence[str]) -> None:
    """Imports the modules, and forks a process for each job that comes through
    a socket."""
    # Ctrl-C reaches all processes of a terminal: the trainer decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=fd)
    native.init()
    for module in modules:
        importlib.import_module(module)
    # The kernel collects processes that have ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    for _, fds in _receive_all(control):
        parent = os.getpid()
        if os.fork() == 0:
            control.close()
            fd, payload_fd = fds
            _begin_job(parent, fd, partial(load_job, payload_fd))
        for inherited in fds:
            os.close(inherited)
    # Modules that are finalized may write what they leak.
    atexit._run_exitfuncs()
    _flush()
    os._exit(0)


def _receive_all(control: socket.socket) -> "Iterator[Tuple[bytes, List[int]]]":
    """Messages and their descriptors, while the parent lives."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    parent = _open_parent()
    if parent is not None:
        poll.register(parent, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        if control.fileno() not in ready:
            return  # the parent was killed, but a child of it was not
        data, fds, _, _ = socket.recv_fds(control, 64, 2)
        if not data:
            return
        for fd in fds:
            os.set_inheritable(fd, False)
        yield data, fds


def _open_parent() -> Optional[int]:
    """A descriptor that becomes readable when the parent ends."""
    try:
        return os.pidfd_open(os.getppid())
    except (AttributeError, OSError):
        return None


def _end_with_parent(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def begin_fork(parent: int, fd: int, load: Callable[[socket.socket], Any],
               ) -> None:
    """Begins a job in a fork of the trainer's process. Does not return."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # The trainer's objects stay as they are, in memory that both share.
    gc.freeze()
    gc.enable()
    inherit.renew()
    _begin_job(parent, fd, load)


def load_job(payload_fd: int, control: socket.socket) -> Any:
    """Takes over the state of the trainer, and unpickles a job."""
    with os.fdopen(payload_fd, "rb") as payload:
        sys.path[:], environment, folder, state = pickle.load(payload)
        os.environ.clear()
        os.environ.update(environment)
        if folder is not None:
            os.chdir(folder)
        fds: List[int] = []
        while len(fds) < state.n_fds:
            data, received, _, _ = socket.recv_fds(control, 1,
                                                      inherit.MAX_FDS)
            if not data:
                os._exit(0)  # the trainer has ended
            fds += received
        inherit.begin(state, fds)
        job = pickle.load(payload)
    inherit.end_begin()
    return job


def _begin_job(parent: int, fd: int,
               load: Callable[[socket.socket], Any]) -> None:
    """Gets a job and serves its requests. Does not return."""
    _end_with_parent(parent)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control = socket.socket(fileno=fd)
    try:
        _send(control, str(os.getpid()).encode())
        job = load(control)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        if threading.active_count() > 1:
            _warn_of_threads()
        gc.collect()
        gc.freeze()
        if _send(control, b"ready"):
            _Server(control, job).run()
    except BaseException:
        text = traceback.format_exc()[-_MAX_TEXT:]
        _send(control, b"!" + text.encode(errors="replace"))
    finally:
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
