#!/usr/bin/python3
# gst-spdl: tests of distributed runs under torchrun
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
import textwrap
import time
import unittest

import torch.distributed
from support import (ROOT, launch_ranks, make_dataset, make_folder,
                     start_agent)
from worker_processes import descendants

N_RANKS = 2
# For two ranks and batches of four: 17 and 16 items, 5 and 4 batches. One item
# of the second rank fails, so even with pad it has one batch less.
N_ITEMS = 33
BROKEN = 3
GOOD = [i for i in range(N_ITEMS) if i != BROKEN]
JOB = pathlib.Path(__file__).with_name("ranks.py")


def items_of(steps):
    return [i for step in steps if step for i in step]


@unittest.skipUnless(torch.distributed.is_available()
                     and torch.distributed.is_gloo_available(),
                     "PyTorch is built without it")
class RanksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = make_dataset(N_ITEMS)
        paths = sorted(folder.glob("*/*.jpg"))
        paths[BROKEN].write_text("no picture")
        (folder / "list.txt").write_text("".join(f"{p}\n" for p in paths))
        with tempfile.TemporaryDirectory() as out:
            launch_ranks(N_RANKS, JOB, folder, out, folder=out)
            cls.ranks = [json.loads(pathlib.Path(out, str(rank)).read_text())
                         for rank in range(N_RANKS)]

    def epochs(self, way):
        """Returns the steps of the ranks for each epoch."""
        return zip(*(rank[way] for rank in self.ranks))

    def test_pad(self):
        for parts in self.epochs("pad"):
            self.assertEqual([len(steps) for steps in parts], [5, 5])
            self.assertEqual([step is None for step in parts[1]],
                             [False] * 4 + [True])
            # The first item is repeated so that all ranks have the same
            # number.
            self.assertEqual(sorted(sum(map(items_of, parts), [])),
                             [0, *GOOD])

    def test_drop(self):
        for parts in self.epochs("drop"):
            self.assertEqual([len(steps) for steps in parts], [4, 4])
            self.assertEqual(sorted(sum(map(items_of, parts), [])), GOOD[:-1])

    def test_uneven(self):
        for parts in self.epochs("uneven"):
            self.assertEqual([len(steps) for steps in parts], [5, 5])
            self.assertIsNone(parts[1][-1])
            # The parts are disjoint and complete.
            self.assertEqual(sorted(sum(map(items_of, parts), [])), GOOD)

    def test_shortest_rank_ends_the_epoch(self):
        for parts in self.epochs("shortest"):
            self.assertEqual([len(steps) for steps in parts], [4, 4])
            self.assertNotIn(None, sum(parts, []))
            counts = collections.Counter(sum(map(items_of, parts), []))
            self.assertEqual(set(counts.values()), {1})

    def test_epoch_is_complete_after_a_sanity_check(self):
        for way in "sanity False", "sanity True":
            first, *rest = self.epochs(way)
            self.assertEqual([part[:2] for part in first], [[0, 2], [0, 2]])
            for epoch, parts in enumerate(rest, 1):
                self.assertEqual([part[:2] for part in parts],
                                 [[epoch, 4], [epoch, 4]])
                # Both runs use the same order, so no item occurs twice.
                items = [i for part in parts for i in part[2]]
                self.assertEqual(len(items), len(set(items)))
                self.assertGreaterEqual(len(items), len(GOOD) - 1)

    def test_resume_from_states_of_all_ranks(self):
        items = []
        for rank in self.ranks:
            n_states, before, after, epoch = rank["resume"]
            self.assertEqual([n_states, len(before), epoch], [2, 8, 1])
            items += before + after
        self.assertEqual(sorted(items), GOOD)

    def test_failing_rank_ends_all_ranks(self):
        first, second = (rank["fail"] for rank in self.ranks)
        self.assertEqual(first[1], "pipeline-error")
        self.assertRegex(first[2], r"^spdldecode\d+$")
        self.assertEqual(second, [first[0], "failed", None])


@unittest.skipUnless(torch.distributed.is_available()
                     and torch.distributed.is_gloo_available(),
                     "PyTorch is built without it")
class ElasticTest(unittest.TestCase):
    """Nodes come and go: two ranks, then three, then one."""

    N_ITEMS = 150

    def start(self):
        agent = start_agent(JOB.with_name("elastic_rank.py"), self.folder,
                            self.out, folder=self.out, min_nodes=1, max_nodes=4)
        self.addCleanup(self.kill, agent)
        return agent

    def kill(self, agent):
        """Kills the node with its rank, which may be in a session of its own."""
        if agent.poll() is None:
            for pid in agent.pid, *descendants(agent.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            agent.wait()

    def read_steps(self):
        try:
            return json.loads((self.out / "checkpoint").read_text())["steps"]
        except FileNotFoundError:
            return []

    def wait_for_steps(self, world, agent):
        """Waits until this number of ranks have made some steps. torchrun on a
        busy machine may take minutes to notice that a node is gone."""
        for _ in range(3000):
            steps = self.read_steps()
            if sum(step[1] == world for step in steps) >= 4:
                return
            self.assertIsNone(agent.poll())
            time.sleep(0.1)
        self.fail(f"no steps of {world} ranks after {len(steps)} others")

    def test_each_item_once(self):
        self.folder = make_dataset(self.N_ITEMS)
        self.out = make_folder()
        paths = sorted(self.folder.glob("*/*.jpg"))
        (self.folder / "list.txt").write_text(
            "".join(f"{path}\n" for path in paths))
        # No rank ends before the number of ranks has changed.
        (self.out / "wait").touch()
        first, *others = self.start(), self.start()
        self.wait_for_steps(2, first)
        others.append(self.start())
        self.wait_for_steps(3, first)
        for agent in others:
            self.kill(agent)
        self.wait_for_steps(1, first)
        (self.out / "wait").unlink()
        self.assertEqual(first.wait(120), 0)
        steps = self.read_steps()
        used = collections.Counter((epoch, i) for epoch, _, parts in steps
                                   for part in parts for i in part)
        self.assertEqual(used, {(epoch, i): 1 for epoch in range(2)
                                for i in range(self.N_ITEMS)})
        # The number of ranks changed within an epoch.
        worlds = {(epoch, world) for epoch, world, _ in steps}
        self.assertGreater(len(worlds), 2)


@unittest.skipUnless(torch.distributed.is_available()
                     and torch.distributed.is_gloo_available(),
                     "PyTorch is built without it")
class ImageNetTest(unittest.TestCase):
    """Runs the script of docs/how-to/imagenet.md with a small model."""

    def test_script(self):
        page = ROOT / "docs" / "how-to" / "imagenet.md"
        script = page.read_text().split("imagenet.py`:\n")[1]
        script = textwrap.dedent(script.split("\nRun it")[0])
        changes = {"90, 256, 500": 'int(os.environ["EPOCHS"]), 4, 3',
                   "resnet50(num": "small(num",
                   "from torchvision.models import resnet50": """
def small(num_classes):
    return nn.Sequential(nn.AvgPool2d(32), nn.Flatten(),
                         nn.Linear(147, num_classes))
"""}
        for old, new in changes.items():
            self.assertIn(old, script)
            script = script.replace(old, new)
        with tempfile.TemporaryDirectory() as out:
            folder = pathlib.Path(out, "imagenet")
            folder.mkdir()
            (folder / "train").symlink_to(make_dataset(N_ITEMS))
            shutil.copytree(make_dataset(14), folder / "val")
            # One class has no image, and one image is corrupt.
            shutil.rmtree(min((folder / "val").glob("[!.]*")))
            next((folder / "train").glob("*/*.jpg")).write_text("no picture")
            job = pathlib.Path(out, "imagenet.py")
            job.write_text(f"import os\nos.chdir({out!r})\n{script}")
            for first, last in (0, 2), (2, 3):
                shown = launch_ranks(N_RANKS, job, folder=out, EPOCHS=str(last))
                self.assertEqual(
                    re.findall(r"epoch (\d+): accuracy [\d.]+%", shown),
                    list(map(str, range(first, last))), shown)


if __name__ == "__main__":
    unittest.main()
