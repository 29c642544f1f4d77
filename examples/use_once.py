#!/usr/bin/python3
# gst-spdl: exactly-once processing across kills
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    meson devenv -C build /usr/bin/python3 ../examples/use_once.py LIST OUT

Uses each image of LIST (or of a folder) once in each of three epochs. OUT/log has
a line of JSON for each batch with the items that were used and those that failed.
The program can be killed at any time and resumes when it is run again: in each
epoch, no item is repeated and none is missing. The tests kill it a hundred
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
    """Append-only log with a matching resume state.

    A step is committed by renaming OUT/progress, which contains the state, the
    line of the step, and the offset of the line in the log. The line is then
    appended to the log. If the program is killed at any time, the log has the
    lines of all previous steps and a part of the last one, and the next run
    appends the rest.

    To survive a crash of the machine as well, call os.fsync() on each file
    before the next one is written.
    """

    def __init__(self, out: pathlib.Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._progress = out / "progress"
        self._log = os.open(out / "log",
                            os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        #: state to resume from; None: start from the beginning
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
        """Records `step` as done. The next run resumes from `state`."""
        if state is None:
            raise ValueError("cannot continue without a state: see max-gaps")
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
    """Returns epoch and index of the failed items that `state` counts as done.
    Other failed items are loaded again by a run that resumes from this state."""
    return [(failure.epoch, failure.index)
            for failure in loader.take_failures(state)]


def batches(loader: Loader) -> Iterator[Batch]:
    """Yields the batches of all epochs."""
    while not loader.is_finished():
        yield from loader


def use(batch: Batch) -> None:
    """Placeholder for a training step. Store the model in OUT/progress as well,
    or in a file that OUT/progress names."""


def run(pipeline: str, journal: Journal) -> None:
    """Runs `pipeline`, which also sets the number of epochs."""
    with Loader(pipeline, state=journal.state) as loader:
        for batch in batches(loader):
            use(batch)
            journal.commit(batch.state, {
                "epoch": batch.epoch, "used": list(batch.indices),
                "failed": take_failed(loader, batch.state)})
        # Items that failed after the last batch.
        failed = take_failed(loader, loader.state)
        if failed:
            journal.commit(loader.state, {
                "epoch": N_EPOCHS - 1, "used": [], "failed": failed})


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = sys.argv[1:]
    run(f'spdlsrc location="{source}" epochs={N_EPOCHS} shuffle=true '
        "! spdlfetch ! spdldecode width=64 height=64 "
        "! spdlbatch batch-size=16 ! spdlsink", Journal(pathlib.Path(out)))


if __name__ == "__main__":
    main()
