# gst-spdl: checks of the items that a loader delivers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that an epoch has each item once with its label, and measures the PSNR of
images against Pillow's full decode and bilinear resize. Runs in the runner's
process, inside `meson devenv`."""

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
    """Returns mean and minimum PSNR of the images in a file."""
    images = np.load(path)
    if images.dtype != np.uint8 or images.shape[1:] != (side, side, 3):
        return {"wrong-shape": [*images.shape[1:], images.dtype.name]}
    figures = [psnr(Image.fromarray(image), reference(name, (side, side)))
               for image, name in zip(images, paths)]
    return {"mean": round(statistics.mean(figures), 2),
            "least": round(min(figures), 2)}


def complaint(found):
    """Returns the problem with an epoch, or None."""
    if found["items"] != found["of"]:
        return f"{found['items']} of {found['of']} items came"
    if found["wrong"]:
        return f"{found['wrong']} wrong labels"
    if "wrong-shape" in found.get("psnr", ()):
        return f"of another shape: {found['psnr']['wrong-shape']}"
    return None


def psnr_class(found):
    """Returns the accuracy in words, for the report."""
    figures = (found or {}).get("psnr")
    if not figures or "mean" not in figures:
        return ""
    text = f"{figures['mean']:.1f}, {figures['least']:.1f} dB"
    if figures["mean"] < NOT_COMPARABLE:
        text += ", **not comparable**"
    return text
