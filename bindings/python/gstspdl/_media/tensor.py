# gst-spdl: one tensor of a batch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import importlib
from ctypes import addressof, c_uint
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple

from .._native import library as native
from .._native.gi import bridge

if TYPE_CHECKING:
    import numpy

# Names of types by NumPy's letters; ml_dtypes uses "V" for bfloat16.
_NAMES = {"i": "int", "u": "uint", "f": "float", "V": "bfloat"}
_DLPACK_CPU = 1
_DLPACK_CUDA = 2
# Types by the numbers of both protocols.
_LEGACY_STREAM = 1

# NumPy's, once it was imported.
_asarray: "Optional[Callable[[Any], numpy.ndarray[Any, Any]]]" = None


def _stream_number(stream: Any) -> int:
    """Returns the number of a stream of PyTorch, CuPy or Numba."""
    for name in "cuda_stream", "ptr", "handle":
        if hasattr(stream, name):
            number = getattr(stream, name)
            return int(getattr(number, "value", number) or 0)
    return _LEGACY_STREAM if stream is None else int(stream)


class Tensor:
    """View of a tensor in the memory of a batch.

        array = tensor.numpy()              # or np.asarray(tensor)
        tensor = torch.from_dlpack(tensor)

    Neither copies the data. Other libraries can use DLPack, __array_struct__,
    __array_interface__ or __cuda_array_interface__. The memory stays valid as
    long as the tensor or such a view exists, even after batch, loader and
    pipeline are gone.

    On a CUDA device, the stream that is current when a view is taken waits for
    the content. The CPU and other streams do not wait.
    """

    __slots__ = ("_owner", "_info")

    def __init__(self, owner: Any, info: native.TensorInfo) -> None:
        # The owner, a batch or a tensor of PyGObject, keeps the memory.
        self._owner = owner
        self._info = info

    @property
    def shape(self) -> Tuple[int, ...]:
        """The dimensions, in NumPy's order."""
        info = self._info
        return tuple(info.shape[:info.n_dims])

    @property
    def address(self) -> int:
        """The address of the first element, on the tensor's device."""
        return self._info.address or 0

    @property
    def readonly(self) -> bool:
        """True if the memory is shared and must not be written."""
        return not self._info.writable

    @property
    def _device(self) -> Tuple[int, int]:
        return self._info.device_type, self._info.device_id

    @property
    def name(self) -> str:
        """The name in the batch, such as "data"."""
        name: bytes = native.tensor_get_name(self._info.tensor)
        return name.decode()

    @property
    def strides(self) -> Tuple[int, ...]:
        """The distance between two elements of each dimension, in bytes."""
        n = c_uint()
        first = native.tensor_get_strides(self._info.tensor, n)
        return tuple(first[:n.value])

    @property
    def nbytes(self) -> int:
        """The number of bytes from the first to the last element, including
        gaps between them."""
        return int(native.tensor_get_size(self._info.tensor))

    @property
    def dtype(self) -> str:
        """The type of the elements, as NumPy and PyTorch call it: "uint8",
        "bool", "float32" and so on."""
        typestr = self._info.typestr.decode()
        if typestr[1] == "b":
            return "bool"
        return f"{_NAMES[typestr[1]]}{8 * int(typestr[2:])}"

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def device(self) -> str:
        """The device, as PyTorch calls it: "cpu", "cuda:0" and so on."""
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
        """Returns a NumPy array of the same memory, like np.asarray(tensor).
        Raises TypeError for a tensor on a CUDA device, and for bfloat16
        without the package ml_dtypes."""
        global _asarray
        if _asarray is None:  # an import statement takes longer than the view
            import numpy

            _asarray = numpy.asarray
        return _asarray(self)

    def __array__(self, *arguments: Any, **more: Any) -> Any:
        """Returns an array of bfloat16, else raises. NumPy calls it only if
        there is no __array_interface__."""
        if self._device[0] == _DLPACK_CPU:
            import numpy

            return numpy.asarray(_Words(self)).view(_find_bfloat16())
        raise TypeError(f"the tensor is on {self.device}, where NumPy cannot "
                        "read it: copy it with torch.from_dlpack(tensor).cpu()")

    def wait(self, stream: Any = None) -> None:
        """Makes a stream of the CUDA device wait for the content, and returns
        at once.

        `stream`: a stream of PyTorch, CuPy or Numba, a number, or None for the
        default stream.

        Call it for each stream that uses the tensor, except the stream that was
        current when a view was taken. The memory is reused after the work that was
        queued in these streams before the last view was freed. Does nothing for a
        tensor in CPU memory."""
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
    def __array_struct__(self) -> Any:
        """A capsule with the array interface as a structure in C. NumPy prefers
        this structure, because it needs no text to be written and parsed."""
        info = self._info
        if not info.array.two:
            raise AttributeError("NumPy cannot view the tensor")
        return native.new_capsule(addressof(info), None, None)

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if self._info.device_type != _DLPACK_CPU:
            raise AttributeError("the tensor is on a CUDA device")
        if self._info.typestr[1:] == b"V2":
            raise AttributeError("NumPy calls __array__() for bfloat16")
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        if self._device[0] != _DLPACK_CUDA:
            raise AttributeError("the tensor is in CPU memory")
        # PyTorch ignores the stream and uses the default one.
        self.wait()
        return dict(self._interface(), stream=_LEGACY_STREAM)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._device

    def __dlpack__(self, *, stream: Any = None,
                   max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        """Returns a capsule of DLPack 0.x, also if `max_version` is later, which
        the standard allows. That version cannot mark memory as read-only, so a
        `readonly` tensor in the memory of the CPU is copied.

        On a CUDA device, `stream` waits for the content; None is the default
        stream. -1, which requests no wait, also means the default stream,
        since the memory must not be reused before its consumer is done."""
        if self._device[0] == _DLPACK_CUDA and stream == 0:
            raise ValueError("stream 0 is ambiguous in DLPack: use 1 for the "
                             "default stream or 2 for the thread's own")
        if dl_device is not None and tuple(dl_device) != self._device:
            raise BufferError(f"the tensor is on {self.device}: copy it")
        copied = self.readonly and self._device[0] == _DLPACK_CPU
        if copy is False and copied:
            raise BufferError("copy=False is not supported for this tensor: "
                              "its memory is shared and must not be written")
        if copy and not copied:
            raise BufferError("copy=True is not supported for this tensor: "
                              "copy the result")
        self.wait(None if stream == -1 else stream)
        managed = native.tensor_to_dlpack(self._info.tensor)
        if not managed:
            raise MemoryError(f"not enough memory for a copy of {self.nbytes} "
                              "bytes")
        return native.new_capsule(
            managed, b"dltensor", native.capsule_destructor)


def view_tensor(tensor: Any) -> Tensor:
    """Returns the tensor of this package for a GstSpdl.Tensor, which it keeps."""
    bridge()
    info = native.TensorInfo()
    # As in address_of().
    native.tensor_describe(hash(tensor), info)
    return Tensor(tensor, info)


class _Words:
    """The memory of a tensor of bfloat16, as uint16."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        interface = self._tensor._interface()
        return dict(interface, typestr=interface["typestr"].replace("V", "u"))


def _find_bfloat16() -> Any:
    try:
        return importlib.import_module("ml_dtypes").bfloat16
    except ImportError as error:
        raise TypeError("NumPy has no bfloat16: install the package ml_dtypes, "
                        "or use torch.from_dlpack(tensor)") from error
