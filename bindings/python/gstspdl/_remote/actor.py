# gst-spdl: a loader in a Ray actor
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The actor has no important state: each reply contains the state after it, and
another actor can continue from that state."""

import re
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from .._errors import LoaderError
from .._failure import Record
from .answers import Job, Reply, Start, Started
from .direct import Server

if TYPE_CHECKING:
    from .._loader.loader import Loader


class _Unsaid(Record):
    """The record of a loader whose warnings the trainer issues."""

    def warn(self) -> None:
        others = self.take_others()
        self._forget_losses()
        self._others = others

    def warn_of_others(self) -> None:
        pass

    def take_others(self) -> List[str]:
        others, self._others = self._others, []
        return others


class LoaderActor:
    """Class of the actors. Methods return a LoaderError instead of raising it,
    since Ray wraps exceptions."""

    def __init__(self) -> None:
        self._loader: "Optional[Loader]" = None
        self._unsaid = _Unsaid()
        self._server: Optional[Server] = None
        self._session = -1

    def start(self, job: Job, start: Start) -> Union[Started, LoaderError]:
        """Begins a session."""
        try:
            self._close()
            loader = self._make(job, start)
        except LoaderError as error:
            self._close()
            return error
        import ray

        try:
            num_batches: Optional[int] = len(loader)
        except TypeError:
            num_batches = None
        assert loader.state is not None
        self._session = start.session
        node = ray.util.get_node_ip_address()
        address = self._listen(job, start, node) if job.is_direct else None
        is_beginning = loader._is_at_beginning(loader.epoch)
        return Started(loader.state, loader.epoch, is_beginning, num_batches,
                       loader.classes, node, ray.get_runtime_context().get_node_id(), address)

    def _listen(self, job: Job, start: Start, host: str) -> Tuple[str, int]:
        self._server = Server(host, start.token, job.certificates,
                              lambda: self.next(start.session))
        return self._server.address

    def _make(self, job: Job, start: Start) -> "Loader":
        from .._loader.loader import Loader

        loader = Loader(job.line, rank=start.rank,
                        world_size=start.world_size, state=start.state,
                        classes=job.classes,
                        cpu_budget=_find_budget(job.num_cpus))
        self._loader = loader
        self._unsaid = loader._record = _Unsaid()
        for element in job.functions:
            element.connect(loader)
        loader.start()
        _check_state(loader.state, start)
        if start.epoch is not None:
            loader.set_epoch(start.epoch)
            if not loader.is_running():
                loader.start()
        return loader

    def next(self, session: int) -> Union[Reply, LoaderError]:
        """Returns the next batch or end of an epoch."""
        loader = self._loader
        if loader is None or session != self._session:
            return LoaderError("The session has ended", code="stopped")
        try:
            batch = loader.next()
        except LoaderError as error:
            return error
        state = batch.state if batch else loader.state
        return Reply(batch, state, batch.epoch if batch else loader.epoch,
                     not batch and loader.is_finished(),
                     loader.take_failures(state), self._unsaid.take_others())

    def halt(self, session: int) -> None:
        """Ends a session while next() may wait."""
        if session == self._session:
            self._close()

    def ping(self) -> None:
        """Shows that the process runs."""

    def get_stats(self) -> List[Dict[str, Any]]:
        loader = self._loader
        return loader.stats if loader else []

    def reshard(self, states: List[str], world_size: int
                ) -> Union[List[str], LoaderError]:
        from .._loader.states import reshard_states

        try:
            return reshard_states(states, world_size)
        except LoaderError as error:
            return error

    def _close(self) -> None:
        self._session = -1
        loader, self._loader = self._loader, None
        server, self._server = self._server, None
        if loader:
            loader.stop()
        if server:
            server.close()


def _find_budget(num_cpus: float) -> float:
    """Returns the share of the machine's cores, or 0 for no limit."""
    from .._native import library as native

    cores = int(native.get_num_cores())
    return num_cpus / cores if 0 < num_cpus < cores else 0.0


def _check_state(state: Optional[str], start: Start) -> None:
    """Raises if the loader could not be replaced, or if it does not load its
    own part."""
    if state is None:
        raise LoaderError(
            "Another loader could not continue, because the pipeline has no "
            "spdlsrc and so no state: begin it with spdlsrc", code="state")
    for rank, world_size in re.findall(r",rank=(\d+),world-size=(\d+)", state):
        if (int(rank), int(world_size)) != (start.rank, start.world_size):
            raise LoaderError(
                f"A source has rank {rank} of {world_size}, but this loader is "
                f"rank {start.rank} of {start.world_size}: remove rank and "
                "world-size from the pipeline", code="pipeline")


def make_class() -> Any:
    """Returns the class of actors."""
    import ray

    # Ray must not restart an actor itself, because it would begin with the
    # first state again.
    return ray.remote(concurrency_groups={"control": 1}, max_restarts=0,
                      max_task_retries=0)(LoaderActor)


def check_options(options: Any) -> Dict[str, Any]:
    """Returns Ray's options of an actor, with defaults."""
    found = {"num_cpus": 1, "scheduling_strategy": "SPREAD", **(options or {})}
    for name in ("max_restarts", "max_task_retries", "max_concurrency",
                 "concurrency_groups", "name", "lifetime", "get_if_exists"):
        if name in found:
            raise ValueError(f"options cannot have {name!r}, because "
                             "RemoteLoader starts and replaces its loaders")
    num_cpus = found["num_cpus"]
    if not (isinstance(num_cpus, (int, float)) and 0 <= num_cpus < 2**31):
        raise ValueError(f"num_cpus must be at least 0, not {num_cpus!r}")
    return found
