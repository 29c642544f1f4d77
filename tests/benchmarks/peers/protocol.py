# gst-spdl: statistics of the measurements: which ones count, and their summary
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A cell is measured in tries. A try has one block of each row in a random order,
and the next try has the reverse order. The floor runs before and after each
block. A block is kept if neither of these floors is more than 7 % slower than the
best floor of its machine in the document. The kept blocks are computed from the
numbers and never stored, since a later floor may be better."""

import pathlib
import random
import statistics
import sys
from typing import Dict, List, NamedTuple, Optional, Set

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from rounds import TOLERANCE  # noqa: E402

MAX_TRIES = 10
KEPT = 5
KEPT_QUICK = 2

Block = dict  # try, before, after, figures
Cell = dict   # commit, machine, tries: lists of rows, blocks: of each row


class Summary(NamedTuple):
    """The summary of a row. `quiet` means that it is of kept blocks only;
    otherwise no block was kept and it is of all."""
    median: float
    least: float
    most: float
    kept: int
    total: int
    quiet: bool


def new_cell(commit: str, machine: str) -> Cell:
    return {"commit": commit, "machine": machine, "tries": [], "blocks": {},
            "checks": {}}


def current_cell(cells: Dict[str, Cell], key: str, commit: str,
                 machine: str) -> Cell:
    """Returns the cell for that commit and machine; measurements of others are
    dropped."""
    found = cells.get(key, {})
    if (found.get("commit"), found.get("machine")) != (commit, machine):
        cells[key] = new_cell(commit, machine)
    return cells[key]


def best_floor(cells: Dict[str, Cell], guard: str, machine: str) -> float:
    """Returns the best floor of all blocks with that guard on that machine."""
    floors = [floor for cell in cells.values()
              if (cell.get("guard"), cell["machine"]) == (guard, machine)
              for blocks in cell["blocks"].values() for block in blocks
              for floor in (block["before"], block["after"])]
    return min(floors, default=float("inf"))


def is_quiet(floor: float, best: float) -> bool:
    return floor <= best * TOLERANCE


def is_kept(block: Block, best: float) -> bool:
    return is_quiet(max(block["before"], block["after"]), best)


def kept(cell: Cell, row: str, best: float) -> List[Block]:
    return [block for block in cell["blocks"].get(row, ())
            if is_kept(block, best)]


def kept_tries(cell: Cell, row: str, best: float) -> Set[int]:
    return {block["try"] for block in kept(cell, row, best)}


def draw_order(rows: List[str], earlier: List[List[str]],
               rng: random.Random) -> List[str]:
    """Draws a new order, or reverses that of the previous try for every second
    one, if it had the same rows."""
    if len(earlier) % 2 and sorted(earlier[-1]) == sorted(rows):
        return earlier[-1][::-1]
    return rng.sample(rows, len(rows))


def due_rows(cell: Cell, rows: List[str], reference: str, best: float,
             wanted: int, most: int = MAX_TRIES) -> List[str]:
    """Returns the rows of the next try: those with fewer kept blocks than
    wanted, and the row that they are compared with, whose block in the same
    try must be kept, too. Empty if all are complete or the limit on tries is
    reached."""
    compared = kept_tries(cell, reference, best)
    due = [row for row in rows
           if len(kept_tries(cell, row, best) & compared) < wanted]
    if not due or len(cell["tries"]) >= most:
        return []
    return [row for row in rows if row in due or row == reference]


def summarize(values: List[float], n_kept: int, total: int,
              quiet: bool) -> Optional[Summary]:
    if not values:
        return None
    return Summary(statistics.median(values), min(values), max(values), n_kept,
                   total, quiet)


def figure(cell: Cell, row: str, name: str, best: float) -> Optional[Summary]:
    """Returns the result itself."""
    good, every = kept(cell, row, best), cell["blocks"].get(row, [])
    return summarize([block["figures"][name] for block in good or every
                      if name in block["figures"]], len(good), len(every),
                     bool(good))


def over_floor(cell: Cell, row: str, name: str,
               best: float) -> Optional[Summary]:
    """Returns a result over the mean of the floors before and after it."""
    good, every = kept(cell, row, best), cell["blocks"].get(row, [])
    return summarize(
        [block["figures"][name] * 2 / (block["before"] + block["after"])
         for block in good or every if name in block["figures"]], len(good),
        len(every), bool(good))


def over_row(cell: Cell, row: str, other: str, name: str,
             best: float) -> Optional[Summary]:
    """Returns the ratios of a row's results to those of another row in the
    same try."""
    pairs = [(a, b) for a in cell["blocks"].get(row, ())
             for b in cell["blocks"].get(other, ()) if a["try"] == b["try"]
             and name in a["figures"] and b["figures"].get(name)]
    good = [(a, b) for a, b in pairs if is_kept(a, best) and is_kept(b, best)]
    return summarize([a["figures"][name] / b["figures"][name]
                      for a, b in good or pairs], len(good), len(pairs),
                     bool(good))
