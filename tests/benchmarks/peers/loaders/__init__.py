# gst-spdl: loaders of the comparison
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A module a peer. A loader is a generator function of a Job, which gives
(data, labels, indices) without an end, epoch after epoch, in the order of the
list as far as the peer keeps one; closing it ends the loader."""
