#!/usr/bin/python3
# gst-spdl: tests of random erasing, Mixup and CutMix of batches
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed."""

import math
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
import support

support.find_packages("torchvision")

from gstspdl import Loader, LoaderError  # noqa: E402

try:
    import torch
    from torchvision.transforms import v2
except ImportError:
    v2 = None

SHAPE = (40, 60, 3)
SIZE = 8
N_CLASSES = 11


def make(i, shape=SHAPE):
    return np.random.default_rng(i).integers(0, 256, shape, dtype=np.uint8)


def distance(values, cumulative):
    """Returns the Kolmogorov-Smirnov statistic of values."""
    expected = np.array([cumulative(x) for x in np.sort(values)])
    steps = np.arange(len(values) + 1) / len(values)
    return max(np.abs(expected - steps[1:]).max(),
               np.abs(expected - steps[:-1]).max())


class MixingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, n=3 * SIZE + 3, shape=SHAPE, label=lambda i: i % N_CLASSES):
        lines = ["uri,label"]
        for i in range(n):
            np.save(self.folder / f"{i:04}.npy", make(i, shape))
            lines.append(f"{i:04}.npy,{label(i)}")
        (self.folder / "list.csv").write_text("\n".join(lines) + "\n")

    def load(self, settings, layout="nchw", workers=2, order="input",
             dtype="float32", source=""):
        line = (f"spdlsrc location={self.folder}/list.csv {source} ! spdlfetch "
                f"output-order={order} ! spdldecode concurrency={workers} "
                f"output-order={order} ! spdlbatch batch-size={SIZE} "
                f"labels=true indices=true dtype={dtype} layout={layout} {settings} "
                "! spdlsink")
        with Loader(line) as loader, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of failed items
            return [{name: batch[name].numpy().copy() for name in batch}
                    for batch in loader], list(loader.failures)

    def test_labels(self):
        self.write()
        batches, _ = self.load(f"num-classes={N_CLASSES}")
        for batch in batches:
            expected = np.eye(N_CLASSES, dtype=np.float32)[
                batch["indices"] % N_CLASSES]
            np.testing.assert_array_equal(batch["labels"], expected)
        batches, _ = self.load(f"num-classes={N_CLASSES} label-smoothing=0.1")
        self.assertAlmostEqual(float(batches[0]["labels"][3].max()),
                               0.9 + 0.1 / N_CLASSES, 6)
        self.assertAlmostEqual(float(batches[0]["labels"][3].min()),
                               0.1 / N_CLASSES, 6)
        np.testing.assert_allclose(batches[0]["labels"].sum(1), 1, rtol=1e-6)

    def shares(self, batch):
        """Returns those of the item itself and of its partner."""
        labels, own = batch["labels"], batch["indices"] % N_CLASSES
        share = labels[np.arange(len(own)), own]
        rest = labels[np.arange(len(own)), np.roll(own, 1)]
        self.assertEqual(len(set(share)), 1)
        self.assertEqual((labels > 0).sum(), sum(share > 0) + sum(rest > 0))
        return share[0], rest[0]

    def test_mixup(self):
        """Equal to torchvision's to the bit, in both layouts."""
        self.write()
        settings = f"num-classes={N_CLASSES} mixup-alpha=0.8 seed=3"
        for layout in "nchw", "nhwc":
            plain, _ = self.load(f"num-classes={N_CLASSES}", layout)
            mixed, _ = self.load(settings, layout)
            for before, after in zip(plain, mixed):
                share, rest = self.shares(after)
                own = before["data"]
                np.testing.assert_array_equal(
                    after["data"], np.roll(own, 1, 0) * rest + own * share)
                self.assertAlmostEqual(share + rest, 1, 6)

    def test_cutmix(self):
        """A box of each image comes from the image before, as large as the labels
        say."""
        self.write()
        settings = f"num-classes={N_CLASSES} cutmix-alpha=1 seed=5"
        n_cut = 0
        for layout in "nchw", "nhwc":
            plain, _ = self.load(f"num-classes={N_CLASSES}", layout)
            mixed, _ = self.load(settings, layout)
            for before, after in zip(plain, mixed):
                share, rest = self.shares(after)
                own, other = before["data"], np.roll(before["data"], 1, 0)
                axes = (0, 1) if layout == "nchw" else (0, 3)
                changed = (after["data"] != own).any(axes)
                rows, columns = changed.any(1), changed.any(0)
                box = np.outer(rows, columns)
                self.assertEqual(changed.sum(), box.sum())
                self.assertLessEqual(np.abs(np.diff(rows.astype(int))).sum(), 2)
                self.assertAlmostEqual(box.mean(), rest, 6)
                box = box if layout == "nchw" else box[..., None]
                np.testing.assert_array_equal(
                    after["data"], np.where(box, other, own))
                n_cut += bool(rest > 0)
        self.assertGreater(n_cut, 4)

    def test_reproducible(self):
        """Whatever the number of workers; another epoch and seed differ."""
        self.write()
        settings = (f"num-classes={N_CLASSES} mixup-alpha=1 cutmix-alpha=1 "
                    "erase-prob=0.5 erase-noise=true label-smoothing=0.1 ")
        first, _ = self.load(settings, workers=1, source="epochs=2")
        for workers in 1, 4:
            again, _ = self.load(settings, workers=workers, source="epochs=2")
            for a, b in zip(first, again):
                for name in a:
                    np.testing.assert_array_equal(a[name], b[name])
        self.assertFalse(np.array_equal(first[0]["data"],
                                        first[len(first) // 2]["data"]))
        other, _ = self.load(settings + "seed=9")
        self.assertFalse(np.array_equal(first[0]["data"], other[0]["data"]))

    def test_erasing(self):
        """By item, whatever its place in a batch."""
        self.write(200)
        areas, n_erased = [], 0
        for layout in "nchw", "nhwc":
            plain, _ = self.load("", layout)
            zero, _ = self.load("erase-prob=0.7", layout)
            noise, _ = self.load("erase-prob=0.7 erase-noise=true", layout, 4,
                                 "completion")
            noisy = {i: row for batch in noise
                     for i, row in zip(batch["indices"], batch["data"])}
            values = []
            for before, after in zip(plain, zero):
                for index, own, row in zip(after["indices"], before["data"],
                                           after["data"]):
                    axis = 0 if layout == "nchw" else 2
                    box = (row != own).any(axis)
                    whole = np.outer(box.any(1), box.any(0))
                    mask = np.expand_dims(whole, axis)
                    np.testing.assert_array_equal(row, np.where(mask, 0, own))
                    np.testing.assert_array_equal(
                        np.where(mask, 0, noisy[index]), row)
                    if whole.any():
                        n_erased += 1
                        areas.append(whole.mean())
                        values.append(np.compress(
                            whole.ravel(),
                            noisy[index].reshape(3, -1) if axis == 0 else
                            noisy[index].reshape(-1, 3).T, 1).ravel())
            values = np.concatenate(values)
            self.assertLess(abs(values.mean()), 0.02)
            self.assertLess(abs(values.std() - 1), 0.02)
        self.assertLess(abs(n_erased / 400 - 0.7), 0.1)
        self.assertGreater(min(areas), 0.01)
        self.assertLess(max(areas), 0.36)

    def draw(self, settings, n):
        """Returns the shares of the items themselves in n batches of two."""
        self.write(2, (4, 4, 3))
        line = (f"spdlsrc location={self.folder}/list.csv epochs={n} ! spdlfetch "
                "output-order=input ! spdldecode output-order=input "
                "! spdlbatch batch-size=2 labels=true dtype=float32 num-classes=2 "
                f"{settings} ! spdlsink")
        with Loader(line) as loader:
            return np.array([batch["labels"].numpy()[0, 0] for _ in range(n)
                             for batch in loader])

    def test_distributions(self):
        n = 4000
        uniform = self.draw("mixup-alpha=1", n)
        self.assertLess(distance(uniform, lambda x: x), 1.95 / math.sqrt(n))
        arcsine = self.draw("mixup-alpha=0.5", n)
        self.assertLess(distance(
            arcsine, lambda x: 2 / math.pi * math.asin(math.sqrt(x))),
            1.95 / math.sqrt(n))
        smooth = self.draw("mixup-alpha=2", n)
        self.assertLess(distance(smooth, lambda x: 3 * x ** 2 - 2 * x ** 3),
                        1.95 / math.sqrt(n))
        few = self.draw("mixup-alpha=1 mix-prob=0.25", n)
        self.assertLess(abs((few < 1).mean() - 0.25), 0.03)
        # A box of a 4x4 image has an area of sixteenths.
        both = self.draw("mixup-alpha=1 cutmix-alpha=1 mix-switch-prob=0.3", n)
        cut = both * 16 % 1 == 0
        self.assertLess(abs(cut.mean() - 0.3), 0.03)

    @unittest.skipUnless(v2, "needs torchvision 0.16, for its MixUp")
    def test_torchvision_mixup(self):
        self.write()
        plain, _ = self.load("")
        mixed, _ = self.load(f"num-classes={N_CLASSES} mixup-alpha=1")
        mixup = v2.MixUp(num_classes=N_CLASSES)
        for before, after in zip(plain, mixed):
            images, labels = map(torch.from_numpy,
                                 (before["data"], before["labels"]))
            params = {"labels": labels, "batch_size": len(labels),
                      "lam": float(self.shares(after)[0])}
            np.testing.assert_allclose(
                after["data"], mixup.transform(images, params), atol=1e-6)
            np.testing.assert_allclose(
                after["labels"], mixup.transform(labels, params), atol=1e-6)

    @unittest.skipUnless(v2, "needs torchvision 0.16, for its CutMix")
    def test_torchvision_cutmix(self):
        """The areas have the same distribution."""
        n = 1500
        transform = v2.CutMix(num_classes=2, alpha=1.0)
        images, labels = torch.zeros(2, 3, 4, 4), torch.tensor([0, 1])
        theirs = np.array([float(transform(images, labels)[1][0, 0])
                           for _ in range(n)])
        ours = self.draw("cutmix-alpha=1", n)
        for k in range(17):
            self.assertLess(abs((np.rint(theirs * 16) == k).mean()
                                - (np.rint(ours * 16) == k).mean()), 0.06, k)

    def test_missing_labels(self):
        """Such items fail, and so do labels that are too large."""
        self.write(label=lambda i: {3: "", 5: N_CLASSES}.get(i, i % N_CLASSES))
        batches, failures = self.load(f"num-classes={N_CLASSES} mixup-alpha=1")
        self.assertEqual({f.index for f in failures}, {3, 5})
        self.assertEqual(sum(len(b["labels"]) for b in batches), 3 * SIZE + 1)

    def test_failures_beside_workers(self):
        """A worker may still write an item that has failed, and whose row the next
        item gets."""
        shape = (300, 400, 3)
        self.write(150, shape, lambda i: "" if i % 2 else i % N_CLASSES)
        batches, failures = self.load(f"num-classes={N_CLASSES}", workers=4)
        self.assertEqual(len(failures), 75)
        for batch in batches:
            for index, row in zip(batch["indices"], batch["data"]):
                np.testing.assert_allclose(
                    row, make(index, shape).transpose(2, 0, 1) / 255, atol=1e-6)

    def test_refused(self):
        self.write()
        for settings, more, reason in [
                ("mixup-alpha=1", {}, "set num-classes"),
                ("label-smoothing=0.1", {}, "set num-classes"),
                ("num-classes=5 labels=false", {}, "set labels=true"),
                ("num-classes=11 mixup-alpha=1", {"dtype": "float16"},
                 "set dtype=float32"),
                ("erase-prob=1", {"dtype": "as-is"}, "set dtype=float32")]:
            with self.subTest(settings=settings, **more), \
                    self.assertRaisesRegex(LoaderError, reason):
                self.load(settings, **more)


if __name__ == "__main__":
    unittest.main()
