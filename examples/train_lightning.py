#!/usr/bin/python3
# gst-spdl: training with PyTorch Lightning
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    train_lightning.py TRAIN VAL --devices 2

TRAIN and VAL contain a folder of images for each class. A Dataset replaces the
DataLoader: it returns complete batches, and each rank loads its part. Lightning's
sanity check uses two validation batches; the next pass is a new epoch.
"""

import argparse
from typing import Any, Dict

import pytorch_lightning as pl
import torch
from torch import nn

from gstspdl import image_folder
from gstspdl.torch import Dataset, TorchBatch

Batch = Dict[str, torch.Tensor]


class Images(pl.LightningDataModule):  # type: ignore[misc]
    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self.options = options

    # Called after the process group is initialized, so each rank loads its part.
    def setup(self, stage: str) -> None:
        options = self.options
        settings: Any = {"size": options.size,
                         "batch_size": options.batch_size}
        # Lightning moves batches to its device, and saves on one rank.
        self.train = Dataset(image_folder(options.train, seed=1, **settings),
                             device="cpu", gather_states=True)
        self.val = Dataset(
            image_folder(options.val, train=False,
                         classes=self.train.classes, **settings), device="cpu")

    def train_dataloader(self) -> Dataset[TorchBatch]:
        return self.train

    def val_dataloader(self) -> Dataset[TorchBatch]:
        return self.val

    def teardown(self, stage: str) -> None:
        self.train.stop()
        self.val.stop()

    # The position in the data is part of the checkpoint.
    def state_dict(self) -> Dict[str, Any]:
        return self.train.state_dict()

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        self.train.load_state_dict(state)


def make_model(name: str, n_classes: int) -> nn.Module:
    if name == "resnet18":
        from torchvision.models import resnet18

        made: nn.Module = resnet18(num_classes=n_classes)
        return made
    return nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=4), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, n_classes))


class Classifier(pl.LightningModule):  # type: ignore[misc]
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        return nn.functional.cross_entropy(self.net(batch["data"]),
                                           batch["labels"])

    def validation_step(self, batch: Batch, index: int) -> None:
        right = self.net(batch["data"]).argmax(1) == batch["labels"]
        self.log("accuracy", right.float().mean(), batch_size=len(right),
                 sync_dist=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), 0.01, momentum=0.9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("val")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--model", choices=("small", "resnet18"),
                        default="small")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--devices", type=int, default=1)
    options = parser.parse_args()
    trainer = pl.Trainer(
        max_epochs=options.epochs, devices=options.devices,
        accelerator="auto" if torch.cuda.is_available() else "cpu",
        strategy="ddp" if options.devices > 1 else "auto",
        logger=False, enable_checkpointing=False, enable_progress_bar=False)
    net = make_model(options.model, options.classes)
    trainer.fit(Classifier(net), datamodule=Images(options))
    if trainer.is_global_zero:
        print(f"{trainer.global_step} steps on {trainer.world_size} ranks, "
              f"accuracy {float(trainer.callback_metrics['accuracy']):.2f}")


if __name__ == "__main__":
    main()
