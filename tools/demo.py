#!/usr/bin/python3
# gst-spdl: demo that loads a folder of JPEGs and prints statistics
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""demo.py FOLDER CONTACT-SHEET.png"""

import sys
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSpdl", "1.0")
from gi.repository import Gst, GstSpdl  # noqa: E402
from PIL import Image  # noqa: E402

EPOCHS = 10
BATCH = 32
SIZE = 160
COLUMNS = 8
ROW = "{:<8}{:>9}{:>10}{:>10}{:>12}{:>12}{:>8}{:>8}"


def describe(folder):
    cores = GstSpdl.get_num_cores()
    return (f'spdlsrc name=source location="{folder}" label=folder '
            f"epochs={EPOCHS} ! spdlfetch name=fetch concurrency=4 "
            f"! spdldecode name=decode concurrency={cores} queue-size=8 "
            f"width={SIZE} height={SIZE} "
            f"! spdlbatch name=batch batch-size={BATCH} labels=true indices=true "
            "! spdlsink name=sink")


def milliseconds(stats, field):
    value = stats.get_value(field)
    return "" if value is None else f"{value / 1e6:.2f} ms"


def row(stats):
    """Formats the statistics of a stage as a table row."""
    rate = stats.get_value("occupancy-rate")
    failures = stats.get_value("num-failures")
    return ROW.format(
        stats.get_value("stage"), stats.get_value("num-items"),
        f"{stats.get_value('qps'):.0f}", milliseconds(stats, "ave-time"),
        milliseconds(stats, "ave-put-time"),
        milliseconds(stats, "ave-get-time"),
        "" if rate is None else f"{rate:.0%}",
        "" if failures is None else failures)


class Watch:
    """Collects statistics and errors from the bus."""

    def __init__(self, pipeline):
        self.bus = pipeline.get_bus()
        self.intervals = {}
        self.failed = []
        self.error = None

    def read(self):
        while message := self.bus.pop():
            if message.type == Gst.MessageType.ERROR:
                self.error = message.parse_error()[0].message
            structure = message.get_structure()
            if structure is None:
                continue
            if structure.get_name() == "spdl-item-failed":
                self.failed.append(structure.get_value("uri"))
            elif (structure.get_name() == "spdl-stage-stats"
                  and structure.get_value("interval")):
                self.intervals[structure.get_value("stage")] = structure
                if len(self.intervals) == 5:
                    self.show(self.intervals.values())
                    self.intervals = {}

    @staticmethod
    def show(rows):
        print(ROW.format("stage", "items", "items/s", "task", "upstream",
                         "idle for", "queue", "failed"))
        print(ROW.format("", "", "", "takes", "waits", "work", "busy", ""))
        order = ["source", "fetch", "decode", "batch", "sink"]
        for stats in sorted(
                rows, key=lambda s: order.index(s.get_value("stage"))):
            print(row(stats))
        print(flush=True)


def save_contact_sheet(buffer, count, path):
    size = SIZE * SIZE * 3
    sheet = Image.new(
        "RGB", (COLUMNS * SIZE, -(-count // COLUMNS) * SIZE), "white")
    data = buffer.peek_memory(0)
    pixels = buffer.extract_dup(0, data.get_sizes()[0])
    for i in range(count):
        tile = Image.frombytes(
            "RGB", (SIZE, SIZE), bytes(pixels[i * size:(i + 1) * size]))
        sheet.paste(tile, (i % COLUMNS * SIZE, i // COLUMNS * SIZE))
    sheet.save(path)


def main():
    folder, sheet = sys.argv[1:]
    Gst.init(None)
    pipeline = Gst.parse_launch(describe(folder))
    names = ["source", "fetch", "decode", "batch", "sink"]
    for name in names:
        pipeline.get_by_name(name).set_property(
            "stats-interval", Gst.SECOND // 2)
    watch = Watch(pipeline)
    sink = pipeline.get_by_name("sink")
    seen = {}
    batches = 0
    begin = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    while sample := sink.emit("pull-sample"):
        buffer = sample.get_buffer()
        meta = GstSpdl.buffer_get_batch_meta(buffer)
        for i in range(meta.num_items):
            item = meta.get_item(i)
            seen.setdefault(item.epoch, set()).add(item.index)
        if batches == 0:
            save_contact_sheet(buffer, meta.num_items, sheet)
        batches += 1
        watch.read()
    seconds = time.monotonic() - begin
    watch.read()

    wanted = pipeline.get_by_name("source").get_property("num-items") * EPOCHS
    print("In all:")
    watch.show([pipeline.get_by_name(name).get_property("stage-stats")
                for name in names])
    pipeline.set_state(Gst.State.NULL)

    images = sum(len(indices) for indices in seen.values())
    print(f"{images} images in {batches} batches, {EPOCHS} epochs, "
          f"{images / seconds:.0f} images per second, "
          f"{len(watch.failed)} failures")
    print(f"One batch of them: {sheet}")
    if watch.error:
        sys.exit(f"error: {watch.error}")
    if images != wanted:
        sys.exit(f"error: {wanted - images} of {wanted} images are missing")


if __name__ == "__main__":
    main()
