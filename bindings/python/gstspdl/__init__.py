# gst-spdl: the Python package
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Batches for a trainer, from a GStreamer pipeline.

    from gstspdl import Loader

    with Loader("spdlsrc location=photos label=folder ! spdlfetch "
                "! spdldecode width=224 height=224 ! spdlbatch batch-size=32 "
                "! spdlsink") as loader:
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

__all__ = ["Batch", "CacheLoader", "Headspace", "Loader", "LoaderError",
           "LoaderWarning", "Sample", "Tensor", "decode", "headspace",
           "versions"]


def __getattr__(name: str) -> Any:
    # It imports modules that nothing else needs.
    if name in ("Headspace", "headspace"):
        from . import _headspace

        return getattr(_headspace, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
