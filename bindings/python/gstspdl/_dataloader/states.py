# gst-spdl: states of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A state is plain data for json.dumps() if the states of the dataset and the
samplers are plain data."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Set

import torch
from torch.utils.data import dataloader as torch_loader

from .fetch import Fetcher, Place, dup_state

State = Dict[str, Any]


def _encode(numbers: torch.Tensor) -> str:
    return base64.b64encode(numbers.numpy().tobytes()).decode("ascii")


def _decode(text: str) -> torch.Tensor:
    return torch.frombuffer(bytearray(base64.b64decode(text)),
                            dtype=torch.uint8)


@dataclass
class Progress:
    """Progress of an epoch."""

    #: random numbers and samplers at its beginning
    start: State
    n_yielded: int = 0
    #: numbers of batches that came before an earlier one, with in_order=False
    given: Set[int] = field(default_factory=set)
    #: of each worker, or of this process without workers
    workers: List[Place] = field(default_factory=list)
    #: begun by persistent workers, which draw no new seed
    is_reset: bool = False
    is_local: bool = False
    #: without workers: asks the dataset for its state
    fetcher: Optional[Fetcher] = None
    next_worker: int = 0
    is_done: bool = False

    @property
    def first(self) -> int:
        """Number of the first batch that was not returned. Batches of iterable
        datasets have no numbers."""
        return self.n_yielded - len(self.given)

    def note(self, number: int) -> None:
        """Counts a batch, by its number."""
        first = self.first
        self.n_yielded += 1
        self.given.add(number)
        while first in self.given:
            self.given.remove(first)
            first += 1

    def save(self) -> State:
        if self.fetcher is not None:
            self.workers = [self.fetcher.find_place(self.n_yielded)]
        return {"num_yielded": self.n_yielded, "given": sorted(self.given),
                "next_worker": self.next_worker, "start": dict(self.start),
                "is_reset": self.is_reset, "is_between": self.is_done,
                **_save_places(self.workers, self.is_local)}


# The places of workers have the names that torchdata gives them.

def _save_places(places: Sequence[Place], is_local: bool) -> State:
    saved = [{"num_yielded": place.n_given, "dataset_state": place.state,
              "fetcher_state": {"dataset_iter_state": place.iterator_state,
                                "fetcher_ended": place.has_ended}}
             for place in places]
    if is_local:
        return saved[0]
    return {"_snapshot": {"_worker_snapshots": {
        f"worker_{k}": place for k, place in enumerate(saved)}}}


def _load_place(saved: State) -> Place:
    fetcher = saved["fetcher_state"]
    return Place(saved["num_yielded"], saved["dataset_state"],
                 fetcher["fetcher_ended"], fetcher["dataset_iter_state"])


def _load_places(state: State) -> List[Place]:
    if "_snapshot" in state:
        saved = state["_snapshot"]["_worker_snapshots"]
        return [_load_place(saved[f"worker_{k}"]) for k in range(len(saved))]
    return [_load_place(state)] if "fetcher_state" in state else []


def save_between_epochs(loader: Any, progress: Optional[Progress]) -> State:
    """Saves the state before the first epoch, or between two epochs.

    `progress`: progress of persistent workers"""
    places = [Place()] * loader.num_workers
    if loader.num_workers == 0:
        places = [Place(state=dup_state(loader.dataset))]
    elif progress is not None:
        places = [place.begin_epoch() for place in progress.workers]
    return Progress(save_start(loader), workers=places, is_done=True,
                    is_reset=progress is not None,
                    is_local=loader.num_workers == 0).save()


def check(state: State) -> None:
    if state and "num_yielded" not in state:
        raise ValueError(
            "load_state_dict() needs a state of gstspdl.torch.DataLoader, not a "
            "state of another class with "
            f"{', '.join(map(str, state))}: begin a new epoch instead")


def load_places(state: State, n_workers: int,
                is_iterable: bool) -> List[Place]:
    """Returns where each worker begins."""
    places = _load_places(state)
    n = max(n_workers, 1)
    if len(places) == n:
        return places
    if any(place.has_state() or (is_iterable and place != Place())
           for place in places):
        raise ValueError(
            f"the state was saved with num_workers={len(places)}, not "
            f"{n_workers}: an iterable dataset, or one with "
            "state_dict(), must resume with the same number")
    return [Place()] * n


# The beginning of an epoch

def describe(begun: Sequence[Any]) -> Optional[str]:
    """Describes the first batch of a sampler, to compare it with that of another
    run. None if there is no batch, or no text for it."""
    try:
        return hashlib.blake2b(json.dumps(begun[0]).encode(),
                               digest_size=8).hexdigest()
    except (IndexError, TypeError, ValueError):
        return None


def is_first(begun: Sequence[Any], first: Optional[str]) -> bool:
    return bool(begun) and first in (None, describe(begun))


def check_first(begun: Sequence[Any], first: Optional[str]) -> None:
    if first is not None and not is_first(begun, first):
        raise ValueError(
            "the sampler does not begin with the batch of the saved run: "
            "load_state_dict() needs the same dataset and batch_size, and a "
            "sampler that draws its random numbers from PyTorch's generators at "
            "the beginning of an epoch, or has state_dict() and load_state_dict()")


def _list_samplers(loader: Any) -> Dict[str, Any]:
    if loader._dataset_kind == torch_loader._DatasetKind.Iterable:
        return {}
    found = {"sampler": loader.sampler, "batch_sampler": loader.batch_sampler}
    return {name: sampler for name, sampler in found.items()
            if sampler is not None}


def save_start(loader: Any) -> State:
    """Saves the state on which the order of an epoch depends, including that of
    PyTorch's default generator, which is used without a generator."""
    start: State = {}
    if isinstance(loader.generator, torch.Generator):
        start["generator"] = _encode(loader.generator.get_state())
    else:
        start["default_generator"] = _encode(torch.get_rng_state())
    for name, sampler in _list_samplers(loader).items():
        generator = getattr(sampler, "generator", None)
        if (isinstance(generator, torch.Generator) and
                generator is not loader.generator):
            start[name + ".generator"] = _encode(generator.get_state())
        if hasattr(sampler, "set_epoch") and hasattr(sampler, "epoch"):
            start[name + ".epoch"] = sampler.epoch
        state = dup_state(sampler)
        if state is not None:
            start[name] = state
    return start


def restore_start(loader: Any, start: State) -> None:
    if "generator" in start and loader.generator is not None:
        loader.generator.set_state(_decode(start["generator"]))
    for name, sampler in _list_samplers(loader).items():
        if name + ".generator" in start:
            sampler.generator.set_state(_decode(start[name + ".generator"]))
        if name + ".epoch" in start:
            sampler.set_epoch(start[name + ".epoch"])
        if name in start:
            sampler.load_state_dict(start[name])


def restore_default_generator(start: State) -> Optional[torch.Tensor]:
    """Returns the state of the program's generators, to restore it later. None if
    it is equal to the saved one: this run then repeats the saved run."""
    if "default_generator" not in start:
        return None
    outer = torch.get_rng_state()
    saved = _decode(start["default_generator"])
    if torch.equal(outer, saved):
        return None
    torch.set_rng_state(saved)
    return outer
