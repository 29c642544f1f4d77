# gst-spdl: machine, versions and commit of the results
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import pathlib
import platform
import shlex
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
MEASURED = ["gst", "plugins", "bindings", "meson.build",
            "tests/benchmarks/peers/loaders", "tests/benchmarks/peers/measure.py"]


def output(*command):
    done = subprocess.run(list(map(str, command)), check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.strip()


def commit():
    """Returns the commit of the measured code, marked if there are uncommitted
    changes."""
    git = ["git", "-C", str(ROOT)]
    found = output(*git, "log", "-1", "--format=%h", "--", *MEASURED)
    dirty = output(*git, "status", "--porcelain", "--", *MEASURED)
    return found + ("-dirty" if dirty else "")


def head(args, venvs):
    """Returns machine, versions and command of the measurement."""
    Gst.init(None)
    cpu = next((line.split(":")[1].strip() for line in pathlib.Path(
        "/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")), os.uname().machine)
    return {
        "machine": f"{len(os.sched_getaffinity(0))} cores of {cpu}",
        "system": output("sh", "-c", ". /etc/os-release; echo $PRETTY_NAME"),
        "kernel": os.uname().release,
        "python": platform.python_version(),
        "gstreamer": Gst.version_string(),
        "libjpeg-turbo": output(
            args.build / "tests/benchmarks/floor-jpeg", "--version"),
        "versions": {name: venv.versions() for name, venv in venvs.items()},
        "source": output("git", "-C", ROOT, "describe", "--always", "--dirty"),
        "command": shlex.join(["tests/benchmarks/peers/run", *sys.argv[1:]]),
        "load": round(os.getloadavg()[0], 1),
        "quick": args.quick}
