#!/usr/bin/python3
# gst-spdl: one rank of a distributed run
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ranks.py FOLDER OUT: run by torchrun. Loads the list in FOLDER in several ways,
with a barrier per step, and writes the steps to a file per rank in OUT."""

import itertools
import json
import pathlib
import sys

import torch.distributed
from gstspdl import LoaderError
from gstspdl.torch import Dataset, in_step

N_EPOCHS = 2
WAYS = {
    "pad": ("shard-mode=pad", False),
    "drop": ("shard-mode=drop", False),
    "uneven": ("shard-mode=uneven", False),
    "shortest": ("shard-mode=uneven shuffle=true", True),
}


def describe(folder, source, decode=""):
    return (f'spdlsrc location="{folder}/list.txt" {source} ! spdlfetch '
            f"! spdldecode width=8 height=8 {decode} "
            "! spdlbatch batch-size=4 ! spdlsink")


def load(folder, source, shortest):
    dataset = Dataset(describe(folder, source))
    epochs = []
    for _ in range(N_EPOCHS):
        steps = []
        for batch in in_step(dataset, shortest=shortest):
            steps.append(batch and batch["indices"].tolist())
            # The point at which gradients would be averaged.
            torch.distributed.barrier()
        epochs.append(steps)
    dataset.stop()
    return epochs


def check_sanity(folder, process):
    """Records two batches of a validation, and epoch, batches and items of
    three passes."""
    dataset = Dataset(describe(folder, "shard-mode=drop shuffle=true"),
                      process=process)
    passes = []
    for n in 2, None, None, None:
        batches = list(itertools.islice(dataset, n))
        passes.append([dataset.last.epoch, len(batches),
                       sorted(sum((b["indices"].tolist() for b in batches),
                                  []))])
        torch.distributed.barrier()
    dataset.stop()
    return passes


def resume(folder):
    """Resumes in the middle of an epoch from the states of all ranks: their
    number, the items before and after the resume, and the next epoch's number."""
    parts = []
    state = None
    for n in 2, None:
        dataset = Dataset(describe(folder, "shard-mode=uneven shuffle=true"),
                          gather_states=True)
        if state:
            dataset.load_state_dict(json.loads(json.dumps(state)))
        parts.append(sum((batch["indices"].tolist() for batch in
                          itertools.islice(dataset, n)), []))
        state = dataset.state_dict()
        dataset.stop()
    return [state["spdl"].count(";source="), *parts, dataset.epoch]


def fail(folder, rank):
    """Makes the loader of the first rank fail."""
    dataset = Dataset(describe(
        folder, "rank=0 world-size=1",
        "output-order=input concurrency=1 max-failures=0"
        if rank == 0 else ""))
    n = 0
    try:
        for _ in in_step(dataset):
            n += 1
            torch.distributed.barrier()
    except LoaderError as error:
        return [n, error.code, error.stage]
    return None


def main():
    folder, out = map(pathlib.Path, sys.argv[1:])
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    found = {name: load(folder, *way) for name, way in WAYS.items()}
    for process in False, True:
        found[f"sanity {process}"] = check_sanity(folder, process)
    found["resume"] = resume(folder)
    found["fail"] = fail(folder, rank)
    (out / str(rank)).write_text(json.dumps(found))
    torch.distributed.barrier()


main()
