#!/usr/bin/python3
# gst-spdl: tests that images and their masks show the same
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed here."""

import contextlib
import io
import itertools
import unittest
import warnings

import numpy as np
from PIL import Image
import support  # noqa: F401

from gstspdl import Loader, LoaderError, LoaderWarning

WIDTH, HEIGHT, BLOCK = 60, 44, 4
OUT = 32
DRAWS = ("augment=random-resized-crop flip=0.5", "augment=random-crop",
         "flip=0.5", "")
# Width and height of a mask, by those of the image. Blocks of the image have
# whole pixels in all of them.
SCALES = (1, 0.5, 2)
# Pillow's operation that makes the stored image of the upright one.
STORE = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
         4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
         6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
         8: Image.Transpose.ROTATE_270}


def blocks_of(i):
    """The upright mask, a number per block: each block has another one."""
    shape = HEIGHT // BLOCK, WIDTH // BLOCK
    return (np.arange(shape[0] * shape[1]) + i).reshape(shape) % 251


def encode(image, orientation=1, kind="PNG", **options):
    out = io.BytesIO()
    if orientation > 1:
        options["exif"] = exif = Image.Exif()
        exif[0x0112] = orientation
    image.save(out, kind, **options)
    return out.getvalue()


def make_image(i, orientation):
    """The image: red has the numbers of the mask, as it is stored."""
    values = np.kron(blocks_of(i), np.ones((BLOCK, BLOCK))).astype(np.uint8)
    image = Image.fromarray(np.stack([values, values // 2, 255 - values], -1))
    return store(image, orientation)


def make_mask(i, orientation, scale):
    size = int(BLOCK * scale)
    values = np.kron(blocks_of(i), np.ones((size, size))).astype(np.uint8)
    return store(Image.fromarray(values), orientation)


def store(image, orientation):
    return image.transpose(STORE[orientation]) if orientation > 1 else image


def run(source, data="", mask="", first="data", settings=""):
    """Decodes the pairs in a given order. Returns the batch, in a list."""
    line = {"data": "spdldecode name=image part=data interpolation=nearest "
                    f"{data} {settings}",
            "mask": "spdldecode name=mask part=mask interpolation=nearest "
                    f"format=GRAY8 {mask} {settings}"}
    second = "mask" if first == "data" else "data"
    loader = Loader(f"{line[first]} ! {line[second]} ! "
                    f"spdlbatch batch-size={len(source)} ! spdlsink",
                    source=source)
    batches = []
    with loader:
        # An error if all items fail.
        with contextlib.suppress(LoaderError):
            batches.extend(loader)
        return batches, list(loader.failures)


def make_pairs():
    """Pairs of all orientations and sizes. Masks have no EXIF data, or the
    same, or are upright."""
    for orientation, scale in itertools.product(range(1, 9), SCALES):
        image = encode(make_image(orientation, orientation), orientation)
        mask = make_mask(orientation, orientation, scale)
        yield {"data": image, "mask": encode(mask)}, orientation
        yield {"data": image, "mask": encode(mask, orientation)}, orientation
        if orientation > 4:
            upright = make_mask(orientation, 1, scale)
            yield {"data": image, "mask": encode(upright)}, orientation


class PairsTest(unittest.TestCase):
    def assert_alike(self, batches, n):
        self.assertEqual(sum(batch.num_items for batch in batches), n)
        for batch in batches:
            image, mask = batch["data"].numpy(), batch["mask"].numpy()
            np.testing.assert_array_equal(image[..., 0], mask[..., 0])

    def test_all(self):
        source = list(make_pairs())
        size = f"width={OUT} height={OUT}"
        for draw, first in itertools.product(DRAWS, ("data", "mask")):
            with self.subTest(draw=draw, first=first), \
                    warnings.catch_warnings():
                warnings.simplefilter("ignore", LoaderWarning)
                batches, failures = run(
                    source, first=first,
                    settings=f"{draw} {size} seed=3")
                self.assertEqual(failures, [])
                self.assert_alike(batches, len(source))

    def test_resize(self):
        """Tests modes that derive a side from the crop."""
        source = list(make_pairs())
        for mode in ("resize=cover width=32 height=24 crop-fraction=0.8",
                     "resize=contain width=32 height=40"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LoaderWarning)
                batches, failures = run(
                    source, settings=f"{mode} {DRAWS[0]} background=0x010101")
            self.assertEqual(failures, [])
            self.assert_alike(batches, len(source))

    def test_odd_sizes(self):
        """Tests masks whose sides are rounded: they show the same, to one
        pixel of the mask."""
        y, x = np.mgrid[0:301, 0:401] / [[[301]], [[401]]]
        image = Image.fromarray(np.stack(
            [255 * x, 255 * y, 0 * x], -1).astype(np.uint8))
        for size in (200, 150), (201, 151), (134, 100), (803, 602):
            mask = image.getchannel("R").resize(
                size, Image.Resampling.BOX)
            source = [({"data": encode(image), "mask": encode(mask)}, 0)] * 12
            batches, failures = run(
                source, settings=f"{DRAWS[0]} width=64 height=64")
            self.assertEqual(failures, [])
            difference = (batches[0]["data"].numpy()[..., 0].astype(int) -
                          batches[0]["mask"].numpy()[..., 0])
            self.assertLessEqual(np.abs(difference).max(), 256 / size[0] + 2)

    def test_settings_of_the_mask(self):
        """Tests that the mask takes the crop and the flip of the image,
        whatever would be drawn for it."""
        source = list(make_pairs())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoaderWarning)
            batches, failures = run(
                source, data=DRAWS[0], mask="augment=random-crop",
                settings="width=32 height=32")
        self.assertEqual(failures, [])
        self.assert_alike(batches, len(source))

    def test_other_settings_first(self):
        """Tests that the image fails if a mask that was decoded before it was
        drawn otherwise."""
        source = [({"data": encode(make_image(0, 1)),
                    "mask": encode(make_mask(0, 1, 1))}, 0)] * 8
        batches, failures = run(
            source, data=DRAWS[0], mask="augment=random-crop",
            first="mask", settings="width=32 height=32 max-failure-rate=1")
        self.assertEqual(batches, [])
        self.assertTrue(failures)
        self.assertEqual({f.stage for f in failures}, {"image"})

    def test_aspect(self):
        """Tests that a mask of another aspect ratio fails, unless it has
        another seed."""
        mask = Image.fromarray(np.zeros((50, 50), np.uint8))
        source = [({"data": encode(make_image(0, 1)),
                    "mask": encode(mask)}, 0)] * 2
        settings = f"{DRAWS[0]} width=32 height=32 max-failure-rate=1"
        for first in "data", "mask":
            batches, failures = run(source, first=first, settings=settings)
            self.assertEqual(batches, [])
            self.assertEqual({f.stage for f in failures}, {"mask"})
        batches, failures = run(source, mask="seed=1", settings=settings)
        self.assertEqual((batches[0].num_items, failures), (2, []))

    def test_orientation_without_a_match(self):
        mask = Image.fromarray(np.zeros((50, 50), np.uint8))
        source = [({"data": encode(make_image(0, 6), 6),
                    "mask": encode(mask)}, 0)]
        settings = "width=32 height=32 max-failure-rate=1"
        batches, failures = run(source, settings=settings)
        self.assertEqual((batches, failures[0].stage), ([], "mask"))
        for property in "orientation=ignore", "seed=1":
            batches, failures = run(source, mask=property, settings=settings)
            self.assertEqual((batches[0].num_items, failures), (1, []))

    def test_ignore(self):
        """Tests that images and masks stay as they are stored."""
        for first in "data", "mask":
            source = [({"data": encode(make_image(i, i), i),
                        "mask": encode(make_mask(i, i, 0.5))}, 0)
                      for i in range(1, 9)]
            batches, failures = run(
                source, first=first,
                settings=f"{DRAWS[0]} orientation=ignore width=32 height=32")
            self.assertEqual(failures, [])
            self.assert_alike(batches, 8)
        batches, _ = run(source, settings="orientation=ignore "
                         "output-order=input "
                         f"width={WIDTH} height={HEIGHT}")
        for item in range(8):
            stored = make_image(item + 1, item + 1).resize(
                (WIDTH, HEIGHT), Image.Resampling.NEAREST)
            np.testing.assert_array_equal(
                batches[0]["data"].numpy()[item], stored)

    def test_only_the_image_ignores(self):
        """Tests an image that is not turned, with a mask before it that was
        turned like its EXIF data."""
        source = [({"data": encode(make_image(0, 6), 6),
                    "mask": encode(make_mask(0, 6, 1))}, 0)]
        batches, failures = run(
            source, data="orientation=ignore", first="mask",
            settings="width=32 height=32 max-failure-rate=1")
        self.assertEqual((batches, failures[0].stage), ([], "image"))

    def test_warnings(self):
        """Tests that a guess, and a mask that is left whole, are reported
        once."""
        turned = [({"data": encode(make_image(0, 3), 3),
                    "mask": encode(make_mask(0, 3, 1))}, 0)] * 3
        upright = [({"data": encode(make_image(0, 1)),
                     "mask": encode(make_mask(0, 1, 1))}, 0)] * 3
        size = "width=32 height=32"
        for n, source, options in (
                (1, turned, {}),
                (0, turned, {"mask": "orientation=ignore"}),
                (0, upright, {}),
                (1, upright, {"data": "flip=0.5"}),
                (1, upright, {"data": "flip=0.5", "first": "mask"}),
                (1, upright, {"mask": "flip=0.5"}),
                (0, upright, {"data": "flip=0.5", "mask": "seed=1"})):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                run(source, settings=size, **options)
            found = [w for w in caught if w.category is LoaderWarning]
            self.assertEqual(len(found), n, options)

    def test_other_names(self):
        """Tests that the first image is the main one without a part "data"."""
        source = [({"box": np.arange(4, dtype=np.float32),
                    "image": encode(make_image(i, i), i),
                    "mask": encode(make_mask(i, i, 2))}, 0)
                  for i in range(5, 9)]
        line = "{} ! {} ! spdlbatch batch-size=4 ! spdlsink"
        decoders = [
            f"spdldecode part={part} interpolation=nearest {DRAWS[0]} "
            f"width=32 height=32"
            for part in ("image", "mask format=GRAY8")]
        for order in decoders, decoders[::-1]:
            with Loader(line.format(*order), source=source) as loader:
                batch, = loader
            np.testing.assert_array_equal(batch["image"].numpy()[..., 0],
                                          batch["mask"].numpy()[..., 0])

    def test_extra(self):
        """Tests what is recorded, from which others can compute the crop."""
        source = [({"data": encode(make_image(0, 6), 6),
                    "mask": encode(make_mask(0, 6, 0.5))}, 0)]
        batches, _ = run(source, settings=f"{DRAWS[0]} seed=9 width=8 height=8")
        extra, = batches[0].extras
        self.assertEqual(
            [extra[f"data.{name}"] for name in (
                "stored-width", "stored-height", "orientation", "seed")],
            [HEIGHT, WIDTH, 6, 9])
        self.assertEqual(
            [extra[f"mask.{name}"] for name in (
                "stored-width", "stored-height", "orientation", "flip")],
            [HEIGHT // 2, WIDTH // 2, 6, extra["data.flip"]])
        self.assertAlmostEqual(extra["mask.crop-x"], extra["data.crop-x"] / 2,
                               delta=0.5)


if __name__ == "__main__":
    unittest.main()
