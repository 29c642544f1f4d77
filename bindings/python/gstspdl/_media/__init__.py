# gst-spdl: items and batches: what a pipeline carries, in Python's types
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
