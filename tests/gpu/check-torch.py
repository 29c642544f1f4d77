#!/usr/bin/env python3
# gst-spdl: test of batches in PyTorch on a GPU, without PyGObject
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python with PyTorch has no PyGObject, so this calls the library's C functions
with ctypes, as gstspdl does. Exits with 77 and a reason on stderr if PyTorch or
a GPU is missing."""

import ctypes
import json
import os
import random
import sys
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_uint64, c_void_p

try:
    import torch
except ImportError:
    sys.exit(print("there is no PyTorch", file=sys.stderr) or 77)
if not torch.cuda.is_available():
    sys.exit(print("PyTorch finds no GPU", file=sys.stderr) or 77)

WIDTH, HEIGHT, BATCHES = 224, 224, 24
SIZE = int(os.environ.get("SPDL_GPU_IMAGES", 64))
CAPS = f"video/x-raw,format=RGB,width={WIDTH},height={HEIGHT},framerate=0/1"
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
FOREVER = c_uint64(2 ** 64 - 1)

spdl = ctypes.CDLL("libgstspdl-1.0.so.0", mode=ctypes.RTLD_GLOBAL)
gst = ctypes.CDLL("libgstreamer-1.0.so.0")
glib = ctypes.CDLL("libglib-2.0.so.0")
py = ctypes.pythonapi


class GError(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_uint), ("code", c_int),
                ("message", c_char_p)]


def bind(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


error_out = POINTER(POINTER(GError))
loader_new = bind(spdl, "gst_spdl_loader_new", c_void_p, c_char_p, error_out)
loader_start = bind(spdl, "gst_spdl_loader_start", c_int, c_void_p, error_out)
loader_next = bind(spdl, "gst_spdl_loader_next", c_void_p, c_void_p, c_uint64,
                   error_out)
loader_stop = bind(spdl, "gst_spdl_loader_stop", None, c_void_p)
push_bytes = bind(spdl, "gst_spdl_loader_push_bytes", c_int, c_void_p, c_void_p,
                  c_void_p, c_int64, c_char_p, c_uint64, error_out)
end_source = bind(spdl, "gst_spdl_loader_end_source", c_int, c_void_p, c_void_p,
                  error_out)
get_tensor = bind(spdl, "gst_spdl_batch_dup_tensor", c_void_p, c_void_p,
                  ctypes.c_uint)
batch_unref = bind(spdl, "gst_spdl_batch_unref", None, c_void_p)
tensor_unref = bind(spdl, "gst_spdl_tensor_unref", None, c_void_p)
tensor_wait = bind(spdl, "gst_spdl_tensor_wait", c_int, c_void_p, c_void_p,
                   error_out)
to_dlpack = bind(spdl, "gst_spdl_tensor_to_dlpack", c_void_p, c_void_p)
get_address = bind(spdl, "gst_spdl_tensor_get_address", c_void_p, c_void_p)
caps_from_string = bind(gst, "gst_caps_from_string", c_void_p, c_char_p)
bytes_new = bind(glib, "g_bytes_new", c_void_p, c_char_p, ctypes.c_size_t)
bytes_unref = bind(glib, "g_bytes_unref", None, c_void_p)
capsule_new = bind(py, "PyCapsule_New", ctypes.py_object, c_void_p, c_char_p,
                   c_void_p)
bind(spdl, "gst_spdl_capsule_init", None, c_void_p, c_void_p)(
    ctypes.cast(py.PyCapsule_IsValid, c_void_p),
    ctypes.cast(py.PyCapsule_GetPointer, c_void_p))
capsule_free = ctypes.cast(spdl.gst_spdl_capsule_free, c_void_p)


def call(function, *arguments):
    error = POINTER(GError)()
    result = function(*arguments, byref(error))
    if error:
        sys.exit(f"{function.__name__}: {error.contents.message.decode()}")
    return result


class Loader:
    """A loader with items of bytes as input and capsules as output."""

    def __init__(self, line, items):
        self.items = items
        self.loader = call(loader_new, line.encode())
        call(loader_start, self.loader)
        self.pusher = threading.Thread(target=self._push)
        self.pusher.start()

    def _push(self):
        caps = caps_from_string(CAPS.encode())
        for item in self.items:
            data = bytes_new(item, len(item))
            call(push_bytes, self.loader, data, caps, -1, None, FOREVER)
            bytes_unref(data)
        call(end_source, self.loader, None)

    def tensors(self):
        """Yields the first tensor of each batch, for the current stream."""
        while batch := call(loader_next, self.loader, FOREVER):
            tensor = get_tensor(batch, 0)
            stream = torch.cuda.current_stream().cuda_stream
            call(tensor_wait, tensor, stream or None)
            capsule = capsule_new(to_dlpack(tensor), b"dltensor", capsule_free)
            result = torch.from_dlpack(capsule)
            tensor_unref(tensor)
            batch_unref(batch)
            yield result

    def close(self):
        self.pusher.join()
        loader_stop(self.loader)


def make_items(n):
    """Makes items with different sums, which are known without a GPU."""
    draw = random.Random(7)
    blocks = [draw.randbytes(WIDTH * HEIGHT * 3) for _ in range(7)]
    items = [bytes([i % 251]) * 99 + blocks[i % 7][99:] for i in range(n)]
    return items, [sum(item) for item in items]


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def check_sums(stream, late):
    """Checks sums that the stream computes late. The tensors are already
    released then, and their memory must not be overwritten before."""
    items, expected = make_items(SIZE * BATCHES)
    loader = Loader(f"spdlbatch batch-size={SIZE} ! spdlcudaupload prefetch=3 "
                    "! spdlsink", items)
    sums = []
    with torch.cuda.stream(stream):
        for tensor in loader.tensors():
            check(tensor.shape == (SIZE, HEIGHT, WIDTH, 3), tensor.shape)
            check(tensor.is_cuda and tensor.dtype == torch.uint8, tensor.dtype)
            if late:
                torch.cuda._sleep(20_000_000)
            sums.append(tensor.sum(dim=(1, 2, 3), dtype=torch.int64))
            del tensor
        found = torch.cat(sums).cpu().tolist()
    loader.close()
    check(found == expected, f"sums on {stream}, late: {late}")
    return len(found)


def check_normalized(kind):
    items, _ = make_items(SIZE * 3)
    loader = Loader(
        f"spdlbatch batch-size={SIZE} ! spdlcudaupload ! spdlcudanormalize "
        f"dtype={kind} mean=<{','.join(map(str, MEAN))}> "
        f"std=<{','.join(map(str, STD))}> ! spdlsink", items)
    worst = 0.0
    for i, tensor in enumerate(loader.tensors()):
        check(str(tensor.dtype) == f"torch.{kind}", tensor.dtype)
        there = torch.frombuffer(
            bytearray(b"".join(items[i * SIZE:(i + 1) * SIZE])),
            dtype=torch.uint8).view(SIZE, HEIGHT, WIDTH, 3).cuda()
        wanted = (there.float() / 255 - torch.tensor(MEAN, device="cuda")
                  ) / torch.tensor(STD, device="cuda")
        wanted = wanted.permute(0, 3, 1, 2)
        worst = max(worst, (tensor.float() - wanted).abs().max().item())
    loader.close()
    check(worst < (2e-3 if kind == "float16" else 2e-6), f"{kind}: {worst}")
    return worst


def check_interface():
    """Tests the CUDA array interface, on the default stream."""
    items, expected = make_items(SIZE)
    loader = Loader(f"spdlbatch batch-size={SIZE} ! spdlcudaupload ! spdlsink", items)
    batch = call(loader_next, loader.loader, FOREVER)
    tensor = get_tensor(batch, 0)
    call(tensor_wait, tensor, None)

    class View:
        __cuda_array_interface__ = {
            "version": 3, "shape": (SIZE, HEIGHT, WIDTH, 3), "typestr": "|u1",
            "data": (get_address(tensor), False), "strides": None, "stream": 1}

    view = torch.as_tensor(View(), device="cuda")
    found = view.sum(dim=(1, 2, 3), dtype=torch.int64).cpu().tolist()
    del view
    tensor_unref(tensor)
    batch_unref(batch)
    loader.close()
    check(found == expected, "sums by the CUDA array interface")


def main():
    torch.cuda.init()
    gst.gst_init(None, None)
    n = check_sums(torch.cuda.default_stream(), late=False)
    n += check_sums(torch.cuda.default_stream(), late=True)
    n += check_sums(torch.cuda.Stream(), late=True)
    check_interface()
    errors = {kind: check_normalized(kind) for kind in ("float32", "float16")}
    print(json.dumps({"what": "torch", "version": torch.__version__,
                      "device": torch.cuda.get_device_name(), "sums": n,
                      "largest_difference": errors}))


if __name__ == "__main__":
    main()
