# gst-spdl: the functions of the library that are called for each batch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A call through PyGObject costs 0.5 to 2 us, and lets go of the GIL, which
another thread may then keep for 5 ms. These functions only read, so they are
called with the GIL held: 0.3 us, and no other thread comes between."""

import ctypes
from ctypes import (POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint,
                    c_uint64, c_void_p)
from typing import Any

from ._gi import raw

# The library is open as soon as a type is known; this only finds it again.
BATCH_TYPE: Any = raw.Batch.__gtype__
_library = ctypes.PyDLL("libgstspdl-1.0.so.0")
_glib = ctypes.PyDLL("libglib-2.0.so.0")


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_library, "gst_spdl_" + name)
    function.restype = result
    function.argtypes = arguments
    return function


_int64s = POINTER(c_int64)
_uint_out = POINTER(c_uint)
_int_out = POINTER(c_int)

batch_get_n_tensors = _function("batch_get_n_tensors", c_uint, c_void_p)
batch_get_name = _function("batch_get_name", c_char_p, c_void_p, c_uint)
batch_get_tensor = _function("batch_get_tensor", c_void_p, c_void_p, c_uint)
batch_find_tensor = _function(
    "batch_find_tensor", c_void_p, c_void_p, c_char_p)
batch_get_n_items = _function("batch_get_n_items", c_uint, c_void_p)
batch_get_labels = _function("batch_get_labels", c_void_p, c_void_p, _uint_out)
batch_get_indices = _function(
    "batch_get_indices", c_void_p, c_void_p, _uint_out)

tensor_unref = _function("tensor_unref", None, c_void_p)
tensor_get_name = _function("tensor_get_name", c_char_p, c_void_p)
tensor_get_typestr = _function("tensor_get_typestr", c_char_p, c_void_p)
tensor_get_shape = _function("tensor_get_shape", _int64s, c_void_p, _uint_out)
tensor_get_strides = _function(
    "tensor_get_strides", _int64s, c_void_p, _uint_out)
tensor_is_contiguous = _function("tensor_is_contiguous", c_int, c_void_p)
tensor_is_writable = _function("tensor_is_writable", c_int, c_void_p)
tensor_get_address = _function("tensor_get_address", c_void_p, c_void_p)
tensor_get_size = _function("tensor_get_size", c_size_t, c_void_p)
tensor_get_device = _function("tensor_get_device", c_int, c_void_p, _int_out)
tensor_to_dlpack = _function("tensor_to_dlpack", c_void_p, c_void_p)


class _Error(ctypes.Structure):
    _fields_ = [("domain", c_uint), ("code", c_int), ("message", c_char_p)]


_error_out = POINTER(POINTER(_Error))
_tensor_wait = _function("tensor_wait", c_int, c_void_p, c_void_p, _error_out)
_error_free = _glib.g_error_free
_error_free.restype = None
_error_free.argtypes = [POINTER(_Error)]


def tensor_wait(tensor: int, stream: int) -> None:
    """Makes a stream wait, which the CPU does not: with the GIL held."""
    error = POINTER(_Error)()
    if not _tensor_wait(tensor, stream, error):
        message = error.contents.message.decode()
        _error_free(error)
        raise BufferError(message)


g_free = _glib.g_free
g_free.restype = None
g_free.argtypes = [c_void_p]

# As an address: no Python runs when a capsule is freed.
capsule_destructor = ctypes.cast(_library.gst_spdl_capsule_free, c_void_p)
_library.gst_spdl_capsule_init.restype = None
_library.gst_spdl_capsule_init(
    ctypes.cast(ctypes.pythonapi.PyCapsule_IsValid, c_void_p),
    ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, c_void_p))
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = c_void_p
_get_pointer.argtypes = [ctypes.py_object, c_char_p]
# Without the GIL.
_waiting = ctypes.CDLL(_library._name)
_end_source = _waiting.gst_spdl_loader_end_source
_end_source.restype = c_int
_end_source.argtypes = [c_void_p, c_void_p, c_void_p]


_is_ready = _function("loader_wait", c_int, c_void_p, c_uint64)
_wait = _waiting.gst_spdl_loader_wait
_wait.restype = c_int
_wait.argtypes = [c_void_p, c_uint64]


def wait(loader: Any, step: int) -> None:
    """Waits until there is something to take, and between steps of so many ns
    for Ctrl-C. Not by next() itself: it would raise, and PyGObject makes no
    GLib.Error while Python is about to raise KeyboardInterrupt."""
    pointer = _get_pointer(loader.__gpointer__, None)
    if not _is_ready(pointer, 0):
        while not _wait(pointer, step):
            pass


def is_ready(loader: Any, timeout: int) -> bool:
    """Wait `timeout` ns at most; return True if there is something to take."""
    return bool(_wait(_get_pointer(loader.__gpointer__, None), timeout))


is_loading_thread = _library.spdl_thread_has_batch_scheduling
is_loading_thread.restype = c_int


def end_source(loader: Any) -> None:
    """PyGObject cannot hand over that there is no GError."""
    _end_source(_get_pointer(loader.__gpointer__, None), None, None)


def int64_list(function: Any, batch: int) -> bytes:
    """What a function returns that makes an array of 64-bit numbers."""
    n = c_uint()
    numbers = function(batch, n)
    try:
        return ctypes.string_at(numbers, 8 * n.value) if numbers else b""
    finally:
        g_free(numbers)
