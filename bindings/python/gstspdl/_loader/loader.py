# gst-spdl: a loader as an iterator over epochs
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import ctypes
import json
import os
import threading
import time
import weakref
from collections import abc
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable,
                    Iterator, List, Mapping, NamedTuple, Optional, Sequence,
                    Sized, Tuple, Union)

from .._arguments import (INT32_MAX, UINT64_MAX, check_integer, check_rank,
                          explain_names)
from .._errors import LoaderError
from .._failure import Failure, Record
from .._functions import stages
from .._functions.adapters import adapt
from .._functions.seeds import Seed
from .._media.batch import Batch
from .._media.decode import write_property
from .._media.labels import check_classes
from .._media.sample import Sample
from .._native import interrupts, library as native
from .._native.endings import call_at_end, running
from .._native.gi import address_of, bridge, describe, get_attribute, is_a
from . import arrow, parquet
from .epoch import EpochIterator, OneReader, Pass, Place
from .shown import show_loader
from .source import SourceThread
from .states import State, merge_states
from .verdict import Verdict, make_verdict

# The numbers of the C enumeration, which `__cause__.matches()` takes.
for _number, _nick in enumerate(native.list_error_codes()):
    setattr(LoaderError, _nick.upper().replace("-", "_"), _number)

# Maximum delay of Ctrl-C while no batch arrives, in ns. A batch ends the wait
# at once.
_SLICE = 50_000_000

# Maximum time to wait for a stopped source that still runs its own code, in s.
_MAX_BUSY = 5.0

# Maximum time to wait for producers of Arrow tables at exit, in ns.
_MAX_ARROW = 5_000_000_000

# "Not known", and "no time limit".
_UNKNOWN = UINT64_MAX

# An enumeration looks up its members slowly.
_IDLE, _BEFORE = Place.IDLE, Place.BEFORE
_WITHIN, _BETWEEN = Place.WITHIN, Place.BETWEEN


class _Ahead(NamedTuple):
    """A batch that was taken in advance, and the values that the loader's
    attributes keep until the batch is delivered."""

    #: None: the end of the epoch
    batch: Optional[Batch]
    state: Optional[str]
    epoch: int
    num_failures: int
    failures: List[Failure]


class Loader(OneReader[Batch]):
    """Iterable of the batches of a pipeline. Each `for` loop is one epoch.

        line = ("spdlsrc location=photos label=folder shuffle=true "
                "! spdlfetch ! spdldecode width=224 height=224 "
                "! spdlbatch batch-size=32 labels=true ! spdlsink")
        with Loader(line) as loader:
            for batch in loader:                # one epoch
                images = batch["data"].numpy()  # (32, 224, 224, 3), uint8

    `pipeline`: a gstspdl.Pipeline, a description in gst-launch syntax that
    ends in spdlsink, or a Gst.Pipeline. Without `epochs` in a description,
    the number of epochs has no limit.
    `source`: iterable of the items to load, for a pipeline without spdlsrc:
    paths and URIs, bytes, NumPy arrays, dicts of bytes and arrays, or tuples
    (item, label) or (item, label, key). One pass over it is one epoch. It may
    also be an Arrow table (pyarrow, Polars, DuckDB, Hugging Face datasets) or
    a pyarrow.dataset.Dataset of Parquet files. Then the pipeline has an
    spdlsrc without a location, which sends the rows. An spdlsrc with
    location=data/*.parquet reads the files itself, by pyarrow.
    `caps`: format of the bytes of `source`, such as "image/jpeg". None:
    encoded data of any type.
    `max_failures`: number of failed items to tolerate. -1: no limit.
    `state`: state to resume from, such as `batch.state`, or the states of all
    ranks, which may be another number: a list, or what merge_states() returns.
    `cpu_budget`: share of all cores that loading may use, from 0 to 1. 0: no
    limit.
    `process`: True runs all elements except the sink in another process. A
    dict sets properties of spdlworkersrc: {"nice": 10, "restarts": 3}.
    `classes`: class names in the order of their numbers. None: the
    sorted names of the dataset.
    `rank`: the number of this process, from 0, among the `world_size` processes,
    each of which loads a part of each epoch. -1: from the environment, as
    torchrun, Slurm and others set it. `rank` and `world-size` in the pipeline
    come first.

    After a `break`, the next `for` begins the next epoch; keep the iterator
    to continue the same one. After another `for` or iter(), an earlier iterator
    raises LoaderError at its next step, if it had batches left. peek() shows a
    batch without taking it. A failed item raises no exception: see
    `failures`. Errors raise LoaderError in the `for`, after the batches before
    the error. A mistake in the description raises LoaderError here, and a
    wrong argument raises TypeError or ValueError.

    Several loaders may run at the same time. One thread at a time takes
    batches from a loader. After a fork, a loader of the parent raises
    LoaderError in the child.
    """

    @explain_names
    def __init__(self, pipeline: Any, *,
                 source: Optional[Iterable[Any]] = None,
                 caps: Optional[str] = None, max_failures: int = -1,
                 state: Optional[State] = None,
                 cpu_budget: float = 0.0,
                 process: Union[bool, Mapping[str, Any]] = False,
                 classes: Optional[Sequence[str]] = None,
                 rank: int = -1, world_size: int = -1) -> None:
        super().__init__()
        check_rank(rank, world_size)
        names = None if classes is None else check_classes(classes)
        #: the gstspdl.Pipeline of this loader, with its functions, or None
        self._origin = pipeline._settle() if hasattr(
            type(pipeline), "_settle") else None
        pipeline, functions = _describe(self._origin or pipeline, process)
        try:
            self._pointer = _make(pipeline, source, process)
        except native.Error as error:
            raise LoaderError(error.message, code=error.nick) from error
        self._process = _process
        self._description = pipeline if isinstance(pipeline, str) else None
        # A bound method would keep the loader alive.
        weakref.finalize(self, _release, self._pointer, _process).atexit = False
        self._gobject: Any = None
        self._source = source
        self._caps = caps
        self._classes: Optional[List[str]] = None
        self._thread: Optional[SourceThread] = None
        self._place = _IDLE
        # Number of finished calls of stop(), and of running ones.
        self._stops = 0
        self._stopping = 0
        self._stops_lock = threading.Lock()
        self._ahead: Optional[_Ahead] = None
        self._record = Record()
        self._pull = native.Pull()
        self._pull_address = ctypes.addressof(self._pull)
        self._pools: List[stages.Pool] = []
        native.loader_keep_notices(self._pointer)
        epochs = -1
        if not self.has_source() and arrow.is_table(source):
            self._set_table(source)
            epochs = 1 if arrow.is_one_pass(source) else -1
            labels = [label for _, _, label in
                      native.loader_list_locations(self._pointer)]
            names = names or arrow.get_classes(
                source, labels[0] if labels else "")
        else:
            self._check_source(pipeline)
        found = self._set_files()
        names = names or found
        if isinstance(pipeline, str):
            native.loader_set_default_epochs(self._pointer, epochs)
        for element in functions:
            element.connect(self)
        if names:
            self.set_classes(names)
        if rank >= 0:
            self.set_default_rank(rank, world_size)
        self.max_failures = max_failures
        if cpu_budget != 0:  # else the worker's own property stays
            self.cpu_budget = cpu_budget
        if state is not None:
            self.restore_state(state)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("a Loader cannot be copied or pickled: create another one "
                        "from its description and state")

    def __repr__(self) -> str:
        return show_loader(self)

    @classmethod
    def new(cls, description: str) -> "Loader":
        """Returns Loader(description), like gst_spdl_loader_new()."""
        return cls(description)

    @classmethod
    def new_from_pipeline(cls, pipeline: Any) -> "Loader":
        """Returns Loader(pipeline) for a Gst.Pipeline, like
        gst_spdl_loader_new_from_pipeline()."""
        return cls(pipeline)

    def _set_table(self, table: Any, name: Optional[str] = None) -> None:
        try:
            arrow.set_table(self._pointer, table, name)
        except native.Error as error:
            raise LoaderError(error.message, code=error.nick) from error
        self._source = None

    def _set_files(self) -> Optional[List[str]]:
        """Opens the Parquet files in locations of spdlsrc. Returns the class
        names that they have."""
        names = None
        for location, pattern, label in native.loader_list_locations(self._pointer):
            if parquet.is_location(location, pattern):
                table = parquet.open_location(location, pattern)
                self._set_table(table, location)
                names = names or arrow.get_classes(table, label)
        return names

    def _check_source(self, pipeline: Any) -> None:
        if isinstance(self._source, (str, bytes, os.PathLike)):
            raise TypeError(
                "source must be an iterable of items, not of type "
                f"{describe(self._source)}: for a file or folder, begin the "
                "pipeline with spdlsrc location=..., or pass a list")
        if self._source is not None and not self.has_source():
            raise LoaderError(
                "The pipeline already has a source: remove the first "
                "element of the description, or source=...",
                code="source")
        if arrow.has_columns(self._source):
            raise LoaderError(
                f"The source is a table ({type(self._source).__name__}), whose "
                "rows spdlsrc sends: begin the pipeline with \"spdlsrc ! "
                "spdlfetch\"", code="source")
        if (self._source is None and self.has_source() and
                isinstance(pipeline, str)):
            raise LoaderError(
                "The pipeline has no source: begin the description with "
                "spdlsrc, or pass source=...", code="source")

    def has_source(self) -> bool:
        """Returns True if the program provides the items, with `source`."""
        return bool(native.loader_has_source(self._pointer))

    def map(self, name: str, function: Callable[[Sample], Any], *,
            processes: int = 0, concurrency: Optional[int] = None) -> "Loader":
        """Runs `function` in the spdlpipe with that name. Call it before the
        loader starts. Returns the loader.

            def brighten(sample):
                return sample["data"].numpy() // 2 + 127

            loader = Loader("... ! spdlpipe name=brighten concurrency=2 ! ...")
            loader.map("brighten", brighten)

        `name`: the name of the element.
        `function`: called with a Sample, which is an item, a group or a batch,
        by at most `concurrency` threads at the same time.
        `processes`: number of worker processes that call the function, each
        for one item at a time. `concurrency` of the element becomes this
        number. 0: threads of this process call it, under its GIL.
        `concurrency`: sets the property of the element, from 1 to 4096. None:
        leaves it.

        An `async def` function runs as a coroutine for each item, at most
        `concurrency` at the same time, all in the thread of one event loop.

        The function returns the result: the sample, a NumPy array, bytes, a
        Gst.Sample, a Gst.Buffer, a dict of these by name for several media, a
        list of these for a group, or None to leave the item out. If it raises,
        the item fails with the traceback as the reason.

        A transform of torchvision, timm or albumentations, and an image
        processor of transformers, work as they are. For another callable that
        takes an image, use gstspdl.torch.transform().

        The function is pickled once, by cloudpickle if that is installed. The
        processes do not import the main module. If one ends, another one takes
        its place and repeats its item once.

        Raises LoaderError if no spdlpipe has this name, or if `function`
        cannot be pickled, TypeError if it cannot be called, and ValueError for
        a wrong number."""
        pipeline = native.loader_get_pipeline(self._pointer)
        stages.check_name(name)
        if concurrency is not None:
            if processes:
                raise ValueError("processes is the concurrency of worker "
                                 "processes: leave out concurrency")
            stages.set_concurrency(pipeline, name, concurrency)
        seed = Seed(native.loader_get_seed(self._pointer), name)
        function = adapt(function, seed)
        if processes == 0:
            stages.connect(pipeline, name, function)
        else:
            self._pools.append(
                stages.Pool(pipeline, name, function, processes, seed))
        return self

    def route(self, name: str, function: Callable[[Sample], int]) -> "Loader":
        """Lets `function` choose the branch of each item in the spdlroute with
        that name, instead of conditions. Call it before the loader starts.
        Returns the loader.

            def choose(sample):
                return 0 if sample["data"].shape[0] > 300 else 1

            loader = Loader("... ! spdlroute name=sizes  sizes.src_0 ! ...")
            loader.route("sizes", choose)

        `name`: the name of the element.
        `function`: called with a Sample, one item after another in the order
        in which they arrive. Returns the number of the branch: 1 for src_1.

        If the function raises, or returns a number without a branch, the loader
        ends with LoaderError after the items before that one.

        Raises LoaderError if no spdlroute has this name, and TypeError if
        `function` cannot be called, or is async."""
        stages.check_name(name)
        stages.connect_route(native.loader_get_pipeline(self._pointer), name,
                           function)
        return self

    # Settings

    @property
    def description(self) -> Optional[str]:
        """The pipeline as a line in gst-launch syntax, or None for a Gst.Pipeline.
        gstspdl.Pipeline.parse() reads the line. It also reads the loader itself,
        including the functions."""
        return self._description

    @property
    def max_failures(self) -> int:
        """The number of failed items to tolerate in all elements together; -1:
        no limit. One more failure ends the loader with the code "failures". Can be
        set; a value below -1 raises ValueError."""
        return int(native.loader_get_max_failures(self._pointer))

    @max_failures.setter
    def max_failures(self, n: int) -> None:
        native.loader_set_max_failures(
            self._pointer, check_integer("max_failures", n, -1, INT32_MAX))

    @property
    def cpu_budget(self) -> float:
        """The share of all cores that loading may use, from 0 to 1; 0: no
        limit. Can be set at any time; a value out of range raises ValueError."""
        return float(native.loader_get_cpu_budget(self._pointer))

    @cpu_budget.setter
    def cpu_budget(self, budget: float) -> None:
        budget = float(budget)
        if not 0 <= budget <= 1:
            raise ValueError(f"cpu_budget must be from 0 to 1, not {budget}")
        native.loader_set_cpu_budget(self._pointer, budget)

    def set_default_rank(self, rank: int, world_size: int) -> None:
        """Sets rank and world size of sources that do not set them. Call it
        before the loader starts.

        `rank`: the number of this process, from 0. -1: from the environment.
        `world_size`: the number of processes. -1: from the environment."""
        native.loader_set_default_rank(self._pointer, rank, world_size)

    # PyGObject

    @property
    def gobject(self) -> Any:
        """The GstSpdl.Loader. Its methods, properties and signals are also
        attributes of the loader: loader.connect("failed", ...). Needs
        PyGObject, else raises ImportError."""
        if self._gobject is None:
            self._gobject = bridge().new_object(self._pointer)
        return self._gobject

    @property
    def pipeline(self) -> Any:
        """The Gst.Pipeline, to get elements and set their properties. Needs
        PyGObject, else raises ImportError."""
        return bridge().new_object(native.loader_get_pipeline(self._pointer))

    # Type checkers would otherwise accept any name.
    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            return get_attribute(self, "gobject", name)

    # Runs

    def is_running(self) -> bool:
        """Returns True from start() to stop()."""
        return bool(native.loader_is_running(self._pointer))

    def is_finished(self) -> bool:
        """Returns True after the last epoch has ended. A description without
        `epochs` has no last epoch."""
        return bool(native.loader_is_finished(self._pointer))

    def start(self) -> bool:
        """Starts the pipeline at the beginning or at a restored state, also
        after stop(). `with` and the first `for` call it. Returns True.

        Raises LoaderError if the pipeline cannot start or is running, in a
        forked child, and if the source in the program is still busy 5 s after
        the last stop."""
        self._check_process()
        if self.is_running():  # It goes on as if nobody had called this.
            raise LoaderError("The loader is already started: stop it first",
                              code="started")
        self._end_thread(_MAX_BUSY)
        self._ahead = None
        self._record.clear()
        self._drop_pull()
        self._run(native.loader_start)
        return True

    def _ensure_started(self) -> None:
        self._check_process()
        if self._place is _IDLE:
            self.start()

    def _continue(self) -> None:
        """Starts the loader after the last batch before stop(). A batch that
        was taken in advance stays. Failures that the state does not count
        occur again."""
        native.loader_stop(self._pointer)  # may have been in another thread
        if not self._pull.batch:
            self._drop_pull()
        state = native.loader_read_state(self._pointer)
        n_repeated = self._record.drop_repeated(state)
        try:
            self._run(lambda pointer: native.loader_continue(
                pointer, n_repeated))
        finally:
            self._place = _BEFORE  # The next `for` tries again.
            self._note_failures()

    def _run(self, start: Callable[[int], Any]) -> None:
        """Starts a run."""
        self._pass = Pass()
        for pool in self._pools:
            pool.wait()
        _note_start()
        # This line is first, because Ctrl-C may interrupt any later one.
        self._place = _BEFORE
        running.add(self)
        try:
            interrupts.run(start, self._pointer, cancel=self._stop)
        except BaseException as error:
            if not self.is_running():
                self._place = _IDLE
                running.discard(self)
            if isinstance(error, native.Error):
                raise self._explain(error) from error
            raise
        self._begin_source()

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
        """Stops the pipeline. Any thread may call it at any time, also repeatedly.
        A function of map() may call it, too. A waiting `for` loop raises
        LoaderError with the code "stopped"; a new loop continues after the last
        batch. Batches stay valid."""
        if self._is_left():
            return
        with self._stops_lock:
            self._stopping += 1
        try:
            self._stop()
        finally:  # also after Ctrl-C in the function that it waits for
            with self._stops_lock:
                self._stopping -= 1
                self._stops += 1
        running.discard(self)

    def _was_stopped_since(self, stops: int) -> bool:
        """Returns True if a stop() was running at any time since `_stops` was
        read."""
        with self._stops_lock:
            return self._stops != stops or self._stopping > 0

    def _stop(self) -> None:
        if self._thread:
            self._thread.cancel()
        native.loader_stop(self._pointer)

    def _is_left(self) -> bool:
        """Returns True if the loader belongs to a parent process."""
        return self._process is not _process

    def _check_process(self) -> None:
        """Raises in a forked child. The library checks this too, but with
        GLib, whose locks a thread of the parent may have held."""
        if self._is_left():
            raise LoaderError(
                "The loader was created in another process and cannot be used "
                "after a fork, because threads do not survive it: create the "
                "loader after the fork, in the process that uses it, or start "
                "workers with spawn instead of fork", code="forked")

    def _end_thread(self, patience: Optional[float]) -> None:
        """Ends the source's thread, which may still run the source's code."""
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
        """Begins the next epoch, also after a `break`. The first call begins
        the first epoch, or the rest of it when resuming. After stop(), it
        starts the loader and continues with the rest of the epoch. An earlier
        iterator raises LoaderError at its next step, if it had batches
        left."""
        self._check_process()
        if self._place is _IDLE:
            self.start()
        elif not (self.is_running() or self.has_source()):
            self._continue()
        elif self._place is _WITHIN:
            self._leave_epoch()
        self._begin_epoch()
        return EpochIterator(self)

    def _begin_epoch(self) -> None:
        self._begin_source()
        if self._place is _BETWEEN:
            self._place = _BEFORE
            if self._thread:
                self._thread.begin_pass()

    def _leave_epoch(self) -> None:
        """Ends the current epoch after a `break`. Items of an iterator, and items
        that the program pushes, belong to no known epoch, so they are not
        dropped."""
        if self.has_source() and (self._source is None or
                                  isinstance(self._source, abc.Iterator)):
            return
        self._end_if_over()
        if self._place is _BETWEEN:
            return
        # This is read before is_running(), so that one of them detects a
        # stop().
        stops = self._stops
        if not self.is_running():
            return  # next() reports it
        self._drop_pull()
        if self.has_source():
            # Items pushed now would belong to the next epoch.
            self._stop()
            self._end_thread(None)
        was_in_epoch = native.loader_is_in_epoch(self._pointer)
        try:
            if not self._was_stopped_since(stops):
                interrupts.run(native.loader_next_epoch, self._pointer,
                                cancel=self._stop)
        except native.Error as error:
            raise self._explain(error) from self._cause_of(error)
        finally:
            self._note_failures()
        if self._was_stopped_since(stops):
            self._stop()
            raise LoaderError("The loader was stopped", code="stopped")
        if was_in_epoch and not native.loader_is_in_epoch(self._pointer):
            self._ahead = None  # else the batches continue
            self._place = _BEFORE

    def next(self, timeout: int = _UNKNOWN) -> Optional[Batch]:
        """Returns the next batch, or None at the end of an epoch. The call
        after that begins the next epoch.

        `timeout`: time to wait in ns. By default, there is no limit.

        Raises LoaderError with the code "timed-out" if no batch arrives in
        time; no batch is lost."""
        timeout = check_integer("timeout", timeout, 0, UINT64_MAX)
        self._begin_epoch()
        return self._take(None if timeout == _UNKNOWN else timeout)

    def peek(self, timeout: int = _UNKNOWN) -> Union[Batch, Any]:
        """Returns the next batch without taking it, for example to log a picture;
        None at the end of an epoch.

        The next step of the `for`, or next(), returns the same batch. Before
        the first `for` and between epochs, it is the first batch of the next
        epoch. `state`, `epoch` and `failures` do not change. Starts the loader.

        `timeout`: time to wait in ns. By default, there is no limit. Raises
        LoaderError as next() does."""
        timeout = check_integer("timeout", timeout, 0, UINT64_MAX)
        self._ensure_started()
        self._begin_epoch()
        return self._alone(self._peek_next,
                           None if timeout == _UNKNOWN else timeout)

    def _take(self, timeout: Optional[int]) -> Optional[Batch]:
        if self._process is not _process:
            self._check_process()
        return super()._take(timeout)

    def _take_next(self, timeout: Optional[int]) -> Optional[Batch]:
        self._record.warn_of_others()
        ahead, self._ahead = self._ahead, None
        batch = ahead.batch if ahead else self._pull_batch(timeout)
        if batch is not None:
            self._place = _WITHIN
            return batch
        self._pass.is_over = True
        if self._place is not _BETWEEN:
            self._place = _BETWEEN
            self._record.warn()
            self._look_ahead()
        return None

    def _peek_next(self, timeout: Optional[int]) -> Optional[Batch]:
        if self._ahead is None:
            before = self.state, self.epoch, self.num_failures, self.failures
            self._ahead = _Ahead(self._pull_batch(timeout), *before)
        return self._ahead.batch

    def _pull_batch(self, timeout: Optional[int] = None) -> Optional[Batch]:
        pull = self._pull
        native.loader_try_next(self._pointer, self._pull_address)
        pointer = pull.batch
        if not pointer or pull.has_notices:
            self._finish_pull(timeout)
            pointer = pull.batch
        if not pointer:
            pull.ready = False
            return None
        batch = Batch.__new__(Batch)
        # Python runs no signal handler between these two lines, so that Ctrl-C
        # loses no batch.
        pull.ready = False
        batch._pointer = pointer
        return batch

    def _finish_pull(self, timeout: Optional[int]) -> None:
        """Waits for a result, and raises its error."""
        pull = self._pull
        end = None if timeout is None else time.monotonic_ns() + timeout
        while True:
            if pull.has_notices:
                self._note_failures()
            if pull.ready:
                break
            left = _SLICE
            if end is not None:
                left = min(end - time.monotonic_ns(), left)
            if left <= 0:
                raise LoaderError("No batch arrived before the timeout", code="timed-out")
            native.loader_wait(self._pointer, left)
            native.loader_try_next(self._pointer, self._pull_address)
        if pull.error:
            pull.ready = False
            error = native.convert_error(pull.error)
            raise self._explain(error) from self._cause_of(error)

    def _drop_pull(self) -> None:
        """Drops a batch whose transfer Ctrl-C interrupted."""
        pull = self._pull
        if pull.ready and pull.batch:
            Batch._take(pull.batch)
        pull.ready = False

    def _note_failures(self) -> None:
        for notice in native.loader_pop_notices(self._pointer):
            self._record.add_notice(notice)

    def _look_ahead(self) -> None:
        """Raises an error of the next epoch at the end of this one, since the
        program may not request another epoch."""
        if not self.is_finished() and self.error:
            self._peek_next(None)

    def _end_epoch(self) -> None:
        """Takes the end of this epoch, for a program that counts batches and
        does not request another one."""
        if self._place is _WITHIN and self._peek_next(None) is None:
            self._take_next(None)

    def __len__(self) -> int:
        """Returns the number of batches in an epoch of this rank if no item
        fails. Starts the loader. Raises TypeError if the pipeline does not know
        the number."""
        self._ensure_started()
        source: Any = self._source
        n_items = len(source) if isinstance(source, Sized) else _UNKNOWN
        n: int = native.loader_get_num_batches(self._pointer, n_items)
        if n == _UNKNOWN:
            raise TypeError("the number of batches in an epoch is unknown, "
                            "because a function, another element or the "
                            "source does not report how many items it "
                            "delivers: count them in the program, or call "
                            "len() of a pipeline without functions")
        return n

    # Classes

    def set_classes(self, classes: Optional[Sequence[str]]) -> bool:
        """Sets the class names. Call it before the loader starts. Returns True.

        `classes`: the names in the order of their numbers, or None for those
        of the dataset. Raises TypeError or ValueError for names that are not
        str, empty or repeated."""
        self._check_process()
        names = None if classes is None else check_classes(classes)
        try:
            native.loader_set_classes(
                self._pointer,
                None if names is None else native.make_strings(names))
        except native.Error as error:
            raise self._explain(error) from error
        self._classes = names
        return True

    # Both may be None, but a dataset of folders always has names: Any spares its
    # users a check that type checkers would require. So does that of peek().

    @property
    def classes(self) -> Union[List[str], Any]:
        """The class names: label i is classes[i]. None if the labels are only
        numbers. Starts the loader unless the names were given. Use
        Loader(..., classes=train.classes) for a validation set."""
        self._check_process()
        if self._classes is None and self._place is _IDLE:
            self.start()
        try:
            return native.loader_dup_classes(self._pointer) or None
        except native.Error as error:
            raise self._explain(error) from error

    @property
    def class_to_idx(self) -> Union[Dict[str, int], Any]:
        """The class numbers by name, as in torchvision's ImageFolder, or
        None."""
        classes = self.classes
        if classes is None:
            return None
        return {name: i for i, name in enumerate(classes)}

    # Errors

    @property
    def error(self) -> Optional[LoaderError]:
        """The LoaderError that will end this run, or None. The `for` raises it
        after the batches before the error."""
        error = native.loader_dup_error(self._pointer)
        return self._explain(error) if error else None

    def _explain(self, error: native.Error) -> LoaderError:
        if error.nick == "source-error":
            return LoaderError(error.message, code="source", stage="source")
        stage = uri = None
        if error.nick in ("failures", "pipeline-error"):
            stage, uri = native.loader_get_error_item(self._pointer)
        return LoaderError(error.message, code=error.nick, stage=stage,
                           uri=uri)

    def _cause_of(self, error: native.Error) -> BaseException:
        cause: BaseException = error
        if error.nick == "source-error" and self._thread:
            cause = self._thread.cause or cause
        return cause

    # Failures and statistics

    @property
    def failures(self) -> List[Failure]:
        """The last 100 items that failed, as a list of Failure; `num_failures`
        counts all. Items of an epoch that is loaded in advance are not included."""
        if self._ahead is not None:
            return list(self._ahead.failures)
        return list(self._record.recent)

    def take_failures(self, state: Optional[str]) -> List[Failure]:
        """Returns the failures that `state` counts as done, each once. Use it
        to save failures together with states.

        `state`: such as `batch.state`. A run that resumes from this state loads the
        items again that the state does not count. They may fail again. At most
        10,000 failures are kept until they are taken."""
        return self._record.take(state)

    @property
    def num_failures(self) -> int:
        """The number of items that failed since the start, in the epochs that a
        `for` has reached."""
        if self._ahead is not None:
            return self._ahead.num_failures
        return int(native.loader_get_num_failures(self._pointer))

    @property
    def epoch(self) -> int:
        """The epoch of the last batch; after the end of an epoch, the next epoch;
        before the first batch, the first epoch."""
        if self._ahead is not None:
            return self._ahead.epoch
        is_before = self._place in (_IDLE, _BEFORE)
        state = self._read_state() if is_before else None
        if state:
            return native.state_get_epoch(state)[0]
        return int(native.loader_get_epoch(self._pointer))

    @property
    def stats(self) -> List[Dict[str, Any]]:
        """The statistics of each element as a list of dicts, from the source
        to the sink. Times are in ns. docs/reference/statistics.md describes
        the fields."""
        stats: List[Dict[str, Any]] = json.loads(
            native.loader_dup_stats(self._pointer) or "[]")
        return stats

    def verdict(self) -> Verdict:
        """Returns the bottleneck since the start, and the throughput that this
        machine can reach. The verdict is reliable after about ten seconds."""
        return make_verdict(json.loads(
            native.loader_dup_verdict(self._pointer) or "{}"))

    # Resuming

    @property
    def state(self) -> Optional[str]:
        """The state to resume from after the last batch, a text, or None."""
        if self._ahead is not None:
            return self._ahead.state
        state = native.loader_dup_state(self._pointer)
        # Of items that have failed since the last batch.
        self._note_failures()
        return state

    def _read_state(self) -> Optional[str]:
        """Returns the state, without the failures that it counts."""
        if self._ahead is not None:
            return self._ahead.state
        return native.loader_read_state(self._pointer)

    def restore_state(self, state: Optional[State]) -> bool:
        """Sets where the next start begins. Call it while the loader is
        stopped. Returns True.

        `state`: such as `batch.state`, or the states of all ranks, also of another
        number of ranks: a list, or the result of merge_states(). None: the
        beginning. The start raises LoaderError if the state is malformed, or
        belongs to another dataset or order. Raises LoaderError while the loader
        runs, and if states of ranks are missing or of different runs."""
        self._check_process()
        if not (state is None or isinstance(state, str)):
            state = merge_states(state)
        try:
            native.loader_restore_state(
                self._pointer, native.encode_text(state))
        except native.Error as error:
            raise self._explain(error) from error
        self._place = _IDLE
        self._ahead = None
        return True

    def state_dict(self) -> Dict[str, Any]:
        """Returns the state after the last batch in a dict, for torch.save()."""
        return {"spdl": self.state}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Resumes at the next `for` from a state of state_dict(). Stops the
        loader."""
        self.stop()
        self.restore_state(state["spdl"])

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `for` begin the given epoch. Successive epochs need no
        call, because each has its own order.

        `epoch`: the number of the epoch, from 0. Raises LoaderError for a
        pipeline without spdlsrc."""
        epoch = check_integer("epoch", epoch, 0, UINT64_MAX)
        self._ensure_started()
        if self._is_at_beginning(epoch):
            return
        batch = None if self._read_state() else self._peek_next(None)
        state = batch.state if batch else self._read_state()
        if not state:
            raise LoaderError("The epoch cannot be set, because the pipeline "
                              "has no spdlsrc", code="state")
        self.stop()
        self.restore_state(native.state_dup_at_epoch(
            state.encode(), epoch))

    def _is_at_beginning(self, epoch: int) -> bool:
        state = self._read_state()
        if state:
            return native.state_get_epoch(state) == (epoch, True)
        return self._place is not _WITHIN and self.epoch == epoch


def _describe(pipeline: Any, process: Any) -> Tuple[Any, List[Any]]:
    """Returns the line of a gstspdl.Pipeline, and its elements with functions;
    other pipelines are returned unchanged."""
    if not hasattr(type(pipeline), "_complete"):
        return pipeline, []
    line, functions = pipeline._complete()
    if functions and process is not False:
        raise LoaderError(
            "Python functions cannot run in another process: leave out "
            "process=..., or move only the elements before the first function "
            "there, as in Pipeline().worker(Pipeline()...).map(...)", code="map",
            stage=functions[0].name)
    return line, functions


def _make(pipeline: Any, source: Any,
          process: Union[bool, Mapping[str, Any]]) -> int:
    """Creates the library's loader."""
    if not isinstance(pipeline, str) and not is_a(pipeline, "Pipeline"):
        raise TypeError(
            "the pipeline must be a gstspdl.Pipeline, its description (str) or "
            f"a Gst.Pipeline, not {describe(pipeline)}")
    if not isinstance(process, (bool, abc.Mapping)):
        raise TypeError("process must be True, False or a dict of properties of "
                        f"spdlworkersrc, not {describe(process)}")
    if process is False:
        if isinstance(pipeline, str):
            return int(native.loader_new(os.fsencode(pipeline)))
        return int(native.loader_new_from_pipeline(
            address_of(pipeline, "Pipeline")))
    if not isinstance(pipeline, str):
        raise LoaderError(
            "A pipeline object cannot be moved to a worker process: pass "
            "its description instead", code="pipeline")
    if source is not None:
        raise LoaderError(
            "A Python source cannot run in a worker process: remove "
            "source=... or process=...", code="source")
    properties = {} if process is True else process
    words = [f"{name.replace('_', '-')}={write_property(value)}"
             for name, value in properties.items()]
    return int(native.loader_new_in_process(
        os.fsencode(pipeline), os.fsencode(" ".join(words))))


def _release(pointer: int, process: object) -> None:
    """Frees a loader that is no longer used. A forked child does not free the
    parent's loader, because the threads of that loader do not exist there."""
    if process is not _process:
        return
    # This is necessary even if PyGObject still holds the library's loader,
    # which would wait for functions with the GIL held.
    native.loader_stop(pointer)
    native.unref_object(pointer)
    stages.drop_finished()


# Each process has another object here.
_process = object()
# That of the process in which the first loader started.
_started: Optional[object] = None


def _note_start() -> None:
    """Raises LoaderError in a forked child of a process that has started loaders:
    GStreamer would wait for threads that do not exist there."""
    global _started
    if _started is None:
        _started = _process
    if _started is not _process:
        raise LoaderError(
            "A loader cannot start here, because loaders were started before "
            "this process was forked, and threads do not survive a fork: fork "
            "before the first loader starts, or start processes with spawn "
            "instead of fork", code="forked")


def _begin_child() -> None:
    global _process
    _process = object()


os.register_at_fork(after_in_child=_begin_child)


def _end_arrow() -> None:
    if _started is _process:
        native.arrow_end(_MAX_ARROW)


call_at_end(_end_arrow)
