#!/usr/bin/python3
# gst-spdl: tests of the command line of gst-spdl-launch-1.0
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_launch.py MAKE-DATASET README"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from launching import interrupt, launch, launch_json, running

MAKE_DATASET = sys.argv.pop(1)
README = pathlib.Path(sys.argv.pop(1))
SLEEPER = ("fakesrc sizetype=fixed sizemax=8 num-buffers={} "
           "! spdlteststage name=decode sleep={} ! spdlsink")


@contextlib.contextmanager
def busy_core():
    """Restricts this process to one core, shared with three busy processes."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
              for _ in range(3)]
    try:
        yield
    finally:
        for process in others:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, cpus)


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.photos = cls.folder / "photos"
        subprocess.run(["/usr/bin/python3", MAKE_DATASET, "--count", "24",
                        cls.photos], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def main_job(self, more=""):
        return (f"spdlsrc location={self.photos} epochs=5 ! spdlfetch "
                f"! spdldecode width=32 height=32 {more} ! spdlbatch batch-size=8 "
                "! spdlsink")

    def test_all_items_arrive(self):
        done, data = launch_json(self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["items"], data["batches"]), (120, 15))
        self.assertEqual(data["elements"],
                         ["src", "fetch", "decode", "batch", "sink"])
        self.assertEqual(data["end"], "end-of-stream")
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertEqual(stages["decode"]["num-tasks"], 120)
        self.assertEqual(stages["sink"]["num-batches"], 15)
        self.assertIn("sentence", data["verdict"])
        self.assertRegex(done.stdout, r"\b120\b.*\b15\b")
        self.assertIn("100 %", done.stdout)
        # Redirected output contains no control sequences.
        self.assertNotIn("\x1b", done.stdout)

    def test_gst_launch_arguments(self):
        done, data = launch_json(*self.main_job().split())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["items"], 120)

    def test_readme(self):
        lines = re.search(r"^    gst-spdl-launch-1.0 (.*?)\n\n",
                          README.read_text(), re.DOTALL | re.MULTILINE)
        args = lines.group(1).replace("\\\n", " ").split()
        args = [arg.replace("/path/to/photos", str(self.photos))
                for arg in args]
        done, data = launch_json(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["items"], 3 * 24)

    def test_batches(self):
        done, data = launch_json("--batches", "4", self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["batches"], data["end"]), (4, "limit"))

    def test_duration(self):
        done, data = launch_json(
            "--duration", "0.5", SLEEPER.format(-1, 10**6))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["end"], "limit")
        self.assertGreaterEqual(data["elapsed"], 0.5)

    def test_set_option(self):
        done, data = launch_json(
            "--set", "decode.concurrency=3", "--set",
            "fetch.output-order=input", self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertEqual(stages["decode"]["concurrency"], 3)
        self.assertEqual(stages["fetch"]["output-order"], "input")

    def test_automatic_concurrency(self):
        done, data = launch_json(
            "--cpu-budget", "0.9", "--set", "decode.concurrency=0",
            "--duration", "10", SLEEPER.format(-1, 10**7))
        self.assertEqual(done.returncode, 0, done.stderr)
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertIs(stages["decode"]["automatic"], True)
        first = data["tuning"][0]
        self.assertEqual((first["stage"], first["reason"]),
                         ("decode", "limits"))
        self.assertGreater(first["to"], first["from"])
        self.assertIn(
            f"tuning: decode.concurrency {first['from']} -> {first['to']}",
            done.stdout)
        self.assertIn("found: --set decode.concurrency=", done.stdout)

    def test_wrong_command_lines(self):
        job = self.main_job()
        for args, words in [
                (["--set", "nobody.x=1", job], "src, fetch"),
                (["--set", "decode.nothing=1", job], "nothing"),
                (["--set", "decode.concurrency=many", job], "decode.concurrency"),
                (["--set", "decode.concurrency=-1", job], "decode.concurrency"),
                (["--cpu-budget", "1.5", job], "from 0 to 1"),
                (["--set", "decode", job], "ELEMENT.PROPERTY"),
                (["nosuchelement ! spdlsink"], "nosuchelement"),
                ([], "no pipeline"),
                (["--isolate", "batch", job], "batch is not a stage"),
                (["--sweep", "x", job], "ELEMENT.PROPERTY"),
                (["--no-such-option", job], "no-such-option"),
                (["spdlsrc ! ! spdlsink"], "syntax error"),
                (["spdlsrc", "nothing=1", "!", "spdlsink"], "nothing"),
                (["--isolate", "nobody", job], "src, fetch"),
                (["--sweep", "nobody.x=1,2", job], "src, fetch"),
                (["--sweep", "decode.nothing=1,2", job], "nothing"),
                (["--sweep", "decode.concurrency=1,many", job], "decode.concurrency"),
                (["--sweep", "decode.concurrency=", job], "decode.concurrency="),
                (["--json", "/no/folder/run.json", job], "/no/folder"),
                (["--report", str(self.folder), job], str(self.folder)),
                (["--json", "-", "--report", "-", job], "--report"),
                (["--prometheus", "70000", job], "65535"),
                (["--prometheus", "-1", job], "65535"),
                (["--prometheus", "0", "--isolate", "decode", job],
                 "--isolate"),
                (["--batches", "2", job.replace("spdlsink", "fakesink")],
                 "spdlsink"),
                (["--step", "2", job.replace("spdlsink", "fakesink")],
                 "spdlsink"),
                (["--headspace", job], "--step"),
                (["--headspace", "--step", "5",
                  job.replace("spdlsink", "fakesink")], "spdlsink"),
                (["--headspace", "--step", "5", "--rounds", "0", job],
                 "--rounds"),
                (["--headspace", "--step", "5", "--batches", "9", job],
                 "--batches"),
                (["--headspace", "--step", "5", "--isolate", "decode", job],
                 "--isolate"),
                (["--headspace", "--step", "5", job.replace(
                    "! spdlsink", "! spdlcache ! spdlsink")],
                 "spdlcache"),
                ([job + f" spdlsrc location={self.photos} ! spdlsink"],
                 "spdlsink")]:
            done = launch(*args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(words, done.stderr)
            # The error is exactly one sentence.
            self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")
            self.assertEqual(done.stdout, "")

    def test_help(self):
        done = launch("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--set", "--json", "--report", "--duration",
                       "--batches", "--max-failures", "--prometheus",
                       "--sweep", "--isolate", "--headspace"):
            self.assertIn(option, done.stdout)

    def test_no_files(self):
        for args in [], ["--isolate", "fetch"]:
            done = launch(*args, "spdlsrc location=/nowhere ! spdlfetch ! spdlsink")
            self.assertEqual(done.returncode, 1)
            self.assertIn("/nowhere", done.stderr)

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            done = launch("--prometheus", str(port), self.main_job())
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"port {port}", done.stderr)

    def test_open_end_gets_a_sink(self):
        done, data = launch_json(
            "fakesrc sizetype=fixed sizemax=8 num-buffers=20 "
            "! spdlteststage name=decode")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["items"], data["elements"][-1]), (20, "sink"))

    def test_json_on_stdout(self):
        """Tests that with JSON on stdout, nothing else is written there."""
        done = launch("--json", "-", self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["items"], 120)
        self.assertRegex(done.stderr, r"\b120\b.*\b15\b")
        done = launch("--report", "-", self.main_job())
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"))
        self.assertTrue(done.stdout.endswith("</html>\n"))

    def test_json_to_a_pipe(self):
        """Tests that a pipe is written to and not replaced."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        text = []
        reader = threading.Thread(
            target=lambda: text.append(pipe.read_text()))
        reader.start()
        done = launch("--json", str(pipe), self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        reader.join()
        self.assertEqual(json.loads(text[0])["items"], 120)
        self.assertTrue(pipe.is_fifo())

    def test_warning(self):
        """Tests that a warning of an element takes one line."""
        folder = self.folder / "linked"
        folder.mkdir()
        shutil.copy(next(self.photos.rglob("*.jpg")), folder)
        (folder / "loop").symlink_to(folder)
        done = launch(f"spdlsrc location={folder} ! spdlfetch ! spdlsink")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "warning: src: .*loop")

    def test_progress(self):
        """Tests progress in items, batches or time, whichever ends first."""
        for args, words in [
                (["--interval", "0.05", SLEEPER.format(40, 10**7)], False),
                (["--interval", "0.05", "--batches", "40",
                  SLEEPER.format(-1, 10**7)], True),
                (["--interval", "0.05", "--duration", "0.4",
                  SLEEPER.format(-1, 10**7)], True)]:
            done = launch(*args)
            lines = [line for line in done.stdout.splitlines()
                     if " cores  " in line]
            shares = [int(share) for line in lines for share in
                      re.findall(r"^\d+:\d+  (\d+) %", line)]
            self.assertEqual(len(shares), len(lines) if words else 0)
            self.assertEqual(shares, sorted(shares))
            if words:
                self.assertIn("100 %, 0:0", done.stdout)

    def test_failures(self):
        folder = self.folder / "some-bad"
        shutil.copytree(self.photos, folder)
        for i in range(3):
            (folder / f"zzz{i}.jpg").write_text("no picture")
        job = self.main_job().replace(str(self.photos), str(folder))
        job = job.replace("epochs=5", "")
        done, data = launch_json(job)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["items"], data["failures"]), (24, 3))
        self.assertEqual(len(data["failed-items"]), 3)
        self.assertRegex(done.stderr, "(?m)^decode: .*zzz0.jpg")
        self.assertEqual(data["failed-items"][0]["stage"], "decode")
        # The failures come first, followed by the results of the other items.
        # The end is not reported as that of a run without failures.

        # A run of more than a second also reports its progress.
        def read_results(stdout):
            return [line for line in stdout.splitlines()
                    if not re.match(r" *\d+:\d\d ", line)]

        lines = read_results(done.stdout)
        self.assertRegex(lines[0], r"\b3\b")
        self.assertRegex(lines[1], r"^decode: 3 of 27\b")
        self.assertRegex("\n".join(lines[2:]), r"\b24\b.*\b3 failed\b")
        complete = read_results(launch(self.main_job()).stdout)
        self.assertNotRegex(complete[0], r"\d")
        self.assertNotIn(complete[0], lines)
        # Each item is reported once, and each epoch has one summary.
        self.assertEqual(len(re.findall("(?m)^decode: ", done.stderr)), 3)
        self.assertEqual(re.findall(
            "(?m)^warning: decode: (.*?);", done.stderr),
            ["3 of 27 items failed in epoch 0"])
        # One more than the limit on failures.
        done, data = launch_json("--max-failures", "2", job)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(data["end"], "error")
        self.assertRegex(
            done.stderr, r"error: 3 items failed, but --max-failures is 2; the "
            r"last one in decode: .*zzz\d.jpg: ")
        self.assertEqual(data["items"], 24)
        done, _ = launch_json("--max-failures", "3", job)
        self.assertEqual(done.returncode, 0)
        # With a stage's own limit, the error names the item and the rest is
        # counted.
        done, data = launch_json(
            job.replace("spdldecode", "spdldecode max-failures=0"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"error: decode: .*zzz\d.jpg")
        self.assertEqual(data["items"], 24)

    def make_bad(self, n):
        """Returns a folder of photos and of files that are none."""
        folder = self.folder / f"{n}-bad"
        shutil.copytree(self.photos, folder)
        for i in range(n):
            (folder / f"zzz{i}.jpg").write_text("no picture")
        return folder

    def test_error_beside_a_source_that_goes_on(self):
        decode = "! spdlfetch ! spdldecode width=8 height=8 {} ! m. "
        done, data = launch_json(
            f"spdlsrc location={self.make_bad(1)} "
            + decode.format("max-failures=0")
            + f"spdlsrc location={self.photos} epochs=-1 " + decode.format("")
            + "spdlmix name=m order=arrival ! spdlbatch ! spdlsink")
        self.assertEqual((done.returncode, data["end"]), (1, "error"))
        self.assertRegex(done.stderr, r"error: decode2?: .*zzz0.jpg")

    def test_start_that_waits(self):
        """The server of a source never responds."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}/a.tar"
            source = f"spdlsrc location={url} timeout=0"
            for line in f"{source} ! spdlsink", \
                    f'spdlworkersrc pipeline="{source}" ! spdlsink':
                done, data = launch_json("--duration", "0.5", line)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((data["items"], data["end"]), (0, "limit"))

    def test_failures_in_a_worker_process(self):
        done, data = launch_json(
            f'spdlworkersrc pipeline="spdlsrc location={self.make_bad(2)} '
            '! spdlfetch ! spdldecode width=8 height=8" ! spdlsink')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["items"], data["failures"]), (24, 2))
        self.assertRegex(done.stdout, r"\b24\b.*\b2 failed\b")

    def test_elements_in_a_bin(self):
        line = (f"spdlsrc location={self.make_bad(4)} ! "
                "( spdlfetch ! spdldecode width=8 height=8 ) "
                "! spdlbatch ! spdlsink")
        done, data = launch_json("--set", "decode.concurrency=1", line)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["elements"],
                         ["src", "fetch", "decode", "batch", "sink"])
        self.assertEqual((data["items"], data["failures"]), (24, 4))
        done, _ = launch_json("--max-failures", "3", line)
        self.assertEqual(done.returncode, 1)

    def test_no_item_arrives(self):
        job = self.main_job().replace("batch-size=8", "batch-size=25 drop-last=true")
        for line in job, job.replace("spdlsink", "fakesink"):
            done, data = launch_json(line)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(data["end"], "error")
            self.assertRegex(done.stderr, r"error: .*\b0\b.*\b24\b")

    def test_shape_mismatch(self):
        done, data = launch_json(
            self.main_job().replace("width=32 height=32", ""))
        self.assertEqual((done.returncode, data["end"]), (1, "error"))
        self.assertEqual(data["items"], 0)
        self.assertRegex(done.stderr, r"error: batch: .*jpg.*width.*height")

    def test_without_spdlsink(self):
        done, data = launch_json(
            self.main_job().replace("spdlsink", "fakesink"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["items"], 120)

    def test_suggestion(self):
        # Tasks that sleep: the suggestion can be pasted and has an effect.
        job = SLEEPER.format(60, 20 * 10**6)
        _, before = launch_json(job)
        self.assertEqual(before["verdict"]["suggestion"],
                         "decode.concurrency=2")
        done, after = launch_json(
            "--set", before["verdict"]["suggestion"], job)
        self.assertIn("decode", done.stdout)
        self.assertGreater(after["items-per-second"],
                           1.2 * before["items-per-second"])

    def test_other_programs(self):
        # The run is long enough for a verdict.
        job = self.main_job("concurrency=1").replace("epochs=5", "epochs=60")
        with busy_core():
            done, data = launch_json(job)
        self.assertEqual(data["num-cores"], 1)
        self.assertEqual(data["verdict"]["limit"], "others", data["verdict"])
        self.assertIsNone(data["verdict"]["suggestion"])
        self.assertNotIn("raise", done.stdout)

    def test_slow_consumer(self):
        _, data = launch_json("--step", "20", SLEEPER.format(60, 10**6))
        self.assertEqual(data["verdict"]["limit"], "consumer")

    def test_prometheus(self):
        with running("--prometheus", "0", "--interval", "0.1",
                     SLEEPER.format(-1, 10**6)) as process:
            url = re.search("http://127.0.0.1:\\d+/metrics",
                            process.stderr.readline()).group(0)
            process.stdout.readline()
            process.stdout.readline()
            with urllib.request.urlopen(url, timeout=30) as answer:
                text = answer.read().decode()
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(url + "x", timeout=30)
            interrupt(process)
            self.assertEqual(process.returncode, 0)
        self.assertRegex(text, r'spdl_tasks_total\{stage="decode",rank="0",'
                               r'host="[^"]*"\} \d+\n')
        promtool = shutil.which("promtool")
        if promtool:
            done = subprocess.run([promtool, "check", "metrics"], input=text,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout + done.stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
