# gst-spdl: LoaderError
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Optional

from . import _native as native


class LoaderError(RuntimeError):
    """A loader cannot continue.

    `code` is the nick of a value of GstSpdl.LoaderError ("failures", "forked",
    "stopped", ...), "source" if the program's own source raised, or
    "pipeline-error" if an element failed. `stage` is the name of the element
    and `uri` that of the item, if there is one. `__cause__` is the source's
    exception, or the library's error, which has `matches(domain, code)` as
    GLib.Error does. LoaderError.TIMED_OUT and the like are the numbers of the
    enumeration.
    """

    def __init__(self, message: str, *, code: str = "failed",
                 stage: Optional[str] = None,
                 uri: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage
        self.uri = uri


# In gi.repository.GstSpdl this class takes the place of the enumeration.
for _number, _nick in enumerate(native.list_error_codes()):
    setattr(LoaderError, _nick.upper().replace("-", "_"), _number)
