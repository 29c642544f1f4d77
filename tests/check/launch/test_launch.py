#!/usr/bin/python3
# gst-spdl: gst-spdl-launch-1.0 as its users run it
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_launch.py MAKE-DATASET README; the program is in the variable LAUNCH."""

import codecs
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import urllib.request

LAUNCH = os.environ["LAUNCH"]
MAKE_DATASET = sys.argv.pop(1)
README = pathlib.Path(sys.argv.pop(1))
SLEEPER = ("fakesrc sizetype=fixed sizemax=8 num-buffers={} "
           "! spdlteststage name=decode sleep={} ! spdlsink")


def launch(*args, **kwargs):
    return subprocess.run([LAUNCH, *args], capture_output=True, text=True,
                          timeout=120, check=False, **kwargs)


class Screen:
    """A terminal that knows what the program uses: new lines, up, erase."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.row = 0

    def resize(self, columns):
        """Breaks lines anew, as terminals do."""
        self.columns = columns
        broken = []
        for line in self.lines:
            broken += [line[i:i + columns]
                       for i in range(0, max(len(line), 1), columns)]
        self.lines = broken
        self.row = len(broken) - 1

    def write(self, text):
        for up, erase, end, char in re.findall(
                r"\x1b\[\d+m|\x1b\[(\d+)A|\x1b\[(J)|(\r?\n)|([^\x1b])", text):
            if up:
                self.row -= int(up)
                assert self.row >= 0, "the table is drawn above the screen"
            elif erase:
                del self.lines[self.row:]
                self.lines.append("")
            elif end:
                self.next_row()
            elif char and char != "\r":
                if len(self.lines[self.row]) == self.columns:
                    self.next_row()
                self.lines[self.row] += char

    def next_row(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, columns, *args, rows=50, **env):
        try:
            self.master, slave = pty.openpty()
        except OSError as error:
            raise unittest.SkipTest(f"no terminal: {error}") from error
        self.set_size(columns, rows)
        self.process = subprocess.Popen(
            [LAUNCH, *args], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, env=dict(os.environ, TERM="xterm", **env),
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.text = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def set_size(self, columns, rows=50):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, words, count=1):
        """Reads until the words have come so often; returns what came."""
        begin = len(self.text)
        while self.text[begin:].count(words) < count:
            if not self.read():
                raise AssertionError(f"no {words!r} in {self.text!r}")
        return self.text[begin:]

    def stop_and_drain(self):
        """All that it has written; it goes on with SIGCONT."""
        os.kill(self.process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)
        os.set_blocking(self.master, False)
        while self.read():
            pass
        os.set_blocking(self.master, True)

    def read(self):
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += self.decoder.decode(data)
        return bool(data)

    def interrupt(self):
        """Ctrl-C, with which a terminal drops what it has not shown yet: so
        it is given time to show all."""
        self.stop_and_drain()
        self.press_ctrl_c()
        os.kill(self.process.pid, signal.SIGCONT)

    def press_ctrl_c(self):
        os.write(self.master, b"\x03")

    def wait(self):
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait(60)


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
                f"! spdldecode width=32 height=32 {more} ! spdlbatch size=8 "
                "! spdlsink")

    def run_json(self, *args):
        file = self.folder / "run.json"
        file.unlink(missing_ok=True)
        done = launch("--json", str(file), *args)
        return done, json.loads(file.read_text()) if file.exists() else None

    def test_all_comes(self):
        done, data = self.run_json(self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["items"], data["batches"]), (120, 15))
        self.assertEqual(data["elements"],
                         ["src", "fetch", "decode", "batch", "sink"])
        self.assertEqual(data["end"], "end-of-stream")
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertEqual(stages["decode"]["num-tasks"], 120)
        self.assertEqual(stages["sink"]["num-batches"], 15)
        self.assertIn("sentence", data["verdict"])
        self.assertIn("120 items in 15 batches", done.stdout)
        self.assertIn("100 %", done.stdout)
        # Redirected, there is nothing for a terminal in it.
        self.assertNotIn("\x1b", done.stdout)

    def test_arguments_as_for_gst_launch(self):
        done, data = self.run_json(*self.main_job().split())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["items"], 120)

    def test_readme(self):
        lines = re.search(r"^    gst-spdl-launch-1.0 (.*?)\n\n",
                          README.read_text(), re.DOTALL | re.MULTILINE)
        args = lines.group(1).replace("\\\n", " ").split()
        args = [arg.replace("/path/to/photos", str(self.photos))
                for arg in args]
        done, data = self.run_json(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["items"], 3 * 24)

    def test_batches(self):
        done, data = self.run_json("--batches", "4", self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["batches"], data["end"]), (4, "limit"))

    def test_duration(self):
        done, data = self.run_json(
            "--duration", "0.5", SLEEPER.format(-1, 10**6))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["end"], "limit")
        self.assertGreaterEqual(data["elapsed"], 0.5)

    def test_set(self):
        done, data = self.run_json(
            "--set", "decode.concurrency=3", "--set",
            "fetch.output-order=input", self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertEqual(stages["decode"]["concurrency"], 3)
        self.assertEqual(stages["fetch"]["output-order"], "input")

    def test_wrong_command_lines(self):
        job = self.main_job()
        for args, words in [
                (["--set", "nobody.x=1", job], "there are: src, fetch"),
                (["--set", "decode.nothing=1", job], "no property"),
                (["--set", "decode.concurrency=many", job], "no value"),
                (["--set", "decode.concurrency=0", job], "no value"),
                (["--set", "decode", job], "ELEMENT.PROPERTY"),
                (["nosuchelement ! spdlsink"], "nosuchelement"),
                ([], "no pipeline"),
                (["--isolate", "batch", job], "no stage"),
                (["--sweep", "x", job], "ELEMENT.PROPERTY"),
                (["--no-such-option", job], "no-such-option"),
                (["spdlsrc ! ! spdlsink"], "cannot be made: syntax error"),
                (["spdlsrc", "nothing=1", "!", "spdlsink"], "nothing"),
                (["--isolate", "nobody", job], "there are: src, fetch"),
                (["--sweep", "nobody.x=1,2", job], "there are: src, fetch"),
                (["--sweep", "decode.nothing=1,2", job], "no property"),
                (["--sweep", "decode.concurrency=1,many", job], "no value"),
                (["--sweep", "decode.concurrency=", job], "not 1 to"),
                (["--json", "/no/folder/run.json", job], "/no/folder"),
                (["--report", str(self.folder), job], "cannot be written"),
                (["--json", "-", "--report", "-", job], "standard output"),
                (["--prometheus", "70000", job], "no such port"),
                (["--prometheus", "-1", job], "no such port"),
                (["--batches", "2", job.replace("spdlsink", "fakesink")],
                 "ends in an spdlsink"),
                (["--step", "2", job.replace("spdlsink", "fakesink")],
                 "ends in an spdlsink"),
                (["--headspace", job], "needs --step"),
                (["--headspace", "--step", "5",
                  job.replace("spdlsink", "fakesink")], "ends in an spdlsink"),
                (["--headspace", "--step", "5", "--rounds", "0", job],
                 "at least 1"),
                (["--headspace", "--step", "5", "--batches", "9", job],
                 "not for --batches"),
                (["--headspace", "--step", "5", "--isolate", "decode", job],
                 "exclude each other"),
                (["--headspace", "--step", "5", job.replace(
                    "! spdlsink", "! spdlcache ! spdlsink")],
                 "an spdlcache already"),
                ([job + f" spdlsrc location={self.photos} ! spdlsink"],
                 "2 spdlsinks")]:
            done = launch(*args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(words, done.stderr)
            # One sentence, and nothing else.
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
        done = launch("spdlsrc location=/nowhere ! spdlsink")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere", done.stderr)

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            done = launch("--prometheus", str(port), self.main_job())
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"port {port}", done.stderr)
        self.assertIn("in use", done.stderr)

    def test_open_end(self):
        done, data = self.run_json(
            "fakesrc sizetype=fixed sizemax=8 num-buffers=20 "
            "! spdlteststage name=decode")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["items"], data["elements"][-1]), (20, "sink"))

    def test_json_to_the_output(self):
        """What can be piped on is alone there."""
        done = launch("--json", "-", self.main_job())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["items"], 120)
        self.assertIn("120 items in 15 batches", done.stderr)
        done = launch("--report", "-", self.main_job())
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"))
        self.assertTrue(done.stdout.endswith("</html>\n"))

    def test_special_file(self):
        """A pipe is written to, not replaced."""
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
        """What an element warns of is a line."""
        folder = self.folder / "linked"
        folder.mkdir()
        shutil.copy(next(self.photos.rglob("*.jpg")), folder)
        (folder / "loop").symlink_to(folder)
        done = launch(f"spdlsrc location={folder} ! spdlfetch ! spdlsink")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "warning: src: .*loop")

    def test_progress(self):
        """Of items, batches or time, whichever comes to its end first."""
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
        done, data = self.run_json(job)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((data["items"], data["failures"]), (24, 3))
        self.assertEqual(len(data["failed-items"]), 3)
        self.assertRegex(done.stderr, "(?m)^decode: .*zzz0.jpg")
        self.assertEqual(data["failed-items"][0]["stage"], "decode")
        # One more than may fail.
        done, data = self.run_json("--max-failures", "2", job)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(data["end"], "error")
        self.assertRegex(done.stderr, r"error: .*zzz\d.jpg")
        done, _ = self.run_json("--max-failures", "3", job)
        self.assertEqual(done.returncode, 0)
        # A stage's own budget: the error names the item, the rest is counted.
        done, data = self.run_json(
            job.replace("spdldecode", "spdldecode max-failures=0"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"error: decode: .*zzz\d.jpg")
        self.assertEqual(data["items"], 24)

    def test_without_spdlsink(self):
        done, data = self.run_json(
            self.main_job().replace("spdlsink", "fakesink"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["items"], 120)

    def test_suggestion(self):
        # Tasks that wait: what is suggested can be pasted, and helps.
        job = SLEEPER.format(60, 20 * 10**6)
        _, before = self.run_json(job)
        self.assertEqual(before["verdict"]["suggestion"],
                         "decode.concurrency=2")
        done, after = self.run_json(
            "--set", before["verdict"]["suggestion"], job)
        self.assertIn("decode", done.stdout)
        self.assertGreater(after["items-per-second"],
                           1.2 * before["items-per-second"])

    def test_consumer(self):
        _, data = self.run_json("--step", "20", SLEEPER.format(60, 10**6))
        self.assertEqual(data["verdict"]["limit"], "consumer")

    def test_prometheus(self):
        with subprocess.Popen(
                [LAUNCH, "--prometheus", "0", "--interval", "0.1",
                 SLEEPER.format(-1, 10**6)], stderr=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True) as process:
            url = re.search("http://127.0.0.1:\\d+/metrics",
                            process.stderr.readline()).group(0)
            process.stdout.readline()
            process.stdout.readline()
            with urllib.request.urlopen(url, timeout=30) as answer:
                text = answer.read().decode()
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(url + "x", timeout=30)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
        self.assertRegex(text, r'spdl_tasks_total\{stage="decode",rank="0",'
                               r'host="[^"]*"\} \d+\n')
        promtool = shutil.which("promtool")
        if promtool:
            done = subprocess.run([promtool, "check", "metrics"], input=text,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout + done.stderr, "")


class SweepTest(unittest.TestCase):
    """Tasks that sleep: twice the workers, twice the rate, up to the second
    stage's 100 a second."""

    JOB = ("fakesrc sizetype=fixed sizemax=8 ! spdlteststage name=a "
           "sleep=40000000 ! spdlteststage name=b sleep=10000000 ! spdlsink")

    def run_sweep(self, *args):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "sweep.json"
            page = pathlib.Path(folder) / "sweep.html"
            done = launch(*args, "--json", str(file), "--report", str(page),
                          self.JOB)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("<svg", page.read_text())
            return done, json.loads(file.read_text())

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
        # What is told can be done.
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.json"
            done = launch("--set", data["recommended"], "--duration", "1",
                          "--json", str(file), self.JOB)
            self.assertEqual(done.returncode, 0, done.stderr)
            again = json.loads(file.read_text())["items-per-second"]
        self.assertGreater(again, 1.5 * rates[0])

    def test_open_end(self):
        """The largest that was tried still is the limit."""
        done, data = self.run_sweep("--sweep", "a.concurrency=1,2",
                                    "--duration", "1")
        self.assertEqual(data["recommended"], "a.concurrency=2")
        self.assertRegex(done.stdout, r"try\s+more\s+than")

    def test_few_items(self):
        """They come again and again: each run is as long as it is to be."""
        with tempfile.TemporaryDirectory() as folder:
            for i in range(3):
                (pathlib.Path(folder) / str(i)).write_text("x")
            file = pathlib.Path(folder) / "out.json"
            begin = time.monotonic()
            done = launch(
                "--sweep", "a.concurrency=1,2", "--duration", "0.6",
                "--json", str(file), f"spdlsrc location={folder} pattern=? "
                "! spdlteststage name=a sleep=10000000 ! spdlsink")
            took = time.monotonic() - begin
            self.assertEqual(done.returncode, 0, done.stderr)
            points = json.loads(file.read_text())["points"]
        # Three items alone take a twentieth of that.
        self.assertGreater(took, 2 * 0.6)
        for point in points:
            self.assertGreater(point["items-per-second"], 0)

    def test_interrupted(self):
        """Ctrl-C ends all of it, and what there is is shown."""
        for option, value in (("--sweep", "a.concurrency=1,2,4"),
                              ("--isolate", "a")):
            with subprocess.Popen(
                    [LAUNCH, option, value, "--items", "20", "--duration",
                     "0.5", self.JOB], stderr=subprocess.PIPE,
                    stdout=subprocess.PIPE, text=True) as process:
                while "concurrency=2" not in process.stderr.readline():
                    pass
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            self.assertNotIn("once more", err)
            self.assertIn("a.concurrency=1 ", out)
            self.assertNotIn("try:", out)

    def test_isolate(self):
        _, data = self.run_sweep("--isolate", "a", "--items", "20",
                                 "--duration", "0.8")
        rates = [point["items-per-second"] for point in data["points"]]
        # Alone it is not held up by the second stage.
        self.assertGreater(rates[3], 4 * rates[0])
        self.assertGreater(max(rates), 130)


class HeadspaceTest(unittest.TestCase):
    """A pipeline of 20 ms a batch, and a trainer of 5."""

    JOB = ("fakesrc sizetype=fixed sizemax=8 filltype=zero "
           "! spdlteststage name=a sleep={} ! spdlsink")

    def run_headspace(self, job, *args):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.json"
            page = pathlib.Path(folder) / "run.html"
            done = launch("--headspace", "--json", str(file), "--report",
                          str(page), *args, job)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("<svg", page.read_text())
            return done, json.loads(file.read_text())

    def test_slow_loading(self):
        done, data = self.run_headspace(
            self.JOB.format(20 * 10**6), "--step", "5", "--duration", "0.5",
            "--rounds", "2")
        # Who goes first takes turns.
        self.assertEqual([run["cached"] for run in data["runs"]],
                         [False, True, True, False])
        for run in data["runs"]:
            # Waiting and the step are all that there is.
            self.assertGreaterEqual(run["batch-time"],
                                    5 * 10**6 + run["ave-get-time"])
            self.assertGreaterEqual(run["p50-step-time"], 5 * 10**6)
            if not run["cached"]:
                self.assertGreaterEqual(run["batch-time"], 19 * 10**6)
        base, cached = data["base"]["batch-time"], data["cached"]["batch-time"]
        self.assertAlmostEqual(data["headspace"], (base - cached) / base, 5)
        self.assertEqual(data["step"], 5 * 10**6)
        # 75 % where the machine is idle.
        self.assertGreater(data["headspace"], 0.3)
        self.assertEqual(data["advice"], "worth-it")
        self.assertIn("loading is worth the work", " ".join(
            done.stdout.split()))
        self.assertIn(data["verdict"], " ".join(done.stdout.split()))
        self.assertEqual(done.stdout.count("from the cache  "), 2)

    def test_too_short(self):
        done = launch("--headspace", "--step", "1", "--duration", "1",
                      "fakesrc num-buffers=12 sizetype=fixed ! spdlsink")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the stream ended after 12 batches", done.stderr)

    def test_few_items(self):
        """A source that ends begins again."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "one").write_text("x")
            _, data = self.run_headspace(
                f"spdlsrc location={folder} ! spdlsink", "--step", "1",
                "--duration", "0.2", "--rounds", "1")
            self.assertEqual(len(data["runs"]), 2)

    def interrupt_at(self, line):
        """Ctrl-C when a run begins, of two short rounds."""
        with subprocess.Popen(
                [LAUNCH, "--headspace", "--step", "1", "--duration", "0.2",
                 "--rounds", "2", self.JOB.format(10**6)], text=True,
                stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            while line not in process.stderr.readline():
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            return process.returncode, out, err

    def test_interrupted(self):
        """What is over counts."""
        status, out, err = self.interrupt_at("1 of 4")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("before a round was over", err)
        status, out, _ = self.interrupt_at("3 of 4")
        self.assertEqual(status, 0)
        self.assertEqual(out.count("from the cache  "), 1)
        self.assertIn("a batch takes", out)

    def test_cached_is_told(self):
        """A cache of the user's own: no stage is to blame, or praised."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.json"
            done = launch("--json", str(file), "--batches", "100", self.JOB
                          .format(10**6).replace("! spdlsink",
                          "! spdlcache return-caches-after=20 ! spdlsink"))
            self.assertEqual(done.returncode, 0, done.stderr)
            data = json.loads(file.read_text())
        self.assertEqual(data["verdict"]["limit"], "cached")
        self.assertEqual(data["verdict"]["element"], "cache")
        stages = {stage["stage"]: stage for stage in data["stages"]}
        self.assertGreaterEqual(stages["cache"]["num-cached"], 80)
        self.assertIn("p50-step-time", stages["sink"])


class TerminalTest(unittest.TestCase):
    JOB = ("fakesrc sizetype=fixed sizemax=8 ! spdlteststage name=decode "
           "sleep=1000000 ! spdlsink")

    def check_table(self, text, columns):
        screen = Screen(columns)
        screen.write(text)
        headers = [line for line in screen.lines if line.startswith("stage ")]
        self.assertEqual(len(headers), 1, screen.lines)
        return screen

    def test_drawn_over(self):
        for columns in (80, 160):
            terminal = Terminal(columns, "--interval", "0.05", self.JOB)
            terminal.read_until("stage ", 5)
            terminal.interrupt()
            self.assertEqual(terminal.wait(), 0)
            screen = self.check_table(
                terminal.text.replace("^C", ""), columns)
            self.assertIn("Interrupted.", screen.lines)

    def test_resized(self):
        for before, after in ((160, 50), (80, 160)):
            terminal = Terminal(before, "--interval", "0.05", self.JOB)
            terminal.read_until("stage ", 5)
            terminal.stop_and_drain()
            terminal.set_size(after)
            screen = Screen(before)
            seen = len(terminal.text)
            screen.write(terminal.text)
            screen.resize(after)
            os.kill(terminal.process.pid, signal.SIGCONT)
            terminal.read_until("stage ", 3)
            terminal.interrupt()
            self.assertEqual(terminal.wait(), 0)
            screen.write(terminal.text[seen:].replace("^C", ""))
            headers = [line for line in screen.lines
                       if line.startswith("stage ")]
            self.assertEqual(len(headers), 1, screen.lines)
            # Nothing was wrapped: the last table fits the terminal as it is.
            rows = [line for line in screen.lines
                    if line.startswith("decode ") and line.endswith("%")]
            self.assertEqual(len(rows), 1, screen.lines)
            self.assertGreater(len(rows[0]), 80 if after == 160 else 40)

    def test_low(self):
        """More stages than rows: what does not fit is counted."""
        job = self.JOB.replace("! spdlsink", " ".join(
            f"! spdlteststage name=s{i}" for i in range(20)) + " ! spdlsink")
        terminal = Terminal(80, "--interval", "0.05", job, rows=16)
        tables = terminal.read_until("stage ", 5).split("\x1b[J")
        for table in tables[1:-1]:
            self.assertLess(table.count("\n"), 16, table)
            self.assertRegex(table, r"and \d+ more\r?\n")
        terminal.interrupt()
        self.assertEqual(terminal.wait(), 0)
        # The last one stays, with all its rows.
        self.assertRegex(terminal.text, "(?s)Interrupted.*\ns19 ")

    def test_bold(self):
        """The limiting stage and the verdict, unless that is not wanted."""
        for env, bold in (({}, True), ({"NO_COLOR": "1"}, False)):
            terminal = Terminal(80, "--interval", "0.05", "--duration", "1",
                                self.JOB.replace("1000000", "20000000"), **env)
            self.assertEqual(terminal.wait(), 0)
            found = re.search(r"\x1b\[1mdecode .*\x1b\[0m\r?\n(?s:.*)"
                              r"\x1b\[1mdecode is at work", terminal.text)
            self.assertEqual(bool(found), bold, terminal.text)

    def test_second_ctrl_c(self):
        # A task that cannot be cancelled, and sleeps for a minute.
        terminal = Terminal(
            80, "--interval", "0.05",
            "fakesrc sizetype=fixed sizemax=8 ! spdlteststage "
            "sleep=60000000000 cancellable=false ! spdlsink")
        terminal.read_until("stage ", 3)
        terminal.press_ctrl_c()
        # The summary's figures are there; the stage is waited for.
        timer = threading.Timer(0.5, terminal.press_ctrl_c)
        timer.start()
        self.assertEqual(terminal.wait(), -signal.SIGINT)
        timer.join()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
