#!/usr/bin/python3
# gst-spdl: tests of batches on a CUDA device in Python, with the fake runtime
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset. GST_SPDL_CUDART names the tests'
runtime."""

import ctypes
import gc
import os
import unittest

import numpy as np
from errors import raises
from support import describe, make_dataset

from gstspdl import Loader

FOLDER = make_dataset(20)
FAKE = ctypes.CDLL(os.environ["GST_SPDL_CUDART"])


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int),
                ("device_id", ctypes.c_int), ("ndim", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


def contents(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return Managed.from_address(pointer(capsule, b"dltensor"))


def count(name):
    return FAKE.fake_cuda_count(name.encode())


def make_loader(upload="", size=8, source=""):
    return Loader(describe(
        FOLDER, size=size, source=source, batch="labels=true").replace(
            "! spdlsink", f"! queue ! spdlcudaupload {upload} ! spdlsink"))


class Stream:
    """A stream like PyTorch's, with a handle of the fake runtime."""

    def __init__(self):
        self.handle = ctypes.c_void_p()
        FAKE.cudaStreamCreateWithFlags(ctypes.byref(self.handle), 0)
        self.cuda_stream = self.handle.value

    def close(self):
        FAKE.cudaStreamDestroy(self.handle)


class CudaTest(unittest.TestCase):
    def setUp(self):
        FAKE.fake_cuda_reset()

    def tearDown(self):
        gc.collect()
        FAKE.fake_cuda_let(-1)
        FAKE.fake_cuda_wait()
        self.assertEqual(FAKE.fake_cuda_live(), 0)
        self.assertEqual(FAKE.fake_cuda_misuses(), 0)

    def test_empty_tensors(self):
        for lengths in (0, 2), (0, 0):
            with Loader("spdlbatch batch-size=2 pad-to-longest=true "
                        "! spdlcudaupload ! spdlsink",
                        source=[np.ones((n, 4), "float32")
                                for n in lengths]) as loader:
                batch = loader.next()
                self.assertEqual(batch["data"].shape, (2, max(lengths), 4))
                capsule = batch["data"].__dlpack__()
                self.assertEqual(contents(capsule).shape[:3],
                                 [2, max(lengths), 4])
                del batch, capsule

    def test_tensors(self):
        # A single epoch, as the first copy of another one could be counted,
        # too.
        with make_loader(source="epochs=1") as loader:
            sizes = []
            for batch in loader:
                tensor = batch["data"]
                sizes.append(batch.num_items)
                self.assertEqual(tensor.device, "cuda:0")
                self.assertEqual(tensor.__dlpack_device__(), (2, 0))
                self.assertEqual(tensor.shape, (batch.num_items, 32, 32, 3))
                self.assertEqual(tensor.dtype, "uint8")
                self.assertEqual(batch["labels"].device, "cuda:0")
                self.assertFalse(hasattr(tensor, "__array_interface__"))
                self.assertFalse(hasattr(tensor, "__array_struct__"))
                with self.assertRaisesRegex(TypeError, r"\bcuda:0\b.*\bNumPy\b"):
                    np.asarray(tensor)
                with self.assertRaisesRegex(TypeError, "torch.from_dlpack"):
                    tensor.numpy()
        self.assertEqual(sizes, [8, 8, 4])
        self.assertEqual(count("pageable"), 0)
        self.assertEqual(count("cudaMemcpyAsync"), 3)
        del tensor, batch

    def test_dlpack(self):
        with make_loader() as loader:
            tensor = next(iter(loader))["data"]
        managed = contents(capsule := tensor.__dlpack__())
        self.assertEqual((managed.device_type, managed.device_id), (2, 0))
        self.assertEqual(managed.data, tensor.address)
        self.assertEqual(managed.shape[:4], [8, 32, 32, 3])
        self.assertEqual((managed.code, managed.bits), (1, 8))
        for device in None, (2, 0):
            tensor.__dlpack__(dl_device=device, copy=False,
                              max_version=(1, 0))
        with self.assertRaisesRegex(BufferError, r"\bcuda:0\b"):
            tensor.__dlpack__(dl_device=(1, 0))
        with self.assertRaisesRegex(BufferError, r"\bcopy=True\b"):
            tensor.__dlpack__(copy=True)
        # The capsule holds a reference to the memory, even after the pipeline
        # is freed.
        del tensor, loader
        gc.collect()
        self.assertGreater(FAKE.fake_cuda_live(), 0)
        del capsule

    def test_streams(self):
        """Tests that the consumer's stream waits for the copy."""
        stream = Stream()
        with make_loader() as loader:
            tensor = next(iter(loader))["data"]
            for number in None, 1, 2, -1, stream.cuda_stream:
                before = count("cudaStreamWaitEvent")
                tensor.__dlpack__(stream=number)
                self.assertEqual(count("cudaStreamWaitEvent"), before + 1)
            for other in stream, stream.cuda_stream, None:
                before = count("cudaStreamWaitEvent")
                tensor.wait(other)
                self.assertEqual(count("cudaStreamWaitEvent"), before + 1)
            with self.assertRaisesRegex(ValueError, "stream 0"):
                tensor.__dlpack__(stream=0)
            interface = tensor.__cuda_array_interface__
            self.assertEqual(interface["stream"], 1)
            self.assertEqual(interface["version"], 3)
            self.assertEqual(interface["data"], (tensor.address, False))
            self.assertEqual(interface["shape"], (8, 32, 32, 3))
            self.assertEqual(interface["typestr"], "|u1")
            # The data from CPU memory has arrived.
            del tensor
        stream.close()

    def test_cpu_does_not_wait(self):
        """Tests that batches and their views are returned before the device
        starts to copy."""
        FAKE.fake_cuda_hold()
        loader = make_loader("prefetch=4")
        with loader:
            batch = next(iter(loader))
            batch["data"].__dlpack__(stream=1)
            self.assertGreater(count("unfinished"), 0)
            self.assertEqual(count("cudaStreamSynchronize"), 0)
            FAKE.fake_cuda_let(-1)
        del batch

    def test_memory_is_reused_after_use(self):
        """Tests that memory is reused only after a stream has finished with a
        tensor, even if Python released the tensor before."""
        FAKE.fake_cuda_set_delay(300)
        with Loader(
                "videotestsrc num-buffers=40 pattern=black ! "
                "video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1 ! "
                "tee ! spdlbatch batch-size=2 ! spdlcudaupload ! "
                "spdlsink") as loader:
            for batch in loader:
                tensor = batch["data"]
                interface = tensor.__cuda_array_interface__
                self.assertEqual(interface["stream"], 1)
                FAKE.fake_cuda_use(
                    None, ctypes.c_void_p(interface["data"][0]),
                    ctypes.c_size_t(tensor.nbytes), 16)
                del tensor, batch, interface
        # Only as many blocks are allocated as are in use at the same time.
        self.assertLess(count("cudaMallocAsync"), 20)

    def test_lost_device(self):
        FAKE.fake_cuda_fail(b"copy", 2, 719)
        with make_loader(size=2) as loader:
            with raises("resource-error failed", "CUDA", 719):
                for batch in loader:
                    pass
            with self.assertRaisesRegex(BufferError, "CUDA|transfer"):
                batch["data"].__dlpack__()
            del batch


if __name__ == "__main__":
    unittest.main()
