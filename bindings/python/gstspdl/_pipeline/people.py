# gst-spdl: keypoints of persons in mirrored images
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._media.sample import Sample

#: COCO's keypoints of a person: the nose, then a left and a right one of each pair
N_KEYPOINTS = 17
_MIRRORED = [0, *(k + 1 if k % 2 else k - 1 for k in range(1, N_KEYPOINTS))]


def swap_sides(sample: "Sample") -> "Sample":
    """Swaps the left and the right keypoints of persons if an image is
    mirrored, since a mirrored left hand is a right one."""
    (a, b, c), (d, e, f), (g, h, i) = sample.extra["image-matrix"]
    persons = sample.extra["keypoints"]
    if persons and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0:
        sample.extra["keypoints"] = [[points[k] for k in _MIRRORED]
                                     for points in persons]
    return sample
