# gst-spdl: objects with tensors between a trainer and its worker processes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An object is one buffer in shared memory: the contents of its arrays and
tensors, its pickle, which refers to them, and a table of their places."""

import ctypes
import io
import pickle
import struct
import sys
from types import FunctionType
from typing import Any, List, Sequence, Tuple

import torch

from .._media.sample import Sample
from .._native import library as native

_ALIGNMENT = 64
# Place and size of the pickle, and number of arrays.
_END = struct.Struct("=QQQ")
_PLACE = struct.Struct("=QQ")
# As long as any memory, since ctypes keeps each type of an array.
_Memory = ctypes.c_ubyte * (1 << 62)


def view_memory(address: int, size: int, owner: Any) -> memoryview:
    """A view that keeps the owner of the memory alive."""
    memory: Any = _Memory.from_address(address)
    memory.owner = owner
    return memoryview(memory).cast("B")[:size]


def _find_in_main(name: str) -> Any:
    """Returns an object that cloudpickle copied to the worker from the trainer's
    main module."""
    found: Any = sys.modules["__main__"]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _make_tensor(data: Any, dtype: torch.dtype, shape: Sequence[int],
                 strides: Sequence[int], requires_grad: bool) -> torch.Tensor:
    if len(memoryview(data)) == 0:
        tensor = torch.empty_strided(shape, strides, dtype=dtype)
    else:
        tensor = torch.frombuffer(data, dtype=dtype).as_strided(shape, strides)
    return tensor.requires_grad_() if requires_grad else tensor


def _measure(tensor: torch.Tensor) -> int:
    """Returns the number of elements from the first to the last in memory."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum(int((size - 1) * stride) for size, stride in
                   zip(tensor.shape, tensor.stride()))


def make_storage(data: torch.Tensor) -> Any:
    if hasattr(data, "untyped_storage"):
        return data.untyped_storage()
    return data.storage().untyped()  # PyTorch 1


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is torch.Tensor:
            return self._reduce_tensor(value)
        if (isinstance(value, torch.UntypedStorage) and
                value.device.type == "cpu"):
            return make_storage, (
                torch.tensor([], dtype=torch.uint8).set_(value),)
        if (isinstance(value, (FunctionType, type)) and
                value.__module__ == "__main__" and
                "<" not in value.__qualname__):
            return _find_in_main, (value.__qualname__,)
        return NotImplemented

    def _reduce_tensor(self, tensor: torch.Tensor) -> Any:
        if (tensor.layout is not torch.strided or tensor.is_quantized or
                tensor.device.type != "cpu" or tensor.is_conj() or
                tensor.is_neg() or getattr(tensor, "is_nested", False)):
            return NotImplemented
        if tensor.requires_grad and not tensor.is_leaf:
            raise RuntimeError(
                "a tensor that requires grad and is not a leaf cannot be sent "
                "from a worker process: return tensor.detach()")
        whole = tensor.detach()
        if _measure(whole) > whole.numel():
            whole = whole.clone()  # without gaps, in the same memory format
        size = _measure(whole) * whole.element_size()
        return _make_tensor, (
            # Also of types that NumPy lacks.
            pickle.PickleBuffer(view_memory(whole.data_ptr(), size, whole)),
            whole.dtype, tuple(whole.shape), whole.stride(),
            tensor.requires_grad)


def align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _dump(value: Any) -> Tuple[bytes, List[memoryview]]:
    found: List[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, buffer_callback=found.append).dump(value)
    return stream.getvalue(), [data.raw() for data in found]


def send(link: int, value: Any) -> None:
    """Sends an object. Raises native.Error if the other process has ended."""
    text, arrays = _dump(value)
    places = []
    end = 0
    for array in arrays:
        places.append((end, array.nbytes))
        end += align(array.nbytes)
    table = b"".join(_PLACE.pack(*place) for place in places)
    tail = text + table + _END.pack(end, len(text), len(arrays))
    pointer, address = native.process_link_alloc(link, end + len(tail))
    sample = Sample(pointer)
    memory = view_memory(address, end + len(tail), sample)
    for (place, size), array in zip(places, arrays):
        memory[place:place + size] = array
    memory[end:end + len(tail)] = tail
    native.process_link_send(link, native.ref(sample._pointer))


def receive(link: int) -> Any:
    """Waits for an object, whose arrays stay in shared memory. Raises
    native.Error if the other process has ended."""
    return load(receive_sample(link))


def receive_sample(link: int) -> Sample:
    """Waits for the sample of an object."""
    pointer = native.process_link_receive(link)
    assert pointer is not None
    return Sample(pointer)


def load(sample: Sample) -> Any:
    """Unpickles the object of a sample."""
    address, size = native.sample_get_bytes(sample._pointer)
    memory = view_memory(address, size, sample)
    end = size - _END.size
    begin, length, n = _END.unpack(memory[end:])
    table = memory[end - n * _PLACE.size:end]
    return pickle.loads(
        memory[begin:begin + length],
        buffers=[memory[place:place + extent]
                 for place, extent in _PLACE.iter_unpack(table)])
