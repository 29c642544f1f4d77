# gst-spdl: gst-spdl as a peer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Uses queue-size=16, as tasks take less than a millisecond, and otherwise the
defaults; default_queues() uses only defaults. `fast-scale` is off unless the row
enables it, since all peers decode the whole image. Plugins and typelib come from
`meson devenv`."""

import gstspdl
from gstspdl import Loader

SOURCE = 'spdlsrc location="{list}" epochs=-1 '
FETCH = "! spdlfetch queue-size=16 "
DECODE = ("! spdldecode queue-size=16 concurrency={workers} "
          "width={size} height={size} {more} ")
BATCH = "! spdlbatch batch-size={batch} labels=true indices=true {pad} ! spdlsink"
NUMBERS = ('"other/tensors,format=static,num_tensors=1,types=(string)uint8,'
           'dimensions=(string)18,framerate=0/1"')
TRAIN = ("augment=random-resized-crop crop-scale=<0.08,1.0> flip=0.5 "
         "seed={seed}")


IMAGES = SOURCE + FETCH + DECODE + BATCH


def run(job, line, more="", pad="", **settings):
    more = more.format(**job._asdict())
    loader = Loader(line.format(**job._asdict(), more=more, pad=pad),
                    **settings)
    with loader:
        while True:
            for batch in loader:
                yield (batch["data"].numpy(), batch["labels"].numpy(),
                       batch["indices"].numpy())
            if loader.num_failures:
                raise RuntimeError(loader.failures[-1])


def full(job, line=IMAGES, **settings):
    return run(job, line, (TRAIN if job.train else "") + " fast-scale=false",
               **settings)


def default_queues(job):
    return full(job, IMAGES.replace("queue-size=16 ", ""))


def nice(job):
    """Runs in a process with a lower priority than the trainer."""
    return full(job, process={"nice": 19})


def background(job):
    """Runs on cores that no other thread wants."""
    gstspdl.set_background()
    return full(job)


def fast(job):
    return run(job, SOURCE + FETCH + DECODE + BATCH, TRAIN if job.train else "")


def shards(job):
    return run(job._replace(list=job.shards + "/*.tar"),
               SOURCE + FETCH + DECODE + BATCH, "fast-scale=false")


def fetch(job):
    """Fetches the contents of each file."""
    line = SOURCE + ("! spdlfetch concurrency={connections} caps=image/jpeg "
                     "! spdlsink max-buffers={batch}")
    with Loader(line.format(**job._asdict())) as loader:
        while True:
            for batch in loader:
                yield batch["data"].numpy(), batch.labels, batch.indices
            if loader.num_failures:
                raise RuntimeError(loader.failures[-1])


def fetch_images(job):
    return run(job, SOURCE + "! spdlfetch concurrency={connections} " + DECODE
               + BATCH)


def sounds(job):
    return run(job, SOURCE + FETCH + "! spdldecode queue-size=16 "
               "concurrency={workers} rate={rate} channels=1 " + BATCH,
               pad="pad-to-longest=true")


def clips(job):
    return run(job, SOURCE + FETCH + DECODE + BATCH,
               "num-frames={frames} clip-sampling=uniform resize=stretch")


def tiny(job):
    """Passes the lines of a list, all of equal length, through a stage that
    does nothing. They are declared as tensors so that they can be stacked."""
    line = 'spdlsrc location="{list}" ! spdlteststage queue-size=64 '
    if job.batch > 1:
        line += f"! capssetter join=false replace=true caps={NUMBERS} "
        line += "! spdlbatch batch-size={batch} "
    line += "! spdlsink max-buffers=64"
    with Loader(line.format(**job._asdict())) as loader:
        for batch in loader:
            yield batch.num_items
