# gst-spdl: Markdown page of the results
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes Markdown from the JSON alone: for each cell a table of all rows, with the
number of kept blocks, the spread and the PSNR class."""

from typing import Any, Dict, List, Optional

import protocol
from protocol import Summary
from tables import OURS, Cell, all_cells

TITLES = {
    "main": "Images to batches of 32 of 224x224",
    "formats": "The same images in other formats",
    "latency": "Requests to a slow server on loopback",
    "start": "Startup", "memory": "Memory",
    "jitter": "Latency of the main thread while a loader runs",
    "hand-over": "Transfer of a batch that is ready",
    "tiny": "Tiny items: overhead of the framework",
    "audio": "Sound", "video": "Video", "shards": "Tar shards"}


def number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.01 or value == 0 else f"{value:.4f}"


def spread(s: Optional[Summary]) -> str:
    if s is None:
        return ""
    text = f"{s.median:.2f} ({s.least:.2f} to {s.most:.2f})"
    return text if s.quiet else f"**{text}**"


def kept_of(s: Summary) -> str:
    return f"{s.kept}/{s.total}" if s.quiet else f"**0/{s.total}**"


def psnr_of(found: Dict[str, Any], row: str) -> str:
    figures = found["checks"].get(row, {}).get("psnr", {})
    if "mean" not in figures:
        return ""
    text = f"{figures['mean']:.1f}, {figures['least']:.1f}"
    return text + (" **not comparable**" if figures["mean"] < 30 else "")


def columns(cell: Cell) -> List[str]:
    names = ["", cell.unit]
    if cell.floor:
        names += ["images per CPU-second", "relative to the floor"]
    names.append(f"relative to {cell.reference}")
    if cell.kind == "rate":
        names.append("wall-clock time in us" if cell.figure == "us" else
                     "CPU time in us")
    if cell.checked and not cell.job.get("train") and cell.server is None:
        names.append("PSNR in dB: mean, minimum")
    return [*names, "kept"]


def row_cells(cell: Cell, found: Dict[str, Any], name: str,
              best: float) -> Optional[List[str]]:
    main = protocol.figure(found, name, cell.figure, best)
    if main is None:
        return None
    texts = [name, f"{number(main.median)} ({number(main.least)} to "
             f"{number(main.most)})"]
    if cell.floor:
        texts += [number(1e6 / main.median), spread(
            protocol.over_floor(found, name, cell.figure, best))]
    texts.append("1" if name == cell.reference else spread(
        protocol.over_row(found, name, cell.reference, cell.figure, best)))
    if cell.kind == "rate":
        other = protocol.figure(
            found, name, "wall" if cell.figure == "us" else "us", best)
        texts.append(number(other.median) if other else "")
    if cell.checked and not cell.job.get("train") and cell.server is None:
        texts.append(psnr_of(found, name))
    return [*texts, kept_of(main)]


def remarks(cell: Cell, found: Dict[str, Any]) -> List[str]:
    """Returns the rows that did not run with the reasons, and the notes of
    rows."""
    lines = []
    for row in cell.rows:
        why = (found.get("errors", {}).get(row.name)
               or found["checks"].get(row.name, {}).get("error"))
        if why:
            what = ("failed in some tries" if row.name in found["blocks"]
                    else "not measured")
            lines.append(f"{row.name}: {what}: {why}")
        elif row.note and row.name in found["blocks"]:
            lines.append(f"{row.name}: {row.note}")
    missing = [row.name for row in cell.rows if row.name not in
               {**found["blocks"], **found["checks"], **found.get("errors", {})}]
    if missing:
        lines.append("Not available: " + "; ".join(missing))
    return lines


def bound(cell: Cell, found: Dict[str, Any], best: float) -> str:
    """Returns the maximum rate of a number of HTTP connections at that
    latency."""
    ours = protocol.figure(found, OURS, "wall", best)
    if cell.server is None or ours is None:
        return ""
    allowed = cell.server * 1000 / cell.job["connections"]
    return (f"{cell.job['connections']} connections at {cell.server} ms allow a "
            f"file every {allowed:,.0f} us: gst-spdl takes "
            f"{ours.median / allowed:.2f} times as long.\n\n")


def section(cell: Cell, found: Dict[str, Any], best: float,
            says_commit: bool) -> str:
    names = columns(cell)
    lines = [f"### {cell.key}\n"]
    if says_commit:
        lines.append(f"Commit {found['commit']}, {found['machine']}.\n")
    lines += ["| " + " | ".join(names) + " |",
              "| " + " | ".join(["---"] * len(names)) + " |"]
    for row in cell.rows:
        texts = row_cells(cell, found, row.name, best)
        if texts:
            lines.append("| " + " | ".join(texts) + " |")
    text = "\n".join(lines) + "\n\n" + bound(cell, found, best)
    found_remarks = remarks(cell, found)
    if found_remarks:
        text += "".join(f"- {line}\n" for line in found_remarks) + "\n"
    return text


def head_text(head: Dict[str, Any]) -> str:
    versions = "; ".join(
        f"{name}: " + ", ".join(f"{k} {v}" for k, v in found.items())
        for name, found in head["versions"].items() if found)
    loads = sorted(head["load"])
    runs = len(head["command"])
    commands = (f"`{head['command'][0]}`" if runs == 1 else
                f"{runs} commands, listed in the JSON")
    return (f"{head['machine']}, {head['system']}, Linux {head['kernel']}, "
            f"{head['gstreamer']}, libjpeg-turbo {head['libjpeg-turbo']}, Python "
            f"{head['python']}. {versions}. Measured by {commands}; load average "
            f"at the start of a run: {loads[0]} to {loads[-1]}.\n\n")


def markdown(document: Dict[str, Any], plots: str = "") -> str:
    """Returns the page. `plots` is the prefix of the names of the plots, if
    there are any."""
    cells = document["cells"]
    text = ("# Comparison with other loaders\n\nCells show the median and, in "
            "parentheses, the minimum and maximum of the blocks that were kept. "
            "Ratios compare kept blocks of the same try. If no block was kept, "
            "the cell covers all blocks and is bold.\n\n")
    commits = sorted({found["commit"] for found in cells.values()
                      if found["blocks"]})
    text += (f"Commits measured: {', '.join(commits)} (each table names its "
             "commit).\n\n" if len(commits) > 1 else
             f"Commit measured: {commits[0]}.\n\n" if commits else "")
    text += "".join(map(head_text, document["heads"]))
    table = None
    for cell in all_cells():
        if cell.key not in cells or not cells[cell.key]["blocks"]:
            continue
        if cell.table != table:
            table = cell.table
            text += f"## {TITLES[table]}\n\n"
            if plots:
                text += f"![{TITLES[table]}]({plots}-{table}.svg)\n\n"
        text += section(cell, cells[cell.key],
                        protocol.best_floor(cells, cell.guard,
                                            cells[cell.key]["machine"]),
                        len(commits) > 1)
    return text
