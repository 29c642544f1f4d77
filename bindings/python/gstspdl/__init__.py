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

The package needs neither PyGObject nor NumPy. docs/reference/python.md describes
the API.
"""

import os
from typing import TYPE_CHECKING, Any

# Before 2.76 GLib allocates under its own locks. If a thread of a loader holds
# one during a fork, the child's copy stays locked; malloc() is safe. GLib
# reads this when it is loaded, which another package may do before this one.
os.environ.setdefault("G_SLICE", "always-malloc")

if TYPE_CHECKING:
    from ._detached import DetachedBatch
    from ._errors import LoaderError, LoaderWarning
    from ._failure import Failure
    from ._loader.loader import Loader
    from ._loader.states import merge_states, reshard_states
    from ._loader.verdict import Roofline, Verdict
    from ._measure.cache import CacheLoader
    from ._measure.headspace import Headspace, headspace
    from ._media.batch import Batch
    from ._media.decode import decode, image_size
    from ._media.sample import Sample
    from ._media.tensor import Tensor
    from ._native.process import set_background, trace, versions
    from ._pipeline.imagerows import llava_packing
    from ._pipeline.options import (IMAGENET_MEAN, IMAGENET_STD, ImageOptions,
                                    LoadOptions, PictureOptions, SceneOptions)
    from ._pipeline.pipeline import Pipeline
    from ._pipeline.recipes import (audio_folder, coco_detection, image_folder,
                                    image_list, segmentation_pairs,
                                    video_folder, voc_detection, web_dataset,
                                    yolo_detection)
    from ._pipeline.tokens import chat_packing, pretrain_tokens

    #: of gst-spdl
    __version__: str

__all__ = ["IMAGENET_MEAN", "IMAGENET_STD", "Batch", "CacheLoader",
           "DetachedBatch", "Failure", "Headspace", "ImageOptions", "LoadOptions",
           "Loader", "LoaderError", "LoaderWarning", "PictureOptions", "Pipeline",
           "Roofline", "Sample", "SceneOptions", "Tensor", "Verdict",
           "audio_folder", "chat_packing", "coco_detection", "decode", "headspace",
           "image_folder", "image_list", "image_size", "llava_packing",
           "merge_states", "pretrain_tokens", "reshard_states",
           "segmentation_pairs", "set_background", "trace", "versions",
           "video_folder", "voc_detection", "web_dataset", "yolo_detection"]


# Modules that are imported when they are first used, so that batches and errors
# can be unpickled where the library is missing. Pickles that programs keep name
# _detached, _errors and _failure, so these stay where they are.
_MODULES = {
    "_media.batch": ("Batch",),
    "_measure.cache": ("CacheLoader",),
    "_media.decode": ("decode", "image_size"),
    "_detached": ("DetachedBatch",),
    "_failure": ("Failure",),
    "_measure.headspace": ("Headspace", "headspace"),
    "_loader.loader": ("Loader", "LoaderError"),
    "_errors": ("LoaderWarning",),
    "_pipeline.options": ("IMAGENET_MEAN", "IMAGENET_STD", "ImageOptions",
                          "LoadOptions", "PictureOptions", "SceneOptions"),
    "_pipeline.pipeline": ("Pipeline",),
    "_pipeline.recipes": ("audio_folder", "coco_detection", "image_folder",
                          "image_list", "segmentation_pairs", "video_folder",
                          "voc_detection", "web_dataset", "yolo_detection"),
    "_pipeline.imagerows": ("llava_packing",),
    "_pipeline.tokens": ("chat_packing", "pretrain_tokens"),
    "_media.sample": ("Sample",),
    "_loader.states": ("merge_states", "reshard_states"),
    "_media.tensor": ("Tensor",),
    "_loader.verdict": ("Roofline", "Verdict"),
    "_native.process": ("set_background", "trace", "versions"),
}
_LATER = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._native.process import versions

        return versions()["gst-spdl"]
    if name in _LATER:
        from importlib import import_module

        found = getattr(import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__})
