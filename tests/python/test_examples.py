#!/usr/bin/python3
# gst-spdl: tests of the Python examples
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first arguments are tools/make-dataset and the folder of examples."""

import collections
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import torch
from PIL import Image
from support import make_dataset

EXAMPLES = pathlib.Path(sys.argv.pop(1))
N_ITEMS = 400
N_EPOCHS = 6
FOLDER = make_dataset(N_ITEMS)


class TrainTest(unittest.TestCase):
    def start(self, out):
        return subprocess.Popen(
            [sys.executable, EXAMPLES / "train.py", FOLDER, out,
             f"--epochs={N_EPOCHS}", "--save-every=3"],
            stdout=subprocess.PIPE, text=True)

    def kill_after(self, out, n):
        """Kills the process as soon as it has saved its state n times."""
        with self.start(out) as train:
            for line in train.stdout:
                n -= line == "saved\n"
                if n == 0:
                    train.kill()
                    break
        self.assertEqual(train.returncode, -9)

    def test_training_survives_kills(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            for n in 2, 5, 3:
                self.kill_after(out, n)
            with self.start(out) as train:
                text = train.stdout.read()
            self.assertEqual(train.returncode, 0)
            seen = torch.load(out / "checkpoint")["seen"]
        # The last run printed the epoch in which it resumed.
        self.assertRegex(text, r"(?m)\bepoch \d$")
        # Each image occurs exactly once per epoch despite the kills.
        learnt = N_ITEMS - N_ITEMS // 5
        self.assertEqual(collections.Counter(seen), {
            (epoch, i): 1 for epoch in range(N_EPOCHS)
            for i in range(learnt)})
        epochs = re.findall(
            r"epoch (\d+): ([\d.]+)% .*, (\d+) classes; "
            r"\d+ images/s, .* [\d.]+ ms per batch, 0 images",
            text)
        number, right, n_classes = epochs[-1]
        self.assertEqual(int(number), N_EPOCHS - 1)
        # A random guess would give one of the classes.
        self.assertGreater(float(right), 4 * 100 / int(n_classes))


@unittest.skipUnless(importlib.util.find_spec("matplotlib"),
                     "matplotlib is not installed")
class ShowTest(unittest.TestCase):
    def test_picture(self):
        with tempfile.NamedTemporaryFile(suffix=".png") as picture:
            subprocess.run([sys.executable, EXAMPLES / "show-batch.py",
                            FOLDER, picture.name], check=True)
            image = Image.open(picture.name).convert("RGB")
            # Twelve photographs have more colors than an empty figure.
            colours = image.getcolors(image.width * image.height)
            self.assertGreater(len(colours), 5000)


if __name__ == "__main__":
    unittest.main()
