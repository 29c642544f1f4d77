#!/usr/bin/python3
# gst-spdl: tests of the statistics of the loader comparison
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which measurements count, their summary and which ones are repeated,
with made-up measurements. The first argument is tests/benchmarks/peers."""

import contextlib
import io
import json
import pathlib
import random
import sys
import tempfile
import unittest

PEERS = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(PEERS))
import protocol  # noqa: E402
import report  # noqa: E402
from blocks import BlockError  # noqa: E402
from store import Store  # noqa: E402
from tables import OURS, PILLOW, all_cells  # noqa: E402
from tries import RUNS, Tries  # noqa: E402


def block(number, us, before=100.0, after=100.0):
    return {"try": number, "before": before, "after": after,
            "figures": {"us": us}}


def cell_of(**blocks):
    cell = protocol.new_cell("abc", "one")
    cell["guard"] = "web"
    cell["blocks"] = blocks
    cell["tries"] = [sorted(blocks)] * max(map(len, blocks.values()))
    return cell


class ThrowAwayTest(unittest.TestCase):
    def test_floor_tolerance(self):
        self.assertTrue(protocol.is_kept(block(0, 1, 107, 100), 100))
        self.assertFalse(protocol.is_kept(block(0, 1, 107.1, 100), 100))
        self.assertFalse(protocol.is_kept(block(0, 1, 100, 107.1), 100))

    def test_best_floor_of_all_cells_of_a_guard(self):
        cells = {"a": cell_of(x=[block(0, 1, 103, 102)]),
                 "b": cell_of(x=[block(0, 1, 101, 110)]),
                 "c": {**cell_of(x=[block(0, 1, 50, 50)]), "guard": "camera"}}
        self.assertEqual(protocol.best_floor(cells, "web", "one"), 101)
        self.assertEqual(protocol.best_floor(cells, "camera", "one"), 50)
        self.assertEqual(protocol.best_floor(cells, "none", "one"),
                         float("inf"))

    def test_best_floor_per_machine(self):
        cells = {"a": cell_of(x=[block(0, 1, 103, 102)]),
                 "b": {**cell_of(x=[block(0, 1, 50, 50)]), "machine": "two"}}
        self.assertEqual(protocol.best_floor(cells, "web", "one"), 102)
        self.assertEqual(protocol.best_floor(cells, "web", "two"), 50)

    def test_better_floor_discards_kept_blocks(self):
        cell = cell_of(x=[block(0, 1), block(1, 2, 90, 90)])
        self.assertEqual(len(protocol.kept(cell, "x", 100)), 2)
        self.assertEqual(len(protocol.kept(cell, "x", 90)), 1)


class FiguresTest(unittest.TestCase):
    def test_median_of_kept_blocks(self):
        cell = cell_of(x=[block(0, 10), block(1, 30), block(2, 20),
                          block(3, 999, 150)])
        self.assertEqual(protocol.figure(cell, "x", "us", 100),
                         (20, 10, 30, 3, 4, True))

    def test_all_blocks_count_if_none_was_kept(self):
        cell = cell_of(x=[block(0, 10, 150), block(1, 30, 150)])
        self.assertEqual(protocol.figure(cell, "x", "us", 100),
                         (20, 10, 30, 0, 2, False))

    def test_missing_block(self):
        cell = cell_of(x=[block(0, 10)])
        self.assertIsNone(protocol.figure(cell, "y", "us", 100))
        self.assertIsNone(protocol.figure(cell, "x", "pss", 100))
        self.assertIsNone(protocol.over_row(cell, "x", "y", "us", 100))

    def test_ratio_to_surrounding_floors(self):
        cell = cell_of(x=[block(0, 210, 100, 110), block(1, 150)])
        s = protocol.over_floor(cell, "x", "us", 104)
        self.assertEqual(s[:3], (1.75, 1.5, 2.0))

    def test_ratios_within_one_try(self):
        """Tests that a ratio is taken within one try. The ratio of the medians
        would be 1."""
        cell = cell_of(x=[block(0, 10), block(1, 40), block(2, 20)],
                       y=[block(2, 10), block(0, 20), block(1, 20)])
        s = protocol.over_row(cell, "x", "y", "us", 100)
        self.assertEqual(s[:3], (2.0, 0.5, 2.0))

    def test_pair_needs_both_blocks(self):
        cell = cell_of(x=[block(0, 10), block(1, 40, 150)],
                       y=[block(0, 20), block(1, 20)])
        s = protocol.over_row(cell, "x", "y", "us", 100)
        self.assertEqual(s, (0.5, 0.5, 0.5, 1, 2, True))


class TriesTest(unittest.TestCase):
    def test_every_second_order_is_reversed(self):
        rows, rng, tries = list("abcdef"), random.Random(3), []
        for _ in range(4):
            tries.append(protocol.draw_order(rows, tries, rng))
        self.assertEqual(tries[1], tries[0][::-1])
        self.assertEqual(tries[3], tries[2][::-1])
        self.assertNotEqual(tries[2], tries[1])
        for order in tries:
            self.assertEqual(sorted(order), rows)

    def test_other_rows_get_a_new_order(self):
        order = protocol.draw_order(list("abc"), [list("dcab")],
                                    random.Random(1))
        self.assertEqual(sorted(order), list("abc"))

    def test_tries_until_enough_are_kept(self):
        cell = cell_of(x=[block(i, 1) for i in range(5)],
                       y=[block(i, 1, 150 if i else 100) for i in range(5)])
        rows = ["x", "y", "z"]
        cell["blocks"]["z"] = cell["blocks"]["x"]
        self.assertEqual(protocol.due_rows(cell, rows, "z", 100, 5),
                         ["y", "z"])
        self.assertEqual(protocol.due_rows(cell, rows, "z", 100, 1), [])
        self.assertEqual(protocol.due_rows(cell, ["x", "z"], "z", 100, 5), [])
        self.assertEqual(protocol.due_rows(cell, rows, "z", 90, 5), rows)

    def test_no_pairs_across_tries(self):
        cell = cell_of(x=[block(0, 1), block(1, 1, 150)],
                       y=[block(0, 1, 150), block(1, 1)])
        self.assertEqual(protocol.due_rows(cell, ["x", "y"], "y", 100, 1),
                         ["x", "y"])

    def test_at_most_ten_tries(self):
        cell = cell_of(x=[block(i, 1, 150) for i in range(10)])
        self.assertEqual(protocol.due_rows(cell, ["x"], "x", 100, 5), [])


class FakeBlocks:
    """Returns blocks with the given floors; the last floor repeats."""

    def __init__(self, floors):
        self.floors = list(floors)

    def floor(self):
        return self.floors.pop(0) if len(self.floors) > 1 else self.floors[0]

    def measure(self, row):
        if row == "broken":
            raise BlockError("it broke")
        return {"us": 1.0}


class DisturbedTest(unittest.TestCase):
    """Tests the measurements of one row. The best known floor is 100."""

    def try_once(self, floors, quick=False, patience=60, rows=None):
        rows = rows or {"x": "works"}
        with tempfile.TemporaryDirectory() as folder:
            store = Store(pathlib.Path(folder, "peers.json"))
            store.cells["t/other"] = cell_of(x=[block(0, 1)])
            found = protocol.current_cell(store.cells, "t/c", "abc",
                                          "one")
            found["guard"] = "web"
            tries = Tries(store, quick)
            tries.patience = min(tries.patience, patience)
            with contextlib.redirect_stdout(io.StringIO()):
                tries.run(found, list(rows), rows, FakeBlocks(floors))
        return found

    def floors_of(self, *args, **kwargs):
        return [(b["before"], b["after"])
                for b in self.try_once(*args, **kwargs)["blocks"]["x"]]

    def test_wait_for_an_idle_machine(self):
        self.assertEqual(self.floors_of([150, 140, 104, 103]), [(104, 103)])

    def test_wait_is_limited(self):
        self.assertEqual(self.floors_of([150], patience=0),
                         [(150, 150)] * RUNS)

    def test_disturbed_block_is_repeated(self):
        self.assertEqual(self.floors_of([100, 150, 120, 101, 102]),
                         [(100, 150), (101, 102)])

    def test_repetitions_are_limited(self):
        self.assertEqual(self.floors_of([100, 150, 100, 150, 100]),
                         [(100, 150), (100, 150)])

    def test_floor_unknown_before_the_block(self):
        self.assertEqual(self.floors_of([90, 95]), [(90, 95)])

    def test_quick_does_not_wait_or_repeat(self):
        self.assertEqual(self.floors_of([150], quick=True), [(150, 150)])

    def test_failing_row_is_removed(self):
        rows = {"x": "works", "y": "broken"}
        found = self.try_once([100], rows=rows)
        self.assertEqual(list(found["blocks"]), ["x"])
        self.assertEqual(found["errors"], {"y": "it broke"})
        self.assertEqual(list(rows), ["x"])


class ResumingTest(unittest.TestCase):
    def test_complete_cell_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "peers.json")
            first = Store(path)
            cell = protocol.current_cell(first.cells, "t/c", "abc", "one")
            cell.update(cell_of(x=[block(i, 1) for i in range(5)]))
            first.save()
            second = Store(path)
            again = protocol.current_cell(second.cells, "t/c", "abc",
                                          "one")
            self.assertEqual(again, cell)
            self.assertEqual(
                protocol.due_rows(again, ["x"], "x", 100, 5), [])

    def test_other_commit_restarts_a_cell(self):
        cells = {"t/c": cell_of(x=[block(0, 1)])}
        cell = protocol.current_cell(cells, "t/c", "def", "one")
        self.assertEqual(cell, protocol.new_cell("def", "one"))
        cell["blocks"]["x"] = [block(0, 1)]
        cell = protocol.current_cell(cells, "t/c", "def", "two")
        self.assertEqual(cell, protocol.new_cell("def", "two"))
        self.assertIs(cells["t/c"], cell)

    def test_other_version_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "peers.json")
            path.write_text(json.dumps({"version": 0}))
            with self.assertRaises(SystemExit):
                Store(path)


    def test_heads_of_one_machine_are_merged(self):
        with tempfile.TemporaryDirectory() as folder:
            store = Store(pathlib.Path(folder, "peers.json"))
            head = {"machine": "m", "source": "a", "command": "c", "load": 1}
            for changed in ({}, {"load": 2}, {"source": "b"}):
                store.add_head({**head, **changed})
            store.add_head({**head, "machine": "n"})
            self.assertEqual(store.document["heads"], [
                {"machine": "m", "source": ["a", "b"], "command": ["c"],
                 "load": [1, 2]},
                {"machine": "n", "source": ["a"], "command": ["c"],
                 "load": [1]}])


class TablesTest(unittest.TestCase):
    def test_cells_have_their_reference(self):
        keys = [cell.key for cell in all_cells()]
        self.assertEqual(len(keys), len(set(keys)))
        for cell in all_cells():
            names = [row.name for row in cell.rows]
            self.assertIn(cell.reference, names, cell.key)
            self.assertEqual(len(names), len(set(names)), cell.key)

    def test_page(self):
        """Tests that the page shows losses like wins, and marks discarded
        measurements."""
        key = "main/evaluation-web-1"
        cell = cell_of(**{OURS: [block(i, 200) for i in range(2)],
                          PILLOW: [block(i, 100) for i in range(2)],
                          "DALI, CPU": [block(0, 400, 150)]})
        cell["checks"] = {PILLOW: {"psnr": {"mean": 29.9, "least": 10}}}
        text = report.markdown({"cells": {key: cell}, "heads": []})
        rows = {line.split("|")[1].strip(): line.split("|")[2:]
                for line in text.splitlines() if line.startswith("| ")}
        self.assertIn("0.50 (0.50 to 0.50)", rows[PILLOW][3])
        self.assertIn("not comparable", rows[PILLOW][5])
        self.assertIn("2/2", rows[PILLOW][6])
        self.assertIn("**0/1**", rows["DALI, CPU"][6])
        self.assertIn("**2.00 (2.00 to 2.00)**", rows["DALI, CPU"][3])
        self.assertEqual(rows[OURS][1].strip(), "5,000")

    def test_page_of_several_commits(self):
        cells = {}
        for workers in (1, 2):
            cell = cells[f"main/evaluation-web-{workers}"] = cell_of(
                **{OURS: [block(0, 200)]})
            cell["commit"] = f"abc{workers}"
        text = report.markdown({"cells": cells, "heads": []})
        self.assertIn("abc1, abc2", text)
        for workers in (1, 2):
            self.assertIn(f"### main/evaluation-web-{workers}\n\n"
                          f"Commit abc{workers}, one.\n\n|  |", text)


if __name__ == "__main__":
    unittest.main()
