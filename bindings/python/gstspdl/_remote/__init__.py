# gst-spdl: loaders on other machines, in Ray actors
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
