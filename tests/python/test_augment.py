#!/usr/bin/python3
# gst-spdl: tests of augmentations in loaders
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import unittest

import numpy as np
from support import make_dataset
from gstspdl import Loader, Pipeline, image_folder

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


if __name__ == "__main__":
    unittest.main()
