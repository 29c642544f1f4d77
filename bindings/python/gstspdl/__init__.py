# gst-spdl: the Python package
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Batches of images, video, audio and arrays for a training loop.

    from gstspdl import image_folder

    with image_folder("photos", batch_size=32) as loader:
        for batch in loader:                # one epoch
            images = batch["data"].numpy()  # no copy
            labels = batch.labels

`image_folder` and similar functions load common datasets, `Pipeline` builds any
other pipeline, and `Loader` runs it. `gstspdl.torch` adapts a loader to
PyTorch.

The package needs neither PyGObject nor NumPy. Where PyGObject is installed,
gi.repository.GstSpdl has the same classes. docs/reference/python.md describes
the API.
"""

from typing import TYPE_CHECKING, Any

from ._batch import Batch
from ._cache import CacheLoader
from ._decode import decode
from ._errors import LoaderError
from ._loader import Loader
from ._losses import LoaderWarning
from ._sample import Sample
from ._tensor import Tensor
from ._versions import versions

if TYPE_CHECKING:
    from ._headspace import Headspace, headspace
    from ._pipeline import Pipeline
    from ._recipes import (IMAGENET_MEAN, IMAGENET_STD, audio_folder,
                           image_folder, image_list, video_folder, web_dataset)

__all__ = ["IMAGENET_MEAN", "IMAGENET_STD", "Batch", "CacheLoader",
           "Headspace", "Loader", "LoaderError", "LoaderWarning", "Pipeline",
           "Sample", "Tensor", "audio_folder", "decode", "headspace",
           "image_folder", "image_list", "versions", "video_folder",
           "web_dataset"]


# Modules that are imported when they are first used.
_LATER = {"Headspace": "_headspace", "headspace": "_headspace",
          "Pipeline": "_pipeline",
          **dict.fromkeys(("IMAGENET_MEAN", "IMAGENET_STD", "audio_folder",
                           "image_folder", "image_list", "video_folder",
                           "web_dataset"), "_recipes")}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
