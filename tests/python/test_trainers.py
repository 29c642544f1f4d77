#!/usr/bin/python3
# gst-spdl: tests of the example trainers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first arguments are tools/make-dataset and the folder of examples. A test
is skipped if its trainer is missing."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

from support import launch_ranks, make_dataset, make_folder

EXAMPLES = pathlib.Path(sys.argv.pop(1))
N = 24
FOLDER = make_dataset(N)
N_CLASSES = sum(path.is_dir() for path in FOLDER.iterdir())
OPTIONS = "--size=32", "--batch-size=4", "--epochs=2"


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *map(str, arguments), *OPTIONS],
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "USE_LIBUV": "0"},
        capture_output=True, text=True, timeout=200, check=False)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class TrainersTest(unittest.TestCase):
    def need(self, *names):
        for name in names:
            if not importlib.util.find_spec(name):
                self.skipTest(f"{name} is missing")

    def need_ranks(self):
        self.need("torch")
        import torch.distributed as dist
        if not (dist.is_available() and dist.is_gloo_available()):
            self.skipTest("PyTorch is built without gloo")

    def test_two_ranks(self):
        self.need_ranks()
        text = launch_ranks(2, EXAMPLES / "train_ranks.py", FOLDER, FOLDER,
                            *OPTIONS, folder=make_folder())
        found = re.findall(r"epoch (\d): \d+ of (\d+) right on 2 ranks", text)
        self.assertEqual(found, [("0", str(N)), ("1", str(N))])

    def test_lightning(self):
        self.need("torch", "pytorch_lightning")
        for n in 1, 2:
            text = run("train_lightning.py", FOLDER, FOLDER,
                       f"--classes={N_CLASSES}", f"--devices={n}")
            self.assertIn(f"{2 * N // 4 // n} steps on {n} ranks", text)

    def test_accelerate(self):
        self.need_ranks()
        self.need("accelerate")
        for n in 1, 2:
            text = launch_ranks(n, EXAMPLES / "train_accelerate.py", FOLDER,
                                *OPTIONS, folder=make_folder())
            self.assertIn(f"epoch 1: {N // n} images on each of {n} ranks",
                          text)

    def test_jax(self):
        self.need("jax")
        text = run("train_jax.py", FOLDER)
        self.assertEqual(re.findall(r"epoch (\d)", text), ["0", "1"])


if __name__ == "__main__":
    unittest.main()
