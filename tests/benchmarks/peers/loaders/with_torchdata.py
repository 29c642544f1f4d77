# gst-spdl: torchdata's nodes as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds a loader from torchdata.nodes as in its documentation: a source, a parallel
map, batches, a collation, a prefetcher. It uses threads, because with two
processes, forked or from a fork server, it hung (torchdata 0.11.0, PyTorch
2.15.0); the cause is unknown."""

import functools

import torch
from torchdata import nodes

from .with_torch import Pillow, passes


def collate(found):
    data, labels, indices = zip(*found)
    return torch.stack(data), torch.tensor(labels), torch.tensor(indices)


def get(dataset, i):
    return dataset[i]


def threads(job):
    dataset = Pillow(job)
    while True:
        node = nodes.IterableWrapper(passes(len(dataset)))
        node = nodes.ParallelMapper(
            node, functools.partial(get, dataset), num_workers=job.workers,
            in_order=True, method="thread")
        node = nodes.Batcher(node, job.batch, drop_last=False)
        node = nodes.Mapper(node, collate)
        for data, labels, indices in nodes.Loader(nodes.Prefetcher(node, 2)):
            yield data, labels.numpy(), indices.numpy()


def same(item):
    return item


def tiny(job):
    node = nodes.IterableWrapper(range(job.count))
    node = nodes.ParallelMapper(node, same, num_workers=job.workers,
                                method="thread")
    if job.batch > 1:
        node = nodes.Batcher(node, job.batch, drop_last=False)
    for found in nodes.Loader(node):
        yield len(found) if job.batch > 1 else 1
