# gst-spdl: datasets for PyTorch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pipeline as an IterableDataset.

    from gstspdl.torch import Dataset

    dataset = Dataset("spdlsrc location=photos label=folder shuffle=true "
                      "! spdlfetch ! spdldecode width=224 height=224 "
                      "! spdlbatch batch-size=32 dtype=float32 layout=nchw "
                      "! spdlsink")
    for epoch in range(90):
        for batch in dataset:               # {"data": ..., "labels": ...}
            train(batch["data"], batch["labels"])
        torch.save({"model": ..., "data": dataset.state_dict()}, "checkpoint")

It gives whole batches and has its own threads. If code needs a DataLoader, use
DataLoader(dataset, batch_size=None, num_workers=0).
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
    """Returns rank and world size; -1 leaves them to the environment."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return -1, -1


_NO_WORKERS = (
    "The dataset runs its own threads, which worker processes cannot share: "
    "use it without a DataLoader, or with "
    "DataLoader(dataset, batch_size=None, num_workers=0)")

# The number that a rank adds if its loader fails; more than there are ranks.
_FAILED = 1 << 20


def _sum_over_ranks(value: int) -> int:
    distributed = torch.distributed
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    total = torch.tensor(value, device=device)
    distributed.all_reduce(total)
    return int(total)


def in_step(batches: Iterable[Step], *,
            shortest: bool = False) -> Iterator[Optional[Step]]:
    """Gives the same number of steps on each rank of torch.distributed, also
    if ranks have different numbers of batches, because items could not be
    divided evenly or some failed.

    By default, the rank with the most batches decides: a rank without a batch
    gets None and must still take part in collective operations. With
    `shortest`, the rank with the fewest decides, and others skip the rest.

    If the loader of one rank fails, the steps of all ranks end with an error.
    Each step costs an all_reduce of one number. Without torch.distributed, it
    gives the batches as they are.
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
    # The next epoch must begin at its beginning.
    for _ in iterator:
        pass


class Dataset(torch.utils.data.IterableDataset):  # type: ignore[type-arg,misc]
    """Batches as dicts of PyTorch's tensors on `device`.

    `pipeline`: as for Loader, or a Loader, such as a recipe's:
    Dataset(gstspdl.image_folder("photos")).
    `device`: by default the current CUDA device if there is one, else the CPU.
    The dicts always have `labels` and `indices`. `last` is the last Batch, with
    its keys, extras and state. Other arguments are those of Loader.

    Each process of torch.distributed loads its own part, unless the pipeline
    sets `rank` and `world-size`.
    """

    def __init__(self, pipeline: Any, *, device: Any = None,
                 **arguments: Any) -> None:
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        if isinstance(pipeline, Loader):
            if arguments:
                raise TypeError("Dataset takes a Loader without arguments for "
                                f"one: give {', '.join(arguments)} to that")
            self.loader = pipeline
        else:
            self.loader = Loader(pipeline, **arguments)
        self.last: Optional[Batch] = None
        self._state: Optional[str] = self.loader.state

    def __len__(self) -> int:
        self._begin()
        return len(self.loader)

    def __iter__(self) -> Iterator[TorchBatch]:
        """Gives the rest of an epoch; after its end, the next one."""
        if torch.utils.data.get_worker_info() is not None:
            raise LoaderError(_NO_WORKERS, code="forked")
        self._begin()
        batches = iter(self.loader)
        while True:
            try:
                batch = next(batches, None)
            except LoaderWarning:  # if the user makes it an error
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
        """The class names: label i is classes[i]."""
        self._begin()
        return self.loader.classes

    @property
    def class_to_idx(self) -> Optional[Dict[str, int]]:
        """The class numbers by name."""
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
        """Refuses to be pickled for worker processes."""
        raise LoaderError(_NO_WORKERS, code="forked")

    # Resuming

    def state_dict(self) -> Dict[str, Any]:
        """The state after the last batch."""
        return {"spdl": self._state}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Resumes from that state at the next `for`."""
        self.loader.load_state_dict(state)
        self._state = state["spdl"]

    @property
    def epoch(self) -> int:
        """The epoch of the last batch; after the end of an epoch, the next one;
        before the first batch, the one to begin with."""
        return self.loader.epoch

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `for` begin that epoch. Successive epochs need no
        call: each has an order of its own."""
        self._begin()
        self.loader.set_epoch(epoch)
        self._state = self.loader.state
