#!/usr/bin/python3
# gst-spdl: tests of a loader in PyTorch
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import inspect
import itertools
import pathlib
import re
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed
from support import (describe, make_dataset, needs_gi, require_gi,
                     run_python)
from torch.utils.data import DataLoader
import gstspdl
from gstspdl import LoaderError
from gstspdl.torch import Dataset

N_ITEMS = 30
FOLDER = make_dataset(N_ITEMS)
ALL = list(range(N_ITEMS))
SHUFFLED = "shuffle=true seed=4"


def endless(dataset):
    """Yields the epoch and the indices of each batch."""
    while True:
        for batch in dataset:
            yield dataset.last.epoch, batch["indices"].tolist()


def indices_of(batches):
    return [i for batch in batches for i in batch["indices"].tolist()]


class BatchTest(unittest.TestCase):
    def test_tensors(self):
        dataset = Dataset(describe(FOLDER, batch="dtype=float32 layout=nchw"))
        self.assertEqual(len(dataset), 4)
        for _ in range(2):
            batches = list(dataset)
            self.assertEqual(sorted(indices_of(batches)), ALL)
            batch = batches[0]
            self.assertEqual(batch["data"].dtype, torch.float32)
            self.assertEqual(batch["data"].shape, (8, 3, 32, 32))
            self.assertEqual(batch["labels"].dtype, torch.int64)
        self.assertEqual(dataset.last.epoch, 1)
        dataset.stop()

    def test_fields(self):
        """Tuples, for loops that unpack them."""
        line = describe(FOLDER, order="input")
        named = Dataset(line, device="cpu")
        dataset = Dataset(line, device="cpu", fields=["labels", "data"])
        first = dataset.peek()
        found = list(dataset)
        self.assertIsInstance(found[0], tuple)
        for tensors, batch in zip([first, *found], [named.peek(), *named]):
            self.assertTrue(torch.equal(tensors[0], batch["labels"]))
            self.assertTrue(torch.equal(tensors[1], batch["data"]))
        self.assertEqual(len(found), 4)
        dataset.stop()
        named.stop()
        for wrong in "data", [1]:
            with self.assertRaisesRegex(TypeError, "fields must be names"):
                Dataset(describe(FOLDER), fields=wrong)
        with self.assertRaisesRegex(KeyError, "'dat', .*data, labels, indices"):
            next(iter(Dataset(describe(FOLDER), fields=("dat",))))

    def test_classes(self):
        names = sorted(path.name for path in FOLDER.glob("[!.]*"))
        dataset = Dataset(describe(FOLDER))
        self.assertEqual(dataset.classes, names)
        self.assertEqual(dataset.class_to_idx[names[1]], 1)
        dataset.stop()
        dataset = Dataset(describe(FOLDER), classes=names[::-1])
        self.assertEqual(dataset.classes, names[::-1])
        dataset.stop()

    def test_labels_of_the_pipeline(self):
        # The same, whether or not the pipeline makes tensors.
        for more in "", "labels=true indices=true":
            dataset = Dataset(describe(FOLDER, order="input", batch=more))
            batch = next(iter(dataset))
            self.assertEqual(batch["labels"].tolist(),
                             list(dataset.last.labels))
            self.assertEqual(batch["indices"].tolist(), ALL[:8])
            dataset.stop()

    def test_device(self):
        dataset = Dataset(describe(FOLDER), device="cpu")
        tensor = next(iter(dataset))["data"]
        self.assertEqual(tensor.device.type, "cpu")
        # No copy.
        self.assertEqual(tensor.data_ptr(), dataset.last["data"].address)
        self.assertEqual(Dataset(describe(FOLDER)).device.type,
                         "cuda" if torch.cuda.is_available() else "cpu")
        dataset.stop()


class DataLoaderTest(unittest.TestCase):
    def test_dataset_in_a_dataloader(self):
        dataset = Dataset(describe(FOLDER))
        loader = DataLoader(dataset, batch_size=None, num_workers=0)
        for _ in range(2):
            self.assertEqual(sorted(indices_of(loader)), ALL)
        self.assertEqual(len(loader), 4)
        dataset.stop()

    def test_worker_processes_are_refused(self):
        loader = DataLoader(Dataset(describe(FOLDER)), batch_size=None,
                            num_workers=1, multiprocessing_context="fork")
        with self.assertRaisesRegex(LoaderError, "num_workers=0"):
            list(loader)
        loader = DataLoader(Dataset(describe(FOLDER)), batch_size=None,
                            num_workers=1, multiprocessing_context="spawn")
        with self.assertRaisesRegex(LoaderError, "num_workers=0"):
            list(loader)


class StateTest(unittest.TestCase):
    def test_resume_after_the_last_used_batch(self):
        line = describe(FOLDER, source=SHUFFLED, order="input")
        whole = Dataset(line)
        wanted = list(itertools.islice(endless(whole), 12))
        whole.stop()
        self.assertEqual([epoch for epoch, _ in wanted],
                         [0] * 4 + [1] * 4 + [2] * 4)
        for n in range(1, 12):
            first = Dataset(line)
            # More batches are in flight, but not used.
            seen = list(itertools.islice(endless(first), n))
            state = first.state_dict()
            first.stop()
            second = Dataset(line)
            second.load_state_dict(state)
            self.assertEqual(second.epoch, wanted[n][0])
            seen += itertools.islice(endless(second), 12 - n)
            second.stop()
            self.assertEqual(seen, wanted)

    def test_state_after_a_break(self):
        line = describe(FOLDER, source=SHUFFLED, order="input")
        whole = Dataset(line)
        wanted = [indices_of(whole) for _ in range(3)]
        whole.stop()
        dataset = Dataset(line)
        loader = DataLoader(dataset, batch_size=None, num_workers=0)
        for batches in loader, dataset:
            for _ in batches:
                break
        self.assertEqual(dataset.epoch, 1)
        state = dataset.state_dict()
        self.assertEqual(indices_of(dataset), wanted[2])
        dataset.stop()
        other = Dataset(line)
        other.load_state_dict(state)
        rest = indices_of(other)
        self.assertEqual(rest, wanted[1][-len(rest):])
        self.assertLess(len(rest), len(wanted[1]))
        other.stop()

    def test_stop_continues(self):
        """No item is repeated or left out after stop(), also at the end of an epoch."""
        line = describe(FOLDER, source=SHUFFLED, order="input")
        whole = Dataset(line)
        batches = list(itertools.islice(endless(whole), 9))
        whole.stop()
        for places in (1, 6), (4, 8), (3, 5):
            dataset = Dataset(line)
            found = []
            for end in *places, 9:
                found += itertools.islice(endless(dataset), end - len(found))
                dataset.stop()
            self.assertEqual(found, batches)

    def test_program_that_counts_batches(self):
        """Lightning and others take len() batches, and no end of an epoch."""
        line = describe(FOLDER, source=SHUFFLED, order="input")
        whole = Dataset(line)
        wanted = [indices_of(whole) for _ in range(2)]
        whole.stop()
        dataset = Dataset(line)
        for epoch in range(2):
            batches = iter(dataset)
            counted = [next(batches) for _ in range(len(dataset))]
            self.assertEqual(sum((b["indices"].tolist() for b in counted), []),
                             wanted[epoch])
            self.assertEqual(dataset.epoch, epoch)
            state = dataset.state_dict()
            self.assertEqual(state["batches"], 0)
            self.assertIn(f",epoch={epoch + 1},mark=0,", state["spdl"])
            self.assertEqual(list(batches), [])
        dataset.stop()

    def test_another_dataset_is_refused(self):
        first = Dataset(describe(FOLDER, source=SHUFFLED))
        next(iter(first))
        state = first.state_dict()
        first.stop()
        second = Dataset(describe(FOLDER, source="shuffle=true seed=5"))
        second.load_state_dict(state)
        with self.assertRaisesRegex(LoaderError, "seed"):
            list(second)

    def test_set_epoch(self):
        dataset = Dataset(describe(FOLDER, source=SHUFFLED, order="input"))
        wanted = [indices_of(dataset) for _ in range(4)]
        for epoch in 2, 0, 3, 1, 2, 2:
            dataset.set_epoch(epoch)
            self.assertEqual(dataset.epoch, epoch)
            self.assertEqual(indices_of(dataset), wanted[epoch])
        # set_epoch() works in the middle of an epoch and before the
        # first batch.
        next(iter(dataset))
        dataset.set_epoch(3)
        self.assertEqual(indices_of(dataset), wanted[3])
        dataset.stop()
        other = Dataset(describe(FOLDER, source=SHUFFLED, order="input"))
        other.set_epoch(1)
        self.assertEqual(indices_of(other), wanted[1])
        self.assertEqual(indices_of(other), wanted[2])
        other.stop()

    def test_set_epoch_after_resuming(self):
        """The batches before the state are not of the epoch that begins."""
        line = describe(FOLDER, source=SHUFFLED, order="input")
        dataset = Dataset(line)
        wanted = [indices_of(dataset) for _ in range(2)]
        dataset.set_epoch(0)
        for _ in zip(range(2), dataset):
            pass
        state = dataset.state_dict()
        self.assertEqual(state["batches"], 2)
        for resumed in Dataset(line), dataset:
            resumed.load_state_dict(state)
            resumed.set_epoch(0)
            self.assertEqual(resumed.state_dict()["batches"], 0)
            batches = iter(resumed)
            begun = indices_of(itertools.islice(batches, 3))
            self.assertEqual(begun, wanted[0][:len(begun)])
            self.assertEqual(resumed.state_dict()["batches"], 3)
            del batches
            self.assertEqual(indices_of(resumed), wanted[1])
            resumed.stop()

    def test_state_after_failed_last_items(self):
        folder = make_dataset(8)
        (folder / "zzz").mkdir()
        for i in range(3):
            (folder / "zzz" / f"{i}.jpg").write_text("no picture")
        line = describe(folder, order="input", source="epochs=2")
        first = Dataset(line)
        list(first)
        state = first.state_dict()
        first.stop()
        second = Dataset(line)
        second.load_state_dict(state)
        # The end of the epoch may already be known.
        while second.epoch == 0:
            self.assertEqual(list(second), [])
        self.assertEqual([len(b["labels"]) for b in second], [8])
        self.assertEqual(second.epoch, 2)
        second.stop()

    def test_ranks_of_the_description(self):
        dataset = Dataset(describe(
            FOLDER, source="rank=1 world-size=3", order="input"))
        self.assertEqual(indices_of(dataset), ALL[1::3])
        dataset.stop()


LOAD_PART = """
import sys
import torch, torch.distributed
from gstspdl.torch import Dataset
line, folder, rank = sys.argv[1:]
torch.distributed.init_process_group(
    "gloo", init_method=f"file://{folder}/meet", rank=int(rank), world_size=3)
dataset = Dataset(line)
torch.save([[i for batch in dataset for i in batch["indices"].tolist()]
            for _ in range(2)], f"{folder}/{rank}")
dataset.stop()
torch.distributed.barrier()
"""


class DistributedTest(unittest.TestCase):
    @unittest.skipUnless(torch.distributed.is_available()
                         and torch.distributed.is_gloo_available(),
                         "PyTorch is built without it")
    def test_processes_load_their_parts(self):
        with tempfile.TemporaryDirectory() as folder:
            line = describe(FOLDER, source=SHUFFLED)
            with ThreadPoolExecutor(3) as pool:
                done = list(pool.map(lambda rank: run_python(
                    LOAD_PART, line, folder, rank), range(3)))
            self.assertEqual([d.returncode for d in done], [0] * 3, done)
            parts = [torch.load(f"{folder}/{rank}") for rank in range(3)]
        for epoch in range(2):
            self.assertEqual([len(part[epoch]) for part in parts], [10] * 3)
            self.assertEqual(sorted(sum((p[epoch] for p in parts), [])), ALL)


class PageTest(unittest.TestCase):
    """Tests the code in the documentation for users of other loaders."""

    def setUp(self):
        folder = pathlib.Path(__file__).resolve().parents[2] / "docs/reference"
        self.rows = [line for name in ("dataloader-arguments", "spdl-methods")
                     for line in (folder / f"{name}.md").read_text().splitlines()
                     if line.startswith("| ")]

    def test_all_arguments_of_dataloader(self):
        first = "".join(row.split("|")[1] for row in self.rows)
        for name in inspect.signature(DataLoader).parameters:
            with self.subTest(name):
                self.assertIn(f"`{name}`", first)

    @needs_gi
    def test_documented_properties_exist(self):
        Gst, _ = require_gi()
        # Names of arguments, and a property of videoflip.
        known = {"source", "device", "process", "video-direction"}
        for recipe in gstspdl.image_folder, gstspdl.image_list:
            known |= {name.replace("_", "-")
                      for name in inspect.signature(recipe).parameters}
        for name in ("spdlsrc", "spdlaggregate", "spdlfetch", "spdldecode",
                     "spdlbatch", "spdlmix", "spdlsink"):
            element = Gst.ElementFactory.make(name)
            known |= {prop.name for prop in element.list_properties()}
        named = {name.replace("_", "-") for row in self.rows
                 for code in re.findall("`[^`]*`", row.split("|")[2])
                 for name in re.findall(r"(?<![\w-])([a-z_-]+)=", code)}
        self.assertEqual(named - known, set())
        self.assertGreater(len(named), 15)


if __name__ == "__main__":
    unittest.main()
