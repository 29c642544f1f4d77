# gst-spdl: objects of PyGObject, where it is installed
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package works without PyGObject. Functions that return or take objects of
GStreamer, such as `loader.pipeline`, import it at their first use."""

import ctypes
import os
import sys
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from typing import Any, Optional

from . import library as native

# Indices in PyGObject's table of functions for other modules, which are
# unchanged since version 3.0.
_NEW_OBJECT = 3
_NEW_BOXED = 17


class _DlInfo(ctypes.Structure):
    _fields_ = [("file", c_char_p), ("base", c_void_p), ("symbol", c_char_p),
                ("address", c_void_p)]


def _find_file(library: Any, function: str) -> str:
    """Returns the file that contains a function of a library."""
    info = _DlInfo()
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = [c_void_p, ctypes.POINTER(_DlInfo)]
    dladdr(ctypes.cast(getattr(library, function), c_void_p), info)
    return os.path.realpath(os.fsdecode(info.file or b""))


def _check_same_gstreamer() -> None:
    """Raises ImportError if PyGObject uses another GStreamer, because exchanged
    objects would crash."""
    # The functions of a wheel's GStreamer have other names.
    ours = (_find_file(native.library, "gst_init_check")
            if hasattr(native.library, "gst_init_check") else native.folder)
    theirs = _find_file(ctypes.CDLL("libgstreamer-1.0.so.0"), "gst_init_check")
    if ours != theirs:
        raise ImportError(
            f"PyGObject uses {theirs}, but this gstspdl uses its own GStreamer "
            f"in {ours}, so they cannot exchange objects: install gst-spdl "
            "for the system's GStreamer, or use gstspdl without gi")


class _Bridge:
    """Returns PyGObject's modules and constructors."""

    def __init__(self) -> None:
        try:
            from gi import (  # type: ignore[attr-defined]
                _gobject, require_version)
        except ImportError as error:
            raise ImportError(
                "this needs PyGObject, which "
                f"{sys.executable or 'this Python'} lacks: on Debian, "
                "`apt install python3-gi python3-gst-1.0`, and use "
                "/usr/bin/python3 or a venv that is made with "
                "--system-site-packages") from error
        try:
            require_version("Gst", "1.0")
            require_version("GstSpdl", "1.0")
        except ValueError as error:
            raise ImportError(
                f"this needs a typelib ({error}): "
                "`apt install gir1.2-gstreamer-1.0`, and in a build of "
                "gst-spdl use `meson devenv -C build`, or "
                "`export GI_TYPELIB_PATH=PREFIX/lib/girepository-1.0` for one "
                "that is installed under PREFIX") from error
        # Without the typelib, PyGObject would make up classes for its types.
        from gi.repository import Gst, GstSpdl  # noqa: F401

        _check_same_gstreamer()
        # GStreamer's overrides in PyGObject must be initialized from Python.
        Gst.init(None)
        self.Gst: Any = Gst
        table = ctypes.cast(
            native.read_capsule(_gobject._PyGObject_API,
                                b"gobject._PyGObject_API"),
            ctypes.POINTER(c_void_p))
        self.new_object = ctypes.PYFUNCTYPE(
            ctypes.py_object, c_void_p)(table[_NEW_OBJECT] or 0)
        self._new_boxed = ctypes.PYFUNCTYPE(
            ctypes.py_object, c_size_t, c_void_p, c_int, c_int)(
                table[_NEW_BOXED] or 0)

    def new_boxed(self, kind: Any, pointer: int) -> Any:
        """Returns an object of the class @kind, which holds a reference."""
        return self._new_boxed(hash(kind.__gtype__), pointer, True, True)


_bridge: Optional[_Bridge] = None


def bridge() -> _Bridge:
    global _bridge
    if _bridge is None:
        _bridge = _Bridge()
    return _bridge


def address_of(thing: Any, name: str) -> int:
    """Returns the address of an object of the class of Gst: a pipeline, buffer,
    sample or caps."""
    if not is_a(thing, name):
        raise TypeError(f"expected a Gst.{name}, not {describe(thing)}")
    bridge()
    if hasattr(thing, "__gpointer__"):
        return native.read_capsule(thing.__gpointer__, None) or 0
    # PyGObject's hash of a boxed object is the address of the content.
    return hash(thing)


def describe(thing: Any) -> str:
    """Describes an argument of a wrong type, for an error message."""
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    return type(thing).__name__


def is_a(thing: Any, name: str) -> bool:
    """Returns whether the value is an object of a class of Gst. Does not
    import PyGObject, without which no such object exists."""
    gst = sys.modules.get("gi.repository.Gst")
    return gst is not None and isinstance(thing, getattr(gst, name))


def get_attribute(owner: Any, wrapper: str, name: str, hint: str = "") -> Any:
    """Returns an attribute of PyGObject's object for @owner, which the property
    @wrapper has. For __getattr__(). Raises AttributeError with @hint if it has
    none, or without PyGObject."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return getattr(getattr(owner, wrapper), name)
    except (ImportError, AttributeError) as error:
        # The cause says why PyGObject's attributes are missing.
        raise AttributeError(f"{type(owner).__name__!r} object has no "
                             f"attribute {name!r}{hint}") from error
