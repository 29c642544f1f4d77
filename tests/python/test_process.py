#!/usr/bin/python3
# gst-spdl: tests of Ctrl-C, interpreter exit, forks and other Python versions
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset. An error in these tests is a hang,
which ends in a timeout of minutes. tests/benchmarks/bench-python measures the
usual duration."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import gstspdl
from support import (brings_libraries, check_python, describe, make_dataset,
                     needs_gi, run_python)

FOLDER = make_dataset(20)
unittest.TestCase.maxDiff = None
PACKAGES = pathlib.Path(gstspdl.__file__).parent.parent
START = "import sys\nfrom gstspdl import Loader, LoaderError\n"
# The source never gives an item. The interpreter must not exit while a thread
# is in print(), so tests wait for "begun" first.
NOTHING = """
import threading
begun = threading.Event()
def source():
    print("waits", flush=True)
    begun.set()
    threading.Event().wait()
    yield b""
loader = Loader("spdldecode ! spdlbatch ! spdlsink", source=source())
"""
# The source waits for a server that never responds.
SILENCE = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
source = "spdlsrc location=http://127.0.0.1:%d/a.tar timeout=0"
def accept():
    global connection
    connection = server.accept()
    print("waits", flush=True)
threading.Thread(target=accept).start()
loader = Loader(sys.argv[1].format(source % server.getsockname()[1]))
"""
GI = """
import gi
gi.require_version("GstSpdl", "1.0")
from gi.repository import GstSpdl
"""
LINE = START + "loader = Loader(sys.argv[1])\n"


class InterruptTest(unittest.TestCase):
    def interrupt(self, code, *arguments):
        """Runs @code and sends a SIGINT once it has written a line."""
        # Started as by an interactive shell, as a background job would ignore
        # SIGINT.
        with subprocess.Popen(
                [sys.executable, "-c", code, *arguments], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(
                    signal.SIGINT, signal.default_int_handler)) as child:
            self.assertTrue(child.stdout.readline())
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=100)
        return child.returncode, out, err

    def test_interrupt_while_waiting(self):
        code, _, err = self.interrupt(START + NOTHING + "list(loader)\n")
        self.assertEqual(err.splitlines()[-1], "KeyboardInterrupt")
        self.assertNotIn("RuntimeError", err)
        self.assertEqual(code, -signal.SIGINT)

    def test_interrupt_of_a_start(self):
        for job in ("{} ! spdlsink",
                    'spdlworkersrc pipeline="{}" ! spdlsink'):
            code, out, err = self.interrupt(
                START + SILENCE + "try:\n"
                "    loader.start()\n"
                "except KeyboardInterrupt:\n"
                "    print(loader.is_running())\n", job)
            self.assertEqual((err, out, code), ("", "False\n", 0))

    def test_interrupt_between_batches(self):
        code, _, err = self.interrupt(
            LINE + "print('begins', flush=True)\n"
            "while True:\n    for batch in loader: pass\n", describe(FOLDER))
        self.assertEqual(err.splitlines()[-1], "KeyboardInterrupt")
        self.assertNotIn("RuntimeError", err)
        self.assertEqual(code, -signal.SIGINT)

    def test_loader_continues_after_an_interrupt(self):
        code, out, err = self.interrupt(
            LINE + "try:\n"
            "    print('begins', flush=True)\n"
            "    while True:\n"
            "        for batch in loader: pass\n"
            "except KeyboardInterrupt:\n"
            "    list(loader)\n"
            "    print(sum(b.num_items for b in loader))\n", describe(FOLDER))
        self.assertEqual((err, out, code), ("", "20\n", 0))


class ExitTest(unittest.TestCase):
    def check(self, code, *arguments):
        return check_python(code, *arguments)

    def test_exit_with_running_loaders(self):
        self.check(LINE + "others = [Loader(sys.argv[1]) for _ in range(5)]\n"
                   "kept = [next(iter(l)) for l in [loader, *others]]\n",
                   describe(FOLDER))

    def test_exit_with_a_waiting_source(self):
        self.check(START + NOTHING + "loader.start()\nbegun.wait()\n")

    def test_exit_with_views_in_modules(self):
        # The remaining objects are freed while the interpreter shuts down.
        consumers = ["numpy"]
        if importlib.util.find_spec("torch"):
            consumers.append("torch")
        self.check(LINE + f"import builtins, {', '.join(consumers)}\n"
                   "batch = next(iter(loader))\n"
                   "builtins.a = numpy.asarray(batch['data'])\n"
                   f"builtins.b = {consumers[-1]}.from_dlpack(batch['data'])\n"
                   "builtins.c = batch['data'].__dlpack__()\n",
                   describe(FOLDER))

    def test_exit_by_an_exception(self):
        done = run_python(
            LINE + "for batch in loader:\n    raise SystemExit(7)\n",
            describe(FOLDER))
        self.assertEqual(done.returncode, 7)

    def test_exit_while_a_thread_waits(self):
        self.check(START + NOTHING +
                   "thread = threading.Thread(target=lambda: list(loader),\n"
                   "                          daemon=True)\n"
                   "threading.excepthook = lambda *_: None\n"
                   "loader.start()\nthread.start()\nbegun.wait()\n")


FORK = LINE + """
import os
batch = next(iter(loader))
kept = list(loader)
pids = []
for i in range(4):
    pid = os.fork()
    if pid == 0:
        try:
            for _ in loader:
                os._exit(1)
        except LoaderError as error:
            if error.code != "forked" or "spawn" not in str(error):
                os._exit(2)
        else:
            os._exit(3)
        # What the parent had is let go of, and the loader.
        shape = batch["data"].numpy().shape
        loader.stop()
        del batch, kept, loader
        import gc
        gc.collect()
        # One of them by way of atexit.
        sys.exit(0) if i == 0 else os._exit(0)
    pids.append(pid)
status = [os.waitpid(pid, 0)[1] for pid in pids]
print(status, len(list(loader)), sum(b.num_items for b in loader))
"""


# Python 3.12 and newer warn of every fork of a process with threads.
FORKING = {**os.environ, "PYTHONWARNINGS": "ignore:This process (pid="}


class ForkTest(unittest.TestCase):
    def test_loader_of_the_parent(self):
        self.assertEqual(check_python(FORK, describe(FOLDER), env=FORKING),
                         "[0, 0, 0, 0] 3 20\n")

    def test_loader_of_the_child(self):
        self.assertEqual(check_python(START + """
import multiprocessing, sys
def work(line, queue):
    with Loader(line) as loader:
        queue.put(sum(b.num_items for b in loader))
if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    process = fork.Process(target=work, args=(sys.argv[1], queue))
    process.start()
    print(queue.get())
    process.join()
""", describe(FOLDER), env=FORKING), "20\n")


    def test_start_after_a_loader_of_the_parent(self):
        self.assertEqual(check_python(LINE + """
import os
print(sum(b.num_items for b in loader), flush=True)
loader.stop()
pid = os.fork()
if pid == 0:
    try:
        Loader(sys.argv[1]).start()
    except LoaderError as error:
        os._exit(0 if error.code == "forked" else 1)
    os._exit(2)
print(os.waitpid(pid, 0)[1])
with loader:
    print(sum(b.num_items for b in loader))
""", describe(FOLDER), env=FORKING), "20\n0\n20\n")


class ElsewhereTest(unittest.TestCase):
    """Tests a Python without PyGObject and one with Debian's."""

    def run_without(self, code, *arguments, python=sys.executable):
        # -S hides Debian's packages.
        return subprocess.run(
            [python, "-S", "-c", code, *arguments], capture_output=True,
            text=True, env={**os.environ, "PYTHONPATH": str(PACKAGES)},
            check=False, timeout=100)

    def test_without_pygobject(self):
        done = self.run_without(
            LINE + "print(sum(b.num_items for b in loader))\n"
            "assert not hasattr(loader, 'no_such_name')\n"
            "loader.pipeline\n", describe(FOLDER))
        self.assertEqual(done.stdout, "20\n", done.stderr)
        last = done.stderr.splitlines()[-1]
        self.assertRegex(last, r"^ImportError: .*\bPyGObject\b")
        self.assertIn("apt install python3-gi", last)
        self.assertIn("--system-site-packages", last)

    def test_pygobject_is_not_imported(self):
        self.assertEqual(check_python(
            LINE + "batch = next(iter(loader))\n"
            "batch['data'].numpy(), batch.extras, loader.stats, loader.state\n"
            "print('gi' in sys.modules)", describe(FOLDER)), "False\n")

    def test_other_pythons_in_path(self):
        """Tests Pythons of pyenv, and of a venv without Debian's packages."""
        seen = set()
        for folder in os.environ["PATH"].split(":"):
            python = pathlib.Path(folder, "python3")
            if not python.exists():
                continue
            seen.add(python)
            with self.subTest(python):
                done = self.run_without(
                    LINE + "print(sum(b.num_items for b in loader))",
                    describe(FOLDER), python=python)
                self.assertEqual((done.stdout, done.stderr), ("20\n", ""))
        self.assertTrue(seen)

    @needs_gi
    def test_without_the_typelib(self):
        done = run_python(LINE + "list(loader)\nloader.pipeline",
                          describe(FOLDER), env={
                              **os.environ, "GI_TYPELIB_PATH": "/nowhere"})
        last = done.stderr.splitlines()[-1]
        self.assertRegex(last, r"^ImportError: .*\btypelib\b")
        self.assertIn("GI_TYPELIB_PATH=PREFIX", last)

    @unittest.skipIf(brings_libraries(), "the package contains its libraries")
    def test_without_the_library(self):
        done = run_python("from gstspdl import Loader", env={
            **os.environ, "LD_LIBRARY_PATH": "/nowhere"})
        last = done.stderr.splitlines()[-1]
        self.assertRegex(last, r"^ImportError: .*\bgstspdl\b")
        self.assertIn("LD_LIBRARY_PATH=PREFIX", last)

    def test_venv(self):
        code = LINE + "print(sum(b.num_items for b in loader))"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", "--without-pip",
                            "--system-site-packages", folder], check=True)
            done = subprocess.run(
                [folder + "/bin/python", "-c", code, describe(FOLDER)],
                capture_output=True, text=True, check=False, timeout=100,
                env={**os.environ, "PYTHONPATH": str(PACKAGES)})
        self.assertEqual((done.stdout, done.stderr), ("20\n", ""))

    @needs_gi
    def test_one_library_for_ctypes_and_pygobject(self):
        use = ("import gstspdl; loader = gstspdl.Loader("
               "'videotestsrc ! spdlbatch ! spdlsink'); loader.gobject")
        for lines in [use, GI], [GI, use]:
            with self.subTest(lines[0]):
                self.assertEqual(check_python("\n".join(lines) + """
maps = open('/proc/self/maps').read().splitlines()
print(len({m.split()[-1] for m in maps if 'libgstspdl-1' in m}))
print(type(loader.gobject) is GstSpdl.Loader)"""), "1\nTrue\n")


if __name__ == "__main__":
    unittest.main()
