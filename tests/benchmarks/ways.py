# gst-spdl: implementations of JPEG decode and resize, here and in other
# libraries
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each way has a function that measures its cost for a number of seconds, and
results whose PSNR against Pillow's full decode and bilinear resize is measured."""

import os
import pathlib
import statistics
import subprocess
import sys

from PIL import Image

import pillow_cost
from rounds import Cost

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
from accuracy import decode, psnr, reference  # noqa: E402

SIZE = (224, 224)
CROP = "augment=random-resized-crop crop-scale=<0.08,1.0> seed=1"
PIPELINE = ('spdlsrc location="{folder}" epochs={epochs} '
            "! spdlfetch queue-size=16 "
            "! spdldecode queue-size=16 concurrency={workers} {properties} "
            "! spdlbatch batch-size=32 labels=true ! fakesink name=sink")


def numbers(*command):
    return list(map(float, subprocess.run(
        list(map(str, command)), check=True, text=True,
        stdout=subprocess.PIPE).stdout.split()))


def machine_times():
    """Returns CPU seconds of all programs, of this process's children, and in
    total."""
    # user nice system idle iowait irq softirq steal
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = list(map(int, stat.readline().split()[1:9]))
    everything = sum(ticks) / os.sysconf("SC_CLK_TCK")
    idle = (ticks[3] + ticks[4]) / os.sysconf("SC_CLK_TCK")
    times = os.times()
    return (everything - idle, times.children_user + times.children_system,
            everything)


def foreign_share(before, after):
    """Returns the share of the machine that other programs used in between."""
    used, own, everything = (b - a for a, b in zip(before, after))
    return max(0.0, used - own) / everything if everything else 0.0


class Job:
    """A set, the result to make of it, and the paths of the programs."""

    def __init__(self, programs, folder, work, crop):
        self.programs, self.folder, self.crop = programs, folder, crop
        self.list = work / "list.txt"
        self.results = work / "results.rgb"
        self.properties = f"width={SIZE[0]} height={SIZE[1]}" + (
            " " + CROP if crop else "")
        self.floor_us = None
        self.items, self.references = [], []

    def prepare(self):
        """Decodes once with gst-spdl, which determines the order of the files
        and the boxes for all others. Returns its PSNR."""
        done = list(decode(self.folder, self.properties))
        self.items = [(path, box) for path, _, box in done]
        self.references = [reference(path, SIZE, box)
                           for path, box in self.items]
        self.list.write_text("".join(
            "\t".join(map(str, (path, *box_fields(box)))) + "\n"
            for path, box in self.items))
        return self.accuracy(image for _, image, _ in done)

    def accuracy(self, images):
        """Returns mean and minimum PSNR of results in the order of the items."""
        figures = [psnr(a, b) for a, b in zip(images, self.references,
                                              strict=True)]
        return statistics.mean(figures), min(figures)

    # Costs

    def floor(self, seconds):
        cost = Cost(*numbers(self.programs / "floor-jpeg", self.folder, seconds))
        self.floor_us = cost.us
        return cost

    def ours(self, extra="", workers=1):
        def measure(seconds):
            # A pass is about as long as the floor's. The first one is a
            # warm-up.
            passes = seconds * 1e6 * workers / (len(self.items) * self.floor_us)
            before = machine_times()
            cpu, wall = numbers(
                self.programs / "pipeline-cost", PIPELINE.format(
                    folder=self.folder, epochs=1 + max(1, round(passes)),
                    workers=workers, properties=f"{self.properties} {extra}"))
            return Cost(cpu, cpu / (workers * wall),
                        foreign_share(before, machine_times()))
        return measure

    def pillow(self, way):
        return lambda seconds: Cost(*numbers(
            "/usr/bin/python3", HERE / "pillow_cost.py", way, self.list,
            seconds, *SIZE))

    def ffmpeg(self, seconds):
        return Cost(*numbers(self.programs / "ffmpeg-cost", self.list, seconds,
                             *SIZE))

    # Results

    def ours_accuracy(self, extra):
        done = list(decode(self.folder, f"{self.properties} {extra}"))
        return self.accuracy(image for _, image, _ in done)

    def pillow_accuracy(self, way):
        return self.accuracy(pillow_cost.WAYS[way](path, SIZE, box)
                             for path, box in self.items)

    def ffmpeg_accuracy(self):
        subprocess.run(list(map(str, (self.programs / "ffmpeg-cost", self.list,
                                      0, *SIZE, self.results))), check=True)
        data, n = self.results.read_bytes(), SIZE[0] * SIZE[1] * 3
        self.results.unlink()
        return self.accuracy(Image.frombytes("RGB", SIZE, data[at:at + n])
                             for at in range(0, len(data), n))


def box_fields(box):
    if not box:
        return ()
    left, top, right, bottom = box
    return left, top, right - left, bottom - top
