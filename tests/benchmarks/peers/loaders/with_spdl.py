# gst-spdl: SPDL as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Four variants: one task per image, as in a pipeline ported from a Dataset; the
fastest, load_image_batch() in a stage; the same in a subprocess, with the pool of
shared segments that its documentation recommends; and load_image_batch() with its
default resize, which pads. The other three stretch the image with swscale's
bilinear filter, as the job requires."""

import functools
import random

import numpy as np
import spdl.io
from spdl.pipeline import (PipelineBuilder, SharedMemorySegmentPool,
                           run_pipeline_in_subprocess)

RESIZE = "scale=w={0}:h={0}:flags=bilinear,format=pix_fmts=rgb24"
TIMEOUT = 60


class Source:
    """An iterable that can be sent to another process."""

    def __init__(self, job):
        self.job = job

    def __iter__(self):
        return self.job.passes()


def crop_box(rng, width, height):
    """Draws a box according to RandomResizedCrop."""
    for _ in range(10):
        area = width * height * rng.uniform(0.08, 1.0)
        ratio = np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            return w, h, rng.randint(0, width - w), rng.randint(0, height - h)
    side = min(width, height)
    return side, side, (width - side) // 2, (height - side) // 2


def filter_of(job, packets):
    resize = RESIZE.format(job.size)
    if not job.train:
        return resize

    w, h, x, y = crop_box(random, packets.codec.width, packets.codec.height)
    flip = "hflip," if random.random() < 0.5 else ""
    # Subsampled planes can only be cropped at even positions.
    return f"crop={w}:{h}:{x}:{y}:exact=0,{flip}{resize}"


def decode(job, source):
    packets = spdl.io.demux_image(source)
    return spdl.io.decode_packets(packets, filter_desc=filter_of(job, packets))


def stack(items, frames):
    data = spdl.io.to_numpy(spdl.io.convert_frames(frames))
    return (data, np.array([item.label for item in items]),
            np.array([item.index for item in items]))


# One task per image

def read(item):
    with open(item.path, "rb") as file:
        return item, file.read()


def decode_item(job, found):
    item, data = found
    return item, decode(job, data)


def collate(found):
    items, frames = zip(*found)
    return stack(items, list(frames))


# One task per batch

def load_batch(job, items):
    return stack(items, [decode(job, item.path) for item in items])


def load_image_batch(job, default, items):
    if job.train:
        return load_batch(job, items)
    paths = [item.path for item in items]
    if default:
        buffer = spdl.io.load_image_batch(paths, width=job.size,
                                          height=job.size)
    else:
        buffer = spdl.io.load_image_batch(
            paths, width=None, height=None,
            filter_desc=RESIZE.format(job.size))
    return (spdl.io.to_numpy(buffer), np.array([i.label for i in items]),
            np.array([i.index for i in items]))


def iterate(builder, job):
    pipeline = builder.add_sink(2).build(num_threads=job.workers)
    with pipeline.auto_stop():
        yield from pipeline.get_iterator(timeout=TIMEOUT)


def seed(job):
    return iterate(
        PipelineBuilder().add_source(Source(job))
        .pipe(read, concurrency=job.workers)
        .pipe(functools.partial(decode_item, job), concurrency=job.workers)
        .aggregate(job.batch).pipe(collate), job)


def batch_builder(job, default=False):
    return (PipelineBuilder().add_source(Source(job)).aggregate(job.batch)
            .pipe(functools.partial(load_image_batch, job, default),
                  concurrency=job.workers))


def best(job):
    return iterate(batch_builder(job), job)


def default(job):
    return iterate(batch_builder(job, True), job)


def subprocess(job):
    config = batch_builder(job).add_sink(2).get_config()
    arena = SharedMemorySegmentPool(
        segment_size=job.batch * job.size * job.size * 3 + (1 << 16), count=8)
    yield from run_pipeline_in_subprocess(config, num_threads=job.workers,
                                          arena=arena)


# Shards

def tar_items(job):
    """Yields the files of the tars, epoch after epoch. A sample has three
    files."""
    while True:
        for path in job.shard_paths():
            with open(path, "rb") as file:
                sample = {}
                for name, data in spdl.io.iter_tarfile(file):
                    sample[name.rpartition(".")[2]] = bytes(data)
                    if len(sample) == 3:
                        yield sample
                        sample = {}


def decode_sample(job, found):
    return found, decode(job, found["jpg"])


def collate_samples(found):
    data = spdl.io.to_numpy(spdl.io.convert_frames([f for _, f in found]))
    return (data, np.array([int(sample["cls"]) for sample, _ in found]),
            np.array([int(sample["index"]) for sample, _ in found]))


def shards(job):
    return iterate(
        PipelineBuilder().add_source(tar_items(job))
        .pipe(functools.partial(decode_sample, job), concurrency=job.workers)
        .aggregate(job.batch).pipe(collate_samples), job)


# HTTP, with a persistent connection per thread

def fetch_pipe(job):
    from .connection import get

    def download(item):
        return item, get(item.path)

    return PipelineBuilder().add_source(Source(job)).pipe(
        download, concurrency=job.connections)


def iterate_fetching(builder, job):
    pipeline = builder.add_sink(2).build(
        num_threads=job.connections + job.workers)
    with pipeline.auto_stop():
        yield from pipeline.get_iterator(timeout=TIMEOUT)


def to_bytes(found):
    items, data = zip(*found)
    return (data, np.array([i.label for i in items]),
            np.array([i.index for i in items]))


def fetch(job):
    return iterate_fetching(
        fetch_pipe(job).aggregate(job.batch).pipe(to_bytes), job)


def fetch_images(job):
    return iterate_fetching(
        fetch_pipe(job)
        .pipe(functools.partial(decode_item, job), concurrency=job.workers)
        .aggregate(job.batch).pipe(collate), job)


# Audio and video

def decode_sound(job, item):
    buffer = spdl.io.load_audio(
        item.path, filter_desc=spdl.io.get_audio_filter_desc(
            sample_rate=job.rate, num_channels=1, sample_fmt="flt"))
    return item, spdl.io.to_numpy(buffer)


def collate_sounds(found):
    items, arrays = zip(*found)
    data = np.zeros((len(arrays), max(map(len, arrays)), 1), np.float32)
    for row, array in zip(data, arrays):
        row[:len(array)] = array
    return (data, np.array([i.label for i in items]),
            np.array([i.index for i in items]))


def sounds(job):
    return iterate(
        PipelineBuilder().add_source(Source(job))
        .pipe(functools.partial(decode_sound, job), concurrency=job.workers)
        .aggregate(job.batch).pipe(collate_sounds), job)


def decode_clip(job, item):
    """Decodes the middle frame of each of a number of segments."""
    packets = spdl.io.demux_video(item.path)
    n = len(packets)
    indices = [(2 * i + 1) * n // (2 * job.frames) for i in range(job.frames)]
    frames = spdl.io.sample_decode_video(
        packets, indices, filter_desc=RESIZE.format(job.size))
    return item, spdl.io.to_numpy(spdl.io.convert_frames(frames))


def collate_clips(found):
    items, arrays = zip(*found)
    return (np.stack(arrays), np.array([i.label for i in items]),
            np.array([i.index for i in items]))


def clips(job):
    return iterate(
        PipelineBuilder().add_source(Source(job))
        .pipe(functools.partial(decode_clip, job), concurrency=job.workers)
        .aggregate(job.batch).pipe(collate_clips), job)


# Tiny items

def same(item):
    return item


def tiny(job):
    builder = PipelineBuilder().add_source(range(job.count)).pipe(
        same, concurrency=job.workers)
    if job.batch > 1:
        builder = builder.aggregate(job.batch)
    pipeline = builder.add_sink(64).build(num_threads=job.workers)
    with pipeline.auto_stop():
        for found in pipeline.get_iterator(timeout=TIMEOUT):
            yield len(found) if job.batch > 1 else 1
