#!/usr/bin/python3
# gst-spdl: tests of loaders for common datasets
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tarfile
import unittest
import warnings
import wave

import numpy as np
from PIL import Image
from errors import raises_with
from support import ROOT, make_dataset, make_folder, run_python

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
                          {"dtype": "int8"}, {"format": "BGR"}):
            with self.assertRaises(ValueError, msg=arguments):
                image_folder(FOLDER, **arguments)
        for arguments in ({"size": "big"}, {"size": "64"}, {"size": (1, 2, 3)}, {"sise": 8},
                          {"transform": 3}, {"train": "val"}, {"augment": 3},
                          {"augment": [3]}):
            with self.assertRaises(TypeError, msg=arguments):
                image_folder(FOLDER, **arguments)
        for root in 3, ["photos"], b"photos":
            with self.assertRaisesRegex(TypeError, "a path"):
                image_folder(root)
        with self.assertRaisesRegex(ValueError, "image_list"):
            image_folder(FOLDER / "notes.txt")

    def test_words_of_dataloader(self):
        for name, words in (("num_workers", "concurrency="),
                            ("shuffle", "train=True"), ("collate_fn", "transform="),
                            ("pin_memory", "cuda_upload()"), ("sampler", "source="),
                            ("batchsize", "'batch_size'"), ("SIZE", "'size'"),
                            ("target_transform", "classes=")):
            for make in image_folder, Loader, Pipeline().files:
                if make is not image_folder and name[0] in "bSs":
                    continue  # has this argument, or has no similar one
                with self.assertRaisesRegex(TypeError, re.escape(words)) as raised:
                    make(FOLDER, **{name: 1})
                self.assertIn(name, str(raised.exception))

    def test_folder_without_classes(self):
        flat = FOLDER / CLASSES[0]
        for recipe in image_folder, video_folder, audio_folder:
            with self.subTest(recipe=recipe.__name__), self.assertRaisesRegex(
                    ValueError, str(flat)):
                recipe(flat)


def properties_of(loader, factory):
    """Returns the texts of the properties of an element of a loader."""
    return [dict(element.properties) for element in
            Pipeline.parse(loader.description)._list_elements()
            if element.factory == factory]


def make_pictures(*pictures):
    """Returns a folder with one class of PNGs, or of files of these bytes."""
    folder = make_folder()
    (folder / "one").mkdir()
    for i, picture in enumerate(pictures):
        place = folder / "one" / f"{i}.png"
        if isinstance(picture, bytes):
            place.write_bytes(picture)
        else:
            picture.save(place)
    return folder


def load_exactly(folder, **options):
    """Returns the bytes of the first batch of a validation."""
    with image_folder(folder, train=False, dtype="uint8", crop=1,
                      **options) as loader:
        return next(iter(loader))["data"].numpy()


class PlacesTest(unittest.TestCase):
    """Local paths, which are checked and made absolute with the loader."""

    def test_missing_places(self):
        for make in (lambda path: image_folder(path),
                     lambda path: image_list(path / "a.csv"),
                     lambda path: web_dataset(path / "a-{0..3}.tar"),
                     lambda path: web_dataset([path / "a.tar", path / "b.tar"]),
                     lambda path: video_folder(path),
                     lambda path: audio_folder(path),
                     lambda path: Loader(Pipeline().files(path).fetch())):
            with raises_with("source", "missing"):
                make(FOLDER / "missing")

    def test_other_folder(self):
        """The program changes its folder after it has made the loader."""
        code = ("import os, sys, gstspdl\n"
                "os.chdir(sys.argv[1])\n"
                "loaders = [gstspdl.image_folder('.', size=8),\n"
                "           gstspdl.image_folder('~', size=8),\n"
                "           gstspdl.image_list('a.csv', size=8),\n"
                "           gstspdl.web_dataset('*.tar', size=8, labels=False),\n"
                "           gstspdl.web_dataset(['a.tar'], size=8, labels=False),\n"
                "           gstspdl.Pipeline().files('./' + sys.argv[2]).fetch()\n"
                "           .decode(width=8, height=8).batch(2).loader()]\n"
                "os.chdir('/')\n"
                "for loader in loaders:\n"
                "    with loader: print(sum(b.num_items for b in loader))")
        folder = make_pictures(Image.new("RGB", (8, 8)), Image.new("L", (8, 8)))
        (folder / "a.csv").write_text("uri,label\none/0.png,1\n",
                                      encoding="utf-8")
        with tarfile.open(folder / "a.tar", "w") as tar:
            tar.add(folder / "one" / "0.png", "0.png")
        done = run_python(code, folder, "one",
                          env={**os.environ, "HOME": str(folder)})
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.split(), ["2", "2", "1", "1", "1", "2"])

    def test_resuming_from_another_spelling(self):
        """A state belongs to the dataset, however its path is written."""
        code = ("import os, sys, gstspdl\n"
                "with gstspdl.Loader('spdlsrc location=. label=folder pattern=*.jpg'\n"
                "                    ' ! spdlfetch ! spdlbatch ! spdlsink') as l:\n"
                "    state = l.state\n"
                "with gstspdl.Pipeline().files('.', label='folder', pattern='*.jpg'\n"
                "        ).fetch().batch(2).loader(state=state): print('resumed')")
        done = run_python(code, cwd=FOLDER)
        self.assertEqual((done.stdout, done.stderr), ("resumed\n", ""))

    def test_servers_are_not_asked(self):
        for uri in "http://nobody.invalid/a-{0..3}.tar", "s3://bucket/a.tar":
            self.assertIn(uri, web_dataset(uri).description)


class OptionsTest(unittest.TestCase):
    """Options of decoding, functions and threads."""

    def test_background(self):
        clear = make_pictures(Image.new("RGBA", (8, 8), (200, 0, 0, 0)))
        for options, color in (({}, 0), ({"background": 0xffffff}, 255)):
            self.assertTrue((load_exactly(clear, size=8, **options) == color).all())

    def test_format(self):
        red = make_pictures(Image.new("RGB", (8, 8), (200, 0, 0)))
        image = load_exactly(red, size=8, format="GRAY8")
        self.assertEqual(image.shape, (1, 1, 8, 8))
        self.assertEqual(image[0, 0, 0, 0], 60)
        with image_folder(red, size=8, format="GRAY8") as loader:
            np.testing.assert_allclose(
                next(iter(loader))["data"].numpy(), 60 / 255, atol=1e-6)
        with image_folder(red, size=8, format="GRAY8", mean=[0.5],
                          std=[0.25]) as loader:
            np.testing.assert_allclose(
                next(iter(loader))["data"].numpy(), (60 / 255 - 0.5) / 0.25,
                atol=1e-5)

    def test_interpolation(self):
        noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
        picture = Image.fromarray(noise)
        folder = make_pictures(picture)
        image = load_exactly(folder, size=24, interpolation="bicubic")
        expected = picture.resize((24, 24), Image.Resampling.BICUBIC)
        difference = np.abs(image[0].transpose(1, 2, 0).astype(int) -
                            np.asarray(expected))
        self.assertLessEqual(difference.max(), 1)

    def test_orientation(self):
        turned = Image.Exif()
        turned[0x112] = 6
        folder = make_folder()
        (folder / "one").mkdir()
        ramp = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (64, 1))
        Image.fromarray(ramp).save(folder / "one" / "a.jpg", exif=turned)
        upright, stored = (
            load_exactly(folder, size=16, **options)[0, 0].astype(int)
            for options in ({}, {"orientation": "ignore"}))
        np.testing.assert_allclose(upright, np.rot90(stored, -1), atol=2)
        self.assertGreater(stored[0, -1] - stored[0, 0], 100)

    def test_corrupt_images(self):
        whole = PATHS[0].read_bytes()
        folder = make_pictures(whole, whole[:len(whole) * 3 // 4])
        for options, n in (({}, 1), ({"on_corrupt": "keep"}, 2)):
            self.assertEqual(len(load_exactly(folder, size=8, **options)), n)

    def test_crops(self):
        with image_folder(FOLDER, size=8, crop_ratio=(1, 1)) as loader:
            for extra in next(iter(loader)).extras:
                self.assertLessEqual(
                    abs(extra["crop-width"] - extra["crop-height"]), 1)
        with image_folder(FOLDER, size=8, crop_scale=None, flip=0, batch_size=N,
                          dtype="uint8", in_order=True, fast_scale=False) as loader:
            batch = next(iter(loader))
        for image, index in zip(batch["data"].numpy(), batch.indices):
            with Image.open(PATHS[index]) as file:
                whole = np.asarray(file.convert("RGB").resize(
                    (8, 8), Image.Resampling.BILINEAR), int)
            self.assertLess(np.abs(image.transpose(1, 2, 0) - whole).mean(), 2)

    def test_fast_scale(self):
        for options, value in (({}, None), ({"fast_scale": False}, "false"),
                               ({"train": False}, "false"),
                               ({"train": False, "fast_scale": True}, "true")):
            decode, = properties_of(image_folder(FOLDER, **options), "spdldecode")
            self.assertEqual(decode.get("fast-scale"), value, options)

    def test_threads_and_processes(self):
        def number(sample):
            import os
            return np.full((8, 8, 3), os.getpid() % 251, np.uint8)

        loader = image_folder(FOLDER, concurrency=3, augment="rand-augment",
                              transform=number)
        for factory in "spdldecode", "spdlaugment", "spdlpipe":
            found, = properties_of(loader, factory)
            self.assertEqual(found["concurrency"], "3", factory)
        fetch, = properties_of(loader, "spdlfetch")
        self.assertNotIn("concurrency", fetch)
        with image_folder(FOLDER, size=8, dtype="uint8", processes=2,
                          transform=number) as loader:
            seen = {int(value) for batch in loader
                    for value in np.unique(batch["data"].numpy())}
        self.assertTrue(seen)
        self.assertNotIn(os.getpid() % 251, seen)
        with self.assertRaisesRegex(ValueError, "processes=2"):
            image_folder(FOLDER, processes=2)

    def test_augment(self):
        ops = "color-jitter(brightness=0.4)", "erase(p=1)"
        for augment in "; ".join(ops), list(ops):
            found, = properties_of(image_folder(FOLDER, augment=augment),
                                   "spdlaugment")
            self.assertEqual(found["ops"], "; ".join(ops))
        self.assertEqual(properties_of(image_folder(
            FOLDER, augment=ops, train=False), "spdlaugment"), [])

    def test_without_labels(self):
        flat = FOLDER / CLASSES[0]
        for folder in FOLDER, flat:
            with image_folder(folder, size=8, batch_size=3, labels=False) as loader:
                batch = next(iter(loader))
                self.assertEqual(batch.names, ("data",))
                self.assertEqual(set(batch.labels), {-1})

    def test_signatures(self):
        """Tests the signatures that help() and notebooks show."""
        for recipe, size in ((image_folder, 224), (image_list, 224),
                             (web_dataset, 224), (video_folder, 112),
                             (audio_folder, None)):
            found = inspect.signature(recipe).parameters
            self.assertNotIn("options", found)
            self.assertEqual("size" in found, size is not None)
            if size is not None:
                self.assertEqual(found["size"].default, size)
            self.assertEqual("crop" in found, "image" in recipe.__name__ or
                             recipe is web_dataset)
            for name in found:
                self.assertIn(f"`{name}`", recipe.__doc__)


class MixingTest(unittest.TestCase):
    """Mixed pictures and labels, and training recipes."""

    def test_labels(self):
        for options, n in (({}, len(CLASSES)), ({"num_classes": 40}, 40)):
            with image_folder(FOLDER, size=8, batch_size=4, label_smoothing=0.1,
                              mixup_alpha=0.2, cutmix_alpha=1, mix_prob=0.5,
                              mix_switch_prob=0.3, erase_prob=0.5,
                              erase_noise=True, **options) as loader:
                labels = next(iter(loader))["labels"].numpy()
                found, = properties_of(loader, "spdlbatch")
            self.assertEqual(labels.shape, (4, n))
            np.testing.assert_allclose(labels.sum(1), 1, atol=1e-5)
            self.assertEqual(found["mix-prob"], "0.5")
            self.assertEqual(found["mix-switch-prob"], "0.3")
            self.assertEqual(found["erase-noise"], "true")

    def test_number_of_classes(self):
        folder = make_folder()
        (folder / "a.csv").write_text("uri,label\n" + "".join(
            f"{path},{path.parent.name}\n" for path in PATHS), encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "mixup_alpha=0.2.*num_classes"):
            image_list(folder / "a.csv", mixup_alpha=0.2)
        with self.assertRaisesRegex(ValueError, "num_classes"):
            image_folder(FOLDER, mixup_alpha=0.2, labels=False)
        with image_list(folder / "a.csv", mixup_alpha=0.2, size=8, batch_size=2,
                        classes=CLASSES) as loader:
            self.assertEqual(next(iter(loader))["labels"].shape,
                             (2, len(CLASSES)))

    def test_only_in_training(self):
        with image_folder(FOLDER, size=8, train=False, mixup_alpha=0.2,
                          label_smoothing=0.1, erase_prob=1,
                          batch_size=2) as loader:
            self.assertEqual(next(iter(loader))["labels"].shape, (2,))

    def test_erasing_keeps_labels(self):
        with image_folder(FOLDER, size=8, erase_prob=1, batch_size=2) as loader:
            self.assertEqual(next(iter(loader))["labels"].dtype, "int64")

    def test_recipes(self):
        """The lines of the page and the recipes are the same."""
        page = (ROOT / "docs/reference/spdlaugment.md").read_text()
        section = page.split("\n## Recipes\n")[1].split("\n## ")[0]
        pieces = re.findall(r"`recipe=\"([\w-]+)\"`.*?\n\n(    .*?)(?:\n\n|\Z)",
                            section + "\n\n", re.DOTALL)
        self.assertEqual(len(pieces), 6)
        for name, block in pieces:
            with self.subTest(name):
                line = Pipeline.parse(re.sub(r"\\\n *", "", block).replace(
                    "gst-launch-1.0 ", "").strip())
                recipe = Pipeline.parse(image_folder(
                    FOLDER, recipe=name, num_classes=1000).description)
                for shown, made in zip(*(self.list_settings(pipeline)
                                         for pipeline in (line, recipe))):
                    self.assertEqual(shown, made)

        # a2 and a3 are described by what differs.
        first, second, third = (Pipeline.parse(image_folder(FOLDER, recipe=name))
                                for name in ("timm-a1", "timm-a2", "timm-a3"))
        self.assertEqual(self.list_settings(second), self.list_settings(
            first.set("batch", mixup_alpha=0.1, label_smoothing=None)))
        self.assertEqual(self.list_settings(third), self.list_settings(
            second.set("augment", ops="rand-m6-mstd0.5-inc1").set(
                "decode", width=160, height=160)))

    @staticmethod
    def list_settings(pipeline):
        """Returns the elements with the properties that matter to a recipe."""
        return [(element.factory, {
            name: text for name, text in element.properties
            if name not in ("batch-size", "num-classes", "seed", "location",
                            "pattern", "label-missing")
            and (name, text) not in (("flip", "0.0"),
                                     ("crop-scale", "<0.08,1.0>"))})
            for element in pipeline._list_elements()
            if not element.factory.endswith("sink")]

    def test_validation_of_recipes(self):
        for name, size, resized in (("torchvision-resnet50-v2", 224, 232),
                                    ("timm-a3", 224, 235), ("deit", 224, 256),
                                    ("open-clip", 224, 224),
                                    ("cifar10", 32, 32)):
            found, = properties_of(image_folder(
                FOLDER, recipe=name, train=False), "spdldecode")
            self.assertEqual(found["width"], str(size))
            self.assertAlmostEqual(float(found["crop-fraction"]), size / resized)
        given, = properties_of(image_folder(
            FOLDER, recipe="timm-a3", size=128), "spdldecode")
        self.assertEqual((given["width"], given["interpolation"]),
                         ("128", "bicubic"))
        with self.assertRaisesRegex(ValueError, "timm-a4.*timm-a1"):
            image_folder(FOLDER, recipe="timm-a4")


class ImageFolderTableTest(unittest.TestCase):
    """The table of differences in docs/tutorials/from-dataloader.md. Other rows
    are tests of OptionsTest. The calculations are torchvision's."""

    @staticmethod
    def resize(picture, size=56, resized=64):
        """Returns Resize(resized) and CenterCrop(size)."""
        short, long = sorted(picture.size)
        long = int(resized * long / short)
        sides = (resized, long) if picture.width <= picture.height else \
            (long, resized)
        left, top = (int(round((side - size) / 2)) for side in sides)
        return np.asarray(picture.resize(sides, Image.Resampling.BILINEAR).crop(
            (left, top, left + size, top + size)), int)

    def test_sizes(self):
        random = np.random.default_rng(3)
        pictures = []
        for width, height in random.integers(60, 300, (60, 2)):
            y, x = np.mgrid[0:height, 0:width]
            pictures.append(Image.fromarray(np.stack(
                [x * 255 // width, y * 255 // height,
                 (x // 8 + y // 8) % 2 * 255], -1).astype(np.uint8)))
        folder = make_pictures(*pictures)
        with image_folder(folder, size=56, train=False, dtype="uint8",
                          batch_size=60) as loader:
            batch = next(iter(loader))
        for image, key in zip(batch["data"].numpy(), batch.keys):
            expected = self.resize(pictures[int(key.split("/")[-1][:-4])])
            difference = np.abs(image.transpose(1, 2, 0) - expected)
            self.assertLessEqual(difference.max(), 1, key)

    def test_jpegs(self):
        with image_folder(FOLDER, size=56, train=False, dtype="uint8",
                          batch_size=N) as loader:
            images = next(iter(loader))["data"].numpy()
        differences = [
            np.abs(image.transpose(1, 2, 0) - self.resize(
                Image.open(path).convert("RGB")))
            for path, image in zip(PATHS, images)]
        self.assertLessEqual(np.percentile(differences, 99.9), 3)
        self.assertLess(np.mean(differences), 0.4)

    def test_alpha(self):
        pixels = np.random.default_rng(1).integers(0, 256, (16, 16, 4), np.uint8)
        image = load_exactly(make_pictures(Image.fromarray(pixels)), size=16)
        expected = np.rint(pixels[..., :3] * (pixels[..., 3:] / 255))
        self.assertLessEqual(
            np.abs(image[0].transpose(1, 2, 0) - expected).max(), 1)

    def test_gray_of_16_bits(self):
        values = np.arange(256, dtype=np.uint16).reshape(16, 16) * 257
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = load_exactly(make_pictures(Image.fromarray(values)), size=16)
        np.testing.assert_array_equal(image[0, 0], values // 257)

    def test_order_and_classes(self):
        folder = make_folder()
        for name in ("b/z.png", "b/A.png", "b/sub/m.png", "b/a-b.png", "b/.h.png",
                     "B/x.png", "a b/x.png", "a/x.gif", ".hid/x.png"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (8, 8)).save(folder / name)
        (folder / "empty").mkdir()
        with image_folder(folder, size=8, train=False) as loader:
            keys = list(next(iter(loader)).keys)
            self.assertEqual(loader.classes, ["B", "a", "a b", "b", "empty"])
        self.assertEqual(
            [key.split(f"{folder.name}/")[-1].replace("%20", " ") for key in keys],
            ["B/x.png", "a/x.gif", "a b/x.png", "b/A.png", "b/a-b.png",
             "b/sub/m.png", "b/z.png"])
        found, = properties_of(image_folder(folder, label_smoothing=0.1),
                               "spdlbatch")
        self.assertEqual(found["num-classes"], "5")


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
