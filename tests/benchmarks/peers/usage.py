# gst-spdl: resource usage of a process and its children
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""getrusage() counts children only after they have exited, and those of a
DataLoader persist. Hence this finds all descendants in /proc."""

import os
import pathlib
import resource
import signal
import time

TICK = os.sysconf("SC_CLK_TCK")


def _stats():
    """Returns for each process its parent and its CPU ticks, including those
    of children that have exited."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may contain spaces.
            fields = path.read_text(encoding="ascii",
                                    errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found[int(path.parent.name)] = (int(fields[1]),
                                        sum(map(int, fields[11:15])))
    return found


def _tree(stats, root):
    pids, todo = [], [root]
    while todo:
        pid = todo.pop()
        pids.append(pid)
        todo += [child for child, (parent, _) in stats.items() if parent == pid]
    return pids


def cpu_seconds():
    """Returns the CPU time of this process and its descendants; that of others
    has a resolution of 10 ms."""
    stats = _stats()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(
        stats[pid][1] for pid in _tree(stats, os.getpid())[1:]
        if pid in stats) / TICK


def kill_children():
    """Kills all descendants, such as a loader's workers, which would disturb
    the next measurement."""
    for pid in _tree(_stats(), os.getpid())[1:]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _shared(pid, found):
    """Adds the shared memory segments that a process has open."""
    try:
        links = list(pathlib.Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return
    for link in links:
        try:
            if os.readlink(link).startswith(("/dev/shm/", "/memfd:")):
                status = os.stat(link)
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
        except OSError:
            continue


def memory():
    """Returns PSS and RSS in bytes of this process and its descendants. PSS
    lacks shared memory that no process maps at the moment, such as a batch in
    transit, so open files are searched for segments."""
    pss = rss = mapped = 0
    segments = {}
    for pid in _tree(_stats(), os.getpid()):
        try:
            text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(
                encoding="ascii")
        except OSError:
            continue
        fields = {name: int(rest.split()[0]) * 1024 for name, _, rest in (
            line.partition(":") for line in text.splitlines()[1:])}
        pss += fields["Pss"]
        rss += fields["Rss"]
        mapped += fields["Pss_Shmem"]
        _shared(pid, segments)
    return pss + max(0, sum(segments.values()) - mapped), rss
