#!/usr/bin/python3
# gst-spdl: tests of the corpus comparison
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed; the second one
gst-spdl-index, or "-" where it was not built."""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import support  # noqa: F401
import numpy as np
from PIL import Image

INDEX = pathlib.Path(sys.argv.pop(1))
CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus"


class CorpusTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.files = self.root / "files" / "a-1.0"
        self.files.mkdir(parents=True)

    def tearDown(self):
        self.folder.cleanup()

    def compare(self, *options):
        done = subprocess.run(
            [sys.executable, CORPUS / "compare.py", *options, self.root],
            text=True, stdout=subprocess.PIPE, check=False,
            env=dict(os.environ,
                     PATH=f"{INDEX.parent}:{os.environ['PATH']}"))
        rows = {line.split("|")[1].strip(): line.split("|")[2:-1]
                for line in done.stdout.splitlines() if line.startswith("| ")}
        return done.returncode, {
            name: [int(cell.strip() or 0) for cell in cells]
            for name, cells in rows.items()
            if name not in ("format", "---")}, done.stdout

    def test_verdicts(self):
        picture = Image.linear_gradient("L").resize((40, 30)).convert("RGB")
        picture.save(self.files / "good.png")
        picture.save(self.files / "good.jpg")
        (self.files / "cut.png").write_bytes(
            (self.files / "good.png").read_bytes()[:100])
        np.save(self.files / "good.npy", np.arange(6.0).reshape(2, 3))
        np.save(self.files / "empty.npy", np.empty((0, 3)))
        code, rows, text = self.compare()
        self.assertEqual(code, 0, text)
        # same, near, differs, refused, only we, both fail, crashed
        self.assertEqual(rows["png"], [1, 0, 0, 0, 0, 1, 0])
        self.assertEqual(rows["npy"], [2, 0, 0, 0, 0, 0, 0])
        self.assertEqual(sum(rows["jpg"][:2]), 1)

    def test_differing_files(self):
        """Tests CIE Lab images: libtiff converts them to sRGB, and Pillow
        shows L, a and b."""
        picture = Image.radial_gradient("L").resize((40, 30)).convert("RGB")
        picture.paste((255, 0, 0), (0, 0, 5, 5))
        lab = Image.merge("LAB", picture.split())
        lab.save(self.files / "lab.tif")
        code, rows, text = self.compare()
        self.assertEqual(code, 1, text)
        self.assertEqual(rows["tif"], [0, 0, 1, 0, 0, 0, 0], text)
        self.assertIn("a-1.0/lab.tif", text)

    @unittest.skipIf(INDEX.name == "-", "gst-spdl-index was not built")
    def test_archives(self):
        with zipfile.ZipFile(self.files / "a.zip", "w") as archive:
            archive.writestr("1.txt", "one")
            archive.writestr("2.jpg", "two", zipfile.ZIP_DEFLATED)
        with tarfile.open(self.files / "a.tar", "w") as archive:
            archive.add(self.files / "a.zip", "3.zip")
        (self.files / "b.tar").write_bytes(
            (self.files / "a.tar").read_bytes()[:1000])
        code, rows, text = self.compare()
        self.assertEqual(code, 0, text)
        self.assertEqual(rows["zip"], [1, 0, 0, 0, 0, 0, 0], text)
        self.assertEqual(rows["tar"], [1, 0, 0, 0, 0, 1, 0], text)

    def test_broken_copies(self):
        Image.new("RGB", (9, 9)).save(self.files / "a.png")
        code, _, text = self.compare("--mutate", "3", "--seed", "7")
        self.assertEqual(code, 0, text)
        self.assertIn("0 crashes", text)


if __name__ == "__main__":
    unittest.main()
