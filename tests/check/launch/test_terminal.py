#!/usr/bin/python3
# gst-spdl: tests of the live table of gst-spdl-launch-1.0
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import pathlib
import re
import signal
import time
import unittest

from terminal import Screen, Terminal


class TerminalTest(unittest.TestCase):
    JOB = ("fakesrc sizetype=fixed sizemax=8 ! spdlteststage name=decode "
           "sleep=1000000 ! spdlsink")

    def check_table(self, text, columns):
        screen = Screen(columns)
        screen.write(text)
        headers = [line for line in screen.lines if line.startswith("stage ")]
        self.assertEqual(len(headers), 1, screen.lines)
        return screen

    def test_table_is_redrawn(self):
        for columns in (80, 160):
            terminal = Terminal(columns, "--interval", "0.05", self.JOB)
            terminal.read_until("stage ", 5)
            terminal.interrupt()
            self.assertEqual(terminal.wait(), 0)
            screen = self.check_table(
                terminal.text.replace("^C", ""), columns)
            self.assertIn("Interrupted.", screen.lines)

    def test_resize(self):
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
            # No line was wrapped: the last table fits the terminal.
            rows = [line for line in screen.lines
                    if line.startswith("decode ") and line.endswith("%")]
            self.assertEqual(len(rows), 1, screen.lines)
            self.assertGreater(len(rows[0]), 80 if after == 160 else 40)

    def test_low_terminal(self):
        """Tests more stages than rows: the omitted ones are counted."""
        job = self.JOB.replace("! spdlsink", " ".join(
            f"! spdlteststage name=s{i}" for i in range(20)) + " ! spdlsink")
        terminal = Terminal(80, "--interval", "0.05", job, rows=16)
        tables = terminal.read_until("stage ", 5).split("\x1b[J")
        for table in tables[1:-1]:
            self.assertLess(table.count("\n"), 16, table)
            self.assertRegex(table, r"and \d+ more\r?\n")
        terminal.interrupt()
        self.assertEqual(terminal.wait(), 0)
        # The last table stays visible, with all its rows.
        self.assertIn("\ns19 ", terminal.text.rpartition("\x1b[J")[2])

    def test_bold_lines(self):
        """Tests bold type for the limiting stage and the verdict, and its
        option."""
        for env, bold in (({}, True), ({"NO_COLOR": "1"}, False)):
            terminal = Terminal(80, "--interval", "0.05", "--duration", "1",
                                self.JOB.replace("1000000", "20000000"), **env)
            self.assertEqual(terminal.wait(), 0)
            found = re.search(r"\x1b\[1mdecode .*\x1b\[0m\r?\n(?s:.*)"
                              r"\x1b\[1mdecode is busy", terminal.text)
            self.assertEqual(bool(found), bold, terminal.text)

    def test_second_ctrl_c(self):
        # A task that cannot be cancelled and sleeps for a minute.
        terminal = Terminal(
            80, "--interval", "0.05",
            "fakesrc sizetype=fixed sizemax=8 ! spdlteststage "
            "sleep=60000000000 cancellable=false ! spdlsink")
        terminal.read_until("stage ", 3)
        terminal.press_ctrl_c()
        # The program catches the first one only.
        status = pathlib.Path(f"/proc/{terminal.process.pid}/status")
        while int(re.search(r"SigCgt:\s(\w+)", status.read_text())[1],
                  16) & 1 << signal.SIGINT - 1:
            self.assertIsNone(terminal.process.poll())
            time.sleep(0.01)
        terminal.press_ctrl_c()
        self.assertEqual(terminal.wait(), -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
