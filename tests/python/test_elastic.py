#!/usr/bin/python3
# gst-spdl: tests that ranks are killed and others resume, with each item once
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills random ranks of a training, and resumes it with another number of ranks
from the states of all. The arguments are the folder of examples, which has
use_once.py, and the number of kills in each output order, which is 20 by
default, and 60 in the slow mode."""

import collections
import json
import os
import pathlib
import random
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import traceback
import unittest
import warnings

EXAMPLES = sys.argv[1]
N_KILLS = int(sys.argv.pop(2)) if len(sys.argv) > 2 else None
from test_kills import (FAILED, FOLDER, N_EPOCHS, N_ITEMS,  # noqa: E402
                        N_STEPS, ToldJournal, read_log)
from support import slow_or  # noqa: E402
from use_once import Journal, run  # noqa: E402

from gstspdl import (Loader, LoaderWarning, merge_states,  # noqa: E402
                     reshard_states)

N_KILLS = N_KILLS or slow_or(60, 20)
MAX_WORLD = 16


def describe(order, rank, world):
    return (f'spdlsrc location="{FOLDER}/list.txt" shuffle=true seed=5 '
            f"rank={rank} world-size={world} shard-mode=uneven "
            f"epochs={N_EPOCHS} ! spdlfetch concurrency=3 output-order={order} "
            f"! spdldecode concurrency=3 output-order={order} width=8 height=8 "
            "! spdlbatch batch-size=16 ! spdlsink")


class Rank:
    """A training process with a journal."""

    def __init__(self, order, out, rank, world, state):
        self.out = out / str(rank)
        self.begun_at = state
        self.killed = False
        self.socket, other = socket.socketpair()
        self.pid = os.fork()
        if self.pid > 0:
            other.close()
            return
        try:
            self.socket.close()
            warnings.simplefilter("ignore", LoaderWarning)
            journal = ToldJournal(self.out, other)
            journal.state = state
            run(describe(order, rank, world), journal)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.killed = True

    def end(self):
        """Returns the exit status."""
        status = os.waitpid(self.pid, 0)[1]
        self.socket.close()
        return status

    def read_state(self):
        """Completes the log, and returns the state to resume from."""
        journal = Journal(self.out)
        journal.close()
        return journal.state or self.begun_at


class World:
    """All ranks between two changes of their number."""

    def __init__(self, order, out, states):
        self.ranks = [Rank(order, out, rank, len(states), state)
                      for rank, state in enumerate(states)]
        self.selector = selectors.DefaultSelector()
        for rank in self.ranks:
            self.selector.register(rank.socket, selectors.EVENT_READ, rank)
        self.n_steps = self.n_kills = 0

    def wait(self, timeout=None):
        """Lets ranks go on that have made a step, or sees them end."""
        for key, _ in self.selector.select(timeout):
            rank = key.data
            try:
                told = rank.socket.recv(1)
            except ConnectionResetError:
                told = b""
            if told:
                self.n_steps += 1
                try:
                    rank.socket.send(b".")
                except BrokenPipeError:
                    pass  # it was killed
            else:
                self.selector.unregister(rank.socket)

    def is_running(self):
        return bool(self.selector.get_map())

    def kill(self, rank):
        if rank.socket in self.selector.get_map() and not rank.killed:
            rank.kill()
            self.n_kills += 1

    def run(self, rng, n_steps, max_kills):
        """Kills some ranks at random steps, and all others at random moments
        after the last one."""
        early = rng.sample(self.ranks, rng.randrange(len(self.ranks)))
        moments = sorted((rng.randrange(n_steps), i)
                         for i in range(len(early)))
        while self.is_running() and self.n_steps < n_steps:
            self.wait()
            while (moments and moments[0][0] <= self.n_steps
                   and self.n_kills < max_kills):
                self.kill(early[moments.pop(0)[1]])
        for rank in rng.sample(self.ranks, len(self.ranks)):
            if self.n_kills == max_kills:
                break
            self.wait(rng.random() * 0.004)
            self.kill(rank)
        while self.is_running():
            self.wait()
        for rank in self.ranks:
            status = rank.end()
            # A rank may have ended before the kill.
            if status != 0 and not (rank.killed and status == signal.SIGKILL):
                raise AssertionError(f"a rank ended with {status}")


class ElasticTest(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.out)

    def run_worlds(self, order, rng):
        """Returns the folders of all worlds."""
        states = None
        n_kills = n_apart = longest = 0
        folders = []
        n_left = N_STEPS
        while True:
            world = rng.randint(1, MAX_WORLD)
            states = (reshard_states(states, world) if states
                      else self.begin(order, world))
            folders.append(self.out / str(len(folders)))
            ranks = World(order, folders[-1], states)
            # As many steps as are left for each of the worlds to come.
            n_worlds = 1 + 2 * (N_KILLS - n_kills) / (MAX_WORLD + 1)
            n_steps = rng.randint(1, max(1, int(1.5 * n_left / n_worlds)))
            ranks.run(rng, n_steps, N_KILLS - n_kills)
            n_kills += ranks.n_kills
            n_left -= ranks.n_steps
            states = [rank.read_state() for rank in ranks.ranks]
            longest = max(longest, *map(len, states))
            if not any(rank.killed for rank in ranks.ranks):
                break
            n_apart += len({state.partition(",epoch=")[2].partition(",")[0]
                            for state in states}) > 1
            states = merge_states(states)
        print(f"{order}: {n_kills} kills, {len(folders)} numbers of ranks, "
              f"{n_apart} times in different epochs, states of up to {longest} "
              "bytes", file=sys.stderr)
        self.assertEqual(n_kills, N_KILLS)
        return folders

    def begin(self, order, world):
        """Returns the states of ranks before their first batch. A process that
        forks has no threads of a loader, so another one loads."""
        file = self.out / "begin"
        pid = os.fork()
        if pid == 0:
            try:
                states = []
                for rank in range(world):
                    with Loader(describe(order, rank, world)) as loader:
                        states.append(loader.state)
                file.write_text(json.dumps(states))
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        return json.loads(file.read_text())

    def check(self, order):
        rng = random.Random(order)
        used = [collections.Counter() for _ in range(N_EPOCHS)]
        failed = [collections.Counter() for _ in range(N_EPOCHS)]
        for folder in self.run_worlds(order, rng):
            for log in folder.glob("*/log"):
                for epoch, (more, bad) in enumerate(
                        zip(*read_log(log.read_bytes()))):
                    used[epoch].update(more)
                    failed[epoch].update(bad)
        for epoch in range(N_EPOCHS):
            with self.subTest(epoch=epoch):
                self.assertEqual(failed[epoch], dict.fromkeys(FAILED, 1))
                self.assertEqual(used[epoch], {
                    i: 1 for i in range(N_ITEMS) if i not in FAILED})

    def test_input_order(self):
        self.check("input")

    def test_completion_order(self):
        self.check("completion")


if __name__ == "__main__":
    unittest.main()
