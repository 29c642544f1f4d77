#!/usr/bin/python3
# gst-spdl: tests of traces of loaders
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import collections
import json
import os
import unittest
import warnings

import gstspdl
from support import make_dataset, make_folder

LINE = ('spdlsrc location="{}" epochs=2 ! spdlfetch name=fetch '
        "! spdldecode name=decode width=16 height=16 ! spdlbatch batch-size=4 "
        "! spdlsink name=sink")


class TraceTest(unittest.TestCase):
    def setUp(self):
        self.path = make_folder() / "run.json"
        self.line = LINE.format(make_dataset(12))

    def count(self):
        """Returns the number of tasks and other events by name."""
        data = json.loads(self.path.read_text())
        return collections.Counter(
            event["name"] for event in data["traceEvents"]
            if event["ph"] in "Xb")

    def test_loop(self):
        with gstspdl.trace(self.path), gstspdl.Loader(self.line) as loader:
            for _ in range(2):
                self.assertEqual(sum(batch.num_items for batch in loader), 12)
        found = self.count()
        self.assertEqual(found["decode"], 24)
        self.assertEqual(found["fetch"], 24)
        self.assertEqual(found["sink: no batch"], 6)
        self.assertEqual(found["sink: step"], 5)

    def test_error_in_block(self):
        with self.assertRaises(ZeroDivisionError), gstspdl.trace(self.path):
            with gstspdl.Loader(self.line) as loader:
                next(iter(loader))
                1 / 0
        self.assertGreater(self.count()["decode"], 0)

    def test_loaders_outside(self):
        """Tests loaders that started before, or run on after the block."""
        before = gstspdl.Loader(self.line)
        next(iter(before))
        with gstspdl.trace(self.path):
            after = gstspdl.Loader(self.line)
            next(iter(after))
            before.stop()
        self.assertEqual(sum(batch.num_items for batch in after), 12)
        after.stop()
        self.assertEqual(self.count()["sink: no batch"], 1)

    def test_errors(self):
        with self.assertRaises(OSError), gstspdl.trace(self.path / "missing"):
            self.fail("the block was entered")
        with gstspdl.trace(self.path):
            with self.assertRaises(OSError), gstspdl.trace(self.path):
                self.fail("the block was entered")
        if os.path.exists("/dev/full"):
            with self.assertRaises(OSError), gstspdl.trace("/dev/full"):
                pass
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with gstspdl.trace(self.path):
                pass
        self.assertEqual(self.count(), {})


if __name__ == "__main__":
    unittest.main()
