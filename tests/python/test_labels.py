#!/usr/bin/python3
# gst-spdl: tests of class names and labels
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import unittest

import numpy as np
from errors import raises, raises_with
from support import make_dataset, make_folder
from gstspdl import Loader, LoaderError

FOLDER = make_dataset(24)
NAMES = sorted(path.name for path in FOLDER.iterdir()
               if path.is_dir() and not path.name.startswith("."))
PATHS = sorted(FOLDER.glob("*/*.jpg"))
CLASSES = [path.parent.name for path in PATHS]
LISTS = make_folder()
LIST = LISTS / "list.txt"
LIST.write_text("".join(f"{path}\t{path.parent.name}\n" for path in PATHS))
CSV = LISTS / "list.csv"
CSV.write_text("label,uri\n" + "".join(
    f'"{path.parent.name}",{path}\n' for path in reversed(PATHS)))
NUMBERS = LISTS / "numbers.txt"
NUMBERS.write_text("".join(f"{path}\t{i}\n" for i, path in enumerate(PATHS)))
ARRAYS = "spdlbatch batch-size=4 ! spdlsink"


def over(location, settings=""):
    """Makes a pipeline of URIs only."""
    return f'spdlsrc location="{location}" {settings} ! spdlsink'


def labels_of(loader):
    return [label for batch in loader for label in batch.labels]


def names_of(loader):
    """Returns the item's folder and the name of its label."""
    return [(key.split("/")[-2], loader.classes[label]) for batch in loader
            for key, label in zip(batch.keys, batch.labels)]


class ClassesTest(unittest.TestCase):
    def check(self, pipeline, **more):
        with Loader(pipeline, **more) as loader:
            found = names_of(loader)
            self.assertEqual(len(found), len(PATHS))
            for folder, name in found:
                self.assertEqual(folder, name)
            return loader.classes

    def test_folder(self):
        with Loader(over(FOLDER, "label=folder")) as loader:
            self.assertEqual(loader.classes, NAMES)
            self.assertEqual(loader.class_to_idx,
                             {name: i for i, name in enumerate(NAMES)})
            self.assertEqual(labels_of(loader),
                             [NAMES.index(name) for name in CLASSES])

    def test_lists(self):
        for path in LIST, CSV:
            for settings in "", "index-cache=always", "index-cache=always", "index-cache=none":
                with self.subTest(path=path, settings=settings):
                    self.assertEqual(self.check(over(path, settings)), NAMES)

    def test_class_names_before_and_after_batches(self):
        loader = Loader(over(LIST))
        self.assertEqual(loader.classes, NAMES)
        self.assertTrue(loader.is_running())
        self.assertEqual(len(labels_of(loader)), len(PATHS))
        loader.stop()
        self.assertEqual(loader.classes, NAMES)

    def test_no_classes(self):
        for settings in "label=none", "":
            with Loader(over(NUMBERS, settings)) as loader:
                self.assertIsNone(loader.classes)
                self.assertIsNone(loader.class_to_idx)
        with Loader(ARRAYS, source=[(np.zeros(2), 7)]) as loader:
            self.assertIsNone(loader.classes)
            self.assertEqual(labels_of(loader), [7])

    def test_given_classes(self):
        names = ["none of them"] + NAMES[::-1]
        for path, settings in (FOLDER, "label=folder"), (LIST, ""):
            loader = Loader(over(path, settings), classes=names)
            self.assertEqual(loader.classes, names)
            self.assertFalse(loader.is_running())
            self.assertEqual(self.check(over(path, settings), classes=names),
                             names)
        # The property has the same value.
        array = ",".join(f'\\"{name}\\"' for name in names)
        self.assertEqual(
            self.check(over(LIST, f'classes="<{array}>"')), names)

    def test_same_numbers_on_all_ranks(self):
        found = {}
        for rank in range(3):
            with Loader(over(LIST, f"shuffle=true seed=3 rank={rank} "
                                   "world-size=3")) as loader:
                self.assertEqual(loader.classes, NAMES)
                for folder, name in names_of(loader):
                    found.setdefault(folder, set()).add(name)
        self.assertEqual(found, {name: {name} for name in NAMES})

    def test_sources_with_different_classes(self):
        line = (f'spdlmix name=m ! spdlsink spdlsrc name=a location="{LIST}" '
                "! m. spdlsrc name=b label=folder "
                f'location="{FOLDER.parent}" pattern=*.jpg ! m.')
        with Loader(line) as loader:
            with self.assertRaisesRegex(LoaderError,
                                        '"(a" and "b|b" and "a)"') as caught:
                loader.classes
            self.assertEqual(caught.exception.code, "pipeline")
        line = line.replace(f'location="{FOLDER.parent}"',
                            f'location="{FOLDER}"')
        with Loader(line) as loader:
            self.assertEqual(loader.classes, NAMES)

    def test_another_process(self):
        for path, settings in (FOLDER, "label=folder"), (LIST, ""):
            self.assertEqual(
                self.check(over(path, settings), process=True), NAMES)
        names = NAMES[::-1]
        self.assertEqual(
            self.check(over(LIST), classes=names, process=True), names)
        with Loader(over(NUMBERS), process=True) as loader:
            self.assertIsNone(loader.classes)

    def test_invalid_names(self):
        for classes, error in ("cat", TypeError), ([1], TypeError), (
                [], ValueError), (["a", ""], ValueError), (
                ["a", "b", "a"], ValueError), (["a "], ValueError):
            with self.subTest(classes), self.assertRaises(error):
                Loader(over(LIST), classes=classes)
        with Loader(over(LIST)) as loader:
            with raises_with("started"):
                loader.set_classes(NAMES)


class StatesTest(unittest.TestCase):
    def state(self, **more):
        with Loader(over(LIST), **more) as loader:
            next(iter(loader))
            return loader.state

    def test_other_classes_are_refused(self):
        found = self.state()
        given = self.state(classes=NAMES[::-1])
        with Loader(over(LIST), state=found) as loader:
            self.assertEqual(len(labels_of(loader)), len(PATHS) - 1)
        # Only the names count, not their origin.
        with Loader(over(LIST), state=found, classes=NAMES) as loader:
            self.assertEqual(len(labels_of(loader)), len(PATHS) - 1)
        for state, classes in (found, NAMES[::-1]), (given, None), (
                given, NAMES[::-1] + ["more"]):
            for process in False, True:
                with raises("resource-error settings", "classes"):
                    with Loader(over(LIST), state=state, classes=classes,
                                process=process) as loader:
                        next(iter(loader))


class FlawsTest(unittest.TestCase):
    def fail(self, line, part, **more):
        with self.assertRaisesRegex(LoaderError, part) as caught:
            with Loader(line, **more) as loader:
                list(loader)
        return caught.exception

    def test_unknown_label(self):
        names = NAMES[1:]
        part = f'"{NAMES[0]}".*{len(names)}'
        self.fail(over(LIST), part, classes=names)
        self.fail(over(LIST), part, classes=names, process=True)
        part = f'"{NAMES[0]}".*/{PATHS[0].name}"'
        self.fail(over(FOLDER, "label=folder"), part, classes=names)
        self.fail(over(NUMBERS), '"3".* 3 ',
                  classes=NAMES[:3])

    def test_mixed_kinds(self):
        path = LISTS / "mixed.csv"
        path.write_text("uri,label\na.jpg,cat\nb.jpg,7\n")
        self.fail(over(path), ' 3.*"7".*"b.jpg"')


class SourceTest(unittest.TestCase):
    @staticmethod
    def source(labels, keys=None):
        return [(np.full(2, i), label) + ((keys[i],) if keys else ())
                for i, label in enumerate(labels)]

    def load(self, labels, classes=None):
        with Loader(ARRAYS, source=self.source(labels),
                    classes=classes) as loader:
            self.assertEqual(loader.classes, classes)
            return labels_of(loader)

    def test_numbers(self):
        self.assertEqual(self.load([3, "4", np.int64(5), -1, " 6 "]),
                         [3, 4, 5, -1, 6])
        self.assertEqual(self.load(["dog", " cat", "", 1, "0", -1, "-1"],
                                   ["cat", "dog"]),
                         [1, 0, -1, 1, 0, -1, -1])
        # Names take precedence: if one is an integer, no label is an index.
        self.assertEqual(self.load(["7", 1, "-1", 7], ["7", "cat", "1"]),
                         [0, 2, -1, 0])

    def fail(self, labels, classes, *parts, keys=None, kind=ValueError):
        with self.assertRaises(LoaderError) as caught:
            with Loader(ARRAYS, source=self.source(labels, keys),
                        classes=classes) as loader:
                list(loader)
        error = caught.exception
        self.assertEqual(error.code, "source")
        self.assertIsInstance(error.__cause__, kind)
        for part in parts:
            self.assertIn(part, str(error))

    def test_unknown_label(self):
        self.fail(["aqua"], None, "'aqua'", "item 0", "classes=[...]")
        self.fail(["cat", "aqua"], ["cat"], "'aqua'", "item 1",
                  " 1 ")
        self.fail(["cat", 1], ["cat"], "label 1", "item 1")
        self.fail([-2], ["cat"], "label -2")
        self.fail(["Cat"], ["cat"], "'Cat'", "the item 'name'", keys=["name"])
        self.fail([0], ["7"], "'0'")
        for label in 2**63, str(2**64 + 5), np.uint64(2**64 - 3):
            self.fail([1, label], None, str(label), "item 1", "64 bits")

    def test_no_integer(self):
        """No label is truncated."""
        for label in 0.7, 1.0, np.float32(0.7), np.array([0.7]), None, b"1":
            for classes in None, ["cat", "dog"]:
                self.fail([1, label], classes, "item 1", kind=TypeError)
        self.assertEqual(self.load([np.array([1]), np.bool_(True)]), [1, 1])

    def test_paths(self):
        line = "spdlfetch ! spdlbatch pad-to-longest=true ! spdlsink"
        source = [(path, path.parent.name) for path in PATHS]
        with self.assertRaisesRegex(LoaderError, str(PATHS[0])):
            with Loader(line, source=source) as loader:
                list(loader)
        with Loader("spdlfetch output-order=input ! spdldecode width=8 "
                    "height=8 output-order=input ! spdlbatch ! spdlsink",
                    source=source, classes=NAMES) as loader:
            self.assertEqual(labels_of(loader),
                             [NAMES.index(name) for name in CLASSES])
            self.assertEqual(len(labels_of(loader)), len(PATHS))


if __name__ == "__main__":
    unittest.main()
