# gst-spdl: items that failed
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

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
        Otherwise, the item arrives again and may fail again."""
        if self.epoch is None or self.sequence is None:
            return False
        # A failure can be unpickled where the library is missing.
        from ._native import library as native

        return bool(native.state_is_done(
            native.encode_text(state), self.source, self.epoch,
            self.sequence))


def make_failure(stage: str, notice: "native.Notice") -> Failure:
    from ._native.library import decode_text

    uri = decode_text(notice.uri)
    reason = ""
    if notice.error:
        reason = decode_text(notice.error.contents.message) or ""
    if notice.epoch == _UNKNOWN:
        return Failure(stage, uri, reason)
    return Failure(stage, uri, reason, notice.epoch, notice.index,
                   notice.sequence, notice.source)
