# gst-spdl: worker processes of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import random
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import _utils, dataloader as torch_loader

from . import _native as native
from ._exchange import receive, send


@dataclass
class Begin:
    """The first message to a worker."""

    n_workers: int
    base_seed: int
    #: of datapipes
    shared_seed: Optional[int] = None
    #: batches that an iterable dataset has given already
    n_given: int = 0
    #: state of the dataset, from its state_dict()
    state: Any = None
    #: an iterable dataset has given its last batch
    has_ended: bool = False


@dataclass
class Task:
    """A batch to fetch: the indices that a sampler gave, or None for the next
    items of an iterable dataset."""

    index: Any


@dataclass
class Resume:
    """Begins the next epoch in a persistent worker."""

    shared_seed: Optional[int] = None


@dataclass
class Answer:
    """Result of a task."""

    data: Any = None
    #: an iterable dataset has no more
    is_end: bool = False
    #: state of the dataset after the batch
    state: Any = None
    #: an iterable dataset ended in the batch, and may have reset its state
    is_last: bool = False
    #: CPU time of the process so far, in s
    cpu_time: float = 0.0
    #: time that the task took, in s
    time: float = 0.0


@dataclass
class FetchJob:
    """Work of the workers of a loader. It is pickled once, for all of them."""

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Callable[..., Any]
    drop_last: bool
    init_fn: Optional[Callable[[int], None]]
    fetcher: Any = field(default=None, repr=False)

    def serve(self, link: int, number: int) -> None:
        _Worker(self, link, number).run()


class Fetcher:
    """Fetches batches, and knows the state of the dataset."""

    def __init__(self, job: FetchJob, dataset: Any,
                 state: Any = None, n_given: int = 0,
                 has_ended: bool = False) -> None:
        self._dataset = dataset
        if has_ended:
            state, n_given = None, 0
        if state is not None and hasattr(dataset, "load_state_dict"):
            dataset.load_state_dict(state)
            n_given = 0
        # pylint: disable=protected-access
        self._fetcher = torch_loader._DatasetKind.create_fetcher(
            job.kind, dataset, job.auto_collation, job.collate_fn,
            job.drop_last)
        self._iterator: Any = getattr(self._fetcher, "dataset_iter", None)
        if state is not None and hasattr(self._iterator, "load_state_dict"):
            self._iterator.load_state_dict(state)
            n_given = 0
        self._n_to_skip = n_given if self._iterator is not None else 0
        if has_ended:
            self._fetcher.ended = True

    def fetch(self, index: Any) -> Any:
        """Raises StopIteration at the end of an iterable dataset."""
        while self._n_to_skip > 0:
            self._n_to_skip -= 1
            for _ in index if isinstance(index, list) else (None,):
                self._skip()
        return self._fetcher.fetch(index)

    def has_ended(self) -> bool:
        return getattr(self._fetcher, "ended", False)

    def _skip(self) -> None:
        try:
            next(self._iterator)
        except Exception:
            # An error was raised before the state was saved, and ended the
            # iterator.
            self._n_to_skip = 0
            raise StopIteration from None

    def dup_state(self) -> Any:
        for owner in self._iterator, self._dataset:
            if hasattr(owner, "state_dict") and hasattr(owner,
                                                        "load_state_dict"):
                return owner.state_dict()
        return None


def seed_worker(base_seed: int, number: int) -> None:
    """Seeds as PyTorch's DataLoader does."""
    random.seed(base_seed + number)
    torch.manual_seed(base_seed + number)
    try:
        import numpy
    except ImportError:
        return
    # pylint: disable=protected-access
    numpy.random.seed(_utils.worker._generate_state(base_seed, number))


def apply_seed(dataset: Any, seed: Optional[int]) -> Any:
    """Seeds a datapipe."""
    if seed is None:
        return dataset
    from torch.utils.data import graph_settings

    generator = torch.Generator()
    generator.manual_seed(seed)
    return graph_settings.apply_random_seed(dataset, generator)


def _collate_into_own_memory() -> None:
    """Lets default_collate() allocate as in a trainer. In a worker, it would
    put batches into shared memory of PyTorch, from which they were copied to
    that of this package."""
    def allocate(kind: Any, size: int, *, device: Any = "cpu") -> Any:
        return kind(size, device=device)

    # pylint: disable=protected-access
    torch.storage._StorageBase._new_shared = classmethod(allocate)


class _Worker:
    def __init__(self, job: FetchJob, link: int, number: int) -> None:
        self._job = job
        self._link = link
        self._number = number
        self._fetcher: Optional[Fetcher] = None
        self._problem: Optional[ExceptionWrapper] = None
        self._has_ended = False

    def run(self) -> None:
        begin = receive(self._link)
        torch.set_num_threads(1)
        _collate_into_own_memory()
        seed_worker(begin.base_seed, self._number)
        dataset = apply_seed(self._job.dataset, begin.shared_seed)
        _utils.worker._worker_info = _utils.worker.WorkerInfo(
            id=self._number, num_workers=begin.n_workers,
            seed=begin.base_seed + self._number, dataset=dataset)
        try:
            if self._job.init_fn is not None:
                self._job.init_fn(self._number)
            self._fetcher = Fetcher(self._job, dataset, begin.state,
                                    begin.n_given, begin.has_ended)
        except Exception:
            self._problem = self._wrap()
        while True:
            message = receive(self._link)
            if isinstance(message, Resume):
                dataset = apply_seed(dataset, message.shared_seed)
                self._has_ended = False
                self._fetcher = Fetcher(self._job, dataset)
            else:
                self._answer(message)
            del message

    def _answer(self, task: Task) -> None:
        begun = time.perf_counter()
        answer = self._fetch(task.index)
        answer.time = time.perf_counter() - begun
        answer.cpu_time = time.process_time()
        try:
            send(self._link, answer)
        except native.Error:
            raise  # the trainer has ended
        except Exception:
            # It cannot be pickled.
            send(self._link, Answer(self._wrap()))

    def _fetch(self, index: Any) -> Answer:
        if self._problem is not None:
            problem, self._problem = self._problem, None
            return Answer(problem)
        if self._has_ended or self._fetcher is None:
            return Answer(is_end=True)
        fetcher = self._fetcher
        try:
            data = fetcher.fetch(index)
            return Answer(data, state=fetcher.dup_state(),
                          is_last=fetcher.has_ended())
        except Exception as error:
            if (isinstance(error, StopIteration) and
                    self._job.kind == torch_loader._DatasetKind.Iterable):
                self._has_ended = True
                return Answer(is_end=True)
            failed = Answer(self._wrap())
            with contextlib.suppress(Exception):  # it may be what failed
                failed.state = fetcher.dup_state()
            return failed

    def _wrap(self) -> ExceptionWrapper:
        return ExceptionWrapper(
            where=f"in DataLoader worker process {self._number}")
