#!/usr/bin/python3
# gst-spdl: image decode and resize with Pillow, a reference of bench-decode
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decodes all JPEGs of a list and resizes them to one size in one thread, repeatedly
for some seconds, and prints the CPU time per image.

    pillow_cost.py full|draft LIST SECONDS WIDTH HEIGHT

A line of the list is a path, followed, for a crop, by its left, top, width and
height after tabs. `draft` lets libjpeg-turbo decode at a half, a quarter or an
eighth of the size if that is large enough.
"""

import math
import pathlib
import sys
import time

from PIL import Image


def read_list(path):
    """Returns path and box (left, top, right, bottom, or None) of each line."""
    for line in pathlib.Path(path).read_text().splitlines():
        name, *box = line.split("\t")
        x, y, width, height = map(int, box) if box else (0,) * 4
        yield name, (x, y, x + width, y + height) if box else None


def full(path, size, box):
    with Image.open(path) as image:
        image = image.convert("RGB")
    if box:
        image = image.crop(box)
    return image.resize(size, Image.BILINEAR)


def draft(path, size, box):
    with Image.open(path) as image:
        width, height = image.size
        left, top, right, bottom = box or (0, 0, width, height)
        image.draft("RGB", (math.ceil(width * size[0] / (right - left)),
                            math.ceil(height * size[1] / (bottom - top))))
        across, down = image.width / width, image.height / height
        return image.convert("RGB").resize(
            size, Image.BILINEAR,
            (left * across, top * down, right * across, bottom * down))


WAYS = {"full": full, "draft": draft}


def main():
    way, jobs, seconds, width, height = sys.argv[1:]
    jobs, size = list(read_list(jobs)), (int(width), int(height))
    before, n = time.process_time(), 0
    while (used := time.process_time() - before) < float(seconds):
        for path, box in jobs:
            WAYS[way](path, size, box)
        n += len(jobs)
    print(f"{used * 1e6 / n:.2f}")


if __name__ == "__main__":
    main()
