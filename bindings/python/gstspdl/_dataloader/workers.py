# gst-spdl: worker processes of an iterator of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import dataclasses
import math
import os
import select
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple

from torch._utils import ExceptionWrapper

from .._media.sample import Sample
from .._native import library as native
from .._processes.silence import get_interval
from .._processes.worker import is_closed
from .exchange import load, receive_sample, send
from .fetch import Answer, Begin, Place, Resume, Task
from .process import WorkerProcess
from .stats import Numbers

# Time for all workers of an iterator to end by themselves, in s.
_GRACE = 1.0
# A batch at which this number of workers ended is given up.
_MAX_DEATHS = 2


@dataclass(eq=False)
class Worker:
    """A worker process and its tasks."""

    number: int
    link: int = 0
    process: WorkerProcess = field(default_factory=WorkerProcess)
    #: without an answer
    tasks: Deque[Task] = field(default_factory=deque)
    #: tasks whose answer was not taken
    n_ahead: int = 0
    #: of an answer that was not unpickled
    received: Optional[Sample] = None
    #: an iterable dataset may have more
    is_active: bool = True
    place: Place = Place()
    #: workers that ended at the first task
    n_deaths: int = 0
    #: why it was killed
    stall: Optional[str] = None
    cpu_time: float = 0.0


class Workers:
    """The worker processes. Answers are taken in the order of their tasks, or as
    they arrive. An answer stays in its worker's socket and in shared memory
    until it is taken."""

    def __init__(self, template: Any, begin: Begin, in_order: bool,
                 max_ahead: int, worker_timeout: float, numbers: Numbers,
                 saved: Sequence[Place] = ()) -> None:
        """@template: the process that forks workers
        @begin: the first message to each worker
        @max_ahead: tasks of a worker whose answer was not taken
        @worker_timeout: time without progress after which a worker is killed
        @saved: where each worker begins"""
        self._template = template
        self._begin = begin
        self._in_order = in_order
        self._max_ahead = max_ahead
        self._interval = get_interval(worker_timeout)
        self._numbers = numbers
        self._owner = os.getpid()
        self._workers = [Worker(k) for k in range(begin.n_workers)]
        for worker, place in zip(self._workers, saved):
            worker.place = place
        #: of the tasks without an answer, in their order
        self._order: Deque[Worker] = deque()
        self._is_stopped = False
        self._error: Optional[Exception] = None

    @property
    def n_tasks(self) -> int:
        """Tasks whose answer was not taken."""
        return sum(worker.n_ahead for worker in self._workers)

    def start(self) -> None:
        self._template.wait()
        for worker in self._workers:
            self._fork(worker)

    def has_ended(self) -> bool:
        """True if the workers have ended. Also True in a forked child of the
        process that started them."""
        return self._is_stopped or os.getpid() != self._owner

    def end(self) -> None:
        """Ends the workers, in the process that started them."""
        if os.getpid() == self._owner:
            self._is_stopped = True
            self._end_all()

    def _end_all(self) -> None:
        running = [worker for worker in self._workers if worker.link]
        for worker in running:
            native.process_link_free(worker.link)
            worker.link = 0
        end = time.monotonic() + _GRACE
        with self._template.hurry():
            for worker in running:
                self._collect(worker, time.monotonic() > end)

    def _collect(self, worker: Worker, kill_now: bool) -> str:
        """Waits for the end of a process. Returns how it ended."""
        ending, status = native.fork_server_end(
            self._template.pointer, worker.process.pid, kill_now)
        worker.process.note_end(status)
        return ending

    def list_processes(self) -> List[WorkerProcess]:
        return [worker.process for worker in self._workers]

    def resume(self, shared_seed: Optional[int]) -> List[Place]:
        """Begins the next epoch. Returns where the workers begin."""
        while self.n_tasks:  # of an epoch that was left
            self.take(0)
        self._begin.shared_seed = shared_seed
        for worker in self._workers:
            worker.is_active = True
            worker.place = worker.place.begin_epoch()
            self._send(worker, Resume(shared_seed))
        return [worker.place for worker in self._workers]

    def choose(self, first: int) -> Optional[Worker]:
        """Returns the worker for the next task, and looks first at the number
        `first`. Returns None if all workers have no more tasks or are far enough
        ahead."""
        n = len(self._workers)
        order = [self._workers[(first + i) % n] for i in range(n)]
        active = [worker for worker in order if worker.is_active]
        if self._in_order:
            del active[1:]
        free = [worker for worker in active if worker.n_ahead < self._max_ahead]
        if not free:
            return None
        return min(free, key=lambda worker: len(worker.tasks))

    def add(self, worker: Worker, task: Task) -> None:
        """Gives a worker a task."""
        self._send(worker, task)  # no answer is expected if this raises
        worker.n_ahead += 1
        worker.tasks.append(task)
        self._order.append(worker)

    def take(self, timeout: float) -> Tuple[Worker, Answer]:
        """Waits for the next answer.

        @timeout: in s, 0: none"""
        self._check()
        found = None
        while found is None:
            worker = self._wait(self._list_due(), timeout)
            found = self._receive(worker) if worker else None
        found[0].n_ahead -= 1
        return found

    def _check(self) -> None:
        if os.getpid() != self._owner:
            raise RuntimeError("DataLoader workers belong to the parent of this "
                               "process: call iter() of the loader again")
        if self._error is not None:
            raise self._error
        if self._is_stopped:
            raise RuntimeError("the DataLoader workers of this iterator have "
                               "ended: call iter() of the loader again")

    # Processes

    def _fork(self, worker: Worker) -> None:
        try:
            worker.link, pid = native.fork_server_begin(
                self._template.pointer, worker.number)
            worker.process = WorkerProcess(pid, worker.number)
        except native.Error as error:
            raise RuntimeError("DataLoader cannot start a worker process: "
                               f"{error.message}") from None
        self._send(worker, dataclasses.replace(self._begin,
                                               place=worker.place))

    def _send(self, worker: Worker, message: Any) -> None:
        if not worker.link or self._is_stopped:
            return  # take() raises
        try:
            send(worker.link, message)
        except native.Error as error:
            if is_closed(error):
                return  # the next _receive() finds it
            self._is_stopped = True
            self._error = RuntimeError(
                "DataLoader cannot send a request to worker "
                f"{worker.number}: {error.message}. Set a smaller "
                "prefetch_factor or fewer workers, also in other loaders of "
                "this user, or raise the limit of open files (ulimit -n)")
            raise self._error from None

    def _replace(self, worker: Worker) -> None:
        """Starts another process, which repeats the tasks of a process that has
        ended."""
        native.process_link_free(worker.link)
        worker.link = 0
        worker.n_deaths += 1
        try:
            ending = self._collect(worker, True)
            if worker.stall:
                ending, worker.stall = worker.stall, None
            if worker.n_deaths >= _MAX_DEATHS:
                raise RuntimeError(
                    f"DataLoader worker (pid(s) {worker.process.pid}) exited "
                    f"unexpectedly: it {ending}, as an earlier worker did at "
                    "the same batch. If memory is short, use fewer workers or "
                    "smaller batches")
            self._numbers.n_restarts += 1
            self._fork(worker)
            for task in worker.tasks:
                self._send(worker, task)
        except BaseException as error:
            if isinstance(error, Exception):
                self._error = error
            self.end()
            raise

    # Answers

    def _list_due(self) -> List[Worker]:
        """The workers whose answer may be taken next."""
        if self._in_order:
            return [self._order[0]]
        return [worker for worker in self._workers if worker.tasks]

    def _wait(self, workers: List[Worker], timeout: float,
              wake: int = -1) -> Optional[Worker]:
        """Waits until one of the workers has something to receive, and returns it.
        Returns None if the pipe `wake` has something first."""
        for worker in workers:
            if worker.received is not None or worker.stall:
                return worker
        poll = select.poll()
        by_socket: Dict[int, Worker] = {}
        for worker in workers:
            socket = native.process_link_get_socket(worker.link)
            by_socket[socket] = worker
            poll.register(socket, select.POLLIN)
        if wake >= 0:
            poll.register(wake, select.POLLIN)
        end = time.monotonic() + timeout
        is_first = True
        while True:
            left = max(end - time.monotonic(), 0) if timeout > 0 else math.inf
            ready = poll.poll(1000 * min(left, self._interval))
            if ready:
                return by_socket.get(ready[0][0])
            if left < self._interval:
                raise RuntimeError(
                    f"DataLoader timed out after {timeout} seconds")
            self._look(is_first)
            is_first = False
            for worker in workers:
                if worker.stall:
                    return worker

    def _look(self, is_first: bool) -> None:
        """Kills workers that make no progress."""
        for worker in self._workers:
            if worker.tasks and worker.link and not worker.stall:
                worker.stall = native.process_link_look(worker.link, is_first)

    def _receive(self, worker: Worker) -> Optional[Tuple[Worker, Answer]]:
        """Receives the answer to a worker's first task. Returns None if the worker
        has ended and another one begins the task."""
        if worker.stall and worker.received is None:
            self._replace(worker)
            return None
        try:
            if worker.received is None:
                worker.received = receive_sample(worker.link)
        except native.Error:
            self._replace(worker)
            return None
        # If Ctrl-C interrupts this, the next call repeats it.
        answer = self._load(worker, worker.received)
        worker.received = None
        answer.number = worker.tasks.popleft().number
        self._order.remove(worker)
        worker.n_deaths = 0
        worker.place = worker.place.advance(answer)
        self._numbers.cpu_time += answer.cpu_time - worker.cpu_time
        worker.cpu_time = answer.cpu_time
        self._numbers.note(answer)
        return worker, answer

    def _load(self, worker: Worker, sample: Sample) -> Answer:
        try:
            answer: Answer = load(sample)
            return answer
        except Exception:
            return Answer(ExceptionWrapper(
                where=f"from DataLoader worker process {worker.number}"),
                cpu_time=worker.cpu_time)
