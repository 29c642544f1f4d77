#!/usr/bin/python3
# gst-spdl: trainer with many short, latency-sensitive tasks
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""noisy_jobs KIND LIST SECONDS: prints, as JSON, how late its tasks were, how
long its steps took, and the CPU time of all of its processes.

A step is 100 launches, one every 200 us: small PyTorch operations on the CPU,
called in a Python loop as a trainer calls those of a device. Then it takes the
next batch. Without a loader a step takes 20 ms."""

import json
import os
import pathlib
import statistics
import sys
import time

import python_jobs
import torch

sys.path.append(str(pathlib.Path(__file__).parent / "peers"))
import usage  # noqa: E402

LAUNCHES = 100
PERIOD = 200e-6
WARM = 1.0


def ours(source, process):
    from gstspdl import Loader
    return Loader(python_jobs.line(source), process=process)


class SpdlImages:
    """SPDL's pipeline in its subprocess, with arrays, as SPDL's buffers cannot
    be sent between processes."""

    def __init__(self, source):
        self.source = source

    def __iter__(self):
        import spdl.io
        for batch in python_jobs.spdl_batches(self.source):
            yield spdl.io.to_numpy(batch)


def spdl_in_subprocess(source):
    import functools

    from spdl.pipeline import iterate_in_subprocess
    return iterate_in_subprocess(functools.partial(SpdlImages, source),
                                 buffer_size=2, mp_context="forkserver")


def nothing():
    while True:
        yield None


KINDS = {
    "nothing": lambda source: nothing(),
    "ours": lambda source: ours(source, False),
    "ours, process": lambda source: ours(source, True),
    "ours, process, nice": lambda source: ours(source, {"nice": 19}),
    "DataLoader": lambda source: python_jobs.torch_loader(source, "fork"),
    "SPDL": python_jobs.spdl_batches,
    "SPDL, subprocess": spdl_in_subprocess,
}


def endless(batches):
    while True:
        yield from batches


def step(late, weights, inputs):
    """Launches each task when it is due, or as soon as possible."""
    due = time.perf_counter()
    for _ in range(LAUNCHES):
        due += PERIOD
        rest = due - time.perf_counter()
        if rest > 0:
            time.sleep(rest)
        late.append(time.perf_counter() - due)
        torch.add(inputs, weights, out=inputs)


def quantile(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def main():
    kind, source, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    torch.set_num_threads(1)
    loader = KINDS[kind](source)
    batches = endless(loader)
    weights, inputs = torch.ones(64, 64), torch.ones(64, 64)
    late, steps, waits = [], [], []
    next(batches)
    cpu_before, began = usage.cpu_seconds(), time.perf_counter()
    begin = began + WARM
    while time.perf_counter() < begin + seconds:
        if time.perf_counter() < begin:
            late.clear(), steps.clear(), waits.clear()
        before = time.perf_counter()
        step(late, weights, inputs)
        done = time.perf_counter()
        next(batches)
        steps.append(done - before)
        waits.append(time.perf_counter() - done)
    cpu = usage.cpu_seconds() - cpu_before
    took = time.perf_counter() - began
    print(json.dumps({
        "step": statistics.mean(steps), "step99": quantile(steps, 0.99),
        "late50": quantile(late, 0.5), "late99": quantile(late, 0.99),
        "wait": statistics.mean(waits),
        "rate": len(steps) / (sum(steps) + sum(waits)),
        "cpu": cpu / took}), flush=True)
    usage.kill_children()
    os._exit(0)


if __name__ == "__main__":
    main()
