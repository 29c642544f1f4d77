#!/usr/bin/python3
# gst-spdl: tests of gst-spdl-launch-1.0 --sweep and --isolate
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import pathlib
import tempfile
import time
import unittest

from launching import interrupt, launch_json, launch_report, running


class SweepTest(unittest.TestCase):
    """Tests tasks that sleep: twice the workers double the rate, up to the
    second stage's 100 items per second."""

    JOB = ("fakesrc sizetype=fixed sizemax=8 ! spdlteststage name=a "
           "sleep=40000000 ! spdlteststage name=b sleep=10000000 ! spdlsink")

    def run_sweep(self, *args, job=JOB):
        done, data, page = launch_report(*args, job)
        self.assertIn("<svg", page)
        return done, data

    def test_sweep(self):
        done, data = self.run_sweep("--sweep", "a.concurrency=1,4,32",
                                    "--duration", "1.5")
        self.assertEqual([point["setting"] for point in data["points"]],
                         [f"a.concurrency={c}" for c in (1, 4, 32)])
        rates = [point["items-per-second"] for point in data["points"]]
        self.assertGreater(rates[1], 2 * rates[0])
        self.assertLess(rates[2], 1.5 * rates[1])
        self.assertIn(data["recommended"],
                      ("a.concurrency=4", "a.concurrency=32"))
        self.assertIn(f"try: --set {data['recommended']}\n", done.stdout)
        runs = {point["setting"]: point["runs"] for point in data["points"]}
        self.assertEqual(runs[data["recommended"]], 2)
        # The suggestion can be pasted.
        done, again = launch_json("--set", data["recommended"], "--duration",
                                  "1", self.JOB)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(f"a.concurrency={again['stages'][0]['concurrency']}",
                         data["recommended"])

    def test_largest_value_is_the_limit(self):
        """Tests that the largest value tried is still the limit."""
        done, data = self.run_sweep("--sweep", "a.concurrency=1,4",
                                    "--duration", "1",
                                    job=self.JOB.replace("=4", "=8", 1))
        self.assertEqual(data["recommended"], "a.concurrency=4")
        self.assertRegex(done.stdout, r"try\s+more\s+than")

    def test_repeated_source(self):
        """Tests that a short source is repeated so that each run has its full
        length."""
        with tempfile.TemporaryDirectory() as folder:
            for i in range(3):
                (pathlib.Path(folder) / str(i)).write_text("x")
            begin = time.monotonic()
            done, data = launch_json(
                "--sweep", "a.concurrency=1,2", "--duration", "1.5",
                f"spdlsrc location={folder} pattern=? "
                "! spdlteststage name=a sleep=10000000 ! spdlsink")
            took = time.monotonic() - begin
        self.assertEqual(done.returncode, 0, done.stderr)
        # Three items take only a fiftieth of the duration.
        self.assertGreater(took, 2 * 1.5)
        for point in data["points"]:
            self.assertGreater(point["items-per-second"], 0)

    def test_interrupted(self):
        """Tests that Ctrl-C ends all runs and shows the results so far."""
        for option, value in (("--sweep", "a.concurrency=1,2,4"),
                              ("--isolate", "a")):
            with running(option, value, "--items", "20", "--duration", "0.5",
                         self.JOB) as process:
                while "concurrency=2" not in process.stderr.readline():
                    self.assertIsNone(process.poll())
                out, err = interrupt(process)
            self.assertEqual(process.returncode, 0, err)
            self.assertNotIn("repeating", err)
            self.assertIn("a.concurrency=1 ", out)
            self.assertNotIn("try:", out)

    def test_isolate(self):
        _, data = self.run_sweep("--isolate", "a", "--items", "20",
                                 "--duration", "0.8")
        rates = [point["items-per-second"] for point in data["points"]]
        # In isolation, it is not held up by the second stage.
        self.assertGreater(rates[3], 4 * rates[0])
        self.assertGreater(max(rates), 130)

    def test_isolate_in_a_branch(self):
        """Tests that what no one pulls does not block the recording."""
        with tempfile.TemporaryDirectory() as folder:
            for i in range(400):
                (pathlib.Path(folder) / f"{i}.txt").write_text("x")
            done, data = launch_json(
                "--isolate", "a", "--items", "50", "--duration", "0.3",
                f"spdlsrc location={folder} pattern=*.txt ! spdlroute name=r "
                "src_0::condition=uri=*@(0|2|4|6|8).txt r.src_0 "
                "! spdlteststage name=a sleep=10000000 ! m. "
                "r.src_1 ! spdlfetch ! m. spdlmix name=m order=arrival "
                "! spdlsink")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(data["points"]), 0)


if __name__ == "__main__":
    unittest.main()
