# gst-spdl: JSON file of all measurements
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import pathlib
from typing import Any, Dict

VERSION = 1
# Fields that differ between runs: commit, command line, load.
RUNS = ("source", "command", "load")


class Store:
    """The file of all measurements. It is replaced atomically after each
    block, so that a run may end at any time. `heads`: machine, versions,
    command and commit of each run."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.document: Dict[str, Any] = {"version": VERSION, "heads": [],
                                         "cells": {}}
        if path.exists():
            self.document = json.loads(path.read_text(encoding="utf-8"))
            if self.document["version"] != VERSION:
                raise SystemExit(f"{path} is of another version")

    @property
    def cells(self) -> Dict[str, Any]:
        cells: Dict[str, Any] = self.document["cells"]
        return cells

    def add_head(self, head: Dict[str, Any]) -> None:
        """Adds a head. Runs on one machine with the same versions share it,
        with a list of each field in RUNS."""
        fixed = {name: value for name, value in head.items()
                 if name not in RUNS}
        for known in self.document["heads"]:
            if {**known, **fixed} == known:
                break
        else:
            known = {**fixed, **{name: [] for name in RUNS}}
            self.document["heads"].append(known)
        for name in RUNS:
            if head[name] not in known[name]:
                known[name].append(head[name])
        self.save()

    def save(self) -> None:
        aside = self.path.with_suffix(".part")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(json.dumps(self.document, indent=1, sort_keys=True),
                         encoding="utf-8")
        os.replace(aside, self.path)
