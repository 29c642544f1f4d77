# gst-spdl: a loader as an iterator over epochs
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import atexit
import os
import time
import weakref
from collections import abc, deque
from dataclasses import dataclass
from typing import (Any, Callable, Deque, Dict, Iterable, Iterator, List,
                    Mapping, Optional, Sequence, Tuple, Union)

from . import _map, _native as native, _worker
from ._batch import Batch
from ._errors import LoaderError, code_of, is_timeout
from ._gi import GLib, Gst, dict_of, init, raw
from ._labels import check_classes
from ._losses import LoaderWarning, Losses
from ._parts import count_batches, find_elements
from ._source import DOMAIN as SOURCE_DOMAIN
from ._source import SourceThread

# How many failures are kept for who shall take them.
_MAX_PENDING = 10_000

# How long the interpreter is out of reach of Ctrl-C while nothing comes. Only
# then is it a matter of slices at all; a batch ends the wait at once.
_SLICE = 50_000_000

# How long a stopped source may stay in its own code, in s.
_MAX_BUSY = 5.0


@dataclass(frozen=True)
class Failure:
    """An item that failed, and why. `epoch` and `index` (its place in the
    dataset) are None where nobody numbered the items."""

    stage: str
    uri: Optional[str]
    reason: str
    epoch: Optional[int] = None
    index: Optional[int] = None
    #: its place in what this rank loads of that epoch
    sequence: Optional[int] = None
    source: int = 0

    def is_done(self, state: Optional[str]) -> bool:
        """Whether a loader that begins at that state leaves it out. If not, it
        will be tried again, and may fail again."""
        if self.epoch is None or self.sequence is None:
            return False
        done: bool = raw.state_is_done(state, self.source, self.epoch,
                                       self.sequence)
        return done


class _Epoch(Iterator[Batch]):
    """The rest of one epoch, or until another `for` has begun."""

    __slots__ = ("_loader", "_turn", "_ended")

    def __init__(self, loader: "Loader", turn: int) -> None:
        self._loader = loader
        self._turn = turn
        self._ended = False

    def __next__(self) -> Batch:
        batch = None
        if not self._ended and self._turn == self._loader._turn:
            try:
                batch = self._loader._take(None)
            except LoaderWarning:
                self._ended = True
                raise
        if batch is None:
            self._ended = True
            raise StopIteration
        return batch


class Loader(raw.Loader):  # type: ignore[misc]
    """Batches from a pipeline.

    `pipeline` is a description in gst-launch's syntax that ends in spdlsink,
    or a Gst.Pipeline. Each `for` over the loader is one epoch, also after a
    `break`; iter() is what goes on in the same one. A description that says no
    `epochs` has as many as there are `for`s.

    `source`: what is loaded, where the pipeline begins with an open pad:
    paths and URIs, bytes, or NumPy arrays, or tuples (item, label[, key]).
    `caps`: what its bytes are, "image/jpeg" say.
    `max_failures`: failed items that are tolerated, -1 without limit.
    `state`: where to begin, as a batch's `state` says it.
    `cpu_budget`: the share of all cores that loading may use, 0 for all.
    `process`: True: all but the sink runs in a process of its own; or the
    properties of that, as {"nice": 10, "restarts": 3}.
    `classes`: the names of the classes in the order of their numbers, which
    text labels must be; else those of the dataset, sorted.
    """

    # PyGObject makes no type of its own of a class of that module, which
    # would be one derived from a final type.
    __module__ = "gi.overrides.GstSpdl"

    # Defaults for loaders that Loader.new() makes.
    _source: Optional[Iterable[Any]] = None
    _caps: Optional[str] = None
    _classes: Optional[List[str]] = None
    _thread: Optional[SourceThread] = None
    _process: Optional[object] = None
    _begun = False
    # No batch of this run has been given, or none of the epoch to come.
    _fresh = True
    _between = False
    # Counts `for`s: what an earlier one began has ended.
    _turn = 0
    # Counts calls of stop().
    _stops = 0
    # Taken already, and from where on without it.
    _ahead: Optional[Batch] = None
    _ahead_of: Optional[str] = None
    # The failures before it was taken.
    _before_ahead: Tuple[int, List[Failure]] = (0, [])
    _failures: Deque[Failure] = deque()
    _pending: Deque[Failure] = deque()
    _losses = Losses()

    def __new__(cls, pipeline: Union[str, "Gst.Pipeline"], *,
                source: Optional[Iterable[Any]] = None,
                caps: Optional[str] = None, max_failures: int = -1,
                state: Optional[str] = None,
                cpu_budget: float = 0.0,
                process: Union[bool, Mapping[str, Any]] = False,
                classes: Optional[Sequence[str]] = None) -> "Loader":
        init()
        names = None if classes is None else check_classes(classes)
        try:
            self: Loader
            if process is not False:
                self = cls._make_in_process(pipeline, source, process)
            elif isinstance(pipeline, str):
                self = raw.Loader.new(pipeline)
            else:
                self = raw.Loader.new_from_pipeline(pipeline)
        except GLib.Error as error:
            raise LoaderError(error.message, code=code_of(error)) from error
        self._set_up(pipeline, source, caps)
        if names:
            self.set_classes(names)
        self.set_property("max-failures", max_failures)
        if cpu_budget != 0:  # else what `process` says stays
            self.set_property("cpu-budget", cpu_budget)
        if state is not None:
            self.restore_state(state)
        return self

    @staticmethod
    def _make_in_process(pipeline: Any, source: Any, process: Any) -> Any:
        if not isinstance(pipeline, str):
            raise LoaderError(
                "Another process can be given a description, not a pipeline "
                "that was made in this one", code="pipeline")
        if source is not None:
            raise LoaderError(
                "A source in the program cannot be in another process: leave "
                "out source=... or process=...", code="source")
        return _worker.make_loader(
            pipeline, {} if process is True else process)

    def __init__(self, *arguments: Any, **more: Any) -> None:
        # All is done: PyGObject's own would make the object again.
        pass

    def _set_up(self, pipeline: Any, source: Optional[Iterable[Any]],
                caps: Optional[str]) -> None:
        if source is not None and not self.has_source():
            raise LoaderError(
                "The pipeline has a source of its own: leave the first "
                "element out of the description, or source=...",
                code="source")
        if source is None and self.has_source() and isinstance(pipeline, str):
            raise LoaderError(
                "The first element waits for data: begin the description with "
                "spdlsrc, or give source=...", code="source")
        self._process = _process
        self._source = source
        self._caps = caps
        failures: Deque[Failure] = deque(maxlen=100)
        pending: Deque[Failure] = deque(maxlen=_MAX_PENDING)
        self._failures = failures
        self._pending = pending
        self._losses = Losses()
        # Not methods, which would keep the loader alive.
        self.connect("failed", _on_failed, failures, pending, self._losses)
        self.connect("failed-in-epoch", _on_failed_in_epoch, self._losses)
        # PyGObject makes a class of each type that it meets, and a Ctrl-C
        # which comes meanwhile is lost, or the end of the process: so here,
        # and not while batches are waited for.
        find_elements(self.get_pipeline())
        if isinstance(pipeline, str):
            self.set_default_epochs(-1)

    def map(self, name: str,
            function: "Callable[[Gst.Sample], Any]") -> "Loader":
        """Makes `function` the work of the spdlpipe of that name; before the
        loader starts. It is called with a Gst.Sample, an item, a group or a
        batch, by as many threads at a time as `concurrency` says, and returns
        what becomes of it: a Gst.Sample, a Gst.Buffer, bytes, a NumPy array, a
        list of such, or None, where the item is left out. What it raises is
        that item's failure."""
        _map.connect(self, name, function)
        return self

    # Runs

    def start(self) -> bool:
        """Begins. A `with` does it, and the first `for`. After stop() again."""
        self._check_process()
        self._end_thread(_MAX_BUSY)
        self._ahead = None
        self._between = False
        self._fresh = True
        self._turn += 1
        self._pending.clear()
        self._losses.clear()
        # First, as a Ctrl-C may come at any place.
        self._begun = True
        _running.add(self)
        try:
            raw.Loader.start(self)
        except GLib.Error as error:
            self._begun = False
            _running.discard(self)
            raise self._explain(error) from error
        self._begin_source()
        return True

    def _begin_source(self) -> None:
        if self._source is None or not self.is_running():
            return
        if not self._thread:
            thread = SourceThread(self, self._source, self._caps,
                                  self._classes)
            thread.begin_pass()
            self._thread = thread
        if not self._thread.ident:
            self._thread.start()

    def stop(self) -> None:
        """Ends the run, at any moment, from any thread, also from a function
        of map(). Batches stay."""
        if self._is_left():
            return
        self._stops += 1
        self._stop()
        _running.discard(self)

    def _stop(self) -> None:
        if self._thread:
            self._thread.cancel()
        raw.Loader.stop(self)

    def _is_left(self) -> bool:
        """Whether it is that of a parent process."""
        return self._process not in (None, _process)

    def _check_process(self) -> None:
        """The library would say so, too, but not without GLib, of whose locks
        a thread of the parent's may have had one for ever."""
        if self._is_left():
            raise LoaderError(
                "This loader belongs to another process, and threads do not "
                "survive a fork: make the loader after the fork, in the "
                "process that uses it (or start workers by spawn, not by "
                "fork)", code="forked")

    def _end_thread(self, patience: Optional[float]) -> None:
        """A thread of an earlier run may still be in the source's code."""
        if self._thread and self._thread.is_alive():
            self._thread.cancel()
            self._thread.join(patience)
            if self._thread.is_alive():
                raise LoaderError(
                    "The loader cannot start again: its source has been busy "
                    "for 5 s since the last run was stopped", code="source")
        self._thread = None

    def __enter__(self) -> "Loader":
        if not self.is_running():
            self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    # Batches

    def __iter__(self) -> Iterator[Batch]:
        """The next epoch, also where a `for` over one was left; at first the
        one to begin with, or the rest of it. Earlier iterators end."""
        self._check_process()
        if not self._begun:
            self.start()
        elif not (self._fresh or self._between or self._ahead):
            self._leave_epoch()
        self._begin_epoch()
        self._turn += 1
        return _Epoch(self, self._turn)

    def _begin_epoch(self) -> None:
        self._begin_source()
        if self._between:
            self._between = False
            if self._thread:
                self._thread.begin_pass()

    def _leave_epoch(self) -> None:
        """After a `break`. Which pass items are of that the program pushes by
        itself, or an iterator gives, nobody knows: these go on."""
        if self.has_source() and (self._source is None or
                                  isinstance(self._source, abc.Iterator)):
            return
        if not self.is_running():
            return  # which next() says
        stops = self._stops
        if self.has_source():
            # Items pushed now would count for the next epoch. Stopping may
            # take a while, as waiting for a batch may.
            self._stop()
            self._end_thread(None)
        try:
            if stops == self._stops:
                raw.Loader.next_epoch(self)
        except GLib.Error as error:
            raise self._explain(error) from self._cause_of(error)
        if stops != self._stops:
            self._stop()
            raise LoaderError("The loader was stopped", code="stopped")
        self._fresh = True

    def next(self, timeout: int = Gst.CLOCK_TIME_NONE) -> Optional[Batch]:
        """The next batch, within `timeout` ns, or None at an epoch's end; the
        next call then goes on into the next epoch. LoaderError with the code
        "timed-out" where none has come; nothing is lost."""
        if self._begun:
            self._begin_epoch()
        return self._take(
            None if timeout == Gst.CLOCK_TIME_NONE else timeout)

    def _take(self, timeout: Optional[int]) -> Optional[Batch]:
        self._check_process()
        batch, self._ahead = self._ahead, None
        if batch is None:
            batch = self._wait(timeout)
        self._fresh = False
        if batch is None and not self._between:
            self._between = True
            self._losses.warn()
            self._look_ahead()
        return batch

    def _wait(self, timeout: Optional[int] = None) -> Optional[Batch]:
        end = None if timeout is None else time.monotonic_ns() + timeout
        while True:
            left = _SLICE
            if end is None:
                native.wait(self, _SLICE)
            else:
                left = max(end - time.monotonic_ns(), 0)
                if not native.is_ready(self, min(left, _SLICE)) and left:
                    continue
            try:
                # It may have been woken for nothing.
                batch: Optional[Batch] = raw.Loader.next(
                    self, min(left, _SLICE))
                return batch
            except GLib.Error as error:
                if not is_timeout(error) or not left:
                    raise self._explain(error) from self._cause_of(error)

    def _look_ahead(self) -> None:
        """Raises at an epoch's end what would be the next thing to come, as
        nobody may ask for another epoch."""
        if not self.is_finished() and self.dup_error():
            self._take_ahead()

    def _take_ahead(self) -> Optional[Batch]:
        if not self._ahead:
            self._ahead_of = self.dup_state()
            self._before_ahead = self.num_failures, self.failures
            self._ahead = self._wait()
        return self._ahead

    def __len__(self) -> int:
        """Batches of an epoch, if all items are good. TypeError where the
        pipeline does not tell."""
        self._check_process()
        if not self._begun:
            self.start()
        n = count_batches(self.get_pipeline(), self._source)
        if n is None:
            raise TypeError("the pipeline does not tell how many batches an "
                            "epoch has")
        return n

    def __bool__(self) -> bool:
        """Not by its length, which would start it."""
        return True

    # Classes

    def set_classes(self, classes: Optional[Sequence[str]]) -> bool:
        """The names of the classes in the order of their numbers, None for
        those of the dataset; before the loader starts."""
        self._check_process()
        names = None if classes is None else check_classes(classes)
        try:
            raw.Loader.set_classes(self, names)
        except GLib.Error as error:
            raise self._explain(error) from error
        self._classes = names
        return True

    @property
    def classes(self) -> Optional[List[str]]:
        """The names of the classes: label i is classes[i]. None where labels
        are mere numbers. Starts the loader, unless they were given."""
        self._check_process()
        if self._classes is None and not self._begun:
            self.start()
        try:
            # No names at all are an empty list.
            return raw.Loader.dup_classes(self) or None
        except GLib.Error as error:
            raise self._explain(error) from error

    @property
    def class_to_idx(self) -> Optional[Dict[str, int]]:
        """The number of each class by its name, as torchvision has it."""
        classes = self.classes
        if classes is None:
            return None
        return {name: i for i, name in enumerate(classes)}

    # Errors

    def _explain(self, error: Any) -> LoaderError:
        if error.domain == SOURCE_DOMAIN:
            return LoaderError(error.message, code="source", stage="source")
        code = code_of(error)
        stage = uri = None
        if code in ("failures", "pipeline-error"):
            _, stage, uri = self.get_error_item()
        return LoaderError(error.message, code=code, stage=stage, uri=uri)

    def _cause_of(self, error: Any) -> BaseException:
        cause: BaseException = error
        if error.domain == SOURCE_DOMAIN and self._thread:
            cause = self._thread.cause or cause
        return cause

    # What it tells

    @property
    def failures(self) -> List[Failure]:
        """The last items that failed, 100 at most; `num_failures` counts
        all. Those of an epoch that is loaded ahead are not among them."""
        if self._ahead:
            return list(self._before_ahead[1])
        return list(self._failures)

    def take_failures(self, state: Optional[str]) -> List[Failure]:
        """The items of this run that failed and that `state`, of a batch, has
        left behind. Each failure is taken once; what is not behind that state
        comes again in a run that begins there. For who keeps a record of
        failures beside the states."""
        taken = [f for f in self._pending if f.is_done(state)]
        if taken:
            rest = [f for f in self._pending if not f.is_done(state)]
            self._pending.clear()
            self._pending.extend(rest)
        return taken

    @property
    def num_failures(self) -> int:
        """Items that failed since the start, in the epochs that a `for` has
        reached."""
        n: int = (self._before_ahead[0] if self._ahead
                  else self.get_num_failures())
        return n

    @property
    def epoch(self) -> int:
        """Of the batch that came last; behind an epoch's end the next one, and
        at first the one to begin with."""
        state = self.state if self._fresh or self._ahead else None
        if state:
            return _get_place(state)[0]
        epoch: int = self.get_epoch()
        return epoch

    @property
    def pipeline(self) -> "Gst.Pipeline":
        """To look at elements and set their properties."""
        return self.get_pipeline()

    @property
    def stats(self) -> List[Dict[str, Any]]:
        """Each element's figures, from the source to the sink; times in ns.
        docs/reading-the-figures.md says what they mean."""
        return [dict_of(figures) for figures in self.dup_stats()]

    # Resuming

    @property
    def state(self) -> Optional[str]:
        """Where to begin after the batch that came last."""
        state: Optional[str] = (
            self._ahead_of if self._ahead else self.dup_state())
        return state

    def restore_state(self, state: Optional[str]) -> bool:
        self._check_process()
        try:
            raw.Loader.restore_state(self, state)
        except GLib.Error as error:
            raise self._explain(error) from error
        # The next `for` starts the loader.
        self._begun = False
        self._fresh = True
        self._ahead = None
        return True

    def state_dict(self) -> Dict[str, Any]:
        """For torch.save() and the like: the place after the last batch."""
        return {"spdl": self.state}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Begins there, at the next `for`."""
        self.stop()
        self.restore_state(state["spdl"])

    def set_epoch(self, epoch: int) -> None:
        """The next `for` is that epoch, from its beginning. Not needed where
        one follows the other: each has an order of its own anyway."""
        self._check_process()
        if not self._begun:
            self.start()
        if self._is_at_beginning(epoch):
            return
        batch = None if self.state else self._take_ahead()
        state = batch.state if batch else self.state
        if not state:
            raise LoaderError("The pipeline has no spdlsrc whose epoch could "
                              "be set", code="state")
        self.stop()
        self.restore_state(raw.state_dup_at_epoch(state, epoch))

    def _is_at_beginning(self, epoch: int) -> bool:
        state = self.state
        if state:
            return _get_place(state) == (epoch, True)
        return (self._fresh or self._between) and self.epoch == epoch


def _get_place(state: str) -> Tuple[int, bool]:
    """The epoch, and whether it is its beginning."""
    _, epoch, is_beginning = raw.state_get_epoch(state)
    return epoch, is_beginning


def _on_failed(_: Any, stage: str, uri: Optional[str], reason: Any,
               source: int, epoch: int, index: int, sequence: int,
               *queues: Union[Deque[Failure], Losses]) -> None:
    why = reason.message if reason else ""
    failure = Failure(stage, uri, why)
    if epoch != GLib.MAXUINT64:
        failure = Failure(stage, uri, why, epoch, index, sequence, source)
    for queue in queues:
        queue.append(failure)


def _on_failed_in_epoch(_: Any, stage: str, text: str, epoch: int,
                        num_failures: int, num_items: int,
                        losses: Losses) -> None:
    losses.sum_up(stage, text)


# At the interpreter's end no thread of a pipeline may be left that would come
# upon what is gone.
_running: "weakref.WeakSet[Loader]" = weakref.WeakSet()


# Another object in each process.
_process = object()
# A child's: those that ran in its parent are not freed there.
_left: List[Loader] = []


def _begin_child() -> None:
    global _process
    _process = object()
    _left.extend(_running)


os.register_at_fork(after_in_child=_begin_child)


@atexit.register
def _stop_all() -> None:
    for loader in list(_running):
        loader.stop()


# So that the functions of the library return this class.
_type: Any = raw.Loader.__gtype__
_type.pytype = Loader
