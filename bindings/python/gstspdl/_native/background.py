# gst-spdl: scheduling policy of the threads that load
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from . import library as native


def set_background(background: bool = True) -> None:
    """Runs the threads of all loaders of this process only on cores that no
    other thread wants, so that they never delay the training loop. Call it
    before the first loader starts.

    On a machine whose cores are all in use by other programs or threads,
    loading then nearly stops."""
    native.init()
    native.library.gst_spdl_set_background(bool(background))
