# gst-spdl: end of the interpreter
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import atexit
import contextlib
import weakref
from typing import Any, Callable, List

#: loaders, which stop first: their threads call into the interpreter or wait
running: "weakref.WeakSet[Any]" = weakref.WeakSet()
_ends: List[Callable[[], None]] = []


def call_at_end(end: Callable[[], None]) -> None:
    """Has a function called after all loaders have stopped."""
    if end not in _ends:
        _ends.append(end)


@atexit.register
def _end_all() -> None:
    # From the last callback to the first, also after an error.
    with contextlib.ExitStack() as stack:
        for end in reversed(_ends):
            stack.callback(end)
        for loader in list(running):
            stack.callback(loader.stop)
