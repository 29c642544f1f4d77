# gst-spdl: attempts at a block per row while the machine is idle
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import random
import time

import protocol
from blocks import BlockError

# Maximum number of runs of a block in a try, and maximum time in seconds that
# a try waits for other programs.
RUNS = 2
PATIENCE = 60


class Tries:
    """Runs tries. With `quick`, it neither repeats nor waits."""

    def __init__(self, store, quick):
        self.store = store
        self.runs, self.patience = (1, 0) if quick else (RUNS, PATIENCE)
        self.rng = random.Random()

    def run(self, found, due, rows, blocks):
        """Measures the named rows, each between two runs of the reference, and
        removes rows that cannot be measured from `rows`."""
        begun = time.monotonic()
        order = protocol.draw_order(due, found["tries"], self.rng)
        found["tries"].append(order)
        before = blocks.floor()
        for name in order:
            try:
                before = self._measure(found, name, rows[name], blocks, before,
                                       begun + self.patience)
            except BlockError as error:
                print(f"  {name}: {error}", flush=True)
                found.setdefault("errors", {})[name] = str(error)
                del rows[name]
        found["row-took"] = (time.monotonic() - begun) / len(order)
        best = self._best(found)
        counts = [len(protocol.kept(found, name, best)) for name in rows]
        print(f"  try {len(found['tries'])}: kept of each "
              f"{min(counts, default=0)} to {max(counts, default=0)}, floor "
              f"{before:.0f} us, its best {best:.0f}", flush=True)

    def _measure(self, found, name, row, blocks, before, patient_until):
        """Measures a block of a row, again if another program disturbed it.
        Returns the floor after the block."""
        for _ in range(self.runs):
            before = self._quiet_floor(found, blocks, before, patient_until)
            figures = blocks.measure(row)
            block = {"try": len(found["tries"]) - 1, "before": before,
                     "after": blocks.floor(), "figures": figures}
            found["blocks"].setdefault(name, []).append(block)
            self.store.save()
            before = block["after"]
            if protocol.is_kept(block, self._best(found)):
                break
        return before

    def _quiet_floor(self, found, blocks, floor, until):
        """Returns the floor once other programs are idle or the time to wait
        is over."""
        best = self._best(found)
        while (not protocol.is_quiet(floor, best)
               and time.monotonic() < until):
            floor = blocks.floor()
        return floor

    def _best(self, found):
        return protocol.best_floor(self.store.cells, found["guard"],
                                   found["machine"])
