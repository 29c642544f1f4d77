# gst-spdl: batches of the loaders that Accelerate and Trainer make
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    accelerate_rank.py OUT [use]

Writes the class of each loader and its batches to OUT/RANK.json. With "use", the loaders
are ours."""

import json
import os
import pathlib
import sys

from accelerate import Accelerator, skip_first_batches
import torch
from torch.utils.data import DataLoader
from transformers import Trainer, TrainingArguments

from accelerate_sets import Numbers, Stream


class Net(torch.nn.Module):
    def __init__(self, seen):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.seen = seen

    def forward(self, x, labels):
        if self.training:
            self.seen.append(x[:, 0].tolist())
        logits = self.layer(x / 20)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels),
                "logits": logits}


class Recorder(Trainer):
    """Notes the class of its loader."""

    def get_train_dataloader(self):
        loader = super().get_train_dataloader()
        self.model.kind = type(loader.base_dataloader).__module__
        return loader


def read(loader):
    return [batch["x"][:, 0].tolist() for batch in loader]


def prepare(dataset, **arguments):
    torch.manual_seed(1)
    loader = Accelerator(cpu=True).prepare(
        DataLoader(dataset, 3, num_workers=2, **arguments))
    found = [type(loader.base_dataloader).__module__, read(loader), read(loader)]
    loader.set_epoch(5)
    later = skip_first_batches(loader, 2)
    return found + [type(later.base_dataloader).__module__, read(later)]


def train(n_steps, folder, resume):
    seen = []
    trainer = Recorder(
        Net(seen), TrainingArguments(
            folder, max_steps=n_steps, per_device_train_batch_size=3,
            dataloader_num_workers=2, save_steps=2, seed=2, use_cpu=True,
            report_to=[], disable_tqdm=True),
        train_dataset=Numbers())
    trainer.train(resume_from_checkpoint=resume)
    return [trainer.model.kind, seen]


def main():
    out = pathlib.Path(sys.argv[1])
    if sys.argv[2:] == ["use"]:
        import gstspdl.accelerate
        gstspdl.accelerate.use()
    found = [prepare(Numbers()), prepare(Numbers(), shuffle=True),
             prepare(Stream()), prepare(Numbers(), drop_last=True)]
    folder = str(out / "trainer")
    found += [train(2, folder, False), train(9, folder, True)]
    rank = os.environ.get("RANK", "0")
    (out / f"{rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
