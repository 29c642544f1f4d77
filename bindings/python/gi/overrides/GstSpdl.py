# gst-spdl: gi.repository.GstSpdl in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyGObject takes the names of __all__ from here and all others from the
typelib."""

from gi.module import get_introspection_module
from gstspdl import Batch, Loader, LoaderError, Tensor, decode
from gstspdl._gi import register_types

register_types(get_introspection_module("GstSpdl"))

__all__ = ["Batch", "Loader", "LoaderError", "Tensor", "decode"]
