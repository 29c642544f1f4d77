#!/usr/bin/python3
# gst-spdl: saves each item in a file of its own
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a file for each item of a folder, a list or tar shards, named after it:

    save_items.py remux  LOCATION FOLDER    a video's packets in Matroska
    save_items.py clips  LOCATION FOLDER    16 frames of a video, in MP4
    save_items.py sounds LOCATION FOLDER    sound, 16 kHz in mono, in FLAC

Four at a time: the work of each is a small pipeline, run by a function of
spdlpipe. GStreamer's elements do it without the GIL.
"""

import argparse
import os
import pathlib
import re
from typing import Any, List

from gstspdl import Batch, Loader
import gi

# GstApp has the functions of appsrc.
gi.require_version("GstApp", "1.0")
from gi.repository import Gio, GLib, Gst, GstApp, GstSpdl  # noqa: E402,F401

RATE = 25


def run(pipeline: Any) -> None:
    """Until its end; raises what its elements complain of."""
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        raise message.parse_error()[0]


def remux(sample: Any, path: str) -> None:
    """All streams that Matroska takes, as they are."""
    # Without the queue a demuxer pulls in another thread, and parsebin
    # drops an error that such a demuxer reports while it starts: the pipeline
    # would then neither end nor fail.
    pipeline = Gst.parse_launch(
        "giostreamsrc name=source ! queue ! parsebin name=parse "
        "matroskamux name=mux ! filesink name=sink")
    buffer = sample.get_buffer()
    content = buffer.extract_dup(0, buffer.get_size())
    pipeline.get_by_name("source").props.stream = (
        Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(content)))
    pipeline.get_by_name("sink").props.location = path
    mux = pipeline.get_by_name("mux")
    pipeline.get_by_name("parse").connect(
        "pad-added", lambda _, pad: pad.link(mux.get_compatible_pad(pad)))
    run(pipeline)


def push_all(chain: str, caps: Any, buffers: List[Any], path: str) -> None:
    """What this chain makes of the buffers, in a file."""
    pipeline = Gst.parse_launch(
        f"appsrc name=source format=time ! {chain} ! filesink name=sink")
    source = pipeline.get_by_name("source")
    source.props.caps = caps
    pipeline.get_by_name("sink").props.location = path
    for buffer in buffers:
        source.push_buffer(buffer)
    source.end_of_stream()
    run(pipeline)


def save_clip(sample: Any, path: str) -> None:
    frames = Batch.new(sample.get_buffer(), sample.get_caps())["data"].numpy()
    buffers = []
    for i, frame in enumerate(frames):
        buffer = Gst.Buffer.new_wrapped(frame.tobytes())
        buffer.pts = i * Gst.SECOND // RATE
        buffer.duration = Gst.SECOND // RATE
        buffers.append(buffer)
    _, height, width, _ = frames.shape
    push_all("videoconvert ! openh264enc ! h264parse ! mp4mux",
             Gst.Caps.from_string(f"video/x-raw,format=RGB,width={width},"
                                  f"height={height},framerate={RATE}/1"),
             buffers, path)


def save_sound(sample: Any, path: str) -> None:
    buffer = sample.get_buffer().copy_deep()
    buffer.pts = 0
    push_all("flacenc", sample.get_caps(), [buffer], path)


# What it is decoded to, what writes it, and what its files are called.
KINDS = {
    "remux": ("", remux, ".mkv"),
    "clips": ("! spdldecode concurrency=4 num-frames=16 clip-sampling=center "
              "width=128 height=96 ", save_clip, ".mp4"),
    "sounds": ("! spdldecode concurrency=4 rate=16000 channels=1 "
               "audio-format=S16LE ", save_sound, ".flac"),
}


def name_of(buffer: Any) -> str:
    """The last part of its URI; of an item of a shard, its key."""
    meta = GstSpdl.buffer_get_item_meta(buffer)
    key = meta.extra.get_string("key") if meta.extra else None
    name = key or meta.uri.rsplit("/", 1)[-1]
    return f"{meta.index:06}-" + re.sub(r"[^\w.-]", "_", name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("location")
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    decode, save, end = KINDS[args.kind]
    args.folder.mkdir(parents=True, exist_ok=True)

    def work(sample: Any) -> Any:
        path = args.folder / (name_of(sample.get_buffer()) + end)
        part = path.with_name(path.name + ".part")
        try:
            save(sample, str(part))
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return Gst.Sample.new(Gst.Buffer.new_wrapped(str(path).encode()),
                              Gst.Caps.from_string("application/octet-stream"),
                              None, None)

    loader = Loader(f'spdlsrc location="{args.location}" epochs=1 '
                    f"! spdlfetch concurrency=4 {decode}"
                    "! spdlpipe name=save concurrency=4 ! spdlsink")
    with loader.map("save", work):
        for item in loader:
            print(bytes(item["data"].numpy()).decode())
    for failure in loader.failures:
        print(f"{failure.uri}: {failure.reason.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
