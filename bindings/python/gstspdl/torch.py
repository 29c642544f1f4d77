# gst-spdl: a loader as PyTorch's users know one
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pipeline as an IterableDataset.

    from gstspdl.torch import Dataset

    dataset = Dataset("spdlsrc location=photos label=folder shuffle=true "
                      "! spdlfetch ! spdldecode width=224 height=224 "
                      "! spdlbatch size=32 type=float32 layout=nchw ! spdlsink")
    for epoch in range(90):
        for batch in dataset:               # {"data": ..., "labels": ...}
            train(batch["data"], batch["labels"])
        torch.save({"model": ..., "data": dataset.state_dict()}, "checkpoint")

It gives whole batches, by threads of its own. Where a DataLoader has to be
around it: DataLoader(dataset, batch_size=None, num_workers=0).
"""

from typing import Any, Dict, Iterator, Optional, Tuple

import torch
import torch.distributed
import torch.utils.data

from ._batch import Batch
from ._errors import LoaderError
from ._loader import Loader
from ._parts import find_elements

TorchBatch = Dict[str, torch.Tensor]


def _place() -> Tuple[int, int]:
    """Rank and world size; -1 leaves them to the environment."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return -1, -1


class Dataset(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
    """Batches as dicts of PyTorch's tensors, on `device`.

    `device`: None is the current CUDA device where there is one, else the CPU.
    `labels` and `indices` are there also where the pipeline makes no tensors
    of them. `last` is the batch that was given last, with its keys, extras and
    state. Other arguments are the Loader's.

    Each process of torch.distributed loads its own part.
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
            raise LoaderError(
                "The dataset has threads of its own, which no worker process "
                "can share: use it without a DataLoader, or with "
                "DataLoader(dataset, batch_size=None, num_workers=0)",
                code="forked")
        self._begin()
        for batch in self.loader:
            self.last = batch
            self._state = batch.state
            yield self._convert(batch)

    def _begin(self) -> None:
        if self.loader.is_running():
            return
        rank, world_size = _place()
        if rank >= 0:
            for element in find_elements(self.loader.pipeline, "spdlsrc"):
                element.set_property("rank", rank)
                element.set_property("world-size", world_size)
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
