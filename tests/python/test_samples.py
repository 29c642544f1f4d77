#!/usr/bin/python3
# gst-spdl: tests of samples of several media in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed here."""

import atexit
import io
import pathlib
import tempfile
import unittest

import numpy as np
from PIL import Image
from support import needs_gi, require_gi

from gstspdl import Batch, Loader, decode

try:
    import torch
except ImportError:
    torch = None

RNG = np.random.default_rng(3)
PICTURES = [RNG.integers(0, 256, (40 + i, 60 - i, 3), dtype=np.uint8)
            for i in range(10)]
MASKS = [RNG.integers(0, 21, picture.shape[:2], dtype=np.uint8)
         for picture in PICTURES]
CAPTIONS = [f"picture {i}: ä" * (i % 3) for i in range(10)]
AUGMENT = "augment=random-resized-crop flip=0.5 seed=5 width=20 height=16"


def encode(array, kind="PNG", **options):
    out = io.BytesIO()
    Image.fromarray(array).save(out, kind, **options)
    return out.getvalue()


def make_folder():
    """Makes images, masks and captions, and a list of them."""
    temporary = tempfile.TemporaryDirectory()
    atexit.register(temporary.cleanup)
    folder = pathlib.Path(temporary.name)
    lines = ["uri,label,mask,caption"]
    for i, picture in enumerate(PICTURES):
        folder.joinpath(f"{i}.png").write_bytes(encode(picture))
        folder.joinpath(f"{i}-mask.png").write_bytes(encode(MASKS[i]))
        folder.joinpath(f"{i}.txt").write_text(CAPTIONS[i])
        lines.append(f"{i}.png,{i},{i}-mask.png,{i}.txt")
    folder.joinpath("list.csv").write_text("\n".join(lines))
    return folder


FOLDER = make_folder()


def crop(array, extra, part):
    """Returns the nearest pixels of the drawn box."""
    x, y, width, height = (extra[f"{part}.crop-{name}"]
                           for name in ("x", "y", "width", "height"))
    columns = x + (2 * np.arange(20) + 1) * width // 40
    rows = y + (2 * np.arange(16) + 1) * height // 32
    result = array[np.ix_(rows, columns)]
    return result[:, ::-1] if extra[f"{part}.flip"] else result


class SamplesTest(unittest.TestCase):
    def test_image_mask_and_text(self):
        with Loader(
                f'spdlsrc location="{FOLDER}/list.csv" epochs=2 '
                '! spdlfetch parts="mask,caption" '
                f"! spdldecode part=data interpolation=nearest {AUGMENT} "
                f"! spdldecode part=mask interpolation=nearest {AUGMENT} "
                "format=GRAY8 "
                "! spdlbatch batch-size=4 labels=true pad-to-longest=true dtype=float32 "
                "layout=nchw ! spdlsink") as loader:
            batches = [*loader, *loader]
        self.assertEqual(len(batches), 6)
        self.assertEqual(
            batches[0].names,
            ("data", "mask", "caption_lengths", "labels", "caption"))
        self.assertEqual(batches[0]["data"].shape, (4, 3, 16, 20))
        self.assertEqual(batches[0]["mask"].shape, (4, 16, 20, 1))
        self.assertEqual(batches[0]["mask"].dtype, "uint8")
        seen = []
        for batch in batches:
            for b, (i, extra) in enumerate(zip(batch.indices, batch.extras)):
                seen.append(i)
                self.assertEqual(batch.labels[b], i)
                np.testing.assert_array_equal(
                    batch["mask"].numpy()[b, ..., 0],
                    crop(MASKS[i], extra, "mask"))
                np.testing.assert_allclose(
                    batch["data"].numpy()[b].transpose(1, 2, 0) * 255,
                    crop(PICTURES[i], extra, "data"), atol=1e-3)
                length = batch["caption_lengths"].numpy()[b]
                row = batch["caption"].numpy()[b]
                self.assertEqual(bytes(row[:length]).decode(), CAPTIONS[i])
                self.assertFalse(row[length:].any())
                self.assertEqual(extra["caption"], f"{i}.txt")
        self.assertEqual(sorted(seen), sorted([*range(10)] * 2))

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_mask_in_torch(self):
        with Loader(f'spdlsrc location="{FOLDER}/list.csv" epochs=1 '
                    "! spdlfetch parts=mask ! spdldecode part=mask "
                    "format=GRAY8 ! spdlsink") as loader:
            for item in loader:
                self.assertEqual(torch.from_dlpack(item["mask"]).dtype,
                                 torch.uint8)

    def test_without_a_batch(self):
        """Tests that without a batch, an item is a batch of one without the
        first dimension."""
        with Loader(f'spdlsrc location="{FOLDER}/list.csv" epochs=1 '
                    "! spdlfetch parts=mask output-order=input "
                    "! spdldecode part=mask format=GRAY8 output-order=input "
                    "! spdlsink") as loader:
            items = list(loader)
        self.assertEqual(len(items), 10)
        for i, item in enumerate(items):
            self.assertEqual(item.names, ("data", "mask"))
            self.assertEqual(bytes(item["data"].numpy()), encode(PICTURES[i]))
            np.testing.assert_array_equal(
                item["mask"].numpy()[..., 0], MASKS[i])
            self.assertFalse(item["mask"].readonly)

    def test_source(self):
        source = [({"data": encode(picture, "JPEG"), "mask": encode(mask),
                    "box": np.array([i, i + 1], np.int32)}, i)
                  for i, (picture, mask) in enumerate(zip(PICTURES, MASKS))]
        with Loader("spdldecode part=data width=8 height=8 "
                    "output-order=input ! spdldecode part=mask format=GRAY8 "
                    "width=8 height=8 interpolation=nearest "
                    "output-order=input ! spdlbatch batch-size=10 ! spdlsink",
                    source=source) as loader:
            batch, = loader
        self.assertEqual(batch.names, ("data", "mask", "box"))
        np.testing.assert_array_equal(
            batch["box"], [[i, i + 1] for i in range(10)])
        for i, mask in enumerate(MASKS):
            wanted = Image.fromarray(mask).resize(
                (8, 8), Image.Resampling.NEAREST)
            np.testing.assert_array_equal(
                batch["mask"].numpy()[i, ..., 0], wanted)

    def test_function(self):
        """Tests a function that takes a sample apart and makes one of other
        parts."""
        def count(sample):
            mask = sample["mask"].numpy()[..., 0]
            return {"data": sample["data"].numpy()[:4, :4],
                    "counts": np.bincount(mask.ravel(), minlength=21)}

        loader = Loader(
            f'spdlsrc location="{FOLDER}/list.csv" epochs=1 '
            "! spdlfetch parts=mask output-order=input "
            "! spdldecode part=data output-order=input "
            "! spdldecode part=mask format=GRAY8 output-order=input "
            "! spdlpipe name=count concurrency=2 output-order=input "
            "! spdlbatch batch-size=10 ! spdlsink")
        with loader.map("count", count):
            batch, = loader
        self.assertEqual(loader.failures, [])
        self.assertEqual(batch.names, ("data", "counts"))
        for i, mask in enumerate(MASKS):
            np.testing.assert_array_equal(
                batch["counts"].numpy()[i],
                np.bincount(mask.ravel(), minlength=21))
            np.testing.assert_array_equal(
                batch["data"].numpy()[i], PICTURES[i][:4, :4])

    @needs_gi
    def test_meta(self):
        Gst, GstSpdl = require_gi()
        sample = Gst.Buffer.new()
        caps = Gst.Caps.from_string("text/plain")
        self.assertTrue(GstSpdl.buffer_append_part(
            sample, "data", Gst.Buffer.new_wrapped(b"abc"), None))
        self.assertTrue(GstSpdl.buffer_append_part(
            sample, "text", Gst.Buffer.new_wrapped(b"defgh"), caps))
        self.assertFalse(GstSpdl.buffer_append_part(
            sample, "text", Gst.Buffer.new(), None))
        meta = GstSpdl.buffer_get_parts_meta(sample)
        self.assertEqual(meta.num_parts, 2)
        text = meta.find_part("text")
        self.assertEqual((text.name, text.offset, text.size), ("text", 3, 5))
        self.assertEqual(text.caps.to_string(), "text/plain")
        self.assertIsNone(meta.get_part(0).caps)
        self.assertIsNone(meta.find_part("no"))
        other = GstSpdl.buffer_replace_part(
            sample, "data", Gst.Buffer.new_wrapped(b"xy"), caps)
        part = GstSpdl.buffer_dup_part(other, "text")
        self.assertEqual(part.extract_dup(0, 5), b"defgh")
        self.assertEqual(other.extract_dup(0, 7), b"xydefgh")
        batch = Batch.new(other, Gst.Caps.from_string(GstSpdl.SAMPLE_CAPS))
        self.assertEqual(bytes(batch["data"].numpy()), b"xy")
        self.assertEqual(bytes(batch["text"].numpy()), b"defgh")


class GrayTest(unittest.TestCase):
    def assert_gray(self, data, wanted, level=0, **options):
        image = np.asarray(decode(data, format="GRAY8", **options))
        self.assertEqual(image.shape, (*wanted.shape, 1))
        difference = image[..., 0].astype(int) - wanted
        self.assertLessEqual(np.abs(difference).max(), level)

    def test_colours(self):
        for picture in PICTURES:
            self.assert_gray(encode(picture),
                             np.asarray(Image.fromarray(picture).convert("L")))

    def test_gray_values_are_kept(self):
        values = np.arange(256, dtype=np.uint8).reshape(8, 32)
        for kind in "PNG", "TIFF", "BMP", "PPM", "GIF":
            self.assert_gray(encode(values, kind), values)
        self.assert_gray(encode(values), np.repeat(
            np.repeat(values, 2, axis=0), 2, axis=1),
            width=64, height=16, interpolation="nearest")

    def test_jpeg(self):
        data = encode(PICTURES[0], "JPEG", quality=95)
        self.assert_gray(
            data, np.asarray(Image.open(io.BytesIO(data)).convert("L")), 2)

    def test_orientations(self):
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            data = encode(MASKS[0], exif=exif)
            image = np.asarray(decode(data, format="GRAY8"))
            np.testing.assert_array_equal(
                np.repeat(image, 3, axis=2), decode(data))

    def test_background(self):
        image = np.asarray(decode(
            encode(np.full((10, 10), 7, np.uint8)), format="GRAY8",
            resize="contain", width=30, height=10, background=0x336699))
        self.assertEqual(set(image[:, :10].ravel()), {
            Image.new("RGB", (1, 1), 0x996633).convert("L").getpixel((0, 0))})
        self.assertEqual(set(image[:, 10:20].ravel()), {7})


if __name__ == "__main__":
    unittest.main()
