# gst-spdl: stub of PyTorch for check-torch.py, over the fake CUDA Runtime
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs check-torch.py without a GPU: the memory of the fake device is CPU memory,
which NumPy reads. This does not test PyTorch itself."""

import contextlib
import ctypes
import os

import numpy as np

__version__ = "none, but NumPy"
int64 = np.int64
uint8 = np.dtype("uint8")
_fake = ctypes.CDLL(os.environ["GST_SPDL_CUDART"])


class _Managed(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int * 2),
                ("ndim", ctypes.c_int), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64))]


class _Tensor:
    is_cuda = True

    def __init__(self, array, owner=None):
        self.array = array
        self.owner = owner
        self.shape = array.shape
        self.dtype = (uint8 if array.dtype == uint8 else
                      f"torch.{array.dtype}")

    def sum(self, dim, dtype):
        return _Tensor(self.array.sum(axis=dim, dtype=dtype))

    def cpu(self):
        return self

    cuda = cpu

    def tolist(self):
        return self.array.tolist()

    def view(self, *shape):
        return _Tensor(self.array.reshape(shape))

    def float(self):
        return _Tensor(self.array.astype(np.float32))

    def __truediv__(self, other):
        by = other.array if isinstance(other, _Tensor) else np.float32(other)
        return _Tensor(self.array / by)

    def __sub__(self, other):
        return _Tensor(self.array - other.array)

    def permute(self, *order):
        return _Tensor(self.array.transpose(order))

    def abs(self):
        return _Tensor(abs(self.array))

    def max(self):
        return _Tensor(self.array.max())

    def item(self):
        return float(self.array)


def tensor(values, device=None):
    return _Tensor(np.array(values, np.float32))


def frombuffer(data, dtype):
    return _Tensor(np.frombuffer(data, dtype))


def cat(tensors):
    return _Tensor(np.concatenate([t.array for t in tensors]))


def _read(address, shape, dtype):
    _fake.fake_cuda_wait()
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    data = (ctypes.c_uint8 * size).from_address(address)
    return np.frombuffer(data, dtype).reshape(shape).copy()


def from_dlpack(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    managed = _Managed.from_address(get(capsule, b"dltensor"))
    dtype = {(1, 8): "uint8", (2, 32): "float32", (2, 16): "float16"}[
        managed.code, managed.bits]
    shape = managed.shape[:managed.ndim]
    return _Tensor(_read(managed.data, shape, dtype), capsule)


def as_tensor(view, device):
    interface = view.__cuda_array_interface__
    return _Tensor(_read(interface["data"][0], interface["shape"], "uint8"))


class cuda:
    class Stream:
        cuda_stream = 0

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def init():
        pass

    @staticmethod
    def current_stream():
        return cuda.Stream()

    default_stream = current_stream

    @staticmethod
    def _sleep(cycles):
        pass

    @staticmethod
    def get_device_name():
        return "the tests' own"

    @staticmethod
    @contextlib.contextmanager
    def stream(stream):
        yield
