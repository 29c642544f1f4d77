# gst-spdl: checks of the items that a loader delivers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each item of an epoch once, with its label; and how near its pictures are to
Pillow's full decode and bilinear resize. In the runner's process, which is in
`meson devenv`."""

import pathlib
import statistics
import sys

import numpy as np
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from accuracy import psnr, reference  # noqa: E402

NOT_COMPARABLE = 30.0
KEEP = 64


def accuracy(path, paths, side):
    """Mean and least PSNR of the pictures in that file."""
    images = np.load(path)
    if images.dtype != np.uint8 or images.shape[1:] != (side, side, 3):
        return {"wrong-shape": [*images.shape[1:], images.dtype.name]}
    figures = [psnr(Image.fromarray(image), reference(name, (side, side)))
               for image, name in zip(images, paths)]
    return {"mean": round(statistics.mean(figures), 2),
            "least": round(min(figures), 2)}


def complaint(found):
    """What is wrong with an epoch; None: nothing."""
    if found["items"] != found["of"]:
        return f"{found['items']} of {found['of']} items came"
    if found["wrong"]:
        return f"{found['wrong']} wrong labels"
    if "wrong-shape" in found.get("psnr", ()):
        return f"of another shape: {found['psnr']['wrong-shape']}"
    return None


def psnr_class(found):
    """In words, for the report."""
    figures = (found or {}).get("psnr")
    if not figures or "mean" not in figures:
        return ""
    text = f"{figures['mean']:.1f}, {figures['least']:.1f} dB"
    if figures["mean"] < NOT_COMPARABLE:
        text += ", **not comparable**"
    return text
