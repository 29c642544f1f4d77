#!/usr/bin/python3
# gst-spdl: one rank of an elastic run
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""elastic_rank.py FOLDER OUT: run by torchrun. Loads the list in FOLDER on any
number of ranks, and writes the joined states and the items that were used to
OUT/checkpoint after each step. After a few steps, waits while OUT/wait exists."""

import json
import os
import pathlib
import sys
import time

import torch.distributed as dist
from gstspdl.torch import Dataset, in_step

N_EPOCHS = 2
# Number of steps before the wait.
N_STEPS = 6


def must_wait(out):
    """Asks the first rank, which also notices ranks that have ended."""
    answer = [(out / "wait").exists()]
    dist.broadcast_object_list(answer, 0)
    return answer[0]


def main():
    folder, out = map(pathlib.Path, sys.argv[1:])
    # All ranks of a round have the same port.
    meet = f"meet-{os.environ['MASTER_PORT']}-{os.environ['WORLD_SIZE']}"
    dist.init_process_group(
        "gloo", init_method=f"file://{out / meet}",
        rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    dataset = Dataset(
        f'spdlsrc location="{folder}/list.txt" shuffle=true seed=2 '
        f"shard-mode=uneven epochs={N_EPOCHS} ! spdlfetch "
        "! spdldecode width=8 height=8 ! spdlbatch batch-size=2 ! spdlsink",
        gather_states=True)
    checkpoint = out / "checkpoint"
    steps = []
    n_made = 0
    if checkpoint.exists():
        saved = json.loads(checkpoint.read_text())
        dataset.load_state_dict(saved["data"])
        steps = saved["steps"]
    while dataset.epoch < N_EPOCHS:
        epoch = dataset.epoch
        for batch in in_step(dataset):
            used = [None] * dist.get_world_size()
            dist.all_gather_object(
                used, batch["indices"].tolist() if batch else [])
            data = dataset.state_dict()
            if dist.get_rank() == 0:
                steps.append([epoch, dist.get_world_size(), used])
                new = out / "checkpoint.new"
                new.write_text(json.dumps({"data": data, "steps": steps}))
                os.replace(new, checkpoint)
            n_made += 1
            while n_made >= N_STEPS and must_wait(out):
                time.sleep(0.1)
    dataset.stop()


main()
