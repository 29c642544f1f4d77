# gst-spdl: iterators over the batches of an epoch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import threading
from typing import Dict, Generic, Iterator, Optional, Protocol, TypeVar

from ._errors import LoaderError
from ._losses import LoaderWarning

BatchT = TypeVar("BatchT")
_BatchOut = TypeVar("_BatchOut", covariant=True)


class _Batches(Protocol[_BatchOut]):
    """A loader."""

    _n_iterators: int

    def _take(self, timeout: Optional[int]) -> Optional[_BatchOut]:
        ...


class OneReader(Generic[BatchT]):
    """Part of a loader that gives batches to one thread at a time."""

    def __init__(self) -> None:
        #: the thread that takes a batch, by the number 0
        self._takers: Dict[int, int] = {}

    def _take(self, timeout: Optional[int]) -> Optional[BatchT]:
        """Returns the next batch, or None at the end of an epoch. `timeout`: in
        ns."""
        me = threading.get_ident()
        if self._takers.setdefault(0, me) != me:
            raise LoaderError(
                "Another thread is waiting for the next batch of this loader: "
                "read from one thread at a time", code="busy")
        try:
            return self._take_next(timeout)
        finally:  # without a call, in which Ctrl-C would lose the batch
            if 0 in self._takers:
                del self._takers[0]

    def _take_next(self, timeout: Optional[int]) -> Optional[BatchT]:
        raise NotImplementedError


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
