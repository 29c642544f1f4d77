# gst-spdl: memory-mapped files on their way to worker processes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An array in a mapped file (np.memmap, or a view of one) is pickled as its place in
the file, which the other process maps, too. Private copies of a file, and files that were
deleted, are pickled as other arrays are."""

import mmap
import os
from typing import Any, Dict, Optional, Tuple

import numpy as np

# Attributes of np.memmap.
_ATTRIBUTES = "filename", "mode", "offset"


def _get_address(memory: Any) -> int:
    array = np.frombuffer(memory, np.uint8)
    return int(array.__array_interface__["data"][0])


def _find_file(address: int) -> Optional[Tuple[str, bool, int]]:
    """Returns the name of the file that is mapped at an address, whether it can
    be written, and the place in it."""
    with open("/proc/self/maps", encoding="utf-8",
              errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(maxsplit=5)
            first, last = (int(text, 16) for text in fields[0].split("-"))
            if first <= address < last:
                break
        else:
            return None
    mode = fields[1]
    if len(fields) < 6 or "s" not in mode:
        return None
    return fields[5], "w" in mode, int(fields[2], 16) + address - first


def _identify(status: os.stat_result) -> Tuple[int, int]:
    return status.st_dev, status.st_ino


def _map(name: str, identity: Tuple[int, int], size: int, is_writable: bool,
         place: int) -> mmap.mmap:
    fd = os.open(name, os.O_RDWR if is_writable else os.O_RDONLY)
    try:
        if _identify(os.fstat(fd)) != identity:
            raise OSError(f"the file {name}, which the dataset maps, was "
                          "replaced: begin the epoch again")
        return mmap.mmap(fd, size, offset=place, access=(
            mmap.ACCESS_WRITE if is_writable else mmap.ACCESS_READ))
    finally:
        os.close(fd)


def _view(kind: Any, memory: mmap.mmap, shape: Any, dtype: Any, place: int,
          strides: Any, attributes: Any) -> Any:
    array = np.ndarray.__new__(kind, shape, dtype, memory, place, strides)
    if attributes is not None:
        array._mmap = memory
        for name, value in zip(_ATTRIBUTES, attributes):
            setattr(array, name, value)
    return array


class MappedFiles:
    """Reduces mapped files, and arrays in them, for a pickle."""

    def __init__(self) -> None:
        #: by identity, of objects that the pickler keeps
        self._reduced: Dict[int, Any] = {}

    def reduce(self, value: Any) -> Any:
        """Returns None for other objects, and for files that another process
        cannot map."""
        if isinstance(value, mmap.mmap):
            return self._reduce_map(value)
        if type(value) in (np.ndarray, np.memmap):
            return self._reduce_array(value)
        return None

    def _reduce_map(self, memory: mmap.mmap) -> Any:
        if id(memory) not in self._reduced:
            try:
                self._reduced[id(memory)] = _reduce(memory)
            except (OSError, ValueError):  # a deleted file, a closed map
                self._reduced[id(memory)] = None
        return self._reduced[id(memory)]

    def _reduce_array(self, array: Any) -> Any:
        memory = array
        while isinstance(memory, np.ndarray):
            memory = memory.base
        if (not isinstance(memory, mmap.mmap) or array.dtype.hasobject or
                self._reduce_map(memory) is None):
            return None
        attributes = None
        if type(array) is np.memmap:
            attributes = [getattr(array, name) for name in _ATTRIBUTES]
        place = array.__array_interface__["data"][0] - _get_address(memory)
        return _view, (type(array), memory, array.shape, array.dtype, place,
                       array.strides, attributes)


def _reduce(memory: mmap.mmap) -> Any:
    found = _find_file(_get_address(memory))
    if found is None:
        return None
    name, is_writable, place = found
    status = os.stat(name)
    if status.st_size < place + len(memory):
        return None
    return _map, (name, _identify(status), len(memory), is_writable, place)
