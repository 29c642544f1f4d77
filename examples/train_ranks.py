#!/usr/bin/python3
# gst-spdl: distributed training with DistributedDataParallel
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    torchrun --nproc_per_node 2 train_ranks.py TRAIN VAL

TRAIN and VAL contain a folder of images for each class. Each rank loads its part.
in_step() gives all ranks the same number of steps even if images fail.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn

from gstspdl import image_folder
from gstspdl.torch import Dataset, in_step


def make_model(name: str, n_classes: int) -> nn.Module:
    if name == "resnet18":
        from torchvision.models import resnet18

        made: nn.Module = resnet18(num_classes=n_classes)
        return made
    return nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=4), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, n_classes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("val")
    parser.add_argument("--model", choices=("small", "resnet18"),
                        default="small")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()

    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    train = Dataset(image_folder(options.train, size=options.size, seed=1,
                                 batch_size=options.batch_size))
    val = Dataset(image_folder(options.val, size=options.size, train=False,
                               batch_size=options.batch_size,
                               classes=train.classes))
    model = make_model(options.model, len(train.classes or ()))
    model.to(train.device)
    ddp = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(ddp.parameters(), 0.01, momentum=0.9)
    for epoch in range(options.epochs):
        model.train()
        for batch in in_step(train, shortest=True):
            assert batch is not None
            loss = nn.functional.cross_entropy(ddp(batch["data"]),
                                               batch["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        counts = torch.zeros(2, device=val.device)
        model.eval()
        with torch.no_grad():
            for batch in val:
                right = model(batch["data"]).argmax(1) == batch["labels"]
                counts += torch.tensor([right.sum(), len(right)],
                                       device=val.device)
        dist.all_reduce(counts)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {int(counts[0])} of {int(counts[1])} right "
                  f"on {dist.get_world_size()} ranks, loss {loss.item():.3f}",
                  flush=True)
    train.stop()
    val.stop()


if __name__ == "__main__":
    main()
