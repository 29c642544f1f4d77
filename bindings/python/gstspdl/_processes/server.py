# gst-spdl: worker processes for Python functions
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import ctypes
import functools
import gc
import importlib
import io
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from types import FunctionType
from typing import (Any, Callable, Dict, Iterator, List, Optional, Sequence,
                    Tuple)

from .._native import library as native
from .._native.endings import call_at_end
from . import inherit
from .silence import WORKER_TIMEOUT, get_interval
from .worker import begin_fork, load_job

# Starts worker.main(). The main module of the program is not imported.
_CODE = ("import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
         "from gstspdl._processes.worker import main; "
         "main(int(sys.argv[1]), sys.argv[2:])")
# A process that does not end after this time, in s, is killed. One that still
# does not end after the second time hangs in the kernel.
_PATIENCE = 1.0
_KILL_PATIENCE = 0.5
# Function of OpenBLAS that returns its number of threads, in several builds.
_BLAS_NAMES = ("scipy_openblas_get_num_threads64_",
               "scipy_openblas_get_num_threads", "openblas_get_num_threads64_",
               "openblas_get_num_threads")


#: Message of a process that can fork workers.
READY = b"ready"


class StartError(Exception):
    """Workers cannot be started. The text has a traceback."""


class _Pickler(pickle.Pickler):
    """Refuses objects that only a process with the main module could unpickle."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (FunctionType, type)):
            reason = None
            if value.__module__ == "__main__":
                reason = ("the main module, which worker processes do not "
                          "import: define it in another module")
            elif "<" in value.__qualname__:
                reason = ("a function, where worker processes do not find it: "
                          "define it in a module")
            if reason:
                raise pickle.PicklingError(
                    f"{value.__qualname__} is defined in {reason}, or install "
                    "cloudpickle, which copies it")
        return NotImplemented


def get_pickler() -> Any:
    """The class that pickles a function or a dataset for another process."""
    try:
        return importlib.import_module("cloudpickle").CloudPickler
    except ImportError:
        return _Pickler


def dump(value: Any) -> bytes:
    """Pickles a function for another process."""
    stream = io.BytesIO()
    get_pickler()(stream, pickle.HIGHEST_PROTOCOL).dump(value)
    return stream.getvalue()


def _find_folder() -> Optional[str]:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None  # it was removed


def _write_payload(job: bytes, state: inherit.State) -> int:
    """A file in memory with the state of this process and the pickled job."""
    fd = os.memfd_create("gst-spdl-job")
    with os.fdopen(os.dup(fd), "wb") as stream:
        pickle.dump((sys.path, dict(os.environ), _find_folder(), state), stream)
        stream.write(job)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _make_sockets() -> "Tuple[socket.socket, socket.socket]":
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _send_fds(connection: socket.socket, fds: Sequence[int]) -> None:
    for i in range(0, len(fds), inherit.MAX_FDS):
        socket.send_fds(connection, [b"."], fds[i:i + inherit.MAX_FDS])


class _Base:
    """A new interpreter, which forks a process for each job. It has imported the
    modules that all jobs need."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._socket, theirs = _make_sockets()
        _sockets.add(self._socket)
        self.n_users = 0
        with theirs:
            # pylint: disable=protected-access
            self._process = subprocess.Popen(
                [sys.executable,
                 *subprocess._args_from_interpreter_flags(),  # type: ignore
                 "-c", _CODE, str(theirs.fileno()), *modules],
                stdin=subprocess.PIPE, pass_fds=(theirs.fileno(),))
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            pickle.dump(sys.path, stream)

    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self, job: bytes, fds: List[int]) -> socket.socket:
        """Returns a connection to a process for the job."""
        state, fds = inherit.save(fds)
        ours, theirs = _make_sockets()
        payload = _write_payload(job, state)
        try:
            socket.send_fds(self._socket, [b"."], [theirs.fileno(), payload])
            _send_fds(ours, fds)
        finally:
            theirs.close()
            os.close(payload)
        return ours

    def forget(self) -> None:
        """Leaves the process to the parent of this one."""
        self._process.returncode = 0

    def close(self) -> None:
        self._socket.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_KILL_PATIENCE)


_bases: Dict[Tuple[str, ...], _Base] = {}
_bases_lock = threading.RLock()
# Those that a forked child of this process closes.
_sockets: "weakref.WeakSet[socket.socket]" = weakref.WeakSet()


@contextlib.contextmanager
def _lock_bases() -> Iterator[None]:
    """Takes the lock, and delays garbage collection: it may free a loader,
    whose end takes the lock as well, and in this thread would not wait."""
    with _bases_lock:
        collects = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collects:
                gc.enable()


def _use_base(modules: Tuple[str, ...],
              made: Optional[_Base] = None) -> Optional[_Base]:
    """Returns the process that runs, or `made` if there is none."""
    with _lock_bases():
        base = _bases.get(modules)
        if base is None or not base.is_running():
            if made is None:
                return None
            _bases[modules] = base = made
        base.n_users += 1
        return base


def start_base(*modules: str) -> _Base:
    """Starts the process with these modules, if it is not running."""
    base = _use_base(modules)
    if base is None:
        made = _Base(modules)  # takes long, so without the lock
        call_at_end(_close_bases)
        base = _use_base(modules, made)
        assert base is not None
        if base is not made:  # that of another thread
            made.close()
    return base


def _leave_base(base: _Base) -> None:
    """Ends a process without users. The process that has imported modules stays,
    since importing them again may take seconds."""
    with _lock_bases():
        base.n_users -= 1
        if base.n_users > 0 or _bases.get(()) is not base:
            return
        del _bases[()]
    base.close()


def _close_bases() -> None:
    with _lock_bases():
        bases = [base for base in _bases.values() if base.is_running()]
        _bases.clear()
    for base in bases:
        base.close()


def _note_fork() -> None:
    global _has_forked
    _has_forked = True


def _begin_child() -> None:
    global _bases_lock
    _bases_lock = threading.RLock()
    for inherited in list(_sockets):
        inherited.close()
    for base in _bases.values():
        base.forget()
    _bases.clear()


#: OpenBLAS has ended its threads. It may start them again.
_has_forked = False
os.register_at_fork(before=_note_fork, after_in_child=_begin_child)


def _count_blas_threads() -> int:
    """Returns the number of threads of OpenBLAS, which the wheels of NumPy and
    SciPy start at their import. OpenBLAS itself ends them before a fork."""
    n = 0
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps
                 if "openblas" in line}
    for path in paths:
        library = ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_LAZY)
        for name in _BLAS_NAMES:
            if hasattr(library, name):
                n += int(library[name]()) - 1
                break
    return n


def can_fork() -> bool:
    """Returns True if no other thread of this process can hold a lock while it
    forks: there is none, or only those that OpenBLAS starts with the program."""
    try:
        n = len(os.listdir("/proc/self/task"))
        return n == 1 or (not _has_forked and n == 1 + _count_blas_threads())
    except OSError:
        return False


def _fork_job(job: Any, fds: List[int]) -> "Tuple[socket.socket, int]":
    """Forks a process for a job from this one, and returns a connection to it
    and its process ID. A job that is not pickled is already in the memory of the
    fork."""
    ours, theirs = _make_sockets()
    _sockets.add(ours)
    payload = -1
    load: Callable[[socket.socket], Any] = lambda control: job
    if isinstance(job, bytes):
        payload = _write_payload(job, inherit.State(len(fds)))
        load = functools.partial(load_job, payload)
        _send_fds(ours, fds)
    for stream in sys.stdout, sys.stderr:
        if stream is not None:
            stream.flush()  # else both processes write what is in it
    parent = os.getpid()
    # Garbage of this process is not to be finalized in the other one.
    collects = gc.isenabled()
    gc.disable()
    with theirs:
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    begin_fork(parent, theirs.detach(), load)
                finally:
                    os._exit(1)
        finally:
            if payload >= 0:
                os.close(payload)
            if collects:
                gc.enable()
    return ours, pid


class Server:
    """A process that forks workers for a job. It starts at once, and unpickles
    the job meanwhile.

    `job`: the pickled job. The job itself if `may_fork` is true and can_fork()
    has returned True
    `fds`: descriptors for InheritedFd in the pickle
    `may_fork`: fork this process if that is safe, instead of starting a new
    interpreter
    `timeout`: time in s after which the process, or a worker, is killed if it
    makes no progress. 0: never"""

    def __init__(self, job: Any, *modules: str, fds: Sequence[int] = (),
                 may_fork: bool = False,
                 timeout: float = WORKER_TIMEOUT) -> None:
        native.init()
        self._base: Optional[_Base] = None
        self._child = 0
        if may_fork and (not isinstance(job, bytes) or can_fork()):
            self._socket, self._child = _fork_job(job, list(fds))
        else:
            self._base = start_base(*modules)
            try:
                self._socket = self._base.begin(job, list(fds))
            except BaseException:
                _leave_base(self._base)
                raise
            _sockets.add(self._socket)
        self._pid = 0
        self._is_ready = False
        self._timeout = timeout
        #: the library's SpdlForkServer, which the caller frees
        self.pointer: int = native.fork_server_new(
            os.dup(self._socket.fileno()))
        self._watch(self._child or (self._base.pid if self._base else 0))

    def _watch(self, pid: int, timeout: Optional[float] = None) -> None:
        native.fork_server_watch(
            self.pointer, pid,
            to_ns(self._timeout if timeout is None else timeout))

    def wait(self) -> None:
        """Waits until workers can be forked. Raises StartError."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        while not self._is_ready:
            if poll.poll(1000 * get_interval(self._timeout)):
                self._receive()
            elif text := native.fork_server_look(self.pointer):
                raise StartError(f"the process that forks workers {text}")

    def _receive(self) -> None:
        """Receives the process ID, and later the message that workers can be
        forked."""
        answer = self._socket.recv(1 << 16)
        if answer.isdigit():
            self._pid = int(answer)
            self._watch(self._pid)
        elif answer == READY:
            self._is_ready = True
        elif answer:
            raise StartError(answer[1:].decode(errors="replace"))
        else:
            raise StartError("the process that forks workers has ended")

    @contextlib.contextmanager
    def hurry(self) -> Iterator[None]:
        """From now on, the process is killed after a second without progress."""
        self._watch(self._pid, _PATIENCE)
        try:
            yield
        finally:
            self._watch(self._pid)

    def is_running(self) -> bool:
        try:
            return self._socket.recv(
                1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Ends the process, after the library's server was freed."""
        if not self._pid and select.select([self._socket], [], [], 0)[0]:
            with contextlib.suppress(ValueError, OSError):
                self._pid = int(self._socket.recv(1 << 16) or 0)
        poll = select.poll()
        poll.register(self._socket, 0)  # the end of the other side
        pid = self._child or self._pid
        if not poll.poll(1000 * _PATIENCE) and pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._socket.close()
        if self._base:
            _leave_base(self._base)
        else:
            _collect(self._child)


def _collect(pid: int) -> None:
    """Collects a process that has ended or was killed."""
    end = time.monotonic() + _KILL_PATIENCE
    try:
        while not os.waitpid(pid, os.WNOHANG)[0] and time.monotonic() < end:
            time.sleep(0.001)
    except ChildProcessError:
        pass  # the program has collected it


def to_ns(seconds: float) -> int:
    return min(int(seconds * 1e9), (1 << 63) - 1)
