# gst-spdl: Grain as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A MapDataset with the Dataset of with_torch, batches and an iterator, as in Grain's
documentation. It reads with threads, or with worker processes."""

import functools

import grain
import numpy as np

from .with_torch import Pillow


def get(dataset, i):
    data, label, index = dataset[i]
    return np.asarray(data), np.int64(label), np.int64(index)


def dataset_of(job):
    dataset = Pillow(job)
    return (grain.MapDataset.range(len(dataset)).repeat()
            .map(functools.partial(get, dataset)).batch(job.batch))


def threads(job):
    return iter(dataset_of(job).to_iter_dataset(
        grain.ReadOptions(num_threads=job.workers)))


def processes(job):
    return iter(dataset_of(job).to_iter_dataset().mp_prefetch(
        grain.MultiprocessingOptions(num_workers=job.workers)))
