# gst-spdl: files and folders of a pipeline
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import re

from .._errors import LoaderError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Characters of patterns such as train-{0000..0127}.tar.
_SPECIAL = re.compile(r"[{}*?\[\]]")


def make_absolute(path: str) -> str:
    """Returns a path that means the same after os.chdir(), with ~ replaced.
    URIs, and patterns that begin with a brace, are returned unchanged."""
    if not path or path[0] in '{"' or _SCHEME.match(path):
        return path
    path = os.path.expanduser(path)
    if path.startswith("/"):
        return path
    folder = os.getcwd()
    if _SPECIAL.search(path) and _SPECIAL.search(folder):
        return path  # the folder would become a part of the pattern
    # Not abspath(), which takes "link/../a" for "a".
    return os.path.join(folder, path[2:] if path[:2] == "./" else path)


def check_place(path: str) -> None:
    """Raises LoaderError if an absolute path does not exist. For a pattern, its
    folder must exist."""
    if not path.startswith("/"):
        return
    special = _SPECIAL.search(path)
    if special and not os.path.lexists(path):
        path = os.path.dirname(path[:special.start()])
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        above = path
        while not os.path.exists(above):
            above = os.path.dirname(above)
        raise LoaderError(
            f"{path} does not exist: the path is wrong after {above}, or the "
            "files are not there yet", code="source") from error
    except OSError:
        pass  # The source explains it.
