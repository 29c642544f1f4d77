#!/usr/bin/python3
# gst-spdl: picture of a batch with labels
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    meson devenv -C build /usr/bin/python3 ../examples/show-batch.py \\
        FOLDER PICTURE.png

Draws a batch of images with their labels. FOLDER contains a folder of JPEGs for
each class."""

import pathlib
import sys

import matplotlib
import numpy as np

from gstspdl import Loader

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, picture = sys.argv[1:]
    with Loader(f'spdlsrc location="{folder}" label=folder shuffle=true '
                "! spdlfetch ! spdldecode width=160 height=120 resize=cover "
                "! spdlbatch batch-size=12 ! spdlsink") as loader:
        batch = next(iter(loader))
    # The array shares the batch's memory, which outlives the loader.
    images = np.asarray(batch["data"])
    figure, axes = pyplot.subplots(3, 4, figsize=(9, 6))
    for axis in axes.flat:
        axis.axis("off")
    for axis, image, label, key in zip(
            axes.flat, images, batch.labels, batch.keys):
        axis.imshow(image)
        axis.set_title(f"{label}: {pathlib.Path(key).parent.name}", fontsize=8)
    figure.tight_layout()
    figure.savefig(picture)


if __name__ == "__main__":
    main()
