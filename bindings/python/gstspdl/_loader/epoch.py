# gst-spdl: iterators over the batches of an epoch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import threading
from enum import Enum, auto
from typing import Callable, Dict, Generic, Iterator, Optional, TypeVar

from .._errors import LoaderError

BatchT = TypeVar("BatchT")


class Place(Enum):
    """Where a program is among the epochs of a loader."""

    #: it starts the loader next
    IDLE = auto()
    #: before the first batch of an epoch, or of a run
    BEFORE = auto()
    #: after a batch
    WITHIN = auto()
    #: after the end of an epoch
    BETWEEN = auto()


class Pass:
    """One pass over an epoch, which an iterator shares with its loader."""

    __slots__ = ("is_over", "num_steps")

    def __init__(self) -> None:
        #: the end of the epoch was taken
        self.is_over = False
        #: number of batches that the iterator was asked for
        self.num_steps = 0


class OneReader(Generic[BatchT]):
    """Part of a loader that gives batches to one thread at a time, and to one
    iterator."""

    def __init__(self) -> None:
        #: the thread that takes a batch, by the number 0
        self._takers: Dict[int, int] = {}
        #: that of the last `for`; those of earlier ones are outdated
        self._pass = Pass()

    def _alone(self, take: Callable[[Optional[int]], Optional[BatchT]],
               timeout: Optional[int]) -> Optional[BatchT]:
        """Calls a function that may wait for a batch, unless another thread
        does so."""
        me = threading.get_ident()
        if self._takers.setdefault(0, me) != me:
            raise LoaderError(
                "Another thread is waiting for the next batch of this loader: "
                "read from one thread at a time", code="busy")
        try:
            return take(timeout)
        finally:  # without a call, in which Ctrl-C would lose the batch
            if 0 in self._takers:
                del self._takers[0]

    def _take(self, timeout: Optional[int]) -> Optional[BatchT]:
        """Returns the next batch, or None at the end of an epoch. `timeout`: in
        ns."""
        return self._alone(self._take_next, timeout)

    def _take_next(self, timeout: Optional[int]) -> Optional[BatchT]:
        raise NotImplementedError

    def _peek_next(self, timeout: Optional[int]) -> Optional[BatchT]:
        """Returns what _take_next() will return."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __bool__(self) -> bool:
        """True. Without this method, bool() would call len(), which starts the
        loader."""
        return True

    def _end_if_over(self) -> None:
        """Takes the end of the epoch if it comes next, before another `for`
        leaves the epoch. Waits for it only after the last batch."""
        try:
            is_due = self._pass.num_steps >= len(self)
        except TypeError:
            is_due = False
        try:
            if self._alone(self._peek_next, None if is_due else 0) is None:
                self._take_next(None)
        except LoaderError:
            pass  # There are batches left, or the `for` raises it as well.


class EpochIterator(Iterator[BatchT], Generic[BatchT]):
    """The rest of one epoch. Another `for` makes it outdated."""

    __slots__ = ("_loader", "_pass")

    def __init__(self, loader: OneReader[BatchT]) -> None:
        self._loader = loader
        self._pass = loader._pass = Pass()

    def __next__(self) -> BatchT:
        own = self._pass
        if not own.is_over:
            if own is not self._loader._pass:
                raise LoaderError(
                    "This iterator cannot continue, because another `for` or "
                    "iter() has left its epoch before the end: use one "
                    "iterator per epoch, peek() to look at a batch, and one "
                    "loader for each of several loops at the same time",
                    code="outdated")
            own.num_steps += 1
            batch = self._loader._take(None)
            if batch is not None:
                return batch
        raise StopIteration
