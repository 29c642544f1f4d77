# gst-spdl: worker processes of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import random
import time
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import _utils, dataloader as torch_loader

from .._native import library as native
from .exchange import receive, send


class Place(NamedTuple):
    """Progress of a worker in an epoch."""

    #: batches that it gave
    n_given: int = 0
    #: state of the dataset after these, from its state_dict()
    state: Any = None
    #: an iterable dataset has no more
    has_ended: bool = False
    #: state of the dataset's iterator
    iterator_state: Any = None

    def has_state(self) -> bool:
        return self.state is not None or self.iterator_state is not None

    def advance(self, answer: "Answer") -> "Place":
        """The place after an answer of the worker."""
        if answer.is_end:
            return (Place(self.n_given, answer.state, True) if answer.is_last
                    else self)
        return Place(self.n_given + 1, answer.state, answer.is_last,
                     answer.iterator_state)

    def begin_epoch(self) -> "Place":
        """The place at the beginning of the next epoch. The dataset may know
        the number of the epoch."""
        return Place(state=self.state)


@dataclass
class Begin:
    """The first message to a worker."""

    n_workers: int
    base_seed: int
    #: of datapipes
    shared_seed: Optional[int] = None
    #: where to begin
    place: Place = Place()


@dataclass
class Task:
    """A batch to fetch: the indices that a sampler gave, or None for the next
    items of an iterable dataset."""

    index: Any
    #: of the batch in the order of the sampler
    number: int = 0


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
    #: state of the dataset's iterator
    iterator_state: Any = None
    #: an iterable dataset ended in the batch, or before it with is_end, and may
    #: have reset its state
    is_last: bool = False
    #: CPU time of the process so far, in s
    cpu_time: float = 0.0
    #: time that the task took, in s
    time: float = 0.0
    #: of the task, which the trainer notes
    number: int = 0


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


def dup_state(owner: Any) -> Any:
    """Returns the state of an object that has one."""
    if hasattr(owner, "state_dict") and hasattr(owner, "load_state_dict"):
        return owner.state_dict()
    return None


def load_state(owner: Any, state: Any) -> bool:
    """Loads a state. Returns True if this has set PyTorch's random numbers."""
    before = torch.get_rng_state()
    # Else nobody could see that it sets the numbers that are set already.
    seed = int(torch.randint(1 << 62, ()))
    mark = torch.Generator().manual_seed(seed).get_state()
    torch.set_rng_state(mark)
    owner.load_state_dict(state)
    if not torch.equal(mark, torch.get_rng_state()):
        return True
    torch.set_rng_state(before)
    return False


class Fetcher:
    """Fetches batches, and knows the state of the dataset."""

    def __init__(self, job: FetchJob, dataset: Any,
                 place: Place = Place()) -> None:
        #: a state that was loaded has set the random numbers of PyTorch
        self.has_seeded = False
        self._dataset = dataset
        resumes = self._load(dataset, place.state)
        # pylint: disable=protected-access
        self._fetcher = torch_loader._DatasetKind.create_fetcher(
            job.kind, dataset, job.auto_collation, job.collate_fn,
            job.drop_last)
        self._iterator: Any = getattr(self._fetcher, "dataset_iter", None)
        resumes |= self._load(self._iterator, place.iterator_state)
        self._n_to_skip = 0
        if place.has_ended:
            self._fetcher.ended = True
        elif self._iterator is not None and not resumes:
            self._n_to_skip = place.n_given

    def _load(self, owner: Any, state: Any) -> bool:
        if state is None or not hasattr(owner, "load_state_dict"):
            return False
        self.has_seeded |= load_state(owner, state)
        return True

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

    def note_states(self, answer: Answer) -> None:
        """Adds the states to an answer. The state of an iterator is loaded after
        iter(), which may reset a dataset that is its own iterator."""
        if self._iterator is not self._dataset:
            answer.state = dup_state(self._dataset)
        answer.iterator_state = dup_state(self._iterator)

    def note_end(self, answer: Answer) -> None:
        """Adds the state of the dataset after its last item."""
        answer.state = dup_state(self._dataset)
        answer.is_last = True

    def find_place(self, n_given: int) -> Place:
        answer = Answer()
        self.note_states(answer)
        return Place(n_given, answer.state, self.has_ended(),
                     answer.iterator_state)


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
    """Lets default_collate() allocate memory as in a trainer. In a worker, it would
    put batches into shared memory of PyTorch, from which they would be copied to
    the shared memory of this package."""
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
        # The last batch failed.
        self._has_failed = False

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
            self._fetcher = Fetcher(self._job, dataset, begin.place)
        except Exception:
            self._problem = self._wrap()
        while True:
            message = receive(self._link)
            if isinstance(message, Resume):
                dataset = apply_seed(dataset, message.shared_seed)
                self._has_ended = self._has_failed = False
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
        answer = Answer()
        try:
            try:
                answer.data = fetcher.fetch(index)
            except StopIteration:
                if self._job.kind != torch_loader._DatasetKind.Iterable:
                    raise
                return self._end(fetcher)
            answer.is_last = fetcher.has_ended()
            fetcher.note_states(answer)
            self._has_failed = False
        except Exception:
            self._has_failed = True
            answer = Answer(self._wrap())
            with contextlib.suppress(Exception):  # it may be what failed
                fetcher.note_states(answer)
        return answer

    def _end(self, fetcher: Fetcher) -> Answer:
        self._has_ended = True
        answer = Answer(is_end=True)
        if not self._has_failed:  # else its state is that of the failure
            fetcher.note_end(answer)
        return answer

    def _wrap(self) -> ExceptionWrapper:
        return ExceptionWrapper(
            where=f"in DataLoader worker process {self._number}")
