#!/usr/bin/python3
# gst-spdl: several processes that train together, started by torchrun
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import collections
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

import torch.distributed
from support import make_dataset

N_RANKS = 2
# For two ranks and batches of four: 17 and 16 items, 5 and 4 batches. One item
# of the second rank's fails, so that with pad, too, it has a batch less.
N_ITEMS = 33
BROKEN = 3
GOOD = [i for i in range(N_ITEMS) if i != BROKEN]
JOB = pathlib.Path(__file__).with_name("ranks.py")


def items_of(steps):
    return [i for step in steps if step for i in step]


def meeting_place(folder):
    """torchrun's options for where the ranks meet. The store of newer versions
    needs libuv, which Debian 13's PyTorch has not: there, a file."""
    if int(torch.__version__.partition(".")[0]) >= 2:
        return ["--rdzv_backend", "c10d", "--rdzv_endpoint", f"{folder}/meet",
                "--rdzv_conf", "store_type=file", "--local_addr", "127.0.0.1"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return ["--master_addr", "127.0.0.1", "--master_port",
                str(probe.getsockname()[1])]


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
            # A barrier that one rank never comes to would end in the timeout.
            # Debian 12's torchrun takes no default for redirects and tee: what
            # it makes of 0 fails with Python 3.11.
            # An address and an interface, as not every machine can look up
            # the name localhost, or its own.
            subprocess.run(
                [sys.executable, "-m", "torch.distributed.run",
                 *meeting_place(out),
                 "--nproc_per_node", str(N_RANKS),
                 "--redirects", "1", "--tee", "1", JOB, folder, out],
                env=dict(os.environ, GLOO_SOCKET_IFNAME="lo", USE_LIBUV="0",
                         TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1"),
                check=True, timeout=200)
            cls.ranks = [json.loads(pathlib.Path(out, str(rank)).read_text())
                         for rank in range(N_RANKS)]

    def epochs(self, way):
        """For each epoch the ranks' steps."""
        return zip(*(rank[way] for rank in self.ranks))

    def test_pad(self):
        for parts in self.epochs("pad"):
            self.assertEqual([len(steps) for steps in parts], [5, 5])
            self.assertEqual([step is None for step in parts[1]],
                             [False] * 4 + [True])
            # The first one comes again, so that all ranks have as many.
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
            # Disjoint, and complete.
            self.assertEqual(sorted(sum(map(items_of, parts), [])), GOOD)

    def test_as_many_as_the_shortest(self):
        for parts in self.epochs("shortest"):
            self.assertEqual([len(steps) for steps in parts], [4, 4])
            self.assertNotIn(None, sum(parts, []))
            counts = collections.Counter(sum(map(items_of, parts), []))
            self.assertEqual(set(counts.values()), {1})

    def test_a_sanity_check_shortens_no_epoch(self):
        for way in "sanity False", "sanity True":
            first, *rest = self.epochs(way)
            self.assertEqual([part[:2] for part in first], [[0, 2], [0, 2]])
            for epoch, parts in enumerate(rest, 1):
                self.assertEqual([part[:2] for part in parts],
                                 [[epoch, 4], [epoch, 4]])
                # Of the same order: no item comes twice.
                items = [i for part in parts for i in part[2]]
                self.assertEqual(len(items), len(set(items)))
                self.assertGreaterEqual(len(items), len(GOOD) - 1)

    def test_a_rank_that_fails_ends_all(self):
        first, second = (rank["fail"] for rank in self.ranks)
        self.assertEqual(first[1], "pipeline-error")
        self.assertEqual(second[:2], [first[0], "failed"])
        self.assertIn("another rank", second[2])


if __name__ == "__main__":
    unittest.main()
