#!/usr/bin/env python3
# gst-spdl: faults of the engine, which its model must find
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plants a fault in a source of the engine, or runs models with faults.

    plant.py NUMBER SOURCE OUTPUT
    plant.py --run MODEL...
"""

import os
import shlex
import subprocess
import sys

# Starts programs for another processor.
WRAPPER = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))

# What the fault is, the scenario that finds it, a piece of the source, and what
# replaces it.
FAULTS = [
    ("a flush does not wait for tasks that continue without their thread",
     "stop of tasks without a thread",
     "while (self->n_running > 0 || self->n_inside > 0)",
     "while (self->n_inside > 0)"),
    ("a stop does not wait for the thread that has begun such a task",
     "stop of tasks without a thread",
     "while (self->n_running > 0 || self->n_inside > 0)",
     "while (self->n_running > 0)"),
    ("the last task does not tell a flush that it is done",
     "flush",
     "if (--self->n_running == 0 && self->flushing)",
     "if (--self->n_running == 0 && FALSE)"),
    ("a taken result does not wake the thread that waits for room",
     "one worker",
     "wake = should_wake_putter (self);\n  }", "wake = FALSE;\n  }"),
    ("tasks begin during a flush",
     "flush, parts",
     "return has_waiting (self) && !self->flushing &&",
     "return has_waiting (self) &&"),
    ("a close lets the other parts of a task begin",
     "close, parts",
     "    cut_partial (self);\n", "    if (FALSE)\n      cut_partial (self);\n"),
    ("a thread that was woken is still being woken",
     "one worker",
     "  self->n_idle--;\n  self->waking = FALSE;", "  self->n_idle--;"),
    ("a thread that ends forgets a signal",
     "limits",
     "  if (thread->pending)\n    signal_pending (self, thread);\n\n  self->cpu",
     "  self->cpu"),
    ("threads of a stage that has stopped remain for a guest",
     "guest, short tasks",
     "  if (spdl_pool_get_size (self->pool) == 0)\n    spdl_pool_end",
     "  if (FALSE)\n    spdl_pool_end"),
]


def plant(number: int, source: str, output: str) -> None:
    piece, other = FAULTS[number][2:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    if text.count(piece) != 1:
        sys.exit(f"{source} has {text.count(piece)} times: {piece}")
    with open(output, "w", encoding="utf-8") as file:
        file.write(text.replace(piece, other))


def run(models: list) -> None:
    print(f"1..{len(models)}")
    for number, model in enumerate(models):
        result = subprocess.run([*WRAPPER, model, FAULTS[number][1]],
                                capture_output=True, text=True)
        found = "" if result.returncode else "not "
        print(f"{found}ok {number + 1} - {FAULTS[number][0]}")
        reason = (result.stderr.splitlines() or
                  [f"exit status {result.returncode}"])[0]
        print("# " + reason.removeprefix("# "), flush=True)


if sys.argv[1] == "--run":
    run(sys.argv[2:])
else:
    plant(int(sys.argv[1]), *sys.argv[2:])
