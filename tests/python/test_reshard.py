#!/usr/bin/python3
# gst-spdl: tests of resuming with another number of ranks
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import collections
import itertools
import tarfile
import unittest

from errors import raises_with
from support import describe, make_dataset, wait_until_asleep

from gstspdl import Loader, Pipeline, merge_states, reshard_states

N_ITEMS = 70
BROKEN = 3
FOLDER = make_dataset(N_ITEMS)
sorted(FOLDER.glob("*/*.jpg"))[BROKEN].write_text("no image")
GOOD = [i for i in range(N_ITEMS) if i != BROKEN]
UNEVEN = "shard-mode=uneven shuffle=true seed=4 epochs=2"


def load(rank, world_size, n_batches, source=UNEVEN, **arguments):
    """Returns the items of some batches of a rank, and its state."""
    with Loader(describe(FOLDER, 4, source), rank=rank, world_size=world_size,
                **arguments) as loader:
        batches = list(itertools.islice(loader, n_batches))
        state = batches[-1].state if batches else loader.state
    return [i for batch in batches for i in batch.indices], state


class ReshardTest(unittest.TestCase):
    def test_each_item_once(self):
        """Three ranks, then two, five and one, each with the states of all."""
        items, states = [], None
        for world in 3, 2, 5:
            parts = [load(rank, world, 1 + rank % 3, state=states)
                     for rank in range(world)]
            items += [i for part, _ in parts for i in part]
            states = [state for _, state in parts]
        self.assertLess(len(items), len(GOOD))
        items += load(0, 1, None, state=merge_states(states))[0]
        self.assertEqual(sorted(items), GOOD)

    def test_a_state_for_each_rank(self):
        parts = [load(rank, 2, 3) for rank in range(2)]
        states = reshard_states([state for _, state in parts], 3)
        self.assertEqual(reshard_states(merge_states(
            state for _, state in reversed(parts)), 3), states)
        items = [i for part, _ in parts for i in part]
        for rank, state in enumerate(states):
            with Loader(describe(FOLDER, 4, UNEVEN), rank=rank, world_size=3,
                        state=state) as loader:
                self.assertEqual(loader.state, state)
                self.assertEqual(loader.epoch, 0)
                items += [i for batch in loader for i in batch.indices]
                # The next epoch is complete.
                items += [i for batch in loader for i in batch.indices]
        self.assertEqual(collections.Counter(items),
                         dict.fromkeys(GOOD, 2))

    def test_the_part_of_a_rank(self):
        states = [load(rank, 2, 3)[1] for rank in range(2)]
        with Loader(describe(FOLDER, 4, UNEVEN), rank=1, world_size=3,
                    state=states) as loader:
            self.assertEqual(loader.state, reshard_states(states, 3)[1])
        # As many ranks as before take their own states.
        with Loader(describe(FOLDER, 4, UNEVEN), rank=1, world_size=2,
                    state=states) as loader:
            self.assertEqual(loader.state, states[1])

    def test_ranks_that_have_not_begun(self):
        """The state of a rank before its first batch may be the joined one."""
        before, states = collections.Counter(), []
        for rank in range(2):
            items, state = load(rank, 2, 3)
            before.update(items)
            states.append(state)

        def store(rank, world, n_batches, process, is_started):
            loader = Loader(describe(FOLDER, 4, UNEVEN), rank=rank,
                            world_size=world, state=states, process=process)
            if n_batches == 0 and not is_started:
                return loader.state
            with loader:
                seen.update(i for batch in itertools.islice(loader, n_batches)
                            for i in batch.indices)
                return loader.state

        for world, n_begun, process, is_started in itertools.product(
                (2, 3), (0, 1, 2), (False, True), (False, True)):
            with self.subTest(world=world, n_begun=n_begun, process=process,
                              is_started=is_started):
                seen = before.copy()
                parts = [store(rank, world, rank < n_begun, process,
                               is_started) for rank in reversed(range(world))]
                for rank in range(4):
                    with Loader(describe(FOLDER, 4, UNEVEN), rank=rank,
                                world_size=4, state=parts) as loader:
                        seen.update(i for batch in loader
                                    for i in batch.indices)
                self.assertEqual(seen, collections.Counter(GOOD))
                if 0 < n_begun < world:
                    # A joined state too many, and one too few.
                    with raises_with("state"):
                        merge_states([*parts, merge_states(states)])
                    if n_begun + 1 < world and not is_started:
                        with raises_with("state"):
                            merge_states(parts[1:])

    def test_ranks_that_have_not_begun_after_a_single_one(self):
        for n_batches in 0, 3:
            items, state = load(0, 1, n_batches)
            seen = collections.Counter(items)
            parts = [state, state]
            items, parts[0] = load(0, 2, 1, state=state)
            seen.update(items)
            for rank in range(3):
                seen.update(load(rank, 3, None, state=parts)[0])
            self.assertEqual(seen, collections.Counter(GOOD))

    def test_ranks_in_different_epochs(self):
        items, states = collections.Counter(), []
        for rank, n_batches in enumerate((1, 8, 3)):
            with Loader(describe(FOLDER, 4, UNEVEN), rank=rank,
                        world_size=3) as loader:
                batches = itertools.islice(itertools.chain(loader, loader),
                                           n_batches)
                for batch in batches:
                    items.update((batch.epoch, i) for i in batch.indices)
                states.append(batch.state)
        self.assertEqual(max(epoch for epoch, _ in items), 1)
        for rank in range(2):
            with Loader(describe(FOLDER, 4, UNEVEN), rank=rank, world_size=2,
                        state=states) as loader:
                self.assertEqual(loader.epoch, 0)
                for batch in itertools.chain(loader, loader):
                    items.update((batch.epoch, i) for i in batch.indices)
                self.assertTrue(loader.is_finished())
        self.assertEqual(items, {(epoch, i): 1 for epoch in range(2)
                                 for i in GOOD})

    def test_leaving_an_epoch(self):
        """The epoch after one that is left has what was left of it."""
        states = []
        seen = collections.Counter()
        for rank, n_batches in enumerate((1, 12)):
            with Loader(describe(FOLDER, 4, UNEVEN), rank=rank,
                        world_size=2) as loader:
                for batch in itertools.islice(
                        itertools.chain(loader, loader), n_batches):
                    if batch.epoch == 1:
                        seen.update(batch.indices)
                states.append(batch.state)
        self.assertTrue(seen)
        # Either before the batches of the next epoch are ready, or afterwards.
        for sink in "", "max-buffers=100":
            found = seen.copy()
            for rank in range(3):
                with Loader(f"{describe(FOLDER, 4, UNEVEN)} {sink}", rank=rank,
                            world_size=3, state=states) as loader:
                    next(iter(loader))
                    if sink:
                        wait_until_asleep()
                    for batch in loader:
                        self.assertEqual(batch.epoch, 1)
                        found.update(batch.indices)
            self.assertEqual(found, dict.fromkeys(GOOD, 1))

    def test_in_another_process(self):
        parts = [load(rank, 2, 2) for rank in range(2)]
        items = [i for part, _ in parts for i in part]
        for rank in range(3):
            items += load(rank, 3, None, state=[s for _, s in parts],
                          process=True)[0]
        self.assertEqual(sorted(items), GOOD)

    def test_set_epoch(self):
        states = [load(rank, 2, 2)[1] for rank in range(2)]
        items = []
        for rank in range(3):
            with Loader(describe(FOLDER, 4, UNEVEN), rank=rank, world_size=3,
                        state=states) as loader:
                loader.set_epoch(0)
                items += [i for batch in loader for i in batch.indices]
        # From the beginning.
        self.assertEqual(sorted(items), GOOD)

    def test_refused(self):
        states = [load(rank, 3, 1)[1] for rank in range(3)]
        later = load(0, 3, 2)[1]
        after = reshard_states(states, 2)
        for wrong in (states[:2], [*states, later], after[:1],
                      [after[0], states[1]], [], ["nonsense"]):
            with raises_with("state"):
                merge_states(wrong)
            with raises_with("state"):
                Loader(describe(FOLDER), state=wrong)
        with raises_with("pipeline-error"):
            load(0, 2, 1, state=states[0])
        with raises_with("pipeline-error"):
            load(0, 2, 1, UNEVEN.replace("seed=4", "seed=5"), state=states)
        for wrong in "text", [None], [1]:
            with self.assertRaises(TypeError):
                merge_states(wrong)
        for wrong in 0, -1:
            with self.assertRaises(ValueError):
                reshard_states(states, wrong)

    def test_rank_arguments(self):
        for rank, world in (1, -1), (-1, 2), (2, 2), (-2, -2):
            with self.assertRaises(ValueError):
                Loader(describe(FOLDER), rank=rank, world_size=world)
        pipeline = Pipeline.parse(describe(FOLDER, 4, "shard-mode=uneven"))
        with pipeline.loader(rank=2, world_size=3) as loader:
            items = [i for batch in loader for i in batch.indices]
            state = loader.state
        self.assertEqual(sorted(items), [i for i in GOOD if i % 3 == 2])
        self.assertIn("rank=2,world-size=3", state)


class SourcesTest(unittest.TestCase):
    """Other sources, on one, two and then three ranks."""

    def run_ranks(self, line):
        """Returns how often each label came in the first epoch."""
        found, states = collections.Counter(), None
        for world, n_batches in (1, 2), (2, 3), (3, None):
            new = []
            for rank in range(world):
                with Loader(line, rank=rank, world_size=world,
                            state=states) as loader:
                    for batch in itertools.islice(loader, n_batches):
                        found.update(map(int, batch.labels))
                    new.append(loader.state)
            states = new
        return found

    def read_whole(self, line):
        with Loader(line) as loader:
            return collections.Counter(
                int(label) for batch in loader for label in batch.labels)

    def check(self, line):
        whole = self.read_whole(line)
        self.assertGreater(sum(whole.values()), 2 * 3 + 2 * 3 * 3)
        self.assertEqual(self.run_ranks(line), whole)

    @classmethod
    def setUpClass(cls):
        cls.paths = [path for i, path in enumerate(sorted(
            FOLDER.glob("*/*.jpg"))) if i != BROKEN]

    def write_list(self, name, labels):
        path = FOLDER / name
        self.addCleanup(path.unlink)
        path.write_text("uri,label,often\n" + "".join(
            f"{self.paths[i]},{i},{i % 4}\n" for i in labels))
        return path

    def test_weights(self):
        path = self.write_list("often.csv", range(len(self.paths)))
        self.check(describe(FOLDER, 3, f'location="{path}" label=manifest epochs=2 '
                            "shuffle=true seed=2 weight-column=often "
                            "items-per-epoch=90 shard-mode=uneven",
                            batch="labels=true"))

    def test_indexed_shards(self):
        for number in range(3):
            shard = FOLDER / f"s-{number}.tar"
            self.addCleanup(shard.unlink)
            with tarfile.open(shard, "w") as tar:
                for i in range(number, len(self.paths), 3):
                    label = FOLDER / "label"
                    label.write_text(str(i))
                    tar.add(self.paths[i], f"{i:03}.jpg")
                    tar.add(label, f"{i:03}.cls")
        self.check(describe(FOLDER, 3, f'location="{FOLDER}/s-{{0..2}}.tar" '
                            "label=manifest epochs=2 shuffle=true seed=2 "
                            "shard-mode=uneven", batch="labels=true"))

    def test_mix(self):
        lists = [self.write_list("long.csv", range(40)),
                 self.write_list("short.csv", range(40, len(self.paths)))]
        line = ("spdlmix name=m seed=4 sink_0::weight=0.6 sink_1::weight=0.4 "
                "! spdlbatch batch-size=3 labels=true ! spdlsink ")
        for number, path in enumerate(lists):
            line += (f'spdlsrc location="{path}" epochs=2 shuffle=true '
                     "shard-mode=uneven ! spdlfetch ! spdldecode width=8 "
                     f"height=8 ! m.sink_{number} ")
        self.check(line)


class ShardRunTest(unittest.TestCase):
    """With shard-run, the batches of all ranks in turns are those of one."""

    def batches(self, rank, world_size, size, source):
        line = describe(FOLDER, size, f"shard-run={size} {source}", "input")
        with Loader(line, rank=rank, world_size=world_size) as loader:
            return [(bytes(batch["data"].numpy()), list(batch.indices))
                    for batch in loader]

    def test_batches_in_turns(self):
        good = FOLDER / "good.txt"
        good.write_text("".join(
            f"{path}\n" for i, path in enumerate(sorted(
                FOLDER.glob("*/*.jpg"))) if i != BROKEN))
        self.addCleanup(good.unlink)
        for size, source in ((8, ""), (3, "shuffle=true seed=9")):
            source = f'location="{good}" label=none shard-mode=uneven {source}'
            whole = self.batches(0, 1, size, source)
            self.assertEqual(sum(len(items) for _, items in whole), len(GOOD))
            for world in 2, 3, 8:
                with self.subTest(size=size, world=world):
                    ranks = [self.batches(rank, world, size, source)
                             for rank in range(world)]
                    turns = itertools.chain(*itertools.zip_longest(*ranks))
                    self.assertEqual([b for b in turns if b], whole)


if __name__ == "__main__":
    unittest.main()
