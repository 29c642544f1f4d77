# gst-spdl: plots of the results
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a PNG and an SVG for each table, from the JSON alone."""

import pathlib
from typing import Any, Dict, Iterator, List, Tuple

import matplotlib
import protocol
from report import TITLES, number
from tables import OURS, Cell, all_cells

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "gst-spdl"
# Text as text and not as outlines.
matplotlib.rcParams["svg.fonttype"] = "none"
from matplotlib import pyplot  # noqa: E402

OURS_COLOR, OTHERS_COLOR = "#0072b2", "#9aa5ad"
LOGARITHMIC = {"tiny", "start", "hand-over", "latency"}


def bars(cell: Cell, cells: Dict[str, Any]) -> List[Tuple[str, float, float,
                                                          float]]:
    """Returns name, median, minimum and maximum of each row, as images per
    CPU-second if the result is CPU time per image."""
    best = protocol.best_floor(cells, cell.guard,
                               cells[cell.key]["machine"])
    found = []
    for row in cell.rows:
        s = protocol.figure(cells[cell.key], row.name, cell.figure, best)
        if s is None:
            continue
        values = (s.median, s.least, s.most)
        if cell.floor:
            values = (1e6 / s.median, 1e6 / s.most, 1e6 / s.least)
        found.append((row.name, *values))
    return found


def draw_cell(axes: Any, cell: Cell, cells: Dict[str, Any]) -> None:
    rows = bars(cell, cells)[::-1]
    names = [row[0] for row in rows]
    middle = [row[1] for row in rows]
    error = [[max(row[1] - row[2], 0) for row in rows],
             [max(row[3] - row[1], 0) for row in rows]]
    drawn = axes.barh(names, middle, xerr=error, height=0.7, ecolor="#444444",
              color=[OURS_COLOR if name.startswith(OURS) else OTHERS_COLOR
                     for name in names])
    axes.bar_label(drawn, [number(value) for value in middle], padding=4,
                   fontsize=6)
    axes.margins(x=0.15)
    if cell.table in LOGARITHMIC and min(middle) > 0:
        axes.set_xscale("log")
    axes.set_title(cell.key, fontsize=9, loc="left")
    axes.set_xlabel("images per CPU-second" if cell.floor else cell.unit,
                    fontsize=7)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def draw_table(table: str, chosen: List[Cell], cells: Dict[str, Any],
               stem: pathlib.Path) -> Iterator[pathlib.Path]:
    across = min(2, len(chosen))
    down = -(-len(chosen) // across)
    heights = max(len(bars(cell, cells)) for cell in chosen)
    figure, axes = pyplot.subplots(
        down, across, squeeze=False, layout="constrained",
        figsize=(5.6 * across, down * (0.9 + 0.24 * heights)))
    for place, cell in zip(axes.flat, chosen):
        draw_cell(place, cell, cells)
    for place in axes.flat[len(chosen):]:
        place.set_visible(False)
    figure.suptitle(TITLES[table], fontsize=11)
    for end in ("png", "svg"):
        path = stem.with_name(f"{stem.name}-{table}.{end}")
        figure.savefig(path, dpi=120, metadata={"Date": None}
                       if end == "svg" else None)
        yield path
    pyplot.close(figure)


def draw(document: Dict[str, Any],
         stem: pathlib.Path) -> Iterator[pathlib.Path]:
    cells = document["cells"]
    tables: Dict[str, List[Cell]] = {}
    for cell in all_cells():
        if cell.key in cells and bars(cell, cells):
            tables.setdefault(cell.table, []).append(cell)
    for table, chosen in tables.items():
        yield from draw_table(table, chosen, cells, stem)
