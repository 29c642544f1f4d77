# gst-spdl: loaders of this process: epochs, sources, states, failures
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
