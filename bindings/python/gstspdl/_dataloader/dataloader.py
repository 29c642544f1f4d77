# gst-spdl: PyTorch's DataLoader with the worker processes of this package
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import functools
import itertools
import multiprocessing
import operator
import os
import resource
import sys
import time
import warnings
import weakref
from typing import (Any, Dict, Iterator, List, Optional, Tuple, TypeVar, Union,
                    cast)

import torch
import torch.utils.data
from torch._utils import ExceptionWrapper
from torch.utils.data import dataloader as torch_loader

from .._native import library as native
from .._processes.server import Server, StartError, can_fork, start_base
from .._processes.silence import WORKER_TIMEOUT, check_timeout
from . import states
from .fetch import Answer, Begin, FetchJob, Fetcher, Place, Task, load_state
from .job import Pickled, dump_job
from .pinning import PinningWorkers, pin
from .process import WorkerProcess
from .states import Progress, State
from .stats import Clock, Numbers, Verdict
from .workers import Worker, Workers

# Tasks of a worker whose batches the trainer has not taken. All must fit into
# its socket.
_MAX_AHEAD = 100

_Kind = torch_loader._DatasetKind
Item = TypeVar("Item", covariant=True)


def _list_modules() -> Tuple[str, ...]:
    """Returns modules that are slow to import. The process that forks workers
    imports them before it gets the dataset."""
    return ("gstspdl._dataloader.fetch", *(
        name for name in ("torchvision", "torchaudio") if name in sys.modules))


class _Template:
    """The process that holds the dataset and forks workers. It is a fork of this
    process, or it unpickles the dataset."""

    def __init__(self, job: Union[FetchJob, Pickled],
                 worker_timeout: float) -> None:
        self.pickled = job if isinstance(job, Pickled) else None
        data: Any = job
        fds: List[int] = []
        if self.pickled:
            data, fds = self.pickled.store()
        self._server = Server(data, *_list_modules(), fds=fds,
                              may_fork=not torch.cuda.is_initialized(),
                              timeout=worker_timeout)
        if self.pickled:
            self.pickled.close()
        self.hurry = self._server.hurry
        self.pointer = self._server.pointer
        weakref.finalize(self, _close_server, self._server, os.getpid())

    def wait(self) -> None:
        try:
            self._server.wait()
        except StartError as error:
            raise RuntimeError("DataLoader cannot start worker processes: "
                               f"{error}") from None

    def is_running(self) -> bool:
        return self._server.is_running()


def _may_fork() -> bool:
    # Without threads, the program may still have initialized CUDA.
    return can_fork() and not torch.cuda.is_initialized()


def _forks(loader: Any) -> bool:
    """Returns whether PyTorch would fork the workers of a loader."""
    context = loader.multiprocessing_context
    if context is not None:
        return str(context.get_start_method()) == "fork"
    method = multiprocessing.get_start_method(allow_none=True)
    return (method or multiprocessing.get_all_start_methods()[0]) == "fork"


def _close_server(server: Server, owner: int) -> None:
    if os.getpid() == owner:
        native.fork_server_free(server.pointer)
        server.close()


# Iterators

class _Iterator(torch_loader._BaseDataLoaderIter):  # type: ignore[misc]
    """The batches of an epoch. PyTorch's class draws the random numbers, counts
    and warns."""

    _sampler_iter: Any

    def __init__(self, loader: "DataLoader[Any]",
                 resumed: Optional[State]) -> None:
        resumed = resumed or {}
        outer = None
        self._has_seeded = False
        self._may_lack_items = False
        places = states.load_places(resumed, loader.num_workers,
                                    loader._dataset_kind == _Kind.Iterable)
        is_reset = resumed.get("is_reset", False)
        if is_reset:
            super().__init__(loader)  # draws a seed, as that epoch did not
        if "start" in resumed:
            states.restore_start(loader, resumed["start"])
            if resumed["num_yielded"] > 0 or not loader._was_seeded():
                outer = states.restore_default_generator(resumed["start"])
        try:
            if resumed.get("is_between"):
                self._begin_epoch(loader, places)
            self._progress = Progress(states.save_start(loader),
                                      workers=places, is_reset=is_reset,
                                      is_local=loader.num_workers == 0)
            if is_reset:
                self._sampler_iter = iter(self._index_sampler)
            else:
                super().__init__(loader)
            self._resume(resumed)
            loader._progress = self._progress
            self._clock = Clock(loader._numbers)
            self._begin(loader)
        finally:
            # The program's random numbers go on as if there were no repetition.
            if outer is not None and not self._has_seeded:
                torch.set_rng_state(outer)

    def _begin_epoch(self, loader: "DataLoader[Any]",
                     places: List[Place]) -> None:
        """Loads a state that was saved between two epochs."""
        # The dataset may know no items after the state of its end.
        self._may_lack_items = any(place.has_state() for place in places)

    def _resume(self, resumed: State) -> None:
        progress = self._progress
        progress.n_yielded = self._num_yielded = resumed.get("num_yielded", 0)
        progress.given = set(resumed.get("given", ()))
        progress.next_worker = resumed.get("next_worker", 0)
        #: of the batches that the sampler gives
        self._batch_numbers: Iterator[int] = itertools.count()
        #: the epoch was begun before
        self._has_begun = bool(resumed)
        self._first = resumed.get("start", {}).get("first")
        if self._dataset_kind != _Kind.Iterable and self._num_workers > 0:
            progress.next_worker = progress.n_yielded % self._num_workers

    def _skip(self) -> None:
        """Asks the sampler again for the batches that were already returned."""
        if not self._has_begun or self._dataset_kind == _Kind.Iterable:
            return
        progress = self._progress
        first = self._first
        begun = list(itertools.islice(self._sampler_iter, 1))
        if not states.is_first(begun, first):
            # It went on after a place that it had saved.
            self._sampler_iter = iter(self._index_sampler)
            begun = list(itertools.islice(self._sampler_iter, 1))
        states.check_first(begun, first)
        progress.start["first"] = first or states.describe(begun)
        end = max(progress.given, default=progress.first)
        begun += itertools.islice(self._sampler_iter, end)
        left = [(number, index) for number, index in enumerate(begun)
                if number >= progress.first and number not in progress.given]
        self._sampler_iter = itertools.chain(
            [index for _, index in left], self._sampler_iter)
        self._batch_numbers = itertools.chain(
            [number for number, _ in left], itertools.count(end + 1))

    def _next_index(self) -> Any:
        index = super()._next_index()
        start = self._progress.start
        if "first" not in start and self._dataset_kind != _Kind.Iterable:
            start["first"] = states.describe([index])
        return index

    def _begin(self, loader: "DataLoader[Any]") -> None:
        raise NotImplementedError

    def _end(self) -> None:
        self._progress.is_done = True
        if self._may_lack_items and self._progress.n_yielded == 0:
            warnings.warn(
                "the epoch is empty: the dataset has no more items after "
                "load_state_dict() with its state from the end of the last epoch. "
                "Change load_state_dict() so that this state begins a new epoch, "
                "or call set_epoch() of the dataset first", stacklevel=4)
        self._may_lack_items = False

    def _note(self, number: int) -> None:
        """Counts a batch."""
        if self._dataset_kind == _Kind.Iterable:
            self._progress.n_yielded += 1
        else:
            self._progress.note(number)

    def _get_pin_device(self) -> Any:
        return getattr(self, "_pin_memory_device", None)

    def __next__(self) -> Any:
        clock = self._clock
        clock.begin_wait()
        try:
            data = super().__next__()
        except StopIteration:
            self._end()
            raise
        finally:
            clock.end_wait()
        clock.numbers.n_batches += 1
        return data


class _LocalIterator(_Iterator):
    """Fetches in the process of the trainer."""

    def _begin_epoch(self, loader: "DataLoader[Any]",
                     places: List[Place]) -> None:
        super()._begin_epoch(loader, places)
        state, places[0] = places[0].state, Place()
        if state is not None:  # The epoch begins with the random numbers of it.
            self._has_seeded = load_state(loader.dataset, state)

    def _begin(self, loader: "DataLoader[Any]") -> None:
        self._numbers = loader._numbers
        if hasattr(torch.utils.data, "graph_settings") and isinstance(
                self._dataset, (torch.utils.data.IterDataPipe,
                                torch.utils.data.MapDataPipe)):
            torch.utils.data.graph_settings.apply_sharding(
                self._dataset, self._world_size, self._rank)
        progress = self._progress
        if progress.n_yielded > 0:
            self._skip()
        self._fetcher = Fetcher(_make_job(loader, self), self._dataset,
                                progress.workers[0])
        self._has_seeded |= self._fetcher.has_seeded
        if progress.n_yielded == 0:  # The sampler was not asked before.
            self._skip()
        progress.fetcher = self._fetcher

    def _next_data(self) -> Any:
        index = self._next_index()
        answer = Answer()
        begun = time.perf_counter()
        # Also if it fails: the next batch is another one.
        self._note(next(self._batch_numbers))
        try:
            answer.data = self._fetcher.fetch(index)
        except StopIteration:
            self._progress.n_yielded -= 1
            raise
        finally:
            answer.time = time.perf_counter() - begun
            self._numbers.note(answer)
        if self._pin_memory:
            return pin(answer.data, self._get_pin_device())
        return answer.data


class _ProcessIterator(_Iterator):
    """Lets worker processes fetch. Worker i mod N fetches batch i, unless that
    worker has no more batches. Batches are returned in this order. The trainer's
    thread asks the sampler."""

    def _begin(self, loader: "DataLoader[Any]") -> None:
        kind: Any = Workers
        self._skip()
        if self._pin_memory:
            kind = functools.partial(PinningWorkers, self._get_pin_device())
        self._pool: Workers = kind(
            loader._get_template(_make_job(loader, self)),
            Begin(self._num_workers, self._base_seed, self._shared_seed),
            getattr(loader, "in_order", True),
            _limit_ahead(loader.prefetch_factor or 2, self._num_workers),
            loader._worker_timeout, loader._numbers, self._progress.workers)
        self._next_worker = self._progress.next_worker
        self._could_fork = can_fork()
        self._finalizer = weakref.finalize(self, self._pool.end)
        try:
            self._pool.start()
            self._fill()
        except BaseException:
            self._finalizer()
            raise

    def has_ended(self) -> bool:
        return self._pool.has_ended()

    @property
    def _workers(self) -> List[WorkerProcess]:
        """The processes, whose IDs and exit codes programs read."""
        return self._pool.list_processes()

    def _shutdown_workers(self) -> None:
        """Ends the workers. Programs call it although it has no public name."""
        self._finalizer()

    def _reset(self, loader: "DataLoader[Any]",
               first_iter: bool = False) -> None:
        """Begins the next epoch with the same workers."""
        self._progress = Progress(states.save_start(loader), is_reset=True)
        super()._reset(loader, first_iter)
        self._progress.workers = self._pool.resume(self._shared_seed)
        self._next_worker = 0
        self._batch_numbers = itertools.count()
        loader._progress = self._progress
        self._clock = Clock(loader._numbers)
        self._fill()

    def _fill(self) -> None:
        while self._add_task():
            pass

    def _add_task(self) -> bool:
        worker = self._pool.choose(self._next_worker)
        if worker is None:
            return False
        try:
            task = Task(self._next_index(), next(self._batch_numbers))
        except StopIteration:
            return False
        self._next_worker = worker.number + 1
        self._pool.add(worker, task)
        return True

    def _next_data(self) -> Any:
        while self._pool.n_tasks:
            worker, answer = self._pool.take(self._timeout)
            self._advance(worker, answer)
            self._fill()
            if answer.is_end:
                continue
            if self._could_fork and not can_fork():
                # The next loader of this program cannot be forked.
                self._could_fork = False
                start_base(*_list_modules())
            if isinstance(answer.data, ExceptionWrapper):
                answer.data.reraise()
            return answer.data
        if not self._persistent_workers:
            self._finalizer()
        raise StopIteration

    def _advance(self, worker: Worker, answer: Answer) -> None:
        progress = self._progress
        if answer.is_end:
            worker.is_active = False
        else:
            self._note(answer.number)
            progress.next_worker = (worker.number + 1) % self._num_workers
        place = progress.workers[worker.number]
        progress.workers[worker.number] = place.advance(answer)


def _limit_ahead(prefetch_factor: int, n_workers: int) -> int:
    """The number of batches that each worker may fetch in advance. Each batch may
    have a descriptor of shared memory in transit. The kernel limits these to the
    number of open files of a user, of which other loaders may need half."""
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, min(operator.index(prefetch_factor), _MAX_AHEAD,
                      n_files // 2 // n_workers))


def _make_job(loader: "DataLoader[Any]", iterator: Any) -> FetchJob:
    init_fn = loader.worker_init_fn
    if isinstance(loader.dataset, (torch.utils.data.IterDataPipe,
                                   torch.utils.data.MapDataPipe)):
        init_fn = functools.partial(
            torch_loader._sharding_worker_init_fn, init_fn,
            iterator._world_size, iterator._rank)
    return FetchJob(loader._dataset_kind, loader.dataset,
                    loader._auto_collation, loader.collate_fn,
                    loader.drop_last, init_fn)


class _AcceleratesQuestion:
    """The attribute that Accelerate reads before it replaces this loader. A program
    may set it."""

    def __get__(self, loader: Any, kind: Any = None) -> bool:
        module: Any = sys.modules.get("accelerate.data_loader")
        if getattr(module, "DataLoader", None) is torch.utils.data.DataLoader:
            warnings.warn(
                "Accelerate replaces this gstspdl.torch.DataLoader with "
                "PyTorch's: call gstspdl.accelerate.use() before prepare()",
                stacklevel=4)
        return False


class DataLoader(torch.utils.data.DataLoader[Item]):  # type: ignore[misc]
    """torch.utils.data.DataLoader with the worker processes of this package.

        from gstspdl.torch import DataLoader

        loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4)
        for images, labels in loader:
            ...

    This is a subclass of PyTorch's class and takes the same arguments. The
    batches are equal for equal seeds. Another process holds the dataset and forks
    the workers. If this process has a single thread and has not initialized CUDA,
    the other process is a fork of it. Otherwise it is a fork of a new interpreter,
    and unpickles the dataset. With `multiprocessing_context` "spawn" or
    "forkserver", it always unpickles the dataset. Install cloudpickle for datasets
    and functions of the main module.

    A worker that ends is replaced, and its batches are fetched again. A worker that
    is stopped or hangs in the kernel for `worker_timeout` seconds is killed and
    replaced (0: no limit). state_dict() and load_state_dict() resume in the middle
    of an epoch. `stats` are statistics, and verdict() names the bottleneck.
    """

    _iterator: Any
    _is_accelerate_prepared: Any = _AcceleratesQuestion()

    def __init__(self, dataset: Any, batch_size: Optional[int] = 1,
                 shuffle: Optional[bool] = None, sampler: Any = None,
                 batch_sampler: Any = None, num_workers: int = 0,
                 collate_fn: Any = None, pin_memory: bool = False,
                 drop_last: bool = False, timeout: float = 0,
                 worker_init_fn: Any = None,
                 multiprocessing_context: Any = None, generator: Any = None,
                 *, prefetch_factor: Optional[int] = None,
                 persistent_workers: bool = False,
                 pin_memory_device: str = "", in_order: bool = True,
                 worker_timeout: float = WORKER_TIMEOUT) -> None:
        check_timeout(worker_timeout)
        more: Dict[str, Any] = {}
        if prefetch_factor is not None:  # older PyTorch takes no None
            more["prefetch_factor"] = prefetch_factor
        code = torch.utils.data.DataLoader.__init__.__code__
        if "in_order" in code.co_varnames:
            more["in_order"] = in_order
        else:
            self.in_order = in_order
        self._template: Optional[_Template] = None
        self._progress: Optional[Progress] = None
        self._resumed: Optional[State] = None
        self._seed = 0
        self._numbers = Numbers()
        self._worker_timeout = worker_timeout
        super().__init__(
            dataset, batch_size, shuffle, sampler, batch_sampler, num_workers,
            collate_fn, pin_memory, drop_last, timeout, worker_init_fn,
            multiprocessing_context, generator,
            persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device, **more)
        if num_workers > 0 and not can_fork():
            # Imports PyTorch while the program does other things.
            start_base(*_list_modules())

    def __repr__(self) -> str:
        facts = []
        try:
            facts.append(f"{len(self.dataset)} items")
        except (TypeError, NotImplementedError):
            pass
        facts.append("batches of the sampler" if self.batch_size is None
                     else f"batches of {self.batch_size}")
        facts.append(f"num_workers={self.num_workers}")
        progress = self._progress
        facts.append("not started" if progress is None else "between epochs"
                     if progress.is_done else
                     f"next is batch {progress.n_yielded}")
        return (f"<DataLoader of {type(self.dataset).__name__}: "
                f"{', '.join(facts)}>")

    def _check(self) -> None:
        """Raises the errors that PyTorch's iterators raise when they begin."""
        if self.num_workers == 0 and self.timeout != 0:
            raise AssertionError(
                f"DataLoader with timeout={self.timeout} needs num_workers > 0: "
                "without workers, the dataset runs in the thread of the loop, "
                "and nothing can end it")
        if not self.num_workers >= 0:
            raise AssertionError("DataLoader needs num_workers >= 0, not "
                                 f"{self.num_workers}")
        if (self.num_workers > 0 and self.prefetch_factor is not None and
                not self.prefetch_factor > 0):
            raise AssertionError("DataLoader needs prefetch_factor > 0, not "
                                 f"{self.prefetch_factor}")

    def __iter__(self) -> Iterator[Any]:
        self._check()
        if self.num_workers == 0:
            local = _LocalIterator(self, self._resumed)
            self._resumed = None
            return local
        iterator = self._iterator
        if iterator is not None and not iterator.has_ended():
            iterator._reset(self)
            return cast(Iterator[Any], iterator)
        if hasattr(self, "check_worker_number_rationality"):
            self.check_worker_number_rationality()
        made = _ProcessIterator(self, self._resumed)
        self._resumed = None
        if self.persistent_workers:
            self._iterator = made
        return made

    def _get_template(self, job: FetchJob) -> _Template:
        """A process that has the current dataset."""
        forks = _forks(self)
        if forks and _may_fork():
            self._template = _Template(job, self._worker_timeout)
            return self._template
        last = self._template
        if last is not None and not last.is_running():
            last = None
        try:
            pickled = dump_job(job, not forks)
        except Exception as error:
            if last is None or last.pickled:
                raise
            warnings.warn(
                "DataLoader: this program cannot be forked any more, since it "
                f"has threads or uses CUDA. {error}. The workers of this epoch "
                "use the dataset of the last epoch: later changes have no effect "
                "in them", stacklevel=3)
            return last
        if last is None or not last.pickled or not pickled.is_same(
                last.pickled):
            self._template = last = _Template(pickled, self._worker_timeout)
        return last

    # Resuming

    def state_dict(self) -> State:
        """Returns the state after the last batch, for torch.save().

        A sampler must draw its random numbers from PyTorch's generators at the
        beginning of an epoch, as PyTorch's samplers do, or have state_dict()
        and load_state_dict(). An iterable dataset with these two methods resumes by
        them. For others, the loader skips the batches that were already
        returned."""
        if self._resumed is not None:
            return self._resumed
        progress = self._progress
        if progress is not None and not progress.is_done:
            return progress.save()
        is_kept = (self._iterator is not None and
                   not self._iterator.has_ended())
        return states.save_between_epochs(self, progress if is_kept else None)

    def load_state_dict(self, state: State) -> None:
        """Resumes at the next `for` from a state of state_dict(). A running `for`
        loop can continue. After a state between two epochs, a new seed by
        torch.manual_seed() decides the order."""
        states.check(state)
        # Persistent workers have fetched other batches. They end with their
        # iterator, which may be in use.
        self._iterator = None
        self._resumed = state or None
        self._seed = torch.initial_seed()

    def _was_seeded(self) -> bool:
        """Returns True if the program has set another seed since
        load_state_dict()."""
        seed: int = torch.initial_seed()
        return self._seed != seed

    # Statistics

    @property
    def stats(self) -> List[Dict[str, Any]]:
        """Statistics of all epochs so far, like those of Loader.stats. Times
        are in nanoseconds."""
        return [self._numbers.list_stats(self.num_workers)]

    def verdict(self) -> Verdict:
        """Returns what limits the throughput of all epochs so far: the workers
        or the trainer. print() shows it with a suggestion."""
        return self._numbers.judge(self.num_workers)
