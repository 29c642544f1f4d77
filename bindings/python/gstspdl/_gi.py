# gst-spdl: what is needed of PyGObject, or how to get it
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import importlib.util
import os
import sys
from typing import Any

# Before 2.76 GLib allocates under locks of its own, which a fork leaves locked
# in the child if a thread of a loader has one; malloc() knows of forks. It is
# read when GLib is loaded, which gi does.
os.environ.setdefault("G_SLICE", "always-malloc")

# Some other Python's import system may find a folder gi and nothing in it, so
# that is as good as none.
try:
    from gi import require_version  # type: ignore[attr-defined]
    from gi.module import get_introspection_module
except ImportError as error:
    raise ImportError(
        f"gstspdl needs PyGObject, which {sys.executable or 'this Python'} "
        "lacks: use Debian's, `apt install python3-gi python3-gst-1.0` and "
        "then /usr/bin/python3, or a venv that sees it, "
        "`/usr/bin/python3 -m venv --system-site-packages VENV`"
    ) from error

try:
    require_version("Gst", "1.0")
    require_version("GstSpdl", "1.0")
except ValueError as error:
    raise ImportError(
        f"gstspdl finds no typelib ({error}): `apt install "
        "gir1.2-gstreamer-1.0`, and in a build of gst-spdl use `meson devenv "
        "-C build`, or export GI_TYPELIB_PATH=PREFIX/lib/girepository-1.0 and "
        "LD_LIBRARY_PATH=PREFIX/lib for one that is installed under PREFIX"
    ) from error

# PyGObject alone knows nothing of GStreamer's lists and fractions.
if not importlib.util.find_spec("gi.overrides.Gst"):
    raise ImportError(
        "gstspdl needs GStreamer's own part of PyGObject: "
        "`apt install python3-gst-1.0`")

# Gio is what the library's typelib needs, too: else PyGObject would import it
# with the first loader.
from gi.repository import Gio, GLib, Gst  # noqa: E402

# As the typelib has it: the classes of this package derive from its own.
raw: Any = get_introspection_module("GstSpdl")


def init() -> None:
    """Needed once before anything of Gst is called; later it costs nothing.
    Also where C code has done it: python3-gst-1.0 wants it from Python."""
    global init
    Gst.init(None)
    globals()["init"] = _nothing


def _nothing() -> None:
    pass


def dict_of(structure: "Gst.Structure") -> "dict[str, Any]":
    names = map(structure.nth_field_name, range(structure.n_fields()))
    return {name: structure.get_value(name) for name in names}


__all__ = ["GLib", "Gio", "Gst", "dict_of", "init", "raw"]
