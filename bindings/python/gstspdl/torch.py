# gst-spdl: a loader as PyTorch's users know one
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pipeline as an IterableDataset.

    from gstspdl.torch import Dataset

    dataset = Dataset("spdlsrc location=photos label=folder shuffle=true "
                      "! spdlfetch ! spdldecode width=224 height=224 "
                      "! spdlbatch batch-size=32 dtype=float32 layout=nchw ! spdlsink")
    for epoch in range(90):
        for batch in dataset:               # {"data": ..., "labels": ...}
            train(batch["data"], batch["labels"])
        torch.save({"model": ..., "data": dataset.state_dict()}, "checkpoint")

It gives whole batches, by threads of its own. Where a DataLoader has to be
around it: DataLoader(dataset, batch_size=None, num_workers=0).
"""

from typing import (Any, Dict, Iterable, Iterator, List, Optional, Tuple,
                    TypeVar)

import torch
import torch.distributed
import torch.utils.data

from ._batch import Batch
from ._errors import LoaderError
from ._loader import Loader
from ._losses import LoaderWarning

TorchBatch = Dict[str, torch.Tensor]
Step = TypeVar("Step")


def _place() -> Tuple[int, int]:
    """Rank and world size; -1 leaves them to the environment."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return -1, -1


_NO_WORKERS = (
    "The dataset has threads of its own, which no worker process can share: "
    "use it without a DataLoader, or with "
    "DataLoader(dataset, batch_size=None, num_workers=0)")

# Of a rank whose loader fails; more than there are ranks.
_FAILED = 1 << 20


def _sum_over_ranks(value: int) -> int:
    distributed = torch.distributed
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    total = torch.tensor(value, device=device)
    distributed.all_reduce(total)
    return int(total)


def in_step(batches: Iterable[Step], *,
            shortest: bool = False) -> Iterator[Optional[Step]]:
    """The same number of steps on each rank of torch.distributed, whatever each
    has of batches: more of them came to one rank than to another where the
    items cannot be divided evenly, and where some failed.

    As many as the rank with the most: a rank that has none left gets None, and
    has to do its part of what the others do together. With `shortest` as many
    as the rank with the fewest: what others have besides is left out.

    Where the loader of one rank fails, that ends the steps of all, with an
    error. Costs an all_reduce of one number a step. Where torch.distributed is
    not initialised these are just the batches.
    """
    distributed = torch.distributed
    iterator = iter(batches)
    if not (distributed.is_available() and distributed.is_initialized()):
        yield from iterator
        return
    n_ranks = distributed.get_world_size()
    while True:
        try:
            batch = next(iterator, None)
        except Exception:
            _sum_over_ranks(_FAILED)
            raise
        n = _sum_over_ranks(int(batch is not None))
        if n >= _FAILED:
            raise LoaderError("The loader of another rank has failed")
        if n == 0 or (shortest and n < n_ranks):
            break
        yield batch
    # So that the next epoch begins at its beginning.
    for _ in iterator:
        pass


class Dataset(torch.utils.data.IterableDataset):  # type: ignore[type-arg,misc]
    """Batches as dicts of PyTorch's tensors, on `device`.

    `device`: None is the current CUDA device where there is one, else the CPU.
    `labels` and `indices` are there also where the pipeline makes no tensors
    of them. `last` is the batch that was given last, with its keys, extras and
    state. Other arguments are the Loader's.

    Each process of torch.distributed loads its own part, unless the pipeline
    says `rank` and `world-size` itself.
    """

    def __init__(self, pipeline: Any, *, device: Any = None,
                 **arguments: Any) -> None:
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        self.loader = Loader(pipeline, **arguments)
        self.last: Optional[Batch] = None
        self._state: Optional[str] = arguments.get("state")

    def __len__(self) -> int:
        self._begin()
        return len(self.loader)

    def __iter__(self) -> Iterator[TorchBatch]:
        """The rest of an epoch; behind its end, the next one."""
        if torch.utils.data.get_worker_info() is not None:
            raise LoaderError(_NO_WORKERS, code="forked")
        self._begin()
        batches = iter(self.loader)
        while True:
            try:
                batch = next(batches, None)
            except LoaderWarning:  # an error, where the user wants it so
                self._state = self.loader.state
                raise
            if batch is None:
                break
            self.last = batch
            self._state = batch.state
            yield self._convert(batch)
        # The last items may have failed.
        self._state = self.loader.state

    @property
    def classes(self) -> Optional[List[str]]:
        """The Loader's: label i is classes[i]."""
        self._begin()
        return self.loader.classes

    @property
    def class_to_idx(self) -> Optional[Dict[str, int]]:
        """The number of each class by its name."""
        self._begin()
        return self.loader.class_to_idx

    def _begin(self) -> None:
        self.loader._check_process()
        if self.loader.is_running():
            return
        self.loader.set_default_rank(*_place())
        self.loader.start()

    def _convert(self, batch: Batch) -> TorchBatch:
        tensors: TorchBatch = {
            name: torch.from_dlpack(tensor)  # type: ignore[attr-defined]
            for name, tensor in batch.items()}
        if batch.num_items:
            for name in "labels", "indices":
                if name not in tensors:
                    tensors[name] = torch.frombuffer(
                        getattr(batch, name), dtype=torch.int64)
        return {name: tensor.to(self.device, non_blocking=True)
                for name, tensor in tensors.items()}

    def stop(self) -> None:
        self.loader.stop()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Workers that are spawned would have it pickled."""
        raise LoaderError(_NO_WORKERS, code="forked")

    # Resuming

    def state_dict(self) -> Dict[str, Any]:
        """The place after the batch that was given last."""
        return {"spdl": self._state}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Begins there, at the next `for`."""
        self.loader.load_state_dict(state)
        self._state = state["spdl"]

    @property
    def epoch(self) -> int:
        """Of the batch that was given last; behind an epoch's end the next
        one, and at first the one to begin with."""
        return self.loader.epoch

    def set_epoch(self, epoch: int) -> None:
        """The next `for` is that epoch, from its beginning. Not needed where
        one follows the other: each has an order of its own anyway."""
        self._begin()
        self.loader.set_epoch(epoch)
        self._state = self.loader.state
