#!/usr/bin/python3
# gst-spdl: tests of the PSNR of whole pipelines on the image sets against
# Pillow
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that photographs come out like Pillow's full decode and bilinear
resize, with a mean PSNR of at least 45 dB and a minimum of 38 dB. Measures the
error of fast-scale. The first argument is tools/make-dataset."""

import collections
import pathlib
import random
import subprocess
import tempfile
import unittest

import numpy as np
from PIL import Image, ImageDraw, JpegImagePlugin

from accuracy import decode, psnr, reference
from support import MAKE_DATASET, slow_or

SIZE = (224, 224)
MEAN, LEAST = 45.0, 38.0


def opens(path):
    """Returns whether Pillow can decode the whole file."""
    try:
        with Image.open(path) as image:
            image.load()
    except OSError:
        return False
    return True


def draw_edges(rng):
    """Draws ellipses and lines in full colors."""
    image = Image.new("RGB", (512, 512), "white")
    draw = ImageDraw.Draw(image)
    for _ in range(100):
        x, y = rng.randrange(512), rng.randrange(512)
        color = tuple(rng.choice((0, 255)) for _ in range(3))
        draw.ellipse((x, y, x + rng.randrange(100), y + rng.randrange(100)),
                     color)
        draw.line((x, y, rng.randrange(512), rng.randrange(512)), color,
                  rng.randrange(1, 9))
    return image


def find_kind(path):
    with Image.open(path) as image:
        if image.mode == "L":
            return "grayscale"
        return ("4:4:4", "4:2:2", "4:2:0")[JpegImagePlugin.get_sampling(image)]


class PsnrTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def make(self, name, count):
        folder = pathlib.Path(self.folder.name) / name
        subprocess.run(["/usr/bin/python3", MAKE_DATASET, "--set", name,
                        "--count", str(count), folder], check=True,
                       stdout=subprocess.DEVNULL)
        return folder

    def check(self, name, properties):
        # One of each photograph, and half of them if they are large.
        count = slow_or(24, 6) if name == "camera" else slow_or(36, 12)
        folder = self.make(name, count)
        good = [str(path) for path in folder.glob("*/*") if opens(path)]
        figures = {path: psnr(image, reference(path, SIZE))
                   for path, image, _ in decode(
                       folder, f"width={SIZE[0]} height={SIZE[1]} "
                       + properties)}
        self.assertEqual(sorted(figures), sorted(good))
        mean = sum(figures.values()) / len(figures)
        worst = min(figures, key=figures.get)
        print(f"{name}, {properties}: mean {mean:.1f} dB, "
              f"least {figures[worst]:.1f} dB of {len(figures)}")
        self.assertGreaterEqual(mean, MEAN)
        self.assertGreaterEqual(figures[worst], LEAST, worst)

    def test_full(self):
        for name in "imagenet", "web", "camera", "pre", "dirty":
            with self.subTest(name):
                self.check(name, "fast-scale=false")

    def test_fast_scale(self):
        self.check("camera", "fast-scale=true")

    def test_error_of_fast_scale(self):
        """Compares with fast-scale=false. docs/reference/spdldecode.md has the
        numbers of the slow mode."""
        folder = self.make("mixed", slow_or(500, 8))
        rng = random.Random(1)
        (folder / "drawn").mkdir()
        for i in range(slow_or(50, 2)):
            draw_edges(rng).save(folder / "drawn" / f"{i}.jpg", quality=90,
                                 subsampling=i % 2 * 2)
        for fit in "", "resize=cover crop-fraction=0.875 ":
            # Numbers of samples by their error, from 0 to 255.
            counts = collections.defaultdict(lambda: np.zeros(256, int))
            images = collections.Counter()
            size = f"width={SIZE[0]} height={SIZE[1]} {fit}fast-scale="
            exact = {path: np.asarray(image, np.int16)
                     for path, image, _ in decode(folder, size + "false")}
            for path, fast, _ in decode(folder, size + "true"):
                errors = np.abs(exact.pop(path) - np.asarray(fast, np.int16))
                drawn = "drawn " * (pathlib.Path(path).parent.name == "drawn")
                for kind in drawn + find_kind(path), drawn + "all":
                    counts[kind] += np.bincount(errors.ravel(), minlength=256)
                    images[kind] += 1
            for kind, n in sorted(counts.items()):
                mean = n @ np.arange(256) / n.sum()
                high = np.searchsorted(n.cumsum(), 0.999 * n.sum())
                print(f"{fit}{kind}: {images[kind]} images, mean {mean:.2f}, "
                      f"99.9 % {high}, most {n.nonzero()[0].max()}")
                with self.subTest(fit + kind):
                    self.assertLess(mean, 12 if "drawn" in kind else 1)
                    self.assertLess(high, 120 if "drawn" in kind else 30)


if __name__ == "__main__":
    unittest.main()
