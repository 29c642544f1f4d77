# gst-spdl: accuracy of a pipeline on an image set, compared with Pillow
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results of spdldecode as Pillow's images, and their distance from Pillow's
results for the whole image. Used by tests and benchmarks."""

import math
import os
from urllib.parse import unquote, urlsplit

import numpy as np
from gstspdl import Loader
from PIL import Image, ImageChops, ImageStat


def image_of(item):
    """Returns an item of spdldecode as an image. Rows may be padded."""
    return Image.fromarray(np.ascontiguousarray(item["data"]))


def box_of(extra):
    """Returns left, top, right and bottom of the crop, or None for the whole
    image."""
    if not extra or "crop-x" not in extra:
        return None
    x, y, width, height = (extra[f"crop-{field}"]
                           for field in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def path_of(uri):
    return unquote(urlsplit(uri).path) if "://" in uri else uri


def decode(location, properties):
    """Yields path, image and box of each item, in order."""
    with Loader(f'spdlsrc location="{os.path.abspath(location)}" epochs=1 '
                f"! spdlfetch ! spdldecode output-order=input {properties} "
                "! spdlsink") as loader:
        for item in loader:
            yield path_of(item.keys[0]), image_of(item), box_of(item.extras[0])


def reference(path, size, box=None):
    """Decodes the whole file with Pillow and resizes it, or a crop of it."""
    with Image.open(path) as image:
        image = image.convert("RGB")
    if box:
        image = image.crop(box)
    return image.resize(size, Image.BILINEAR)


def psnr(a, b):
    """Returns the PSNR in dB, at most 60, so that equal images do not dominate
    a mean."""
    stat = ImageStat.Stat(ImageChops.difference(a, b))
    mse = sum(stat.sum2) / (3 * a.width * a.height)
    return min(60.0, 10 * math.log10(255**2 / mse)) if mse else 60.0
