# gst-spdl: pseudo-terminal for tests of gst-spdl-launch-1.0
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pseudo-terminal and its screen."""

import codecs
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unittest

from launching import LAUNCH


class Screen:
    """A terminal with the control sequences that the program uses: newline,
    cursor up, erase."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.row = 0

    def resize(self, columns):
        """Changes the width and wraps the lines again, as terminals do."""
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
    """The program in a pseudo-terminal."""

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
        """Reads until @words occurred a number of times. Returns the output."""
        begin = len(self.text)
        while self.text[begin:].count(words) < count:
            if not self.read():
                raise AssertionError(f"no {words!r} in {self.text!r}")
        return self.text[begin:]

    def stop_and_drain(self):
        """Stops the program and returns its pending output; SIGCONT continues
        it."""
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
        """Sends Ctrl-C. A terminal drops the output that it has not shown yet,
        so this waits until all is shown."""
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
