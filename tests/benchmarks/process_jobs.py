# gst-spdl: what the benchmarks of worker processes share
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def as_it_is(sample):
    return sample


class NewArray:
    """Returns an array, which is made anew in each process."""

    def __init__(self, size):
        self.size = size
        self.array = None

    def __call__(self, sample):
        if self.array is None:
            import numpy

            self.array = numpy.ones(self.size, numpy.uint8)
        return self.array


class Spin:
    """A loop of pure Python."""

    def __init__(self, n):
        self.n = n

    def __call__(self, sample):
        spin(self.n)
        return sample


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def calibrate(seconds):
    """The number of turns that take that time."""
    n, took = 1000, 0.0
    while took < 0.05:
        n *= 2
        begun = time.process_time()
        spin(n)
        took = time.process_time() - begun
    return int(n * seconds / took)


def cpu_time_of_children():
    """CPU time of all processes below this one, in s."""
    stats = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii") as stream:
                fields = stream.read().rpartition(")")[2].split()
            stats[name] = fields[1], (int(fields[11]) + int(fields[12])) / TICK
        except (FileNotFoundError, ProcessLookupError):
            continue
    total, parents = 0.0, {str(os.getpid())}
    while parents:
        parents = {name for name, (parent, _) in stats.items()
                   if parent in parents}
        total += sum(stats[name][1] for name in parents)
    return total
