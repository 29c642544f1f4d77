# gst-spdl: warnings of a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, List, Optional

if TYPE_CHECKING:
    from .._failure import Failure

_FOLDER = os.path.dirname(os.path.dirname(__file__)) + "/"


class LoaderWarning(UserWarning):
    """Warning of an element, or warning at the end of a `for` loop about
    items that failed in its epoch.

    `num_failures`: number of items that failed since the last such warning. 0
    for other warnings of elements, which are issued when the next batch is
    taken.
    `epoch`, `stage`, `uri`, `reason`: those of the item that failed last, or
    None.

    `loader.failures` lists the items. With `python -W error` a warning is an
    exception; that of failures is raised after the last batch of the `for`. No
    batch is lost.
    """

    def __init__(self, message: str, *, num_failures: int = 0,
                 last: Optional["Failure"] = None) -> None:
        super().__init__(message)
        self.num_failures = num_failures
        self.epoch = last.epoch if last else None
        self.stage = last.stage if last else None
        self.uri = last.uri if last else None
        self.reason = last.reason if last else None


class Losses:
    """Failures and warnings of elements that no LoaderWarning has reported
    yet."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._num_failures = 0
        self._last: Optional["Failure"] = None
        self._summaries: List[str] = []
        self._others: List[str] = []

    def append(self, failure: "Failure") -> None:
        self._num_failures += 1
        self._last = failure

    def sum_up(self, stage: str, text: str) -> None:
        """Adds a stage's summary of an epoch."""
        self._summaries.append(f"{stage}: {text}")

    def add_other(self, stage: str, text: str) -> None:
        """Adds a warning that is not about failed items."""
        self._others.append(f"{stage}: {text}")

    def _describe(self, last: "Failure") -> str:
        # An epoch that did not reach its end has no summary.
        if not self._summaries:
            from .._native.library import show_line

            uri = (last.uri or "an item").encode(errors="surrogateescape")
            return (f"{self._num_failures} items failed; last: {last.stage}: "
                    f"{show_line(uri)}: {last.reason}")
        return "; ".join(self._summaries)

    def warn_of_others(self) -> None:
        """Issues the other warnings, with the line of the user's code."""
        while self._others:
            warnings.warn(LoaderWarning(self._others.pop(0)),
                          stacklevel=_count_own_frames() + 1)

    def warn(self) -> None:
        """Issues all warnings, with the line of the user's code."""
        self.warn_of_others()
        if not self._last:
            return
        warning = LoaderWarning(self._describe(self._last),
                                num_failures=self._num_failures,
                                last=self._last)
        self.clear()
        warnings.warn(warning, stacklevel=_count_own_frames() + 1)


def _count_own_frames() -> int:
    """Counts the frames of this package between the caller and the user."""
    frame: Any = sys._getframe(1)
    n = 0
    while frame and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
        n += 1
    return n
