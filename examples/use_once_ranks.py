#!/usr/bin/python3
# gst-spdl: exactly-once processing on any number of machines
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    meson devenv -C build /usr/bin/python3 ../examples/use_once_ranks.py LIST OUT
                                                                     [BEFORE]

Each process of a job runs this, with the rank and the number of processes in the
environment, as torchrun, Slurm and Kubernetes set them. It uses its part of LIST
like use_once.py, and keeps a log in OUT/RANK. If it is killed, the same command
resumes. A job with another number of processes has another OUT and resumes from
that of the job before, BEFORE, all of whose processes have ended.
"""

import os
import pathlib
import sys
from typing import List, Optional

from gstspdl import Loader
from use_once import N_EPOCHS, Journal, run

RANKS = "RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX"


def read_states(before: pathlib.Path) -> List[str]:
    """Completes the logs of another job, and returns the states of its ranks."""
    states = []
    for folder in before.iterdir():
        journal = Journal(folder)
        journal.close()
        if journal.state:
            states.append(journal.state)
    return states


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    source, out, *before = sys.argv[1:]
    rank = next(os.environ[name] for name in RANKS if name in os.environ)
    line = (f'spdlsrc location="{source}" epochs={N_EPOCHS} shuffle=true '
            "shard-mode=uneven ! spdlfetch ! spdldecode width=64 height=64 "
            "! spdlbatch batch-size=4 ! spdlsink")
    journal = Journal(pathlib.Path(out, rank))
    if journal.state is None:
        states: Optional[List[str]] = None
        if before:
            states = read_states(pathlib.Path(before[0]))
        # A job that is stopped before the first batch needs a state too.
        with Loader(line, state=states) as loader:
            journal.commit(loader.state, {"epoch": 0, "used": [], "failed": []})
    run(line, journal)


if __name__ == "__main__":
    main()
