# gst-spdl: NVIDIA DALI on the CPU as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pipeline with device_id=None and DALI's reader, decoder and resize, which
antialiases by default (linear, with antialias: triangular). Batches come from
run(), since the iterator for PyTorch copies them. The reader's labels are the
indices of the items, so that these are delivered as well."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types


@pipeline_def
def graph(job):
    items = job.items()
    data, index = fn.readers.file(
        files=[item.path for item in items],
        labels=[item.index for item in items], name="reader")
    return images(job, data), index


def images(job, data):
    flip = None
    if job.train:
        image = fn.decoders.image_random_crop(
            data, device="cpu", output_type=types.RGB,
            random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
        flip = fn.random.coin_flip()
    else:
        image = fn.decoders.image(data, device="cpu", output_type=types.RGB)
    image = fn.resize(image, resize_x=job.size, resize_y=job.size,
                      interp_type=types.INTERP_TRIANGULAR)
    return image if flip is None else fn.flip(image, horizontal=flip)


def run(job, made):
    labels = np.array([item.label for item in job.items()])
    made.build()
    while True:
        data, index = made.run()
        index = np.asarray(index.as_array()).reshape(-1)
        yield data.as_array(), labels[index], index


def settings(job):
    return {"batch_size": job.batch, "num_threads": job.workers,
            "device_id": None, "seed": job.seed, "prefetch_queue_depth": 2}


def exact(job):
    return run(job, graph(job, **settings(job)))


@pipeline_def
def shard_graph(job):
    data, label, index = fn.readers.webdataset(
        paths=job.shard_paths(), ext=["jpg", "cls", "index"],
        missing_component_behavior="error")
    return images(job, data), label, index


def number(row):
    return int(bytes(row).decode())


def shards(job):
    made = shard_graph(job, **settings(job))
    made.build()
    while True:
        data, label, index = made.run()
        yield (data.as_array(),
               np.array([number(np.asarray(row)) for row in label]),
               np.array([number(np.asarray(row)) for row in index]))


@pipeline_def
def sound_graph(job):
    items = job.items()
    data, index = fn.readers.file(
        files=[item.path for item in items],
        labels=[item.index for item in items])
    sound, _ = fn.decoders.audio(data, sample_rate=job.rate, downmix=True,
                                 dtype=types.FLOAT)
    return fn.pad(sound), index


def sounds(job):
    return run(job, sound_graph(job, **settings(job)))


@pipeline_def
def tiny_graph(job):
    return fn.external_source(
        source=lambda i: np.arange(i * job.batch, (i + 1) * job.batch,
                                   dtype=np.int64), batch=True)


def tiny(job):
    made = tiny_graph(job, **settings(job))
    made.build()
    for _ in range(job.count // job.batch):
        yield len(made.run()[0].as_array())
