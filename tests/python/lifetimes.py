#!/usr/bin/python3
# gst-spdl: views of batches, released in any order
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""lifetimes.py BATCHES

Makes a number of batches of 4x32x32 and writes a mark into each. Keeps up to 64
of them or of their views, and releases them in random order, the last ones
after the loader and the pipeline. Valgrind then finds accesses to freed memory
and leaks."""

import gc
import random
import sys

import numpy as np
from gstspdl import Loader

VIEWS = [
    lambda batch: batch["data"],
    lambda batch: np.asarray(batch["data"]),
    lambda batch: np.from_dlpack(batch["data"]),
    # An unused capsule; the batch itself is read.
    lambda batch: (batch, batch["data"].__dlpack__()),
    lambda batch: batch,
]


def look(view):
    """Returns the array of any kind of view."""
    if isinstance(view, tuple):
        view = view[0]
    return np.asarray(view["data"] if hasattr(view, "num_items") else view)


def check(view, mark):
    values = look(view)
    if not (values == mark).all():
        sys.exit(f"a batch was altered: {values.ravel()[:8]}, not {mark}")


def main():
    n = int(sys.argv[1])
    rng = random.Random(1)
    kept = {}
    loader = Loader(f"videotestsrc num-buffers={4 * n} pattern=black "
                    "! video/x-raw,format=GRAY8,width=32,height=32 "
                    "! spdlbatch batch-size=4 ! spdlsink")
    count = 0
    for batch in loader:
        mark = rng.randrange(256)
        np.asarray(batch["data"])[:] = mark
        place = rng.randrange(64)
        if place in kept:
            check(*kept.pop(place))
        kept[place] = rng.choice(VIEWS)(batch), mark
        count += 1
    loader.stop()
    del loader, batch
    gc.collect()
    for place in rng.sample(sorted(kept), len(kept)):
        check(*kept.pop(place))
    if count != n:
        sys.exit(f"{count} batches, not {n}")


main()
