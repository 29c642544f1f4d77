# gst-spdl: worker processes for Python functions
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import importlib
import io
import os
import pickle
import select
import socket
import subprocess
import sys
from types import FunctionType
from typing import Any

from . import _native as native

# Starts _worker.main(). The main module of the program is not imported.
_CODE = ("import os, pickle, sys; payload = os.fdopen(int(sys.argv[2]), 'rb'); "
         "sys.path[:] = pickle.load(payload); "
         "from gstspdl._worker import main; main(int(sys.argv[1]), payload)")
# A process that does not end after this time, in s, is killed.
_PATIENCE = 5.0


class StartError(Exception):
    """Workers cannot be started. The text has a traceback."""


class _Pickler(pickle.Pickler):
    """Refuses what a process that does not import the main module could not
    unpickle."""

    def reducer_override(self, value: Any) -> Any:
        if (isinstance(value, (FunctionType, type)) and
                value.__module__ == "__main__"):
            raise pickle.PicklingError(
                f"{value.__qualname__} is defined in the main module, which "
                "worker processes do not import: define it in another module, "
                "or install cloudpickle, which copies it")
        return NotImplemented


def dump(value: Any) -> bytes:
    """Pickles a function or a dataset for another process."""
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        stream = io.BytesIO()
        _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(value)
        return stream.getvalue()
    data: bytes = cloudpickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return data


def _write_payload(job: bytes) -> int:
    """A file in memory with the path for imports and the pickled job."""
    fd = os.memfd_create("gst-spdl-job")
    with os.fdopen(os.dup(fd), "wb") as stream:
        pickle.dump(sys.path, stream)
        stream.write(job)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class Server:
    """A process that forks workers for a job. It starts at once, and unpickles
    the job meanwhile."""

    def __init__(self, job: bytes) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        payload = _write_payload(job)
        try:
            # pylint: disable=protected-access
            self._process = subprocess.Popen(
                [sys.executable,
                 *subprocess._args_from_interpreter_flags(),  # type: ignore
                 "-c", _CODE, str(theirs.fileno()), str(payload)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), payload))
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(payload)
        self._socket = ours
        self._is_ready = False
        #: the library's SpdlForkServer, which the caller frees
        self.pointer: int = native.fork_server_new(os.dup(ours.fileno()))

    def wait(self) -> None:
        """Waits until workers can be forked. Raises StartError."""
        if self._is_ready:
            return
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.poll()
        answer = self._socket.recv(1 << 16)
        if answer == b"ready":
            self._is_ready = True
        elif answer:
            raise StartError(answer[1:].decode(errors="replace"))
        else:
            raise StartError("the process that forks workers ended with "
                             f"status {self._process.wait()}")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the process, after the library's server was freed."""
        self._socket.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
