# gst-spdl: worker processes of this process, for tests
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import time


def _read_stat(pid):
    """Returns the state and the parent of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
            return stream.read().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_alive(pid):
    stat = _read_stat(pid)
    return stat is not None and stat[0] != "Z"


def parent_of(pid):
    """Returns 0 for a process that has ended."""
    state, parent = _read_stat(pid) or ("Z", 0)
    return 0 if state == "Z" else int(parent)


def workers():
    """The workers, which a child of a child of this process has forked."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids
            if parent_of(parent_of(parent_of(pid))) == os.getpid()]


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
