#!/usr/bin/python3
# gst-spdl: jobs of bench-python, each run in its own process
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""python_jobs.py JOB ARGUMENT...: prints one figure as JSON."""

import functools
import itertools
import json
import pathlib
import subprocess
import sys
import threading
import time

SIZE = 224
BATCH = 32


def line(source, batch=BATCH, side=SIZE, sink="spdlsink"):
    return (f'spdlsrc location="{source}" epochs=-1 ! spdlfetch concurrency=4 '
            f"! spdldecode concurrency=2 width={side} height={side} "
            f"! spdlbatch batch-size={batch} ! {sink}")


class Images:
    """A PyTorch dataset that does the same job with Pillow."""

    def __init__(self, source):
        text = pathlib.Path(source).read_text()
        self.paths = [row.split("\t")[0] for row in text.splitlines()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        import numpy as np
        import torch
        from PIL import Image
        image = Image.open(self.paths[i]).convert("RGB")
        image = image.resize((SIZE, SIZE), Image.BILINEAR)
        return torch.from_numpy(np.array(image)), i


def torch_loader(source, method):
    from torch.utils.data import DataLoader
    return DataLoader(Images(source), BATCH, num_workers=2,
                      multiprocessing_context=method)


def spdl_batches(source):
    """Does the same job with SPDL, whose decoder is FFmpeg's."""
    import spdl.io
    from spdl.pipeline import PipelineBuilder
    pipeline = (
        PipelineBuilder()
        .add_source(itertools.cycle(Images(source).paths))
        .aggregate(BATCH)
        .pipe(lambda paths: spdl.io.load_image_batch(
            paths, width=SIZE, height=SIZE, strict=False), concurrency=2)
        .add_sink(2)
        .build(num_threads=2))
    with pipeline.auto_stop():
        yield from pipeline.get_iterator(timeout=60)


def first_batch(source):
    from gstspdl import Loader
    begun, cpu = time.perf_counter(), time.process_time()
    loader = Loader(line(source))
    batch = next(iter(loader))
    took, cpu = time.perf_counter() - begun, time.process_time() - cpu
    keys = list(batch.keys)
    loader.stop()
    return took, cpu, keys


def decoding(keys):
    """Returns the time to decode just these images with two threads."""
    from concurrent.futures import ThreadPoolExecutor

    from gstspdl import decode
    data = [pathlib.Path(key.removeprefix("file://")).read_bytes()
            for key in keys]
    with ThreadPoolExecutor(2) as pool:
        work = functools.partial(decode, width=SIZE, height=SIZE)
        list(pool.map(work, data))  # threads and decoders are started
        begun, cpu = time.perf_counter(), time.process_time()
        list(pool.map(work, data))
        return time.perf_counter() - begun, time.process_time() - cpu


def first(source):
    took, cpu, keys = first_batch(source)
    decode, decode_cpu = decoding(keys)
    return {"first": took, "decoding": decode, "cpu": cpu - decode_cpu}


def first_torch(source, method):
    import torch.utils.data  # noqa: F401
    from PIL import Image  # noqa: F401
    begun = time.perf_counter()
    iterator = iter(torch_loader(source, method))
    next(iterator)
    took = time.perf_counter() - begun
    return {"first": took}


def spin(seconds):
    """Runs a loop of pure Python and returns the rounds per second."""
    end = time.perf_counter() + seconds
    rounds = 0
    while time.perf_counter() < end:
        for _ in range(1000):
            rounds += 1
    return rounds / seconds


def consume(batches, go_on, count):
    while go_on[0]:
        for _ in batches:
            count[0] += 1
            if not go_on[0]:
                break


def loop(kind, source, seconds):
    """Runs the loop in the main thread while a loader runs, in this process
    or, as a C program, in another."""
    seconds = float(seconds)
    other = thread = None
    go_on, count = [True], [0]
    if kind == "c":
        other = subprocess.Popen(
            ["gst-launch-1.0", "-q", *line(source, sink="fakesink").split()])
    elif kind == "ours":
        from gstspdl import Loader
        batches = Loader(line(source))
    elif kind == "torch":
        batches = torch_loader(source, "fork")
    elif kind == "spdl":
        batches = spdl_batches(source)
    if kind in ("ours", "torch", "spdl"):
        thread = threading.Thread(
            target=consume, args=(batches, go_on, count), daemon=True)
        thread.start()
    time.sleep(1.5)
    rounds = spin(seconds)
    go_on[0] = False
    if other:
        other.kill()
        other.wait()
    if thread:
        # DataLoader aborts an interpreter that exits while a thread runs.
        thread.join()
    if kind == "ours":
        batches.stop()
    return {"rounds": rounds, "batches": count[0]}


def pull(side, batch, n):
    """Returns the CPU time of the pulling thread per batch, while another
    thread fills memory as fast as possible, and without any other work."""
    import numpy as np
    from gstspdl import Loader
    side, batch, n = int(side), int(batch), int(n)
    loader = Loader(
        "videotestsrc pattern=black is-live=false ! video/x-raw,format=RGB,"
        f"width={side},height={side} ! spdlbatch batch-size={batch} ! spdlsink")
    iterator = iter(loader)
    for _ in range(20):
        next(iterator)
    begun = time.thread_time()
    for _ in range(n):
        np.asarray(next(iterator)["data"])
    cpu = (time.thread_time() - begun) / n
    loader.stop()

    # All batches wait in the sink, so no other thread works meanwhile.
    held = 10
    waiting = []
    for _ in range(9):
        loader = Loader(
            f"videotestsrc num-buffers={batch * held} pattern=black "
            f"! video/x-raw,format=RGB,width={side},height={side} "
            f"! spdlbatch batch-size={batch} ! spdlsink max-buffers={held}")
        iterator = iter(loader)
        while loader.stats[-1]["num-items"] < batch * held:
            time.sleep(0.001)
        time.sleep(0.01)
        begun = time.thread_time()
        for _ in range(held):
            np.asarray(next(iterator)["data"])
        waiting.append((time.thread_time() - begun) / held)
        loader.stop()
    return {"cpu": cpu, "waiting": sorted(waiting)[len(waiting) // 2]}


def interrupt(seconds):
    """Returns the time from a SIGINT to KeyboardInterrupt, in a loop that
    waits for a batch."""
    import os
    import signal

    from gstspdl import Loader

    def nothing():
        threading.Event().wait()
        yield b""

    # Background jobs of a shell ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []

    def send():
        time.sleep(float(seconds))
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    loader = Loader("spdldecode ! spdlbatch ! spdlsink", source=nothing())
    threading.Thread(target=send).start()
    try:
        next(iter(loader))
    except KeyboardInterrupt:
        return {"took": time.perf_counter() - sent[0]}
    return None


RUNNING = []


def leave(source):
    """Returns the time to exit with loaders that still run."""
    from gstspdl import Loader
    for _ in range(5):
        RUNNING.append(Loader(line(source)))
        next(iter(RUNNING[-1]))
    return {"at": time.monotonic()}


JOBS = {"first": first, "first-torch": first_torch, "loop": loop,
        "pull": pull, "interrupt": interrupt, "leave": leave}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
