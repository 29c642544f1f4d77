# gst-spdl: the C library, called by ctypes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of gst/spdl/binding/binding.h and of the public headers.

`_held` calls keep the GIL: 0.3 us, and no other thread runs in between, which
could then keep the GIL for 5 ms. These are functions that only read or copy a
few values. `_released` calls release the GIL: all functions that can wait."""

import ctypes
import os
import sys
from ctypes import (POINTER, c_char, c_char_p, c_double, c_int, c_int64,
                    c_size_t, c_uint, c_uint64, c_void_p)
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence

_VERSION = 1


# Folder where pip installs the library of the package.
folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_lib")


def _find_library() -> str:
    """Loads the library from the package, as in a wheel, or else from the
    system."""
    name = "libgstspdl-1.0.so.0"
    for path in (os.path.join(folder, "libgstspdl-1.0-wheel.so.0"),
                 os.path.join(folder, name)):
        if os.path.exists(path):
            return path
    return name


_NAME = _find_library()
# e_machine in the header of an ELF file
_CPUS = {62: "x86-64", 183: "aarch64"}


def _advise() -> str:
    """Returns what to do if the library cannot be loaded."""
    if not _NAME.endswith("-wheel.so.0"):
        return ("In a build of gst-spdl, use `meson devenv -C build`; for an "
                "installation under PREFIX, `export LD_LIBRARY_PATH=PREFIX/lib`")
    import platform

    with open(_NAME, "rb") as file:
        number = int.from_bytes(file.read(20)[18:], "little")
    cpu = _CPUS.get(number, f"CPU {number} of ELF")
    here = " ".join(filter(None, platform.libc_ver())) or "another C library"
    return (f"This wheel needs Linux on {cpu} with glibc 2.34 or newer. This is "
            f"{platform.system()} on {platform.machine()} with {here}. Install a "
            "wheel for this CPU, or use a container with a newer Linux")


try:
    _released = ctypes.CDLL(_NAME)
except OSError as error:
    raise ImportError(f"gstspdl cannot load its library ({error}). "
                      f"{_advise()}") from error
_held = ctypes.PyDLL(_NAME)
library = _released


class _GError(ctypes.Structure):
    _fields_ = [("domain", c_uint), ("code", c_int), ("message", c_char_p)]


_error_p = POINTER(_GError)
_error_out = POINTER(_error_p)


class Error(Exception):
    """A GError, with the attributes of GLib.Error. `nick` is the nick of a
    GstSpdl.LoaderError, "source-error" or "pipeline-error"."""

    def __init__(self, message: str, domain: int, code: int,
                 nick: str) -> None:
        # As the cause of a LoaderError, it would print the traceback of a
        # function a second time.
        super().__init__(message.partition("\n")[0])
        self.message = message
        self.code = code
        self.nick = nick
        self._quark = domain

    @property
    def domain(self) -> str:
        """Name of the domain."""
        name: bytes = _get_error_domain(self._quark)
        return name.decode()

    def matches(self, domain: Any, code: int) -> bool:
        """Returns whether the error has this domain, a name or a quark, and
        this code."""
        return code == self.code and domain in (self._quark, self.domain)


def _function(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    # Indexing returns a new function each time, with its own argument types.
    function = library["gst_spdl_" + name]
    function.restype = result
    function.argtypes = arguments
    return function


def _quick(name: str, result: Any, *arguments: Any) -> Any:
    """Returns a function that keeps the GIL."""
    return _function(_held, name, result, *arguments)


def _slow(name: str, result: Any, *arguments: Any) -> Any:
    """Returns a function that releases the GIL."""
    return _function(_released, name, result, *arguments)


def _checked(function: Any) -> Callable[..., Any]:
    """Makes a function whose last parameter is a GError ** raise Error."""
    function.argtypes = (*function.argtypes, _error_out)

    def call(*arguments: Any) -> Any:
        error = _error_p()
        result = function(*arguments, error)
        if error:
            raise convert_error(error)
        return result

    return call


_free_error = _quick("binding_free_error", None, _error_p)
_get_error_code = _quick("binding_get_error_code", c_char_p, _error_p)
_get_error_nick = _quick("binding_get_error_nick", c_char_p, c_int)
_get_error_domain = _quick("binding_get_error_domain", c_char_p, c_uint)


def convert_error(error: Any) -> Error:
    """Takes ownership of a GError."""
    found = error.contents
    made = Error(found.message.decode(errors="replace"), found.domain,
                 found.code, _get_error_code(error).decode())
    _free_error(error)
    return made


def list_error_codes() -> Iterator[str]:
    """Returns the nicks of GstSpdl.LoaderError by number."""
    number = 0
    while nick := _get_error_nick(number):
        yield nick.decode()
        number += 1


_get_version = _quick("binding_get_version", c_uint)
if _get_version() != _VERSION:
    raise ImportError(
        f"gstspdl and its library have different versions ({_VERSION} and "
        f"{_get_version()}): install both from the same release")

_add_cuda_folder = _quick("binding_add_cuda_folder", None, c_char_p)


def _add_cuda_folders() -> None:
    """Adds the folders of NVIDIA's packages, which contain the CUDA Runtime of
    PyTorch's pip packages."""
    for path in sys.path:
        nvidia = os.path.join(path, "nvidia")
        if os.path.isdir(nvidia):
            _add_cuda_folder(os.fsencode(nvidia))


_add_cuda_folders()

# Memory

_free = _quick("binding_free", None, c_void_p)
_free_strings = _quick("binding_free_strings", None, c_void_p)
unref_object = _slow("binding_unref_object", None, c_void_p)
ref = _quick("binding_ref", c_void_p, c_void_p)
unref = _quick("binding_unref", None, c_void_p)


def decode_text(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode(errors="replace")


def _take_text(pointer: Optional[int]) -> Optional[str]:
    if not pointer:
        return None
    text = ctypes.string_at(pointer).decode(errors="replace")
    _free(pointer)
    return text


def _take_strings(pointer: Optional[int]) -> List[str]:
    strings: List[str] = []
    if not pointer:
        return strings
    address = pointer
    while (text := c_char_p.from_address(address).value) is not None:
        strings.append(text.decode(errors="replace"))
        address += ctypes.sizeof(c_char_p)
    _free_strings(pointer)
    return strings


def encode_text(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else os.fsencode(text)


def _text(function: Any) -> Callable[..., Optional[str]]:
    """Makes a function return the text at the address that it returns, which
    belongs to the caller."""
    function.errcheck = lambda pointer, *_: _take_text(pointer)
    return function  # type: ignore[no-any-return]


def _strings(function: Any) -> Callable[..., List[str]]:
    """Makes a function return the array of texts at the address that it returns.
    The array is empty for NULL."""
    function.errcheck = lambda pointer, *_: _take_strings(pointer)
    return function  # type: ignore[no-any-return]


#: alternating names and versions
list_versions = _strings(_quick("binding_list_versions", c_void_p))

# Batches and tensors

_int64s = POINTER(c_int64)
_uint_out = POINTER(c_uint)
_int_out = POINTER(c_int)

batch_unref = _quick("batch_unref", None, c_void_p)
batch_get_n_tensors = _quick("batch_get_n_tensors", c_uint, c_void_p)
batch_get_name = _quick("batch_get_name", c_char_p, c_void_p, c_uint)
batch_get_n_items = _quick("batch_get_n_items", c_uint, c_void_p)
batch_dup_labels = _quick("batch_dup_labels", c_void_p, c_void_p, _uint_out)
batch_dup_indices = _quick("batch_dup_indices", c_void_p, c_void_p, _uint_out)
batch_get_epoch = _quick("batch_get_epoch", c_uint64, c_void_p)
batch_get_state = _quick("batch_get_state", c_char_p, c_void_p)
batch_get_buffer = _quick("batch_get_buffer", c_void_p, c_void_p)
batch_get_caps = _quick("batch_get_caps", c_void_p, c_void_p)
batch_new = _checked(_quick("batch_new", c_void_p, c_void_p, c_void_p))
batch_copy = _checked(_slow("binding_batch_copy", c_void_p, c_void_p))
_batch_dup_keys = _quick("batch_dup_keys", c_void_p, c_void_p)
batch_dup_extra = _text(_quick(
    "binding_batch_dup_extra", c_void_p, c_void_p, c_uint))


class _ArrayInterface(ctypes.Structure):
    """SpdlArrayInterface, which is NumPy's PyArrayInterface."""

    _fields_ = [("two", c_int), ("n_dims", c_int), ("kind", c_char),
                ("itemsize", c_int), ("flags", c_int), ("shape", c_void_p),
                ("strides", c_void_p), ("data", c_void_p), ("descr", c_void_p)]


class TensorInfo(ctypes.Structure):
    """GstSpdlBindingTensor: description of a tensor."""

    _fields_ = [("array", _ArrayInterface), ("tensor", c_void_p),
                ("typestr", c_char_p), ("shape", _int64s),
                ("address", c_void_p), ("n_dims", c_uint),
                ("device_type", c_int), ("device_id", c_int),
                ("contiguous", c_int), ("writable", c_int)]


batch_get_tensor = _quick(
    "binding_batch_get_tensor", c_int, c_void_p, c_uint, POINTER(TensorInfo))
batch_find_tensor = _quick(
    "binding_batch_find_tensor", c_int, c_void_p, c_char_p,
    POINTER(TensorInfo))
tensor_describe = _quick(
    "binding_tensor_describe", None, c_void_p, POINTER(TensorInfo))
tensor_get_name = _quick("tensor_get_name", c_char_p, c_void_p)
tensor_get_strides = _quick(
    "tensor_get_strides", _int64s, c_void_p, _uint_out)
tensor_get_size = _quick("tensor_get_size", c_size_t, c_void_p)
tensor_to_dlpack = _quick("tensor_to_dlpack", c_void_p, c_void_p)
_tensor_wait = _checked(_quick("tensor_wait", c_int, c_void_p, c_void_p))


def batch_dup_keys(batch: int, n: int) -> List[str]:
    pointer = _batch_dup_keys(batch)
    keys = (c_char_p * n).from_address(pointer)
    found = [(key or b"").decode(errors="replace") for key in keys]
    _free_strings(pointer)
    return found


def batch_get_numbers(function: Any, batch: int) -> bytes:
    """Calls batch_dup_labels or batch_dup_indices."""
    n = c_uint()
    numbers = function(batch, n)
    try:
        return ctypes.string_at(numbers, 8 * n.value) if numbers else b""
    finally:
        _free(numbers)


def tensor_wait(tensor: int, stream: int) -> None:
    """Makes a stream wait for the tensor. The CPU does not wait."""
    try:
        _tensor_wait(tensor, stream)
    except Error as error:
        raise BufferError(error.message) from None


# The destructor is passed as an address, so that no Python code runs when a
# capsule is freed.
capsule_destructor = ctypes.cast(_held.gst_spdl_capsule_free, c_void_p)
_held.gst_spdl_capsule_init.restype = None
_held.gst_spdl_capsule_init(
    ctypes.cast(ctypes.pythonapi.PyCapsule_IsValid, c_void_p),
    ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, c_void_p))
read_capsule = ctypes.pythonapi.PyCapsule_GetPointer
read_capsule.restype = c_void_p
read_capsule.argtypes = [ctypes.py_object, c_char_p]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]

# Loaders

loader_new = _checked(_slow("loader_new", c_void_p, c_char_p))
loader_new_in_process = _checked(_slow(
    "loader_new_in_process", c_void_p, c_char_p, c_char_p))
loader_new_from_pipeline = _checked(_slow(
    "loader_new_from_pipeline", c_void_p, c_void_p))
loader_get_pipeline = _quick("loader_get_pipeline", c_void_p, c_void_p)
loader_has_source = _quick("loader_has_source", c_int, c_void_p)
loader_set_default_epochs = _slow(
    "loader_set_default_epochs", None, c_void_p, c_int64)
loader_set_default_rank = _slow(
    "loader_set_default_rank", None, c_void_p, c_int, c_int)
loader_get_num_batches = _slow(
    "loader_get_num_batches", c_uint64, c_void_p, c_uint64)
loader_start = _checked(_slow("loader_start", c_int, c_void_p))
loader_continue = _checked(_slow(
    "binding_loader_continue", c_int, c_void_p, c_uint64))
loader_stop = _slow("loader_stop", None, c_void_p)


class Pull(ctypes.Structure):
    """GstSpdlBindingPull: the result of loader_try_next()."""

    _fields_ = [("ready", c_int), ("has_notices", c_int), ("batch", c_void_p),
                ("error", _error_p)]


# The second argument is the address of a Pull, the fastest type to convert.
loader_try_next = _quick(
    "binding_loader_try_next", None, c_void_p, c_void_p)
loader_is_in_epoch = _quick("binding_loader_is_in_epoch", c_int, c_void_p)
loader_next_epoch = _checked(_slow("loader_next_epoch", c_int, c_void_p))
loader_wait = _slow("loader_wait", c_int, c_void_p, c_uint64)
loader_is_running = _quick("loader_is_running", c_int, c_void_p)
loader_is_finished = _quick("loader_is_finished", c_int, c_void_p)
loader_get_epoch = _quick("loader_get_epoch", c_uint64, c_void_p)
loader_get_seed = _quick("binding_loader_get_seed", c_uint64, c_void_p)
loader_get_num_failures = _quick(
    "loader_get_num_failures", c_uint64, c_void_p)
loader_get_max_failures = _quick(
    "binding_loader_get_max_failures", c_int, c_void_p)
loader_set_max_failures = _slow(
    "binding_loader_set_max_failures", None, c_void_p, c_int)
loader_get_cpu_budget = _quick(
    "binding_loader_get_cpu_budget", c_double, c_void_p)
loader_set_cpu_budget = _slow(
    "binding_loader_set_cpu_budget", None, c_void_p, c_double)
loader_keep_notices = _quick("binding_loader_keep_notices", None, c_void_p)
loader_end_epoch = _checked(_slow("loader_end_epoch", c_int, c_void_p))
loader_end_source = _checked(_slow(
    "loader_end_source", c_int, c_void_p, c_void_p))
loader_fail_source = _checked(_slow(
    "binding_loader_fail_source", c_int, c_void_p, c_char_p))
loader_push = _checked(_slow(
    "binding_loader_push", c_int, c_void_p, c_void_p, c_int64, c_char_p,
    c_uint64))
loader_push_uri = _checked(_slow(
    "loader_push_uri", c_int, c_void_p, c_char_p, c_int64, c_uint64))
_loader_dup_error = _quick("loader_dup_error", _error_p, c_void_p)
_loader_get_error_item = _quick(
    "loader_get_error_item", c_int, c_void_p, POINTER(c_void_p),
    POINTER(c_void_p))
loader_dup_stats = _text(_slow(
    "binding_loader_dup_stats", c_void_p, c_void_p))
loader_dup_verdict = _text(_slow(
    "binding_loader_dup_verdict", c_void_p, c_void_p))
loader_dup_classes = _checked(_strings(_slow(
    "loader_dup_classes", c_void_p, c_void_p)))
loader_set_classes = _checked(_slow(
    "loader_set_classes", c_int, c_void_p, POINTER(c_char_p)))
loader_dup_state = _text(_quick("loader_dup_state", c_void_p, c_void_p))
loader_read_state = _text(_quick(
    "binding_loader_read_state", c_void_p, c_void_p))
loader_restore_state = _checked(_slow(
    "loader_restore_state", c_int, c_void_p, c_char_p))
# Moves streams of Arrow's C interface, given by their addresses.
loader_set_arrow_table = _checked(_slow(
    "loader_set_arrow_table", c_int, c_void_p, c_void_p, c_void_p, c_char_p))
arrow_end = _slow("binding_arrow_end", None, c_uint64)
trace_start = _checked(_slow("binding_trace_start", c_int, c_char_p))
trace_stop = _checked(_slow("binding_trace_stop", c_uint64))


def loader_dup_error(loader: int) -> Optional[Error]:
    error = _loader_dup_error(loader)
    return convert_error(error) if error else None


def loader_get_error_item(loader: int) -> "tuple[Optional[str], ...]":
    """Returns the stage and the URI of the item that the error refers to."""
    stage, uri = c_void_p(), c_void_p()
    _loader_get_error_item(loader, stage, uri)
    return _take_text(stage.value), _take_text(uri.value)


# Failures and warnings

class ItemFailure(ctypes.Structure):
    """GstSpdlFailure: the record of an item that failed."""

    _fields_ = [("stage", c_char_p), ("uri", c_char_p), ("error", _error_p),
                ("source", c_uint), ("epoch", c_uint64), ("index", c_uint64),
                ("sequence", c_uint64)]


class Notice(ctypes.Structure):
    """GstSpdlNotice: an item that failed, or a warning."""

    _fields_ = [("failure", POINTER(ItemFailure)), ("stage", c_char_p),
                ("text", c_char_p), ("is_summary", c_int)]


_pop_notice = _quick(
    "binding_loader_pop_notice", POINTER(Notice), c_void_p)
_free_notice = _quick("binding_free_notice", None, POINTER(Notice))


def loader_pop_notices(loader: int) -> Iterator[Any]:
    """Yields notices, each valid until the next one is taken."""
    while notice := _pop_notice(loader):
        try:
            yield notice.contents
        finally:
            _free_notice(notice)


# States

state_is_done = _quick(
    "state_is_done", c_int, c_char_p, c_uint, c_uint64, c_uint64)
_state_get_epoch = _quick(
    "state_get_epoch", c_int, c_char_p, POINTER(c_uint64), _int_out)
state_dup_at_epoch = _text(_quick(
    "state_dup_at_epoch", c_void_p, c_char_p, c_uint64))
state_merge = _checked(_text(_quick(
    "state_merge", c_void_p, POINTER(c_char_p))))
state_reshard = _checked(_strings(_quick(
    "state_reshard", c_void_p, POINTER(c_char_p), c_uint)))


def make_strings(texts: Iterable[str]) -> Any:
    """Returns a NULL-terminated array of UTF-8."""
    encoded = [text.encode() for text in texts]
    return (c_char_p * (len(encoded) + 1))(*encoded, None)


def state_get_epoch(state: str) -> "tuple[int, bool]":
    """Returns the epoch, and whether the state is at its beginning."""
    epoch, is_beginning = c_uint64(), c_int()
    _state_get_epoch(state.encode(), epoch, is_beginning)
    return epoch.value, bool(is_beginning)


# Elements

init = _checked(_slow("init", c_int))
_parse_launch = _checked(_slow("parse_launch", c_void_p, c_char_p))


def check_element(description: str) -> None:
    """Raises Error if the element does not exist or rejects the properties."""
    init()
    pointer = _parse_launch(os.fsencode(description))
    if pointer:
        unref_object(pointer)


# Decoders

decoder_new = _checked(_slow("decoder_new", c_void_p, c_char_p))
decode = _checked(_slow("binding_decode", c_void_p, c_void_p, c_char_p,
                        c_size_t, c_uint64, c_uint64))
decoder_take_warning = _text(_quick(
    "decoder_take_warning", c_void_p, c_void_p))
# Removes secrets and control characters from a text.
show_line = _text(_quick("binding_show_line", c_void_p, c_char_p))

# Samples

class Item(ctypes.Structure):
    """GstSpdlBindingItem: the number of an item."""

    _fields_ = [("epoch", c_uint64), ("index", c_uint64), ("label", c_int64),
                ("uri", c_char_p)]


_caps_new = _quick("binding_caps_new", c_void_p, c_char_p)
sample_new = _quick(
    "binding_sample_new", c_void_p, c_char_p, c_size_t, c_void_p, c_void_p)
# Same, from an address.
sample_new_at = _quick(
    "binding_sample_new", c_void_p, c_void_p, c_size_t, c_void_p, c_void_p)
sample_new_from_buffer = _quick(
    "binding_sample_new_from_buffer", c_void_p, c_void_p)
_sample_new_from_parts = _quick(
    "binding_sample_new_from_parts", c_void_p, c_uint, POINTER(c_char_p),
    POINTER(c_void_p))
_sample_new_from_items = _quick(
    "binding_sample_new_from_items", c_void_p, c_uint, POINTER(c_void_p))
sample_new_failed = _quick("sample_new_failed", c_void_p, c_char_p)
_sample_is_group = _quick(
    "binding_sample_is_group", c_int, c_void_p, _uint_out)
sample_dup_item = _quick(
    "binding_sample_dup_item", c_void_p, c_void_p, c_uint)
_sample_get_item = _quick(
    "binding_sample_get_item", c_int, c_void_p, POINTER(Item))
sample_dup_caps = _text(_quick(
    "binding_sample_dup_caps", c_void_p, c_void_p))
_sample_get_size = _quick("binding_sample_get_size", c_size_t, c_void_p)
_sample_copy_data = _quick(
    "binding_sample_copy_data", None, c_void_p, c_void_p, c_size_t)
sample_view = _checked(_quick("binding_sample_view", c_void_p, c_void_p))
sample_dup_extra = _text(_quick(
    "binding_sample_dup_extra", c_void_p, c_void_p))
_sample_with_extra = _quick(
    "binding_sample_with_extra", c_void_p, c_void_p, c_void_p, c_char_p,
    c_size_t, POINTER(c_char_p))
_sample_keep_extra = _quick(
    "binding_sample_keep_extra", c_int, c_void_p, c_char_p, c_size_t,
    POINTER(c_char_p))


def caps_new(description: str) -> int:
    pointer: Optional[int] = _caps_new(description.encode())
    if not pointer:
        raise ValueError(f"cannot parse the caps {description!r}: write a "
                         'media type, such as "image/jpeg"')
    return pointer


def sample_new_from_parts(names: Sequence[str],
                          parts: Sequence[int]) -> Optional[int]:
    n = len(names)
    return _sample_new_from_parts(  # type: ignore[no-any-return]
        n, make_strings(names), (c_void_p * n)(*parts))


def sample_new_from_items(items: Sequence[int]) -> Optional[int]:
    n = len(items)
    pointer: Optional[int] = _sample_new_from_items(n, (c_void_p * n)(*items))
    return pointer


def sample_get_n_items(sample: int) -> Optional[int]:
    """Returns the number of items of a group; None for a single item."""
    n = c_uint()
    return n.value if _sample_is_group(sample, n) else None


def sample_get_item(sample: int) -> Optional[Item]:
    item = Item()
    return item if _sample_get_item(sample, item) else None


def sample_with_extra(result: int, item: int, changes: bytes,
                      gone: Iterable[str]) -> int:
    """Returns a new sample: the result with the item's extra fields, after the
    changes."""
    pointer: Optional[int] = _sample_with_extra(
        result, item, changes, len(changes), make_strings(gone))
    if not pointer:
        raise ValueError(
            "the new fields of extra cannot be stored: set boxes and keypoints "
            "to [] instead of removing them")
    return pointer


def sample_keep_extra(sample: int, changes: bytes,
                      gone: Iterable[str]) -> None:
    if not _sample_keep_extra(sample, changes, len(changes),
                              make_strings(gone)):
        raise ValueError(
            "the new fields of extra cannot be stored: set boxes and keypoints "
            "to [] instead of removing them")


def sample_dup_data(sample: int) -> bytes:
    size = _sample_get_size(sample)
    if size == 0:
        return b""
    data = ctypes.create_string_buffer(size)
    _sample_copy_data(sample, data, size)
    return data.raw


# Functions

def _set_python() -> None:
    """Gives the library the functions by which it enters the interpreter."""
    api = ctypes.pythonapi
    try:
        is_finalizing = api.Py_IsFinalizing
    except AttributeError:  # before 3.13
        is_finalizing = api._Py_IsFinalizing
    functions = (
        api.PyGILState_Ensure, api.PyGILState_Release, api.PyEval_SaveThread,
        api.PyEval_RestoreThread, api.PyThreadState_Clear,
        api.PyThreadState_DeleteCurrent, api.Py_IsInitialized, is_finalizing)
    _held.gst_spdl_binding_set_python.restype = None
    _held.gst_spdl_binding_set_python((c_void_p * len(functions))(
        *(ctypes.cast(function, c_void_p).value for function in functions)))


_set_python()
Callback = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p)
set_function = _quick(
    "binding_set_function", c_int, c_void_p, c_char_p, Callback, c_void_p)
SelectCallback = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
set_select = _quick(
    "binding_set_select", c_int, c_void_p, c_char_p, SelectCallback, c_void_p)
set_process_pool = _quick(
    "binding_set_process_pool", c_int, c_void_p, c_char_p, c_void_p, c_uint,
    c_void_p)
set_concurrency = _quick(
    "binding_set_concurrency", c_int, c_void_p, c_char_p, c_uint)
_pop_finished = _quick("binding_pop_finished", c_void_p)


# A function that opens a stream of Arrow: address, id, and where to set a problem.
OpenCallback = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
set_problem = _quick("binding_set_problem", None, c_void_p, c_char_p)
loader_set_arrow_stream = _checked(_slow(
    "binding_loader_set_arrow_stream", c_int, c_void_p, OpenCallback, c_void_p,
    c_char_p))


# The same for a part of a table: number, columns, address, id, and where to set a
# problem.
OpenPartCallback = ctypes.CFUNCTYPE(
    None, c_int, POINTER(c_char_p), c_void_p, c_void_p, c_void_p)
_loader_set_arrow_parts = _checked(_slow(
    "binding_loader_set_arrow_parts", c_int, c_void_p, POINTER(c_uint64), c_uint,
    OpenPartCallback, c_void_p, c_char_p))
_loader_list_locations = _strings(_quick(
    "binding_loader_list_locations", c_void_p, c_void_p))


def loader_set_arrow_parts(loader: int, sizes: "Sequence[tuple[int, int]]",
                           function: Any, number: int, name: str) -> None:
    """`sizes`: numbers of rows and bytes."""
    flat = (c_uint64 * (2 * len(sizes)))(*(n for size in sizes for n in size))
    _loader_set_arrow_parts(loader, flat, len(sizes), function, number,
                            name.encode())


def loader_list_locations(loader: int) -> "list[tuple[str, str, str]]":
    """Returns location, pattern and label-column of each spdlsrc; "": unset."""
    texts = _loader_list_locations(loader)
    return list(zip(texts[::3], texts[1::3], texts[2::3]))


loader_get_number = _quick("binding_loader_get_number", c_uint64, c_void_p,
                           c_char_p, c_char_p)


def read_strings(address: Any) -> Optional[List[str]]:
    """Returns the strings of a NULL-terminated array of UTF-8, None for
    NULL."""
    if not address:
        return None
    texts: List[str] = []
    while address[len(texts)] is not None:
        texts.append(address[len(texts)].decode())
    return texts


def pop_finished() -> Iterator[int]:
    """Yields the ids of functions that will not be called again."""
    while number := _pop_finished():
        yield number


get_num_cores = _quick("get_num_cores", c_uint)

# Coroutines

thread_set_loading = _quick("binding_thread_set_loading", None)
queue_new = _quick("binding_queue_new", c_void_p, c_void_p)
queue_unref = _quick("binding_queue_unref", None, c_void_p)
queue_get_fd = _quick("binding_queue_get_fd", c_int, c_void_p)
set_queue = _quick(
    "binding_set_queue", c_int, c_void_p, c_char_p, c_void_p)
_queue_clear = _quick(
    "binding_queue_clear", c_int, c_void_p, POINTER(c_uint64))
_queue_take = _quick(
    "binding_queue_take", c_void_p, c_void_p, POINTER(c_void_p))
# Another thread may keep the GIL for 5 ms. No thread that holds a lock of the
# stage waits for the GIL.
task_finish = _quick(
    "binding_task_finish", None, c_void_p, c_void_p, c_uint64)


def queue_clear(queue: int) -> "tuple[bool, int]":
    """Returns True if all items are to be cancelled, and the timeout of later items
    in ns."""
    timeout = c_uint64()
    return bool(_queue_clear(queue, timeout)), timeout.value


def queue_take(queue: int) -> "Iterator[tuple[int, int]]":
    """Yields tasks and their samples."""
    sample = c_void_p()
    while task := _queue_take(queue, sample):
        assert sample.value is not None
        yield task, sample.value


# Worker processes

fork_server_new = _quick("fork_server_new", c_void_p, c_int)
fork_server_free = _quick("fork_server_free", None, c_void_p)
fork_server_watch = _slow(
    "fork_server_watch", None, c_void_p, c_int, c_uint64)
# Returns what happened to the process, if it made no progress and was killed.
fork_server_look = _text(_slow("fork_server_look", c_void_p, c_void_p))
_fork_server_begin = _checked(_slow(
    "fork_server_begin", c_void_p, c_void_p, c_uint, _int_out))
_fork_server_end = _slow(
    "fork_server_end", c_void_p, c_void_p, c_int, c_int, _int_out)
process_pool_new = _quick(
    "process_pool_new", c_void_p, c_void_p, c_uint)
process_pool_set_server = _slow(
    "process_pool_set_server", None, c_void_p, c_void_p)
process_pool_free = _slow("process_pool_free", None, c_void_p)
process_link_new = _quick("process_link_new", c_void_p, c_int)
process_link_free = _quick("process_link_free", None, c_void_p)
process_link_get_socket = _quick(
    "binding_process_link_get_socket", c_int, c_void_p)
_process_link_alloc = _slow(
    "binding_process_link_alloc", c_void_p, c_void_p, c_size_t,
    POINTER(c_void_p))
process_link_look = _text(_slow(
    "process_link_look", c_void_p, c_void_p, c_int))
process_link_send = _checked(_slow(
    "process_link_send", c_int, c_void_p, c_void_p))
_process_link_receive = _checked(_slow(
    "process_link_receive", c_int, c_void_p, POINTER(c_void_p)))
_sample_get_bytes = _quick(
    "binding_sample_get_bytes", c_void_p, c_void_p, POINTER(c_size_t))


def fork_server_begin(server: int, number: int) -> "tuple[int, int]":
    """Forks a worker. Returns a link to it and its process ID."""
    pid = c_int()
    return _fork_server_begin(server, number, pid), pid.value


def fork_server_end(server: int, pid: int,
                    kill_now: bool) -> "tuple[str, int]":
    """Collects a worker. Returns how it ended, and its status, as of waitpid();
    negative: unknown."""
    status = c_int()
    text = _take_text(_fork_server_end(server, pid, kill_now, status))
    return text or "", status.value


def process_link_alloc(link: int, size: int) -> "tuple[int, int]":
    """A sample of shared memory, and the address of the memory."""
    address = c_void_p()
    sample = _process_link_alloc(link, size, address)
    if not sample:
        raise MemoryError(f"not enough shared memory for {size} bytes")
    return sample, address.value or 0


def process_link_receive(link: int) -> Optional[int]:
    """Waits for a sample."""
    sample = c_void_p()
    _process_link_receive(link, sample)
    return sample.value


def sample_get_bytes(sample: int) -> "tuple[int, int]":
    """Address and size of a sample of one memory."""
    size = c_size_t()
    address = _sample_get_bytes(sample, size)
    return address or 0, size.value
