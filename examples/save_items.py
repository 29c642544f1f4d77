#!/usr/bin/python3
# gst-spdl: export of a dataset to one file per item
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes each item of a folder, a list or tar shards to a file named after it:

    save_items.py remux  LOCATION FOLDER    streams of a video, to Matroska
    save_items.py clips  LOCATION FOLDER    16 frames of a video, to MP4
    save_items.py sounds LOCATION FOLDER    audio, 16 kHz mono, to FLAC

Four items are processed at a time. For each of them, a function of spdlpipe runs
a small pipeline, whose elements do not hold the GIL.
"""

import argparse
import os
import pathlib
import re
from typing import Any, List

from gstspdl import Batch, Loader
import gi

# GstApp adds the methods of appsrc.
gi.require_version("GstApp", "1.0")
from gi.repository import Gio, GLib, Gst, GstApp, GstSpdl  # noqa: E402,F401

RATE = 25


def run(pipeline: Any) -> None:
    """Runs a pipeline until the end of the stream. Raises its errors."""
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        raise message.parse_error()[0]


def remux(sample: Any, path: str) -> None:
    """Copies all streams that Matroska supports, without decoding."""
    # The queue makes the demuxer work in push mode. In pull mode it uses another
    # thread, and parsebin drops errors that the demuxer reports during startup,
    # so the pipeline would neither end nor fail.
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
    """Writes the output of the chain for these buffers to a file."""
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


# Decoder, function that writes the file, and suffix of its name.
KINDS = {
    "remux": ("", remux, ".mkv"),
    "clips": ("! spdldecode concurrency=4 num-frames=16 clip-sampling=center "
              "width=128 height=96 ", save_clip, ".mp4"),
    "sounds": ("! spdldecode concurrency=4 rate=16000 channels=1 "
               "audio-format=S16LE ", save_sound, ".flac"),
}


def name_of(buffer: Any) -> str:
    """Returns the name of a file in a shard, or the last part of the URI."""
    meta = GstSpdl.buffer_get_item_meta(buffer)
    key = meta.extra.get_string("key") if meta.extra else None
    name = key or meta.uri.rsplit("/", 1)[-1]
    return f"{meta.index:06}-" + re.sub(r"[^\w.-]", "_", name)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
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
