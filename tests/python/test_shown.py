#!/usr/bin/python3
# gst-spdl: tests of loaders and batches as text and in notebooks
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import base64
import io
import os
import pickle
import re
import unittest

import numpy as np
from PIL import Image
from support import describe, make_dataset, run_python

import gstspdl
from gstspdl import Loader, Pipeline, image_folder

try:
    import torch
except ImportError:
    torch = None

N = 20
FOLDER = make_dataset(N)


def read_pictures(sheet):
    """Returns the pictures of a contact sheet."""
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
            for data in re.findall(r'base64,([^"]*)"', sheet)]


def read_labels(sheet):
    return re.findall(r"<b>(.*?)</b>", sheet)


class TextTest(unittest.TestCase):
    def test_version(self):
        self.assertEqual(gstspdl.__version__, gstspdl.versions()["gst-spdl"])
        self.assertRegex(gstspdl.__version__, r"\d+\.\d+")

    def check(self, thing, *words, without=()):
        for word in words:
            self.assertIn(word, repr(thing))
        for word in without:
            self.assertNotIn(word, repr(thing))

    def test_loader(self):
        loader = image_folder(FOLDER, size=8, batch_size=6)
        self.check(loader, str(FOLDER), "batches of 6", "not started",
                   without=["items"])
        self.assertFalse(loader.is_running())
        for _ in loader:
            self.check(loader, f"{N} items", "running", "epoch 0")
        self.check(loader, "epoch 1")
        loader.stop()
        self.check(loader, "stopped")
        with Loader(f"spdlsrc location={FOLDER} epochs=1 ! spdlfetch "
                    "! spdlsink") as once:
            list(once)
            self.check(once, f"{N} items", "finished", without=["batches"])

    def test_sources(self):
        self.check(Loader("spdldecode ! spdlbatch batch-size=3 ! spdlsink",
                          source=["a.jpg"] * 7), "list", "7 items", "batches of 3")
        photos = Pipeline().files(FOLDER).fetch()
        self.check(photos.mix(photos).batch(2).loader(), str(FOLDER), "1 more")
        self.check(image_folder(FOLDER, process=True), "in a process")
        secret = gstspdl.web_dataset("https://me:secret@example.com/a.tar")
        self.check(secret, "example.com", without=["secret"])

    def test_after_a_fork(self):
        done = run_python(
            "import os, sys, gstspdl\n"
            "loader = gstspdl.image_folder(sys.argv[1], size=8)\n"
            "next(iter(loader))\n"
            "if os.fork() == 0:\n"
            "    print(repr(loader), flush=True)\n"
            "    os._exit(0)\n"
            "os.wait()\n"
            "loader.stop()", FOLDER, env={**os.environ, "PYTHONWARNINGS": "ignore"})
        self.assertIn("parent process", done.stdout)

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_torch(self):
        from gstspdl.torch import DataLoader, Dataset

        dataset = Dataset(image_folder(FOLDER, batch_size=6), device="cpu")
        self.check(dataset, "Dataset on cpu", str(FOLDER), "batches of 6")
        loader = DataLoader(range(10), batch_size=4, num_workers=1)
        self.check(loader, "range", "10 items", "batches of 4", "num_workers=1",
                   "not started")
        batches = iter(loader)
        next(batches)
        self.check(loader, "next is batch 1")
        list(batches)
        self.check(loader, "between epochs")

        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(range(3))

        self.check(DataLoader(Stream(), batch_size=None), "Stream",
                   without=["items", "None"])


class SheetTest(unittest.TestCase):
    def test_pictures(self):
        for layout in "nhwc", "nchw":
            with Loader(describe(FOLDER, batch=f"layout={layout}",
                                 order="input")) as loader:
                batch = next(iter(loader))
            sheet = batch._repr_html_()
            pictures = read_pictures(sheet)
            whole = batch["data"].numpy()
            if layout == "nchw":
                whole = whole.transpose(0, 2, 3, 1)
            np.testing.assert_array_equal(pictures, whole)
            self.assertEqual(read_labels(sheet), [str(i) for i in batch.labels])
            for key in batch.keys:
                self.assertIn(key.split("/")[-1], sheet)
        detached = pickle.loads(pickle.dumps(batch))
        self.assertEqual(read_labels(detached._repr_html_()), read_labels(sheet))

    def test_normalized_pictures(self):
        """They are stretched from black to white, also gray ones."""
        for options in {}, {"format": "GRAY8"}, {"dtype": "float16"}:
            with image_folder(FOLDER, size=300, batch_size=3, **options) as loader:
                pictures = read_pictures(next(iter(loader))._repr_html_())
            self.assertEqual(len(pictures), 3)
            self.assertEqual({picture.shape[0] for picture in pictures}, {100})
            self.assertEqual(np.min(pictures), 0)
            self.assertEqual(np.max(pictures), 255)

    def test_mixed_labels(self):
        with image_folder(FOLDER, size=8, batch_size=4, num_classes=30,
                          mixup_alpha=1.0) as loader:
            batch = next(iter(loader))
        for text, row in zip(read_labels(batch._repr_html_()),
                             batch["labels"].numpy()):
            shown = dict(part.split(": ") for part in text.split(", "))
            for name, share in shown.items():
                self.assertAlmostEqual(float(share), row[int(name)], delta=0.006)

    def test_many_pictures(self):
        with Pipeline().batch(40).loader(source=[
                (np.full((4, 4, 3), i, "uint8"), i, "<b>&") for i in range(40)]
                ) as loader:
            sheet = next(iter(loader))._repr_html_()
        self.assertEqual(len(read_pictures(sheet)), 32)
        self.assertIn("and 8 more", sheet)
        self.assertIn("&lt;b&gt;&amp;", sheet)

    def test_no_pictures(self):
        for shape in (5,), (5, 6), (5, 6, 7), (5, 5, 5, 5), ():
            with Pipeline().batch(2).loader(
                    source=[np.zeros(shape, "float32")] * 2) as loader:
                self.assertIsNone(next(iter(loader))._repr_html_(), shape)
        clip = np.zeros((3, 4, 4, 3), "uint8")
        clip[1] = 9
        with Pipeline().batch(2).loader(source=[clip] * 2) as loader:
            pictures = read_pictures(next(iter(loader))._repr_html_())
        self.assertEqual({int(value) for value in np.unique(pictures)}, {9})


if __name__ == "__main__":
    unittest.main()
