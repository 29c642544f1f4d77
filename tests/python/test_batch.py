#!/usr/bin/python3
# gst-spdl: batches and tensors in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import gc
import random
import unittest
from collections.abc import Mapping

import gi
import numpy as np
import torch
from support import describe, make_dataset

gi.require_version("Gst", "1.0")
gi.require_version("GstSpdl", "1.0")
from gi.repository import Gst, GstSpdl  # noqa: E402
from gstspdl import Batch, Loader  # noqa: E402

FOLDER = make_dataset(20)


def one_batch(**more):
    with Loader(describe(FOLDER, **more)) as loader:
        return next(iter(loader))


def make_batch(values, writable=True):
    """A batch of no pipeline."""
    Gst.init(None)
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
        self.assertIsInstance(batch, GstSpdl.Batch)
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
        self.assertEqual(torch.as_tensor(batch.labels).dtype, torch.int64)


class ProtocolTest(unittest.TestCase):
    TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
             "uint64", "float16", "float32", "float64"]

    def test_all_types(self):
        for dtype in self.TYPES:
            values = np.arange(24).reshape(2, 3, 4).astype(dtype)
            batch, _ = make_batch(values)
            tensor = batch["data"]
            with self.subTest(dtype):
                self.assertEqual(tensor.dtype, dtype)
                self.assertEqual(tensor.dtype, np.asarray(tensor).dtype)
                self.assertEqual(tensor.shape, (2, 3, 4))
                self.assertEqual(tensor.strides, values.strides)
                np.testing.assert_array_equal(tensor, values)
                np.testing.assert_array_equal(np.from_dlpack(tensor), values)

    def test_no_copy(self):
        batch = one_batch(batch="labels=true")
        memory = batch.get_buffer()
        for i, tensor in enumerate(batch.values()):
            view = np.asarray(tensor)
            # The memory's own word for where it lies.
            whole = memory.peek_memory(i)
            ok, info = whole.map(Gst.MapFlags.READ)
            self.assertTrue(ok)
            self.assertEqual(bytes(info.data), view.tobytes())
            whole.unmap(info)
            self.assertEqual(view.__array_interface__["data"][0],
                             tensor.address)
            self.assertEqual(torch.from_dlpack(tensor).data_ptr(),
                             tensor.address)
            self.assertEqual(np.from_dlpack(tensor).ctypes.data,
                             tensor.address)
            self.assertEqual(view.nbytes, tensor.nbytes)
            # One sees what is written through the other.
            torch.from_dlpack(tensor).view(-1)[0] = 77
            self.assertEqual(view.flat[0], 77)
            ok, info = whole.map(Gst.MapFlags.READ)
            self.assertEqual(bytes(info.data), view.tobytes())
            whole.unmap(info)

    def test_rows_with_padding(self):
        with Loader(f'spdlsrc location="{FOLDER}" ! spdlfetch '
                    "! spdldecode width=33 height=5 output-order=input "
                    "! spdlsink") as loader:
            tensor = next(iter(loader))["data"]
        self.assertEqual(tensor.shape, (5, 33, 3))
        self.assertEqual(tensor.strides, (100, 3, 1))
        view = np.asarray(tensor)
        self.assertEqual(view.strides, (100, 3, 1))
        np.testing.assert_array_equal(torch.from_dlpack(tensor).numpy(), view)

    def test_what_the_protocols_refuse(self):
        tensor = one_batch()["data"]
        self.assertFalse(hasattr(tensor, "__cuda_array_interface__"))
        self.assertTrue(hasattr(tensor, "__array_interface__"))
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        self.assertEqual(tensor.device, "cpu")
        # As newer consumers ask.
        tensor.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0),
                          copy=False)
        with self.assertRaises(BufferError):
            tensor.__dlpack__(dl_device=(2, 0))
        with self.assertRaises(BufferError):
            tensor.__dlpack__(copy=True)

    def test_memory_that_others_have(self):
        values = np.arange(6, dtype="int32").reshape(2, 3)
        batch, other = make_batch(values, writable=False)
        tensor = batch["data"]
        self.assertTrue(tensor.readonly)
        view = np.asarray(tensor)
        self.assertFalse(view.flags.writeable)
        copy = torch.from_dlpack(tensor)
        self.assertNotEqual(copy.data_ptr(), tensor.address)
        copy[:] = 0
        np.testing.assert_array_equal(view, values)
        with self.assertRaises(BufferError):
            tensor.__dlpack__(copy=False)
        del other

    def test_a_capsule_is_freed_once(self):
        alive = []
        for _ in range(50):
            batch, _ = make_batch(np.zeros(10000, "uint8"))
            tensor = batch["data"]
            alive.append(tensor.__dlpack__())
            torch.from_dlpack(tensor)
        del alive, tensor, batch
        gc.collect()


class LifetimeTest(unittest.TestCase):
    """Views outlive batch, loader and pipeline; tests/python/lifetimes.py
    does it under valgrind."""

    def test_views_outlive_all(self):
        batch = one_batch(order="input")
        wanted = np.array(batch["data"])
        for make in (np.asarray, np.from_dlpack, torch.from_dlpack,
                     lambda tensor: tensor):
            other = one_batch(order="input")
            view = make(other["data"])
            del other
            gc.collect()
            np.testing.assert_array_equal(np.asarray(view), wanted)

    def test_what_is_kept_is_left_alone(self):
        rng = random.Random(1)
        kept = {}
        with Loader(describe(FOLDER, size=4)) as loader:
            for _ in range(20):
                for batch in loader:
                    view = torch.from_dlpack(batch["data"])
                    mark = rng.randrange(256)
                    # In place.
                    view[:] = mark
                    kept[rng.randrange(64)] = view, mark
        for view, mark in kept.values():
            self.assertTrue(bool((view == mark).all()))

    def test_writing_alters_no_later_batch(self):
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

    def test_a_list_gets_more_memory(self):
        n = 100
        warnings = []
        with Loader(describe(FOLDER, size=1)) as loader:
            loader.connect("warned", lambda _, stage, text:
                           warnings.append((stage, text)))
            batches = [b for _ in range(n // 20) for b in list(loader)]
            list(loader)
            stats = {s["stage"]: s for s in loader.stats}
        self.assertEqual(len({b["data"].address for b in batches}), n)
        self.assertGreater(stats["batch"]["num-unpooled"], 0)
        self.assertEqual([stage for stage, _ in warnings], ["batch"])


if __name__ == "__main__":
    unittest.main()
