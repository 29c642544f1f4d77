# gst-spdl: scheduler of the measurements
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import tempfile
import time

import protocol
from blocks import BlockError, Blocks
from checks import KEEP, accuracy, complaint
from machine import commit
from tries import Tries

# Estimate of a block's overhead in seconds, until it is known.
FLOOR_AND_START = 7


class Runner:
    def __init__(self, args, store, sets, venvs, machine):
        self.args, self.store, self.sets = args, store, sets
        self.venvs, self.machine = venvs, machine
        self.commit = commit()
        self.failed = []  # rows that could run but have no result
        self.tries = Tries(store, args.quick)
        self.until = time.monotonic() + args.budget
        self.wanted = args.kept or (
            protocol.KEPT_QUICK if args.quick else protocol.KEPT)
        self.most = 1 if args.quick else protocol.MAX_TRIES

    def rows_of(self, cell):
        """Returns the rows that can run here, and reports the others."""
        for row in cell.rows:
            why = self.venvs[row.venv].lacks(row.needs)
            if why:
                print(f"  {row.name}: skipped: {why}", flush=True)
            else:
                yield row

    def run(self, cell):
        print(f"\n== {cell.key}", flush=True)
        found = protocol.current_cell(self.store.cells, cell.key, self.commit,
                                      self.machine)
        found["guard"] = cell.guard
        rows = {row.name: row for row in self.rows_of(cell)}
        names = list(rows)
        with Blocks(cell, self.sets, self.args.build / "tests/benchmarks",
                    self.venvs, self.args.quick, self.args.seconds) as blocks:
            if cell.checked:
                self.check(cell, found, rows, blocks)
            while due := self.due(cell, found, rows):
                self.tries.run(found, due, rows, blocks)
        self.print_rows(cell, found, names)

    def due(self, cell, found, rows):
        """Returns the names of the rows of the next try, if there is time for
        it."""
        best = protocol.best_floor(self.store.cells, cell.guard, self.machine)
        due = protocol.due_rows(found, list(rows), cell.reference, best,
                                self.wanted, self.most)
        took = len(due) * max((self.args.seconds or cell.seconds[self.args.quick])
                              + FLOOR_AND_START,
                              found.get("row-took", 0))
        if due and time.monotonic() + took > self.until:
            print(f"  no time for another try of {took:.0f} s", flush=True)
            return []
        return due

    def check(self, cell, found, rows, blocks):
        """Checks each row once per commit. A row that delivers other items is
        not measured."""
        for name, row in list(rows.items()):
            if name not in found["checks"]:
                if time.monotonic() > self.until:
                    del rows[name]
                    continue
                found["checks"][name] = self.check_row(cell, row, blocks)
                self.store.save()
            error = found["checks"][name].get("error") or complaint(
                found["checks"][name])
            if error:
                print(f"  {name}: not measured: {error}", flush=True)
                del rows[name]

    def check_row(self, cell, row, blocks):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "results.npy")
            paths = [line.split("\t")[0] for line in pathlib.Path(
                blocks.data["list"]).read_text().splitlines()]
            keep = min(KEEP, len(paths))
            try:
                checked = blocks.check(row, out, keep)
            except BlockError as error:
                return {"error": str(error)}
            if out.exists() and not cell.server:
                checked["psnr"] = accuracy(out, paths[:keep], 224)
            return checked

    def print_rows(self, cell, found, names):
        best = protocol.best_floor(self.store.cells, cell.guard, self.machine)
        for row in cell.rows:
            figures = protocol.figure(found, row.name, cell.figure, best)
            if figures:
                print(f"  {row.name:34} {figures.median:12.2f} {cell.unit} "
                      f"({figures.least:.2f} to {figures.most:.2f}; "
                      f"{figures.kept} of {figures.total} kept)", flush=True)
            elif row.name in names:
                self.failed.append(row.name)
