#!/usr/bin/python3
# gst-spdl: tests of the reports of failed items
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import threading
import unittest
import warnings

from errors import raises_with
from support import (describe, make_dataset, make_folder, needs_launch,
                     wait_until)
from gstspdl import CacheLoader, Loader, LoaderError, LoaderWarning

N_GOOD, N_BAD = 20, 80


def make_failing(name):
    """Makes good images, and a folder of other files before or after them."""
    folder = make_dataset(N_GOOD)
    (folder / name).mkdir()
    for number in range(N_BAD):
        (folder / name / f"bad-{number:02}.jpg").write_text("no picture")
    return folder


FOLDER = make_failing("aaa")
GOOD = make_dataset(10)


def job(folder=FOLDER, rate="max-failure-rate=1", **more):
    return describe(folder, decode=rate, **more)


def here():
    """Returns the caller's line number."""
    return sys._getframe(1).f_lineno


class WarningTest(unittest.TestCase):
    def check(self, caught, epochs, first_line=None):
        self.assertEqual([w.category for w in caught],
                         [LoaderWarning] * len(epochs))
        for warning, epoch in zip(caught, epochs):
            message = warning.message
            self.assertEqual(message.epoch, epoch)
            self.assertEqual(message.num_failures, N_BAD)
            self.assertEqual(message.stage, "decode")
            self.assertIn("bad-", message.uri)
            self.assertTrue(message.reason)
            self.assertIn(f"decode: {N_BAD} of {N_GOOD + N_BAD} items",
                          str(message))
            self.assertIn("bad-", str(message))
            self.assertEqual(warning.filename, __file__)
            if first_line:
                self.assertEqual(warning.lineno, first_line)

    def test_one_warning_per_epoch(self):
        for process in False, True:
            with self.subTest(process=process), Loader(
                    job(), process=process) as loader:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    for epoch in range(3):
                        line = here() + 1
                        for _ in loader:
                            self.assertEqual(len(caught), epoch)
                self.check(caught, range(3), line)

    def test_line_of_the_caller(self):
        """Tests that a warning names the line of the application, also if the
        package iterates."""
        with Loader(job()) as loader, warnings.catch_warnings(
                record=True) as caught:
            warnings.simplefilter("always")
            line = here() + 1
            for _ in CacheLoader(loader, return_caches_after=1000):
                pass
        self.check(caught, [0], line)

    def test_loop_in_a_thread(self):
        threads = []
        with Loader(job()) as loader, warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = (
                lambda *_: threads.append(threading.get_ident()))
            taker = threading.Thread(target=list, args=[loader])
            taker.start()
            taker.join()
        self.assertEqual(threads, [taker.ident])

    def test_warning_as_error(self):
        """Tests that an error ends only the current loop, after all its
        batches."""
        for process in False, True:
            with self.subTest(process=process), Loader(
                    job(), process=process) as loader:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    for epoch in range(2):
                        seen, batches = [], iter(loader)
                        with self.assertRaises(LoaderWarning) as raised:
                            for batch in batches:
                                seen += batch.indices
                        self.assertEqual(raised.exception.epoch, epoch)
                        self.assertEqual(len(seen), N_GOOD)
                        self.assertEqual(list(batches), [])
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    self.assertEqual(
                        sum(b.num_items for b in loader), N_GOOD)
                self.check(caught, [2])
                self.assertEqual(loader.num_failures, 3 * N_BAD)

    def test_other_warnings(self):
        """Tests that a warning of an element is issued once, with the user's
        line, and that an exception in its place loses no batch."""
        images = sorted(GOOD.glob("*/*.jpg"))[:2]
        n_images = len(images)
        flat = make_folder()  # one image is in no class
        (flat / "class").mkdir()
        for path, name in zip(images, ("class/a.jpg", "b.jpg")):
            shutil.copy(path, flat / name)
        line = describe(flat, size=1)
        with Loader(line) as loader, warnings.catch_warnings(
                record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                self.assertEqual(len(list(loader)), n_images)
        self.assertEqual(len(caught), 1)
        self.assertIs(caught[0].category, LoaderWarning)
        self.assertEqual(caught[0].filename, __file__)
        self.assertEqual(caught[0].message.num_failures, 0)
        self.assertIn(str(flat), str(caught[0].message))
        with Loader(line) as loader, warnings.catch_warnings():
            warnings.simplefilter("error")
            n, n_raised = 0, 0
            batches = iter(loader)
            while True:
                try:
                    next(batches)
                    n += 1
                except LoaderWarning:
                    n_raised += 1
                except StopIteration:
                    break
            self.assertEqual((n, n_raised), (n_images, 1))

    def test_no_warning_without_failures(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Loader(describe(GOOD)) as loader:
                for _ in range(2):
                    self.assertEqual(sum(b.num_items for b in loader), 10)
            with Loader(job()) as loader:
                # Filtered and unawaited items did not fail.
                for _ in itertools.islice(loader, 1):
                    pass


class CountTest(unittest.TestCase):
    def wait_for_failures(self, loader, n):
        wait_until(lambda: next(
            s for s in loader.stats
            if s["stage"] == "decode")["num-failures"] > n)

    def test_failures_of_reached_epochs(self):
        """Tests the counts per epoch: 20 good and 80 bad files once gave 265
        failures after one epoch."""
        with Loader(job()) as loader, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for epoch in range(3):
                for _ in loader:
                    self.wait_for_failures(loader, N_BAD * (epoch + 1))
                self.assertEqual(loader.num_failures, N_BAD * (epoch + 1))
                self.assertEqual(loader.failures[-1].epoch, epoch)
                self.assertEqual(loader.epoch, epoch + 1)
            # Looks ahead to find out where the pipeline is.
            loader.set_epoch(7)
            self.assertEqual({f.epoch for f in loader.failures}, {1, 2})
            list(loader)
            self.assertEqual(loader.num_failures, N_BAD)
            self.assertEqual(loader.failures[-1].epoch, 7)

    def test_error_found_ahead(self):
        """Tests that failures found while looking ahead for an error do not
        count yet."""
        folder = make_failing("zzz")
        with Loader(job(folder, source="epochs=-1", size=N_GOOD,
                        order="input"),
                    max_failures=N_BAD + 5) as loader, \
                warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seen = 0
            for batch in loader:
                seen += batch.num_items
                wait_until(lambda: loader.error)
            self.assertEqual(seen, N_GOOD)
            self.assertEqual(loader.num_failures, N_BAD)
            self.assertEqual({f.epoch for f in loader.failures}, {0})
            self.assertEqual([w.message.epoch for w in caught], [0])
            with raises_with("failures"):
                list(loader)

    def test_default_rate(self):
        """Tests that by default at most half of the items in an epoch may
        fail."""
        for process in False, True:
            with self.subTest(process=process), Loader(
                    job(rate="", order="input"), process=process) as loader:
                with self.assertRaisesRegex(
                        LoaderError, "max-failure-rate") as raised:
                    list(loader)
                self.assertEqual(raised.exception.code, "pipeline-error")
                self.assertEqual(raised.exception.stage, "decode")


@needs_launch
class LaunchTest(unittest.TestCase):
    def run_launch(self, *arguments):
        done = subprocess.run(
            ["gst-launch-1.0", *arguments], capture_output=True, text=True,
            timeout=100, check=False, env={**os.environ, "LC_ALL": "C"})
        return done.returncode, done.stdout + done.stderr

    def test_warnings(self):
        """Tests that gst-launch-1.0 prints the first three failures, the 10th
        and a summary per epoch, and those of a worker once."""
        line = job(source="epochs=2", order="input").replace(
            "! spdlsink name=sink", "")
        for command in (line + " ! fakesink", None):
            arguments = command.split() if command else [
                "spdlworkersrc", f"pipeline={line}", "!", "fakesink"]
            with self.subTest(worker=command is None):
                code, text = self.run_launch(
                    *(a.replace('"', "") for a in arguments)
                    if command else arguments)
                self.assertEqual(code, 0, text)
                found = re.findall(r"^WARNING: .*", text, re.MULTILINE)
                self.assertEqual(len(found), 2 * 5, text)
                for epoch in range(2):
                    sums = [w for w in found if f"{N_BAD} of "
                            f"{N_GOOD + N_BAD} items failed in epoch {epoch};"
                            in w]
                    self.assertEqual(len(sums), 1, text)
                    self.assertIn("bad-", sums[0])

    def test_default_rate(self):
        code, text = self.run_launch(
            *job(rate="").replace('"', "").replace("spdlsink",
                                                   "fakesink").split())
        self.assertNotEqual(code, 0)
        self.assertIn("max-failure-rate", text)


if __name__ == "__main__":
    unittest.main()
