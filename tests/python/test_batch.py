#!/usr/bin/python3
# gst-spdl: tests of batches and tensors in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import ctypes
import gc
import random
import unittest
from collections.abc import Mapping

import numpy as np
from support import describe, make_dataset, needs_gi, require_gi

from gstspdl import Batch, Loader

try:
    import torch
except ImportError:
    torch = None

FOLDER = make_dataset(20)
needs_torch = unittest.skipUnless(torch, "needs PyTorch")


class Interface:
    """A tensor without the protocol that NumPy prefers."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.__array_interface__ = tensor.__array_interface__


def view_interface(tensor):
    return np.asarray(Interface(tensor))


CONSUMERS = [view_interface, np.from_dlpack,
             *([torch.from_dlpack] if torch else [])]


def one_batch(**more):
    with Loader(describe(FOLDER, **more)) as loader:
        return next(iter(loader))


def load_array(values):
    """Loads a batch of a single array."""
    with Loader("identity ! spdlsink", source=[values]) as loader:
        batch, = loader
    return batch


def make_batch(values, writable=True):
    """Makes a batch without a pipeline."""
    Gst, _ = require_gi()
    buffer = Gst.Buffer.new_wrapped(values.tobytes())
    dims = ":".join(map(str, reversed(values.shape)))
    caps = Gst.Caps.from_string(
        "other/tensors,format=static,num_tensors=1,"
        f'types=(string)"{values.dtype}",dimensions=(string)"{dims}",'
        "framerate=0/1")
    other = None if writable else buffer.copy()
    return Batch.new(buffer, caps), other


class MappingTest(unittest.TestCase):
    def test_tensors(self):
        batch = one_batch(batch="labels=true indices=true")
        self.assertIsInstance(batch, Mapping)
        self.assertEqual(batch.names, ("data", "labels", "indices"))
        self.assertEqual(list(batch), ["data", "labels", "indices"])
        self.assertEqual(batch.keys(), batch.names)
        self.assertEqual(set(dict(batch)), set(batch.names))
        self.assertEqual([t.name for t in batch.values()], list(batch))
        self.assertEqual([name for name, _ in batch.items()], list(batch))
        self.assertEqual(len(batch), 3)
        self.assertIn("labels", batch)
        self.assertNotIn("nothing", batch)
        self.assertIsNone(batch.get("nothing"))
        self.assertIsNone(batch.get_tensor(3))
        self.assertEqual(batch.get_tensor(1).name, "labels")
        with self.assertRaisesRegex(KeyError, "data, labels, indices"):
            batch["nothing"]
        self.assertIn("(8, 32, 32, 3)", repr(batch))

    def test_items(self):
        batch = one_batch(batch="labels=true indices=true",
                          order="input", decode="flip=1.0",
                          source="shuffle=true")
        folders = sorted(p.name for p in FOLDER.iterdir() if p.is_dir())
        self.assertEqual(batch.num_items, 8)
        self.assertEqual(list(batch.labels), batch["labels"].numpy().tolist())
        self.assertEqual(list(batch.indices),
                         batch["indices"].numpy().tolist())
        self.assertEqual(len(batch.keys), 8)
        for label, key in zip(batch.labels, batch.keys):
            self.assertTrue(key.startswith(FOLDER.as_uri()))
            self.assertEqual(folders[label], key.split("/")[-2])
        self.assertEqual([extra["flip"] for extra in batch.extras], [True] * 8)
        self.assertEqual(batch.epoch, 0)

    def test_labels_without_a_tensor(self):
        batch = one_batch(order="input")
        labels = np.asarray(batch.labels)
        self.assertEqual(labels.dtype, np.int64)
        self.assertEqual(labels.shape, (8,))
        if torch:
            self.assertEqual(torch.as_tensor(batch.labels).dtype, torch.int64)


class ProtocolTest(unittest.TestCase):
    TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
             "uint64", "float16", "float32", "float64"]

    def test_all_types(self):
        self.check_types(load_array)

    @needs_gi
    def test_buffer_types(self):
        self.check_types(lambda values: make_batch(values)[0])

    def check_types(self, make):
        for dtype in self.TYPES:
            values = np.arange(24).reshape(2, 3, 4).astype(dtype)
            tensor = make(values)["data"]
            with self.subTest(dtype):
                self.assertEqual(tensor.dtype, dtype)
                self.assertEqual(tensor.dtype, np.asarray(tensor).dtype)
                self.assertEqual(tensor.shape, (2, 3, 4))
                self.assertEqual(tensor.strides, values.strides)
                np.testing.assert_array_equal(tensor, values)
                for consume in CONSUMERS[:2]:  # PyTorch lacks some types
                    np.testing.assert_array_equal(consume(tensor), values)

    def test_no_copy(self):
        def read(_, tensor):
            return ctypes.string_at(tensor.address, tensor.nbytes)

        self.check_views(one_batch(batch="labels=true"), read)

    @needs_gi
    def test_no_copy_of_a_buffer(self):
        """Tests the address of the memory, which shows that nothing is copied."""
        def read(i, _):
            memory = buffer.peek_memory(i)
            ok, info = memory.map(Gst.MapFlags.READ)
            self.assertTrue(ok)
            data = bytes(info.data)
            memory.unmap(info)
            return data

        Gst, _ = require_gi()
        batch = one_batch(batch="labels=true")
        buffer = batch.get_buffer()
        self.check_views(batch, read)

    def check_views(self, batch, read):
        for i, tensor in enumerate(batch.values()):
            view = np.asarray(tensor)
            self.assertEqual(read(i, tensor), view.tobytes())
            self.assertEqual(view.__array_interface__["data"][0],
                             tensor.address)
            self.assertEqual(np.from_dlpack(tensor).ctypes.data,
                             tensor.address)
            self.assertEqual(view.nbytes, tensor.nbytes)
            # A write through one view is visible in the other.
            if torch:
                self.assertEqual(torch.from_dlpack(tensor).data_ptr(),
                                 tensor.address)
                torch.from_dlpack(tensor).view(-1)[0] = 77
                self.assertEqual(view.flat[0], 77)
                self.assertEqual(read(i, tensor), view.tobytes())
            view.flat[0] = 78
            self.assertEqual(np.from_dlpack(tensor).flat[0], 78)
            self.assertEqual(read(i, tensor), view.tobytes())

    def test_rows_with_padding(self):
        with Loader(f'spdlsrc location="{FOLDER}" ! spdlfetch '
                    "! spdldecode width=33 height=5 output-order=input "
                    "! spdlsink") as loader:
            tensor = next(iter(loader))["data"]
        self.assertEqual(tensor.shape, (5, 33, 3))
        self.assertEqual(tensor.strides, (100, 3, 1))
        view = np.asarray(tensor)
        self.assertEqual(view.strides, (100, 3, 1))
        for consume in CONSUMERS:
            np.testing.assert_array_equal(np.asarray(consume(tensor)), view)

    def test_refused_exports(self):
        tensor = one_batch()["data"]
        self.assertFalse(hasattr(tensor, "__cuda_array_interface__"))
        self.assertTrue(hasattr(tensor, "__array_interface__"))
        self.assertTrue(hasattr(tensor, "__array_struct__"))
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        self.assertEqual(tensor.device, "cpu")
        # Newer consumers request it like this.
        tensor.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0),
                          copy=False)
        with self.assertRaises(BufferError):
            tensor.__dlpack__(dl_device=(2, 0))
        with self.assertRaises(BufferError):
            tensor.__dlpack__(copy=True)

    @needs_gi
    @needs_torch
    def test_shared_memory_is_read_only(self):
        values = np.arange(6, dtype="int32").reshape(2, 3)
        batch, other = make_batch(values, writable=False)
        tensor = batch["data"]
        self.assertTrue(tensor.readonly)
        for view in view_interface(tensor), np.asarray(tensor):
            self.assertFalse(view.flags.writeable)
        copy = torch.from_dlpack(tensor)
        self.assertNotEqual(copy.data_ptr(), tensor.address)
        copy[:] = 0
        np.testing.assert_array_equal(view, values)
        with self.assertRaises(BufferError):
            tensor.__dlpack__(copy=False)
        del other

    def test_capsule_is_freed_once(self):
        alive = []
        for _ in range(50):
            tensor = load_array(np.zeros(10000, "uint8"))["data"]
            alive.append(tensor.__dlpack__())
            for consume in CONSUMERS:
                consume(tensor)
        del alive, tensor
        gc.collect()


class LifetimeTest(unittest.TestCase):
    """Tests that views outlive batch, loader and pipeline.
    tests/python/lifetimes.py does so under valgrind."""

    def test_views_outlive_the_loader(self):
        batch = one_batch(order="input")
        wanted = np.array(batch["data"])
        for make in (np.asarray, *CONSUMERS, lambda tensor: tensor):
            other = one_batch(order="input")
            view = make(other["data"])
            del other
            gc.collect()
            np.testing.assert_array_equal(np.asarray(view), wanted)

    def test_kept_batches_are_unchanged(self):
        rng = random.Random(1)
        kept = {}
        with Loader(describe(FOLDER, size=4)) as loader:
            for _ in range(20):
                for batch in loader:
                    # NumPy's from_dlpack() can make read-only views.
                    view = (torch.from_dlpack if torch else np.asarray)(
                        batch["data"])
                    mark = rng.randrange(256)
                    # In place.
                    view[:] = mark
                    kept[rng.randrange(64)] = view, mark
        for view, mark in kept.values():
            self.assertTrue(bool((view == mark).all()))

    def test_writes_do_not_change_later_batches(self):
        with Loader(describe(FOLDER, size=20,
                             order="input")) as loader:
            wanted = None
            for _ in range(30):
                for batch in loader:
                    view = np.asarray(batch["data"])
                    if wanted is None:
                        wanted = view.copy()
                    np.testing.assert_array_equal(view, wanted)
                    view[:] = 255

    def test_kept_batches_get_more_memory(self):
        n = 100
        with Loader(describe(FOLDER, size=1)) as loader:
            batches = [b for _ in range(n // 20) for b in list(loader)]
            list(loader)
            stats = {s["stage"]: s for s in loader.stats}
        self.assertEqual(len({b["data"].address for b in batches}), n)
        self.assertGreater(stats["batch"]["num-unpooled"], 0)

    @needs_gi
    def test_kept_batches_cause_a_warning(self):
        warnings = []
        with Loader(describe(FOLDER, size=1)) as loader:
            loader.connect("warned", lambda _, stage, text:
                           warnings.append((stage, text)))
            batches = [b for _ in range(5) for b in list(loader)]
            list(loader)
        self.assertEqual(len(batches), 100)
        self.assertEqual([stage for stage, _ in warnings], ["batch"])


if __name__ == "__main__":
    unittest.main()
