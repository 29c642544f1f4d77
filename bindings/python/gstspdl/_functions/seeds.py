# gst-spdl: random numbers of functions
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import hashlib
import os
import random
import struct
import sys
from typing import NamedTuple, Optional, Tuple

from .._errors import LoaderError
from .._media.sample import Sample


class Seed(NamedTuple):
    """Gives each item its own random numbers in a function, in any process and
    any order."""

    #: of the dataset
    value: int = 0
    #: the name of the element: two functions draw different numbers
    stage: str = ""

    def of(self, sample: Sample) -> int:
        """Returns 63 bits for an item, or for the first item of a group or a
        batch. They are random for bytes that do not come from a dataset."""
        place = _find_place(sample)
        if place is None:
            return int.from_bytes(os.urandom(8), "little") >> 1
        found = hashlib.blake2b(
            struct.pack("=QQQ", self.value, *place) + self.stage.encode(),
            digest_size=8)
        return int.from_bytes(found.digest(), "little") >> 1


def _find_place(sample: Sample) -> Optional[Tuple[int, int]]:
    """Returns epoch and index."""
    try:
        item = sample._item()
        return item.epoch, item.index
    except LoaderError:
        pass
    first = sample.items[0]
    if first is not sample:
        return _find_place(first)
    try:
        batch = sample.tensors
    except LoaderError:
        return None
    return (batch.epoch, batch.indices[0]) if batch.num_items else None


def seed_all(seed: int) -> None:
    """Seeds the global generators of Python and of the modules that are
    imported."""
    random.seed(seed)
    if "numpy" in sys.modules:
        # NumPy 2 imports it at its first use, with another seed.
        import numpy.random

        numpy.random.seed(seed & 0xffffffff)
    if "torch" in sys.modules:
        # Not torch.manual_seed(), which also seeds each GPU.
        sys.modules["torch"].default_generator.manual_seed(seed)
