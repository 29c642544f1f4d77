# gst-spdl: Ctrl-C while the library waits
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import threading
from typing import Any, Callable, List

# Time for the function to end without a cancellation after Ctrl-C, in s.
_GRACE = 0.3


def run(function: Callable[..., Any], *arguments: Any,
        cancel: Callable[[], object]) -> None:
    """Calls a function of the library that may wait for a server. Ctrl-C then
    calls `cancel`, until the function has ended.

    Python handles a signal between two lines of the main thread, so the
    function runs in another thread then."""
    if threading.current_thread() is not threading.main_thread():
        function(*arguments)
        return
    errors: List[BaseException] = []
    ended = threading.Event()
    # Taken by the thread that calls the function, or by this one if it does not
    # know whether it has started the other.
    claim = threading.Lock()

    def call() -> None:
        if not claim.acquire(blocking=False):
            return
        try:
            function(*arguments)
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    try:
        try:
            threading.Thread(target=call, name="spdl-wait", daemon=True).start()
        except RuntimeError:  # The limit of threads is reached.
            call()
        ended.wait()
    finally:
        if not claim.acquire(blocking=False):
            # After Ctrl-C. The function may not have begun to wait yet.
            while not ended.wait(_GRACE):
                cancel()
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # which refers to this frame
