# gst-spdl: helpers of the tests of the Python package
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import atexit
import contextlib
import faulthandler
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

# If a test is terminated for a timeout, this prints its stack.
faulthandler.register(signal.SIGTERM, chain=True)

# The first argument of most tests. Others remove theirs before this.
MAKE_DATASET = sys.argv.pop(1) if "/" in "".join(sys.argv[1:2]) else None

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def find_packages(*names, venv="build-venv"):
    """Returns whether the packages, which are not in Debian, are installed. If
    only the venv has them, where tools/setup installs them, this runs the test
    again in it."""
    if all(map(importlib.util.find_spec, names)):
        return True
    python = ROOT / venv / "bin" / "python"
    if python.exists() and "SPDL_IN_VENV" not in os.environ:
        os.environ["SPDL_IN_VENV"] = "1"
        os.execv(python, [python, *sys.orig_argv[1:]])
    return False


def require_gi():
    """Returns the modules Gst and GstSpdl of PyGObject. Skips the test if there
    is no PyGObject, or one that cannot exchange objects with the package."""
    from gstspdl._native import gi

    try:
        gi.bridge()
    except ImportError as error:
        # Tests of a build set this. They must find PyGObject.
        if "GI_TYPELIB_PATH" in os.environ:
            raise
        raise unittest.SkipTest(f"needs PyGObject: {error}") from None
    from gi.repository import Gst, GstSpdl

    return Gst, GstSpdl


def needs_gi(test):
    """Decorates a test, or a class of tests, that needs PyGObject. Lists those
    that are skipped, for tests/python/run-with-wheel."""
    if isinstance(test, type):
        for name in dir(test):
            if name.startswith("test"):
                setattr(test, name, needs_gi(getattr(test, name)))
        return test

    @functools.wraps(test)
    def run(self):
        try:
            require_gi()
        except unittest.SkipTest:
            print("needs PyGObject:", self.id(), file=sys.stderr)
            raise
        test(self)

    return run


def wait_until(condition):
    """Waits until the condition holds, for at most 60 s: only a hang takes as
    long."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, inspect.getsource(condition)
        time.sleep(0.005)


def wait_until_asleep(*pids):
    """Waits until all threads of the processes, or all others of this process,
    sleep at the same moment, so that nothing happens any more unless a timer or
    another process wakes one. Between two equal looks no thread was awake."""
    def look():
        found = []
        for task in sorted(task for pid in pids or ["self"] for task in
                           pathlib.Path(f"/proc/{pid}/task").iterdir()):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                text = (task / "status").read_text()
                if task.name != str(threading.get_native_id()):
                    found.append((task, *re.findall(
                        r"^(?:State|voluntary_ctxt_switches):\t(\w+)", text,
                        re.MULTILINE)))
        return found

    wait_until(lambda: (one := look()) == look() and
               all(state == "S" for _, state, _ in one))


def brings_libraries():
    """Returns whether the package contains its libraries, as in a wheel."""
    from gstspdl._native import library as native

    return os.path.isdir(native.folder)


def needs_launch(test):
    """Decorates a test, or a class of tests, that runs the project's elements
    in the system's gst-launch-1.0, for which a wheel has no elements."""
    try:
        found = "GST_PLUGIN_PATH" in os.environ or subprocess.run(
            ["gst-inspect-1.0", "spdlsrc"], check=False,
            capture_output=True).returncode == 0
    except FileNotFoundError:
        found = False
    return unittest.skipUnless(
        found, "needs a gst-launch-1.0 that has the project's elements")(test)


def make_folder():
    """Returns a folder that is removed when this process exits. A forked
    process of Python 3.13 runs exit handlers as well, and must not remove it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    maker = os.getpid()

    def remove():
        if os.getpid() == maker:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def slow_or(slow, normal):
    """Returns `slow` in the slow mode of the tests, otherwise `normal`."""
    return slow if os.environ.get("SPDL_TEST_SLOW") else normal


@functools.cache
def _share_photos(count):
    """Returns a folder with at least that number of JPEGs, which the tests of a
    build share, since it takes a second to make some."""
    count = max(count, 64)
    # tests/isolation/isolate sets it.
    cache = os.environ.get("SPDL_TEST_CACHE")
    digest = hashlib.sha256(pathlib.Path(MAKE_DATASET).read_bytes()).hexdigest()
    folder = pathlib.Path(cache or make_folder(), f"{count}-{digest[:16]}")
    if not folder.exists():
        os.makedirs(folder.parent, exist_ok=True)
        made = tempfile.mkdtemp(dir=folder.parent)
        subprocess.run(["/usr/bin/python3", MAKE_DATASET, "--count", str(count),
                        made], check=True, stdout=subprocess.DEVNULL)
        try:
            os.rename(made, folder)
        except OSError:  # another test was faster
            shutil.rmtree(made)
    return folder


def make_dataset(count):
    """Makes JPEGs in a folder per class. A smaller set is the beginning of a
    larger one."""
    folder = make_folder()
    for path in _share_photos(count).glob("*/*.jpg"):
        if int(path.stem) < count:
            copy = folder / path.parent.name / path.name
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, copy)
    return folder


def describe(folder, size=8, source="", order="completion", decode="",
             batch="", side=32):
    """Returns the usual pipeline for a folder."""
    return (f'spdlsrc name=source location="{folder}" label=folder {source} '
            f"! spdlfetch name=fetch output-order={order} "
            f"! spdldecode name=decode output-order={order} width={side} "
            f"height={side} {decode} "
            f"! spdlbatch name=batch batch-size={size} {batch} "
            "! spdlsink name=sink")


def run_python(code, *arguments, **options):
    """Runs another interpreter and returns its output."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)],
                          capture_output=True, text=True, timeout=100,
                          check=False, **options)


def check_python(code, *arguments, **options):
    """Runs another interpreter, which must end without an error and write none,
    and returns its output."""
    done = run_python(code, *arguments, **options)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


# The text before a script of a page.
SAVED = re.compile(r"[Ss]ave\s+this\s+as\s+`([\w.]+)`:\s*$")


def blocks_of(page):
    """Yields each indented block of a page, with the text before it."""
    *parts, _ = re.split(r"((?:    .*\n|\n(?=(?: *\n)*    ))+)",
                         "\n" + page.read_text())
    for before, block in zip(parts[::2], parts[1::2]):
        yield before, re.sub(r"(?m)^    ", "", block).strip("\n") + "\n"


def run_page(name, folder, photos):
    """Runs the Python of a how-to page in a folder that has photos, and returns
    its output."""
    text = (ROOT / "docs" / "how-to" / name).read_text()
    code = "\n".join(line[4:] for line in text.splitlines()
                     if line.startswith("    ") or not line)
    shutil.copytree(photos, folder / "photos")
    done = run_python(code, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Writes the state, epoch and indices of each batch to a file, and resumes from it.
_JOURNAL = """
import json, os, sys
import gstspdl
line, path = sys.argv[1:]
rows = open(path).read().splitlines() if os.path.exists(path) else []
state = json.loads(rows[-1])[0] if rows else None
journal = open(path, "a")
with gstspdl.Loader(line, source=source, state=state) as loader:
    while not loader.is_finished():
        for batch in loader:
            journal.write(json.dumps(
                [batch.state, batch.epoch, list(batch.indices)]) + "\\n")
            journal.flush()
            os.write(1, b".")
"""


def check_kills(test, line, n_rows, source="source = None"):
    """Checks that a loader that is killed again and again, after 50 to 250
    batches each time, uses each row once in each of two epochs, whose orders
    differ. `source`: Python code that makes the loader's source."""
    path = make_folder() / "journal"
    rng = random.Random(4)
    n_kills = 0
    while True:
        with subprocess.Popen(
                [sys.executable, "-c", source + _JOURNAL, line, path],
                stdout=subprocess.PIPE) as run:
            if len(run.stdout.read(rng.randrange(50, 250))) < 50:
                test.assertEqual(run.wait(), 0)
                break
            os.kill(run.pid, signal.SIGKILL)
        n_kills += 1
        # A line that was not completed is not in the state either.
        text = path.read_text()
        path.write_text(text[:text.rfind("\n") + 1])
    test.assertGreater(n_kills, 2)
    used = {0: [], 1: []}
    for row in path.read_text().splitlines():
        _, epoch, indices = json.loads(row)
        used[epoch] += indices
    for indices in used.values():
        test.assertEqual(sorted(indices), list(range(n_rows)))
    test.assertNotEqual(used[0], used[1])


def _meeting_place(folder):
    """Returns torchrun's options for the rendezvous. The store of newer
    versions needs libuv, which Debian 13's PyTorch lacks; it then uses a file,
    of its own for each run."""
    import torch

    if int(torch.__version__.partition(".")[0]) >= 2:
        file = tempfile.mktemp(prefix="meet-", dir=folder)
        return ["--rdzv_backend", "c10d", "--rdzv_endpoint", file,
                "--rdzv_conf", "store_type=file", "--local_addr", "127.0.0.1"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return ["--master_addr", "127.0.0.1", "--master_port",
                str(probe.getsockname()[1])]


def start_agent(job, *arguments, folder, min_nodes, max_nodes):
    """Starts a node of an elastic run with one rank. Nodes with the same folder
    meet. Debian 12's torchrun cannot do without redirects."""
    import torch

    conf = ("store_type=file,last_call_timeout=1,keep_alive_interval=1,"
            "keep_alive_max_attempt=5")
    local = (["--local_addr", "127.0.0.1"]
             if int(torch.__version__.partition(".")[0]) >= 2 else [])
    return subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", *local,
         "--nnodes", f"{min_nodes}:{max_nodes}", "--nproc_per_node", "1",
         "--max_restarts", "20", "--monitor_interval", "0.2",
         "--rdzv_backend", "c10d", "--rdzv_id", "job",
         "--rdzv_endpoint", os.path.join(folder, "meeting"),
         "--rdzv_conf", conf, "--redirects", "1", "--tee", "1",
         job, *map(str, arguments)],
        env=dict(os.environ, GLOO_SOCKET_IFNAME="lo", USE_LIBUV="0",
                 TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1"),
        start_new_session=True, stdout=subprocess.DEVNULL)


def launch_ranks(n_ranks, job, *arguments, folder, cwd=None, **environment):
    """Runs a script with torchrun and returns its output."""
    # A barrier that one rank does not reach ends in the timeout. Debian 12's
    # torchrun has defaults for redirects and tee that fail with Python 3.11. The
    # interface is given since some machines cannot look up localhost.
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run",
         *_meeting_place(folder), "--nproc_per_node", str(n_ranks),
         "--redirects", "1", "--tee", "1", job, *map(str, arguments)],
        env=dict(os.environ, GLOO_SOCKET_IFNAME="lo", USE_LIBUV="0",
                 TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1", **environment),
        cwd=cwd, check=True, timeout=200, stdout=subprocess.PIPE,
        text=True).stdout
