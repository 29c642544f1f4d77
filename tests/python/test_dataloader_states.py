#!/usr/bin/python3
# gst-spdl: tests of states of gstspdl.torch.DataLoader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Resumes with each kind of dataset and sampler, at each step, repeatedly and after
errors. The first argument is tools/make-dataset."""

import copy
import json
import os
import pickle
import tempfile
import unittest
import warnings

from support import slow_or, wait_until
from worker_processes import workers

import dataloader_sets as sets
from dataloader_support import Case, flatten, is_same, seed
import torch
from torch.utils.data import (BatchSampler, DistributedSampler, RandomSampler,
                              WeightedRandomSampler)

from gstspdl.torch import DataLoader

N = sets.N


def dup(state):
    return pickle.loads(pickle.dumps(state))


def read(iterator, n=-1):
    """Takes at most n batches. An error counts as one."""
    found = []
    while len(found) != n:
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except ValueError as error:
            found.append(str(error).split("\n")[-2:])
    return found


class StateTest(Case):
    def resume(self, make):
        """Leaves an epoch after a number of batches, and resumes with another
        loader."""
        seed()
        expected = list(make())
        for n in 0, 5, 10:
            seed()
            first = make()
            iterator = iter(first)
            begun = [next(iterator) for _ in range(n)]
            state = pickle.loads(pickle.dumps(first.state_dict()))
            del iterator
            torch.manual_seed(99)  # a new process
            second = make()
            second.load_state_dict(state)
            self.assertEqual(second.state_dict().keys(), state.keys())
            found = begun + list(second)
            self.assertTrue(is_same(found, expected), (n, found))

    def test_map(self):
        for n in slow_or(range(4), (0, 2)):
            for shuffle in False, True:
                self.resume(lambda n=n, shuffle=shuffle: DataLoader(
                    sets.Numbers(), batch_size=3, shuffle=shuffle,
                    num_workers=n))

    def test_persistent(self):
        self.resume(lambda: DataLoader(
            sets.Numbers(), 3, True, num_workers=2, persistent_workers=True))

    def test_epochs_with_a_generator(self):
        def make():
            return DataLoader(sets.Numbers(), batch_size=3, shuffle=True,
                              num_workers=2,
                              generator=torch.Generator().manual_seed(5))

        loader = make()
        expected = [flatten(loader) for _ in range(3)]
        for n in 2, 13:
            first, second = make(), make()
            flatten(first)
            iterator = iter(first)
            begun = [next(iterator) for _ in range(n)]
            if n == 13:
                self.assertIsNone(next(iterator, None))
            second.load_state_dict(first.state_dict())
            if n == 2:
                self.assertEqual(flatten(begun + list(second)), expected[1])
            self.assertEqual(flatten(second), expected[2])

    def test_other_number_of_workers(self):
        seed()
        first = DataLoader(sets.Numbers(), 3, True, num_workers=2)
        iterator = iter(first)
        begun = [next(iterator) for _ in range(4)]
        state = first.state_dict()
        for n in 0, 1, 3:
            second = DataLoader(sets.Numbers(), 3, True, num_workers=n)
            second.load_state_dict(state)
            self.assertEqual(sorted(flatten(begun + list(second))),
                             list(range(N)))

    def test_random_numbers_go_on(self):
        """A resumed loader leaves the program's random numbers alone."""
        first = DataLoader(sets.Numbers(), shuffle=True)
        next(iter(first))
        second = DataLoader(sets.Numbers(), shuffle=True)
        second.load_state_dict(first.state_dict())
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        list(second)
        self.assertTrue(torch.equal(torch.rand(3), expected))

    def test_iterable(self):
        for kind in sets.Sharded, sets.Stateful:
            for n in slow_or(range(4), (0, 2)):
                self.resume(lambda kind=kind, n=n: DataLoader(
                    kind(), batch_size=3, num_workers=n))
        self.resume(lambda: DataLoader(
            sets.Sharded(40, (12, 1, 9)), batch_size=2, num_workers=3))
        self.resume(lambda: DataLoader(
            sets.Sharded(), batch_size=None, num_workers=2))

    def test_iterable_with_other_workers(self):
        first = DataLoader(sets.Sharded(), num_workers=2)
        next(iter(first))
        second = DataLoader(sets.Sharded(), num_workers=3)
        second.load_state_dict(first.state_dict())
        with self.assertRaises(ValueError):
            iter(second)

    def test_samplers(self):
        for make in (lambda: sets.StatefulSampler(N),
                     lambda: RandomSampler(sets.Numbers(), True, 50),
                     lambda: WeightedRandomSampler(range(N), 40),
                     lambda: RandomSampler(
                         sets.Numbers(),
                         generator=torch.Generator().manual_seed(3))):
            self.resume(lambda make=make: DataLoader(
                sets.Numbers(), batch_size=3, sampler=make(), num_workers=2))

    def test_distributed(self):
        def make():
            sampler = DistributedSampler(sets.Numbers(), 2, 1)
            return sampler, DataLoader(sets.Numbers(), sampler=sampler)

        sampler, first = make()
        sampler.set_epoch(4)
        expected = flatten(first)
        iterator = iter(first)
        begun = [next(iterator) for _ in range(5)]
        _, second = make()
        second.load_state_dict(first.state_dict())
        self.assertEqual(flatten(begun + list(second)), expected)

    def test_between_epochs(self):
        loader = DataLoader(sets.Numbers(), num_workers=2)
        self.assertEqual(loader.state_dict()["num_yielded"], 0)
        list(loader)
        state = loader.state_dict()
        self.assertEqual(state["num_yielded"], 0)
        loader.load_state_dict(state)
        self.assertEqual(flatten(loader), list(range(N)))

    def test_after_a_break(self):
        loader = DataLoader(sets.Numbers(), num_workers=2)
        for batch in loader:
            if int(batch) == 5:
                break
        state = loader.state_dict()
        self.assertEqual(flatten(loader), list(range(N)))
        loader.load_state_dict(state)
        self.assertEqual(flatten(loader), list(range(6, N)))
        self.assertEqual(flatten(loader), list(range(N)))

    def test_out_of_order(self):
        """A batch that others have overtaken comes after the state."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "go")
            loaders = [DataLoader(sets.Waiting(3, file), shuffle=shuffle,
                                  num_workers=n, in_order=False)
                       for shuffle in (False, True) for n in (2, 2, 0)]
            for first, *others in loaders[:3], loaders[3:]:
                found, states = [], []
                iterator = iter(first)
                while 3 not in found:
                    if len(found) == N - first.prefetch_factor:
                        open(file, "x").close()
                    states.append((len(found), dup(first.state_dict())))
                    found += flatten(read(iterator, 1))
                for n, state in states[::6] + states[-1:]:
                    for loader in others:
                        loader.load_state_dict(state)
                        rest = flatten(loader)
                        self.assertEqual(sorted(found[:n] + rest),
                                         list(range(N)))
                os.remove(file)

    def test_out_of_order_iterable(self):
        for kind in sets.Sharded, sets.Stateful:
            loader = DataLoader(kind(), 2, num_workers=2, in_order=False)
            found = read(iter(loader), 5)
            resumed = DataLoader(kind(), 2, num_workers=2, in_order=False)
            resumed.load_state_dict(dup(loader.state_dict()))
            self.assertEqual(sorted(flatten(found + list(resumed))),
                             list(range(N)))

    def test_later_epochs(self):
        """Persistent workers draw no new seed, so the order of their second
        epoch is another one than that of new workers."""
        for n_workers, more in ((0, {}), (2, {}),
                                (2, {"persistent_workers": True})):
            for seed_of in None, 5:
                def make(n=n_workers, more=more, seed_of=seed_of):
                    return DataLoader(
                        sets.Numbers(), 3, True, num_workers=n, **more,
                        generator=seed_of and
                        torch.Generator().manual_seed(seed_of))

                for n in 0, 5, 13:
                    seed()
                    first = make()
                    list(first)
                    iterator = iter(first)
                    read(iterator, n)
                    if n == 13:
                        self.assertIsNone(next(iterator, None))
                    state = dup(first.state_dict())
                    rest = list(iterator) if n < 13 else list(first)
                    torch.manual_seed(99)
                    second = make()
                    second.load_state_dict(state)
                    self.assertTrue(is_same(list(second), rest),
                                    (n_workers, more, seed_of, n))

    def test_new_seed(self):
        """It decides about epochs that have not begun."""
        first = DataLoader(sets.Numbers(), shuffle=True)
        expected = []
        for loads in False, True:
            torch.manual_seed(7)
            if loads:
                first.load_state_dict(first.state_dict())
            torch.manual_seed(8)
            expected.append(flatten(first))
        self.assertEqual(*expected)

    def test_plain_data(self):
        for make in (lambda: sets.Numbers(), lambda: sets.Sharded(),
                     lambda: sets.Stateful(), lambda: sets.StatefulIterator()):
            for n in 0, 2:
                def loader(n=n, make=make):
                    data = make()
                    return DataLoader(
                        data, 3, num_workers=n,
                        sampler=None if hasattr(data, "__iter__")
                        else RandomSampler(data))

                first = loader()
                iterator = iter(first)
                next(iterator)
                state = json.loads(json.dumps(first.state_dict()))
                second = loader()
                second.load_state_dict(state)
                self.assertTrue(is_same(list(second), list(iterator)))

    def test_places_as_in_torchdata(self):
        """Programs look at the states of datasets in it."""
        for n in 0, 2:
            for kind, is_own in (sets.Stateful, True), (
                    sets.OwnIterator, False):
                loader = DataLoader(kind(), num_workers=n)
                read(iter(loader), 2)
                found = loader.state_dict()
                if n:
                    found = found["_snapshot"]["_worker_snapshots"]["worker_1"]
                expected = {"at": 1 if n else 2}
                self.assertEqual(
                    [found["dataset_state"],
                     found["fetcher_state"]["dataset_iter_state"]],
                    [expected, None] if is_own else [None, expected])
                self.assertFalse(found["fetcher_state"]["fetcher_ended"])


class StepTest(Case):
    def check(self, make, **arguments):
        """Resumes after each batch with a new loader and dataset; in the
        normal mode after every third."""
        for n_workers in arguments.pop("numbers", (0, 2)):
            def loader(n_workers=n_workers):
                data, more = make()
                return DataLoader(data, num_workers=n_workers,
                                  **{"batch_size": 6, **arguments, **more})

            seed()
            whole = loader()
            iterator = iter(whole)
            kept = [whole.state_dict()]
            states = dup(kept)
            expected = []
            while (batches := read(iterator, 1)):
                expected += batches
                kept.append(whole.state_dict())
                states.append(dup(kept[-1]))
            self.assertGreater(len(expected), 3)
            self.assertTrue(is_same(kept, states))  # They did not change.
            for n in {*range(0, len(states), slow_or(1, 3)), len(expected)}:
                state = states[n]
                with self.subTest(num_workers=n_workers, n=n):
                    torch.manual_seed(99)
                    resumed = loader()
                    resumed.load_state_dict(state)
                    self.assertTrue(is_same(dup(resumed.state_dict()), state))
                    found = read(iter(resumed))
                    self.assertTrue(is_same(found, expected[n:]), found)

    def test_map(self):
        for more in ({}, {"shuffle": True}, {"drop_last": True}):
            self.check(lambda more=more: (sets.Numbers(), more),
                       numbers=slow_or(range(4), (0, 2)))

    def test_map_with_a_state(self):
        self.check(lambda: (sets.Remembering(), {}))

    def test_random_numbers_in_a_state(self):
        """Those that the dataset restores are not undone."""
        for more in {}, {"shuffle": True}:
            self.check(lambda more=more: (sets.Drawing(), more))
        self.check(lambda: (sets.DrawingItems(), {}), batch_size=2)

    def test_single_items(self):
        self.check(lambda: (sets.Numbers(9), {}), batch_size=None)
        self.check(lambda: (sets.Sharded(9), {}), batch_size=None)

    def test_iterable(self):
        for kind in (sets.Sharded, sets.Stateful, sets.StatefulIterator,
                     sets.OwnIterator, sets.Unsharded):
            self.check(lambda kind=kind: (kind(), {}), batch_size=3)

    def test_iterable_drop_last(self):
        self.check(lambda: (sets.Sharded(), {}), batch_size=4, drop_last=True)

    def test_different_lengths(self):
        self.check(lambda: (sets.Sharded(60, (9, 1, 14)), {}), batch_size=2,
                   numbers=(3,))

    def test_collate(self):
        self.check(lambda: (sets.Numbers(), {"collate_fn": sets.drop}))

    def test_batch_samplers(self):
        def make():
            sampler = RandomSampler(range(N),
                                    generator=torch.Generator().manual_seed(2))
            return sets.Numbers(), {
                "batch_size": 1,
                "batch_sampler": BatchSampler(sampler, 6, False)}

        self.check(make)

    def test_persistent(self):
        self.check(lambda: (sets.Sharded(), {}), persistent_workers=True,
                   prefetch_factor=4, batch_size=3, numbers=(1,))

    def test_errors_of_items(self):
        """A batch that failed was given."""
        self.check(lambda: (sets.Failing(ValueError, "12"), {}), batch_size=4)

    def test_errors_of_iterables(self):
        """After an error, an iterable dataset has no more in this worker."""
        self.check(lambda: (sets.FailingIterable(), {}), batch_size=1)


class RepeatedTest(Case):
    def make(self, n=2, kind=sets.Numbers):
        return DataLoader(kind(), batch_size=3, num_workers=n)

    def test_resumed_again_and_again(self):
        """Each batch by another loader."""
        for kind in sets.Numbers, sets.Sharded, sets.Stateful:
            for n in 0, 2:
                expected = list(self.make(n, kind))
                found, state = [], None
                while len(found) < len(expected):
                    loader = self.make(n, kind)
                    if state is not None:
                        loader.load_state_dict(state)
                    found.append(next(iter(loader)))
                    state = dup(loader.state_dict())
                self.assertTrue(is_same(found, expected))

    def test_two_loaders_of_a_state(self):
        first = self.make()
        iterator = iter(first)
        read(iterator, 4)
        state = first.state_dict()
        copied = copy.deepcopy(state)
        rest = read(iterator)
        for _ in range(2):
            loader = self.make()
            loader.load_state_dict(state)
            self.assertTrue(is_same(list(loader), rest))
        # It is as it was.
        self.assertTrue(is_same(state, copied))

    def test_loading_into_a_loader_that_runs(self):
        for n in 0, 2:
            loader = self.make(n)
            iterator = iter(loader)
            read(iterator, 2)
            state = dup(loader.state_dict())
            read(iterator, 5)
            loader.load_state_dict(state)
            self.assertEqual(flatten(loader), list(range(6, N)))
            self.assertEqual(flatten(loader), list(range(N)))

    def test_iterator_in_use(self):
        """The one that runs goes on, and the next one resumes."""
        for persistent in False, True:
            loader = DataLoader(sets.Numbers(), batch_size=3, num_workers=2,
                                persistent_workers=persistent)
            iterator = iter(loader)
            read(iterator, 2)
            loader.load_state_dict(dup(loader.state_dict()))
            self.assertEqual(flatten(read(iterator, 1)), [6, 7, 8])
            resumed = iter(loader)
            self.assertEqual(flatten(read(resumed, 1)), [6, 7, 8])
            self.assertEqual(flatten(iterator), list(range(9, N)))
            self.assertEqual(flatten(resumed), list(range(9, N)))
            self.assertEqual(flatten(loader), list(range(N)))

    def test_persistent_workers_end(self):
        """Those of an iterator that nobody uses do not wait for garbage
        collection."""
        others = set(workers())
        loader = DataLoader(sets.Numbers(), num_workers=2,
                            persistent_workers=True)
        read(iter(loader), 2)
        self.assertGreater(set(workers()), others)
        loader.load_state_dict(loader.state_dict())
        wait_until(lambda: not set(workers()) - others)
        self.assertEqual(flatten(loader), list(range(2, N)))

    def test_without_a_pause(self):
        """state_dict() does not change what follows."""
        for kind in sets.Numbers, sets.Sharded, sets.Stateful:
            expected = list(self.make(2, kind))
            loader = self.make(2, kind)
            found = []
            for batch in loader:
                found.append(batch)
                loader.state_dict()
            self.assertTrue(is_same(found, expected))

    def test_end(self):
        """After the last batch, before the end was seen, and after it."""
        for n in 0, 2:
            loader = self.make(n)
            iterator = iter(loader)
            read(iterator, len(loader))
            state = dup(loader.state_dict())
            resumed = self.make(n)
            resumed.load_state_dict(state)
            self.assertEqual(list(resumed), [])
            self.assertEqual(flatten(resumed), list(range(N)))
            self.assertEqual(read(iterator), [])
            resumed = self.make(n)
            resumed.load_state_dict(dup(loader.state_dict()))
            self.assertEqual(flatten(resumed), list(range(N)))

    def test_end_of_an_epoch(self):
        """The dataset's own state is that after its last item."""
        for n, persistent, later in (0, False, [1, 2]), (2, True, [1, 2]), (
                2, False, [0, 0]):
            def make(n=n, persistent=persistent):
                return DataLoader(sets.Epochs(), 4, num_workers=n,
                                  persistent_workers=persistent)

            first, second = make(), make()
            self.assertEqual({i // 100 for i in flatten(first)}, {0})
            second.load_state_dict(dup(first.state_dict()))
            for epoch in later:
                for loader in first, second:
                    self.assertEqual(
                        flatten(loader),
                        [100 * epoch + i for begin in (1, 5)
                         for _ in range(n or 1)
                         for i in range(begin, begin + 4)])

    def test_random_numbers_of_epochs(self):
        """A dataset that restores them does not shift those of the sampler."""
        def make():
            return DataLoader(sets.Drawing(), 3, True)

        seed()
        first = make()
        expected = [list(first) for _ in range(2)]
        state = dup(first.state_dict())
        expected += [list(first) for _ in range(2)]
        torch.manual_seed(99)
        second = make()
        second.load_state_dict(state)
        found = [list(second) for _ in range(2)]
        self.assertTrue(is_same(found, expected[2:]))

    def test_no_more_items(self):
        """A dataset whose state at its end means its end."""
        loader = DataLoader(sets.Epochs(begins_again=False))
        list(loader)
        loader.load_state_dict(dup(loader.state_dict()))
        with self.assertWarnsRegex(UserWarning, "the epoch is empty"):
            self.assertEqual(list(loader), [])

    def test_length(self):
        """len() counts the whole epoch."""
        loader = self.make()
        read(iter(loader), 4)
        resumed = self.make()
        resumed.load_state_dict(loader.state_dict())
        self.assertEqual(len(resumed), 13)


class OtherWorkersTest(Case):
    def save(self, dataset, n):
        loader = DataLoader(dataset, batch_size=3, num_workers=n)
        iterator = iter(loader)
        return read(iterator, 3), dup(loader.state_dict())

    def test_map(self):
        for before in 0, 1, 2, 3:
            begun, state = self.save(sets.Numbers(), before)
            for after in 0, 1, 2, 3:
                loader = DataLoader(sets.Numbers(), batch_size=3,
                                    num_workers=after)
                loader.load_state_dict(state)
                self.assertEqual(flatten(begun + list(loader)),
                                 list(range(N)), (before, after))

    def test_refused(self):
        """States of workers cannot be divided, and none is left out."""
        for kind in sets.Sharded, sets.Stateful, sets.Remembering:
            for before, after in (2, 0), (2, 1), (2, 3), (0, 2), (1, 3):
                _, state = self.save(kind(), before)
                loader = DataLoader(kind(), batch_size=3, num_workers=after)
                loader.load_state_dict(state)
                with self.assertRaisesRegex(ValueError, "num_workers"):
                    list(loader)

    def test_one_or_none(self):
        """One worker has what the trainer would have."""
        for kind in sets.Sharded, sets.Stateful:
            for before, after in (0, 1), (1, 0):
                begun, state = self.save(kind(), before)
                loader = DataLoader(kind(), batch_size=3, num_workers=after)
                loader.load_state_dict(state)
                self.assertEqual(flatten(begun + list(loader)), list(range(N)))


class ErrorTest(Case):
    def test_stateful_dataset(self):
        """It knows itself where it failed."""
        for n in 0, 1, 2:
            loader = DataLoader(sets.Flaky(), batch_size=None, num_workers=n)
            iterator = iter(loader)
            found = read(iterator, 9)
            self.assertIn("item 8", str(found))
            state = dup(loader.state_dict())
            resumed = DataLoader(sets.Flaky(), batch_size=None, num_workers=n)
            resumed.load_state_dict(state)
            found += read(iter(resumed))
            given = [i for i in found if isinstance(i, int)]
            self.assertEqual(sorted(given), sorted(set(given)))
            self.assertIn(20, given)

    def test_other_classes(self):
        with self.assertRaisesRegex(ValueError, "not a state of another"):
            DataLoader([1]).load_state_dict({"_snapshot": {}})

    def test_other_order(self):
        """A sampler that does not repeat its order causes an error."""
        class Unknown(torch.utils.data.Sampler):
            def __init__(self):
                pass

            def __iter__(self):
                return iter(orders.pop())

        orders = [[0, 1, 2], [2, 1, 0]]
        loader = DataLoader(sets.Numbers(3), sampler=Unknown())
        next(iter(loader))
        loader.load_state_dict(loader.state_dict())
        orders.append([0, 1, 2])
        with self.assertRaisesRegex(ValueError, "does not begin with"):
            iter(loader)

    def test_malformed(self):
        for state in {}, {"num_yielded": 0}:
            loader = DataLoader(sets.Numbers(), batch_size=3, num_workers=1)
            loader.load_state_dict(state)
            self.assertEqual(flatten(loader), list(range(N)))


warnings.filterwarnings("ignore", "Length of Iterable")

if __name__ == "__main__":
    unittest.main()
