#!/usr/bin/python3
# gst-spdl: tests of gst-spdl-launch-1.0 --trace
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import collections
import json
import os
import pathlib
import tempfile
import time
import unittest

from launching import interrupt, launch, launch_json, running

JOB = ("fakesrc sizetype=fixed sizemax=8 num-buffers=600 ! spdlteststage "
       "name=first concurrency=3 sleep=200000 fail-every=100 "
       "! spdlteststage name=second sleep=500000 queue-size=4 ! spdlsink")


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "trace.json"

    def read(self):
        data = json.loads(self.path.read_text("utf-8"))
        return [event for event in data["traceEvents"] if event["ph"] == "X"]

    def test_tasks(self):
        done, data = launch_json("--trace", self.path, JOB)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = self.read()
        tasks = collections.defaultdict(list)
        for event in events:
            if event["cat"] == "task":
                tasks[event["name"]].append(event)
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertEqual(sorted(tasks), ["first", "second"])
        for name, found in tasks.items():
            self.assertEqual(len(found), stages[name]["num-tasks"])
            numbers = [event["args"]["first"] for event in found]
            self.assertEqual(len(set(numbers)), len(numbers))
            self.assertGreaterEqual(min(event["dur"] for event in found),
                                    200 if name == "first" else 500)
        self.assertEqual(len({event["tid"] for event in tasks["second"]}), 1)
        self.assertEqual(len({event["tid"] for event in tasks["first"]}), 3)
        names = {event["name"] for event in events}
        self.assertLessEqual(
            {"first: no room", "second: no room", "first: push",
             "second: no result", "spdlsink0: no batch", "spdlsink0: step"},
            names)

    def test_order(self):
        """Tests that the events of a thread follow each other or enclose each
        other, and lie within the run."""
        launch("--trace", self.path, JOB).check_returncode()
        threads = collections.defaultdict(list)
        for event in self.read():
            begin = round(1000 * event["ts"])
            threads[event["tid"]].append(
                (begin, -round(1000 * event["dur"]), event["name"]))
        for events in threads.values():
            ends = []
            for begin, duration, name in sorted(events):
                self.assertGreater(begin, 0)
                while ends and ends[-1] <= begin:
                    ends.pop()
                if ends:
                    self.assertLessEqual(begin - duration, ends[-1], name)
                ends.append(begin - duration)

    def test_end(self):
        """Tests that the file is complete after an early end."""
        endless = JOB.replace("num-buffers=600", "")
        launch("--trace", self.path, "--batches", "20",
               endless).check_returncode()
        self.assertTrue(self.read())
        self.path.unlink()
        with running("--trace", self.path, endless) as process:
            while not self.path.exists() or self.path.stat().st_size < 70000:
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            interrupt(process)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(self.read())

    def test_errors(self):
        done = launch("--trace", self.folder / "missing" / "a", JOB)
        self.assertEqual(done.returncode, 1)
        self.assertIn("missing/a", done.stderr)
        for option in ["--sweep", "first.concurrency=1"], ["--isolate", "first"]:
            done = launch("--trace", self.path, *option, JOB)
            self.assertEqual(done.returncode, 2)
        if os.path.exists("/dev/full"):
            done = launch("--trace", "/dev/full", JOB)
            self.assertEqual(done.returncode, 1)
            self.assertIn("/dev/full", done.stderr)


if __name__ == "__main__":
    unittest.main()
