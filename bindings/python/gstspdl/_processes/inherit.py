# gst-spdl: objects of multiprocessing on their way to worker processes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""multiprocessing pickles a lock or shared memory only for a process that it starts
itself. Its pickle refers to descriptors that this process inherits. Spawning stands
for such a process in the trainer, and begin() takes its part in the process that
unpickles."""

import contextlib
import os
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

#: Descriptors of a message, of which the kernel allows 253.
MAX_FDS = 200
# Descriptors of a process that unpickles, by number.
_received: Dict[int, int] = {}


class State(NamedTuple):
    """State of multiprocessing in the trainer that a new process takes over."""

    n_fds: int = 0
    authkey: Optional[bytes] = None
    #: the last descriptor is that of the resource tracker
    has_tracker: bool = False


class InheritedFd:
    """A descriptor in a pickle."""

    def __init__(self, number: int) -> None:
        self._number = number

    def detach(self) -> int:
        return _received.pop(self._number)


class Spawning:
    """Takes the place of multiprocessing's Popen while a job is pickled."""

    DupFd = InheritedFd

    def __init__(self) -> None:
        #: copies, which this object owns
        self.fds: List[int] = []

    def duplicate_for_child(self, fd: int) -> int:
        self.fds.append(os.dup(fd))
        return len(self.fds) - 1

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        from multiprocessing import context

        before = context.get_spawning_popen()
        context.set_spawning_popen(self)  # type: ignore[arg-type]
        try:
            yield
        finally:
            context.set_spawning_popen(before)

    def close(self) -> None:
        while self.fds:
            os.close(self.fds.pop())

    def __del__(self) -> None:
        self.close()


def _get_tracker() -> Any:
    module = sys.modules.get("multiprocessing.resource_tracker")
    return getattr(module, "_resource_tracker", None)


def save(fds: List[int]) -> "tuple[State, List[int]]":
    """Returns the state for a new interpreter, and all descriptors for it."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return State(len(fds)), fds
    tracker = getattr(_get_tracker(), "_fd", None)
    if tracker is not None:
        fds = [*fds, tracker]
    return State(len(fds), bytes(process.current_process().authkey),
                 tracker is not None), fds


def begin(state: State, fds: List[int]) -> None:
    """Takes over the state before a job is unpickled."""
    if state.authkey is not None:
        from multiprocessing import process, resource_tracker

        current: Any = process.current_process()
        current.authkey = state.authkey
        current._inheriting = True  # the trainer holds what proxies refer to
        if state.has_tracker:
            tracker: Any = resource_tracker
            tracker._resource_tracker._fd = fds.pop()
    _received.update(enumerate(fds))


def end_begin() -> None:
    """Closes descriptors that nothing took."""
    while _received:
        os.close(_received.popitem()[1])
    process: Any = sys.modules.get("multiprocessing.process")
    if process is not None:
        vars(process.current_process()).pop("_inheriting", None)


def renew() -> None:
    """Does in a fork what multiprocessing does in its own forks: connections to
    managers, threads of queues and children belong to the parent."""
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        process: Any = sys.modules["multiprocessing.process"]
        process._children = set()
        util._finalizer_registry.clear()
        util._run_after_forkers()


def finish() -> None:
    """Ends children and temporary files of this process, and sends what its
    queues still hold."""
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        util._exit_function()
