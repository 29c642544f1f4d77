# gst-spdl: children of this process and of others, for tests
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import os


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


def descendants(pid):
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    found = [child for child in pids if parent_of(child) == pid]
    return found + [grand for child in found for grand in descendants(child)]


def _read_command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as stream:
            return stream.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def workers():
    """The workers. Their parent is a fork of this process, or of another
    interpreter, which is a child of this process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        parent = parent_of(int(name))
        above = parent_of(parent)
        if (parent_of(above) == os.getpid() or
                (above == os.getpid() and
                 _read_command(parent) == _read_command(above))):
            found.append(int(name))
    return found

