#!/usr/bin/python3
# gst-spdl: tests of augmentations in loaders
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import inspect
import unittest

import numpy as np
from support import make_dataset
from gstspdl import Loader, Pipeline, image_folder, ops
from gstspdl._pipeline.opvalues import write_op

FOLDER = make_dataset(30)
N_IMAGES = 30
OPS = ("color-jitter(brightness=0.4,hue=0.1); rand-augment; "
       "gaussian-blur(p=0.5); erase(value=random)")


def make_pipeline(ops=OPS, **settings):
    return (Pipeline().files(FOLDER, shuffle=True, epochs=2)
            .fetch().decode(width=48, height=40)
            .augment(ops, seed=5, **settings).batch(4))


def collect(loader, images=None):
    """Returns the images and what was drawn, by epoch and index."""
    images = {} if images is None else images
    for batch in loader:
        pixels = np.asarray(batch["data"])
        for i, index in enumerate(batch.indices):
            images[batch.epoch, int(index)] = (pixels[i].tobytes(),
                                               batch.extras[i]["augment"])
    return images


def load(pipeline):
    """Returns the images of two epochs."""
    with pipeline.loader() as loader:
        return collect(loader, collect(loader))


class AugmentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = load(make_pipeline())

    def test_workers(self):
        self.assertEqual(len(self.images), 2 * N_IMAGES)
        self.assertEqual(load(make_pipeline(concurrency=4)), self.images)

    def test_worker_process(self):
        self.assertEqual(load(Pipeline().worker(make_pipeline())), self.images)

    def test_resumed(self):
        """An epoch that is resumed in the middle gives the same images."""
        images = {}
        with make_pipeline().loader() as loader:
            for i, batch in enumerate(loader):
                collect([batch], images)
                if i == 3:
                    break
            state = loader.state_dict()
        with make_pipeline().loader() as loader:
            loader.load_state_dict(state)
            collect(loader, images)
            collect(loader, images)
        self.assertEqual(images, self.images)

    def test_epochs_differ(self):
        same = sum(self.images[0, i] == self.images[1, i] for i in range(N_IMAGES))
        self.assertEqual(same, 0)

    def test_recorded_values_repeat_an_image(self):
        (epoch, index), (pixels, steps) = next(iter(self.images.items()))
        again = load(make_pipeline(steps))
        self.assertEqual(again[epoch, index], (pixels, steps))

    def test_wrong_list(self):
        with self.assertRaisesRegex(Exception, "character 9.*brightness, contrast"):
            with make_pipeline("invert; bright").loader() as loader:
                next(iter(loader))

    def test_datasets(self):
        for train in (True, False):
            with image_folder(FOLDER, size=32, batch_size=30, train=train,
                              augment="invert(p=1)") as loader:
                extras = next(iter(loader)).extras
            self.assertEqual([extra and extra.get("augment") for extra in extras],
                             ["invert(p=1)" if train else None] * N_IMAGES)

    def test_line(self):
        line = str(make_pipeline("invert; hue(factor=0.1)"))
        self.assertIn("spdlaugment", line)
        with Loader(line + " ! spdlsink") as loader:
            self.assertEqual(len(collect(loader)), N_IMAGES)


def draw_steps(text):
    """Returns what is drawn for the items of an epoch, by index."""
    with make_pipeline(text).loader() as loader:
        return {index: steps for (_, index), (_, steps) in collect(loader).items()}


class OpsTest(unittest.TestCase):
    """Functions of gstspdl.ops."""

    # Calls, and the texts that they return.
    CALLS = [
        (ops.color_jitter(brightness=0.4, hue=(-0.1, 0.2), p=0.8),
         "color-jitter(brightness=0.4,hue=-0.1..0.2,p=0.8)"),
        (ops.brightness(2), "brightness(factor=2)"),
        (ops.posterize((3, np.int64(5)), p=1), "posterize(bits=3..5,p=1)"),
        (ops.invert(p=0.5), "invert"),
        (ops.gaussian_blur(kernel_size=5, sigma=(0.1, 2.0)),
         "gaussian-blur(kernel-size=5)"),
        (ops.affine(translate=1e-5, center="corner", fill=(1, 2, 3)),
         "affine(translate=0.00001,center=corner,fill=1/2/3)"),
        (ops.perspective(corners=[(0, 0), (9, 1), (9, 9), (0, 8)],
                         interpolation="nearest"),
         "perspective(corners=0/0/9/1/9/9/0/8,interpolation=nearest)"),
        (ops.random_crop((32, 24), padding=4, mode="edge"),
         "random-crop(size=32x24,padding=4,mode=edge)"),
        (ops.center_crop(20), "center-crop(size=20)"),
        (ops.erase(value="random"), "erase(value=random)"),
        (ops.auto_augment("svhn"), "auto-augment(policy=svhn)"),
        (ops.augmix(all_ops=False), "augmix(all-ops=false)"),
        (ops.timm_rand_augment(m=9, mstd=0.5, inc=1, fill=7),
         "rand-m9-mstd0.5-inc1(fill=7)"),
        (ops.timm_rand_augment(), "rand-m10"),
        (ops.mix(ops.sequence(ops.invert(), weight=0.5), ops.sequence(), weight=2),
         "mix(sequence(invert,weight=0.5),sequence,weight=2)"),
        (ops.choice(ops.hue(0), "equalize", p=0), "choice(hue(factor=0),equalize,p=0)"),
    ]

    def test_texts(self):
        for text, expected in self.CALLS:
            self.assertEqual(text, expected)
            self.assertEqual(len(draw_steps(text)), N_IMAGES, text)

    def test_list(self):
        parts = [ops.invert(p=1), "hue(factor=0.1)", ops.grayscale(p=1)]
        self.assertEqual(str(make_pipeline(parts)),
                         str(make_pipeline("invert(p=1); hue(factor=0.1); "
                                           "grayscale(p=1)")))
        for wrong in (3, [3]):
            with self.assertRaisesRegex(TypeError, "ops must be a str or a sequence"):
                make_pipeline(wrong)

    def test_defaults(self):
        """A function's defaults are those of the element."""
        values = {"factor": 0.3, "bits": 3, "threshold": 99, "add": 9,
                  "degrees": 30, "padding": 2, "size": 20, "x": 1, "y": 2,
                  "width": 20, "height": 10}
        for name in ops.__all__:
            if name in ("choice", "mix", "timm_rand_augment"):
                continue
            function = getattr(ops, name)
            parameters = inspect.signature(function).parameters.values()
            needed = {part.name: values[part.name] for part in parameters
                      if part.default is part.empty and part.name != "operations"}
            text = function(**needed)
            # The same text with all defaults written out.
            spec = ops._OPS[name.replace("_", "-")]
            full = {key: (*row[:-1], None) for key, row in spec.items()}
            given = {part.name: part.default for part in parameters
                     if part.default is not part.empty}
            written = write_op(name.replace("_", "-"), full, {**given, **needed})
            self.assertEqual(draw_steps(text), draw_steps(written), written)

    def test_wrong_values(self):
        """The element refuses the same text for the same reason."""
        for call, text in (
                (lambda: ops.hue(0.7), "hue(factor=0.7)"),
                (lambda: ops.hue((0.2, 0.1)), "hue(factor=0.2..0.1)"),
                (lambda: ops.hue((0.1, 0.2, 0.3)), "hue(factor=x)"),
                (lambda: ops.hue("0.1"), "hue(factor=x)"),
                (lambda: ops.hue(float("nan")), "hue(factor=nan)"),
                (lambda: ops.invert(p=1.5), "invert(p=1.5)"),
                (lambda: ops.invert(p=(0, 1)), "invert(p=0..1)"),
                (lambda: ops.invert(p=True), "invert(p=x)"),
                (lambda: ops.posterize(2.5), "posterize(bits=2.5)"),
                (lambda: ops.rand_augment(n=17), "rand-augment(n=17)"),
                (lambda: ops.gaussian_blur(kernel_size=4),
                 "gaussian-blur(kernel-size=4)"),
                (lambda: ops.color_jitter(brightness=-0.5),
                 "color-jitter(brightness=-0.5)"),
                (lambda: ops.affine(degrees=400), "affine(degrees=400)"),
                (lambda: ops.rotate(9, interpolation="cubic"),
                 "rotate(degrees=9,interpolation=cubic)"),
                (lambda: ops.rotate(9, fill=(1, 2)), "rotate(degrees=9,fill=1/2)"),
                (lambda: ops.rotate(9, fill=256), "rotate(degrees=9,fill=256)"),
                (lambda: ops.erase(value="noise"), "erase(value=noise)"),
                (lambda: ops.random_crop((3, 0)), "random-crop(size=3x0)"),
                (lambda: ops.random_crop("3x3"), "random-crop(size=a)"),
                (lambda: ops.perspective(corners=[(1, 2)]),
                 "perspective(corners=1/2)"),
                (lambda: ops.timm_rand_augment(inc=2), "rand-m9-inc2")):
            with self.assertRaises((TypeError, ValueError)) as refused:
                call()
            with self.assertRaises(Exception) as failed:
                draw_steps(text)
            # The quoted value may be written differently.
            reason = str(refused.exception).partition("(): ")[2]
            name, must = reason.split(" is ", 1)[0], reason.rpartition(", but ")[2]
            self.assertRegex(str(failed.exception), f"{name} is .*{must}")

    def test_wrong_operations(self):
        with self.assertRaisesRegex(TypeError, "operations must be str"):
            ops.choice(ops.invert)
        with self.assertRaises(TypeError):
            ops.invert(q=1)
        with self.assertRaises(TypeError):
            ops.crop(x=1, y=2)


if __name__ == "__main__":
    unittest.main()
