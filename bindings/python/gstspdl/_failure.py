# gst-spdl: items that failed, and warnings
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import sys
import warnings
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Deque, List, Optional

from ._errors import LoaderWarning

if TYPE_CHECKING:
    from ._native import library as native

_UNKNOWN = 2**64 - 1


@dataclass(frozen=True)
class Failure:
    """An item that failed, from Loader.failures or Loader.take_failures()."""

    #: name of the element in which it failed
    stage: str
    #: URI of the item, or None
    uri: Optional[str]
    #: error message; for a Python function, with the traceback
    reason: str
    #: epoch, or None if the items have no numbers
    epoch: Optional[int] = None
    #: place in the dataset, or None
    index: Optional[int] = None
    #: place among the items of this rank in that epoch, or None
    sequence: Optional[int] = None
    #: number of the source in the pipeline, from 0
    source: int = 0

    def is_done(self, state: Optional[str]) -> bool:
        """Returns True if a loader that resumes from `state` skips the item.
        Otherwise, the loader loads the item again, and the item may fail again."""
        if self.epoch is None or self.sequence is None:
            return False
        # A failure can be unpickled where the library is missing.
        from ._native import library as native

        return bool(native.state_is_done(
            native.encode_text(state), self.source, self.epoch,
            self.sequence))


def _make_failure(record: "native.ItemFailure") -> Failure:
    from ._native.library import decode_text

    stage = decode_text(record.stage) or ""
    uri = decode_text(record.uri)
    reason = decode_text(record.error.contents.message) or ""
    if record.epoch == _UNKNOWN:
        return Failure(stage, uri, reason)
    return Failure(stage, uri, reason, record.epoch, record.index,
                   record.sequence, record.source)


# Failures that wait for take_failures().
_MAX_PENDING = 10_000

_FOLDER = os.path.dirname(__file__) + "/"


class Record:
    """Failures and warnings of a loader that the program has not taken yet."""

    def __init__(self) -> None:
        self.recent: Deque[Failure] = deque(maxlen=100)
        # For take_failures().
        self._pending: Deque[Failure] = deque(maxlen=_MAX_PENDING)
        self._forget_losses()

    def clear(self) -> None:
        """Begins a run. `recent` keeps the failures of earlier runs."""
        self._pending.clear()
        self._forget_losses()

    def _forget_losses(self) -> None:
        """Forgets the losses that no LoaderWarning has reported yet."""
        self._num_failures = 0
        self._last: Optional[Failure] = None
        self._summaries: List[str] = []
        self._others: List[str] = []

    def add(self, failure: Failure) -> None:
        self.recent.append(failure)
        self._pending.append(failure)
        self._num_failures += 1
        self._last = failure

    def add_notice(self, notice: "native.Notice") -> None:
        """Adds a failure or a warning of the library."""
        if notice.failure:
            self.add(_make_failure(notice.failure.contents))
            return
        from ._native.library import decode_text

        texts = self._summaries if notice.is_summary else self._others
        texts.append(f"{decode_text(notice.stage)}: {decode_text(notice.text)}")

    def take_all(self) -> List[Failure]:
        taken = list(self._pending)
        self._pending.clear()
        return taken

    def take(self, state: Optional[str]) -> List[Failure]:
        """Takes the failures that a state counts as done."""
        taken = [f for f in self._pending if f.is_done(state)]
        if taken:
            _drop(self._pending, taken)
        return taken

    def drop_repeated(self, state: Optional[str]) -> int:
        """Drops the failures that occur again after a state. Returns their
        number."""
        repeated = [f for f in self._pending if not f.is_done(state)]
        for failures in self._pending, self.recent:
            _drop(failures, repeated)
        return len(repeated)

    def add_other(self, stage: str, text: str) -> None:
        """Adds a warning that is not about failed items."""
        self._others.append(f"{stage}: {text}")

    def _describe(self, last: Failure) -> str:
        # An epoch that did not reach its end has no summary.
        if not self._summaries:
            from ._native.library import show_line

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


def _drop(failures: Deque[Failure], dropped: List[Failure]) -> None:
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
