#!/usr/bin/python3
# gst-spdl: tests of the scripts and commands in docs/tutorials
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes each block below "Save this as `NAME`" to that file and runs the
blocks that are commands. The first argument is tools/make-dataset, the second
gst-spdl-launch-1.0, or - without it."""

import importlib.util
import pathlib
import re
import subprocess
import sys
import unittest

from support import MAKE_DATASET, ROOT, SAVED, blocks_of, make_folder

LAUNCH = sys.argv.pop(1)
if LAUNCH != "-":
    LAUNCH = str(pathlib.Path(LAUNCH).resolve())
PAGES = ROOT / "docs" / "tutorials"
FOLDER = make_folder()
COMMANDS = "python3 ", "./tools/make-dataset ", "gst-spdl-launch-1.0 "
# The test "pip" installs the package. "..." stands for other elements.
NOT_RUN = "./tools/setup\n", "spdlsrc location=train label=folder shuffle=true seed=1 "


def run(command):
    """Returns the output of a command."""
    for name, path in ("python3", sys.executable), (
            "./tools/make-dataset", f"/usr/bin/python3 {MAKE_DATASET}"), (
            "gst-spdl-launch-1.0", LAUNCH):
        command = re.sub(rf"(?m)^{re.escape(name)} ", f"{path} ", command)
    done = subprocess.run(["sh", "-ec", command], cwd=FOLDER, timeout=100,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def find_missing(script):
    """Returns the missing packages that a script imports."""
    names = set(re.findall(r"^(?:import|from) (\w+)", script, re.MULTILINE))
    if "gstspdl.torch" in script:
        names.add("torch")
    return sorted(name for name in names if not importlib.util.find_spec(name))


def hide_numbers(text):
    return re.sub(r"\d+(?=%)", "N", text).splitlines()


class TutorialsTest(unittest.TestCase):
    def check_page(self, page):
        scripts, skipped, shown = {}, set(), ""
        for before, block in blocks_of(PAGES / page):
            saved = SAVED.search(before)
            if saved:
                scripts[saved[1]] = block
                (FOLDER / saved[1]).write_text(block)
            elif block.startswith(COMMANDS):
                script = scripts.get(block.split()[1], "")
                missing = find_missing(script)
                shown = ""
                if missing:
                    skipped.add(f"no {', '.join(missing)} for {block.strip()}")
                elif block.startswith("gst-spdl-launch") and LAUNCH == "-":
                    skipped.add("no gst-spdl-launch-1.0")
                else:
                    with self.subTest(block):
                        shown = run(block)
            elif not block.startswith(NOT_RUN):
                # The output of the last command; the name of a class is
                # random.
                for line in hide_numbers(block) if shown else []:
                    if not line.isalpha():
                        self.assertIn(line, hide_numbers(shown))
        self.assertTrue(scripts)
        if skipped:
            self.skipTest("; ".join(sorted(skipped)))

    def test_1_first_training_loop(self):
        self.check_page("first-training-loop.md")
        if importlib.util.find_spec("torch"):
            self.assertTrue((FOLDER / "model.pt").exists())

    def test_2_from_dataloader(self):
        self.check_page("from-dataloader.md")

    def test_3_from_spdl(self):
        self.check_page("from-spdl.md")


if __name__ == "__main__":
    unittest.main()
