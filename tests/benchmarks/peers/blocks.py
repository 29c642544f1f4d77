# gst-spdl: one measured block of a row, and of the floor
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import pathlib
import subprocess
from typing import Any, Dict, List, Optional

import sets as all_sets
from tables import Cell, Row

HERE = pathlib.Path(__file__).resolve().parent
LIMIT, QUICK_LIMIT = 300, 60
TINY_COUNT = {"gst-spdl": 10_000_000, "c": 10_000_000, "peers": 100_000}
TINY_QUICK = {"gst-spdl": 200_000, "c": 200_000, "peers": 10_000}


class BlockError(Exception):
    """A row that could not be measured, with the reason."""


def environment() -> Dict[str, str]:
    """Returns the environment of a user, in which Python caches compiled
    modules. Compiling them again would take memory."""
    found = dict(os.environ)
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def run(command: List[str], limit: float = LIMIT) -> str:
    try:
        done = subprocess.run(command, check=False, text=True, timeout=limit,
                              stdin=subprocess.DEVNULL, env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired as error:
        raise BlockError(f"it took more than {limit} s") from error
    except OSError as error:
        raise BlockError(str(error)) from error
    # The result is the last line, as torchdata's threads may abort the
    # interpreter after it.
    if done.returncode != 0 and not done.stdout.strip():
        lines = [line for line in done.stderr.strip().splitlines() if line]
        raise BlockError((lines or [f"exit status {done.returncode}"])[-1])
    return done.stdout


class Blocks:
    """The blocks of one cell, with its data made and its server running."""

    def __init__(self, cell: Cell, sets: all_sets.Sets, programs: pathlib.Path,
                 venvs: Dict[str, Any], quick: bool,
                 seconds: Optional[float]) -> None:
        self.cell, self.sets, self.programs = cell, sets, programs
        self.venvs, self.quick = venvs, quick
        self.seconds = seconds or cell.seconds[quick]
        self.server = None
        self.guard_folder = sets.images(cell.guard).folder
        self.data = self._make_data()

    def __enter__(self) -> "Blocks":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.server:
            self.server.stdin.close()
            self.server.wait()


    def _make_data(self) -> Dict[str, str]:
        kind, _, name = self.cell.data.partition(" ")
        if kind == "images":
            return {"list": str(self.sets.images(name).list)}
        if kind == "saved":
            return {"list": str(self.sets.saved_as(name).list)}
        if kind == "long":
            return {"list": str(self.sets.long_list())}
        if kind == "urls":
            return {"list": str(self.sets.urls(name, self._serve(name)))}
        if kind == "shards":
            return {"list": str(self.sets.images(name).list),
                    "shards": str(self.sets.shards(name))}
        if kind == "sounds":
            return self._with_paths(self.sets.sounds(name))
        if kind == "videos":
            return self._with_paths(self.sets.videos())
        return {"list": ""}

    @staticmethod
    def _with_paths(made: pathlib.Path) -> Dict[str, str]:
        """Returns the list with and without labels."""
        paths = made.with_suffix(".paths")
        paths.write_text("".join(line.split("\t")[0] + "\n" for line in
                                 made.read_text().splitlines()))
        return {"list": str(made), "paths": str(paths)}

    def _serve(self, name: str) -> int:
        """Starts the server, which runs until the end of the cell."""
        server = subprocess.Popen(
            [self.programs / "http-server", self.sets.flat(name),
             str(self.cell.server)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.server = server
        return int(server.stdout.readline())

    def job(self, row: Row) -> Dict[str, Any]:
        data = {name: value for name, value in self.data.items()
                if name != "paths"}
        return {**data, **self.cell.job, **row.job}

    def _python(self, row: Row, kind: str, job: Dict[str, Any],
                settings: Dict[str, Any]) -> Dict[str, Any]:
        return dict(json.loads(run(
            [str(self.venvs[row.venv].python), str(HERE / "measure.py"), kind,
             row.loader, json.dumps(job), json.dumps(settings)],
            QUICK_LIMIT if self.quick else LIMIT).splitlines()[-1]))

    def measure(self, row: Row) -> Dict[str, float]:
        """Returns the results of a block."""
        counts = TINY_QUICK if self.quick else TINY_COUNT
        if row.program:
            fields = {**self.data, **self.job(row), "seconds": self.seconds,
                      "count": counts["c"]}
            name, *arguments = (word.format(**fields) for word in row.program)
            numbers = map(float, run([str(self.programs / name),
                                      *arguments]).split())
            return dict(zip(row.figures, numbers))
        job = self.job(row)
        settings = {**self.cell.settings, "seconds": self.seconds}
        if self.cell.kind == "tiny":
            ours = row.name == "gst-spdl"
            n = job["count"] = counts["gst-spdl" if ours else "peers"]
            if ours:
                settings["lists"] = [str(self.sets.numbers(n // 10)),
                                     str(self.sets.numbers(n))]
        return self._python(row, self.cell.kind, job, settings)

    def check(self, row: Row, out: pathlib.Path, keep: int) -> Dict[str, Any]:
        """Returns the contents of an epoch. Its images are written to `out`,
        unless the crops are random."""
        drawn = self.cell.job.get("train")
        return self._python(row, "check", self.job(row), {
            "keep": keep, **({} if drawn else {"out": str(out)})})

    def floor(self) -> float:
        """Returns the CPU time in us of libjpeg-turbo's decode per image of
        the guard's set."""
        seconds = 0.3 if self.quick else 3
        return float(run([str(self.programs / "floor-jpeg"),
                          str(self.guard_folder), str(seconds)]))
