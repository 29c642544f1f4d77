# gst-spdl: the Python package
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Batches for a trainer, from a GStreamer pipeline.

    from gstspdl import Pipeline

    pipeline = (Pipeline().files("photos", label="folder").fetch()
                .decode(width=224, height=224).batch(32))
    with pipeline.loader() as loader:
        for batch in loader:                # one epoch
            images = batch["data"].numpy()  # no copy
            labels = batch.labels

It needs no PyGObject. Where there is one, gi.repository.GstSpdl has the same
classes. docs/python.md is the reference.
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

__all__ = ["Batch", "CacheLoader", "Headspace", "Loader", "LoaderError",
           "LoaderWarning", "Pipeline", "Sample", "Tensor", "decode",
           "headspace", "versions"]


# Modules that are imported when they are first used.
_LATER = {"Headspace": "_headspace", "headspace": "_headspace",
          "Pipeline": "_pipeline"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
