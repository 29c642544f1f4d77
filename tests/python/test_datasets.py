#!/usr/bin/python3
# gst-spdl: tests of loaders for common datasets
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import importlib.util
import os
import subprocess
import sys
import tarfile
import unittest
import wave

import numpy as np
from PIL import Image
from errors import raises_with
from support import make_dataset, make_folder, run_python

import gstspdl
from gstspdl import (IMAGENET_MEAN, IMAGENET_STD, Loader, LoaderError,
                     Pipeline, audio_folder, image_folder, image_list,
                     video_folder, web_dataset)

N = 26
FOLDER = make_dataset(N)
PATHS = sorted(FOLDER.glob("*/*.jpg"), key=os.fsencode)
CLASSES = sorted({path.parent.name for path in PATHS})
(FOLDER / "notes.txt").write_text("no image", encoding="utf-8")
(FOLDER / CLASSES[0] / "Thumbs.db").write_text("no image", encoding="utf-8")


def read_all(loader):
    """Returns the images, labels and indices of an epoch."""
    batches = list(loader)
    return (np.concatenate([batch["data"].numpy() for batch in batches]),
            np.concatenate([batch["labels"].numpy() for batch in batches]),
            [index for batch in batches for index in batch.indices])


def normalize(image):
    array = np.asarray(image, "float32") / 255
    return ((array - IMAGENET_MEAN) / IMAGENET_STD).transpose(2, 0, 1)


class ImageFolderTest(unittest.TestCase):
    def test_training(self):
        orders = []
        for seed in 3, 3, 4:
            with image_folder(FOLDER, size=32, batch_size=8, drop_last=True,
                              seed=seed) as loader:
                self.assertEqual(len(loader), N // 8)
                self.assertEqual(loader.classes, CLASSES)
                images, labels, indices = read_all(loader)
                again = read_all(loader)[2]
            self.assertEqual(images.shape, (N // 8 * 8, 3, 32, 32))
            self.assertEqual(images.dtype, np.float32)
            self.assertEqual(labels.dtype, np.int64)
            for index, label in zip(indices, labels):
                self.assertEqual(CLASSES[label], PATHS[index].parent.name)
            self.assertEqual(len(set(indices)), len(indices))
            self.assertNotEqual(indices, sorted(indices))
            self.assertNotEqual(indices, again)
            orders.append((indices, dict(zip(indices, images))))
        # The seed alone determines the selection of images and their
        # augmentation.
        first, same, other = (images for _, images in orders)
        for index in set(first) & set(same):
            np.testing.assert_array_equal(first[index], same[index])
        self.assertTrue(any((first[index] != other[index]).any()
                            for index in set(first) & set(other)))

    def test_validation(self):
        """Tests resize and crop as in torchvision's usual transforms."""
        with image_folder(FOLDER, size=56, batch_size=10, train=False,
                          classes=CLASSES) as loader:
            self.assertEqual(len(loader), 3)
            images, labels, indices = read_all(loader)
        self.assertEqual(indices, list(range(N)))
        for path, image, label in zip(PATHS, images, labels):
            self.assertEqual(CLASSES[label], path.parent.name)
            with Image.open(path) as file:
                scale = 64 / min(file.size)
                sides = [round(side * scale) for side in file.size]
                whole = file.convert("RGB").resize(
                    sides, Image.Resampling.BILINEAR)
            left, top = ((side - 56) // 2 for side in sides)
            expected = normalize(whole.crop((left, top, left + 56, top + 56)))
            self.assertLess(np.abs(expected - image).mean(), 0.05)

    def test_validation_is_exact(self):
        """Also where an image is large enough for fast-scale."""
        results = [read_all(Loader(
            f"spdlsrc location={FOLDER} label=folder pattern=*.jpg ! spdlfetch "
            "output-order=input "
            "! spdldecode width=32 height=32 resize=cover crop-fraction=0.875 "
            f"{properties} output-order=input ! spdlbatch batch-size=13 "
            "labels=true layout=nchw ! spdlsink"))[0]
            for properties in ("fast-scale=false", "fast-scale=true")]
        with image_folder(FOLDER, size=32, batch_size=13, train=False,
                          dtype="uint8") as loader:
            images = read_all(loader)[0]
        np.testing.assert_array_equal(images, results[0])
        self.assertTrue((images != results[1]).any())

    def test_sizes(self):
        with image_folder(FOLDER, size=(24, 40), batch_size=2, train=False,
                          crop=1) as loader:
            self.assertEqual(next(iter(loader))["data"].shape, (2, 3, 24, 40))
        with image_folder(FOLDER, size=(25, 41), batch_size=2,
                          train=False) as loader:
            self.assertEqual(next(iter(loader))["data"].shape, (2, 3, 25, 41))

    def test_types(self):
        with image_folder(FOLDER, size=16, batch_size=2, dtype="uint8",
                          train=False) as loader:
            first = next(iter(loader))["data"].numpy()
        self.assertEqual(first.dtype, np.uint8)
        with image_folder(FOLDER, size=16, batch_size=2, mean=None, std=None,
                          train=False) as loader:
            images = next(iter(loader))["data"].numpy()
        np.testing.assert_allclose(images, first / 255, atol=1e-6)

    def test_transform(self):
        def paint(sample):
            return np.full(sample["data"].shape, 255, np.uint8)

        for train in True, False:
            with image_folder(FOLDER, size=16, batch_size=2, mean=None,
                              std=None, train=train,
                              transform=paint) as loader:
                self.assertTrue((next(iter(loader))["data"].numpy() == 1).all())
        with self.assertRaises(LoaderError):
            image_folder(FOLDER, transform=paint, process=True)

    def test_another_process(self):
        with image_folder(FOLDER, size=16, batch_size=N, process=True,
                          train=False) as loader:
            self.assertEqual(next(iter(loader)).num_items, N)

    def test_ranks(self):
        code = ("import sys, gstspdl\n"
                "with gstspdl.image_folder(sys.argv[1], size=8, batch_size=1)"
                " as loader: print(*(b.indices[0] for b in loader))")
        seen = []
        for rank in "0", "1":
            done = run_python(code, FOLDER, env={
                **os.environ, "RANK": rank, "WORLD_SIZE": "2"})
            self.assertEqual(done.stderr, "")
            seen += map(int, done.stdout.split())
        self.assertEqual(sorted(seen), list(range(N)))

    def test_shard_modes(self):
        code = ("import sys, gstspdl\n"
                "with gstspdl.image_folder(sys.argv[1], size=8, batch_size=1,"
                " train=False, shard_mode=sys.argv[2]) as loader:\n"
                "    print(*(b.indices[0] for b in loader))")
        for mode, expected in (("pad", [*range(N), 0]), ("drop", range(24)),
                               ("uneven", range(N))):
            seen = []
            for rank in range(3):
                done = run_python(code, FOLDER, mode, env={
                    **os.environ, "RANK": str(rank), "WORLD_SIZE": "3"})
                self.assertEqual(done.stderr, "")
                seen += map(int, done.stdout.split())
            self.assertEqual(sorted(seen), sorted(expected), mode)

    def test_in_order(self):
        """Tests that a seed determines the batches, with a function too."""
        def run(**more):
            with image_folder(FOLDER, size=8, batch_size=5, seed=3, **more,
                              transform=lambda s: s["data"].numpy()) as loader:
                return read_all(loader)

        first, second = run(in_order=True), run(in_order=True)
        for one, other in zip(first, second):
            np.testing.assert_array_equal(one, other)
        self.assertEqual(sorted(run()[2]), sorted(first[2]))

    def test_resuming(self):
        with image_folder(FOLDER, size=8, batch_size=2) as loader:
            state = next(iter(loader)).state
            rest = sorted(i for batch in loader for i in batch.indices)
        with image_folder(FOLDER, size=8, batch_size=2,
                          state=state) as loader:
            first = [i for batch in loader for i in batch.indices]
        self.assertEqual(len(first), N - 2)
        self.assertEqual(len(rest), N)

    def test_description_can_be_extended(self):
        loader = image_folder(FOLDER, size=16, batch_size=4, train=False)
        pipeline = Pipeline.parse(loader.description)
        self.assertEqual(str(pipeline), loader.description)
        with loader, pipeline.loader() as same:
            images = read_all(loader)[0]
            np.testing.assert_array_equal(images, read_all(same)[0])
        # The element goes before the sink.
        further = pipeline.map(lambda batch: {
            "data": -batch["data"].numpy(), "labels": batch["labels"].numpy()},
            output_order="input")
        with further.loader() as negative:
            np.testing.assert_array_equal(images, -read_all(negative)[0])
        line = loader.description.replace("batch-size=4", "batch-size=13")
        with Loader(line) as changed:
            self.assertEqual(len(changed), 2)

    def test_wrong_arguments(self):
        for arguments in ({"size": -1}, {"batch_size": 0}, {"flip": 2},
                          {"crop": 0, "train": False}, {"crop_scale": (1,)},
                          {"dtype": "int8"}):
            with self.assertRaises(ValueError, msg=arguments):
                image_folder(FOLDER, **arguments)
        for arguments in ({"size": "big"}, {"size": "64"}, {"size": (1, 2, 3)}, {"sise": 8},
                          {"transform": 3}):
            with self.assertRaises(TypeError, msg=arguments):
                image_folder(FOLDER, **arguments)
        with raises_with(None, "missing"):
            next(iter(image_folder(FOLDER / "missing")))

    def test_folder_without_classes(self):
        flat = FOLDER / CLASSES[0]
        for recipe in image_folder, video_folder, audio_folder:
            with self.subTest(recipe=recipe.__name__), self.assertRaisesRegex(
                    ValueError, str(flat)):
                recipe(flat)


class OthersTest(unittest.TestCase):
    def test_image_list(self):
        folder = make_folder()
        for name, separator, head in (("a.csv", ",", "uri,label,often\n"),
                                      ("a.txt", "\t", "")):
            tail = ",{}" if head else ""
            (folder / name).write_text(head + "".join(
                f"{path}{separator}{path.parent.name}{tail.format(i)}\n"
                for i, path in enumerate(PATHS)), encoding="utf-8")
            for train in True, False:
                with image_list(folder / name, size=8, batch_size=2,
                                train=train) as loader:
                    self.assertEqual(loader.classes, CLASSES)
                    _, labels, indices = read_all(loader)
                for index, label in zip(indices, labels):
                    self.assertEqual(CLASSES[label], PATHS[index].parent.name)
                self.assertEqual(len(indices), N)
        with image_list(folder / "a.csv", size=8, batch_size=2,
                        weight_column="often") as loader:
            self.assertNotIn(0, read_all(loader)[2])
        (folder / "b.csv").write_text("uri,class\na.jpg,1\n",
                                      encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "label.*uri, class"):
            image_list(folder / "b.csv")

    def test_web_dataset(self):
        folder = make_folder()
        for shard in range(2):
            with tarfile.open(folder / f"s-{shard}.tar", "w") as tar:
                for i in range(shard, N, 2):
                    label = folder / "label"
                    label.write_text(str(CLASSES.index(PATHS[i].parent.name)),
                                     encoding="utf-8")
                    tar.add(PATHS[i], f"{i:03}.jpg")
                    tar.add(label, f"{i:03}.cls")
        for urls in (folder / "s-{0..1}.tar", str(folder / "s-*.tar"),
                     [folder / "s-0.tar", folder / "s-1.tar"]):
            with web_dataset(urls, size=8, batch_size=2, train=False,
                             classes=CLASSES) as loader:
                self.assertEqual(loader.classes, CLASSES)
                _, labels, _ = read_all(loader)
            order = [*range(0, N, 2), *range(1, N, 2)]
            self.assertEqual([CLASSES[label] for label in labels],
                             [PATHS[i].parent.name for i in order])
        with web_dataset([folder / "s-1.tar"], size=8, batch_size=1) as loader:
            indices = read_all(loader)[2]
        self.assertEqual(sorted(indices), list(range(N // 2)))
        self.assertNotEqual(sorted(indices), indices)
        for urls in [], ["a,b.tar", "c.tar"]:
            with self.assertRaises(ValueError):
                web_dataset(urls)

    def test_video_folder(self):
        folder = make_folder()
        (folder / "one").mkdir()
        for i in range(2):
            subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
                            "testsrc2=s=64x48:d=1", "-c:v", "mjpeg",
                            folder / "one" / f"{i}.mkv"], check=True)
        for train in True, False:
            with video_folder(folder, size=32, num_frames=4, batch_size=2,
                              train=train) as loader:
                self.assertEqual(loader.classes, ["one"])
                data = next(iter(loader))["data"].numpy()
            self.assertEqual(data.shape, (2, 4, 3, 32, 32))
            self.assertEqual(data.dtype, np.float32)
            if not train:
                np.testing.assert_array_equal(data[0], data[1])

    def test_audio_folder(self):
        folder = make_folder()
        (folder / "one").mkdir()
        for n in 8000, 4000:
            with wave.open(str(folder / "one" / f"{n}.wav"), "wb") as sound:
                sound.setparams((2, 2, 8000, 0, "NONE", ""))
                sound.writeframes(b"\0\x40" * 2 * n)
        with audio_folder(folder, rate=16000, batch_size=2,
                          train=False) as loader:
            batch = next(iter(loader))
            self.assertEqual(loader.classes, ["one"])
        self.assertEqual(batch["data"].shape, (2, 16000, 1))
        # The file 4000.wav is the first item.
        self.assertEqual(list(batch["data_lengths"].numpy()), [8000, 16000])
        starts = set()
        with audio_folder(folder, rate=8000, duration=0.05, offset="random",
                          batch_size=1) as loader:
            for _ in range(4):
                starts.update((batch.indices[0], batch.extras[0]["audio-offset"])
                              for batch in loader)
        self.assertEqual(len(starts), 8)  # two files in four epochs
        with audio_folder(folder, rate=8000, duration=0.25,
                          batch_size=2) as loader:
            data = next(iter(loader))["data"].numpy()
        self.assertEqual(data.shape, (2, 2000, 1))
        np.testing.assert_allclose(data, 0.5, atol=1e-3)


class TorchTest(unittest.TestCase):
    def setUp(self):
        if not importlib.util.find_spec("torch"):
            self.skipTest("PyTorch is missing")

    def test_loader_as_dataset(self):
        import torch
        from gstspdl.torch import Dataset

        train = Dataset(image_folder(FOLDER, size=16, batch_size=8))
        net = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16,
                                                len(train.classes)))
        optimizer = torch.optim.SGD(net.parameters(), 1e-3)
        for epoch in range(2):
            for batch in train:
                loss = torch.nn.functional.cross_entropy(
                    net(batch["data"]), batch["labels"])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        train.stop()
        self.assertTrue(np.isfinite(loss.item()))
        with self.assertRaises(TypeError):
            Dataset(image_folder(FOLDER), max_failures=3)


class NamesTest(unittest.TestCase):
    def test_exported_names(self):
        for name in gstspdl.__all__:
            self.assertIsNotNone(getattr(gstspdl, name))
        with self.assertRaises(AttributeError):
            gstspdl.image_folders

    def test_lazy_imports(self):
        done = run_python("import sys, gstspdl\n"
                          "assert 'gstspdl._pipeline.recipes' not in sys.modules\n"
                          "from gstspdl import image_folder")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    sys.exit(unittest.main())
