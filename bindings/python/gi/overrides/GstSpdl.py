# gst-spdl: what gi.repository.GstSpdl is in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyGObject takes the names of __all__ in place of those that the typelib
gives. All else of the library is as the typelib has it."""

from gstspdl import Batch, Loader, LoaderError, Tensor, decode

__all__ = ["Batch", "Loader", "LoaderError", "Tensor", "decode"]
