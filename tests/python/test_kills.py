#!/usr/bin/python3
# gst-spdl: tests that a killed trainer resumes with each item used once
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills runs of use_once.py, which is in the folder of examples, the first
argument. Each run is a fork, which takes a twentieth of the time of another
interpreter."""

import atexit
import collections
import io
import json
import os
import pathlib
import random
import signal
import socket
import sys
import tempfile
import time
import traceback
import unittest

from PIL import Image

sys.path.append(sys.argv.pop(1))
from support import slow_or  # noqa: E402
from use_once import N_EPOCHS, Journal, run  # noqa: E402

N_ITEMS = slow_or(5000, 2000)
BATCH = 16
N_KILLS = slow_or(50, 20)
# One file in forty is missing and one is not an image: 5 % fail, in two stages.
MISSING, BROKEN = 7, 23
FAILED = {i for i in range(N_ITEMS) if i % 40 in (MISSING, BROKEN)}
N_STEPS = N_EPOCHS * (N_ITEMS - len(FAILED)) // BATCH


def make_dataset():
    """Makes small files, some of which take ten times as long as others."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    rng = random.Random(1)
    images = []
    for side in 8, 16, 24, 32, 160:
        data = io.BytesIO()
        Image.effect_noise((side, side), 60).save(data, "JPEG")
        images.append(data.getvalue())
    path = pathlib.Path(folder.name)
    for i in range(N_ITEMS):
        if i % 40 != MISSING:
            path.joinpath(f"{i}.jpg").write_bytes(
                b"no image" if i % 40 == BROKEN else rng.choice(images))
    path.joinpath("list.txt").write_text(
        "".join(f"{i}.jpg\n" for i in range(N_ITEMS)))
    return path


FOLDER = make_dataset()


def describe(order):
    return (f'spdlsrc location="{FOLDER}/list.txt" shuffle=true seed=5 '
            f"epochs={N_EPOCHS} ! spdlfetch concurrency=4 output-order={order} "
            f"! spdldecode concurrency=4 output-order={order} width=8 height=8 "
            f"! spdlbatch batch-size={BATCH} ! spdlsink")


class ToldJournal(Journal):
    """A journal that reports each step and waits for permission to continue."""

    def __init__(self, out, told):
        super().__init__(out)
        self.told = told

    def commit(self, state, step):
        super().commit(state, step)
        self.told.send(b".")
        self.told.recv(1)


class Trainer:
    """A training process."""

    def __init__(self, order, out):
        self.socket, other = socket.socketpair()
        self.pid = os.fork()
        if self.pid > 0:
            other.close()
            return
        try:
            self.socket.close()
            run(describe(order), ToldJournal(out, other))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def wait_for_step(self):
        try:
            return len(self.socket.recv(1))
        except ConnectionResetError:
            # Killed before it had permission to continue.
            return 0

    def go_on(self):
        self.socket.send(b".")

    def end(self):
        """Returns the exit status and the number of steps that it still
        reported."""
        _, status = os.waitpid(self.pid, 0)
        n = self.wait_for_step()
        self.socket.close()
        return status, n

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        return self.end()


def read_log(data):
    """Returns the used and failed items of each epoch, in the order of the
    log."""
    used = [[] for _ in range(N_EPOCHS)]
    failed = [[] for _ in range(N_EPOCHS)]
    for line in data.splitlines():
        step = json.loads(line)
        used[step["epoch"]] += step["used"]
        for epoch, index in step["failed"]:
            failed[epoch].append(index)
    return used, failed


class KillTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name)
        cls.run_to_end(cls, "input", cls.out / "whole")
        # Items in the order in which they leave the source.
        cls.wanted = read_log((cls.out / "whole" / "log").read_bytes())[0]

    def run_to_end(self, order, out):
        trainer = Trainer(order, out)
        while trainer.wait_for_step():
            trainer.go_on()
        status, _ = trainer.end()
        if status != 0:
            raise AssertionError(f"the trainer ended with {status}")

    def look(self, out, before):
        """Checks the files after a kill: the log has grown, and nothing else
        has changed."""
        log = out / "log"
        data = log.read_bytes() if log.exists() else b""
        self.assertTrue(data.startswith(before))
        if (out / "progress").exists():
            saved = json.loads((out / "progress").read_text())
            line = saved["line"].encode()
            end = saved["begin"] + len(line)
            self.n_unfinished += len(data) < end
            self.n_overtaken += self.is_overtaken(
                read_log(data[:saved["begin"]] + line)[0])
        return data

    def is_overtaken(self, used):
        """Returns whether unused items precede used ones."""
        for items, wanted in zip(used, self.wanted):
            if set(items) != set(wanted[:len(items)]):
                return True
        return False

    def run_killed(self, order, out):
        rng = random.Random(order)
        self.n_overtaken = self.n_unfinished = n = 0
        data = b""
        for moment in sorted(rng.sample(range(N_STEPS - N_KILLS), N_KILLS)):
            trainer = Trainer(order, out)
            while n < moment:
                self.assertTrue(trainer.wait_for_step())
                trainer.go_on()
                n += 1
            # Anywhere in the next step, or before the first step of a run.
            time.sleep(rng.random() * 0.004)
            status, more = trainer.kill()
            self.assertEqual(status, signal.SIGKILL)
            n += more
            data = self.look(out, data)
        self.run_to_end(order, out)
        self.look(out, data)
        print(f"{order}: {N_KILLS} kills, {self.n_overtaken} while items had "
              f"overtaken others, {self.n_unfinished} between the rename and "
              "the log", file=sys.stderr)

    def check(self, order):
        out = self.out / order
        self.run_killed(order, out)
        used, failed = read_log((out / "log").read_bytes())
        for epoch in range(N_EPOCHS):
            with self.subTest(epoch=epoch):
                self.assertEqual(
                    collections.Counter(used[epoch] + failed[epoch]),
                    {i: 1 for i in range(N_ITEMS)})
                self.assertEqual(set(failed[epoch]), FAILED)
        return used

    def test_input_order(self):
        self.assertEqual(self.check("input"), self.wanted)
        self.assertEqual(self.n_overtaken, 0)

    def test_completion_order(self):
        used = self.check("completion")
        # Items have overtaken others, also in a run that was killed.
        for epoch, wanted in zip(used, self.wanted):
            self.assertNotEqual(epoch, wanted)
        self.assertGreater(self.n_overtaken, 0)


class JournalTest(unittest.TestCase):
    """Tests the journal truncated at each byte, as a kill may leave it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def write(self, out, *steps):
        journal = Journal(out)
        for step in steps:
            journal.commit(f"state {step}", step)
        journal.close()

    def test_truncated_log_is_completed(self):
        self.write(self.out / "whole", 1, 22, 333)
        log = (self.out / "whole" / "log").read_bytes()
        progress = (self.out / "whole" / "progress").read_bytes()
        self.assertEqual(log, b"1\n22\n333\n")
        for size in range(len(b"1\n22\n"), len(log) + 1):
            out = self.out / str(size)
            out.mkdir()
            (out / "log").write_bytes(log[:size])
            (out / "progress").write_bytes(progress)
            journal = Journal(out)
            self.assertEqual(journal.state, "state 333")
            self.assertEqual((out / "log").read_bytes(), log)
            journal.close()
            self.write(out, 4)
            self.assertEqual((out / "log").read_bytes(), log + b"4\n")

    def test_uncommitted_step_is_ignored(self):
        self.write(self.out, 1)
        (self.out / "progress.new").write_text('{"state": "state 2", "beg')
        journal = Journal(self.out)
        self.assertEqual(journal.state, "state 1")
        journal.close()
        self.write(self.out, 2)
        self.assertEqual((self.out / "log").read_bytes(), b"1\n2\n")

    def test_missing_state(self):
        with self.assertRaisesRegex(ValueError, "max-gaps"):
            Journal(self.out).commit(None, 1)


if __name__ == "__main__":
    unittest.main()
