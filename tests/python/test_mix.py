#!/usr/bin/python3
# gst-spdl: tests of mixed and routed streams in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import collections
import itertools
import unittest

from support import make_dataset
from gstspdl import Loader, LoaderError

FOLDER = make_dataset(40)
PATHS = sorted(str(path) for path in FOLDER.glob("*/*.jpg"))
DECODE = ("spdlfetch output-order=input ! "
          "spdldecode output-order=input width=16 height=16")


def write_list(name, first, last):
    """Writes a list of some of the images, labeled by their positions."""
    path = FOLDER / name
    path.write_text("".join(f"{PATHS[i]}\t{i}\n" for i in range(first, last)),
                    encoding="utf-8")
    return path


LONG, SHORT = write_list("long.txt", 0, 30), write_list("short.txt", 30, 40)
MIX = (f"spdlmix name=m seed=4 sink_0::weight=0.75 sink_1::weight=0.25 "
       f"! spdlbatch batch-size=4 labels=true ! spdlsink "
       f"spdlsrc location={LONG} epochs=2 shuffle=true ! {DECODE} ! m.sink_0 "
       f"spdlsrc location={SHORT} epochs=2 shuffle=true ! {DECODE} ! m.sink_1")
ROUTE = (f"spdlsrc location={LONG} epochs=2 ! "
         f"spdlroute name=r src_0::condition=label=7 src_1::condition=uri=*0.jpg "
         f"spdlmix name=m order=arrival "
         f"! spdlbatch batch-size=4 labels=true ! spdlsink "
         f"r.src_0 ! {DECODE} ! m. "
         f"r.src_1 ! {DECODE} format=GRAY8 ! videoconvert "
         f"! video/x-raw,format=RGB ! m. "
         f"r.src_2 ! {DECODE} ! m.")


def labels_of(batches):
    return [int(label) for batch in batches for label in batch.labels]


def read_epochs(loader, n_epochs=2):
    return [labels_of(loader) for _ in range(n_epochs)]


class MixTest(unittest.TestCase):
    def test_proportions(self):
        with Loader(MIX) as loader:
            epochs = read_epochs(loader)
        for labels in epochs:
            self.assertEqual(sorted(labels), list(range(40)))
            for n in range(1, 40):
                share = sum(label >= 30 for label in labels[:n])
                self.assertLess(abs(share - 0.25 * n), 1)
        self.assertNotEqual(epochs[0], epochs[1])
        with Loader(MIX) as loader:
            self.assertEqual(read_epochs(loader), epochs)

    def test_resume(self):
        with Loader(MIX) as loader:
            wanted = sum(read_epochs(loader), [])
        for n_batches in 1, 5, 13:
            found, state = [], None
            with self.subTest(n_batches), Loader(MIX) as loader:
                while len(found) < 4 * n_batches:
                    for batch in loader:
                        found += labels_of([batch])
                        state = batch.state
                        if len(found) >= 4 * n_batches:
                            break
            with Loader(MIX, state=state) as loader:
                while len(found) < len(wanted):
                    found += labels_of(loader)
            self.assertEqual(found, wanted)


class LeaveTest(unittest.TestCase):
    def test_all_exhausted(self):
        with Loader(MIX) as loader:
            epochs = read_epochs(loader)
        for process in False, True:
            with self.subTest(process=process), Loader(
                    MIX, process=process) as loader:
                self.assertEqual(labels_of([next(iter(loader))]),
                                 epochs[0][:4])
                self.assertEqual(labels_of(loader), epochs[1])
                self.assertEqual(labels_of(loader), [])

    def test_first_exhausted_and_repeat(self):
        """Tests that proportions start anew, whatever the sources have
        delivered."""
        line = MIX.replace("epochs=2", "epochs=-1").replace(
            "0.75 sink_1::weight=0.25", "0.5 sink_1::weight=0.5")
        for stop, n_short in ("first-exhausted", 10), ("all-exhausted", 30):
            with self.subTest(stop), Loader(line.replace(
                    "seed=4", f"seed=4 stopping-strategy={stop}")) as loader:
                wanted = [labels_of(loader) for _ in range(2)]
                begin = loader.state
                loader.stop()
                loader.start()
                for n in 1, 3:
                    batches = list(itertools.islice(loader, n))
                    self.assertEqual(len(batches), n)
                    if n == 1:
                        self.assertEqual(labels_of(batches), wanted[0][:4])
                iterator = iter(loader)
                self.assertEqual(loader.epoch, 2)
                first = next(iterator)
                labels = labels_of([first, *iterator])
                for i in range(1, len(labels) + 1):
                    share = sum(label >= 30 for label in labels[:i])
                    self.assertLess(abs(share - 0.5 * i), 1)
                self.assertLess(abs(len(labels) - 2 * n_short), 4)
                self.assertEqual(loader.epoch, 3)
                self.assertNotEqual(begin, first.state)
            with Loader(line.replace("seed=4", f"seed=4 stopping-strategy={stop}"),
                        state=first.state) as loader:
                self.assertEqual(labels_of(loader), labels[4:])

    def test_arrival(self):
        line = MIX.replace("seed=4 sink_0::weight=0.75 sink_1::weight=0.25",
                           "order=arrival").replace("epochs=2", "epochs=4")
        with Loader(line) as loader:
            for _ in range(3):
                next(iter(loader))
            self.assertEqual(sorted(labels_of(loader)), list(range(40)))
            self.assertEqual(labels_of(loader), [])


class RouteTest(unittest.TestCase):
    def test_break(self):
        with Loader(ROUTE) as loader:
            next(iter(loader))
            self.assertEqual(sorted(labels_of(loader)), list(range(30)))
            self.assertEqual(labels_of(loader), [])

    def test_each_item_arrives_once(self):
        with Loader(ROUTE) as loader:
            for labels in read_epochs(loader):
                self.assertEqual(collections.Counter(labels),
                                 collections.Counter(range(30)))

    def test_failing_path(self):
        broken = FOLDER / "broken.txt"
        (FOLDER / "broken.jpg").write_bytes(b"no image")
        broken.write_text(f"{PATHS[0]}\t0\n{FOLDER}/broken.jpg\t1\n"
                          f"{PATHS[2]}\t2\n", encoding="utf-8")
        pipeline = ROUTE.replace(str(LONG), str(broken)).replace(
            "label=7", "label=1").replace("epochs=2", "epochs=1")
        with Loader(pipeline) as loader:
            self.assertEqual(sorted(labels_of(loader)), [0, 2])
        with Loader(pipeline, max_failures=0) as loader:
            with self.assertRaisesRegex(LoaderError, "broken.jpg"):
                for _ in range(2):
                    labels_of(loader)


if __name__ == "__main__":
    unittest.main(verbosity=2)
