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
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, cast

import torch
import torch.utils.data
from torch._utils import ExceptionWrapper
from torch.utils.data import dataloader as torch_loader

from . import _native as native
from ._dataloader_job import Pickled, dump_job
from ._dataloader_stats import Clock, Numbers, Verdict
from ._dataloader_workers import Place, Workers
from ._fetch import Answer, Begin, Fetcher, FetchJob, Task
from ._pinning import PinningWorkers, pin
from ._processes import Server, StartError, can_fork, start_base
from ._silence import WORKER_TIMEOUT, check_timeout

# Tasks of a worker whose batches the trainer has not taken. All must fit into
# its socket.
_MAX_AHEAD = 100

_Kind = torch_loader._DatasetKind


def _list_modules() -> Tuple[str, ...]:
    """Modules that the process that forks workers imports before it gets the
    dataset: those that take long, if this process has them."""
    return ("gstspdl._fetch", *(
        name for name in ("torchvision", "torchaudio") if name in sys.modules))


class _Template:
    """The process that has the dataset and forks workers. It is a fork of this
    one with the job, or unpickles it."""

    def __init__(self, job: Union[FetchJob, Pickled],
                 worker_timeout: float) -> None:
        self.pickled = job if isinstance(job, Pickled) else None
        data: Any = job
        fds: List[int] = []
        if self.pickled:
            data, fds = self.pickled.store()
        self._server = Server(data, *_list_modules(), fds=fds,
                              may_fork=_may_fork(), timeout=worker_timeout)
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


@dataclass
class _Progress:
    """How far an epoch is, for a state."""

    #: random numbers and samplers at its beginning
    start: Dict[str, Any]
    n_yielded: int = 0
    #: of each worker, for an iterable dataset, or one with a state
    workers: List[Place] = field(default_factory=list)
    #: knows the state of the dataset if there is no worker
    fetcher: Optional[Fetcher] = None
    next_worker: int = 0
    is_done: bool = False


# States

def _list_samplers(loader: Any) -> Dict[str, Any]:
    if loader._dataset_kind == _Kind.Iterable:
        return {}
    found = {"sampler": loader.sampler, "batch_sampler": loader.batch_sampler}
    return {name: sampler for name, sampler in found.items()
            if sampler is not None}


def _save_start(loader: Any, with_default: bool) -> Dict[str, Any]:
    """Saves the state on which the order of an epoch depends.

    `with_default`: the state of PyTorch's default generator, which is used
    without a generator, belongs to it."""
    start: Dict[str, Any] = {}
    if isinstance(loader.generator, torch.Generator):
        start["generator"] = loader.generator.get_state()
    elif with_default:
        start["default_generator"] = torch.get_rng_state()
    for name, sampler in _list_samplers(loader).items():
        generator = getattr(sampler, "generator", None)
        if (isinstance(generator, torch.Generator) and
                generator is not loader.generator):
            start[name + ".generator"] = generator.get_state()
        if hasattr(sampler, "set_epoch") and hasattr(sampler, "epoch"):
            start[name + ".epoch"] = sampler.epoch
        if hasattr(sampler, "state_dict") and hasattr(sampler,
                                                      "load_state_dict"):
            start[name] = sampler.state_dict()
    return start


def _restore_start(loader: Any, start: Dict[str, Any]) -> None:
    if "generator" in start and loader.generator is not None:
        loader.generator.set_state(start["generator"])
    for name, sampler in _list_samplers(loader).items():
        if name + ".generator" in start:
            sampler.generator.set_state(start[name + ".generator"])
        if name + ".epoch" in start:
            sampler.set_epoch(start[name + ".epoch"])
        if name in start:
            sampler.load_state_dict(start[name])


# Iterators

class _Iterator(torch_loader._BaseDataLoaderIter):  # type: ignore[misc]
    """The batches of an epoch. PyTorch's class draws the random numbers, counts
    and warns."""

    _sampler_iter: Any

    def __init__(self, loader: "DataLoader",
                 resumed: Optional[Dict[str, Any]]) -> None:
        start = (resumed or {}).get("start")
        outer = None
        if start is not None:
            _restore_start(loader, start)
            if "default_generator" in start:
                outer = torch.get_rng_state()
                torch.set_rng_state(start["default_generator"])
        try:
            self._progress = _Progress(_save_start(loader, True))
            super().__init__(loader)
            self._resume(resumed or {})
            loader._progress = self._progress
            self._clock = Clock(loader._numbers)
            self._begin(loader)
        finally:
            # The program's random numbers go on as if there were no repetition.
            if outer is not None:
                torch.set_rng_state(outer)

    def _resume(self, resumed: Dict[str, Any]) -> None:
        progress = self._progress
        progress.n_yielded = self._num_yielded = resumed.get("num_yielded", 0)
        progress.workers = [Place(*place)
                            for place in resumed.get("workers", ())]
        progress.next_worker = resumed.get("next_worker", 0)
        self._check_workers()
        if self._dataset_kind == _Kind.Iterable:
            return
        for _ in range(progress.n_yielded):
            next(self._sampler_iter, None)
        if resumed:
            # A sampler may draw its random numbers now.
            self._sampler_iter = itertools.chain(
                list(itertools.islice(self._sampler_iter, 1)),
                self._sampler_iter)
        if self._num_workers > 0:
            progress.next_worker = progress.n_yielded % self._num_workers

    def _check_workers(self) -> None:
        saved = self._progress.workers
        if len(saved) in (0, max(self._num_workers, 1)):
            return
        if (self._dataset_kind == _Kind.Iterable or
                any(place.state is not None for place in saved)):
            raise ValueError(
                f"the state was saved with num_workers={len(saved)}, not "
                f"{self._num_workers}: an iterable dataset, or one with "
                "state_dict(), must resume with the same number")
        self._progress.workers = []

    def _begin(self, loader: "DataLoader") -> None:
        raise NotImplementedError

    def _get_pin_device(self) -> Any:
        return getattr(self, "_pin_memory_device", None)

    def __next__(self) -> Any:
        clock = self._clock
        clock.begin_wait()
        try:
            data = super().__next__()
        except StopIteration:
            self._progress.is_done = True
            raise
        finally:
            clock.end_wait()
        clock.numbers.n_batches += 1
        return data


class _LocalIterator(_Iterator):
    """Fetches in the process of the trainer."""

    def _begin(self, loader: "DataLoader") -> None:
        self._numbers = loader._numbers
        if hasattr(torch.utils.data, "graph_settings") and isinstance(
                self._dataset, (torch.utils.data.IterDataPipe,
                                torch.utils.data.MapDataPipe)):
            torch.utils.data.graph_settings.apply_sharding(
                self._dataset, self._world_size, self._rank)
        place = (self._progress.workers or [Place()])[0]
        self._fetcher = Fetcher(_make_job(loader, self), self._dataset,
                                place.state, place.n_given, place.has_ended)
        self._progress.fetcher = self._fetcher

    def _next_data(self) -> Any:
        index = self._next_index()
        answer = Answer()
        begun = time.perf_counter()
        # Also if it fails: the next batch is another one.
        self._progress.n_yielded += 1
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
    """Has worker processes fetch. Batch i is fetched by worker i mod N, unless
    that has no more, and given in this order. The trainer's thread asks the
    sampler."""

    def _begin(self, loader: "DataLoader") -> None:
        kind: Any = Workers
        if self._pin_memory:
            kind = functools.partial(PinningWorkers, self._get_pin_device())
        self._workers: Workers = kind(
            loader._get_template(_make_job(loader, self)),
            Begin(self._num_workers, self._base_seed, self._shared_seed),
            getattr(loader, "in_order", True),
            _limit_ahead(loader.prefetch_factor or 2, self._num_workers),
            loader._worker_timeout, loader._numbers, self._progress.workers)
        self._next_worker = self._progress.next_worker
        self._could_fork = can_fork()
        self._finalizer = weakref.finalize(self, self._workers.end)
        try:
            self._workers.start()
            self._fill()
        except BaseException:
            self._finalizer()
            raise

    def has_ended(self) -> bool:
        return self._workers.has_ended()

    def _reset(self, loader: "DataLoader", first_iter: bool = False) -> None:
        """Begins the next epoch with the same workers."""
        self._progress = _Progress(_save_start(loader, True))
        super()._reset(loader, first_iter)
        self._workers.resume(self._shared_seed)
        self._next_worker = 0
        loader._progress = self._progress
        self._clock = Clock(loader._numbers)
        self._fill()

    def _fill(self) -> None:
        while self._add_task():
            pass

    def _add_task(self) -> bool:
        worker = self._workers.choose(self._next_worker)
        if worker is None:
            return False
        try:
            task = Task(self._next_index())
        except StopIteration:
            return False
        self._next_worker = worker.number + 1
        self._workers.add(worker, task)
        return True

    def _next_data(self) -> Any:
        while self._workers.n_tasks:
            worker, answer = self._workers.take(self._timeout)
            if answer.is_end:
                worker.is_active = False
                self._fill()
                continue
            self._advance(worker.number, answer)
            self._fill()
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

    def _advance(self, number: int, answer: Answer) -> None:
        progress = self._progress
        progress.n_yielded += 1
        if self._dataset_kind == _Kind.Iterable or answer.state is not None:
            workers = list(progress.workers or [Place()] * self._num_workers)
            workers[number] = workers[number].advance(answer)
            progress.workers = workers
            progress.next_worker = (number + 1) % self._num_workers


def _limit_ahead(prefetch_factor: int, n_workers: int) -> int:
    """The number of batches that each worker may be ahead. A descriptor of
    shared memory may be on its way for each. The kernel allows a user as many
    as open files, of which other loaders may need half."""
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, min(operator.index(prefetch_factor), _MAX_AHEAD,
                      n_files // 2 // n_workers))


def _make_job(loader: "DataLoader", iterator: Any) -> FetchJob:
    init_fn = loader.worker_init_fn
    if isinstance(loader.dataset, (torch.utils.data.IterDataPipe,
                                   torch.utils.data.MapDataPipe)):
        init_fn = functools.partial(
            torch_loader._sharding_worker_init_fn, init_fn,
            iterator._world_size, iterator._rank)
    return FetchJob(loader._dataset_kind, loader.dataset,
                    loader._auto_collation, loader.collate_fn,
                    loader.drop_last, init_fn)


class DataLoader(torch.utils.data.DataLoader):  # type: ignore[type-arg,misc]
    """torch.utils.data.DataLoader with the worker processes of this package.

        from gstspdl.torch import DataLoader

        loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4)
        for images, labels in loader:
            ...

    All arguments are those of PyTorch's class, of which this is a subclass. The
    batches are equal for equal seeds. Another process has the dataset and forks
    the workers. It is a fork of this one if this one has a single thread and has
    not initialized CUDA, else of a new interpreter, which unpickles the dataset.
    `multiprocessing_context` "spawn" or "forkserver" unpickles it in any case.
    Install cloudpickle for datasets and functions of the main module.

    A worker that ends is replaced, and its batches are fetched again. One that
    is stopped or hangs in the kernel for `worker_timeout` seconds is killed and
    replaced (0: no limit). state_dict() and load_state_dict() resume in the
    middle of an epoch. `stats` are statistics, and verdict() names the
    bottleneck.
    """

    _iterator: Any

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
        self._progress: Optional[_Progress] = None
        self._resumed: Optional[Dict[str, Any]] = None
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

    def _check(self) -> None:
        """Raises what PyTorch's iterators raise as they begin."""
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
        resumed, self._resumed = self._resumed, None
        if self.num_workers == 0:
            return _LocalIterator(self, resumed)
        iterator = self._iterator
        if iterator is not None and not iterator.has_ended():
            iterator._reset(self)
            return cast(Iterator[Any], iterator)
        if hasattr(self, "check_worker_number_rationality"):
            self.check_worker_number_rationality()
        made = _ProcessIterator(self, resumed)
        if self.persistent_workers:
            self._iterator = made
        return made

    def _get_template(self, job: FetchJob) -> _Template:
        """A process that has the dataset as it is now."""
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
                "have the dataset as it was in the last epoch: later changes "
                "to it have no effect in them", stacklevel=3)
            return last
        if last is None or not last.pickled or not pickled.is_same(
                last.pickled):
            self._template = last = _Template(pickled, self._worker_timeout)
        return last

    # Resuming

    def state_dict(self) -> Dict[str, Any]:
        """Returns the state after the last batch, for torch.save().

        A sampler must draw its random numbers from PyTorch's generators at the
        beginning of an epoch, as PyTorch's samplers do, or have state_dict()
        and load_state_dict(). An iterable dataset with these two methods
        resumes by them; others are iterated over up to the place."""
        if self._resumed is not None:
            return self._resumed
        progress = self._progress
        if progress is None or progress.is_done:
            return {"num_yielded": 0, "start": _save_start(self, False)}
        if not getattr(self, "in_order", True):
            raise ValueError("state_dict() in the middle of an epoch needs "
                             "in_order=True")
        workers = progress.workers
        fetcher = progress.fetcher
        if fetcher is not None:
            workers = [Place(progress.n_yielded, fetcher.dup_state(),
                             fetcher.has_ended())]
        return {"num_yielded": progress.n_yielded, "start": progress.start,
                "workers": [tuple(place) for place in workers],
                "next_worker": progress.next_worker}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Resumes at the next `for` from a state of state_dict(). A `for` that
        runs can go on."""
        # Persistent workers have fetched other batches. They end with their
        # iterator, which may be in use.
        self._iterator = None
        self._resumed = state

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
