# gst-spdl: worker process of gstspdl.torch.DataLoader, as programs see it
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import contextlib
import math
import os
import signal
import time
from typing import List, Optional

# As multiprocessing: the end of a process of which nobody knows the status.
_UNKNOWN = 255
# Index of a process's state, and of its status when it ends, after its name in
# /proc/PID/stat.
_STATE = 0
_STATUS = 49


class WorkerProcess:
    """A worker process, with what programs use of multiprocessing.Process. It is
    a child of another process, which the loader asks for its status."""

    daemon = True

    def __init__(self, pid: int = 0, number: int = 0) -> None:
        self.pid = self.ident = pid
        self.name = f"DataLoader worker {number}"
        self._exitcode: Optional[int] = None

    def note_end(self, status: int) -> None:
        """Notes the end of the process, whose number may now belong to another
        process.

        @status: as of waitpid(); negative: unknown"""
        self._exitcode = (_UNKNOWN if status < 0
                          else os.waitstatus_to_exitcode(status))

    @property
    def exitcode(self) -> Optional[int]:
        """None while the process runs. -N if signal N ended it."""
        if self._exitcode is not None:
            return self._exitcode
        stat = self._read_stat()
        if not stat:
            return _UNKNOWN
        if stat[_STATE] not in "ZX":
            return None
        return os.waitstatus_to_exitcode(int(stat[_STATUS]))

    def _read_stat(self) -> List[str]:
        try:
            with open(f"/proc/{self.pid}/stat", encoding="utf-8",
                      errors="replace") as stream:
                return stream.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return []

    def is_alive(self) -> bool:
        return self.exitcode is None

    def join(self, timeout: Optional[float] = None) -> None:
        """Waits until the process ends, or for `timeout` seconds."""
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        while self.is_alive() and time.monotonic() < end:
            time.sleep(0.002)

    def terminate(self) -> None:
        """Sends SIGTERM. The loader then replaces the process."""
        self._send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL. The loader then replaces the process."""
        self._send_signal(signal.SIGKILL)

    def _send_signal(self, number: int) -> None:
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def __repr__(self) -> str:
        state = "started" if self.is_alive() else f"exitcode={self.exitcode}"
        return f"<{self.name} pid={self.pid} {state} daemon>"
