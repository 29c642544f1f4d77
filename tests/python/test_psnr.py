#!/usr/bin/python3
# gst-spdl: tests of the PSNR of whole pipelines on the image sets against
# Pillow
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that photographs come out like Pillow's full decode and bilinear
resize, with a mean PSNR of at least 45 dB and a minimum of 38 dB. The first
argument is tools/make-dataset."""

import pathlib
import subprocess
import tempfile
import unittest

from PIL import Image

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


class PsnrTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, name, properties):
        # One of each photograph, and half of them if they are large.
        count = slow_or(24, 6) if name == "camera" else slow_or(36, 12)
        folder = pathlib.Path(self.folder.name) / name
        subprocess.run(["/usr/bin/python3", MAKE_DATASET, "--set", name,
                        "--count", str(count), folder], check=True,
                       stdout=subprocess.DEVNULL)
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


if __name__ == "__main__":
    unittest.main()
