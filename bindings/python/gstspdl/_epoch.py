# gst-spdl: iterators over the batches of an epoch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Generic, Iterator, Optional, Protocol, TypeVar

from ._losses import LoaderWarning

BatchT = TypeVar("BatchT")
_BatchOut = TypeVar("_BatchOut", covariant=True)


class _Batches(Protocol[_BatchOut]):
    """A loader."""

    _n_iterators: int

    def _take(self, timeout: Optional[int]) -> Optional[_BatchOut]:
        ...


class EpochIterator(Iterator[BatchT], Generic[BatchT]):
    """The rest of one epoch. Ends early if another `for` begins."""

    __slots__ = ("_loader", "_turn", "_ended")

    def __init__(self, loader: _Batches[BatchT]) -> None:
        loader._n_iterators += 1
        self._loader = loader
        self._turn = loader._n_iterators
        self._ended = False

    def __next__(self) -> BatchT:
        batch = None
        if not self._ended and self._turn == self._loader._n_iterators:
            try:
                batch = self._loader._take(None)
            except LoaderWarning as warning:
                self._ended = warning.num_failures > 0
                raise
        if batch is None:
            self._ended = True
            raise StopIteration
        return batch
