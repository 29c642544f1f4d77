# gst-spdl: what has failed in a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import sys
import warnings
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, List, Optional

from .._errors import LoaderWarning

if TYPE_CHECKING:
    from .._failure import Failure

# Failures that wait for take_failures().
_MAX_PENDING = 10_000

_FOLDER = os.path.dirname(os.path.dirname(__file__)) + "/"


class Record:
    """Failures and warnings of a loader, until the program has heard of them."""

    def __init__(self) -> None:
        self.recent: Deque["Failure"] = deque(maxlen=100)
        # For take_failures().
        self._pending: Deque["Failure"] = deque(maxlen=_MAX_PENDING)
        self._forget_losses()

    def clear(self) -> None:
        """Begins a run. `recent` has those of earlier ones, too."""
        self._pending.clear()
        self._forget_losses()

    def _forget_losses(self) -> None:
        """Forgets what no LoaderWarning has reported yet."""
        self._num_failures = 0
        self._last: Optional["Failure"] = None
        self._summaries: List[str] = []
        self._others: List[str] = []

    def add(self, failure: "Failure") -> None:
        self.recent.append(failure)
        self._pending.append(failure)
        self._num_failures += 1
        self._last = failure

    def take_all(self) -> List["Failure"]:
        taken = list(self._pending)
        self._pending.clear()
        return taken

    def take(self, state: Optional[str]) -> List["Failure"]:
        """Takes those that a state counts as done."""
        taken = [f for f in self._pending if f.is_done(state)]
        if taken:
            _drop(self._pending, taken)
        return taken

    def drop_repeated(self, state: Optional[str]) -> int:
        """Drops those that occur again after a state. Returns their number."""
        repeated = [f for f in self._pending if not f.is_done(state)]
        for failures in self._pending, self.recent:
            _drop(failures, repeated)
        return len(repeated)

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
        self._forget_losses()
        warnings.warn(warning, stacklevel=_count_own_frames() + 1)


def _drop(failures: Deque["Failure"], dropped: List["Failure"]) -> None:
    gone = set(dropped)
    kept = [failure for failure in failures if failure not in gone]
    failures.clear()
    failures.extend(kept)


def _count_own_frames() -> int:
    """Counts the frames of this package between the caller and the user."""
    frame: Any = sys._getframe(1)
    n = 0
    while frame and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
        n += 1
    return n
