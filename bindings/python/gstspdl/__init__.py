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

The same classes are in gi.repository.GstSpdl. docs/python.md has the rules.
"""

from ._batch import Batch
from ._cache import CacheLoader
from ._decode import decode
from ._errors import LoaderError
from ._headspace import Headspace, headspace
from ._loader import Loader
from ._losses import LoaderWarning
from ._tensor import Tensor

__all__ = ["Batch", "CacheLoader", "Headspace", "Loader", "LoaderError",
           "LoaderWarning", "Tensor", "decode", "headspace"]
