#!/usr/bin/python3
# gst-spdl: image classification with PyTorch, with checkpoints
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    meson devenv -C build /usr/bin/python3 ../examples/train.py FOLDER OUT

FOLDER contains a folder of JPEGs for each class. Every fifth image is used for
testing. Checkpoints in OUT contain the model and the position in the data. After
a kill, rerun the command to resume after the last checkpoint; each image is used
once per epoch. The tests run this script, kill it and run it again.
"""

import argparse
import os
import pathlib
from typing import Any, Dict, Iterable, List, Tuple

import torch
from torch import nn

from gstspdl.torch import Dataset, TorchBatch

SIDE = 64


def write_lists(folder: pathlib.Path, out: pathlib.Path) -> List[str]:
    """Writes lists of images and classes: out/train.txt and out/test.txt."""
    paths = sorted(folder.resolve().glob("*/*.jpg"))
    classes = sorted({path.parent.name for path in paths})
    lines = [f"{path}\t{classes.index(path.parent.name)}\n" for path in paths]
    (out / "test.txt").write_text("".join(lines[::5]))
    (out / "train.txt").write_text("".join(
        line for i, line in enumerate(lines) if i % 5))
    return classes


def describe(path: pathlib.Path, source: str, decode: str) -> str:
    return (f'spdlsrc location="{path}" {source} '
            f"! spdlfetch ! spdldecode width={SIDE} height={SIDE} {decode} "
            "! spdlbatch name=batch batch-size=32 labels=true dtype=float32 "
            'layout=nchw mean="<0.45>" std="<0.25>" ! spdlsink name=sink')


def make_model(n_classes: int) -> nn.Module:
    def layer(n_in: int, n_out: int) -> List[nn.Module]:
        return [nn.Conv2d(n_in, n_out, 3, stride=2, padding=1),
                nn.BatchNorm2d(n_out), nn.ReLU()]

    return nn.Sequential(
        *layer(3, 16), *layer(16, 32), *layer(32, 64),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, n_classes))


def test(model: nn.Module, batches: Iterable[Dict[str, torch.Tensor]]) -> float:
    right = total = 0
    model.eval()
    with torch.no_grad():
        for batch in batches:
            found = model(batch["data"]).argmax(1)
            right += int((found == batch["labels"]).sum())
            total += len(found)
    model.train()
    return right / total


def figures(dataset: Dataset[TorchBatch]) -> str:
    """Returns the loader's statistics since its start."""
    stages: Dict[str, Dict[str, Any]] = {
        s["stage"]: s for s in dataset.loader.stats}
    sink = stages["sink"]
    return (f"{sink['qps']:.0f} images/s, the trainer waited "
            f"{sink['ave-get-time'] / 1e6:.1f} ms per batch, "
            f"{dataset.loader.num_failures} images failed")


class Checkpoint:
    """State of a training run, replaced atomically."""

    def __init__(self, out: pathlib.Path) -> None:
        self.path = out / "checkpoint"
        # Images that the model has seen, to verify that none is repeated.
        self.seen: List[Tuple[int, int]] = []

    def save(self, model: nn.Module, optimizer: Any, dataset: Dataset[TorchBatch]) -> None:
        new = self.path.with_suffix(".new")
        torch.save({"model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "data": dataset.state_dict(), "seen": self.seen}, new)
        os.replace(new, self.path)
        print("saved", flush=True)

    def load(self, model: nn.Module, optimizer: Any, dataset: Dataset[TorchBatch]) -> None:
        if not self.path.exists():
            return
        saved = torch.load(self.path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        dataset.load_state_dict(saved["data"])
        self.seen = saved["seen"]
        print(f"resumes in epoch {dataset.epoch}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--save-every", type=int, default=5, metavar="BATCHES")
    arguments = parser.parse_args()
    out: pathlib.Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)

    classes = write_lists(arguments.folder, out)
    model = make_model(len(classes))
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    learn = Dataset(describe(
        out / "train.txt", "shuffle=true seed=1",
        'augment=random-resized-crop crop-scale="<0.5,1.0>" flip=0.5'))
    exam = Dataset(describe(out / "test.txt", "", ""))
    model.to(learn.device)
    checkpoint = Checkpoint(out)
    checkpoint.load(model, optimizer, learn)

    for epoch in range(learn.epoch, arguments.epochs):
        for i, batch in enumerate(learn, 1):
            loss = nn.functional.cross_entropy(
                model(batch["data"]), batch["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            checkpoint.seen += [(epoch, n) for n in batch["indices"].tolist()]
            if i % arguments.save_every == 0:
                checkpoint.save(model, optimizer, learn)
        checkpoint.save(model, optimizer, learn)
        print(f"epoch {epoch}: {test(model, exam):.1%} of the test images "
              f"correct, {len(classes)} classes; {figures(learn)}", flush=True)


if __name__ == "__main__":
    main()
