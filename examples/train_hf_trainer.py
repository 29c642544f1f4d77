#!/usr/bin/python3
# gst-spdl: training with the Trainer of Hugging Face Transformers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    train_hf_trainer.py TRAIN VAL OUT
    torchrun --nproc_per_node 2 train_hf_trainer.py TRAIN VAL OUT

TRAIN and VAL have a folder of images for each class. Checkpoints in OUT
contain the position in the data. Rerun the command to resume from the last
one, which may be in the middle of an epoch.
"""

import argparse
import json
import pathlib
from typing import Any, Dict, Iterator, Optional

import torch
from torch import nn
from transformers import (EvalPrediction, Trainer, TrainerCallback,
                          TrainingArguments)
from transformers.trainer_utils import get_last_checkpoint

from gstspdl import image_folder
from gstspdl.torch import Dataset, TorchBatch, in_step


class Batches:
    """Batches of a Dataset with the names of the model's arguments. Trainer
    does not wrap it, because it is not a DataLoader: batches are not divided
    again. set_epoch() is hidden, because it would end a resumed epoch."""

    def __init__(self, data: Dataset[TorchBatch]) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Dict[str, torch.Tensor]]:
        for batch in in_step(self._data, shortest=True):
            assert batch is not None
            yield {"pixel_values": batch["data"], "labels": batch["labels"]}


class Place(TrainerCallback):  # type: ignore[misc]
    """Saves the position in the training data with each checkpoint."""

    def __init__(self, data: Dataset[TorchBatch]) -> None:
        self.data = data

    def on_save(self, args: Any, state: Any, control: Any,
                **others: Any) -> None:
        place = self.data.state_dict()  # on all ranks
        if state.is_world_process_zero:
            folder = pathlib.Path(args.output_dir,
                                  f"checkpoint-{state.global_step}")
            (folder / "data.json").write_text(json.dumps(place))


class ImageTrainer(Trainer):  # type: ignore[misc]
    """A Trainer whose datasets are Datasets of gst-spdl."""

    def get_train_dataloader(self) -> Batches:
        return Batches(self.train_dataset)

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Batches:
        return Batches(self.eval_dataset if eval_dataset is None
                       else eval_dataset)


class Classifier(nn.Module):  # type: ignore[misc]
    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=4), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, n_classes))

    def forward(self, pixel_values: torch.Tensor,
                labels: torch.Tensor) -> Dict[str, torch.Tensor]:
        logits = self.net(pixel_values)
        return {"loss": nn.functional.cross_entropy(logits, labels),
                "logits": logits}


def measure(prediction: EvalPrediction) -> Dict[str, float]:
    right = prediction.predictions.argmax(1) == prediction.label_ids
    return {"accuracy": float(right.mean()), "images": len(right)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("val")
    parser.add_argument("out")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--save-steps", type=int, default=500)
    parser.add_argument("--max-steps", type=int, default=-1)
    options = parser.parse_args()

    # The process group is created before the datasets, which need the rank.
    arguments = TrainingArguments(
        options.out, num_train_epochs=options.epochs,
        max_steps=options.max_steps, learning_rate=0.01,
        per_device_train_batch_size=options.batch_size,
        per_device_eval_batch_size=options.batch_size,
        save_steps=options.save_steps, save_total_limit=2,
        # The loader resumes; Trainer must not skip batches.
        ignore_data_skip=True,
        report_to=[], disable_tqdm=True,
        use_cpu=not torch.cuda.is_available())
    settings: Any = {"size": options.size, "batch_size": options.batch_size}
    train = Dataset(image_folder(options.train, seed=1, **settings),
                    device=arguments.device, gather_states=True)
    # All ranks must have batches of the same size for Trainer to gather them.
    val = Dataset(image_folder(options.val, train=False, classes=train.classes,
                               drop_last=arguments.world_size > 1, **settings),
                  device=arguments.device)
    trainer = ImageTrainer(
        Classifier(len(train.classes or ())), arguments, train_dataset=train,
        eval_dataset=val, compute_metrics=measure, callbacks=[Place(train)])
    last: Optional[str] = get_last_checkpoint(options.out) \
        if pathlib.Path(options.out).exists() else None
    if last:
        train.load_state_dict(
            json.loads(pathlib.Path(last, "data.json").read_text()))
    trainer.train(resume_from_checkpoint=last)
    found = trainer.evaluate()
    if trainer.is_world_process_zero():
        print(f"{trainer.state.global_step} steps, "
              f"{found['eval_images']} images on {arguments.world_size} ranks, "
              f"accuracy {found['eval_accuracy']:.2f}", flush=True)
    train.stop()
    val.stop()


if __name__ == "__main__":
    main()
