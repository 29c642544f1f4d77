# gst-spdl: one tensor of a batch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from ctypes import c_uint
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from . import _native as native

if TYPE_CHECKING:
    import numpy

_NAMES = {"i": "int", "u": "uint", "f": "float"}
_DLPACK_CPU = 1
_DLPACK_CUDA = 2
# By the numbers of both protocols.
_LEGACY_STREAM = 1


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

    __slots__ = ("_owner", "_info")

    def __init__(self, owner: Any, info: native.TensorInfo) -> None:
        # The owner keeps the batch, which the tensor is a part of.
        self._owner = owner
        self._info = info

    @property
    def shape(self) -> Tuple[int, ...]:
        info = self._info
        return tuple(info.shape[:info.n_dims])

    @property
    def address(self) -> int:
        """On its device."""
        return self._info.address or 0

    @property
    def readonly(self) -> bool:
        """Whether the memory is shared and must not be written."""
        return not self._info.writable

    @property
    def _device(self) -> Tuple[int, int]:
        return self._info.device_type, self._info.device_id

    @property
    def name(self) -> str:
        name: bytes = native.tensor_get_name(self._info.tensor)
        return name.decode()

    @property
    def strides(self) -> Tuple[int, ...]:
        """In bytes."""
        n = c_uint()
        first = native.tensor_get_strides(self._info.tensor, n)
        return tuple(first[:n.value])

    @property
    def nbytes(self) -> int:
        """The number of bytes from the first element to the last, with the gaps
        between them."""
        n: int = native.tensor_get_size(self._info.tensor)
        return n

    @property
    def dtype(self) -> str:
        """The name that NumPy and PyTorch use: "uint8", "float32"."""
        typestr = self._info.typestr.decode()
        return f"{_NAMES[typestr[1]]}{8 * int(typestr[2:])}"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> str:
        """The device's name in PyTorch: "cpu", "cuda:0"."""
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
            native.tensor_wait(self._info.tensor, _stream_number(stream))

    # The protocols

    def _interface(self) -> Dict[str, Any]:
        info = self._info
        return {
            "version": 3,
            "shape": tuple(info.shape[:info.n_dims]),
            "typestr": info.typestr.decode(),
            "data": (info.address or 0, not info.writable),
            "strides": None if info.contiguous else self.strides,
        }

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if self._info.device_type != _DLPACK_CPU:
            raise AttributeError("the tensor is on a CUDA device")
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        if self._device[0] != _DLPACK_CUDA:
            raise AttributeError("the tensor is in the memory of the CPU")
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
        managed = native.tensor_to_dlpack(self._info.tensor)
        if not managed:
            raise MemoryError(f"there is no memory for a copy of {self.nbytes} "
                              "bytes")
        return native.new_capsule(
            managed, b"dltensor", native.capsule_destructor)
