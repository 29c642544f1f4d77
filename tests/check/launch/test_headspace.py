#!/usr/bin/python3
# gst-spdl: tests of gst-spdl-launch-1.0 --headspace
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import pathlib
import tempfile
import unittest

from launching import (interrupt, launch, launch_json, launch_report,
                       running)


class HeadspaceTest(unittest.TestCase):
    """A pipeline with 20 ms per batch and a trainer with 5 ms."""

    JOB = ("fakesrc sizetype=fixed sizemax=8 filltype=zero "
           "! spdlteststage name=a sleep={} ! spdlsink")

    def run_headspace(self, job, *args):
        done, data, page = launch_report("--headspace", *args, job)
        self.assertIn("<svg", page)
        return done, data

    def test_slow_loading(self):
        done, data = self.run_headspace(
            self.JOB.format(20 * 10**6), "--step", "5", "--duration", "0.5",
            "--rounds", "2")
        # Both orders are used in turn.
        self.assertEqual([run["cached"] for run in data["runs"]],
                         [False, True, True, False])
        for run in data["runs"]:
            # The wait and the step add up to the whole time.
            self.assertGreaterEqual(run["batch-time"],
                                    5 * 10**6 + run["ave-get-time"])
            self.assertGreaterEqual(run["p50-step-time"], 5 * 10**6)
            if not run["cached"]:
                self.assertGreaterEqual(run["batch-time"], 19 * 10**6)
        base, cached = data["base"]["batch-time"], data["cached"]["batch-time"]
        self.assertAlmostEqual(data["headspace"], (base - cached) / base, 5)
        self.assertEqual(data["step"], 5 * 10**6)
        # 75 % on an idle machine.
        self.assertGreater(data["headspace"], 0.3)
        self.assertEqual(data["advice"], "worth-it")
        self.assertIn(data["verdict"], " ".join(done.stdout.split()))
        self.assertEqual(done.stdout.count("from the cache  "), 2)

    def test_runs_too_short(self):
        done = launch("--headspace", "--step", "1", "--duration", "1",
                      "fakesrc num-buffers=12 sizetype=fixed ! spdlsink")
        self.assertEqual(done.returncode, 1)
        self.assertIn(" 12 ", done.stderr)

    def test_repeated_source(self):
        """Tests that a short source is restarted."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "one").write_text("x")
            _, data = self.run_headspace(
                f"spdlsrc location={folder} ! spdlsink", "--step", "1",
                "--duration", "0.2", "--rounds", "1")
            self.assertEqual(len(data["runs"]), 2)

    def interrupt_at(self, line):
        """Sends Ctrl-C at the start of a run with two short rounds."""
        with running("--headspace", "--step", "1", "--duration", "0.2",
                     "--rounds", "2", self.JOB.format(10**6)) as process:
            while line not in process.stderr.readline():
                self.assertIsNone(process.poll())
            out, err = interrupt(process)
            return process.returncode, out, err

    def test_interrupt_keeps_complete_rounds(self):
        """Tests that an interrupt keeps the completed rounds."""
        status, out, err = self.interrupt_at("1 of 4")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"(?m)^error: .*\b1 of 2\b")
        status, out, _ = self.interrupt_at("3 of 4")
        self.assertEqual(status, 0)
        self.assertEqual(out.count("from the cache  "), 1)
        self.assertRegex(out, r"(?s)\d ms .*\d %")

    def test_pipeline_with_cache(self):
        """Tests a pipeline with its own spdlcache: the verdict names no stage."""
        done, data = launch_json("--batches", "100", self.JOB.format(
            10**6).replace("! spdlsink",
                           "! spdlcache return-caches-after=20 ! spdlsink"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["verdict"]["limit"], "cached")
        self.assertEqual(data["verdict"]["element"], "cache")
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertGreaterEqual(stages["cache"]["num-cached"], 80)
        self.assertIn("p50-step-time", stages["sink"])


if __name__ == "__main__":
    unittest.main()
