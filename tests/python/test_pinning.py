#!/usr/bin/python3
# gst-spdl: tests of pin_memory of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No accelerator is needed: batches have their own pin_memory(), which both loaders
call. The first argument is tools/make-dataset."""

import contextlib
import gc
import os
import random
import signal
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

from support import HERE, check_python, wait_until
from worker_processes import workers

import dataloader_sets as sets
from dataloader_support import Case, flatten, interrupt_in, is_same
import torch
from torch.utils.data import DataLoader as Reference

from gstspdl.torch import DataLoader

N = sets.N


@contextlib.contextmanager
def accelerator():
    """PyTorch finds an accelerator meanwhile."""
    values = {"torch.cuda.is_available": True, "torch.cuda.current_device": 0,
              "torch.cuda.set_device": None}
    if hasattr(torch, "accelerator"):
        values.update({"torch.accelerator.is_available": True,
                       "torch.accelerator.current_accelerator":
                       torch.device("cuda"),
                       "torch.accelerator.current_device_index": 0,
                       "torch.accelerator.set_device_index": None})
    with contextlib.ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(mock.patch(name, return_value=value))
        yield


def pinning_threads():
    return [thread for thread in threading.enumerate()
            if thread.name == "spdl-pin"]


def make(kind=DataLoader, dataset=None, **arguments):
    return kind(dataset or sets.Numbers(12), pin_memory=True,
                collate_fn=sets.Pinnable, **{"batch_size": 3, **arguments})


def items_of(batches):
    return [int(i) for batch in batches for i in batch.items]


class Pinned(Case):
    def setUp(self):
        stack = contextlib.ExitStack()
        stack.enter_context(accelerator())
        self.addCleanup(stack.close)
        self.addCleanup(self.check_end)

    def check_end(self):
        gc.collect()
        wait_until(lambda: not pinning_threads())
        wait_until(lambda: not workers())


class PinningTest(Pinned):
    def test_order(self):
        for arguments in ({}, {"persistent_workers": True},
                          {"prefetch_factor": 1},
                          {"dataset": sets.Sharded(12)},
                          {"dataset": sets.Sharded(12, (3, 9, 0))},
                          {"sampler": [5, 1, 8, 8]}):
            for n in 1, 2, 3:
                found = []
                for kind in Reference, DataLoader:
                    loader = make(kind, num_workers=n, **arguments)
                    batches = [list(loader) for _ in range(2)]
                    found.append([[batch.items for batch in epoch]
                                  for epoch in batches])
                    threads = {tuple(batch.threads) for epoch in batches
                               for batch in epoch}
                    self.assertNotIn((threading.get_ident(),), threads)
                    self.assertEqual({len(one) for one in threads}, {1})
                    del loader
                self.assertEqual(*found)
                self.assertEqual(pinning_threads(), [])

    def test_no_worker(self):
        for kind in Reference, DataLoader:
            for batch in make(kind):
                self.assertEqual(batch.threads, [threading.get_ident()])

    def test_ahead(self):
        """All batches that workers may fetch ahead are pinned ahead."""
        iterator = iter(make(num_workers=1, prefetch_factor=3))
        next(iterator)
        pinned = iterator._pool._ready
        wait_until(lambda: len(pinned) == 3)
        self.assertEqual(items_of(iterator), list(range(3, 12)))

    def test_out_of_order(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "go")
            iterator = iter(make(dataset=sets.Waiting(0, file), num_workers=2,
                                 in_order=False, batch_size=1))
            first = next(iterator).items
            self.assertNotEqual(first, [0])
            open(file, "x").close()
            found = self.read_all(iterator)
        self.assertEqual(len(found), N - 1)
        self.assertIn([0], found)

    def read_all(self, loader):
        """The items of batches, and the errors."""
        iterator = iter(loader)
        found = []
        while True:
            try:
                found.append(next(iterator).items)
            except StopIteration:
                return found
            except Exception as error:
                lines = str(error).split("\n")
                found.append((type(error), lines[0], lines[-2]))

    def test_errors(self):
        """An error costs its batch."""
        for dataset, place in ((sets.Numbers(20), "pin memory thread"),
                               (sets.Failing(KeyError, "12"), "worker")):
            found = [self.read_all(make(kind, dataset, num_workers=2))
                     for kind in (Reference, DataLoader)]
            self.assertEqual(*found)
            self.assertIn(place, found[0][4][1])

    def test_result_that_cannot_be_unpickled(self):
        """The error costs its batch."""
        iterator = iter(DataLoader(sets.GivesUnloadable(), num_workers=2,
                                   batch_size=None, pin_memory=True))
        self.assertEqual([next(iterator) for _ in range(12)], list(range(12)))
        with self.assertRaisesRegex(RuntimeError, "cannot be unpickled"):
            next(iterator)
        self.assertEqual(list(iterator), list(range(13, N)))

    def test_timeout(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "go")
            iterator = iter(make(dataset=sets.Waiting(6, file), num_workers=1,
                                 timeout=2))
            self.assertEqual(items_of(next(iterator) for _ in range(2)),
                             list(range(6)))
            with self.assertRaisesRegex(RuntimeError, "timed out after 2 s"):
                next(iterator)
            open(file, "x").close()
            self.assertEqual(next(iterator).items, [6, 7, 8])

    def test_interrupt(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "go")
            iterator = iter(make(dataset=sets.Waiting(3, file), num_workers=1))
            next(iterator)
            with self.assertRaises(KeyboardInterrupt):
                interrupt_in("__next__")
                next(iterator)
            open(file, "x").close()
            self.assertEqual(next(iterator).items, [3, 4, 5])

    def test_states(self):
        """A state does not have the batches that were only pinned."""
        for kind, size in ((sets.Numbers, 2), (sets.Sharded, 2),
                           (sets.Stateful, 3)):
            def loader(kind=kind, size=size):
                return DataLoader(kind(), pin_memory=True, num_workers=2,
                                  batch_size=size, collate_fn=sets.as_list)

            expected = list(loader())
            for n in 0, 1, 5:
                first, second = loader(), loader()
                iterator = iter(first)
                begun = [next(iterator) for _ in range(n)]
                pinned = iterator._pool._ready
                wait_until(lambda: len(pinned) == 4)
                second.load_state_dict(first.state_dict())
                self.assertTrue(is_same(begun + list(second), expected))


    def test_loading_a_state(self):
        """The iterator in use goes on."""
        for persistent in False, True:
            loader = make(num_workers=2, persistent_workers=persistent,
                          batch_size=1)
            iterator = iter(loader)
            next(iterator)
            loader.load_state_dict(loader.state_dict())
            self.assertEqual(items_of(loader), list(range(1, 12)))
            self.assertEqual(items_of(iterator), list(range(1, 12)))


class EndTest(Pinned):
    def test_left(self):
        """Any iterator may be dropped, and none leaves a descriptor."""
        # With a thread, the interpreter starts that all loaders share.
        ended = threading.Event()
        thread = threading.Thread(target=ended.wait)
        thread.start()
        list(make(num_workers=1))
        ended.set()
        thread.join()
        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        for n in range(5):
            for persistent in False, True:
                loader = make(num_workers=2, persistent_workers=persistent)
                for _ in range(2):
                    iterator = iter(loader)
                    for _ in range(n):
                        with contextlib.suppress(StopIteration):
                            next(iterator)
                self.assertEqual(items_of(loader), list(range(12)))
                del loader, iterator
                self.check_end()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_thread_that_frees(self):
        """A thread may free its own iterator, and others with a thread."""
        for _ in range(3):
            for n in range(2):
                sets.held.append(iter(DataLoader(
                    sets.Slow(0.1, only=0), num_workers=1, pin_memory=True,
                    collate_fn=sets.Freeing)))
            wait_until(lambda: not sets.held)
            self.check_end()

    def test_killed_worker(self):
        for times in 1, 2:
            with tempfile.TemporaryDirectory() as folder:
                iterator = iter(DataLoader(
                    sets.Killing(folder, times), num_workers=2, batch_size=4,
                    pin_memory=True, collate_fn=sets.as_list))
                if times == 1:
                    self.assertEqual(flatten(iterator), list(range(N)))
                    continue
                self.assertEqual(flatten(next(iterator) for _ in range(3)),
                                 list(range(12)))
                for _ in range(2):
                    with self.assertRaisesRegex(RuntimeError, "signal 9"):
                        next(iterator)

    def test_persistent_after_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            loader = DataLoader(sets.Killing(folder, 2), num_workers=1,
                                persistent_workers=True, pin_memory=True,
                                collate_fn=sets.as_list)
            with self.assertRaises(RuntimeError):
                list(loader)
            self.assertEqual(flatten(loader), list(range(N)))

    def test_killed_at_any_moment(self):
        rng = random.Random(1)
        n_killed = 0
        loader = DataLoader(sets.Slow(0.001, 200), num_workers=3, batch_size=4,
                            pin_memory=True, collate_fn=sets.as_list)
        while n_killed < 20:
            found = []
            for n, batch in enumerate(loader):
                found += flatten([batch])
                pids = workers()
                # A worker that was replaced has an answer before the next kill.
                if pids and n % 10 == 5:
                    time.sleep(rng.random() / 200)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(rng.choice(pids), signal.SIGKILL)
                        n_killed += 1
            self.assertEqual(found, list(range(200)))
        self.assertGreater(loader.stats[0]["num-restarts"], 5)

    def test_forked_child(self):
        for persistent in False, True:
            loader = make(num_workers=1, persistent_workers=persistent)
            iterator = iter(loader)
            next(iterator)
            pid = os.fork()
            if pid == 0:
                try:
                    with self.assertRaises(RuntimeError):
                        next(iterator)
                    del iterator
                    gc.collect()
                    good = items_of(loader) == list(range(12))
                finally:
                    os._exit(0 if good else 1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            self.assertEqual(items_of(iterator), list(range(3, 12)))

    def test_exit(self):
        """A program may end in the middle of an epoch."""
        self.assertEqual(check_python("""
import sys; sys.path[:0] = sys.argv[1:]
sys.argv[1] = ""
import test_pinning as test
with test.accelerator():
    loader = test.make(num_workers=2, prefetch_factor=1)
    iterator = iter(loader)
    print(next(iterator).items)
""", HERE), "[0, 1, 2]\n")


    def test_use_after_exit(self):
        self.assertEqual(check_python("""
import atexit, sys; sys.path[:0] = sys.argv[1:]
sys.argv[1] = ""
def use():
    try:
        for _ in range(20):
            next(iterator)
    except RuntimeError as error:
        print("ended" in str(error))
atexit.register(use)
import test_pinning as test
# Until the end: the thread may set its device later than iter() returns.
accelerator = test.accelerator()
accelerator.__enter__()
iterator = iter(test.make(num_workers=2, dataset=test.sets.Slow(n=60)))
""", HERE), "True\n")


class NoAcceleratorTest(Case):
    @unittest.skipIf(torch.cuda.is_available(), "there is an accelerator")
    def test_warning(self):
        for n in 0, 1:
            found = []
            for kind in Reference, DataLoader:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    batches = list(make(kind, num_workers=n))
                self.assertEqual([batch.threads for batch in batches],
                                 [[]] * 4)
                found.append([(one.category, str(one.message))
                              for one in caught if "pin" in str(one.message)])
            self.assertEqual(*found)


if __name__ == "__main__":
    unittest.main()
