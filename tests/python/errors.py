# gst-spdl: error domains, codes and values in tests
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import re
import traceback
import types

from gstspdl import LoaderError

# The numbers of some codes of GStreamer's error domains.
CODES = {
    "library-error": {"settings": 5},
    "resource-error": {"failed": 1, "not-found": 3, "open-read": 5, "read": 9,
                       "settings": 13},
    "stream-error": {"failed": 1, "not-implemented": 3, "type-not-found": 4,
                     "wrong-type": 5, "codec-not-found": 6, "decode": 7,
                     "demux": 9, "format": 11},
}


def has_values(text, *values):
    """Returns whether a message has these names and numbers, as whole words.
    Messages are compared by values, since their prose may change."""
    return all(re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", text)
               for value in values)


@contextlib.contextmanager
def raises(kind, *values):
    """Checks that a LoaderError is raised whose cause has the domain and code
    `kind`, such as "stream-error decode", and whose message has the values. "|"
    separates several codes."""
    domain, _, codes = kind.partition(" ")
    wanted = [(f"gst-{domain}-quark", CODES[domain][code])
              for code in codes.split("|")]
    try:
        yield
    except LoaderError as error:
        found = error.__cause__.domain, error.__cause__.code
        if found not in wanted or not has_values(str(error), *values):
            raise AssertionError(f"{error!r}, of {found}, is not of {wanted} "
                                 f"with {values}") from error
    else:
        raise AssertionError(f"no LoaderError ({kind})")


@contextlib.contextmanager
def raises_with(code, *texts):
    """Checks that a LoaderError with the code is raised, whose message has the
    texts. None: any code. Gives an object that has the exception after the
    block."""
    raised = types.SimpleNamespace()
    try:
        yield raised
    except LoaderError as error:
        if code not in (None, error.code) or not all(
                text in str(error) for text in texts):
            raise AssertionError(f"{error!r}, with the code {error.code!r}, is "
                                 f"not {code!r} with {texts}") from error
        # As assertRaises(): frames would keep loaders alive.
        traceback.clear_frames(error.__traceback__)
        raised.exception = error.with_traceback(None)
    else:
        raise AssertionError(f"no LoaderError ({code})")
