#!/usr/bin/python3
# gst-spdl: transfer of arrays between processes with other packages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""handover_jobs WAY IMAGES N: prints the CPU time per array of each process, in
microseconds. The array is filled once and sent N times, and the receiver drops
it."""

import multiprocessing
import os
import resource
import sys
import time

import numpy as np

FORK = multiprocessing.get_context("fork")


def cpu():
    return time.process_time()


def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def make(images):
    return np.full((images, 224, 224, 3), 7, np.uint8)


def send_arrays(queue, images, n):
    array = make(images)
    for _ in range(n):
        queue.put(array)
    queue.close()
    queue.join_thread()


def over_queue(images, n):
    """multiprocessing: arrays pickled through a pipe."""
    queue = FORK.Queue(2)
    process = FORK.Process(target=send_arrays, args=(queue, images, n))
    process.start()
    begun = cpu()
    for _ in range(n):
        queue.get()
    took = cpu() - begun
    process.join()
    return took, children()


def send_tensors(queue, done, images, n):
    import torch
    # A DataLoader's worker makes each batch in new shared memory. Filling it
    # does not count here, so there is one batch that is filled once.
    tensor = torch.from_numpy(make(images)).share_memory_()
    for _ in range(n):
        queue.put(tensor)
    done.wait()


def over_torch(images, n):
    """PyTorch: shared memory, with a descriptor per tensor."""
    import torch.multiprocessing as mp
    fork = mp.get_context("fork")
    queue, done = fork.Queue(2), fork.Event()
    process = fork.Process(target=send_tensors,
                           args=(queue, done, images, n))
    process.start()
    begun = cpu()
    for _ in range(n):
        tensor = queue.get()
        del tensor
    took = cpu() - begun
    done.set()
    process.join()
    return took, children()


class Arrays:
    """The source of SPDL's subprocess."""

    def __init__(self, images, n):
        self.images, self.n = images, n

    def __iter__(self):
        array = make(self.images)
        for _ in range(self.n):
            yield array


def over_spdl(images, n):
    """SPDL: a subprocess with its arena of shared memory."""
    import functools

    from spdl.pipeline import SharedMemorySegmentPool, iterate_in_subprocess
    arrays = iterate_in_subprocess(
        functools.partial(Arrays, images, n), buffer_size=2, mp_context="fork",
        arena=SharedMemorySegmentPool(make(images).nbytes + 65536, 4))
    begun = None
    for array in arrays:
        if begun is None:
            begun = cpu()
        del array
    took = cpu() - begun
    del arrays
    return took, children()


WAYS = {"multiprocessing": over_queue, "torch": over_torch,
        "spdl": over_spdl}


def main():
    way, images, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    run = WAYS[way]
    here, there = run(images, n)
    print(f"{here / n * 1e6:.2f} {there / n * 1e6:.2f}", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
