#!/usr/bin/python3
# gst-spdl: tests of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares with PyTorch's DataLoader where both do the same. The first argument is
tools/make-dataset. docs/reference/dataloader-behaviour.md lists the cases."""

import contextlib
import gc
import os
import pickle
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

from support import (HERE, check_python, make_dataset, run_python, slow_or,
                     wait_until, wait_until_asleep)
from worker_processes import descendants, parent_of, workers

import dataloader_sets as sets
from dataloader_support import (Case, a_thread, flatten, interrupt_in, is_same,
                                seed)
import torch
from torch.utils.data import (DataLoader as Reference, DistributedSampler,
                              RandomSampler, SequentialSampler,
                              SubsetRandomSampler, WeightedRandomSampler,
                              get_worker_info)

import gstspdl
from gstspdl._dataloader.stats import Numbers
from gstspdl.torch import DataLoader

N = sets.N
IMAGES = 24


class OrderTest(Case):
    """Batches are equal for equal seeds."""

    def test_sequential(self):
        self.compare(lambda: {"dataset": sets.Mixed(), "batch_size": 5})

    def test_shuffle(self):
        self.compare(lambda: {"dataset": sets.Mixed(), "batch_size": 5,
                              "shuffle": True})

    def test_generator(self):
        self.compare(lambda: {
            "dataset": sets.Mixed(), "batch_size": 5, "shuffle": True,
            "generator": torch.Generator().manual_seed(7)})

    def test_drop_last(self):
        self.compare(lambda: {"dataset": sets.Mixed(), "batch_size": 5,
                              "drop_last": True})

    def test_no_batches(self):
        self.compare(lambda: {"dataset": sets.Mixed(), "batch_size": None})

    def test_no_batches_and_collate(self):
        self.compare(lambda: {"dataset": sets.Numbers(), "batch_size": None,
                              "collate_fn": str})

    def test_samplers(self):
        data = sets.Numbers()
        for make in (lambda: SequentialSampler(data),
                     lambda: RandomSampler(data),
                     lambda: RandomSampler(data, replacement=True,
                                           num_samples=50),
                     lambda: RandomSampler(
                         data, generator=torch.Generator().manual_seed(4)),
                     lambda: SubsetRandomSampler(range(3, 20)),
                     lambda: WeightedRandomSampler(range(N), 30),
                     lambda: DistributedSampler(data, 3, 1),
                     lambda: [5, 3, 5, 1],
                     lambda: sets.StatefulSampler(N)):
            self.compare(lambda make=make: {"dataset": data, "batch_size": 4,
                                            "sampler": make()}, numbers=(0, 2))

    def test_batch_samplers(self):
        for make in (sets.BatchesOf, lambda: [[1, 2], [3], [4, 5, 6]]):
            self.compare(lambda make=make: {"dataset": sets.Numbers(),
                                            "batch_sampler": make()},
                         numbers=(0, 2))

    def test_getitems(self):
        self.compare(lambda: {"dataset": sets.Whole(), "batch_size": 4},
                     numbers=(0, 2))

    def test_plain_datasets(self):
        self.compare(lambda: {"dataset": sets.Plain(), "batch_size": 2})
        self.compare(lambda: {"dataset": list(range(9)), "batch_size": 2})
        self.compare(lambda: {"dataset": torch.utils.data.TensorDataset(
            torch.arange(12).view(6, 2), torch.arange(6))})
        self.compare(lambda: {"dataset": torch.utils.data.ConcatDataset(
            [sets.Numbers(3), sets.Numbers(4)])})
        self.compare(lambda: {"dataset": torch.utils.data.Subset(
            sets.Numbers(), [4, 2])})

    def test_collate(self):
        self.compare(lambda: {"dataset": sets.Numbers(), "batch_size": 4,
                              "collate_fn": sets.as_list})

    def test_images(self):
        try:
            from torchvision import transforms
            from torchvision.datasets import ImageFolder
        except ImportError:
            self.skipTest("needs torchvision")
        folder = make_dataset(IMAGES)
        data = ImageFolder(folder, transforms.Compose([
            transforms.RandomResizedCrop(32), transforms.RandomHorizontalFlip(),
            transforms.ToTensor()]))
        for shuffle in False, True:
            self.compare(lambda shuffle=shuffle: {
                "dataset": data, "batch_size": 5, "shuffle": shuffle})

    def test_empty(self):
        self.assertEqual(list(DataLoader(sets.Numbers(0), num_workers=2)), [])
        self.assertEqual(list(DataLoader([], num_workers=0)), [])

    def test_more_workers_than_batches(self):
        self.compare(lambda: {"dataset": sets.Numbers(3), "batch_size": 2},
                     numbers=(3,))

    def test_prefetch_factor(self):
        for factor in 1, 5, 1000:
            self.compare(lambda factor=factor: {
                "dataset": sets.Mixed(), "prefetch_factor": factor},
                numbers=(2,))

    def test_persistent_workers(self):
        self.compare(lambda: {"dataset": sets.Mixed(), "shuffle": True,
                              "persistent_workers": True}, 3, (1, 2))
        self.compare(lambda: {"dataset": sets.Sharded(), "batch_size": 4,
                              "persistent_workers": True}, 3, (1, 2))

    def test_out_of_order(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "go")
            batches = iter(DataLoader(sets.Waiting(0, file), num_workers=2,
                                      in_order=False))
            first = int(next(batches))
            self.assertNotEqual(first, 0)
            open(file, "x").close()
            self.assertEqual(sorted([first, *flatten(batches)]),
                             list(range(N)))

    def test_subscript(self):
        """Annotations name the type of the batches."""
        self.assertEqual(DataLoader[int].__origin__, DataLoader)
        self.assertEqual(list(DataLoader[int]([1], batch_size=None)), [1])

    def test_len(self):
        for arguments in ({"batch_size": 5}, {"batch_size": 5,
                                              "drop_last": True},
                          {"batch_size": None}, {"sampler": [1, 2]},
                          {"batch_sampler": sets.BatchesOf()}):
            self.assertEqual(len(DataLoader(sets.Numbers(), **arguments)),
                             len(Reference(sets.Numbers(), **arguments)))
        with self.assertRaises(TypeError):
            len(DataLoader(sets.Sharded()))


class IterableTest(Case):
    def test_sharded(self):
        for size in 1, 4, None:
            self.compare(lambda size=size: {"dataset": sets.Sharded(),
                                            "batch_size": size})

    def test_drop_last(self):
        self.compare(lambda: {"dataset": sets.Sharded(), "batch_size": 4,
                              "drop_last": True})

    def test_workers_end_at_different_times(self):
        for sizes, *factors in ((3, 10, 1), 1, 2, 4), ((0, 0, 9), 2, 1, 4), (
                (12, 1, 5), 4, 1, 2):
            for factor in factors[:slow_or(3, 1)]:
                self.compare(lambda sizes=sizes, factor=factor: {
                    "dataset": sets.Sharded(100, sizes), "batch_size": 2,
                    "prefetch_factor": factor}, numbers=(3,))

    def test_one_worker_has_all(self):
        """Its requests and batches fit into its sockets."""
        loader = DataLoader(sets.Sharded(8 * 1500, [1500] + [0] * 7),
                            num_workers=8, prefetch_factor=100)
        self.assertEqual(flatten(loader), list(range(0, 8 * 1500, 8)))

    def test_each_worker_has_all(self):
        self.compare(lambda: {"dataset": sets.Unsharded(), "batch_size": 3})

    def test_random_numbers(self):
        self.compare(lambda: {"dataset": sets.RandomItems(), "batch_size": 3})

    def test_length_warning(self):
        for loader in Reference, DataLoader:
            made = loader(sets.Sized(), num_workers=2)
            self.assertEqual(len(made), 4)
            with self.assertWarnsRegex(UserWarning, "Length of Iterable"):
                list(made)


class WorkerTest(Case):
    def read(self, **arguments):
        data = arguments.pop("dataset", None) or sets.Informed()
        loader = DataLoader(data, batch_size=None, **arguments)
        return loader, [list(loader) for _ in range(2)]

    def test_info(self):
        self.assertIsNone(get_worker_info())
        _, (items, _) = self.read(num_workers=2)
        for i, (number, n, _, pid, threads, _) in enumerate(items):
            self.assertEqual((number, n, threads), (i % 2, 2, 1))
            self.assertNotEqual(pid, os.getpid())
        self.assertEqual(len({item[3] for item in items}), 2)
        seeds = {item[0]: item[2] for item in items}
        self.assertEqual(seeds[1], seeds[0] + 1)
        self.assertIsNone(get_worker_info())

    def test_no_worker(self):
        _, (items, _) = self.read(num_workers=0)
        self.assertEqual({item[3] for item in items}, {os.getpid()})

    def test_seeds(self):
        self.compare(lambda: {"dataset": sets.Informed(), "batch_size": None,
                              "collate_fn": sets.as_list}, numbers=())
        found = []
        for loader in Reference, DataLoader:
            seed()
            made = loader(sets.Informed(), batch_size=None, num_workers=2)
            found.append([[item[2] for item in made] for _ in range(2)])
        self.assertEqual(*found)
        self.assertNotEqual(found[0][0], found[0][1])

    def test_init_fn(self):
        _, (items, _) = self.read(num_workers=2,
                                  worker_init_fn=sets.set_value)
        self.assertEqual([item[5] for item in items],
                         [100 + i % 2 for i in range(N)])

    def test_each_epoch_has_new_workers(self):
        loader, (one, two) = self.read(num_workers=2)
        self.assertFalse({item[3] for item in one} & {item[3] for item in two})
        wait_until(lambda: not workers())
        del loader

    def test_persistent_workers_stay(self):
        loader, (one, two) = self.read(num_workers=2, persistent_workers=True)
        self.assertEqual({item[3] for item in one}, {item[3] for item in two})
        self.assertEqual(len(workers()), 2)
        for item in loader:  # and after a `break`
            break
        self.assertEqual({item[3] for item in loader},
                         {item[3] for item in one})
        del loader
        gc.collect()
        wait_until(lambda: not workers())

    def test_state_of_datasets(self):
        for persistent, second in (False, 1), (True, 21):
            loader = DataLoader(sets.Counting(), num_workers=2,
                                persistent_workers=persistent)
            self.assertEqual(flatten(loader)[::2], list(range(1, 20)))
            found = flatten(loader)[::2]
            self.assertEqual(found[0] > 1, persistent)

    def test_changed_dataset(self):
        data = sets.Informed()
        loader = DataLoader(data, batch_size=None, num_workers=1)
        self.assertEqual(next(iter(loader))[5], 0)
        data.value = 5
        self.assertEqual(next(iter(loader))[5], 5)

    def test_prefetch(self):
        """Workers are at most prefetch_factor batches ahead."""
        with tempfile.TemporaryDirectory() as folder:
            loader = DataLoader(sets.Marking(folder), num_workers=2,
                                prefetch_factor=3)
            iterator = iter(loader)
            next(iterator)
            wait_until(lambda: len(os.listdir(folder)) == 7)
            wait_until_asleep(os.getpid(), *workers())
            self.assertEqual(len(os.listdir(folder)), 7)

    def test_output(self):
        done = run_python("""
import sys; sys.path[:0] = sys.argv[1:]
import dataloader_sets as sets
from gstspdl.torch import DataLoader
list(DataLoader(sets.Numbers(), num_workers=2, worker_init_fn=sets.print_number))
""", HERE)
        self.assertEqual(sorted(done.stdout.split("\n")),
                         ["", "worker 0", "worker 1"], done.stderr)


class ResultTest(Case):
    def test_tensors(self):
        expected = sets.make_tensors()
        for found in DataLoader(sets.Tensors(2), num_workers=1,
                                batch_size=None):
            for one, other in zip(found, expected):
                self.assertEqual(one.dtype, other.dtype)
                self.assertEqual(one.shape, other.shape)
                self.assertEqual(one.layout, other.layout)
                self.assertEqual(one.requires_grad, other.requires_grad)
                self.assertIs(type(one), type(other))
                if one.layout is torch.strided:
                    self.assertTrue(torch.equal(one, other))
                else:
                    self.assertTrue(torch.equal(one.to_dense(),
                                                other.to_dense()))

    def test_strides(self):
        """Results have the memory format that they had in the worker."""
        for name, expected in sets.make_formats().items():
            with self.subTest(name):
                found, = DataLoader(sets.Holding(
                    lambda data, name=name: sets.make_formats()[name]),
                    num_workers=1, batch_size=None)
                self.assertTrue(torch.equal(found, expected))
                if name == "gaps":  # are left out
                    expected = expected.clone()
                self.assertEqual(found.stride(), expected.stride())
        self.assertEqual(found.storage().size(), 1)

    def test_storages(self):
        found = list(DataLoader(sets.Storages(3), num_workers=1,
                                batch_size=None))
        self.assertEqual(len({type(storage) for storage in found}), 1)
        self.assertIs(type(found[0]), type(sets.Storages()[0]))
        self.assertEqual([storage.tolist() for storage in found],
                         [[i] * 3 for i in range(3)])

    def test_no_leaf(self):
        loader = DataLoader(sets.Leafless(), num_workers=1, batch_size=None)
        with self.assertRaisesRegex(RuntimeError, "leaf"):
            list(loader)

    def test_batches_may_be_kept_and_changed(self):
        loader = DataLoader(sets.Large(), num_workers=2, batch_size=2)
        kept = list(loader)
        del loader
        gc.collect()
        self.assertEqual([int(batch[0, 0]) for batch in kept],
                         list(range(0, N, 2)))
        for batch in kept:
            self.assertTrue((batch == batch[:, :1]).all())
            batch += 1
        self.assertEqual([int(batch[0, 0]) for batch in kept],
                         list(range(1, N + 1, 2)))

    def test_memory_is_reused(self):
        loader = DataLoader(sets.Large(), num_workers=1, batch_size=2)
        addresses = {batch.data_ptr() for batch in loader}
        self.assertLess(len(addresses), 8)

    def test_sharing(self):
        """Batches may be pickled and shared again."""
        batch = next(iter(DataLoader(sets.Large(), num_workers=1)))
        self.assertTrue(torch.equal(pickle.loads(pickle.dumps(batch)), batch))
        self.assertTrue(torch.equal(batch.clone().share_memory_(), batch))

    def test_pin_memory(self):
        if torch.cuda.is_available():
            batch = next(iter(DataLoader(sets.Large(), num_workers=1,
                                         pin_memory=True)))
            self.assertTrue(batch.is_pinned())
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assertEqual(flatten(DataLoader(
                    sets.Numbers(), num_workers=1, pin_memory=True)),
                    list(range(N)))


class ErrorTest(Case):
    def catch(self, loader):
        items = []
        try:
            for batch in loader:
                items.append(batch)
        except BaseException as error:  # whatever it is
            return type(error), str(error), items
        self.fail("no error")

    def check(self, **arguments):
        """Type, text and traceback are as PyTorch's."""
        found = []
        for loader in Reference, DataLoader:
            kind, text, items = self.catch(loader(**arguments))
            # The lines of PyTorch's worker loop and of ours.
            text = re.sub(r'  File "[^"]*(worker|_dataloader/fetch)\.py".*\n.*\n'
                          r"( *[\^~]+\n)?", "", text)
            found.append((kind, text, flatten(items)))
        self.assertEqual(*found)
        return found[0]

    def test_getitem(self):
        for error in ((ValueError, "twelve"), (KeyError, "two\nlines"),
                      (sets.Mine,), (sets.Custom, "one", "two"), (IndexError,),
                      (AssertionError,), (OSError, 2, "No such file", "name"),
                      (UnicodeDecodeError, "utf-8", b"\xff", 0, 1, "bad")):
            with self.subTest(error):
                kind, text, _ = self.check(
                    dataset=sets.Failing(*error), num_workers=2, batch_size=4)
                self.assertIn("in DataLoader worker process", text)
                self.assertIn("raise self.kind", text)

    def test_in_the_process(self):
        kind, text, items = self.check(dataset=sets.Failing(ValueError, "12"),
                                       batch_size=4)
        self.assertEqual((kind, text, len(items)), (ValueError, "12", 12))

    def test_collate_fn(self):
        kind, text, _ = self.check(
            dataset=sets.Numbers(), num_workers=2, batch_size=4,
            collate_fn=sets.failing_collate)
        self.assertEqual(kind, KeyError)

    def test_default_collate(self):
        self.check(dataset=[torch.ones(2), torch.ones(3)], num_workers=1,
                   batch_size=2)

    def test_init_fn(self):
        kind, text, _ = self.check(
            dataset=sets.Numbers(), num_workers=2,
            worker_init_fn=sets.failing_init)
        self.assertEqual(kind, ValueError)
        self.assertIn("worker 0", text)

    def test_iterable(self):
        self.check(dataset=sets.FailingIterable(), num_workers=2, batch_size=2)

    def test_memory(self):
        kind, _, _ = self.check(dataset=sets.TooLarge(), num_workers=2)
        self.assertTrue(issubclass(kind, (MemoryError, OverflowError)))

    def test_continues_after_an_error(self):
        found = []
        for loader in Reference, DataLoader:
            iterator = iter(loader(sets.Failing(ValueError, "12"),
                                   num_workers=2, batch_size=4))
            batches = []
            while True:
                try:
                    batches.append(next(iterator))
                except ValueError:
                    batches.append(None)
                except StopIteration:
                    break
            found.append(batches)
        self.assertTrue(is_same(*found), found)

    def test_result_that_cannot_be_pickled(self):
        kind, text, items = self.catch(DataLoader(
            sets.GivesLocks(), num_workers=2, batch_size=None))
        self.assertEqual((kind, len(items)), (TypeError, 12))
        self.assertIn("lock", text)

    def test_result_that_cannot_be_unpickled(self):
        """The error costs its batch."""
        for n in 1, 2:
            loader = DataLoader(sets.GivesUnloadable(), num_workers=n,
                                batch_size=None)
            iterator = iter(loader)
            self.assertEqual([next(iterator) for _ in range(12)],
                             list(range(12)))
            with self.assertRaisesRegex(RuntimeError, "cannot be unpickled"):
                next(iterator)
            self.assertEqual(loader.state_dict()["num_yielded"], 13)
            self.assertEqual(list(iterator), list(range(13, N)))
            self.assertEqual(loader.stats[0]["num-failures"], 1)
            self.assertGreater(loader.stats[0]["cpu-time"], 0)

    def test_index_that_cannot_be_pickled(self):
        """As after an error of the sampler, other batches follow."""
        loader = DataLoader(sets.Numbers(), num_workers=1, batch_size=None,
                            sampler=[*range(6), threading.Lock(), *range(6, N)])
        iterator = iter(loader)
        found = [next(iterator) for _ in range(4)]
        self.assertEqual(found, list(range(4)))
        with self.assertRaisesRegex(TypeError, "lock"):
            next(iterator)
        self.assertEqual(list(iterator), list(range(5, N)))

    def test_dataset_that_cannot_be_pickled(self):
        loader = DataLoader(sets.Locked(), num_workers=1)
        with a_thread():
            kind, text, _ = self.catch(loader)
        self.assertEqual(kind, TypeError)
        self.assertIn("dataset.lock", text)
        # In the process, it need not be.
        self.assertEqual(len(list(DataLoader(sets.Locked()))), N)

    def test_dataset_that_cannot_be_unpickled(self):
        with a_thread():
            kind, text, _ = self.catch(DataLoader(sets.FailsToLoad(),
                                                  num_workers=1))
        self.assertEqual(kind, RuntimeError)
        self.assertIn("this cannot be unpickled", text)

    def test_timeout(self):
        found = []
        for loader in Reference, DataLoader:
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "go")
                batches = iter(loader(sets.Waiting(6, file), num_workers=1,
                                      timeout=2))
                for _ in range(6):
                    next(batches)
                with self.assertRaises(RuntimeError) as raised:
                    next(batches)
                found.append(str(raised.exception))
                open(file, "x").close()
                del batches
        self.assertEqual(*found)

    def refuse(self, loader, data, arguments, later):
        """Returns what happens first, up to the first batch. Texts are only
        those of the constructor: others hold paths or are empty."""
        try:
            made = loader(data, **arguments)
        except Exception as error:
            return "constructor", type(error), str(error)
        try:
            for name, value in later.items():
                setattr(made, name, value)
            batches = iter(made)
        except Exception as error:
            return "iter", type(error)
        try:
            return "batch", flatten([next(batches)])
        except Exception as error:
            return "next", type(error)

    # PyTorch's iterator lacks attributes after an error in its constructor.
    @mock.patch("sys.unraisablehook", lambda _: None)
    def test_wrong_arguments(self):
        """Fails at the same moment with the same type as PyTorch, or not."""
        one, no = {"num_workers": 1}, {}
        rows = [(sets.Numbers(), *row) for row in (
            ({"num_workers": -1}, no), ({"num_workers": "2"}, no),
            ({"num_workers": 1.5}, no), (no, {"num_workers": -1}),
            ({"timeout": -1}, no), ({"timeout": "5"}, no),
            ({"timeout": 5}, no), ({"timeout": 1e-9}, no),
            ({"timeout": float("nan")}, no), ({"timeout": 0.0}, no),
            (no, {"timeout": 5}), (no, {"timeout": -5}),
            ({"prefetch_factor": 3}, no), ({"prefetch_factor": 2}, no),
            ({"prefetch_factor": 0}, no), ({"prefetch_factor": -1}, no),
            ({"prefetch_factor": 0, **one}, no),
            ({"prefetch_factor": -1, **one}, no),
            ({"prefetch_factor": "2", **one}, no),
            ({"prefetch_factor": 1.5, **one}, no),
            (one, {"prefetch_factor": 0}), (one, {"prefetch_factor": -3}),
            ({"persistent_workers": True}, no),
            ({"multiprocessing_context": "fork"}, no),
            (no, {"multiprocessing_context": "fork"}),
            ({"multiprocessing_context": "no", **one}, no),
            ({"multiprocessing_context": 5, **one}, no),
            ({"worker_init_fn": 5}, no), ({"collate_fn": 5}, no),
            ({"batch_size": 0}, no), ({"batch_size": "2"}, no),
            ({"batch_size": 2.0}, no), ({"drop_last": 5}, no),
            ({"batch_size": None, "drop_last": True}, no),
            ({"sampler": [1], "shuffle": True}, no), ({"sampler": 5}, no),
            ({"batch_sampler": 5}, no), ({"batch_sampler": [5]}, no),
            ({"batch_sampler": [[1]], "batch_size": 3}, no),
            ({"batch_sampler": [[1]], "batch_size": None}, no),
            ({"batch_sampler": [[1]], "drop_last": True}, no),
            ({"batch_sampler": [[1]], "shuffle": True}, no),
            ({"batch_sampler": [[1]], "sampler": [1]}, no),
            ({"generator": 5}, no), ({"generator": 5, "shuffle": True}, no),
            ({"nothing": 1}, no))]
        rows += [(sets.Sharded(), row, no) for row in (
            {"timeout": 5}, {"persistent_workers": True}, {"batch_size": 0},
            {"batch_size": None, "drop_last": True}, {"shuffle": True},
            {"shuffle": 5}, {"shuffle": False}, {"sampler": [1]},
            {"batch_sampler": [[1]]})]
        rows += [(5, no, no), (5, one, no), (None, {"shuffle": True}, no),
                 ([], {"shuffle": True}, no), ([], no, no)]
        for row in rows:
            with self.subTest(row):
                self.assertEqual(self.refuse(DataLoader, *row),
                                 self.refuse(Reference, *row))

    def test_attributes_are_fixed(self):
        loader = DataLoader(sets.Numbers())
        for name in "batch_size", "sampler", "dataset", "drop_last":
            with self.assertRaises(ValueError):
                setattr(loader, name, 5)

    def test_interrupt(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "go")
            iterator = iter(DataLoader(sets.Waiting(1, file), num_workers=1))
            next(iterator)
            with self.assertRaises(KeyboardInterrupt):
                interrupt_in("__next__")
                next(iterator)
            open(file, "x").close()
            self.assertEqual(int(next(iterator)), 1)

    def test_interrupt_while_unpickling(self):
        """The batch is there at the next call."""
        iterator = iter(DataLoader(sets.SlowToLoad(), num_workers=2,
                                   batch_size=None))
        self.assertEqual([next(iterator) for _ in range(12)], list(range(12)))
        with self.assertRaises(KeyboardInterrupt):
            interrupt_in("_wait")
            next(iterator)
        self.assertEqual(list(iterator), list(range(12, N)))


# Sets a limit of open files for a process without capabilities, which would lift
# the limit of descriptors on their way.
_LIMIT_FILES = """
import ctypes, resource, sys
sys.path[:0] = sys.argv[2:]
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0),
                         (ctypes.c_uint32 * 6)())
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)
import dataloader_sets as sets
from dataloader_support import flatten
from gstspdl.torch import DataLoader
"""


class FilesTest(Case):
    def run_limited(self, n_files, code):
        return check_python(_LIMIT_FILES + code, n_files, HERE)

    def test_prefetch_factor(self):
        found = self.run_limited(1000, """
loader = DataLoader(sets.Numbers(1500), num_workers=12, prefetch_factor=100)
print(flatten(loader) == list(range(1500)))
""")
        self.assertEqual(found, "True\n")

    def test_other_loaders(self):
        found = self.run_limited(100, """
kept = []
try:
    for _ in range(4):
        kept.append(iter(DataLoader(sets.Slow(5, 100), num_workers=2,
                                    prefetch_factor=80)))
except RuntimeError as error:
    print(len(kept) < 4, "ulimit" in str(error))
""")
        self.assertEqual(found, "True True\n")

    def test_files_on_their_way(self):
        """Other programs of the user may have sent all descriptors that it may
        send."""
        found = self.run_limited(100, """
import socket
first, second = socket.socketpair()
try:
    while True:
        socket.send_fds(first, [b"x"], [0] * 10)
except OSError:
    pass
try:
    list(DataLoader(sets.Numbers(3), num_workers=1))
except RuntimeError as error:
    print("ulimit" in str(error))
""")
        self.assertEqual(found, "True\n")


class DeathTest(Case):
    def test_once(self):
        for persistent in False, True:
            with tempfile.TemporaryDirectory() as folder:
                loader = DataLoader(sets.Killing(folder, 1), num_workers=2,
                                    batch_size=4,
                                    persistent_workers=persistent)
                for _ in range(2):
                    self.assertEqual(flatten(loader), list(range(N)))
                self.assertEqual(loader.stats[0]["num-restarts"], 1)

    def test_twice_at_the_same_batch(self):
        for n in 1, 2:
            with tempfile.TemporaryDirectory() as folder:
                loader = DataLoader(sets.Killing(folder, 2), num_workers=n,
                                    batch_size=4)
                found = []
                with self.assertRaisesRegex(
                        RuntimeError, r"DataLoader worker \(pid\(s\) \d+\) "
                        "exited unexpectedly.*signal 9"):
                    for batch in loader:
                        found += flatten([batch])
                self.assertEqual(found, list(range(12)))
                wait_until(lambda: not workers())
                self.assertEqual(flatten(loader), list(range(N)))

    def test_iterable(self):
        for size in 4, None:
            expected = list(DataLoader(sets.Sharded(), num_workers=2,
                                       batch_size=size))
            with tempfile.TemporaryDirectory() as folder:
                found = list(DataLoader(sets.KillingIterable(folder),
                                        num_workers=2, batch_size=size))
            self.assertTrue(is_same(found, expected), found)

    def test_any_moment(self):
        """Each sample comes once if workers are killed at many moments."""
        n_kills = slow_or(50, 15)
        rng = random.Random(1)
        n_killed = n_epochs = 0
        loader = DataLoader(sets.Slow(0.001, 300), num_workers=3, batch_size=4)
        while n_killed < n_kills:
            found = []
            n_epochs += 1
            for batch in loader:
                found += flatten([batch])
                pids = workers()
                if pids and n_killed < n_kills and rng.random() < 0.2:
                    time.sleep(rng.random() / 200)
                    try:
                        os.kill(rng.choice(pids), signal.SIGKILL)
                        n_killed += 1
                    except ProcessLookupError:
                        pass
            self.assertEqual(found, list(range(300)))
        self.assertGreater(loader.stats[0]["num-restarts"], 0.4 * n_kills)

    def test_idle(self):
        loader = DataLoader(sets.Numbers(), num_workers=2,
                            persistent_workers=True)
        for _ in range(3):
            self.assertEqual(flatten(loader), list(range(N)))
            for pid in workers():
                os.kill(pid, signal.SIGKILL)

    def test_server(self):
        loader = DataLoader(sets.Slow(), num_workers=1)
        iterator = iter(loader)
        next(iterator)
        os.kill(parent_of(workers()[0]), signal.SIGKILL)
        with self.assertRaises(RuntimeError):
            list(iterator)
        del iterator
        self.assertEqual(flatten(loader), list(range(N)))


class StoppedTest(Case):
    """Processes that neither end nor go on."""

    def test_any_moment(self):
        rng = random.Random(2)
        loader = DataLoader(sets.Slow(0.001, 100), num_workers=3, batch_size=4,
                            worker_timeout=0.1)
        found, n_stopped = [], 0
        for batch in loader:
            found += flatten([batch])
            pids = workers()
            if pids and n_stopped < 4:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(pids), signal.SIGSTOP)
                    n_stopped += 1
        self.assertEqual(found, list(range(100)))
        self.assertGreater(loader.stats[0]["num-restarts"], 0)

    def test_at_a_batch(self):
        for n in 1, 2:
            with tempfile.TemporaryDirectory() as folder:
                loader = DataLoader(
                    sets.Killing(folder, n, signal.SIGSTOP), num_workers=2,
                    batch_size=4, worker_timeout=0.1)
                if n == 1:
                    self.assertEqual(flatten(loader), list(range(N)))
                    continue
                with self.assertRaisesRegex(
                        RuntimeError, r"DataLoader worker \(pid\(s\) \d+\) "
                        "exited unexpectedly.*worker-timeout"):
                    list(loader)
                wait_until(lambda: not workers())

    def test_busy_workers_stay(self):
        for data in sets.Slow(0.5, 1), sets.Spinning(0.5, 1):
            loader = DataLoader(data, num_workers=1, worker_timeout=0.1)
            self.assertEqual(flatten(loader), [0])
            self.assertEqual(loader.stats[0]["num-restarts"], 0)

    def test_timeout_stays(self):
        """`timeout` is what the trainer waits for a batch."""
        loader = DataLoader(sets.Slow(1000), num_workers=1, timeout=0.2,
                            worker_timeout=0.1)
        with self.assertRaisesRegex(RuntimeError, "timed out after 0.2"):
            list(loader)

    def test_end(self):
        """The end does not wait for the timeout, whatever is stopped."""
        for stops_server in slow_or((False, True), (True,)):
            loader = DataLoader(sets.Slow(), num_workers=2,
                                persistent_workers=True)
            iterator = iter(loader)
            next(iterator)
            pids = workers()
            for pid in pids + [parent_of(pids[0])] * stops_server:
                os.kill(pid, signal.SIGSTOP)
            del loader, iterator
            gc.collect()
            wait_until(lambda: not workers())

    def test_wrong_timeout(self):
        with self.assertRaises(ValueError):
            DataLoader(sets.Numbers(), worker_timeout=-1)


class ProcessTest(Case):
    """Private names of PyTorch that programs use."""

    def test_processes(self):
        loader = DataLoader(sets.Numbers(), num_workers=2,
                            persistent_workers=True)
        iterator = iter(loader)
        processes = list(loader._iterator._workers)
        self.assertEqual(sorted(worker.pid for worker in processes),
                         sorted(workers()))
        for worker in processes:
            self.assertTrue(worker.is_alive())
            self.assertIsNone(worker.exitcode)
            self.assertIn("started", repr(worker))
        begun = time.monotonic()
        processes[0].join(0.01)
        self.assertGreaterEqual(time.monotonic() - begun, 0.01)
        # It is replaced.
        processes[0].kill()
        self.assertEqual(flatten(iterator), list(range(N)))
        self.assertNotEqual(iterator._workers[0].pid, processes[0].pid)
        iterator._shutdown_workers()
        self.assertEqual([worker.exitcode for worker in processes],
                         [-signal.SIGKILL, 0])
        for worker in processes:
            worker.join()
            self.assertFalse(worker.is_alive())
            worker.terminate()  # does nothing

    def test_shutdown(self):
        for persistent in False, True:
            loader = DataLoader(sets.Numbers(), num_workers=2,
                                persistent_workers=persistent)
            for _ in range(2):
                iterator = iter(loader)
                next(iterator)
                iterator._shutdown_workers()
                iterator._shutdown_workers()
                self.assertEqual(workers(), [])
                with self.assertRaisesRegex(RuntimeError, "have ended"):
                    next(iterator)
            self.assertEqual(flatten(loader), list(range(N)))

    def test_exit_of_a_worker(self):
        """It calls functions of atexit, and removes its temporary files."""
        with tempfile.TemporaryDirectory() as folder:
            list(DataLoader(sets.Numbers(), num_workers=2,
                            worker_init_fn=sets.Leaving(folder)))
            wait_until(lambda: not workers())
            for number in "0", "1":
                self.assertTrue(os.path.exists(f"{folder}/{number}"))
                with open(f"{folder}/temporary {number}",
                          encoding="utf-8") as stream:
                    self.assertFalse(os.path.exists(stream.read()))

    def test_modules_that_write_at_exit(self):
        """The interpreter that forks does not finalize modules: libraries
        write what they leak."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.close()
        with theirs:
            done = run_python("""
import os, sys, types
from gstspdl._processes.worker import main
class Leak:
    def __del__(self, write=os.write):
        write(2, b"leak")
sys.modules["leaking"] = types.ModuleType("leaking")
sys.modules["leaking"].leak = Leak()
main(int(sys.argv[1]), ["leaking"])
""", theirs.fileno(), pass_fds=[theirs.fileno()])
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class EndTest(Case):
    def test_nothing_is_left(self):
        list(DataLoader(sets.Numbers(), num_workers=2))
        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        for i in range(4):
            loader = DataLoader(sets.Large(), num_workers=2,
                                persistent_workers=i % 2 == 0)
            iterator = iter(loader)
            batch = next(iterator)
            if i > 1:
                list(iterator)
            del loader, iterator, batch
            gc.collect()
            wait_until(lambda: not workers())
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_two_at_once(self):
        loader = DataLoader(sets.Numbers(6), num_workers=2)
        found = [(int(a), int(b)) for a in loader for b in loader]
        self.assertEqual(found, [(a, b) for a in range(6) for b in range(6)])

    def test_in_a_thread(self):
        found = []
        thread = threading.Thread(target=lambda: found.extend(
            flatten(DataLoader(sets.Numbers(), num_workers=2))))
        thread.start()
        thread.join()
        self.assertEqual(found, list(range(N)))

    def test_in_a_forked_child(self):
        loader = DataLoader(sets.Numbers(), num_workers=1)
        iterator = iter(loader)
        next(iterator)
        pid = os.fork()
        if pid == 0:
            del iterator
            gc.collect()
            good = flatten(loader) == list(range(N))
            os._exit(0 if good else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(flatten(iterator), list(range(1, N)))

    def test_killed_trainer(self):
        code = """
import sys; sys.path[:0] = sys.argv[2:]
import threading, time
import dataloader_sets as sets
from gstspdl.torch import DataLoader
if sys.argv[1] == "thread":
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
iterator = iter(DataLoader(sets.Slow(100), num_workers=2))
print("ready", flush=True)
next(iterator)
"""
        # Workers and their parent; with a thread, its parent.
        for name, n in ("no thread", 3), ("thread", 4):
            with subprocess.Popen(
                    [sys.executable, "-c", code, name,
                     HERE],
                    stdout=subprocess.PIPE, text=True) as trainer:
                self.assertEqual(trainer.stdout.readline(), "ready\n")
                found = descendants(trainer.pid)
                trainer.kill()
                trainer.wait()
            self.assertEqual(len(found), n)
            wait_until(lambda: not any(map(parent_of, found)))

    def test_exit(self):
        """A program may end in the middle of an epoch."""
        self.assertEqual(check_python("""
import sys; sys.path[:0] = sys.argv[1:]
import dataloader_sets as sets
from gstspdl.torch import DataLoader
iterator = iter(DataLoader(sets.Numbers(), num_workers=2))
print(int(next(iterator)))
""", HERE), "0\n")

    def test_use_after_exit(self):
        """Workers end before functions that were registered before them."""
        self.assertEqual(check_python("""
import atexit, sys; sys.path[:0] = sys.argv[1:]
def use():
    try:
        next(iterator)
    except RuntimeError as error:
        print("ended" in str(error))
atexit.register(use)
import dataloader_sets as sets
from gstspdl.torch import DataLoader
iterator = iter(DataLoader(sets.Numbers(), num_workers=2))
""", HERE), "True\n")

    def test_process_of_the_dataset(self):
        """A program with one thread forks it, others start an interpreter.
        NumPy's wheels start further threads, which do not count."""
        for thread, is_forked in ("", True), (
                "threading.Thread(target=time.sleep, args=(1000,), "
                "daemon=True).start()", False):
            done = run_python(f"""
import sys, threading, time; sys.path[:0] = sys.argv[1:]
import dataloader_sets as sets
from gstspdl.torch import DataLoader
sets.mark = "trainer"
{thread}
print("once", end=" ")
for _ in range(2):
    print(list(DataLoader(sets.Marks(), num_workers=1, batch_size=None)))
""", HERE)
            found = ["trainer" if is_forked else "new"]
            self.assertEqual((done.stdout, done.stderr),
                             (f"once {found}\n{found}\n", ""))

    def test_main_module(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("needs cloudpickle")
        done = run_python("""
import collections
from gstspdl.torch import DataLoader
Item = collections.namedtuple("Item", "a b")
class Data:
    def __len__(self):
        return 4
    def __getitem__(self, i):
        if i == 3:
            raise Mine("three")
        return Item(i, offset)
class Mine(Exception):
    pass
offset = 10
print("main")
try:
    for item in DataLoader(Data(), num_workers=2, batch_size=None,
                           collate_fn=lambda item: item):
        print(isinstance(item, Item), item)
except Mine as error:
    print("three" in str(error))
""")
        self.assertEqual(done.stdout, "main\n" + "".join(
            f"True Item(a={i}, b=10)\n" for i in range(3)) + "True\n",
            done.stderr)


class StatsTest(Case):
    def test_stats(self):
        loader = DataLoader(sets.Slow(0.005), num_workers=2, batch_size=4)
        for _ in range(2):
            list(loader)
        stats, = loader.stats
        asleep = 2 * sets.N * 5 * 10**6
        self.assertEqual(stats["num-tasks"], 20)
        self.assertEqual(stats["concurrency"], 2)
        self.assertGreaterEqual(stats["ave-time"], asleep // 20)
        self.assertGreater(stats["cpu-time"], 0)
        self.assertGreater(stats["wait-time"], 0)

        self.assertEqual(stats["num-batches"], 20)
        self.assertGreaterEqual(stats["busy-time"], asleep)
        self.assertGreater(stats["wait-time"], stats["first-wait-time"])
        self.assertGreater(stats["first-wait-time"], 0)

    def judge(self, data, step=0.0, **arguments):
        """`step`: time of a training step on an idle machine. On a busy one,
        batches come late, so a step takes many times what its batch took."""
        loader = DataLoader(data, batch_size=2, **arguments)
        for _ in range(2):
            for i, _ in enumerate(loader):
                if step:
                    wait = time.monotonic() - asked if i > 0 else 0
                    time.sleep(max(step, 30 * wait))
                asked = time.monotonic()
        return loader.verdict()

    def test_verdict(self):
        verdict = self.judge(sets.Numbers(22), 0.1, num_workers=1,
                             persistent_workers=True)
        self.assertEqual(verdict.limit, "consumer")
        self.assertLess(verdict.wait, 0.05)
        verdict = self.judge(sets.Slow(0.005), num_workers=2)
        self.assertEqual(verdict.limit, "waiting")
        self.assertGreater(verdict.wait, 0.5)
        self.assertGreater(verdict.busy, 0.3)
        self.assertEqual(self.judge(sets.Numbers(4)).limit, "too-few")
        self.assertEqual(self.judge(sets.Slow(0.005)).limit, "computing")
        verdict = self.judge(sets.Spinning(), num_workers=1)
        self.assertIn(verdict.limit, ("computing", "cores", "waiting"))
        self.assertIn("%", str(verdict))

    def test_verdict_on_the_transfer(self):
        numbers = Numbers()
        numbers.n_batches, numbers.waited = 100, 10.0
        for time_in_workers, limits in [
                (4.0, ["balanced"]), (16.0, ["cores", "computing"])]:
            numbers.time = numbers.cpu_time = time_in_workers
            self.assertIn(numbers.judge(2).limit, limits)

    def test_headspace(self):
        loader = DataLoader(sets.Slow(0.005), num_workers=1, batch_size=4)
        found = gstspdl.headspace(loader, lambda batch: None, rounds=1,
                                  batches=5)
        self.assertEqual(found.advice, "worth-it")


if __name__ == "__main__":
    unittest.main()
