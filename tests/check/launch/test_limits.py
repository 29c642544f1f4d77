#!/usr/bin/python3
# gst-spdl: tests of the bottleneck analysis of gst-spdl-launch-1.0
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_limits.py SLOW-SERVER

The slow elements wait for a server or a timer, far longer than a thread takes
to wake up, so the results do not depend on the load of the machine. For a
stage that computes, only the suggestion is checked;
tests/benchmarks/bench-suggestions measures its effect."""

import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from launching import launch_json
from PIL import Image

SLOW_SERVER = sys.argv.pop(1)
SLEEPERS = ("fakesrc sizetype=fixed sizemax=8 num-buffers={} "
            "! spdlteststage name=a sleep={} queue-size=8 "
            "! spdlteststage name=b sleep={} queue-size=8 ! spdlsink")


def make_images(folder, n, size):
    """Makes images of noise, which are slow to decode."""
    for i in range(n):
        image = Image.effect_noise(size, 90).convert("RGB")
        image.save(folder / f"{i:03}.jpg", quality=90)


@contextlib.contextmanager
def slow_server(folder, *args):
    """Starts the slow server and returns the list of its files, for spdlsrc."""
    with tempfile.TemporaryDirectory() as temporary, subprocess.Popen(
            [SLOW_SERVER, folder, *map(str, args)],
            stdout=subprocess.PIPE) as server:
        files = pathlib.Path(temporary) / "list.txt"
        files.write_bytes(server.stdout.read())
        try:
            yield files
        finally:
            server.terminate()


class LimitTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.photos = cls.folder / "photos"
        cls.photos.mkdir()
        make_images(cls.photos, 40, (64, 48))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def launch(self, *args):
        """Returns the statistics. The verdict is also in the summary."""
        done, data = launch_json(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(data["verdict"]["sentence"].replace("\u00b5", "?"),
                      re.sub(r"\s+", " ", done.stdout).replace("\u00b5", "?"))
        return data

    def check(self, data, limits, element):
        verdict = data["verdict"]
        self.assertIn(verdict["limit"], limits, verdict["sentence"])
        self.assertEqual(verdict["element"], element, verdict["sentence"])

    def check_suggestion(self, before, suggestion, *args):
        """Checks that the suggestion can be pasted and increases the rate."""
        self.assertEqual(before["verdict"]["suggestion"], suggestion)
        # A run takes two seconds, so another program may disturb it.
        rates = []
        while len(rates) < 3:
            after = self.launch("--set", suggestion, *args)
            rates.append(after["items-per-second"])
            if rates[-1] > 1.2 * before["items-per-second"]:
                return
        self.fail(f"{before['items-per-second']} items/s, then {rates}")

    def job(self, source, fetch="", decode="", between=""):
        return (f"spdlsrc location={source} ! spdlfetch {fetch} {between} "
                f"! spdldecode width=32 height=32 {decode} "
                "! spdlbatch batch-size=8 ! spdlsink")

    def test_slow_server(self):
        with slow_server(self.photos, 60) as files:
            job = self.job(files, "concurrency=2")
            data = self.launch(job)
            self.check(data, ["waiting"], "fetch")
            self.check_suggestion(data, "fetch.concurrency=4", job)

    def measure(self, *args):
        """Returns the points of a sweep or of an isolated stage by setting."""
        done, data = launch_json(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {point["setting"]: point["items-per-second"]
                for point in data["points"]}

    def test_requests(self):
        """Tests that concurrent requests count, though no thread waits for
        any."""
        with slow_server(self.photos, 60) as files:
            job = self.job(files, "concurrency=2")
            for args in (["--sweep", "fetch.concurrency=1,8", "--duration",
                          "1"], ["--isolate", "fetch", "--duration", "0.5"]):
                rates = self.measure(*args, job)
                self.assertGreater(rates["fetch.concurrency=8"],
                                   3 * rates["fetch.concurrency=1"])

    def test_straggler(self):
        """Tests a server with a delay in every tenth response, which holds up
        those behind it."""
        with slow_server(self.photos, 2, 10, 400) as files:
            job = self.job(files, "concurrency=4 output-order=input")
            data = self.launch(job)
            self.check(data, ["straggler"], "fetch")
            self.check_suggestion(data, "fetch.output-order=completion", job)

    def test_slow_decoding(self):
        """Tests images that take several milliseconds to decode and almost
        none to fetch. If other programs use the cores, decoding waits for a
        core, and then more workers are not suggested."""
        folder = self.folder / "large"
        folder.mkdir()
        make_images(folder, 8, (1600, 1200))
        data = self.launch(self.job(f"{folder} epochs=3"))
        if data["verdict"]["limit"] == "others":
            self.assertIn("decode", data["verdict"]["sentence"])
            self.assertIsNone(data["verdict"]["suggestion"])
            return
        self.check(data, ["computing", "waiting"], "decode")
        self.assertEqual(
            data["verdict"]["suggestion"], "decode.concurrency=2")

    def test_slow_consumer(self):
        """Tests a consumer outside of the pipeline, for which there is no
        suggestion. It takes long enough that one busy core suffices for the
        rest, with a sanitizer too."""
        data = self.launch(
            "--step", "300", self.job(f"{self.photos} epochs=2"))
        self.check(data, ["consumer"], "sink")
        self.assertIsNone(data["verdict"]["suggestion"])

    def test_slow_element(self):
        data = self.launch(self.job(
            self.photos, between="! identity name=lazy sleep-time=20000"))
        self.check(data, ["element"], "lazy")
        self.assertIsNone(data["verdict"]["suggestion"])
        # The stages before and after it are the evidence.
        self.assertRegex(data["verdict"]["sentence"],
                         r"\blazy\b.*\bfetch\b.*\bdecode\b")

    def test_balanced_stages(self):
        """Tests two equally fast stages. If the machine stalls, one of them
        may look slower, but not each time."""
        for _ in range(5):
            data = self.launch(SLEEPERS.format(60, 20 * 10**6, 20 * 10**6))
            if data["verdict"]["limit"] == "balanced":
                break
        self.check(data, ["balanced"], None)

    def test_roofline(self):
        """Tests the maximum throughput of tasks that sleep. One task at a time
        shows what the largest concurrency can do. They sleep for so long that
        the cores suffice, with a sanitizer on a busy machine too."""
        done, data = launch_json(SLEEPERS.format(12, 0, 25 * 10**7))
        self.assertEqual(done.returncode, 0, done.stderr)
        stage = next(s for s in data["stages"] if s["stage"] == "b")
        roofline = data["verdict"]["roofline"]
        self.assertEqual(roofline["limit"], "waiting", roofline)
        self.assertEqual(roofline["element"], "b")
        self.assertLessEqual(roofline["items-per-second"],
                             stage["max-concurrency"] / 250e-3)
        self.assertAlmostEqual(
            roofline["items-per-second"] * stage["ave-time"] / 1e9,
            stage["max-concurrency"], places=3)
        self.assertIn(roofline["sentence"],
                      re.sub(r"\s+", " ", done.stdout))

    def test_roofline_of_slow_element(self):
        done, data = launch_json(self.job(
            self.photos, between="! identity name=lazy sleep-time=20000"))
        self.assertEqual(done.returncode, 0, done.stderr)
        roofline = data["verdict"]["roofline"]
        self.assertEqual(roofline["limit"], "element", roofline)
        self.assertEqual(roofline["element"], "fetch")
        self.assertLessEqual(roofline["items-per-second"], 51)

    def test_no_roofline(self):
        _, data = launch_json(SLEEPERS.format(5, 0, 10**7))
        self.assertIsNone(data["verdict"]["roofline"])

    def test_idle_pipeline(self):
        data = self.launch("--duration", "0.6",
                           "appsrc ! spdlteststage name=a ! spdlsink")
        self.check(data, ["idle"], None)
        self.assertRegex(data["verdict"]["sentence"], r"\b0\.\d s")

    def test_stalled_stage(self):
        """Tests a stall in which no task ends."""
        data = self.launch("--duration", "1.2", SLEEPERS.format(
            -1, 3600 * 10**9, 0))
        self.check(data, ["idle"], "a")
        self.assertRegex(data["verdict"]["sentence"], r"\ba\b.* 1\.\d s")

    def test_run_too_short(self):
        data = self.launch(SLEEPERS.format(5, 10**6, 10**6))
        self.check(data, ["too-few"], None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
