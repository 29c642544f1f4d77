#!/usr/bin/python3
# gst-spdl: training with Hugging Face Accelerate
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    accelerate launch train_accelerate.py TRAIN

TRAIN contains a folder of images for each class. Accelerate prepares the model and
the optimizer. The data needs no prepare(): each rank loads its part.
"""

import argparse

from accelerate import Accelerator
import torch
from torch import nn

from gstspdl import image_folder
from gstspdl.torch import Dataset, in_step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()

    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    train = Dataset(image_folder(options.train, size=options.size, seed=1,
                                 batch_size=options.batch_size),
                    device=accelerator.device)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(64, len(train.classes or ())))
    model, optimizer = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), 0.01, momentum=0.9))
    for epoch in range(options.epochs):
        n_images = 0
        for batch in in_step(train, shortest=True):
            assert batch is not None
            loss = nn.functional.cross_entropy(model(batch["data"]),
                                               batch["labels"])
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            n_images += len(batch["labels"])
        accelerator.print(f"epoch {epoch}: {n_images} images on each of "
                          f"{accelerator.num_processes} ranks, "
                          f"loss {loss.item():.3f}")
    train.stop()


if __name__ == "__main__":
    main()
