# gst-spdl: speed-up that loading without cost would bring
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import time
from dataclasses import dataclass
from statistics import median
from typing import (Callable, Generic, Iterable, Iterator, List, Tuple,
                    TypeVar)

from .cache import check_count, copy_item

Item = TypeVar("Item")

# The same as in gst-spdl-launch-1.0 --headspace.
_WORTH_IT = 0.10
_NONE = 0.05
# A step that takes this much longer while loading runs is slowed down by it.
_SLOW_STEP = 1.1

_WORDS = {
    "stop": "stop here, loading is not the bottleneck",
    "small": "the gain is small, optimize other parts first",
    "worth-it": "loading is worth optimizing",
}


def _advice_for(gain: float) -> str:
    if gain < _NONE:
        return "stop"
    return "small" if gain <= _WORTH_IT else "worth-it"


def _describe(times: Tuple[float, ...]) -> str:
    middle, least, most = (f"{1e3 * value:.3g} ms" for value in (
        median(times), min(times), max(times)))
    return f"{middle} ({least} to {most})"


@dataclass(frozen=True)
class Headspace:
    """Result of headspace(): what perfect loading would save. str() describes
    it in a sentence. All times are in seconds."""

    #: time per batch with the loader, for each round
    base_times: Tuple[float, ...]
    #: time per batch from memory, for each round
    cached_times: Tuple[float, ...]
    #: median time of the step alone with the loader, for each round
    base_steps: Tuple[float, ...]
    #: median time of the step alone from memory, for each round
    cached_steps: Tuple[float, ...]

    @property
    def base(self) -> float:
        """Time per batch with the loader, the median of the rounds."""
        return median(self.base_times)

    @property
    def cached(self) -> float:
        """Time per batch from memory, the median of the rounds."""
        return median(self.cached_times)

    @property
    def gain(self) -> float:
        """Share of the time that perfect loading would save, from 0 to 1."""
        return (self.base - self.cached) / self.base

    @property
    def gains(self) -> Tuple[float, ...]:
        """The gain in each round."""
        return tuple((base - cached) / base for base, cached in zip(
            self.base_times, self.cached_times))

    @property
    def advice(self) -> str:
        """"stop" for a gain below 5 %, "worth-it" above 10 %, "small" in
        between."""
        return _advice_for(self.gain)

    @property
    def agrees(self) -> bool:
        """True if all rounds give the same advice."""
        return all(_advice_for(gain) == self.advice for gain in self.gains)

    @property
    def slows_step(self) -> bool:
        """True if the step itself takes more than 1.1 times as long while
        loading runs. The time that a trainer waits does not show this."""
        return (median(self.base_steps)
                > _SLOW_STEP * median(self.cached_steps))

    def __str__(self) -> str:
        text = (f"a batch takes {_describe(self.base_times)} with loading and "
                f"{_describe(self.cached_times)} from memory, so perfect "
                f"loading would save {100 * self.gain:.1f} % "
                f"({100 * min(self.gains):.1f} to "
                f"{100 * max(self.gains):.1f}) of the time: "
                f"{_WORDS[self.advice]}")
        if not self.agrees:
            text += "; but the rounds disagree: use more rounds"
        if self.slows_step:
            text += ("; the step itself takes "
                     f"{1e3 * median(self.base_steps):.3g} ms with loading and "
                     f"{1e3 * median(self.cached_steps):.3g} ms from memory: "
                     "loading slows the step down, in addition to the "
                     "waiting")
        return text


def _repeat(loader: Iterable[Item]) -> Iterator[Item]:
    """Repeats passes over the loader."""
    while True:
        empty = True
        for batch in loader:
            empty = False
            yield batch
        if empty:
            raise ValueError("the loader returned no batch in a second pass: "
                             "use an iterable that can be repeated")


class _Trainer(Generic[Item]):
    """Takes batches and times its steps."""

    def __init__(self, loader: Iterable[Item],
                 step: Callable[[Item], object], num_caches: int,
                 settle: float) -> None:
        self._batches = _repeat(loader)
        self._step = step
        self._num_caches = num_caches
        self._settle = settle
        self._caches: List[Item] = []
        self._next = 0

    def _take(self) -> Tuple[float, float]:
        """Takes a batch from the loader. Returns the total time and the time of the
        step."""
        begun = time.perf_counter()
        batch = next(self._batches)
        came = time.perf_counter()
        # The copy does not belong to the step, which may overwrite the batch.
        if len(self._caches) < self._num_caches:
            self._caches.append(copy_item(batch))
        copied = time.perf_counter()
        self._step(batch)
        step = time.perf_counter() - copied
        return came - begun + step, step

    def _take_cached(self) -> Tuple[float, float]:
        batch: Item = copy_item(self._caches[self._next % len(self._caches)])
        self._next += 1
        begun = time.perf_counter()
        self._step(batch)
        step = time.perf_counter() - begun
        return step, step

    def measure(self, cached: bool, n: int) -> Tuple[float, float]:
        """Returns the seconds per batch and the median of the steps. Before it
        measures, it runs until queues that the other mode filled or emptied
        have settled."""
        take = self._take_cached if cached else self._take
        settled = time.perf_counter() + self._settle
        n_settled = 0
        while n_settled < self._num_caches or time.perf_counter() < settled:
            take()
            n_settled += 1
        taken = [take() for _ in range(n)]
        return (sum(whole for whole, _ in taken) / n,
                median(step for _, step in taken))


def headspace(loader: Iterable[Item], step: Callable[[Item], object], *,
              num_caches: int = 10, batches: int = 100, rounds: int = 3,
              settle: float = 1.0) -> Headspace:
    """Measures how much time perfect loading would save.

        result = headspace(loader, train_step)
        print(result.gain, result.advice)

    `loader`: any iterable that starts again with each `for`: a Loader, a
    Dataset, a DataLoader.
    `step`: function that trains with a batch. It must be complete when it
    returns: on a GPU, end it with torch.cuda.synchronize(). Its return value
    is ignored, and an exception ends the measurement.
    `num_caches`: number of batches to copy into memory.
    `batches`: number of batches per turn.
    `rounds`: number of rounds. A round is a turn with batches of the loader,
    and a turn with copies from memory.
    `settle`: seconds at the beginning of each turn that do not count, and in which
    at least `num_caches` batches are taken. Choose a longer time than emptying full
    queues takes.

    Returns a Headspace. Raises ValueError if a number is below 1, or if
    `loader` returns nothing in a second pass.
    """
    check_count("num_caches", num_caches, 1)
    check_count("batches", batches, 1)
    check_count("rounds", rounds, 1)
    trainer = _Trainer(loader, step, num_caches, settle)
    base: List[Tuple[float, float]] = []
    cached: List[Tuple[float, float]] = []
    # The first turn fills the cache.
    trainer.measure(False, 1)
    for i in range(rounds):
        for from_cache in ((False, True) if i % 2 == 0 else (True, False)):
            (cached if from_cache else base).append(
                trainer.measure(from_cache, batches))
    return Headspace(*(tuple(pair[k] for pair in pairs)
                       for k in (0, 1) for pairs in (base, cached)))
