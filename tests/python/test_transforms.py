#!/usr/bin/python3
# gst-spdl: tests of spdldecode's transforms against Pillow
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests every fit, filter, crop and flip in all orientations, with JPEGs
(decoded only in part where possible) and PNGs. Results are within one level of
Pillow's for the whole image. JPEGs are resized as planes, so this does the
same with Pillow: one level in a plane is up to 2.8 levels in a color, before
both are rounded."""

import os
import pathlib
import random
import tempfile
import unittest

from accuracy import image_of, psnr
from gstspdl import Loader, LoaderError
from PIL import Image, ImageChops, ImageOps

# By EXIF orientation, the transforms from the upright image to the file's and
# back.
TURNS = {2: (Image.FLIP_LEFT_RIGHT,) * 2, 3: (Image.ROTATE_180,) * 2,
         4: (Image.FLIP_TOP_BOTTOM,) * 2, 5: (Image.TRANSPOSE,) * 2,
         6: (Image.ROTATE_90, Image.ROTATE_270), 7: (Image.TRANSVERSE,) * 2,
         8: (Image.ROTATE_270, Image.ROTATE_90)}
FILTERS = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR,
           "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}


def make_picture(width, height):
    """Makes smooth shapes and some texture, as in photographs."""
    rng = random.Random(width * 1000 + height)
    noise = Image.effect_noise((width, height), 40)
    bands = [Image.linear_gradient("L").resize((width, height)).rotate(rng.randrange(360)),
             Image.radial_gradient("L").resize((width, height)),
             noise]
    return Image.merge("RGB", bands)


def resize_width_first(image, size, method):
    """Resizes the width first. Values out of range are clipped between the
    passes, so the order matters. Newer versions of Pillow select it by the
    sizes."""
    return image.resize((size[0], image.height), method).resize(size, method)


def resize_as_stored(image, size, method, orientation):
    """Resizes before the rotation, as with the nearest filter a tie goes to
    one side."""
    if orientation == 1:
        return resize_width_first(image, size, method)
    there, back = TURNS[orientation]
    if orientation >= 5:
        size = size[::-1]
    return resize_width_first(
        image.transpose(there), size, method).transpose(back)


def color_for(image, color):
    return Image.new("RGB", (1, 1), color).convert(image.mode).getpixel((0, 0))


def difference(a, b):
    return max(high for _, high in ImageChops.difference(a, b).getextrema())


def crop(full_side, side):
    """Returns what torchvision's Resize and CenterCrop make of an image."""
    def expect(image, _):
        short, long = min(image.size), max(image.size)
        full = int(full_side * long / short)
        size = (full_side, full) if image.width <= image.height else (
            full, full_side)
        image = image.resize(size, Image.BILINEAR)
        x, y = (round((n - side) / 2) for n in size)
        return image.crop((x, y, x + side, y + side))
    return expect


class TransformsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.upright = {}
        cls.planes = {}
        rng = random.Random(4)
        for n in range(64):
            picture = make_picture(rng.randint(20, 700), rng.randint(20, 500))
            name = f"{n:03}.{'png' if n % 4 == 3 else 'jpg'}"
            path = pathlib.Path(cls.folder.name) / name
            exif = Image.Exif()
            exif[0x0112] = n % 8 + 1
            options = {"exif": exif}
            if name.endswith("jpg"):
                options |= {"quality": 90, "subsampling": n // 4 % 3,
                            "progressive": n % 5 == 0}
            picture.save(path, **options)
            with Image.open(path) as reread:
                cls.upright[name] = ImageOps.exif_transpose(reread.convert("RGB"))
            if name.endswith("jpg"):
                with Image.open(path) as reread:
                    reread.draft("YCbCr", reread.size)
                    cls.planes[name] = ImageOps.exif_transpose(reread)
                    assert cls.planes[name].mode == "YCbCr"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def decode(self, properties):
        """Returns the results by file name: image, box and flip."""
        results = {}
        with Loader(f'spdlsrc location="{self.folder.name}" epochs=1 '
                    "! spdlfetch ! spdldecode concurrency=2 "
                    f"{properties} ! spdlsink") as loader:
            for item in loader:
                extra, = item.extras
                box = flip = None
                if extra:
                    box = tuple(extra[f"crop-{field}"]
                                for field in ("x", "y", "width", "height"))
                    flip = extra["flip"]
                results[os.path.basename(item.keys[0])] = (
                    image_of(item), box, flip)
        self.assertEqual(sorted(results), sorted(self.upright))
        return results

    def check(self, properties, expect):
        results = self.decode("fast-scale=false " + properties)
        for name, (image, box, flip) in results.items():
            upright, tolerance = self.upright[name], 1
            if name in self.planes and "nearest" not in properties:
                upright, tolerance = self.planes[name], 5
            if box:
                x, y, width, height = box
                upright = upright.crop((x, y, x + width, y + height))
            expected = expect(upright, int(name[:3]) % 8 + 1).convert("RGB")
            if flip:
                expected = ImageOps.mirror(expected)
            with self.subTest(name, properties=properties, box=box, flip=flip):
                self.assertEqual(image.size, expected.size)
                self.assertLessEqual(difference(image, expected), tolerance)
                self.assertGreater(psnr(image, expected), 45)
        return results

    def test_stretch(self):
        for name, method in FILTERS.items():
            self.check(f"width=97 height=64 interpolation={name}",
                       lambda image, orientation: resize_as_stored(
                           image, (97, 64), method, orientation))

    def test_cover(self):
        for side in (32, 224):
            self.check(f"resize=cover width={side} height={side}",
                       crop(side, side))

    def test_center_crop(self):
        for full, side in ((256, 224), (40, 36), (64, 32)):
            self.check(f"resize=cover width={side} height={side} "
                       f"crop-fraction={side / full}", crop(full, side))

    def test_contain(self):
        for width, height in ((224, 224), (60, 200)):
            self.check(f"resize=contain width={width} height={height} "
                       f"background={0x205080}",
                       lambda image, _: ImageOps.pad(
                           image, (width, height), Image.BILINEAR,
                           color_for(image, (0x20, 0x50, 0x80))))

    def test_random_resized_crop(self):
        for size in ((224, 224), (31, 77)):
            results = self.check(
                f"augment=random-resized-crop width={size[0]} height={size[1]} "
                "flip=0.5 seed=7 interpolation=bicubic",
                lambda image, orientation: resize_as_stored(
                    image, size, Image.BICUBIC, orientation))
            flips = sum(flip for _, _, flip in results.values())
            self.assertTrue(16 < flips < 48)

    def test_random_crop(self):
        results = self.check("augment=random-crop width=20 height=20",
                             lambda image, _: image)
        self.assertGreater(len({box[:2] for _, box, _ in results.values()}), 40)

    def test_mirrored_original_size(self):
        self.check("flip=1.0", lambda image, _: image)

    def test_independent_of_threads(self):
        line = "augment=random-resized-crop flip=0.5 width=64 height=64 seed=3"
        a = self.decode(line + " output-order=input")
        b = self.decode(line + " concurrency=4")
        for name, (image, box, flip) in a.items():
            self.assertEqual((box, flip), b[name][1:])
            self.assertEqual(image.tobytes(), b[name][0].tobytes())

    def test_fast_scale(self):
        """Tests that fast-scale is close to the exact result, also for crops
        that are decoded at a reduced size."""
        for line in ("width=32 height=32",
                     "augment=random-resized-crop width=24 height=24 seed=5"):
            exact = self.decode(line + " fast-scale=false")
            fast = self.decode(line)
            figures = [psnr(image, exact[name][0])
                       for name, (image, _, _) in fast.items()]
            self.assertGreater(min(figures), 30)
            self.assertGreater(sum(figures) / len(figures), 38)
            self.assertTrue(any(figure < 60 for figure in figures))

    def test_fast_scale_and_nearest(self):
        """Pixels are picked, not mixed, whatever fast-scale is."""
        line = "width=32 height=32 interpolation=nearest"
        exact = self.decode(line + " fast-scale=false")
        for name, (image, _, _) in self.decode(line).items():
            self.assertEqual(image.tobytes(), exact[name][0].tobytes())

    def test_contradictions(self):
        for properties, reason in (
                ("crop-scale=<0.5>", "crop-scale"),
                ("crop-ratio=<2.0,1.0>", "crop-ratio")):
            with self.assertRaisesRegex(LoaderError, reason), Loader(
                    f'spdlsrc location="{self.folder.name}" ! spdlfetch '
                    f"! spdldecode {properties} ! spdlsink") as loader:
                list(loader)


if __name__ == "__main__":
    unittest.main()
