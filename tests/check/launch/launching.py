# gst-spdl: helpers of the tests of gst-spdl-launch-1.0
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Helpers that run gst-spdl-launch-1.0, whose path is in the variable LAUNCH."""

import contextlib
import faulthandler
import json
import os
import pathlib
import signal
import subprocess
import tempfile

LAUNCH = os.environ["LAUNCH"]

# If a test is terminated for a timeout, this prints its stack.
faulthandler.register(signal.SIGTERM, chain=True)


def launch(*args, **kwargs):
    return subprocess.run([LAUNCH, *args], capture_output=True, text=True,
                          timeout=300, check=False, **kwargs)


@contextlib.contextmanager
def running(*args):
    """Runs the program until the end of the block."""
    with subprocess.Popen([LAUNCH, *args], stderr=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def interrupt(process):
    """Sends SIGINT and returns the output until the end."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=100)


def launch_json(*args):
    """Runs the program and also returns its statistics, if there are any."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "run.json"
        done = launch("--json", str(file), *args)
        return done, json.loads(file.read_text()) if file.exists() else None


def launch_report(*args):
    """Runs the program and also returns the statistics and the report."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "run.html"
        done, data = launch_json("--report", str(page), *args)
        assert done.returncode == 0, done.stderr
        return done, data, page.read_text()
