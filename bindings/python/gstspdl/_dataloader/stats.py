# gst-spdl: statistics and bottleneck of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import time
from dataclasses import dataclass
from typing import Any, Dict, Optional

from torch._utils import ExceptionWrapper

from .._native import library as native
from .fetch import Answer

# Fewer batches than this give no verdict.
_MIN_BATCHES = 20
# Share of the time below which faster loading gains nothing, as for headspace().
_LOW_WAIT = 0.05
# Share of the time below which workers do not limit the rate.
_LOW_BUSY = 0.25
# Share of the time of tasks above which they compute.
_COMPUTING = 0.7


@dataclass(frozen=True)
class Verdict:
    """The bottleneck of a DataLoader.

    `limit`: "too-few" batches; "consumer", the trainer; "balanced" if neither the
    trainer nor the workers are busy; or the state of the workers: "computing",
    "cores" if they compute on all cores, or "waiting".
    `wait`: share of the time that the trainer waits for batches, from 0 to 1.
    `busy`: share of the time that workers fetch.
    `suggestion`: the suggested change.
    """

    limit: str
    wait: float
    busy: float
    suggestion: str

    def __str__(self) -> str:
        if self.limit == "too-few":
            return self.suggestion
        subject = {"consumer": "The trainer",
                   "balanced": "The transfer of batches"}.get(
                       self.limit, "The dataset")
        return (f"{subject} is the bottleneck: the trainer waits for batches "
                f"{100 * self.wait:.0f} % of the time, workers are busy "
                f"{100 * self.busy:.0f} %. {self.suggestion}")


class Numbers:
    """Counts and times in s of all epochs."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.n_batches = 0
        self.n_tasks = 0
        self.n_failures = 0
        self.n_restarts = 0
        #: of tasks, in workers or, without any, in the trainer
        self.time = 0.0
        self.cpu_time = 0.0
        #: for batches, and for the first one of each epoch
        self.waited = 0.0
        self.waited_first = 0.0
        #: between batches
        self.step_time = 0.0

    def note(self, answer: Answer) -> None:
        self.n_tasks += 1
        self.time += answer.time
        self.n_failures += isinstance(answer.data, ExceptionWrapper)

    def list_stats(self, n_workers: int) -> Dict[str, Any]:
        return {
            "stage": "dataset",
            "concurrency": max(n_workers, 1),
            "elapsed": int(1e9 * (time.monotonic() - self.begun)),
            "num-batches": self.n_batches,
            "num-tasks": self.n_tasks,
            "num-failures": self.n_failures,
            "num-restarts": self.n_restarts,
            "ave-time": int(1e9 * self.time / max(self.n_tasks, 1)),
            "busy-time": int(1e9 * self.time),
            "cpu-time": int(1e9 * self.cpu_time),
            "wait-time": int(1e9 * self.waited),
            "first-wait-time": int(1e9 * self.waited_first),
            "step-time": int(1e9 * self.step_time),
        }

    def judge(self, n_workers: int) -> Verdict:
        # The first batch of an epoch waits for the start of workers.
        waited = self.waited - self.waited_first
        total = max(waited + self.step_time, 1e-9)
        wait = waited / total
        busy = min(self.time / (max(n_workers, 1) * total), 1.0)
        limit, suggestion = self._find_limit(n_workers, wait, busy)
        return Verdict(limit, wait, busy, suggestion)

    def _find_limit(self, n_workers: int, wait: float,
                    busy: float) -> "tuple[str, str]":
        if self.n_batches < _MIN_BATCHES:
            return "too-few", (
                f"A verdict needs at least {_MIN_BATCHES} batches: "
                f"{self.n_batches} have arrived")
        if wait < _LOW_WAIT:
            return "consumer", "Faster loading would gain nothing"
        if n_workers == 0:
            return "computing", ("Set num_workers, so that batches are fetched "
                                 "while the trainer works")
        if busy < _LOW_BUSY:
            return "balanced", ("Neither the workers nor the trainer are busy: "
                                "use larger batches, or fewer tensors in each")
        if self.cpu_time < _COMPUTING * self.time:
            return "waiting", ("Workers wait, for example for a disk or for "
                               "other programs: set num_workers to more than "
                               f"{n_workers}")
        n_cores = native.get_num_cores()
        if n_workers < n_cores:
            return "computing", (f"Set num_workers to {n_workers + 1} or more, "
                                 f"up to the {n_cores} cores")
        return "cores", (f"Workers compute on all {n_cores} cores: make "
                         "__getitem__() faster, or decode with a pipeline of "
                         "this package")


class Clock:
    """Times of the thread that takes the batches of an epoch."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self._begun = 0.0
        self._ended: Optional[float] = None

    def begin_wait(self) -> None:
        self._begun = time.monotonic()
        if self._ended is not None:
            self.numbers.step_time += self._begun - self._ended

    def end_wait(self) -> None:
        now = time.monotonic()
        self.numbers.waited += now - self._begun
        if self._ended is None:
            self.numbers.waited_first += now - self._begun
        self._ended = now
