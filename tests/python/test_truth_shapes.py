#!/usr/bin/python3
# gst-spdl: tests of the shapes and types that values collate to
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import contextlib
import copy
import io
import os
import pickle
import re
import unittest
import warnings

import numpy as np
from support import ROOT, make_dataset, make_folder

from gstspdl import Loader, LoaderError, decode

try:
    import torch
    from torch.utils.data import default_collate
except ImportError:
    torch = None
try:
    import torchvision
except ImportError:
    torchvision = None

needs_torch = unittest.skipUnless(torch, "needs PyTorch")
N = 4
PIPE = "spdlpipe name=f output-order=input {}! spdlbatch batch-size=4"

# What a function or a source gives for item i.
VALUES = {
    "int": lambda i: i - 2,
    "float": lambda i: i / 3,
    "bool": lambda i: i % 2 == 0,
    **{name: lambda i, dtype=getattr(np, name): dtype(i) for name in (
        "int8", "uint8", "int16", "int32", "int64", "float16", "float32",
        "float64", "bool_")},
    "0-d": lambda i: np.array(i / 2, "float32"),
    "0-d bool": lambda i: np.array(i == 1),
    "(1,)": lambda i: np.array([i], "int64"),
    "(1,) bool": lambda i: np.array([i == 1]),
    "(1, 1)": lambda i: np.full((1, 1), i, "float32"),
    "(3,)": lambda i: np.arange(3, dtype="float64") + i,
    "(0, 4)": lambda i: np.zeros((0, 4), "float32"),
    "(2, 0) bool": lambda i: np.zeros((2, 0), bool),
    "(2, 3) bool": lambda i: np.arange(6).reshape(2, 3) % 4 == i,
}
if torch:
    VALUES.update({
        "torch 0-d": lambda i: torch.tensor(i),
        "torch bool": lambda i: torch.tensor(i == 1),
        "torch (1,)": lambda i: torch.tensor([i / 2]),
    })


def get_values(i):
    """All of them, for an item. At most 16 media are one item."""
    names = sorted(VALUES)
    return [{name: VALUES[name](i) for name in names[k:k + 12]}
            for k in range(0, len(names), 12)]


N_PARTS = len(get_values(0))


def get_wanted(name):
    """What default_collate() makes of the values, as an array."""
    dtypes = {"int": "int64", "float": "float64"}
    return np.stack([np.asarray(VALUES[name](i), dtypes.get(name))
                     for i in range(N)])


def write_npy(value):
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


class Compute:
    """A function of map(), also for other processes."""

    def __init__(self, k):
        self.k = k

    def __call__(self, sample):
        return get_values(sample.index)[self.k]


class Comparison(unittest.TestCase):
    def compare(self, tensor, wanted):
        self.assertEqual(tensor.shape, wanted.shape)
        self.assertEqual(tensor.dtype, wanted.dtype.name)
        array = np.asarray(tensor)
        self.assertEqual(array.dtype, wanted.dtype)
        np.testing.assert_array_equal(array, wanted)


class ShapeTest(Comparison):
    def check(self, load):
        """Compares the batches that `load` returns for a part of VALUES."""
        for k in range(N_PARTS):
            for batch in load(k):
                self.assertEqual(list(batch), list(get_values(0)[k]))
                for name in batch:
                    with self.subTest(name):
                        self.compare(batch[name], get_wanted(name))

    def load(self, line, function=None, source=None, **more):
        """Returns the batches of an epoch."""
        loader = Loader(line + " ! spdlsink",
                        source=source or [np.zeros(2)] * N)
        if function:
            loader.map("f", function, **more)
        with loader:
            batches = list(loader)
        self.assertEqual(loader.failures, [])
        self.assertEqual(sum(b.num_items for b in batches), N)
        return batches

    def test_source(self):
        self.check(lambda k: self.load(
            "spdlbatch batch-size=4",
            source=[get_values(i)[k] for i in range(N)]))

    def test_function(self):
        self.check(lambda k: self.load(
            PIPE.format(""), Compute(k)))

    def test_worker_processes(self):
        # They need the class by import, which the main module has not.
        try:
            import cloudpickle as _
        except ImportError:
            self.skipTest("needs cloudpickle")
        self.check(lambda k: self.load(
            PIPE.format(""),
            lambda sample: Compute(k)(sample), processes=1))

    def test_coroutine(self):
        async def compute(sample):
            return get_values(sample.index)[0]
        for batch in self.load(PIPE.format(""), compute):
            for name in batch:
                self.compare(batch[name], get_wanted(name))

    def test_groups(self):
        self.check(lambda k: self.load(
            PIPE.format("! spdlaggregate size=2 "), Compute(k)))

    def test_alone(self):
        """One item without names."""
        for name, value in VALUES.items():
            with self.subTest(name):
                wanted = get_wanted(name)
                batch, = self.load("spdlbatch batch-size=4",
                                   source=[value(i) for i in range(N)])
                self.compare(batch["data"], wanted)
                batches = self.load("identity",
                                    source=[value(i) for i in range(N)])
                for batch, item in zip(batches, wanted):
                    self.compare(batch["data"], item)

    def test_functions_read_them(self):
        seen = {}

        def read(sample):
            seen[sample.index] = {
                name: (t.shape, t.dtype, t.numpy().tolist())
                for name, t in sample.tensors.items()}
            return sample
        self.load("spdlpipe name=f", read,
                  source=[get_values(i)[0] for i in range(N)])
        for i, found in seen.items():
            for name, (shape, dtype, value) in found.items():
                wanted = get_wanted(name)[i]
                self.assertEqual((shape, dtype, value),
                                 (wanted.shape, wanted.dtype.name,
                                  wanted.tolist()))

    def test_function_after_the_batch(self):
        """What it returns is the batch."""
        values = [VALUES["float"](i) for i in range(N)]
        batch, = self.load(
            "spdlbatch batch-size=4 ! spdlpipe name=f", lambda sample: {
                "data": sample["data"], "mean": sample["data"].numpy().mean(),
                "valid": sample["data"].numpy() > 0.5}, source=values)
        self.compare(batch["data"], get_wanted("float"))
        self.compare(batch["mean"], np.mean(values))
        self.compare(batch["valid"], np.array(values) > 0.5)

    def test_group_of_a_batch(self):
        """A function splits what another one has packed."""
        def pack(sample):
            return [item["data"].numpy() > 0.5 for item in sample.items]
        batch, = self.load(
            "spdlaggregate size=4 ! spdlpipe name=f ! spdlbatch batch-size=4",
            pack, source=[VALUES["float"](i) for i in range(N)])
        self.compare(batch["data"], get_wanted("float") > 0.5)

    def test_cache(self):
        items = [get_values(i)[0] for i in range(N)]
        with Loader("spdlbatch batch-size=2 ! spdlcache num-caches=2 "
                    "return-caches-after=2 ! spdlsink", source=items) as loader:
            batches = iter(loader)
            for k in range(4):
                batch = next(batches)
                for name in batch:
                    self.compare(batch[name],
                                 get_wanted(name)[k % 2 * 2:][:2])

    def test_copies(self):
        batch, = self.load("spdlbatch batch-size=4",
                           source=[get_values(i)[0] for i in range(N)])
        for made in (batch.copy(), copy.deepcopy(batch),
                     pickle.loads(pickle.dumps(batch))):
            for name in made:
                found, wanted = np.asarray(made[name]), get_wanted(name)
                self.assertEqual(found.dtype, wanted.dtype)
                np.testing.assert_array_equal(found, wanted)

    def test_mismatch(self):
        """A number and an array of one number are not the same."""
        for pair in ([np.float32(1), np.ones(1, "float32")],
                     [np.True_, np.uint8(1)]):
            with self.assertRaises(LoaderError):
                self.load("spdlbatch batch-size=4", source=pair * 2)

    def test_conversion(self):
        """dtype, mean and std apply to numbers of their types."""
        batch, = self.load('spdlbatch batch-size=4 dtype=float32 mean="<0.5>"',
                           source=[np.uint8(i * 51) for i in range(N)])
        np.testing.assert_allclose(batch["data"], np.arange(N) / 5 - 0.5,
                                   atol=1e-6)
        for value in np.True_, np.ones((2, 3), bool):
            with self.assertRaises(LoaderError):
                self.load("spdlbatch batch-size=4 dtype=float32",
                          source=[value] * N)

    def test_refused_results(self):
        """Nothing that is probably another mistake becomes an item."""
        for value in True, [1, 2.5], 2**63, 1j, {"x": [1, 2]}, {"x": "text"}:
            loader = Loader(PIPE.format("") + " ! spdlsink", source=[0.5, 1.5])
            loader.map("f", lambda s: s if s.index else value)
            with self.subTest(value), loader:
                with self.assertWarns(UserWarning):
                    batch, = loader
                self.assertEqual(list(batch.indices), [1])
                self.assertEqual(loader.num_failures, 1)


class FilesTest(Comparison):
    """Arrays in files, here and in a worker process."""

    NAMES = ["float32", "bool", "(1,)", "(1,) bool", "(2, 3) bool", "0-d",
             "(0, 4)", "(2, 0) bool"]

    @classmethod
    def setUpClass(cls):
        cls.folder = make_folder()
        for k, name in enumerate(cls.NAMES):
            (cls.folder / str(k)).mkdir()
            for i in range(N):
                np.save(cls.folder / str(k) / f"{i}.npy", VALUES[name](i))

    def test_files(self):
        for process in False, True:
            for k, name in enumerate(self.NAMES):
                line = (f"spdlsrc location={self.folder / str(k)} ! spdlfetch "
                        "output-order=input ! spdldecode output-order=input "
                        "! spdlbatch batch-size=4 ! spdlsink")
                with self.subTest(name, process=process), Loader(
                        line, process=process) as loader:
                    batch = loader.next()
                    self.compare(batch["data"], get_wanted(name))

    def test_mix(self):
        line = ("spdlmix name=m ! spdlbatch batch-size=4 ! spdlsink  " +
                "  ".join(f"spdlsrc location={self.folder / '0'} ! spdlfetch "
                          "! spdldecode ! m." for _ in range(2)))
        with Loader(line) as loader:
            for batch in loader:
                self.assertEqual(batch["data"].shape, (4,))
                self.assertEqual(batch["data"].dtype, "float32")

    def test_padding(self):
        """Tests boxes of images, some of which have none."""
        for lengths in (0, 3, 1, 0), (0, 0, 0, 0), (2, 0, 0, 1):
            folder = make_folder()
            boxes = [np.full((n, 4), i + 1, "float32")
                     for i, n in enumerate(lengths)]
            for i, value in enumerate(boxes):
                np.savez(folder / f"{i}.npz", boxes=value,
                         image=np.full((2, 3), i, "uint8"))
            for settings in "", "dtype=float32":
                with self.subTest(lengths, settings=settings), Loader(
                        f"spdlsrc location={folder} ! spdlfetch "
                        "output-order=input ! spdldecode output-order=input "
                        "! spdlbatch batch-size=4 pad-to-longest=true "
                        f"{settings} ! spdlsink") as loader:
                    batch = loader.next()
                    wanted = np.zeros((4, max(lengths), 4), "float32")
                    for i, value in enumerate(boxes):
                        wanted[i, :lengths[i]] = value
                    self.compare(batch["boxes"], wanted)
                    self.assertEqual(batch["data_lengths"].numpy().tolist(),
                                     list(lengths))
                    self.assertEqual(batch["image"].numpy()[:, 0, 0].tolist(),
                                     [0, 1, 2, 3])

    def test_decode(self):
        for name in self.NAMES:
            value = np.asarray(VALUES[name](1))
            batch = decode(write_npy(value))
            self.compare(batch, value)


@needs_torch
class TorchTest(unittest.TestCase):
    def test_default_collate(self):
        from gstspdl.torch import Dataset

        for k in range(N_PARTS):
            items = [get_values(i)[k] for i in range(N)]
            dataset = Dataset("spdlbatch batch-size=4 ! spdlsink",
                              source=items, device="cpu")
            found, = dataset
            with warnings.catch_warnings():  # NumPy's bool as an index
                warnings.simplefilter("ignore", DeprecationWarning)
                collated = default_collate(items)
            for name, wanted in collated.items():
                with self.subTest(name):
                    self.assertEqual(found[name].dtype, wanted.dtype)
                    self.assertEqual(found[name].shape, wanted.shape)
                    self.assertTrue(torch.equal(found[name], wanted))
            dataset.stop()

    @unittest.skipUnless(torchvision, "needs torchvision")
    def test_weights_of_the_tutorial(self):
        """Runs own.py of the tutorial and calculates its loss again."""
        page = (ROOT / "docs/tutorials/from-dataloader.md").read_text()
        text, = (block for block in re.findall(
            r"(?:^    .*\n|^\n)+", page, re.M) if "weights[sample" in block)
        folder = make_dataset(20)
        here = os.getcwd()
        work = make_folder()
        (work / "train").symlink_to(folder)
        os.chdir(work)
        try:
            ran = {"__name__": "own"}
            with contextlib.redirect_stdout(io.StringIO()):
                exec("\n".join(line[4:] for line in text.splitlines()), ran)
        finally:
            os.chdir(here)
        batch, n = ran["batch"], len(ran["classes"])
        wanted = torch.linspace(0, 1, n)[batch["labels"]]
        self.assertTrue(torch.allclose(batch["weight"], wanted))
        self.assertEqual(batch["weight"].shape, ran["losses"].shape)
        total = sum(float(a) * float(b) for a, b in zip(ran["losses"], wanted))
        self.assertAlmostEqual(float(ran["loss"]), total / len(wanted),
                               places=5)


if __name__ == "__main__":
    unittest.main()
