# gst-spdl: LoaderError and LoaderWarning
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._failure import Failure


class LoaderError(RuntimeError):
    """Error that ends a run, or error of a call of a loader.

        try:
            batch = loader.next(timeout=10**9)
        except LoaderError as error:
            if error.code != "timed-out":
                raise

    `code`: the reason as text: "pipeline-error" (an element failed, the description
    has a mistake, or a state does not fit), "failures" (more items failed than
    `max_failures` permits), "source" (the source in the program raised an
    exception), "timed-out", "stopped", "busy", "outdated", "forked", "state",
    "map", "pipeline", "not-started", "started" or "failed".
    `stage`: the name of the element, or None.
    `uri`: the URI of the item that ended the loader, or None.

    `__cause__` is the exception of the source, or the library's error, which
    has `domain`, `code`, `message` and `matches(domain, code)` like
    GLib.Error. LoaderError.TIMED_OUT and so on are the numbers of the C
    enumeration.
    """

    def __init__(self, message: str, *, code: str = "failed",
                 stage: Optional[str] = None,
                 uri: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage
        self.uri = uri


class LoaderWarning(UserWarning):
    """Warning of an element, or warning at the end of a `for` loop about
    items that failed in its epoch.

    `num_failures`: number of items that failed since the last such warning. 0
    for other warnings of elements, which are issued when the next batch is
    taken.
    `epoch`, `stage`, `uri`, `reason`: values of the item that failed last, or None.
    `loader.failures` lists the items. With `python -W error`, a warning is an
    exception. The warning about failures is raised after the last batch of the
    `for` loop. No batch is lost.
    """

    def __init__(self, message: str, *, num_failures: int = 0,
                 last: Optional["Failure"] = None) -> None:
        super().__init__(message)
        self.num_failures = num_failures
        self.epoch = last.epoch if last else None
        self.stage = last.stage if last else None
        self.uri = last.uri if last else None
        self.reason = last.reason if last else None
