#!/usr/bin/python3
# gst-spdl: tests of the decoder inside another loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import io
import multiprocessing
import threading
import unittest

# Imported before PyTorch, which loads GLib, because this file tests forks
# while a loader runs.
from gstspdl import Loader, decode, image_size
import numpy as np
import torch
import torch.utils.data
from PIL import Image
from errors import raises_with
from support import describe, make_dataset

FOLDER = make_dataset(20)
PATHS = sorted(FOLDER.glob("*/*.jpg"))
DATA = [path.read_bytes() for path in PATHS]


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return len(PATHS)

    def __getitem__(self, i):
        return torch.from_dlpack(decode(DATA[i], width=32, height=32)), i


def png_of(image):
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def jpeg_of(image, **options):
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


def without_tables(jpeg):
    """Removes the standard Huffman tables, as in Motion JPEG."""
    while (at := jpeg.find(b"\xff\xc4")) >= 0:
        size = int.from_bytes(jpeg[at + 2:at + 4], "big")
        jpeg = jpeg[:at] + jpeg[at + 2 + size:]
    return jpeg


class DecodeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Loader(describe(FOLDER, order="input")) as loader:
            cls.wanted = np.concatenate(
                [np.asarray(b["data"]) for b in loader])

    def test_same_as_pipeline(self):
        for data, image in zip(DATA, self.wanted):
            tensor = decode(data, width=32, height=32)
            self.assertEqual(tensor.shape, (32, 32, 3))
            np.testing.assert_array_equal(tensor, image)
            # The caller owns it.
            np.asarray(tensor)[:] = 0

    def test_results_stay_valid(self):
        kept = [decode(data, width=32, height=32) for data in DATA * 3]
        for tensor, image in zip(kept, [*self.wanted] * 3):
            np.testing.assert_array_equal(tensor, image)

    def test_types_of_data(self):
        for kind in bytes, bytearray, memoryview:
            decode(kind(DATA[0]))
        image = Image.open(PATHS[0])
        tensor = decode(png_of(image))
        np.testing.assert_array_equal(tensor, np.asarray(image))

    def test_tables_are_not_reused(self):
        image = Image.open(PATHS[0])
        usual = jpeg_of(image)
        wanted = np.asarray(decode(usual))
        decode(jpeg_of(image, optimize=True))
        np.testing.assert_array_equal(decode(without_tables(usual)), wanted)

    def test_properties(self):
        line = {"width": 24, "height": 24, "flip": 0.5, "seed": 3,
                "augment": "random-resized-crop", "crop_scale": (0.2, 0.6),
                "fast_scale": False}
        with Loader(
                f'spdlsrc location="{FOLDER}" epochs=2 '
                "! spdlfetch output-order=input ! spdldecode width=24 "
                "height=24 flip=0.5 seed=3 augment=random-resized-crop "
                'crop-scale="<0.2,0.6>" fast-scale=false output-order=input '
                "! spdlbatch batch-size=20 ! spdlsink") as loader:
            for epoch in range(2):
                batch, = loader
                for i, image in enumerate(np.asarray(batch["data"])):
                    np.testing.assert_array_equal(
                        decode(DATA[i], epoch=epoch, index=i, **line), image)

    def test_size(self):
        """The header tells the size with which an image would be decoded."""
        for kind in "JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP":
            for orientation in (1, 3, 6, 8) if kind in ("JPEG", "WEBP") else (1,):
                exif = Image.Exif()
                exif[274] = orientation
                out = io.BytesIO()
                Image.new("RGB", (61, 47)).save(
                    out, kind, **({"exif": exif} if orientation > 1 else {}))
                data = out.getvalue()
                for line in {}, {"orientation": "ignore"}:
                    with self.subTest(kind, exif=orientation, **line):
                        height, width, _ = decode(data, **line).shape
                        self.assertEqual(image_size(data, **line), (width, height))
        # The pixels are not looked at.
        self.assertEqual(image_size(DATA[0][:2000]), image_size(DATA[0]))
        for data, line, text in [
                (DATA[0], {"max_pixels": 5}, "max-pixels"),
                (DATA[0], {"views": 2}, "size-only"),
                (b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0"
                 b"\x40\x1f\0\0\1\0\x08\0data\0\0\0\0", {}, "size-only"),
                (b"no picture", {}, "0x6e")]:
            with self.subTest(line), raises_with(None, text):
                image_size(data, **line)

    def test_errors(self):
        for data, line, text in [
                (b"no picture", {}, "0x6e"), (b"", {}, ""),
                (DATA[0][:500], {}, ""),
                (DATA[0], {"nothing": 1}, "nothing"),
                (DATA[0], {"resize": "somehow"}, "somehow"),
                (DATA[0], {"width": 70000}, "width")]:
            with self.subTest(line), raises_with(None, text):
                decode(data, **line)
        decode(DATA[0])

    def test_threads(self):
        found = {}

        def work(i):
            found[i] = decode(DATA[i], width=32, height=32)

        threads = [threading.Thread(target=work, args=(i,))
                   for i in range(len(DATA))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, image in enumerate(self.wanted):
            np.testing.assert_array_equal(found[i], image)

    def test_worker_processes(self):
        # The parent has decoded as well.
        decode(DATA[0], width=32, height=32)
        loader = torch.utils.data.DataLoader(
            Images(), batch_size=5, num_workers=2,
            multiprocessing_context="fork")
        for images, places in loader:
            for image, i in zip(images, places):
                np.testing.assert_array_equal(image, self.wanted[i])

    def test_fork_while_a_loader_runs(self):
        with Loader(describe(FOLDER)) as loader:
            batches = iter(loader)
            next(batches)
            context = multiprocessing.get_context("fork")
            with context.Pool(2) as pool:
                sums = pool.map(checksum, range(len(DATA)))
            self.assertEqual(sums, [int(i.sum()) for i in self.wanted])
            self.assertEqual(len(list(batches)), 2)


def checksum(i):
    return int(np.asarray(decode(DATA[i], width=32, height=32)).sum())


if __name__ == "__main__":
    unittest.main()
