# gst-spdl: what a pipeline makes of a set of images, beside Pillow
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""For tests and benchmarks: results of spdldecode as Pillow's images, and their
distance from what Pillow makes of the whole image."""

import math
import os
from urllib.parse import unquote, urlsplit

import gi
from PIL import Image, ImageChops, ImageStat

gi.require_version("Gst", "1.0")
gi.require_version("GstSpdl", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstSpdl, GstVideo  # noqa: E402

Gst.init(None)


def image_of(sample):
    """A sample of caps video/x-raw,format=RGB, whose rows are padded."""
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    buffer = sample.get_buffer()
    return Image.frombytes("RGB", (info.width, info.height),
                           buffer.extract_dup(0, buffer.get_size()),
                           "raw", "RGB", info.stride[0])


def box_of(meta):
    """Left, top, right and bottom of the part that was used; None: all."""
    if not meta.extra or not meta.extra.has_field("crop-x"):
        return None
    x, y, width, height = (meta.extra.get_value(f"crop-{field}")
                           for field in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def path_of(uri):
    return unquote(urlsplit(uri).path) if "://" in uri else uri


def decode(location, properties):
    """Path, image and box of each item that comes out, in order."""
    pipeline = Gst.parse_launch(
        f'spdlsrc location="{os.path.abspath(location)}" ! spdlfetch '
        f"! spdldecode output-order=input {properties} ! spdlsink name=sink")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while sample := sink.emit("pull-sample"):
            meta = GstSpdl.buffer_get_item_meta(sample.get_buffer())
            yield path_of(meta.uri), image_of(sample), box_of(meta)
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise message.parse_error()[0]
    finally:
        pipeline.set_state(Gst.State.NULL)


def reference(path, size, box=None):
    """Pillow's full decode and its resize, of the whole or of a part."""
    with Image.open(path) as image:
        image = image.convert("RGB")
    if box:
        image = image.crop(box)
    return image.resize(size, Image.BILINEAR)


def psnr(a, b):
    """In dB, at most 60, so that equal images do not lift a mean."""
    stat = ImageStat.Stat(ImageChops.difference(a, b))
    mse = sum(stat.sum2) / (3 * a.width * a.height)
    return min(60.0, 10 * math.log10(255**2 / mse)) if mse else 60.0
