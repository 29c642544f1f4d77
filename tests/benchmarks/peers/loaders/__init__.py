# gst-spdl: loaders of the comparison
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One module per peer. A loader is a generator function that takes a Job and yields
(data, labels, indices) endlessly, epoch after epoch, in the order of the list if
the peer preserves it. Closing the generator ends the loader."""
