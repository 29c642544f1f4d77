#!/usr/bin/python3
# gst-spdl: tests of large items, which workers write into batches
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed."""

import itertools
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
import support  # noqa: F401  takes the first argument

from gstspdl import Loader, LoaderError

# More than 64 KiB as float32, and more than 128 KiB as uint8.
SHAPE = (240, 200, 3)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NORMALIZE = f'mean="<{",".join(map(str, MEAN))}>" std="<{",".join(map(str, STD))}>"'
N = 37
BAD = 5, 6, 20, 36


def make(i, shape=SHAPE):
    return np.random.default_rng(i).integers(0, 256, shape, dtype=np.uint8)


def normalize(image, dtype, planar):
    """The element's definition: a multiplication and an addition in float32."""
    std = np.array(STD)
    scale = (1 / 255 / std).astype(np.float32)
    shift = (-np.array(MEAN) / std).astype(np.float32)
    values = (image.astype(np.float32) * scale + shift).astype(dtype)
    return values.transpose(2, 0, 1) if planar else values


class RowsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, bad=(), shapes=None):
        for i in range(N):
            file = self.folder / f"{i:03}.npy"
            np.save(file, make(i, (shapes or {}).get(i, SHAPE)))
            if i in bad:
                file.write_bytes(file.read_bytes()[:5000])

    def describe(self, n_workers=3, order="input", between="", batch="", source=""):
        return (f"spdlsrc location={self.folder} {source} ! spdlfetch "
                f"output-order={order} ! spdldecode concurrency={n_workers} "
                f"output-order={order} {between} ! spdlbatch batch-size=8 "
                f"indices=true {batch} ! spdlsink")

    def check(self, line, expected, missing=(), **values):
        """Compares each item with the expected values of its index."""
        seen = []
        with Loader(line) as loader, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of failed items
            for batch in loader:
                indices = batch["indices"].numpy().tolist()
                data = batch["data"].numpy()
                self.assertEqual(len(data), len(indices))
                for index, row in zip(indices, data):
                    np.testing.assert_array_equal(row, expected(make(index)))
                seen += indices
                self.assertTrue(batch.num_items == 8 or len(seen) + len(missing) == N)
            self.assertEqual({f.index for f in loader.failures}, set(missing))
        self.assertEqual(sorted(seen), [i for i in range(N) if i not in missing])
        return seen

    def test_types_and_layouts(self):
        self.write()
        for dtype, planar, n, order in itertools.product(
                ("float32", "float16"), (True, False), (1, 4),
                ("input", "completion")):
            with self.subTest(dtype=dtype, planar=planar, n=n, order=order):
                layout = "nchw" if planar else "nhwc"
                seen = self.check(
                    self.describe(n, order,
                                  batch=f"dtype={dtype} layout={layout} {NORMALIZE}"),
                    lambda image: normalize(image, dtype, planar))
                if order == "input":
                    self.assertEqual(seen, sorted(seen))

    def test_copies(self):
        self.write()
        self.check(self.describe(), lambda image: image)
        self.check(self.describe(batch="layout=nchw"),
                   lambda image: image.transpose(2, 0, 1))

    def test_elements_between(self):
        self.write()
        for between in ("! queue", "! identity", "! spdlroute ! spdlmix"):
            with self.subTest(between=between):
                self.check(
                    self.describe(between=between, batch=f"dtype=float32 {NORMALIZE}"),
                    lambda image: normalize(image, "float32", False))

    def test_failed_items_leave_no_hole(self):
        self.write(BAD)
        for order in "input", "completion":
            self.check(self.describe(4, order, batch=f"dtype=float32 {NORMALIZE}"),
                       lambda image: normalize(image, "float32", False), BAD)

    def test_other_shapes(self):
        """Their caps come while items are being written."""
        self.write(shapes=dict.fromkeys(BAD, (100, 90, 3)))
        self.check(self.describe(
            4, batch=f"dtype=float32 on-shape-mismatch=skip {NORMALIZE}"),
            lambda image: normalize(image, "float32", False), BAD)
        with self.assertRaisesRegex(LoaderError, "its batch began with"):
            self.check(self.describe(
                4, batch="dtype=float32 on-shape-mismatch=error"),
                lambda image: image / np.float32(255))

    def test_padding(self):
        """Clips of unequal length, whose outermost dimension is padded."""
        for i in range(N):
            np.save(self.folder / f"{i:03}.npy", make(i, (1 + i % 5, 90, 100, 3)))
        with Loader(self.describe(batch="dtype=float32 pad-to-longest=true")) as loader:
            n = 0
            for batch in loader:
                for index, length, row in zip(batch["indices"].numpy().tolist(),
                                              batch["data_lengths"].numpy().tolist(),
                                              batch["data"].numpy()):
                    values = make(index, (1 + index % 5, 90, 100, 3))
                    self.assertEqual(length, len(values))
                    np.testing.assert_array_equal(
                        row[:length], values * np.float32(1 / 255))
                    self.assertFalse(row[length:].any())
                    n += 1
        self.assertEqual(n, N)

    def test_samples(self):
        """Parts of a sample that differ in size, one of which is converted."""
        for i in range(N):
            np.savez(self.folder / f"{i:03}.npz", image=make(i),
                     mask=make(100 + i, SHAPE[:2]))
        with Loader(self.describe(batch=f"dtype=float32 layout=nchw {NORMALIZE}")) as loader:
            n = 0
            for batch in loader:
                for index, image, mask in zip(batch["indices"].numpy().tolist(),
                                              batch["image"].numpy(),
                                              batch["mask"].numpy()):
                    np.testing.assert_array_equal(
                        image, normalize(make(index), "float32", True))
                    np.testing.assert_array_equal(mask, make(100 + index, SHAPE[:2]))
                    n += 1
        self.assertEqual(n, N)

    def test_stops(self):
        """A loader that stops at any time while items are being written."""
        self.write()
        line = self.describe(3, "completion", batch=f"dtype=float32 {NORMALIZE}",
                             source="epochs=-1")
        for n in range(30):
            with Loader(line) as loader:
                for batch in itertools.islice(loader, n % 4):
                    self.assertEqual(batch.num_items, 8)


if __name__ == "__main__":
    unittest.main()
