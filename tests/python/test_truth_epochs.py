#!/usr/bin/python3
# gst-spdl: tests that no iterator loses batches in silence
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import collections
import functools
import gc
import importlib.util
import itertools
import threading
import unittest
import unittest.mock

import numpy as np
from errors import raises_with
from support import describe, make_dataset

from gstspdl import (CacheLoader, Loader, LoaderError, LoaderWarning,
                     merge_states, reshard_states)
from gstspdl._native import library as native

N_ITEMS = 20
FOLDER = make_dataset(N_ITEMS)
LINE = describe(FOLDER, source="shuffle=true seed=4", order="input")
ARRAYS = "spdlbatch batch-size=8 ! spdlsink"
VALUES = [np.full(2, i, "uint8") for i in range(N_ITEMS)]
# spdlmix knows no length.
MIXED = ("spdlmix name=mix ! spdlbatch batch-size=8 ! spdlsink  "
         f"spdlsrc location={FOLDER} ! spdlfetch ! spdldecode width=8 height=8 "
         "! mix.")
Start = collections.namedtuple("Start", "epoch is_beginning num_batches")
HAS_TORCH = importlib.util.find_spec("torch") is not None


def make_torch():
    from gstspdl.torch import Dataset

    return Dataset(LINE, device="cpu")


class Wrapped:
    """torch.utils.data.DataLoader of a Dataset."""

    def __init__(self):
        from torch.utils.data import DataLoader

        self.dataset = make_torch()
        self._loader = DataLoader(self.dataset, batch_size=None)

    def __iter__(self):
        return iter(self._loader)

    def stop(self):
        self.dataset.stop()


LOADERS = {
    "line": lambda: Loader(LINE),
    "process": lambda: Loader(LINE, process=True),
    "source": lambda: Loader(ARRAYS, source=VALUES),
    "mix": lambda: Loader(MIXED),
    **({"dataset": make_torch, "dataloader": Wrapped} if HAS_TORCH else {}),
}


def for_each(*names):
    """Runs a test with a loader of each kind."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for name in names or LOADERS:
                loader = LOADERS[name]()
                with self.subTest(name):
                    test(self, loader)
                loader.stop()
        return run
    return decorate


class OutdatedTest(unittest.TestCase):
    """Two iterators of one loader."""

    def check(self, take, loader):
        with raises_with("outdated"):
            take(loader)

    @for_each()
    def test_zip(self, loader):
        self.check(lambda loader: list(zip(loader, loader)), loader)

    @for_each()
    def test_enumerate(self, loader):
        self.check(lambda loader: list(zip(enumerate(loader),
                                           enumerate(loader))), loader)

    @for_each()
    def test_look_at_a_batch(self, loader):
        def train(loader):
            for _ in loader:
                next(iter(loader))
        self.check(train, loader)

    @for_each()
    def test_nested_loops(self, loader):
        def train(loader):
            for _ in loader:
                self.assertEqual(len(list(loader)), 3)
        self.check(train, loader)

    # Only iter() of a Loader begins an epoch, not that of a generator.
    @for_each("line", "source", "mix")
    def test_iterator_without_a_step(self, loader):
        def train(loader):
            first = iter(loader)
            self.assertEqual(len(list(loader)), 3)
            next(first)
        self.check(train, loader)

    def test_start_again(self):
        with Loader(LINE) as loader:
            batches = iter(loader)
            next(batches)
            loader.stop()
            loader.start()
            with raises_with("outdated"):
                next(batches)
            self.assertEqual(len(list(loader)), 3)

    def test_stream(self):
        """The items of an iterator have no epochs, but one reader."""
        with Loader(ARRAYS, source=iter(VALUES)) as loader:
            first = iter(loader)
            taken = [next(first)]
            taken += loader
            self.assertEqual([list(b.indices) for b in taken],
                             [list(range(i, min(i + 8, N_ITEMS)))
                              for i in range(0, N_ITEMS, 8)])
            self.assertRaises(LoaderError, next, first)

    def test_cache(self):
        cache = CacheLoader(Loader(LINE), 2, 50)
        with self.assertRaises(LoaderError):
            list(zip(cache, cache))

    @unittest.skipUnless(HAS_TORCH, "needs PyTorch")
    def test_iterators_of_a_torch_dataloader_are_independent(self):
        from gstspdl.torch import DataLoader

        for n in 0, 1:
            loader = DataLoader(list(range(6)), batch_size=2, num_workers=n)
            pairs = [(a.tolist(), b.tolist()) for a, b in zip(loader, loader)]
            self.assertEqual(pairs, [([i, i + 1],) * 2 for i in (0, 2, 4)])


class NothingLeftTest(unittest.TestCase):
    """Iterators that lose nothing raise nothing."""

    # len() is not known in a worker process and of a mix, so whether the end
    # has arrived with the last batch depends on time.
    COUNTED = LOADERS.keys() - {"process", "mix"}

    @for_each(*COUNTED)
    def test_after_the_last_batch(self, loader):
        n = 0
        for _ in loader:
            n += 1
            if n == 3:
                next(iter(loader))
        self.assertEqual(n, 3)
        self.assertEqual(len(list(loader)), 3)

    @for_each()
    def test_after_the_end(self, loader):
        first = iter(loader)
        self.assertEqual(len(list(first)), 3)
        second = iter(loader)
        next(second)
        self.assertIsNone(next(first, None))
        self.assertEqual(len(list(second)), 2)
        self.assertIsNone(next(second, None))

    def test_next_takes_the_end(self):
        with Loader(LINE) as loader:
            batches = iter(loader)
            next(batches)
            for _ in range(2):
                self.assertIsNotNone(loader.next())
            self.assertIsNone(loader.next())
            self.assertEqual(loader.next().epoch, 1)
            self.assertIsNone(next(batches, None))

    @for_each()
    def test_garbage(self, loader):
        first = iter(loader)
        next(first)
        second = iter(loader)
        next(second)
        getattr(first, "close", lambda: None)()
        del first, second
        with unittest.mock.patch("sys.unraisablehook") as hook:
            gc.collect()
        hook.assert_not_called()
        self.assertEqual(len(list(loader)), 3)


class EpochTest(unittest.TestCase):
    """Counters, whatever was left."""

    @for_each("line", "process")
    def test_left_epochs_count(self, loader):
        for epoch in range(3):
            self.assertEqual(next(iter(loader)).epoch, epoch)
            self.assertEqual(loader.epoch, epoch)
        self.assertEqual({b.epoch for b in loader}, {3})
        self.assertEqual(loader.epoch, 4)

    @for_each("line", "process", "source", "mix")
    def test_unused_iterators_do_not_count(self, loader):
        for epoch in range(3):
            for _ in range(3):
                iter(loader)
            self.assertEqual(loader.epoch, epoch)
            self.assertEqual({b.epoch for b in loader}, {epoch})

    @unittest.skipUnless(HAS_TORCH, "needs PyTorch")
    def test_dataset_counts_its_own_batches(self):
        dataset = make_torch()
        for batch in dataset:
            if dataset.state_dict()["batches"] == 2:
                break
        n = 0
        for _ in dataset:
            n += 1
            if n == 3:
                inner = iter(dataset)
                next(inner)
        self.assertEqual(dataset.state_dict()["batches"], 1)
        self.assertEqual(dataset.epoch, 2)
        self.assertEqual(len(list(inner)), 2)
        self.assertEqual(dataset.epoch, 3)
        dataset.stop()


class PeekTest(unittest.TestCase):
    @for_each("line", "process", "source", "mix")
    def test_next_step_returns_it(self, loader):
        for epoch in range(2):
            first = loader.peek()
            self.assertIs(loader.peek(), first)
            self.assertEqual(loader.epoch, epoch)
            seen = []
            for batch in loader:
                seen.append(batch)
                self.assertEqual(loader.epoch, epoch)
                state = loader.state
                ahead = loader.peek()
                self.assertEqual(ahead is None, len(seen) == 3)
                self.assertEqual(loader.state, state)
                self.assertEqual(loader.epoch, epoch)
                self.assertIs(loader.peek(), ahead)
            self.assertIs(seen[0], first)
            self.assertEqual(sorted(i for b in seen for i in b.indices),
                             list(range(N_ITEMS)))
            self.assertEqual({b.epoch for b in seen}, {epoch})
            self.assertEqual(loader.epoch, epoch + 1)

    def test_state(self):
        loader = Loader(LINE)
        ahead = loader.peek()
        self.assertEqual(native.state_get_epoch(loader.state), (0, True))
        batches = iter(loader)
        self.assertIs(next(batches), ahead)
        loader.peek()
        state = loader.state
        self.assertEqual(state, ahead.state)
        rest = [list(b.indices) for b in batches]
        loader.stop()
        with Loader(LINE, state=state) as loader:
            loader.peek()
            self.assertEqual([list(b.indices) for b in loader], rest)

    def test_next(self):
        with Loader(LINE) as loader:
            for epoch in range(2):
                for _ in range(3):
                    ahead = loader.peek()
                    self.assertEqual(ahead.epoch, epoch)
                    self.assertIs(loader.next(), ahead)
                self.assertIsNone(loader.peek())
                self.assertIsNone(loader.next())

    def test_break(self):
        """The epoch that was left has the batch, not the next one."""
        with Loader(LINE) as loader:
            for _ in loader:
                break
            self.assertEqual(loader.peek().epoch, 0)
            self.assertEqual([b.epoch for b in loader], [1, 1, 1])

    def test_set_epoch(self):
        with Loader(LINE) as loader:
            loader.peek()
            loader.set_epoch(0)
            self.assertEqual([b.epoch for b in loader], [0, 0, 0])
            loader.peek()
            loader.set_epoch(5)
            self.assertEqual(loader.peek().epoch, 5)
            self.assertEqual([b.epoch for b in loader], [5, 5, 5])

    def test_last_epoch(self):
        with Loader(describe(FOLDER, source="epochs=1")) as loader:
            self.assertIsNotNone(loader.peek())
            self.assertEqual(len(list(loader)), 3)
            self.assertIsNone(loader.peek())
            self.assertEqual(len(list(loader)), 0)
            self.assertTrue(loader.is_finished())

    def test_failures(self):
        """Failures count with the batch that is given."""
        with Loader("spdlpipe name=f output-order=input "
                    "! spdlbatch batch-size=1 ! spdlsink",
                    source=VALUES[:4]).map(
                "f", lambda s: 1 / 0 if s.index == 1 else s) as loader:
            batches = iter(loader)
            next(batches)
            before = loader.num_failures, loader.failures
            self.assertEqual(loader.peek().indices[0], 2)
            self.assertEqual((loader.num_failures, loader.failures), before)
            next(batches)
            self.assertEqual([f.index for f in loader.failures], [1])
            with self.assertWarns(LoaderWarning):
                list(batches)

    def test_timeout(self):
        arrives = threading.Event()

        def wait():
            arrives.wait()
            yield VALUES[0]
        with Loader(ARRAYS, source=wait()) as loader:
            with raises_with("timed-out"):
                loader.peek(timeout=0)
            arrives.set()
            self.assertIs(loader.peek(), loader.next())

    @unittest.skipUnless(HAS_TORCH, "needs PyTorch")
    def test_dataset(self):
        dataset = make_torch()
        for _ in range(2):
            first = dataset.peek()["indices"].tolist()
            seen = []
            for batch in dataset:
                seen.append(batch["indices"].tolist())
                dataset.peek()
            self.assertEqual(seen[0], first)
            self.assertEqual(sorted(itertools.chain(*seen)),
                             list(range(N_ITEMS)))
        self.assertEqual(dataset.epoch, 2)
        dataset.stop()


class FakeLink:
    """A loader on another machine, whose batches are (epoch, link, number)."""

    def __init__(self, number, num_batches):
        self.number, self.n = number, num_batches
        self.taken = self.noted = -1
        self.given, self.is_finished = None, False
        self.seek(0)

    def seek(self, epoch):
        from gstspdl._remote.answers import Reply

        self.ended = None
        self.started = Start(epoch, True, self.n)
        batches = [batch for e in range(epoch, epoch + 5) for batch in (
            *((e, self.number, k) for k in range(self.n)), None)]
        self.replies = [(i, Reply(batch, "", 0, False, [], []))
                        for i, batch in enumerate(batches, self.taken + 1)]

    def first(self):
        return next((r for r in self.replies if r[0] > self.taken), None)

    def get_arrival(self):
        return self.first()[0]

    def request_after(self, number):
        pass


class RemoteTest(unittest.TestCase):
    """RemoteLoader, without Ray."""

    def setUp(self):
        from gstspdl._remote.link import Board
        from gstspdl.ray import RemoteLoader

        self.loader = RemoteLoader("", 2)
        self.loader._board = Board(set())
        self.loader._links = [FakeLink(0, 2), FakeLink(1, 1)]
        self.loader._epoch = 0
        self.addCleanup(setattr, self.loader, "_links", [])

    def test_outdated(self):
        for take in (lambda: list(zip(self.loader, self.loader)),
                     lambda: [next(iter(self.loader)) for _ in self.loader]):
            with raises_with("outdated"):
                take()

    def test_after_the_last_batch(self):
        for n, _ in enumerate(self.loader, 1):
            if n == 3:
                self.assertEqual(next(iter(self.loader)), (1, 0, 0))
        self.assertEqual(n, 3)
        self.assertEqual(self.loader.epoch, 1)

    def test_peek(self):
        for epoch in range(3):
            wanted = [(epoch, 0, 0), (epoch, 1, 0), (epoch, 0, 1)]
            self.assertEqual(self.loader.peek(), wanted[0])
            seen = []
            for batch in self.loader:
                seen.append(batch)
                self.assertEqual(self.loader.peek(),
                                 (wanted + [None])[len(seen)])
                self.assertEqual(self.loader.epoch, epoch)
            self.assertEqual(seen, wanted)


class StateTest(unittest.TestCase):
    def test_empty_state(self):
        """A state is refused if it is empty, as if it is malformed."""
        def load(state, **more):
            with Loader(LINE, state=state, **more) as loader:
                next(iter(loader))
        for process in False, True:
            codes = []
            for state in "", "spdl", [""], [], ["", ""]:
                with self.assertRaises(LoaderError) as raised:
                    load(state, process=process)
                codes.append(raised.exception.code)
            self.assertEqual(codes[0], codes[1])
        for call in (merge_states, lambda s: reshard_states(s, 2)):
            self.assertRaises(LoaderError, call, [""])
        loader = Loader(LINE)
        loader.load_state_dict({"spdl": ""})
        self.assertRaises(LoaderError, loader.start)
        with self.assertRaises(LoaderError):
            Loader(describe(FOLDER, source='resume-state=""')).start()


if __name__ == "__main__":
    unittest.main()
