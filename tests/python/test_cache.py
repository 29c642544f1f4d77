#!/usr/bin/python3
# gst-spdl: tests of spdlcache and of the estimate for perfect loading
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import collections
import dataclasses
import itertools
import time
import unittest

import numpy as np
import torch
from support import describe, make_dataset
from torch.utils.data import DataLoader
from gstspdl import Batch, CacheLoader, Headspace, Loader, headspace

FOLDER = make_dataset(30)
Pair = collections.namedtuple("Pair", "image label")


@dataclasses.dataclass(frozen=True)
class Sample:
    image: np.ndarray
    name: str


class Counting:
    """An iterable of n numbers that counts how often it is iterated."""

    def __init__(self, n):
        self.n = n
        self.asked = 0
        self.passes = 0

    def __iter__(self):
        self.passes += 1
        for i in range(self.n):
            self.asked += 1
            yield i


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return {"data": torch.full((3,), float(i)), "label": i}


def take(loader, n):
    return list(itertools.islice(loader, n))


class OrderTest(unittest.TestCase):
    def test_last_batches_are_cached(self):
        source = Counting(100)
        loader = CacheLoader(source, num_caches=3, return_caches_after=5)
        self.assertEqual(take(loader, 12),
                         [0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2])
        # It was not iterated again.
        self.assertEqual(source.asked, 5)
        self.assertEqual((loader.num_batches, loader.num_cached), (12, 7))
        # Another loop continues.
        self.assertEqual(take(loader, 3), [3, 4, 2])
        self.assertEqual(source.passes, 1)

    def test_fewer_than_caches(self):
        self.assertEqual(
            take(CacheLoader(Counting(9), num_caches=10,
                             return_caches_after=2), 6), [0, 1, 0, 1, 0, 1])

    def test_passes(self):
        """Tests the end of a pass, and batch counts over all passes."""
        source = Counting(3)
        loader = CacheLoader(source, num_caches=2, return_caches_after=7)
        self.assertEqual([list(loader), list(loader)], [[0, 1, 2], [0, 1, 2]])
        self.assertEqual(loader.num_cached, 0)
        self.assertEqual(take(loader, 5), [0, 2, 0, 2, 0])
        self.assertEqual(source.passes, 3)

    def test_stop_after(self):
        for stop, expected in ((2, [0, 1]), (4, [0, 1, 2, 3]),
                               (6, [0, 1, 2, 3, 2, 3])):
            loader = CacheLoader(Counting(100), num_caches=2,
                                 return_caches_after=4, stop_after=stop)
            self.assertEqual(list(loader), expected)
            self.assertEqual(list(loader), [])

    def test_wrong_numbers(self):
        for wrong in ({"num_caches": 0}, {"return_caches_after": 0},
                      {"stop_after": -1}):
            with self.assertRaisesRegex(ValueError, next(iter(wrong))):
                CacheLoader([], **wrong)
        with self.assertRaisesRegex(ValueError, "rounds"):
            headspace([1], print, rounds=0)

    def test_errors(self):
        def broken():
            yield 1
            raise OSError("no more")

        loader = CacheLoader(broken())
        with self.assertRaisesRegex(OSError, "no more"):
            list(loader)


class CopyTest(unittest.TestCase):
    """Tests that writes to a returned batch do not change the cached one."""

    def check(self, make, read, write):
        """Checks two items, the first of zeros and the second of ones."""
        loader = CacheLoader(map(make, (0, 1)), num_caches=2,
                             return_caches_after=2, stop_after=8)
        for i, item in enumerate(loader):
            self.assertEqual(read(item), i % 2, i)
            write(item)
            self.assertEqual(read(item), 9)
            last = item
        self.assertEqual(i, 7)
        return last

    def check_filled(self, wrap, unwrap):
        for full in (lambda i: np.full((2, 3), i, np.float32),
                     lambda i: torch.full((2, 3), float(i))):
            self.check(lambda i: wrap(full(i)), lambda x: unwrap(x)[1][2],
                       lambda x: unwrap(x).__setitem__(slice(None), 9))

    def test_kinds(self):
        self.check_filled(lambda x: x, lambda x: x)
        self.check_filled(lambda x: {"data": x, "name": "n"},
                          lambda x: x["data"])
        self.check_filled(lambda x: (1, [x, None]), lambda x: x[1][0])
        self.check_filled(lambda x: collections.OrderedDict(a=x),
                          lambda x: x["a"])
        self.check_filled(lambda x: collections.UserDict(a=x),
                          lambda x: x["a"])
        self.check_filled(lambda x: Pair(x, 3), lambda x: x.image)
        self.check_filled(lambda x: Sample(x, "n"), lambda x: x.image)

    def test_types(self):
        loader = CacheLoader(
            [(Pair(1, 2), Sample(np.zeros(1), "n"),
              collections.OrderedDict(a=1), torch.zeros(2, dtype=torch.int16),
              "text", b"bytes", None)], return_caches_after=1)
        first, again = take(loader, 2)
        self.assertEqual(list(map(type, first)), list(map(type, again)))
        self.assertEqual(again[3].dtype, torch.int16)

    def test_layout(self):
        """Tests a non-contiguous array and a tensor that requires gradients."""
        image = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)
        weight = torch.ones(3, requires_grad=True)
        _, again = take(CacheLoader([(image, weight * 2, weight)],
                                    return_caches_after=1), 2)
        np.testing.assert_array_equal(again[0], image)
        self.assertEqual(again[1].tolist(), [2, 2, 2])
        self.assertTrue(again[2].requires_grad)


class LoaderTest(unittest.TestCase):
    def test_torch(self):
        for workers in 0, 2:
            loader = CacheLoader(
                DataLoader(Numbers(), batch_size=4, num_workers=workers,
                           multiprocessing_context="fork" if workers else None),
                num_caches=2, return_caches_after=6, stop_after=60)
            for i, batch in enumerate(loader):
                first = 4 * (i if i < 6 else 4 + i % 2)
                self.assertEqual(batch["data"][:, 2].tolist(),
                                 [first, first + 1, first + 2, first + 3])
                self.assertEqual(batch["label"][0], first)
                # In place.
                batch["data"].mul_(-1)
                batch["label"][:] = -1
            self.assertEqual(i, 59)

    def test_batches_of_a_pipeline(self):
        """Tests batches of a pipeline, which reuses their memory."""
        with Loader(describe(FOLDER, order="input")) as plain:
            wanted = [(batch["data"].numpy().copy(), list(batch.indices))
                      for batch in plain]
        with Loader(describe(FOLDER, order="input")) as loader:
            cache = CacheLoader(loader, num_caches=3, return_caches_after=4)
            for i, batch in enumerate(take(cache, 40)):
                k = i if i < 4 else 1 + (i - 4) % 3
                self.assertIsInstance(batch, Batch)
                np.testing.assert_array_equal(
                    batch["data"].numpy(), wanted[k][0])
                self.assertEqual(list(batch.indices), wanted[k][1])
                self.assertFalse(batch["data"].readonly)
                batch["data"].numpy()[:] = 0
            self.assertEqual(len(batch.keys), batch.num_items)

    def test_cache_element(self):
        """Tests spdlcache in a pipeline: it repeats endlessly, and the resume
        state does not change."""
        line = describe(FOLDER, order="input").replace(
            "! spdlsink", "! spdlcache num-caches=2 return-caches-after=3 "
            "! spdlsink")
        with Loader(line) as loader:
            batches = iter(loader)
            states = []
            for i in range(20):
                batch = next(batches)
                first = i if i < 3 else 1 + (i - 3) % 2
                self.assertEqual(batch.indices[0], 8 * first)
                self.assertFalse(batch["data"].readonly)
                batch["data"].numpy()[:] = 0
                states.append(batch.state)
            self.assertEqual(set(states[2:]), {loader.state})
            self.assertNotEqual(states[1], states[2])
            figures = {stage["stage"]: stage for stage in loader.stats}
            cache = figures[[name for name in figures if "cache" in name][0]]
            self.assertGreaterEqual(cache["num-cached"], 17)
            self.assertGreater(figures["sink"]["p50-step-time"], 0)


class HeadspaceTest(unittest.TestCase):
    def test_slow_loader(self):
        def batches():
            for i in range(16):
                time.sleep(0.01)
                yield np.full(4, i)

        class Slow:
            def __iter__(self):
                return batches()

        seen = []

        def step(batch):
            # Unchanged by writes to the batch before.
            self.assertEqual(len(set(batch.tolist())), 1)
            self.assertIn(batch[0], range(16))
            seen.append(batch[0])
            time.sleep(0.002)
            batch[:] = -1

        found = headspace(Slow(), step, num_caches=2, batches=5, rounds=2,
                          settle=0)
        # A pass that fills the cache, and four more; the first two batches of
        # each are a warm-up.
        self.assertEqual(len(seen), 3 + 4 * 7)
        self.assertEqual(len(found.base_times), 2)
        self.assertEqual(len(found.cached_steps), 2)
        self.assertGreaterEqual(found.base, 0.012)
        self.assertGreaterEqual(found.cached, 0.002)
        self.assertAlmostEqual(found.gain, 1 - found.cached / found.base)
        self.assertEqual(found.advice, "worth-it")
        self.assertIn(f"{100 * found.gain:.1f} %", str(found))

    def test_copy_time_is_excluded(self):
        """Tests that copies of the cache do not count as the trainer's time,
        with batches of 64 MB of which it reads one number."""
        big = [np.zeros(1 << 24, np.float32)]
        found = headspace(big, lambda batch: batch[0], num_caches=1,
                          batches=3, rounds=1, settle=0)
        begun = time.perf_counter()
        big[0].copy()
        self.assertLess(found.cached, time.perf_counter() - begun)

    def test_advice(self):
        def words(base, cached, base_step=1, cached_step=1):
            return Headspace(base, cached, (base_step,), (cached_step,))

        stop = words((0.1,), (0.096,))
        self.assertEqual((stop.advice, round(stop.gain, 6)), ("stop", 0.04))
        for value in "100 ms (100 ms to 100 ms)", "96 ms (96 ms to 96 ms)", \
                "4.0 % (4.0 to 4.0)":
            self.assertIn(value, str(stop))
        self.assertEqual(words((0.1,), (0.093,)).advice, "small")
        self.assertEqual(words((0.2,), (0.17,)).advice, "worth-it")
        disagree = words((0.1, 0.1, 0.1), (0.05, 0.06, 0.1))
        self.assertFalse(disagree.agrees)
        self.assertTrue(words((0.1,), (0.05,)).agrees)
        self.assertNotIn("60 ms", str(words((0.1,), (0.05,))))
        slowed = words((0.1,), (0.05,), 0.06, 0.05)
        self.assertIn("60 ms", str(slowed))

    def test_empty_second_pass(self):
        with self.assertRaisesRegex(ValueError, r"\bloader\b"):
            headspace(iter([1, 2, 3]), lambda batch: None, settle=0)


if __name__ == "__main__":
    unittest.main()
