# gst-spdl: pyTorch's DataLoader with worker processes of this package
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
