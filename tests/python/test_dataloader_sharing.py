#!/usr/bin/python3
# gst-spdl: tests of what datasets of gstspdl.torch.DataLoader share with the trainer
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import multiprocessing
import os
import pickle
import sys
import tempfile
import unittest
import unittest.mock

from support import HERE, check_python

import dataloader_sets as sets
import numpy as np
from dataloader_support import Case, a_thread, flatten
import torch

from gstspdl.torch import DataLoader

SPAWNS = "spawn", "forkserver"
# A program with one thread, which is forked.
_PROGRAM = """
import multiprocessing, sys, warnings; sys.path[:0] = sys.argv[1:]
import dataloader_sets as sets
from dataloader_support import a_thread, flatten
from gstspdl.torch import DataLoader
"""


def load(data, **arguments):
    """The only item."""
    item, = DataLoader(data, num_workers=1, collate_fn=sets.first, **arguments)
    return item


class SharedTest(Case):
    def run_program(self, code):
        return check_python(_PROGRAM + code, HERE)

    def test_tensors(self):
        for context in (None, "fork", *SPAWNS):
            for persistent in False, True:
                for thread in contextlib.nullcontext, a_thread:
                    with self.subTest((context, persistent, thread)), thread():
                        self.check_tensors(multiprocessing_context=context,
                                           persistent_workers=persistent)

    def check_tensors(self, **arguments):
        data = sets.Told()
        loader = DataLoader(data, num_workers=1, **arguments)
        found = []
        for epoch in range(3):
            data.epoch.fill_(epoch)
            found.append(set(flatten(loader)))
        self.assertEqual(found, [{0}, {1}, {2}])
        self.assertEqual(data.counts.tolist(), [18, 0])

    def test_without_cloudpickle(self):
        with unittest.mock.patch.dict(sys.modules, cloudpickle=None):
            for context in (None, *SPAWNS):
                with self.subTest(context), a_thread():
                    self.check_tensors(multiprocessing_context=context)
            with a_thread(), self.assertRaisesRegex(
                    pickle.PicklingError, "worker_init_fn.*cloudpickle"):
                load(sets.Numbers(1), worker_init_fn=lambda number: None)

    def check_objects(self, context, **arguments):
        data = sets.Connected(context)
        data.parts["event"].set()
        data.parts["settings"] = {}
        for epoch in range(1, 3):
            self.assertEqual(flatten(DataLoader(data, num_workers=2,
                                                **arguments)), [0, 1, 2])
            self.assertEqual(data.parts["value"].value, 3 * epoch)
            self.assertEqual(data.parts["array"][:], [0, 1, 2])
            self.assertEqual(sorted(data.parts["queue"].get()
                                    for _ in range(3)), [0, 1, 2])

    def test_objects(self):
        for name in SPAWNS:
            for thread in contextlib.nullcontext, a_thread:
                for argument in name, None:
                    with self.subTest((name, thread, argument)), thread():
                        self.check_objects(multiprocessing.get_context(name),
                                           multiprocessing_context=argument)

    def test_manager(self):
        with multiprocessing.get_context("spawn").Manager() as manager, (
                a_thread()):
            data = sets.Holding(lambda data: data.shared.update(a=1),
                                shared=manager.dict())
            load(data)
            self.assertEqual(dict(data.shared), {"a": 1})

    def test_objects_and_a_fork(self):
        found = self.run_program("""
data = sets.Connected(multiprocessing.get_context("fork"))
data.parts["event"].set()
print(flatten(DataLoader(data, num_workers=2)), data.parts["value"].value,
      sorted(data.parts["queue"].get() for _ in range(3)))
""")
        self.assertEqual(found, "[0, 1, 2] 3 [0, 1, 2]\n")

    def test_objects_that_need_a_fork(self):
        """The error names the part."""
        data = sets.Connected(multiprocessing.get_context("fork"))
        with a_thread(), self.assertRaisesRegex(
                pickle.PicklingError, r"dataset\.parts\['value'\].*'fork'"):
            iter(DataLoader(data, num_workers=1))

    def test_cuda(self):
        if not torch.cuda.is_available():
            self.skipTest("needs a GPU")
        data = sets.Holding(sets.see_views, weight=torch.ones(2, device="cuda"))
        with self.assertRaisesRegex(pickle.PicklingError,
                                    r"dataset\.weight.*CUDA"):
            iter(DataLoader(data, num_workers=1))

    def test_dataset_is_not_pickled_for_a_fork(self):
        """It need not be picklable. Once the program has threads, its workers
        have it as it was, and a warning says so."""
        found = self.run_program("""
data = sets.Locked()
loader = DataLoader(data, num_workers=1)
print(len(flatten(loader)))
with a_thread(), warnings.catch_warnings(record=True) as caught:
    print(len(flatten(loader)), "dataset.lock" in str(caught[0].message))
""")
        self.assertEqual(found, "37\n37 True\n")


class ContentTest(Case):
    """Content that a dataset does not share, in a program with threads."""

    def setUp(self):
        self.enterContext(a_thread())

    def test_changes(self):
        """Workers keep theirs, and see the trainer's in the next epoch. An
        unchanged dataset stays in its process."""
        data = sets.Holding(sets.write_and_sum, tensor=torch.zeros(5000),
                            array=np.zeros(5000, int), list=[1])
        for context in None, "spawn":
            data.tensor = torch.zeros(5000)
            data.array[:] = 0
            loader = DataLoader(data, num_workers=1, batch_size=None,
                                multiprocessing_context=context)
            parents = []
            tensor = 0
            for change in ((0, 0), (0, 0), (1, 0), (0, 1)):
                data.tensor[9] += change[0]
                data.array[-1] += change[1]
                (found, parent), = loader
                if context is None:
                    self.assertEqual(int(data.tensor.sum()), tensor + change[0])
                    tensor += change[0]
                self.assertEqual(found[1], int(data.array.sum()))
                parents.append(parent)
            self.assertEqual(len(set(parents)), 3 if context is None else 2)
            self.assertEqual(parents[0], parents[1])

    def test_views(self):
        for context in None, "spawn":
            table = torch.zeros(3, 2).t()
            data = sets.Holding(
                sets.see_views, table=table, row=table[1], empty=torch.empty(
                    0, 2), parameter=torch.nn.Parameter(torch.ones(3)),
                half=torch.ones(4000, dtype=torch.bfloat16)[:2],
                sparse=torch.eye(2).to_sparse())
            self.assertEqual(load(data, multiprocessing_context=context), (
                (1, 2), 5.0, "Parameter", (0, 2), [1.0, 1.0],
                [[1.0, 0.0], [0.0, 1.0]]))
            self.assertEqual(float(table[1, 0]), 0 if context is None else 5)


class MappedFileTest(Case):
    """np.memmap in a program with threads."""

    def setUp(self):
        self.enterContext(a_thread())
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.file = os.path.join(folder, "numbers")
        np.arange(3000, dtype=np.int32).tofile(self.file)

    def map(self, mode, **arguments):
        return np.memmap(self.file, np.int32, mode, **arguments)

    def check(self, is_mapped, *arrays, is_writable=False):
        data = sets.Holding(sets.describe_arrays, name=self.file, arrays=arrays)
        self.assertEqual(load(data), (is_mapped, [
            (type(array).__name__, is_writable, array.tolist())
            for array in arrays]))

    def test_files_are_mapped_again(self):
        array = self.map("r")
        later = self.map("r", offset=4400, shape=(10, 7))
        self.check(True, array, array[5:10], array[::-3], later, later.T,
                   np.asarray(array)[1:4], array.reshape(-1, 10)[2:, 3])

    def test_changes_reach_the_file(self):
        load(sets.Holding(sets.write_arrays, arrays=[self.map("r+")[100:]]))
        self.assertEqual(self.map("r")[100], 77)

    def test_private_copies(self):
        array = self.map("c")
        array[5] = 99
        self.check(False, array, is_writable=True)

    def test_deleted_files(self):
        array = self.map("r")
        os.unlink(self.file)
        self.check(False, array, is_writable=True)

    def test_replaced_files(self):
        array = self.map("r")
        os.rename(self.file, self.file + ".old")
        np.zeros(3000, dtype=np.int32).tofile(self.file)
        self.check(True, array)


if __name__ == "__main__":
    unittest.main()
