# gst-spdl: how a loader ends otherwise than well
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from typing import Any, Optional

from ._gi import GLib, raw

_DOMAIN: str = GLib.quark_to_string(raw.loader_error_quark())
_TIMED_OUT = int(raw.LoaderError.TIMED_OUT)


def is_timeout(error: Any) -> bool:
    """Whether a GLib.Error says that nothing came in time."""
    return bool(error.code == _TIMED_OUT and error.domain == _DOMAIN)


def code_of(error: Any) -> str:
    """The nick of a loader's own error; "pipeline-error" for others'."""
    if error.domain != _DOMAIN:
        return "pipeline-error"
    nick: str = raw.LoaderError(error.code).value_nick
    return nick


class LoaderError(RuntimeError):
    """Why a loader cannot go on.

    `code` is one of GstSpdl.LoaderError's values by its nick ("failures",
    "forked", "stopped", ...), "source" where the program's own source raised,
    and "pipeline-error" where an element gave up. `stage` is the name of the
    element and `uri` that of the item, where there is one. What it was made
    from is `__cause__`: the source's exception, or a GLib.Error. The
    enumeration's values are here, too: LoaderError.TIMED_OUT.
    """

    def __init__(self, message: str, *, code: str = "failed",
                 stage: Optional[str] = None,
                 uri: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage
        self.uri = uri


# In gi.repository.GstSpdl this class stands where the enumeration did.
for _name in dir(raw.LoaderError):
    if _name.isupper():
        setattr(LoaderError, _name, getattr(raw.LoaderError, _name))
