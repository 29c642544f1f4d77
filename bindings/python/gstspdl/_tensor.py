# gst-spdl: one tensor of a batch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from ctypes import c_int, c_uint
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from . import _native as native

if TYPE_CHECKING:
    import numpy

_NAMES = {"i": "int", "u": "uint", "f": "float"}
_DLPACK_CPU = 1
_DLPACK_CUDA = 2
# By the numbers of both protocols.
_LEGACY_STREAM = 1


def _numbers(function: Any, pointer: int) -> Tuple[int, ...]:
    n = c_uint()
    first = function(pointer, n)
    return tuple(first[:n.value])


def _stream_number(stream: Any) -> int:
    """A stream as a number: PyTorch's, CuPy's, Numba's, or one already."""
    for name in "cuda_stream", "ptr", "handle":
        if hasattr(stream, name):
            number = getattr(stream, name)
            return int(getattr(number, "value", number) or 0)
    return _LEGACY_STREAM if stream is None else int(stream)


class Tensor:
    """A view of a batch's memory, without a copy.

    NumPy takes it by np.asarray(tensor), PyTorch by torch.from_dlpack(tensor),
    others by either protocol. Its memory lives as long as it or such a view,
    also when batch, loader and pipeline are gone.

    On a CUDA device the stream that is current when it is taken waits for its
    content; nothing else does.
    """

    __slots__ = ("_owner", "_pointer", "_typestr", "_device", "_contiguous",
                 "shape", "address", "readonly")

    shape: Tuple[int, ...]
    #: on its device
    address: int
    #: the memory is not this batch's alone, and must not be written
    readonly: bool

    def __init__(self, owner: Any, pointer: int) -> None:
        # The owner keeps the batch, and so what the pointer points to.
        self._owner = owner
        self._pointer = pointer
        number = c_int()
        self._device = (native.tensor_get_device(pointer, number),
                        number.value)
        self._typestr: str = native.tensor_get_typestr(pointer).decode()
        self._contiguous = bool(native.tensor_is_contiguous(pointer))
        self.shape = _numbers(native.tensor_get_shape, pointer)
        self.address = native.tensor_get_address(pointer) or 0
        self.readonly = not native.tensor_is_writable(pointer)

    # What a view does not need is asked for when it is wanted.

    @property
    def name(self) -> str:
        name: bytes = native.tensor_get_name(self._pointer)
        return name.decode()

    @property
    def strides(self) -> Tuple[int, ...]:
        """In bytes."""
        return _numbers(native.tensor_get_strides, self._pointer)

    @property
    def nbytes(self) -> int:
        """From the first element to the last, gaps among them."""
        n: int = native.tensor_get_size(self._pointer)
        return n

    @property
    def dtype(self) -> str:
        """By NumPy's and PyTorch's name: "uint8", "float32"."""
        return f"{_NAMES[self._typestr[1]]}{8 * int(self._typestr[2:])}"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> str:
        """As PyTorch writes it: "cpu", "cuda:0"."""
        kind, number = self._device
        return "cpu" if kind == _DLPACK_CPU else f"cuda:{number}"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return (f"<Tensor {self.name!r} {self.dtype} {self.shape} "
                f"on {self.device}>")

    def numpy(self) -> "numpy.ndarray[Any, Any]":
        """The same as np.asarray(tensor)."""
        import numpy

        return numpy.asarray(self)

    def __array__(self, *arguments: Any, **more: Any) -> Any:
        """Where there is an __array_interface__, NumPy does not ask for it."""
        raise TypeError(f"the tensor lies on {self.device}, where NumPy cannot "
                        "read it: torch.from_dlpack(tensor).cpu() copies it")

    def wait(self, stream: Any = None) -> None:
        """Makes a stream of the CUDA device wait for the content, and returns
        at once: a stream of PyTorch, CuPy or Numba, a number, or None for the
        default one. For other streams than the one that was current when the
        tensor was taken. What each of them was given to do with the tensor,
        until the last view of the batch goes, is done before its memory is used
        again. In the CPU's memory the content is there."""
        if self._device[0] == _DLPACK_CUDA:
            native.tensor_wait(self._pointer, _stream_number(stream))

    # The protocols

    def _interface(self) -> Dict[str, Any]:
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self._typestr,
            "data": (self.address, self.readonly),
            "strides": None if self._contiguous else self.strides,
        }

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if self._device[0] != _DLPACK_CPU:
            raise AttributeError("the tensor lies on a CUDA device")
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        if self._device[0] != _DLPACK_CUDA:
            raise AttributeError("the tensor lies in the CPU's memory")
        # PyTorch does not look at the stream, but uses the default one.
        self.wait()
        return dict(self._interface(), stream=_LEGACY_STREAM)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._device

    def __dlpack__(self, *, stream: Any = None,
                   max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        """A capsule of DLPack 0.x, whatever `max_version` is: the standard
        lets a producer give an older one. That cannot say that memory must
        not be written, so a tensor that is `readonly` is copied, but on a
        CUDA device.

        There `stream` waits for the content: None is the default stream; so it
        is with -1, which asks for no wait, since memory must not be used again
        before its consumer is done."""
        if self._device[0] == _DLPACK_CUDA and stream == 0:
            raise ValueError("0 is no stream in DLPack: 1 is the default one, "
                             "and 2 the thread's own")
        if dl_device is not None and tuple(dl_device) != self._device:
            raise BufferError(f"the tensor lies on {self.device}: copy it")
        copied = self.readonly and self._device[0] == _DLPACK_CPU
        if copy is False and copied:
            raise BufferError("the tensor's memory is shared and must not be "
                              "written: it can only be copied")
        if copy and not copied:
            raise BufferError("no copy is made here: copy what you get")
        self.wait(None if stream == -1 else stream)
        managed = native.tensor_to_dlpack(self._pointer)
        if not managed:
            raise MemoryError(f"there is no memory for a copy of {self.nbytes} "
                              "bytes")
        return native.new_capsule(
            managed, b"dltensor", native.capsule_destructor)
