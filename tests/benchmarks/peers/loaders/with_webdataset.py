# gst-spdl: WebDataset as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads tar shards with WebDataset and its WebLoader, and decodes with Pillow, as
in its documentation. Workers make the batches."""

import numpy as np
import torch
import webdataset as wds

from .with_torch import transform_of

torch.set_num_threads(1)


def run(job):
    transform = transform_of(job)

    def make(sample):
        image = np.array(transform(sample["jpg"].convert("RGB")))
        return image, sample["cls"], int(sample["__key__"].rsplit("/", 1)[-1])

    dataset = wds.WebDataset(job.shard_paths(), shardshuffle=False)
    dataset = dataset.decode("pil").map(make).batched(job.batch)
    loader = wds.WebLoader(dataset, batch_size=None, num_workers=job.workers,
                           persistent_workers=True)
    while True:
        for data, labels, indices in loader:
            yield data, np.asarray(labels), np.asarray(indices)


def tiny(job):
    def numbers(_):
        return ((i,) for i in range(job.count))

    pipeline = wds.DataPipeline(
        lambda: iter([0]), numbers, wds.map(lambda item: item),
        *([wds.batched(job.batch)] if job.batch > 1 else []))
    for found in pipeline:
        yield len(found[0]) if job.batch > 1 else 1
