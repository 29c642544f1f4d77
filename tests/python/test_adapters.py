#!/usr/bin/python3
# gst-spdl: tests of transforms of other packages as functions of a pipeline
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""albumentations and transformers are simulated: a class of theirs is one whose
module has their name."""

import random
import threading
import unittest
import warnings

from support import find_packages, make_dataset

if not find_packages("numpy", "PIL"):
    raise unittest.SkipTest("needs NumPy and Pillow")

import numpy as np
import process_functions as functions
from PIL import Image

from gstspdl import (IMAGENET_MEAN, IMAGENET_STD, Loader, LoaderError,
                     Pipeline, image_folder)

try:
    import torch
    from torchvision import transforms

    from gstspdl.torch import Dataset, transform
except ImportError:
    transforms = None

PHOTOS = make_dataset(24)
SIDE = 40
needs_torchvision = unittest.skipUnless(transforms, "needs torchvision")


def of_module(module):
    """Makes a class one of another package."""
    def change(kind):
        kind.__module__ = module
        return kind
    return change


@of_module("albumentations.core.composition")
class Brightness:
    """As Compose, with random numbers that one thread at a time draws."""

    def __init__(self):
        self.threads = set()

    def set_random_seed(self, seed):
        self.random = random.Random(seed)
        self.threads.add(threading.get_ident())

    def __call__(self, *, image):
        assert self.threads == {threading.get_ident()}
        assert image.flags.writeable and image.shape == (SIDE, SIDE, 3)
        return {"image": image // 2 + self.random.randrange(128)}


@of_module("albumentations.augmentations.pixel.transforms")
class Normalize:
    def __call__(self, *, image):
        return {"image": (image / np.float32(255) - np.float32(IMAGENET_MEAN))
                / np.float32(IMAGENET_STD)}


@of_module("transformers.image_processing_base")
class ImageProcessingMixin:
    do_normalize = True
    more = {}

    def __call__(self, image, return_tensors):
        assert return_tensors == "np" and isinstance(image, Image.Image)
        values = Normalize()(image=np.asarray(image))["image"]
        return {"pixel_values": values.transpose(2, 0, 1)[None], **self.more}


class ViTImageProcessorPil(ImageProcessingMixin):
    pass


class ViTImageProcessorFast(ImageProcessingMixin):
    def __call__(self, image, return_tensors):
        assert return_tensors == "pt"
        found = super().__call__(image, "np")
        return {"pixel_values": torch.from_numpy(found["pixel_values"].copy())}


def load(function, side=SIDE, decode=None, epochs=1, seed=0, **arguments):
    """Returns the results by epoch and index."""
    pipeline = Pipeline().files(PHOTOS, shuffle=True, seed=seed).fetch()
    pipeline = pipeline.decode(**(decode or {"width": side, "height": side}))
    if function is not None:
        pipeline = pipeline.map(function, **arguments)
    with pipeline.loader(max_failures=0) as loader:
        return {(epoch, batch.indices[0]):
                {name: tensor.numpy() for name, tensor in batch.items()}
                for epoch in range(epochs) for batch in loader}


def photos(**arguments):
    """Returns the first batch of the recipe, and its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with image_folder(PHOTOS, size=SIDE, batch_size=4, train=False,
                          max_failures=0, **arguments) as loader:
            batch = next(iter(loader))["data"].numpy()
    assert all(warning.filename == __file__ for warning in found)
    return batch, [str(warning.message) for warning in found]


class AdaptersTest(unittest.TestCase):
    def check(self, function, expect, **arguments):
        """Compares with what `expect` returns for the decoded images."""
        plain = load(None)
        for place, found in load(function, **arguments).items():
            with self.subTest(place):
                expected = expect(plain[place]["data"])
                np.testing.assert_array_equal(found["data"], expected)
                self.assertEqual(found["data"].dtype, expected.dtype)

    def fails(self, text, function, **arguments):
        with self.assertRaises(LoaderError) as caught:
            load(function, **arguments)
        self.assertRegex(str(caught.exception), text)

    @needs_torchvision
    def test_torchvision(self):
        compose = transforms.Compose([
            transforms.Resize(32), transforms.CenterCrop(24),
            transforms.ToTensor(),
            transforms.Normalize(IMAGENET_MEAN, IMAGENET_STD)])

        def expect(array):
            return compose(Image.fromarray(array)).permute(1, 2, 0).numpy()

        self.check(compose, expect, concurrency=2)
        self.check(compose, expect, processes=2)
        self.check(transforms.Grayscale(), lambda array: np.asarray(
            Image.fromarray(array).convert("L"))[:, :, None])

    @needs_torchvision
    def test_clip(self):
        """A clip is one tensor, so that all frames are changed alike."""
        clips = [np.random.default_rng(i).integers(
            0, 255, (5, 8, 9, 3), "uint8") for i in range(4)]
        loader = Loader("spdlpipe name=flip output-order=input ! spdlsink",
                        source=clips)
        with loader.map("flip", transforms.RandomHorizontalFlip(1.0)):
            found = [batch["data"].numpy() for batch in loader]
        for clip, flipped in zip(clips, found):
            np.testing.assert_array_equal(flipped, clip[:, :, ::-1])

    def test_albumentations(self):
        first = load(Brightness(), concurrency=4, epochs=2)
        again = load(Brightness(), concurrency=1, epochs=2)
        for place, found in first.items():
            np.testing.assert_array_equal(found["data"], again[place]["data"])
        plain = load(None)
        offsets = {(place[0], found["data"].min() - (
            plain[0, place[1]]["data"] // 2).min())
            for place, found in first.items()}
        self.assertGreater(len(offsets), 30)    # of 48

    def test_image_processors(self):
        def expect(array):
            return Normalize()(image=array)["image"]

        self.check(ViTImageProcessorPil(), expect)
        if transforms:
            self.check(ViTImageProcessorFast(), expect)
        several = ViTImageProcessorPil()
        several.more = {"pixel_mask": np.ones((1, SIDE, SIDE))}
        self.fails("pixel_values, pixel_mask, .*your own function", several)

    @needs_torchvision
    def test_wrapper(self):
        def invert(array):
            return 255 - array

        for kind in "chw", "hwc":
            self.check(transform(invert, kind), invert)
        self.check(transform(lambda image: image.point(invert), "pil"), invert)
        self.check(transform(lambda image: {"image": invert(image)}, "keyword"),
                   invert)
        self.check(transform(lambda image: torch.from_numpy(
            invert(np.asarray(image))).permute(2, 0, 1), "pil"), invert)
        # It says what a transform of torchvision gets, too.
        self.check(transform(transforms.ConvertImageDtype(torch.float32), "chw"),
                   lambda array: array / np.float32(255))
        views = load(transform(lambda tensor: {
            "data": tensor, "small": tensor[:, ::2], "number": 3}, "chw"))
        self.assertEqual(views[0, 0]["small"].shape, (SIDE // 2, SIDE, 3))
        self.assertEqual(views[0, 0]["number"], 3)
        self.assertEqual(load(transform(lambda image: None, "pil")), {})
        self.assertIn("name=invert", str(Pipeline().map(transform(invert, "hwc"))))
        with self.assertRaisesRegex(ValueError, "'pil', 'chw', 'hwc', 'keyword'"):
            transform(invert, "tensor")
        with self.assertRaisesRegex(TypeError, "not callable"):
            transform(3, "pil")

    @needs_torchvision
    def test_refused(self):
        """The error of a function that takes no Sample names the wrapper."""
        for wrong in (torch.nn.Sequential(transforms.RandomGrayscale()),
                      transforms.functional.hflip, transforms.RandomGrayscale,
                      Image.fromarray, of_module("transformers.models")(
                          type("Tokenizer", (), {"__call__": repr}))()):
            with self.subTest(wrong), self.assertRaisesRegex(
                    TypeError, r"gstspdl\.torch\.transform\(f, input="):
                image_folder(PHOTOS, transform=wrong)

    @needs_torchvision
    def test_unclear_results(self):
        for function, kind, text in (
                (lambda image: [image, image], "pil", "list of 2 .* a dict"),
                (lambda image: image.convert("P"), "pil", "mode 'P'"),
                (lambda array: torch.from_numpy(array), "hwc",
                 r"\(40, 40, 3\).*permute\(2, 0, 1\)"),
                (lambda tensor: tensor.numpy(), "chw", "return a tensor"),
                (lambda image: image, "keyword", "a dict with \"image\"")):
            self.fails(text, transform(function, kind))
        self.fails("returned a tuple of 5", transforms.FiveCrop(8))

    @needs_torchvision
    def test_unclear_items(self):
        gray = transforms.Grayscale()
        pipeline = Pipeline().files(PHOTOS).fetch()
        image = pipeline.decode(width=8, height=8)
        for wrong, text in (
                (image.batch(4).map(gray), "one item at a time"),
                (image.aggregate(4).map(gray), "one item at a time"),
                (image.map(lambda sample: {"a": sample["data"], "b": 1})
                 .map(gray), "several tensors"),
                (image.map(lambda sample: sample["data"].numpy() / 255.0)
                 .map(gray), "float64 .*input=\"chw\""),
                (image.map(lambda sample: sample["data"].numpy()[:, :, 0])
                 .map(gray), "needs a decoded image")):
            with self.subTest(text), self.assertRaisesRegex(LoaderError, text):
                list(wrong.loader(max_failures=0))

    def test_normalized_once(self):
        plain, _ = photos()
        for function in Normalize(), ViTImageProcessorPil():
            found, _ = photos(transform=function)
            np.testing.assert_allclose(found, plain, atol=1e-6)
        with self.assertRaisesRegex(ValueError, "normalizes, and so does mean="):
            photos(transform=Normalize(), mean=(0.5, 0.5, 0.5))
        with self.assertRaisesRegex(ValueError, "leave out one of them"):
            Pipeline().files(PHOTOS).map(Normalize()).batch(
                2, mean=(0.5, 0.5, 0.5)).loader()

    @needs_torchvision
    def test_normalized_by_torchvision(self):
        plain, _ = photos()
        to_tensor = transforms.ToTensor()
        found, told = photos(transform=transforms.Compose([
            transforms.RandomApply([to_tensor], 1.0),
            transforms.Normalize(IMAGENET_MEAN, IMAGENET_STD)]))
        self.assertEqual(told, [])
        np.testing.assert_allclose(found, plain, atol=1e-6)
        np.testing.assert_allclose(photos(transform=to_tensor)[0], plain,
                                   atol=1e-6)
        _, told = photos(transform=transforms.Compose(
            [transforms.CenterCrop(SIDE)]))
        self.assertIn("has CenterCrop", told[0])

    @needs_torchvision
    def test_dataset(self):
        dataset = Dataset(image_folder(
            PHOTOS, size=SIDE, transform=transforms.ColorJitter(0.4)), device="cpu")
        self.assertEqual(next(iter(dataset))["data"].shape[1:], (3, SIDE, SIDE))
        dataset.stop()


class SeedsTest(unittest.TestCase):
    """Functions in worker processes draw the same numbers in each run."""

    def draw(self, function=functions.random_numbers, processes=2, **arguments):
        return {place: found["data"].tobytes() for place, found in load(
            function, processes=processes, **arguments).items()}

    def test_numbers_of_items(self):
        first = self.draw(epochs=2, output_order="input")
        self.assertEqual(first, self.draw(epochs=2, processes=3))
        self.assertEqual(len(set(first.values())), 48)
        self.assertFalse(set(first.values()) & set(
            self.draw(epochs=2, seed=1).values()))
        # Another function draws other numbers.
        self.assertFalse(set(first.values()) & set(
            self.draw(epochs=2, name="another").values()))

    @needs_torchvision
    def test_torchvision(self):
        jitter = transforms.Compose([
            transforms.RandomResizedCrop(24), transforms.ColorJitter(0.4, 0.4)])
        first = self.draw(jitter)
        self.assertEqual(first, self.draw(jitter, 3))
        self.assertEqual(len(set(first.values())), 24)

    def test_groups_and_batches(self):
        for line in ("spdlaggregate size=3 ! {} ! spdldisaggregate",
                     "spdlbatch batch-size=3 ! {}"):
            runs = []
            for processes in 1, 2:
                loader = Loader(
                    line.format("spdlpipe name=draw output-order=input") +
                    " ! spdlsink", source=[np.full(2, i) for i in range(9)])
                with loader.map("draw", functions.random_numbers,
                                processes=processes):
                    runs.append([batch["data"].numpy().tobytes()
                                 for batch in loader])
            self.assertEqual(*runs)
            self.assertEqual(len(set(runs[0])), 3)

    def test_numbers_of_the_program(self):
        """Threads do not seed the generators, which the program uses too."""
        random.seed(1)
        before = random.getstate()
        load(Brightness(), concurrency=2)
        self.assertEqual(random.getstate(), before)


if __name__ == "__main__":
    unittest.main()
