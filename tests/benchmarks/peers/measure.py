#!/usr/bin/python3
# gst-spdl: measurement of one loader in its own process
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""measure.py KIND MODULE:LOADER JOB [SETTINGS]: prints figures as JSON. JOB and
SETTINGS are JSON; their fields are described in loaders/job.py and below."""

import importlib
import itertools
import json
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from loaders.job import Job  # noqa: E402
import usage  # noqa: E402

PAGE = 4096


def load(name):
    module, _, function = name.partition(":")
    return getattr(importlib.import_module("loaders." + module), function)


def as_array(data):
    """Returns a NumPy view of the data; a tuple of bytes is returned as it is."""
    return data if isinstance(data, tuple) else np.asarray(data)


def touch(data):
    """Reads a byte of each page."""
    if isinstance(data, tuple):
        return sum(sum(piece[::PAGE]) for piece in data)
    return int(data.reshape(-1).view(np.uint8)[::PAGE].sum())


def batches(name, job):
    for data, labels, indices in load(name)(job):
        data = as_array(data)
        touch(data)
        yield data, labels, indices


def rate(name, job, settings):
    """Returns CPU time and wall-clock time per item over whole epochs, once
    queues are full."""
    n_items = settings.get("epoch") or len(job.items())
    loader = batches(name, job)
    for _ in range(settings.get("warm", 4) + 2 * job.workers):
        next(loader)
    cpu, wall, main = (usage.cpu_seconds(), time.perf_counter(),
                       time.thread_time())
    n, wanted = 0, n_items
    while True:
        n += len(next(loader)[2])
        if n >= wanted:
            took = time.perf_counter() - wall
            if took >= settings["seconds"]:
                break
            wanted += n_items
    return {"us": (usage.cpu_seconds() - cpu) / n * 1e6,
            "wall": took / n * 1e6,
            "main": (time.thread_time() - main) / n * 1e6, "items": n}


def check(name, job, settings):
    """Checks that an epoch has each item once with its label. The first
    results are written to a file."""
    items = job.items()
    loader = load(name)(job)
    seen, wrong, n = {}, 0, 0
    while n < len(items) or len(seen) < len(items):
        data, labels, indices = next(loader)
        data = as_array(data)
        n += len(indices)
        for row, label, index in zip(data, labels, indices):
            wrong += int(label) != items[int(index)].label
            if int(index) not in seen:
                keep = index < settings["keep"] and settings.get("out")
                seen[int(index)] = np.array(row) if keep else None
        if n > 2 * len(items) + 4 * job.batch:
            break
    if settings.get("out"):
        found = [seen[i] for i in range(settings["keep"])]
        np.save(settings["out"], np.stack(found))
    shape = list(np.shape(data[0])) if len(data) else []
    return {"items": len(seen), "of": len(items), "beyond": n - len(items),
            "wrong": wrong, "shape": shape,
            "type": getattr(getattr(data, "dtype", None), "name", "bytes")}


def start(name, job, _):
    """Returns the time from the creation of a loader to its first batch, and
    subtracts the time of a later batch with the same worker."""
    import torch  # noqa: F401  as in a trainer
    begun = time.perf_counter()
    make = load(name)
    imported = time.perf_counter()
    loader = make(job)
    next(loader)
    first = time.perf_counter() - imported
    for _ in range(6):
        next(loader)
    begun_steady = time.perf_counter()
    for _ in range(8):
        next(loader)
    batch = (time.perf_counter() - begun_steady) / 8
    return {"first": first * 1e3, "batch": batch * 1e3,
            "beyond": (first - batch) * 1e3,
            "import": (imported - begun) * 1e3}


def memory(name, job, settings):
    """Returns peak PSS and RSS, minus those of this script before it imports
    the loader."""
    import torch  # noqa: F401  as in a trainer
    pss, rss = usage.memory()
    loader = batches(name, job)
    until, found = None, []
    while until is None or time.perf_counter() < until:
        next(loader)
        found.append(usage.memory())
        until = until or time.perf_counter() + settings["seconds"]
        time.sleep(0.02)
    return {"pss": (max(f[0] for f in found) - pss) / 1e6,
            "rss": (max(f[1] for f in found) - rss) / 1e6}


def piece():
    """Runs about 0.5 ms of pure Python."""
    rounds = 0
    for _ in range(8000):
        rounds += 1
    return rounds


def jitter(name, job, settings):
    """Returns the times that equal pieces of Python take in the main thread,
    between its batches, while the loader runs."""
    loader = batches(name, job)
    for _ in range(4):
        next(loader)
    took = []
    until = time.perf_counter() + settings["seconds"]
    while time.perf_counter() < until:
        next(loader)
        for _ in range(20):
            begun = time.perf_counter()
            piece()
            took.append((time.perf_counter() - begun) * 1e6)
    took.sort()
    return {"p99": took[len(took) * 99 // 100], "median": took[len(took) // 2],
            "mean": sum(took) / len(took), "most": took[-1]}


def hand_over(name, job, settings):
    """Returns the main thread's time to take a batch that is ready and to read
    a byte of each page."""
    loader = load(name)(job)
    for _ in range(6):
        next(loader)
    wall, cpu = [], []
    for _ in range(settings["batches"]):
        time.sleep(settings["pause"])
        begun, begun_cpu = time.perf_counter(), time.thread_time()
        touch(as_array(next(loader)[0]))
        wall.append((time.perf_counter() - begun) * 1e6)
        cpu.append((time.thread_time() - begun_cpu) * 1e6)
    middle = len(wall) // 2
    return {"us": sorted(cpu)[middle], "wall": sorted(wall)[middle]}


def pass_of(make, job):
    cpu, wall = usage.cpu_seconds(), time.perf_counter()
    n = sum(make(job))
    if n < job.count - job.batch:
        raise RuntimeError(f"{n} of {job.count} items came")
    return usage.cpu_seconds() - cpu, time.perf_counter() - wall


def tiny(name, job, settings):
    """Returns the CPU time per item, as the slope between a tenth of the items
    and all."""
    make = load(name)
    jobs = [job._replace(count=n, list=path) for n, path in
            itertools.zip_longest((job.count // 10, job.count),
                                  settings.get("lists", ()), fillvalue="")]
    pass_of(make, jobs[0])
    less, more = (pass_of(make, each) for each in jobs)
    n = jobs[1].count - jobs[0].count
    return {"us": (more[0] - less[0]) / n * 1e6,
            "wall": (more[1] - less[1]) / n * 1e6, "items": job.count}


KINDS = {"rate": rate, "check": check, "start": start, "memory": memory,
         "jitter": jitter, "hand-over": hand_over, "tiny": tiny}


def main():
    kind, name, job, *more = sys.argv[1:]
    found = KINDS[kind](name, Job.of(json.loads(job)),
                        json.loads(more[0]) if more else {})
    print(json.dumps(found), flush=True)
    # The result is complete, even if loaders still run.
    sys.stdout.close()


if __name__ == "__main__":
    main()
