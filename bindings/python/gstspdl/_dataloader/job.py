# gst-spdl: the pickle of a dataset for the workers of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file in memory has the contents of arrays and tensors, and the pickle, which
refers to them. The process that unpickles it maps the file privately, so changes by
it and the workers stay private. The trainer keeps the file, and compares it with
the dataset in the next epoch."""

import collections.abc
import copyreg
import ctypes
import functools
import io
import mmap
import os
import pickle
import sys
from multiprocessing import synchronize
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable, Dict, Iterator, List, Tuple

import torch
from torch.multiprocessing import reductions

from .._processes.inherit import InheritedFd, Spawning
from .._processes.server import get_pickler
from .exchange import align, make_storage, view_memory

_Storage = torch.storage.UntypedStorage
_TypedStorage = torch.storage.TypedStorage
# A smaller array is a part of the pickle.
_MIN_ARRAY = 4096
# Bytes that are compared at once, which fit into a cache.
_PIECE = 1 << 18
# Levels of attributes and items that are searched for what cannot be pickled.
_MAX_DEPTH = 12

_compare = ctypes.CDLL(None).memcmp
_compare.argtypes = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t


class Pickled:
    """A job for a process that unpickles it."""

    def __init__(self, parts: List[memoryview], spawning: Spawning) -> None:
        """`parts`: contents of arrays, and at the end the pickle"""
        self._parts = parts
        self._sizes = [part.nbytes for part in parts]
        self._spawning = spawning
        # Shared memory is the same as long as a process maps it.
        self._files = [os.fstat(fd)[1:3] for fd in spawning.fds]
        self._memory: Any = None

    def is_same(self, sent: "Pickled") -> bool:
        """Returns whether another pickled dataset has the same content."""
        if self._sizes != sent._sizes or self._files != sent._files:
            return False
        first = ctypes.addressof(ctypes.c_char.from_buffer(sent._memory))
        return all(
            _compare(part[i:i + _PIECE].tobytes(), first + place + i,
                     min(_PIECE, part.nbytes - i)) == 0
            for part, place in zip(self._parts, _list_places(self._sizes))
            for i in range(0, part.nbytes, _PIECE))

    def store(self) -> "Tuple[bytes, List[int]]":
        """Makes the file. Returns a pickle that refers to it, and descriptors
        for the process that loads it."""
        fd = os.memfd_create("gst-spdl-dataset")
        try:
            size = sum(map(align, self._sizes))
            os.ftruncate(fd, size)
            self._memory = mmap.mmap(fd, size)
            for part, place in zip(self._parts, _list_places(self._sizes)):
                self._memory[place:place + part.nbytes] = part
            number = self._spawning.duplicate_for_child(fd)
        finally:
            os.close(fd)
        self._parts = []
        return (pickle.dumps(_Stored(InheritedFd(number), self._sizes)),
                self._spawning.fds)

    def close(self) -> None:
        """Closes the descriptors, once they were sent."""
        self._spawning.close()


class _Stored:
    """Object whose pickle returns the job."""

    def __init__(self, fd: InheritedFd, sizes: List[int]) -> None:
        self._reduced = _load, (fd, sizes)

    def __reduce__(self) -> Any:
        return self._reduced


def _load(inherited: InheritedFd, sizes: List[int]) -> Any:
    fd = inherited.detach()
    memory = memoryview(mmap.mmap(fd, 0, mmap.MAP_PRIVATE))
    os.close(fd)
    *parts, stream = (memory[place:place + size]
                      for place, size in zip(_list_places(sizes), sizes))
    return pickle.loads(stream, buffers=parts)


def _list_places(sizes: List[int]) -> Iterator[int]:
    end = 0
    for size in sizes:
        yield end
        end += align(size)


def _make_storage(data: Any) -> Any:
    if len(memoryview(data)) == 0:
        return _Storage(0)
    return make_storage(torch.frombuffer(data, dtype=torch.uint8))


@functools.lru_cache(maxsize=None)
def _make_kind(base: Any) -> Any:
    table: Any = getattr(base, "dispatch_table", None)
    if not isinstance(table, collections.abc.Mapping):
        table = copyreg.dispatch_table  # without cloudpickle

    class Pickler(base):  # type: ignore[misc]
        """Pickles shared memory, mapped files and multiprocessing's objects as
        references."""

        # First cloudpickle's, which knows more methods.
        dispatch_table: Any = collections.ChainMap(
            table, ForkingPickler._extra_reducers)  # type: ignore[attr-defined]

        def __init__(self, stream: Any, shares_all: bool,
                     keep: Callable[[pickle.PickleBuffer], bool]) -> None:
            super().__init__(stream, pickle.HIGHEST_PROTOCOL,
                             buffer_callback=keep)
            self._shares_all = shares_all
            self._storages: Dict[Tuple[int, int], Any] = {}
            self._files: Any = None
            if "numpy" in sys.modules:
                from .mapped_files import MappedFiles

                self._files = MappedFiles()

        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, _TypedStorage):
                return self._reduce_typed(value)
            if isinstance(value, (torch.Tensor, _Storage)):
                _refuse_cuda(value)
                if not self._is_sent_by_reference(value):
                    return self._reduce_content(value)
                return NotImplemented
            if isinstance(value, synchronize.SemLock):
                _refuse_nameless(value)
            reduced = self._files and self._files.reduce(value)
            return reduced or super().reducer_override(value)

        def _is_sent_by_reference(self, value: Any) -> bool:
            if isinstance(value, torch.Tensor) and (
                    value.layout is not torch.strided or value.is_quantized or
                    getattr(value, "is_nested", False) or value.is_conj() or
                    value.is_neg() or value.device.type != "cpu"):
                return False  # its parts may be
            return self._shares_all or value.is_shared()

        def _reduce_content(self, value: Any) -> Any:
            if isinstance(value, _Storage):
                return _make_storage, (pickle.PickleBuffer(view_memory(
                    value.data_ptr(), value.nbytes(), value)),)
            return value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)

        def _reduce_typed(self, value: Any) -> Any:
            make, (storage, dtype) = reductions.reduce_typed_storage(value)
            # Each tensor has another object for the storage that they share.
            storage = self._storages.setdefault(
                (storage.data_ptr(), storage.nbytes()), storage)
            return make, (storage, dtype)

    return Pickler


def _refuse_cuda(value: Any) -> None:
    if value.device.type == "cuda":
        raise pickle.PicklingError(
            "it is a tensor on CUDA, which workers do not use. Keep it on the "
            "CPU, and move batches to the device in the training loop, or with "
            "pin_memory=True")


def _refuse_nameless(lock: Any) -> None:
    if lock._semlock.name is None:
        raise pickle.PicklingError(
            "it belongs to the start method 'fork', but this program cannot be "
            "forked, since it has threads or uses CUDA. Create it with "
            "multiprocessing.get_context('spawn'), and set "
            "multiprocessing_context='spawn' of the loader")


def dump_job(job: Any, shares_all: bool) -> Pickled:
    """Pickles a job. Tensors in shared memory stay there.

    `shares_all`: all tensors move to shared memory, as in multiprocessing with
        spawn"""
    spawning = Spawning()
    kind = _make_kind(get_pickler())
    parts: List[memoryview] = []
    stream = io.BytesIO()

    def keep(buffer: pickle.PickleBuffer) -> bool:
        part = buffer.raw()
        if part.nbytes < _MIN_ARRAY:
            return True
        parts.append(part)
        return False

    with spawning.active():
        try:
            kind(stream, shares_all, keep).dump(job)
        except Exception as error:
            raise _explain(error, kind, job) from error
    return Pickled([*parts, stream.getbuffer()], spawning)


# Search for the part that cannot be pickled

class _Nowhere:
    def write(self, data: Any) -> int:
        return len(data)


def _list_parts(value: Any) -> Iterator[Tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{i}]", item) for i, item in enumerate(value))
    elif not type(value).__module__.startswith(("multiprocessing.", "torch.")):
        attributes: Dict[str, Any] = getattr(value, "__dict__", {})
        yield from ((f".{name}", item) for name, item in attributes.items())


def _can_pickle(kind: Any, value: Any) -> bool:
    try:
        kind(_Nowhere(), False, lambda buffer: False).dump(value)
        return True
    except Exception:
        return False


def _find_problem(kind: Any, value: Any) -> str:
    """Returns the path of the innermost part that cannot be pickled."""
    path = ""
    for _ in range(_MAX_DEPTH):
        for name, part in _list_parts(value):
            if not _can_pickle(kind, part):
                path, value = path + name, part
                break
        else:
            break
    return path.lstrip(".").replace("init_fn", "worker_init_fn", 1)


def _explain(error: Exception, kind: Any, job: Any) -> Exception:
    """Returns an error of the same type that names the part."""
    path = _find_problem(kind, job)
    if not path:
        return error
    text = f"{path} cannot be sent to worker processes: {error}"
    if isinstance(error, TypeError):
        text += (". Create it in worker_init_fn or at its first use in a worker, "
                 "and leave it out in __getstate__() of its object")
    try:
        return type(error)(text)
    except Exception:
        return RuntimeError(text)
