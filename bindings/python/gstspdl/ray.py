# gst-spdl: loaders on other machines, on Ray
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loaders on other machines, for a trainer that needs NumPy and Ray only.

    from gstspdl.ray import RemoteLoader

    with RemoteLoader(line, 4) as loader:
        for batch in loader:                # one epoch
            images = batch["data"]          # a NumPy array

docs/reference/python-ray.md describes the API.
"""

import time
import weakref
from typing import (Any, Dict, Iterator, List, Mapping, NamedTuple,
                    Optional, Sequence, Tuple, Union)

from ._arguments import find_rank
from ._detached import DetachedBatch
from ._errors import LoaderError
from ._failure import Failure, Record
from ._loader.epoch import EpochIterator, OneReader, Pass
from ._native.endings import running
from ._processes.silence import WORKER_TIMEOUT, check_timeout
from ._remote.actor import check_options, make_class
from ._remote.answers import Certificates, Job, Reply, Start
from ._remote.link import Board, Link, Lost, Settings, get, get_stats
from ._remote.memory import MemoryPool

__all__ = ["RemoteLoader"]

# A state_dict(), those of all trainers, or the states of all loaders.
RemoteState = Union[str, Mapping[str, Any], Sequence[str],
                    Sequence[Mapping[str, Any]]]


class _Plan(NamedTuple):
    """Where all loaders of a trainer start."""

    #: for each loader its state, or those of all loaders of another number
    states: Sequence[Union[None, str, List[str]]]
    turn: int = 0
    epoch: Optional[int] = None

    def to_dict(self) -> Dict[str, Any]:
        return {"spdl": list(self.states), "turn": self.turn,
                "epoch": self.epoch}


class RemoteLoader(OneReader[DetachedBatch]):
    """Iterable of the batches of loaders that run as Ray actors. Each `for`
    loop is one epoch, as for a Loader.

    `pipeline`: a description in gst-launch syntax that ends in spdlsink, or a
    gstspdl.Pipeline. With `spdlsrc shard-run=N` for batches of N items, and
    order="turns", batches do not depend on the number of loaders.
    `num_loaders`: number of loaders of this trainer.
    `rank`, `world_size`: number of this trainer, from 0, and number of
    trainers. -1: from the environment, else one trainer. All trainers must
    have the same number of loaders.
    `prefetch`: number of batches of each loader that are requested in advance.
    `order`: "turns" takes a batch from each loader in turn, "arrival" takes
    the one that arrives first.
    `restarts`: number of times that a loader may be replaced without a batch
    in between.
    `options`: Ray's options of the actors, such as {"num_cpus": 8}, which is 1
    by default and limits the CPU time of a loader.
    `state`: a state_dict() of this trainer, a list of the state_dict() of all
    trainers, or the states of all ranks of a Loader. The number of trainers or
    loaders may have been different.
    `transfer`: "direct" sends batches over a TCP connection from each loader.
    "store" sends them through Ray's object store, for clusters where only
    Ray's ports are open.
    `tls`: for "direct", the files {"certificate": PATH, "key": PATH,
    "authority": PATH} in PEM format on all machines. None: no encryption.
    `max_failures`, `classes`: as for Loader.
    `worker_timeout`: time in s after which a loader that does not answer pings is
    replaced, if the trainer waits for its batch. 0: no limit.

    If a loader is lost, a new loader continues after the last batch that arrived.
    Errors raise LoaderError in the `for`. One thread at a time takes batches.
    """

    def __init__(self, pipeline: Any, num_loaders: int, *, rank: int = -1,
                 world_size: int = -1, prefetch: int = 2,
                 order: str = "turns", restarts: int = 5,
                 options: Optional[Mapping[str, Any]] = None,
                 state: Optional[RemoteState] = None, transfer: str = "direct",
                 tls: Optional[Mapping[str, str]] = None,
                 max_failures: int = -1,
                 classes: Optional[Sequence[str]] = None,
                 worker_timeout: float = WORKER_TIMEOUT) -> None:
        super().__init__()
        self._rank, self._world_size = find_rank(rank, world_size)
        _check_number("num_loaders", num_loaders, 1)
        _check_number("prefetch", prefetch, 1)
        _check_number("restarts", restarts, 0)
        _check_number("max_failures", max_failures, -1)
        check_timeout(worker_timeout)
        _check_choice("order", order, "turns", "arrival")
        _check_choice("transfer", transfer, "direct", "store")
        line, functions = _describe(pipeline)
        found = check_options(options)
        self._options = found
        self._job = Job(line, functions, classes, found["num_cpus"],
                        transfer == "direct", _check_tls(tls))
        self._n_loaders = num_loaders
        self._in_turns = order == "turns"
        self._prefetch = prefetch
        self._restarts = restarts
        self._worker_timeout = worker_timeout
        self._max_failures = max_failures
        self._plan = self._make_plan(state)
        # State at the last stop, unless the next start has another one.
        self._last: Optional[Dict[str, Any]] = None
        # Epoch of the last set_epoch(), in a run.
        self._sought: Optional[int] = None
        self._board = Board(set())
        self._links: List[Link] = []
        self._finalizer: Any = None
        # Number of the loader whose turn it is.
        self._turn = 0
        self._epoch: Optional[int] = None
        # No batch of the run, or of the next epoch, has been given.
        self._between = True
        self._error: Optional[LoaderError] = None
        self._num_failures = 0
        self._record = Record()

    # Runs

    @property
    def description(self) -> str:
        """The line of the pipeline in gst-launch syntax."""
        return self._job.line

    @property
    def num_loaders(self) -> int:
        """The number of loaders of this trainer."""
        return self._n_loaders

    def is_running(self) -> bool:
        """Returns True from start() to stop()."""
        return bool(self._links)

    def is_finished(self) -> bool:
        """Returns True after the last epoch has ended."""
        return bool(self._links) and all(
            link.is_finished for link in self._links)

    def start(self) -> None:
        """Starts all loaders at the beginning or at the state, and waits for
        them. The first `for` calls it. Raises LoaderError if one cannot
        start."""
        if self._links:
            return
        self._last = None
        self._record.clear()
        self._run(self._plan)

    def _ensure_started(self) -> None:
        """Starts the loaders; after stop(), where they were stopped."""
        if self._last is None or self._links:
            self.start()
        else:
            self._run(self._make_plan(self._last))

    def _run(self, plan: _Plan) -> None:
        board = Board(set(self._board.node_ids))
        settings = Settings(make_class(), self._options, self._job,
                            self._prefetch, self._restarts, MemoryPool(
                                self._n_loaders * (self._prefetch + 2)),
                            self._worker_timeout)
        self._board = board
        self._links = [
            Link(board, settings, i, Start(
                0, self._rank + self._world_size * i,
                self._world_size * self._n_loaders, state, plan.epoch))
            for i, state in enumerate(plan.states)]
        self._finalizer = weakref.finalize(self, _close, board, self._links)
        self._finalizer.atexit = False
        self._turn = plan.turn
        self._pass = Pass()
        self._epoch = self._sought = None
        self._between = True
        self._error = None
        running.add(self)
        for link in self._links:
            link.thread.start()
        try:
            self._await_start()
        except BaseException:
            self._stop()
            raise

    def stop(self) -> None:
        """Ends all loaders. Any thread may call it. A `for` that waits raises
        LoaderError with the code "stopped"; a new one continues after the last
        batch. start() begins at the first epoch, or at `state`. Batches stay
        valid."""
        self._stop()

    def _stop(self) -> None:
        if self._links and self._epoch is not None:
            self._last = self.state_dict()
        elif self._links and self._sought is not None:
            self._last = _Plan(
                [link.given or state for link, state in zip(
                    self._links, self._plan.states)],
                epoch=self._sought).to_dict()
        links, self._links = self._links, []
        if links:
            self._finalizer.detach()
            _close(self._board, links)
            for link in links:
                link.thread.join()
        running.discard(self)

    def __enter__(self) -> "RemoteLoader":
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def _await_start(self) -> None:
        """Waits until it is known where all loaders start."""
        if self._epoch is not None:
            return

        def is_known() -> bool:
            return all(link.started for link in self._links) or any(
                link.first() for link in self._links if not link.started)

        self._wait(is_known, None)
        with self._board.lock:
            for link in self._links:
                if not link.started and link.first():
                    raise link.first()[1]
            starts = [link.started for link in self._links if link.started]
            first = min(started.epoch for started in starts)
            for link, started in zip(self._links, starts):
                link.ended = first if started.epoch > first else None
            # The state after the last batch of an epoch has the turn that would
            # have come in that epoch.
            if all(started.epoch == first and started.is_beginning
                   for started in starts):
                self._turn = 0
            self._epoch = first

    def _wait(self, is_true: Any, end: Optional[float]) -> None:
        """Waits for a reply, and issues warnings meanwhile."""
        board, links = self._board, self._links
        while True:
            with board.lock:
                left = None if end is None else end - time.monotonic()
                if not board.changed.wait_for(
                        lambda: self._links is not links or board.warnings or
                        is_true(), left):
                    raise LoaderError("No batch arrived before the timeout",
                                      code="timed-out")
                if self._links is not links:
                    raise LoaderError("The loader was stopped", code="stopped")
                texts, board.warnings = board.warnings, []
                if not texts:
                    return
            for text in texts:
                self._record.add_other("ray", text)
            self._record.warn_of_others()

    # Batches

    def __iter__(self) -> Iterator[DetachedBatch]:
        """Begins the next epoch, also after a `break`. The first call begins
        the first epoch, or the rest of it when resuming. After stop(), it
        starts the loaders and continues with the rest of the epoch. An earlier
        iterator raises LoaderError at its next step, if it had batches
        left."""
        self._ensure_started()
        if not self._between:
            self._end_if_over()
        if not self._between:
            self.set_epoch(self.epoch + 1)
        return EpochIterator(self)

    def next(self, timeout: Optional[int] = None) -> Optional[DetachedBatch]:
        """Returns the next batch, or None at the end of an epoch. The call
        after that begins the next epoch.

        `timeout`: time to wait in ns. By default, there is no limit. Raises
        LoaderError with the code "timed-out" if no batch arrives in time; no
        batch is lost."""
        self._ensure_started()
        return self._take(timeout)

    def peek(self, timeout: Optional[int] = None) -> Optional[DetachedBatch]:
        """Returns the next batch without taking it; None at the end of an
        epoch. The next step of the `for`, or next(), returns the same batch.
        Before the first `for` and between epochs, it is the first batch of the
        next epoch.

        `timeout`: time to wait in ns. By default, there is no limit."""
        self._ensure_started()
        return self._alone(self._peek_next, timeout)

    def _take_next(self, timeout: Optional[int]) -> Optional[DetachedBatch]:
        self._record.warn_of_others()
        batch = self._find_batch(timeout, True)
        if batch is None:
            self._pass.is_over = True
            self._record.warn()
            self._begin_epoch()
        return batch

    def _peek_next(self, timeout: Optional[int]) -> Optional[DetachedBatch]:
        return self._find_batch(timeout, False)

    def _find_batch(self, timeout: Optional[int],
                    takes: bool) -> Optional[DetachedBatch]:
        """Waits for the next batch of the epoch, and takes it if `takes`."""
        if self._error:
            raise self._error
        if not self._links:
            raise LoaderError("The loader was stopped", code="stopped")
        self._await_start()
        end = None if timeout is None else time.monotonic() + timeout / 1e9
        while not self._has_ended():
            self._wait(lambda: self._find_link() is not None, end)
            with self._board.lock:
                link = self._find_link()
                assert link
                number, reply = link.first()
                if not takes and getattr(reply, "batch", None) is not None:
                    found: DetachedBatch = reply.batch
                    return found
                link.request_after(number)
            batch = self._use(link, number, reply)
            if batch is not None:
                return batch
        return None

    def _has_ended(self) -> bool:
        return all(self._is_past(link) for link in self._links)

    def _is_past(self, link: Link) -> bool:
        """Returns True if the loader has no more batches of this epoch."""
        return link.is_finished or (link.ended is not None and
                                    link.ended == self._epoch)

    def _find_link(self) -> Optional[Link]:
        """Returns the loader that has the next reply, or None if it must be
        waited for."""
        left = [link for link in (*self._links[self._turn:],
                                  *self._links[:self._turn])
                if not self._is_past(link)]
        if self._in_turns:
            return left[0] if left and left[0].first() else None
        found = [link for link in left if link.first()]
        return min(found, key=Link.get_arrival) if found else None

    def _use(self, link: Link, number: int,
             reply: Any) -> Optional[DetachedBatch]:
        if isinstance(reply, LoaderError):
            self._error = reply
            raise reply
        assert isinstance(reply, Reply)
        # Once, also if Ctrl-C interrupts what follows.
        if link.noted < number:
            link.noted = number
            self._note(link, reply)
        turn = (link.number + 1) % self._n_loaders
        batch: Optional[DetachedBatch] = reply.batch
        # Python runs no signal handler between these lines, so that Ctrl-C loses
        # no batch.
        link.taken = number
        link.given = reply.state
        link.is_finished = reply.is_last
        self._turn = turn
        if batch is None:
            link.ended = self._epoch
        else:
            self._between = False
        return batch

    def _note(self, link: Link, reply: Reply) -> None:
        """Takes the warnings and failures of a reply."""
        for text in reply.warnings:
            self._record.add_other(f"loader {link.number}", text)
        for failure in reply.failures:
            self._record.add(failure)
        self._num_failures += len(reply.failures)
        if reply.failures and 0 <= self._max_failures < self._num_failures:
            self._error = _explain(reply.failures[-1], self._num_failures,
                                   self._max_failures)

    def _begin_epoch(self) -> None:
        if self.is_finished():
            self._between = True
            return
        assert self._epoch is not None
        # As in _use(): Ctrl-C comes before these lines, or after the epoch.
        self._epoch += 1
        self._turn = 0
        self._between = True

    @property
    def epoch(self) -> int:
        """The epoch of the last batch; after the end of an epoch, the next epoch.
        Starts the loaders."""
        self._ensure_started()
        self._await_start()
        assert self._epoch is not None
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `for` begin the given epoch. Successive epochs need no
        call.

        `epoch`: the number of the epoch, from 0."""
        _check_number("epoch", epoch, 0)
        self._ensure_started()
        if self._error:
            raise self._error
        if self._between and self.epoch == epoch and not any(
                link.ended == epoch for link in self._links):
            return
        with self._board.lock:
            for link in self._links:
                link.seek(epoch)
        self._epoch = None
        self._sought = epoch
        self._turn = 0
        self._between = True

    def __len__(self) -> int:
        """Returns the number of batches in an epoch of this trainer if no item
        fails. Starts the loaders. Raises TypeError if it is not known."""
        self._ensure_started()
        self._await_start()
        numbers = [link.started.num_batches if link.started else None
                   for link in self._links]
        if any(number is None for number in numbers):
            raise TypeError("the number of batches in an epoch is unknown to "
                            "the loaders: count them in the program")
        return sum(number or 0 for number in numbers)

    @property
    def classes(self) -> Optional[List[str]]:
        """The class names, or None. Starts the loaders."""
        self._ensure_started()
        self._await_start()
        started = self._links[0].started
        return started.classes if started else None

    # Failures and statistics

    @property
    def failures(self) -> List[Failure]:
        """The last 100 items that failed, each once, as a list of Failure."""
        return list(self._record.recent)

    @property
    def num_failures(self) -> int:
        """The number of items that failed up to the last batch."""
        return self._num_failures

    def take_failures(self) -> List[Failure]:
        """Returns the failures that state_dict() counts as done, each once. At
        most 10,000 are kept until they are taken."""
        return self._record.take_all()

    @property
    def stats(self) -> List[Dict[str, Any]]:
        """A dict for each loader: "loader", its number; "node", the address
        of its machine; "restarts", how often it was replaced; "elements", what
        Loader.stats returns there, empty while it is replaced."""
        return [get_stats(link) for link in self._links]

    # Resuming

    def state_dict(self) -> Dict[str, Any]:
        """Returns the state after the last batch in a dict, for torch.save().
        `batch.state` is only the state of the batch's loader."""
        if not self._links:
            return self._last or self._plan.to_dict()
        if self._epoch is None:  # after set_epoch()
            self._await_start()
        return _Plan([link.given for link in self._links],
                     self._turn).to_dict()

    def load_state_dict(self, state: RemoteState) -> None:
        """Resumes at the next `for` from a state of state_dict(). Stops the
        loaders."""
        plan = self._make_plan(state)
        self._stop()
        self._plan = plan
        self._last = None

    def resize(self, num_loaders: int,
               states: Optional[Sequence[Mapping[str, Any]]] = None) -> None:
        """Changes the number of loaders, also within an epoch. Items that were not
        delivered yet are divided among the new loaders.

        `num_loaders`: the new number.
        `states`: the state_dict() of all trainers, in the order of their ranks, if
        there are several trainers. All trainers must call resize() after the
        same step.

        Raises LoaderError with the code "state" if the pipeline cannot be
        divided; the loaders then continue unchanged."""
        _check_number("num_loaders", num_loaders, 1)
        if states is None and self._world_size > 1:
            raise ValueError(
                "resize() needs the states of all trainers: gather their "
                "state_dict() and pass them as states=[...]")
        own = self.state_dict()
        found = _list_texts([own] if states is None else states)
        if not self._links or not found:
            self._n_loaders = num_loaders
            self._plan = self._make_plan(found or None)
            self._last = None
            return
        parts = self._reshard(found, self._world_size * num_loaders)
        between, epoch = self._between, self.epoch
        current = self._pass
        self._stop()
        self._n_loaders = num_loaders
        self._plan = _Plan(parts[self._rank::self._world_size])
        record, self._record = self._record, Record()
        try:
            self.start()
        finally:
            self._record = record
        # An iterator of the same epoch continues.
        self._pass = current
        self._between = between
        if self.epoch > epoch:
            self._epoch = epoch
            for link in self._links:
                link.ended = epoch

    def _reshard(self, states: List[str], world_size: int) -> List[str]:
        """Divides the states in an actor, since the library may be missing
        here."""
        from ray.exceptions import GetTimeoutError

        while True:
            with self._board.lock:
                self._board.changed.wait_for(lambda: self._error or any(
                    link.actor is not None for link in self._links))
                if self._error:
                    raise self._error
                actor = next(link.actor for link in self._links
                             if link.actor is not None)
            try:
                parts = get(actor.reshard.options(
                    concurrency_group="control").remote(states, world_size),
                    self._worker_timeout or None)
            except Lost:
                continue
            except GetTimeoutError:
                raise LoaderError(
                    "A loader has not answered resize() for "
                    f"{self._worker_timeout:.1f} s: find out what stopped its "
                    "process, or raise worker_timeout", code="timed-out"
                ) from None
            if isinstance(parts, LoaderError):
                raise parts
            return parts  # type: ignore[no-any-return]

    def _make_plan(self, state: Optional[RemoteState]) -> _Plan:
        n = self._n_loaders
        if state is None:
            return _Plan([None] * n)
        if isinstance(state, (str, Mapping)):
            state = [state]  # type: ignore[assignment]
        if not state:
            raise LoaderError("The list of states is empty: pass the "
                              "state_dict() of all trainers, or none at all",
                              code="state")
        dicts = [one for one in state if isinstance(one, Mapping)]
        if (not all("spdl" in one for one in dicts) or
                (dicts and len(dicts) != len(state)) or
                not all(isinstance(one, (str, Mapping)) for one in state)):
            raise TypeError("state must be a state_dict(), a list of them, or "
                            "the states of all ranks")
        number = self._rank if len(dicts) == self._world_size else 0
        if len(dicts) in (1, self._world_size):
            own = dicts[number]
            if len(own["spdl"]) == n:
                return _Plan(own["spdl"], own.get("turn", 0), own.get("epoch"))
        elif dicts and any(one["spdl"][0] is None for one in dicts):
            return _Plan([None] * n)
        texts = _list_texts(dicts) if dicts else [str(s) for s in state]
        if not texts:
            return _Plan([None] * n, epoch=dicts[0].get("epoch"))
        return _Plan([texts] * n)


def _list_texts(states: Sequence[Mapping[str, Any]]) -> List[str]:
    """Returns the states of all loaders of all trainers."""
    return [text if isinstance(text, str) else _join(text)
            for state in states for text in state["spdl"] if text is not None]


def _join(texts: Sequence[str]) -> str:
    """Joins states as merge_states() does, without the library."""
    head = texts[0].partition(";")[0] + ";"
    return head + "".join(text.partition(";")[2] for text in texts)


def _check_number(name: str, number: int, least: int) -> None:
    if not isinstance(number, int) or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, "
                         f"not {number!r}")


def _check_choice(name: str, choice: str, *choices: str) -> None:
    if choice not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, "
                         f"not {choice!r}")


def _check_tls(tls: Optional[Mapping[str, str]]) -> Optional[Certificates]:
    if tls is None:
        return None
    files = Certificates(**tls)
    for path in files:
        with open(path):  # raises OSError if it cannot be read
            pass
    return files


def _describe(pipeline: Any) -> Tuple[str, List[Any]]:
    """Returns the line of a pipeline, and its elements with functions."""
    if isinstance(pipeline, str):
        return pipeline, []
    if hasattr(type(pipeline), "_complete"):  # a Pipeline
        return pipeline._complete()  # type: ignore[no-any-return]
    raise TypeError("pipeline must be a description or a gstspdl.Pipeline, not "
                    f"{type(pipeline).__name__}")


def _explain(failure: Failure, n: int, max_failures: int) -> LoaderError:
    return LoaderError(
        f"{n} items failed, more than max_failures={max_failures}; last: "
        f"{failure.stage}: {failure.uri}: {failure.reason}", code="failures",
        stage=failure.stage, uri=failure.uri)


def _close(board: Board, links: List[Link]) -> None:
    with board.lock:
        for link in links:
            link.close()
