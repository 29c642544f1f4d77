#!/usr/bin/python3
# gst-spdl: tests of public scripts that pages in docs/how-to change
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the scripts of the pages with small data. open_clip, transformers,
torchvision and pycocotools are replaced by modules that have what the scripts call,
and check what they get."""

import json
import random
import re
import subprocess
import sys
import tarfile
import textwrap
import unittest
import wave

from PIL import Image
from support import ROOT, SAVED, blocks_of, find_packages, make_dataset, make_folder

if not find_packages("torch"):
    raise unittest.SkipTest("needs PyTorch")

N = 24
PHOTOS = make_dataset(N)

OPEN_CLIP = """
import torch
from torch import nn

OPENAI_DATASET_MEAN, OPENAI_DATASET_STD = (0.48, 0.46, 0.41), (0.27, 0.26, 0.28)


def get_tokenizer(name):
    def tokenize(text):
        tokens = torch.zeros(1, 77, dtype=torch.int64)
        for i, word in enumerate(text.split()):
            tokens[0, i] = sum(map(ord, word)) % 50
        return tokens
    return tokenize


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(3, 8)
        self.text = nn.Embedding(50, 8)

    def forward(self, images, texts):
        assert images.shape[1:] == (3, 224, 224) and images.dtype == torch.float32
        assert texts.shape == (len(images), 77) and texts[:, 0].eq(97 % 50).all()
        return (self.image(images.mean((2, 3))), self.text(texts).mean(1),
                torch.tensor(10.0))


def create_model(name):
    return CLIP()


def ClipLoss():
    def loss(images, texts, scale):
        return nn.functional.cross_entropy(
            scale * images @ texts.T, torch.arange(len(images)))
    return loss
"""

TRANSFORMERS = """
from types import SimpleNamespace
import numpy as np
import torch
from torch import nn


class AutoFeatureExtractor:
    @classmethod
    def from_pretrained(cls, name):
        return cls()

    def __call__(self, sound, sampling_rate, return_tensors):
        assert sound.ndim == 1 and sound.dtype == np.float32
        assert sampling_rate == 16000 and return_tensors == "np"
        return {"input_values": [sound - sound.mean()]}


class AutoModelForAudioClassification(nn.Linear):
    @classmethod
    def from_pretrained(cls, name, num_labels, label2id, id2label):
        assert label2id == {"high": 0, "low": 1}
        assert id2label == {0: "high", 1: "low"}
        return cls(1, num_labels)

    def forward(self, input_values, labels=None):
        assert input_values.ndim == 2 and input_values.shape[1] <= 16000
        steps = (input_values[:, 1:] - input_values[:, :-1]).abs().mean(1)
        scores = super().forward(10 * steps[:, None])
        return SimpleNamespace(logits=scores, loss=None if labels is None else
                               nn.functional.cross_entropy(scores, labels))
"""

DETECTION = """
import torch
from torch import nn


class Detector(nn.Module):
    # Learns the mean color of the boxes. It finds each bright pixel's box.
    def __init__(self, num_classes):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_classes))

    def forward(self, images, targets=None):
        assert all(image.shape == (3, 64, 64) and 0 <= image.min() and
                   image.max() <= 1 for image in images)
        if self.training:
            boxes = torch.cat([target["boxes"] for target in targets])
            labels = torch.cat([target["labels"] for target in targets])
            assert (boxes[:, 2:] > boxes[:, :2]).all() and (labels > 0).all()
            return {"loss": (self.weight[labels] - 1).square().mean()}
        found = []
        for image in images:
            y, x = (image[0] > 0.5).nonzero().T
            box = torch.stack([x.min(), y.min(), x.max() + 1, y.max() + 1])
            found.append({"boxes": box[None].float(), "scores": torch.ones(1),
                          "labels": (image[2].max() * 255 / 100).round().long()[None]})
        return found


def fasterrcnn_resnet50_fpn(num_classes, min_size, max_size):
    assert (num_classes, min_size, max_size) == (3, 64, 64)
    return Detector(num_classes)
"""

COCO = """
import json


class COCO:
    def __init__(self, path):
        self.data = json.load(open(path))

    def getCatIds(self):
        return [each["id"] for each in self.data["categories"]]

    def loadRes(self, results):
        return results
"""

# Compares one result for each image.
COCO_EVAL = """
class COCOeval:
    def __init__(self, coco, results, kind):
        assert kind == "bbox"
        self.wanted = {each["image_id"]: each for each in coco.data["annotations"]
                       if not each["iscrowd"]}
        self.results = results

    def evaluate(self):
        right = 0
        for each in self.results:
            wanted = self.wanted[each["image_id"]]
            right += each["category_id"] == wanted["category_id"] and all(
                abs(a - b) < 2.5 for a, b in zip(each["bbox"], wanted["bbox"]))
        self.stats = [right / len(self.wanted)]

    def accumulate(self):
        pass

    def summarize(self):
        pass
"""

SEGMENTATION = """
from torch import nn


class Model(nn.Conv2d):
    def forward(self, images):
        assert images.shape[1:] == (3, 48, 48) and images.min() < 0
        found = super().forward(images)
        return {"out": found, "aux": found}


def fcn_resnet50(num_classes, aux_loss):
    assert num_classes == 21 and aux_loss
    return Model(3, num_classes, 1)
"""

# The parts of PyTorch's example that use the loaders.
IMAGENET = """
import argparse
import os
import torch
from torch import nn
import torch.utils.data
IMPORTS
device = torch.device("cpu")


def main(args):
    model = nn.Sequential(nn.AvgPool2d(32), nn.Flatten(), nn.Linear(147, 20))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
DATA
    for epoch in range(args.start_epoch, args.epochs):
EPOCH
        train(train_loader, model, optimizer, epoch)
        validate(val_loader, model, epoch)


def train(train_loader, model, optimizer, epoch):
    for i, (images, target) in enumerate(in_step(train_loader, shortest=True)):
        images = images.to(device, non_blocking=True)
        target = target.to(device, non_blocking=True)
        loss = nn.functional.cross_entropy(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"Epoch: [{epoch}][{i + 1}/{len(train_loader)}]")


def validate(val_loader, model, epoch):
    total = 0
    with torch.no_grad():
        for i, (images, target) in enumerate(val_loader):
            assert model(images).shape == (len(target), 20)
            total += len(target)
    print(f"validated {total} in {len(val_loader)}")


main(argparse.Namespace(data="imagenet", batch_size=10, start_epoch=1, epochs=3))
"""


class PortedTest(unittest.TestCase):
    def setUp(self):
        self.folder = make_folder()

    def blocks(self, page):
        return list(blocks_of(ROOT / "docs" / "how-to" / page))

    def save(self, page, changes=()):
        """Writes the script of a page, and returns its path."""
        (name, script), = [(found[1], block) for before, block in self.blocks(page)
                           for found in [SAVED.search(before)] if found]
        for old, new in changes:
            self.assertIn(old, script)
            script = script.replace(old, new)
        path = self.folder / name
        path.write_text(script)
        return path

    def run_script(self, path):
        done = subprocess.run([sys.executable, path], cwd=self.folder,
                              capture_output=True, text=True, timeout=100,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_imagenet(self):
        for name in "train", "val":
            path = self.folder / "imagenet" / name
            path.parent.mkdir(exist_ok=True)
            path.symlink_to(PHOTOS)
        blocks = [block for _, block in self.blocks("imagenet.md")]
        imports, = [block for block in blocks if block.startswith("from gstspdl")]
        data, = [block for block in blocks if block.startswith("# Data loading")]
        epoch, = [block for block in blocks if "set_epoch(" in block]
        path = self.folder / "main.py"
        path.write_text(
            IMAGENET.replace("IMPORTS\n", imports)
            .replace("DATA\n", textwrap.indent(data, 4 * " "))
            .replace("EPOCH\n", textwrap.indent(epoch, 8 * " ")))
        text = self.run_script(path)
        self.assertEqual(re.findall(r"Epoch: \[(\d)\]\[(\d)/3\]", text), [
            (epoch, step) for epoch in "12" for step in "123"])
        self.assertEqual(text.count(f"validated {N} in 3"), 2)

    def test_clip(self):
        (self.folder / "open_clip.py").write_text(OPEN_CLIP)
        photos = sorted(PHOTOS.glob("*/*.jpg"))
        for shard in range(4):
            with tarfile.open(self.folder / f"shards-{shard:04}.tar", "w") as tar:
                for i, photo in enumerate(photos[shard::4]):
                    text = self.folder / "text"
                    text.write_text(f"a photo of {photo.parent.name}")
                    tar.add(photo, f"{i:06}.jpg")
                    tar.add(text, f"{i:06}.txt")
        path = self.save("clip.md", [("224, 64, 2", "224, 8, 2")])
        text = self.run_script(path)
        self.assertEqual(re.findall(r"epoch (\d): loss \d+\.\d+", text), ["0", "1"])

    def test_sounds(self):
        (self.folder / "transformers.py").write_text(TRANSFORMERS)
        rng = random.Random(1)
        for part, count in ("train", 8), ("val", 4):
            for step, name in enumerate(("low", "high"), 1):
                folder = self.folder / "sounds" / part / name
                folder.mkdir(parents=True)
                for i in range(count):
                    wanted = rng.randrange(8000, 40000)
                    with wave.open(str(folder / f"{i}.wav"), "wb") as sound:
                        sound.setparams((1, 2, 16000, 0, "NONE", ""))
                        sound.writeframes(b"".join(
                            (j * step * 500 % 20000 - 10000).to_bytes(
                                2, "little", signed=True) for j in range(wanted)))
        path = self.save("audio-classification.md",
                         [("1.0, 32, 5", "1.0, 4, 2"), ("3e-5", "0.1")])
        text = self.run_script(path)
        self.assertEqual(re.findall(r"epoch (\d): \d of 8 right", text), ["0", "1"])

    def replace(self, name, text):
        """Writes a module that replaces another one."""
        path = self.folder.joinpath(*name.split("."))
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in list(path.relative_to(self.folder).parents)[:-1]:
            (self.folder / folder / "__init__.py").touch()
        path.with_suffix(".py").write_text(text)

    def test_detection(self):
        """Tests that boxes of the validation are those of the file again."""
        self.replace("torchvision.models.detection", DETECTION)
        self.replace("pycocotools.coco", COCO)
        self.replace("pycocotools.cocoeval", COCO_EVAL)
        rng = random.Random(2)
        for part, n in ("train2017", 12), ("val2017", 7):
            folder = self.folder / "coco" / part
            folder.mkdir(parents=True)
            images, annotations = [], []
            for i in range(n):
                size = rng.randint(100, 160), rng.randint(100, 160)
                image = Image.new("RGB", size)
                x, y = rng.randrange(40), rng.randrange(40)
                kind = i % 2
                image.paste((255, 0, 100 * (kind + 1)), (x, y, x + 50, y + 40))
                image.save(folder / f"{i}.png")
                images.append({"id": 5 * i, "file_name": f"{i}.png"})
                annotations += [
                    {"id": 2 * i + crowd, "image_id": 5 * i, "iscrowd": crowd,
                     "category_id": [7, 90][kind], "area": 2000,
                     "bbox": [x, y, 50, 40]} for crowd in (0, 1)]
            path = self.folder / f"coco/annotations/instances_{part}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps({
                "images": images, "annotations": annotations,
                "categories": [{"id": 90, "name": "b"}, {"id": 7, "name": "a"}]}))
        text = self.run_script(self.save("detection.md", [
            ("640, 8, 26", "64, 4, 2")]))
        self.assertEqual(re.findall(r"epoch (\d): loss \d\.\d+, mAP (\d\.\d+)", text),
                         [("0", "1.000"), ("1", "1.000")])

    def test_segmentation(self):
        """Tests that a model learns classes that are colors."""
        self.replace("torchvision.models.segmentation", SEGMENTATION)
        rng = random.Random(3)
        for name in "JPEGImages", "SegmentationClass", "ImageSets/Segmentation":
            (self.folder / "VOC2012" / name).mkdir(parents=True)
        for part, n in ("train", 24), ("val", 5):
            names = [f"{part}_{i}" for i in range(n)]
            for name in names:
                classes = [rng.randrange(3) for _ in range(48)]
                mask = Image.new("P", (8, 6))
                mask.putpalette([0, 0, 0, 200, 30, 30, 30, 200, 200] + 759 * [9])
                mask.putdata(classes)
                mask = mask.resize((160, 120), Image.Resampling.NEAREST)
                mask.convert("RGB").save(
                    self.folder / f"VOC2012/JPEGImages/{name}.jpg", quality=95)
                mask.paste(255, (0, 0, 5, 120))
                mask.save(self.folder / f"VOC2012/SegmentationClass/{name}.png")
            (self.folder / f"VOC2012/ImageSets/Segmentation/{part}.txt").write_text(
                "\n".join(names))
        text = self.run_script(self.save("segmentation.md", [
            ("480, 8, 30", "48, 2, 4"), ("0.01", "0.5")]))
        found = re.findall(r"epoch \d: loss \d\.\d+, mean IoU (\d\.\d+)", text)
        self.assertEqual(len(found), 4)
        self.assertGreater(float(found[-1]), 0.9)


if __name__ == "__main__":
    unittest.main()
