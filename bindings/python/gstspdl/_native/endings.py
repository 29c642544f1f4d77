# gst-spdl: end of the interpreter
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import atexit
from typing import Callable, List

# Exit handlers run in the reverse order, so these follow those of modules that
# import this one.
_ends: List[Callable[[], None]] = []


def call_at_end(end: Callable[[], None]) -> None:
    """Has a function called after all loaders have stopped."""
    if end not in _ends:
        _ends.append(end)


@atexit.register
def _end_all() -> None:
    for end in _ends:
        end()
