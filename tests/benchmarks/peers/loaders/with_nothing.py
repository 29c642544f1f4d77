# gst-spdl: constant batch as a peer, the cost without a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import numpy as np


def batches(job):
    data = np.zeros((job.batch, job.size, job.size, 3), np.uint8)
    numbers = np.arange(job.batch)
    while True:
        yield data, numbers, numbers
