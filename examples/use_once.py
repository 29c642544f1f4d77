#!/usr/bin/python3
# gst-spdl: each item is used once, whenever the program is killed
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    meson devenv -C build /usr/bin/python3 ../examples/use_once.py LIST OUT

Uses each image of LIST (or of a folder) once in each of three epochs, and keeps
a log of it, OUT/log: a line of JSON for each batch, with what was used and what
failed. Killed at any moment and run again, it goes on where it was: no item is
in an epoch's lines twice, and none is missing. The tests kill it a hundred
times.
"""

import json
import os
import pathlib
import sys
from typing import Any, Iterator, List, Optional, Tuple

from gstspdl import Batch, Loader

N_EPOCHS = 3


class Journal:
    """A log to which is only ever appended, and the state that goes with it.

    What makes a step done is one rename, of OUT/progress: it has the state, and
    the step's line, and where in the log that line begins. The line is appended
    after that. So whatever moment a kill comes at, the log has all lines of
    steps before the one that was renamed last, and a part of that one's, of
    which the next run appends the rest.

    Where it is not a kill but the machine that may fail, each file needs an
    os.fsync() before the next is touched.
    """

    def __init__(self, out: pathlib.Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._progress = out / "progress"
        self._log = os.open(out / "log",
                            os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        #: where to begin; None: at the beginning
        self.state: Optional[str] = None
        if self._progress.exists():
            saved = json.loads(self._progress.read_text())
            self.state = saved["state"]
            self._append(saved["begin"], saved["line"].encode())

    def _append(self, begin: int, line: bytes) -> None:
        rest = line[os.fstat(self._log).st_size - begin:]
        while rest:
            rest = rest[os.write(self._log, rest):]

    def commit(self, state: Optional[str], step: Any) -> None:
        """All that `step` says is done, and the next run begins at `state`."""
        if state is None:
            raise ValueError("without a state it cannot go on: see max-gaps")
        line = json.dumps(step) + "\n"
        begin = os.fstat(self._log).st_size
        new = self._progress.with_suffix(".new")
        new.write_text(json.dumps(
            {"state": state, "begin": begin, "line": line}))
        os.replace(new, self._progress)
        self._append(begin, line.encode())
        self.state = state

    def close(self) -> None:
        os.close(self._log)


def take_failed(loader: Loader,
                state: Optional[str]) -> List[Tuple[Optional[int], ...]]:
    """Epoch and index of the items that failed and that `state` has left
    behind. Others may have failed already: with this state they come again."""
    return [(failure.epoch, failure.index)
            for failure in loader.take_failures(state)]


def batches(loader: Loader) -> Iterator[Batch]:
    """All epochs' batches."""
    while not loader.is_finished():
        yield from loader


def use(batch: Batch) -> None:
    """Where a training has its step. Its model belongs into OUT/progress, too,
    or into a file that this names."""


def run(pipeline: str, journal: Journal) -> None:
    """`pipeline` says how many epochs there are."""
    with Loader(pipeline, state=journal.state) as loader:
        for batch in batches(loader):
            use(batch)
            journal.commit(batch.state, {
                "epoch": batch.epoch, "used": list(batch.indices),
                "failed": take_failed(loader, batch.state)})
        # What has failed behind the last batch.
        failed = take_failed(loader, loader.state)
        if failed:
            journal.commit(loader.state, {
                "epoch": N_EPOCHS - 1, "used": [], "failed": failed})


def main() -> None:
    source, out = sys.argv[1:]
    run(f'spdlsrc location="{source}" epochs={N_EPOCHS} shuffle=true '
        "! spdlfetch ! spdldecode width=64 height=64 "
        "! spdlbatch batch-size=16 ! spdlsink", Journal(pathlib.Path(out)))


if __name__ == "__main__":
    main()
