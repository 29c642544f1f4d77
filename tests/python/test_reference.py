#!/usr/bin/python3
# gst-spdl: the Python API and the pages and docstrings that describe it
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the signatures, arguments and members in docs/reference/python*.md
with the package. The first argument is tools/make-dataset."""

import ast
import importlib.util
import inspect
import re
import unittest

from support import ROOT

import gstspdl
from gstspdl._loader.loader import Failure

PAGES = sorted((ROOT / "docs" / "reference").glob("python*.md"))
RECIPES = [gstspdl.image_folder, gstspdl.image_list, gstspdl.web_dataset,
           gstspdl.video_folder, gstspdl.audio_folder, gstspdl.coco_detection,
           gstspdl.yolo_detection, gstspdl.voc_detection,
           gstspdl.segmentation_pairs]
PUBLIC = {name: getattr(gstspdl, name) for name in gstspdl.__all__}
PUBLIC["Failure"] = Failure
if importlib.util.find_spec("torch"):
    import gstspdl.torch

    PUBLIC.update(DataLoader=gstspdl.torch.DataLoader,
                  Dataset=gstspdl.torch.Dataset,
                  in_step=gstspdl.torch.in_step,
                  list_targets=gstspdl.torch.list_targets,
                  transform=gstspdl.torch.transform)
if importlib.util.find_spec("numpy"):
    import gstspdl.ray

    PUBLIC.update(RemoteLoader=gstspdl.ray.RemoteLoader)


def read_pages():
    return "".join(page.read_text() for page in PAGES)


def documented_objects():
    """Yields the name and the object of all public classes and functions and
    of their public members."""
    for name, thing in PUBLIC.items():
        if not callable(thing):
            continue
        yield name, thing
        parts = [kind for kind in inspect.getmro(thing)
                 if kind.__module__.startswith("gstspdl")] \
            if inspect.isclass(thing) else []
        for part in parts:
            for member, value in vars(part).items():
                if not member.startswith("_") and (
                        inspect.isfunction(value) or
                        isinstance(value, (property, classmethod))):
                    yield f"{name}.{member}", getattr(part, member)


class SignaturesTest(unittest.TestCase):
    def test_signatures(self):
        """The blocks of a page that begin with ```python."""
        texts = re.findall(r"```python\n(.*?)\n```", read_pages(), re.DOTALL)
        self.assertGreaterEqual(len(texts), 6)
        for text in texts:
            name = text.split("(")[0]
            if name not in PUBLIC:
                self.skipTest(f"no torch or NumPy for {name}")
            with self.subTest(name):
                namespace = {}
                exec(f"def {text}: pass", namespace)
                shown = inspect.signature(namespace[name])
                real = inspect.signature(PUBLIC[name])
                self.assertEqual(
                    [(p.name, p.kind, p.default)
                     for p in shown.parameters.values()],
                    [(p.name, p.kind, p.default)
                     for p in real.parameters.values()])

    def test_arguments_of_datasets(self):
        section = read_pages().split("\n## Datasets\n")[1].split("\n## ")[0]
        first = "".join(row.split("|")[1] for row in section.splitlines()
                        if row.startswith("| `"))
        for recipe in RECIPES:
            for name in inspect.signature(recipe).parameters:
                with self.subTest(f"{recipe.__name__}({name})"):
                    self.assertRegex(first, rf"`{name}`|\({name}\)`")


class MembersTest(unittest.TestCase):
    def test_members_are_documented(self):
        text = re.sub(r"(?ms)^```.*?^```$", "", read_pages())
        words = set(re.findall(r"\w+", " ".join(
            re.findall(r"`[^`\n]+`", text))))
        for name, _ in documented_objects():
            with self.subTest(name):
                # Not assertIn(), which would print all words.
                self.assertTrue(name.split(".")[-1] in words)

    def test_members_have_docstrings(self):
        for name, thing in documented_objects():
            with self.subTest(name):
                self.assertTrue(inspect.getdoc(thing))
                self.assertRegex(thing.__doc__ or "", r"\w")

    def test_docstring_examples_are_valid(self):
        """Indented blocks of docstrings."""
        n_blocks = 0
        for name, thing in documented_objects():
            for block in re.findall(r"(?:^    .*\n?|^\n(?=    ))+",
                                    inspect.getdoc(thing) or "", re.MULTILINE):
                if not block.strip():
                    continue
                with self.subTest(name):
                    ast.parse(inspect.cleandoc(block))
                    n_blocks += 1
        self.assertGreater(n_blocks, 15)


if __name__ == "__main__":
    unittest.main()
