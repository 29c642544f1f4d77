# gst-spdl: datasets for PyTorch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loaders as datasets for PyTorch.

    from gstspdl.torch import Dataset

    dataset = Dataset("spdlsrc location=photos label=folder shuffle=true "
                      "! spdlfetch ! spdldecode width=224 height=224 "
                      "! spdlbatch batch-size=32 dtype=float32 layout=nchw "
                      "! spdlsink")
    for epoch in range(90):
        for batch in dataset:               # {"data": ..., "labels": ...}
            train(batch["data"], batch["labels"])
        torch.save({"model": ..., "data": dataset.state_dict()}, "checkpoint")

A Dataset returns whole batches and has its own threads, so it needs no
DataLoader. If code requires one, use
DataLoader(dataset, batch_size=None, num_workers=0).
"""

from typing import (Any, Callable, Dict, Generic, Iterable, Iterator, List,
                    Literal, Mapping, Optional, Sequence, Tuple, TypeVar, Union, overload)

import torch
import torch.distributed
import torch.utils.data

from ._dataloader.dataloader import DataLoader as DataLoader
from ._errors import LoaderError, LoaderWarning
from ._functions.adapters import Transform, transform as _transform
from ._loader.epoch import Place
from ._loader.loader import Loader
from ._loader.states import merge_states
from ._media.batch import Batch
from ._media.tensor import Tensor

TorchBatch = Dict[str, torch.Tensor]
Step = TypeVar("Step")
#: a TorchBatch, or the tuple of its fields
Item = TypeVar("Item")


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

# Number that a rank adds if its loader fails; exceeds the number of ranks.
_FAILED = 1 << 20


def _view(tensor: Tensor) -> torch.Tensor:
    found: torch.Tensor
    try:
        found = torch.from_dlpack(tensor)  # type: ignore[attr-defined]
    except RuntimeError:  # Older versions read no bool from DLPack.
        if tensor.dtype != "bool":
            raise
        found = (torch.as_tensor(tensor, device=tensor.device)
                 if tensor.device != "cpu" else torch.tensor(tensor.numpy()))
    return found


def _check_fields(fields: Any) -> Optional[Tuple[str, ...]]:
    if fields is None:
        return None
    if isinstance(fields, str) or not all(
            isinstance(name, str) for name in fields):
        raise TypeError(f"fields must be names, such as (\"data\", \"labels\"), "
                        f"not {fields!r}")
    return tuple(fields)


def _sum_over_ranks(value: int) -> int:
    distributed = torch.distributed
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    total = torch.tensor(value, device=device)
    distributed.all_reduce(total)
    return int(total)


@overload
def in_step(batches: Iterable[Step], *,
            shortest: Literal[True]) -> Iterator[Step]: ...


@overload
def in_step(batches: Iterable[Step], *,
            shortest: bool = False) -> Iterator[Optional[Step]]: ...


def in_step(batches: Iterable[Step], *,
            shortest: bool = False) -> Iterator[Optional[Step]]:
    """Yields the same number of steps on each rank of torch.distributed. Ranks can
    have different numbers of batches, because items cannot always be divided
    evenly, and items can fail.

        for batch in in_step(dataset, shortest=True):
            loss = train(batch)             # collective operations

    `batches`: the batches of this rank, such as a Dataset.
    `shortest`: False: the rank with the most batches decides. A rank without a
    batch gets None and must still take part in collective operations. True:
    the rank with the fewest batches decides, and others skip the rest.

    Raises LoaderError on all ranks if the loader of one rank fails. Each step
    costs an all_reduce of one number. Without torch.distributed, the batches
    are returned unchanged.
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
    # The next epoch must start with its first batch.
    for _ in iterator:
        pass


def list_targets(batch: Mapping[str, Any], *, first_label: int = 1,
                 crowds: bool = False) -> List[Dict[str, Any]]:
    """Returns the targets of a batch of coco_detection(), yolo_detection() or
    voc_detection(), one for each image, as the detection models of torchvision
    take them.

        for batch in dataset:
            losses = model(list(batch["data"]), list_targets(batch))

    A target is a dict of `boxes`, float32 of (boxes, 4); `labels`, int64 of
    (boxes,); `image_id`, the id of the image as an int; and, if the batch has
    them, `iscrowd` and `difficult`, int64 of (boxes,), `keypoints`, float32 of
    (boxes, 17, 3), and `masks`, uint8 of (boxes, height, width).

    `batch`: a batch of a Dataset or a Loader.
    `first_label`: number of the first class. For torchvision it is 1, because 0
    is the background.
    `crowds`: True keeps boxes around crowds."""
    tensors = {name: _view(batch[name]) if isinstance(batch[name], Tensor) else
               batch[name] for name in batch if name != "data"}
    targets = []
    for i, n in enumerate(tensors["boxes_lengths"].tolist()):
        # Boxes that are not crowds, or all of them.
        kept = slice(None) if crowds or "boxes_crowd" not in tensors else \
            tensors["boxes_crowd"][i, :n] == 0
        target = {"boxes": tensors["boxes"][i, :n][kept],
                  "labels": tensors["boxes_labels"][i, :n][kept] + first_label,
                  "image_id": int(tensors["id"][i])}
        for member, name in (("iscrowd", "boxes_crowd"), ("keypoints", "keypoints"),
                             ("difficult", "boxes_difficult"),
                             ("masks", "boxes_masks")):
            if name in tensors:
                target[member] = tensors[name][i, :n][kept]
        targets.append(target)
    return targets


def transform(function: Callable[..., Any],
              input: Literal["pil", "chw", "hwc", "keyword"]) -> Transform:
    """Wraps a callable that takes an image, for Loader.map(), Pipeline.map() and
    the argument `transform` of datasets.

        image_folder("photos", transform=transform(remove_red_eyes, "pil"))

    `function`: a transform of images. `input`: the kind of input that the transform
    takes. "pil": an image of Pillow. "chw": a tensor of (channels, height, width),
    or (frames, channels, height, width) of a clip. "hwc": a NumPy array of (height,
    width, channels). "keyword": the same array as the argument `image`; the result
    is a dict with "image".

    The transform returns an image of Pillow, a NumPy array of (height, width,
    channels), a tensor of (channels, height, width), a dict of these by name,
    or None to leave the item out.

    Transforms of torchvision, timm and albumentations, and image processors of
    transformers, need no wrapper."""
    return _transform(function, input)


class Dataset(torch.utils.data.IterableDataset,  # type: ignore[type-arg,misc]
              Generic[Item]):
    """IterableDataset of whole batches, each a dict of PyTorch tensors by
    name, or a tuple of some of them.

        dataset = Dataset(gstspdl.image_folder("photos"))
        for batch in dataset:               # one epoch
            train(batch["data"], batch["labels"])

    `pipeline`: a Loader, or the argument `pipeline` of Loader.
    `device`: the device of the tensors. None: the current CUDA device if there
    is one, else the CPU.
    `fields`: names of tensors: each batch is a tuple of these instead of a
    dict. With fields=("data", "labels"), it is (images, labels).

    Other arguments are those of Loader. With a Loader as `pipeline`, they
    raise TypeError.

    `labels` and `indices` (int64) are in each dict. `last` is the last Batch,
    with its keys, extras and state; `loader` is the Loader.

    Each process of torch.distributed loads its own part, unless the pipeline
    sets `rank` and `world-size`. In a worker process of a DataLoader, the
    dataset raises LoaderError.
    `gather_states`: True lets state_dict() return the joined states of all
    ranks, for a checkpoint that one rank writes and any number of ranks can
    load. All ranks must then call it together.
    """

    @overload
    def __init__(self: "Dataset[TorchBatch]", pipeline: Any, *,
                 device: Any = None, gather_states: bool = False,
                 fields: None = None, **arguments: Any) -> None: ...

    @overload
    def __init__(self: "Dataset[Tuple[torch.Tensor, ...]]", pipeline: Any, *,
                 device: Any = None, gather_states: bool = False,
                 fields: Sequence[str], **arguments: Any) -> None: ...

    def __init__(self, pipeline: Any, *, device: Any = None,
                 gather_states: bool = False,
                 fields: Optional[Sequence[str]] = None,
                 **arguments: Any) -> None:
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        if isinstance(pipeline, Loader):
            if arguments:
                raise TypeError(f"{', '.join(arguments)} cannot be set here, "
                                "because the loader exists already: set "
                                "arguments of Loader where it is created")
            self.loader = pipeline
        else:
            self.loader = Loader(pipeline, **arguments)
        self._fields = _check_fields(fields)
        #: None before the first batch; Any spares checks of it in a loop
        self.last: Union[Batch, Any] = None
        # The iterator of the last `for`.
        self._batches: Optional[Iterator[Batch]] = None
        self._gathers = gather_states
        # Number of batches of this epoch that were returned.
        self._given = 0
        self._resumes = False
        self._state: Optional[str] = self.loader.state

    def __repr__(self) -> str:
        return f"<Dataset on {self.device} of {self.loader!r}>"

    def __len__(self) -> int:
        self._begin()
        return len(self.loader)

    def __iter__(self) -> Iterator[Item]:
        """Yields one epoch, or after resuming the rest of it."""
        if torch.utils.data.get_worker_info() is not None:
            raise LoaderError(_NO_WORKERS, code="forked")
        self._begin()
        self._end_epoch()
        batches = self._batches = iter(self.loader)
        if not self._resumes:
            self._given = 0
        self._resumes = False
        while True:
            try:
                batch = next(batches, None)
            except LoaderWarning:  # if the user turns the warning into an error
                self._state = self.loader.state
                raise
            if batch is None:
                break
            self.last = batch
            self._state = batch.state
            self._given += 1
            yield self._present(batch)
        if batches is not self._batches:
            return  # Another `for` counts now.
        # The last items may have failed.
        self._state = self.loader.state
        self._given = 0

    def peek(self) -> Union[Item, Any]:
        """Returns the next batch without taking it; None at the end of an
        epoch. The next step of the `for` returns the same batch. Before the
        first `for` and between epochs, it is the first batch of the next
        epoch. `last` does not change."""
        self._begin()
        batch = self.loader.peek()
        return None if batch is None else self._present(batch)

    def _end_epoch(self) -> None:
        """Takes the end of an epoch after its last batch. Trainers that count
        batches do not request this end. With it taken, the state belongs to the
        next epoch, and the pipeline does not restart there."""
        try:
            if (not self._given or not self.loader.is_running() or
                    self._given < len(self.loader)):
                return
            self.loader._end_epoch()
        except TypeError:
            return  # the length is not known
        except LoaderError:
            pass  # the next `for` raises it as well
        finally:
            if self._given and self.loader._place is Place.BETWEEN:
                self._state = self.loader.state
                self._given = 0

    @property
    def classes(self) -> Union[List[str], Any]:
        """The class names: label i is classes[i]. None if the labels are only
        numbers."""
        self._begin()
        return self.loader.classes

    @property
    def class_to_idx(self) -> Union[Dict[str, int], Any]:
        """The class numbers by name, or None."""
        self._begin()
        return self.loader.class_to_idx

    def _begin(self) -> None:
        self.loader._check_process()
        if self.loader.is_running():
            return
        if self.loader._place is not Place.IDLE:
            self.loader._continue()  # after the last batch before stop()
            self._resumes = True
            return
        self.loader.set_default_rank(*_place())
        self.loader.start()
        if self._resumes:
            # The part of this rank, if it was the states of all.
            self._state = self.loader.state

    def _present(self, batch: Batch) -> Any:
        """Returns an Item."""
        tensors = self._convert(batch)
        if self._fields is None:
            return tensors
        for name in self._fields:
            if name not in tensors:
                raise KeyError(f"the batch has no tensor {name!r}, which fields= "
                               f"names; it has {', '.join(tensors)}")
        return tuple(tensors[name] for name in self._fields)

    def _convert(self, batch: Batch) -> TorchBatch:
        tensors: TorchBatch = {
            name: _view(tensor) for name, tensor in batch.items()}
        if batch.num_items:
            for name in "labels", "indices":
                if name not in tensors:
                    tensors[name] = torch.frombuffer(
                        getattr(batch, name), dtype=torch.int64)
        return {name: tensor.to(self.device, non_blocking=True)
                for name, tensor in tensors.items()}

    def stop(self) -> None:
        """Stops the loader. The next `for` continues after the last batch."""
        self.loader.stop()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuses to be pickled for worker processes."""
        raise LoaderError(_NO_WORKERS, code="forked")

    # Resuming

    def state_dict(self) -> Dict[str, Any]:
        """Returns the state after the last batch, for torch.save(), or with
        gather_states the states of all ranks."""
        self._end_epoch()
        own = self._state, self._given
        n_ranks = _place()[1]
        if not self._gathers or n_ranks < 0:
            return {"spdl": own[0], "batches": own[1]}
        parts: List[Any] = [None] * n_ranks
        torch.distributed.all_gather_object(parts, own)
        states: List[Any] = [state for state, _ in parts]
        counts = [given for _, given in parts]
        try:
            return {"spdl": merge_states(states), "batches": counts}
        except (LoaderError, TypeError):
            # Without a state, or with a source that each rank loads completely.
            return {"spdl": states, "batches": counts}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Resumes at the next `for` from a state of state_dict(). From the
        states of all ranks, also of another number of ranks, it takes the part
        of this rank."""
        own, given = state["spdl"], state.get("batches", 0)
        if isinstance(given, list):
            rank, n_ranks = _place()
            is_same = n_ranks == len(given)
            given = given[rank] if is_same else 0
            if isinstance(own, list):
                own = own[rank] if is_same else merge_states(own)
        self.loader.load_state_dict({"spdl": own})
        self._state, self._given, self._resumes = own, given, True

    @property
    def epoch(self) -> int:
        """The epoch of the last batch; after the end of an epoch, the next epoch;
        before the first batch, the first epoch."""
        return self.loader.epoch

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `for` begin the given epoch, from 0. Successive epochs
        need no call, because each has its own order."""
        self._begin()
        self.loader.set_epoch(epoch)
        self._state = self.loader.state
        # The batches before a loaded state are not part of this epoch.
        self._given, self._resumes = 0, False
