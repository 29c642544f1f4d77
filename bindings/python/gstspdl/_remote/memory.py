# gst-spdl: reused memory of batches that a trainer receives
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import weakref
from collections import deque
from typing import Any, Deque, Dict

import numpy

# Sizes are rounded up, so that batches of nearly the same size share blocks.
_GRAIN = 1 << 16


class MemoryPool:
    """Blocks of memory. A block is free again when no array refers to it, in
    any thread. At most `max_free` free blocks are kept."""

    def __init__(self, max_free: int) -> None:
        # Arrays may be freed in the middle of any line, also in take(), so no
        # lock is taken there.
        self._free: Deque[Any] = deque(maxlen=max_free)
        self._leases: Dict[int, Any] = {}

    def take(self, size: int) -> "numpy.ndarray[Any, Any]":
        """Returns an array of bytes."""
        if size == 0:
            return numpy.empty(0, "uint8")
        block = self._find(size)
        # All views of the array refer to it, and not to the block.
        array = numpy.frombuffer(memoryview(block), "uint8", size)
        number = id(array)
        self._leases[number] = weakref.ref(
            array, lambda _: self._give_back(number, block))
        return array

    def _give_back(self, number: int, block: Any) -> None:
        self._leases.pop(number, None)
        self._free.append(block)

    def _find(self, size: int) -> Any:
        for _ in range(len(self._free)):
            try:
                block = self._free.popleft()
            except IndexError:
                break
            if size <= block.nbytes <= 2 * size + _GRAIN:
                return block
            self._free.append(block)
        # Not page-locked: a GPU could still copy from it when no array refers to
        # it, and the next batch would overwrite what it copies.
        return numpy.empty(-(-size // _GRAIN) * _GRAIN, "uint8")
