# gst-spdl: loader that replays cached batches
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import copy
import sys
from typing import Any, Generic, Iterable, Iterator, List, Optional, TypeVar

from .._media.batch import Batch
from .._media.tensor import Tensor

Item = TypeVar("Item")

# Types that cannot be modified.
_CONSTANTS = (str, bytes, int, float, complex, bool, type(None), range,
              frozenset)


def _copy_torch(tensor: Any) -> Any:
    """Copies a tensor on its device. The copy of a page-locked tensor is
    page-locked."""
    if tensor.device.type == "cpu" and tensor.is_pinned():
        return tensor.new_empty(tensor.shape).pin_memory().copy_(tensor)
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _is_torch(item: Any) -> bool:
    # A program with a tensor has imported torch already.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(item, torch.Tensor)


def copy_item(item: Any) -> Any:
    """Copies a batch of any loader: tensors, arrays, Batches, and dicts,
    lists, tuples and dataclasses of these."""
    if isinstance(item, _CONSTANTS):
        return item
    if _is_torch(item):
        return _copy_torch(item)
    if isinstance(item, Batch):
        return item.copy()
    if isinstance(item, Tensor):
        return item.numpy().copy()
    if type(item) is dict:
        return {key: copy_item(value) for key, value in item.items()}
    if type(item) in (list, tuple):
        return type(item)(map(copy_item, item))
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return type(item)(*map(copy_item, item))
    if isinstance(item, dict):
        return _fill(copy.copy(item), item)
    if hasattr(item, "__dataclass_fields__") and not isinstance(item, type):
        return _copy_fields(item)
    # This copies NumPy's arrays as well.
    return copy.deepcopy(item)


def _fill(made: Any, item: Any) -> Any:
    for key, value in item.items():
        made[key] = copy_item(value)
    return made


def _copy_fields(item: Any) -> Any:
    made = copy.copy(item)
    for name in item.__dataclass_fields__:
        # This works for frozen dataclasses as well.
        object.__setattr__(made, name, copy_item(getattr(item, name)))
    return made


def check_count(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


class CacheLoader(Generic[Item]):
    """Iterable that repeats cached batches, which shows how fast training
    would run if loading cost nothing.

        loader = CacheLoader(loader)        # one line in a training script
        for batch in loader:
            train(batch)

    `iterable`: a Loader, a DataLoader or any other iterable of batches.
    `num_caches`: number of batches to cache, at least 1.
    `return_caches_after`: number of batches to take from `iterable`, at least 1.
    After that, the last `num_caches` batches are repeated, and no more are taken.
    `stop_after`: number of batches in total, after which a `for` ends. 0:
    never.

    Before the repetition begins, each `for` loop is one pass over `iterable`. After
    that, a loop ends only by `stop_after` or by `break`.

    Cached batches are copies, so a trainer may write into them. PyTorch
    tensors, NumPy arrays, Batches, and dicts, lists, tuples and dataclasses of
    these are copied, in the caller's thread. Raises ValueError for a number
    that is too small.
    """

    def __init__(self, iterable: Iterable[Item], num_caches: int = 10,
                 return_caches_after: int = 100, stop_after: int = 0) -> None:
        check_count("num_caches", num_caches, 1)
        check_count("return_caches_after", return_caches_after, 1)
        check_count("stop_after", stop_after, 0)
        self._iterable: Optional[Iterable[Item]] = iterable
        self._num_caches = num_caches
        self._return_after = return_caches_after
        self._stop_after = stop_after
        self._caches: List[Item] = []
        self._num_batches = 0

    @property
    def num_batches(self) -> int:
        """The number of batches returned so far, including those from the
        cache."""
        return self._num_batches

    @property
    def num_cached(self) -> int:
        """The number of batches returned from the cache so far."""
        return max(self._num_batches - self._return_after, 0)

    def _is_over(self) -> bool:
        return 0 < self._stop_after <= self._num_batches

    def _is_cached(self) -> bool:
        return self._num_batches >= self._return_after

    def __iter__(self) -> Iterator[Item]:
        if self._iterable is not None and not self._is_cached():
            yield from self._pass_on(self._iterable)
        if not self._is_cached():
            return
        # Its worker processes are no longer needed.
        self._iterable = None
        while not self._is_over():
            cached: Item = copy_item(
                self._caches[self.num_cached % len(self._caches)])
            self._num_batches += 1
            yield cached

    def _pass_on(self, iterable: Iterable[Item]) -> Iterator[Item]:
        """One pass, or the part of it before the cache begins."""
        batches = iter(iterable)
        while not self._is_over() and not self._is_cached():
            try:
                batch = next(batches)
            except StopIteration:
                return
            if self._num_batches + self._num_caches >= self._return_after:
                self._caches.append(copy_item(batch))
            self._num_batches += 1
            yield batch
