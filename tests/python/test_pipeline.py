#!/usr/bin/python3
# gst-spdl: tests of pipelines built with Python methods
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import datetime
import functools
import importlib.util
import inspect
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
from errors import raises_with
from support import (ROOT, make_dataset, make_folder, needs_gi, require_gi,
                     run_python, slow_or)

from gstspdl import Loader, LoaderError, Pipeline, image_folder
from gstspdl._pipeline.elements import METHODS, PROPERTIES, Elements

PACKAGE = ROOT / "bindings" / "python"
N = 24
FOLDER = make_dataset(N)
N_RANDOM = slow_or(500, 100)

# Parts of values with special characters in a pipeline description, an array
# or a structure.
PIECES = ["a", "Zz", "0", " ", "  ", "!", " ! ", "<", ">", "<1,2>", '"', "'",
          "\\", "\\\\", "\n", "\t", ";", ",", "=", ".", "::", "(", ")", "{",
          "}", "$", "#", "%", "&", "*", "NULL", "true", "(string)", "é", "日本",
          "\N{NO-BREAK SPACE}", "\N{GRINNING FACE}", "/", "file://", "-1"]
ODD = ["", " ", "NULL", "!", '"', "'", "\\", '"a"', "'a'", '"a b"', "a\\",
       "a\n\\", "<a>", "a.b ! c", "x=y z", "\\\"", "''", '""', "it's",
       "C:\\new\\", "a,b;c", "ünï ! <cödé>", "name=a", "video/x-raw"]


def load_generator():
    spec = importlib.util.spec_from_file_location(
        "generate", PACKAGE / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_missing():
    """Returns the elements that this build lacks: spdlcudanormalize needs
    nvcc."""
    Gst, _ = require_gi()
    missing = {name for name in METHODS.values()
               if not Gst.ElementFactory.find(name)}
    assert missing <= {"spdlcudaupload", "spdlcudanormalize"}, missing
    return missing


def needs_all_elements(test):
    """Decorates a test that needs all elements."""
    @functools.wraps(test)
    def run(self):
        missing = find_missing()
        if missing:
            self.skipTest(f"needs {', '.join(missing)}")
        test(self)

    return needs_gi(run)


def parameters_of(method):
    return inspect.signature(getattr(Elements, method)).parameters


class ElementsTest(unittest.TestCase):
    """Tests that _elements.py matches the elements."""

    @needs_all_elements
    def test_generated_file_is_current(self):
        done = subprocess.run([sys.executable, PACKAGE / "generate.py",
                               "--check"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_all_elements
    def test_new_property_is_detected(self):
        generator = load_generator()
        read = generator.read_element

        def read_one_more(factory):
            properties, description = read(factory)
            properties["new-property"] = (("bool",), "Anything", "False")
            return properties, description

        present = generator.FILE.read_text("utf-8")
        self.assertEqual(generator.generate(), present)
        generator.read_element = read_one_more
        self.assertNotEqual(generator.generate(), present)

    @needs_gi
    def test_properties_are_arguments(self):
        Gst, _ = require_gi()
        from gi.repository import GObject

        n = 0
        for factory in set(METHODS.values()) - find_missing():
            methods = [m for m, made in METHODS.items() if made == factory]
            element = Gst.ElementFactory.make(factory)
            for spec in element.list_properties():
                if not spec.owner_type.name.startswith("GstSpdl") or \
                        not spec.flags & GObject.ParamFlags.WRITABLE:
                    continue
                name = spec.name.replace("-", "_")
                found = [m for m in methods if name in parameters_of(m)]
                self.assertTrue(found, f"{factory} {spec.name}")
                for method in found:
                    parameter = parameters_of(method)[name]
                    self.assertIsNot(parameter.annotation, parameter.empty)
                    text = getattr(Elements, method).__doc__
                    self.assertIn(f"`{name}`: ", text)
                    words = spec.blurb.split()[0]
                    self.assertIn(words, text)
                n += 1
        self.assertGreater(n, 120)

    @needs_gi
    def test_elements_have_methods(self):
        Gst, _ = require_gi()
        ours = {feature.get_name() for feature in
                Gst.Registry.get().get_feature_list(Gst.ElementFactory)
                if feature.get_name().startswith("spdl")}
        ours = {name for name in ours if not name.startswith("spdltest")}
        self.assertEqual(ours, set(METHODS.values()) - find_missing())
        self.assertEqual(set(METHODS.values()), set(PROPERTIES))


# Random pipelines

class Maker:
    """Makes random pipelines with all methods."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.n_names = 0

    def text(self):
        if self.random.random() < 0.2:
            return self.random.choice(ODD)
        return "".join(self.random.choices(PIECES,
                                           k=self.random.randint(1, 6)))

    def number(self, lowest, highest):
        highest = min(highest, 2**63)
        return self.random.choice([
            lowest, highest, self.random.randint(int(lowest), int(highest))])

    def value(self, kind, *limits):
        draw = self.random
        if kind == "enum":
            return draw.choice(limits[0])
        if kind == "bool":
            return draw.random() < 0.5
        if kind == "int":
            return self.number(*limits)
        if kind == "float":
            return draw.choice([limits[0], limits[1],
                                draw.uniform(*limits)])
        if kind == "seconds":
            seconds = draw.choice([0, 1, 30, datetime.timedelta(seconds=5)])
            return seconds if limits[0] == 1 else draw.choice(
                [seconds, 0.25, datetime.timedelta(milliseconds=1)])
        if kind == "path":
            text = self.text()
            return pathlib.Path(text) if draw.random() < 0.5 else text
        if kind == "numbers":
            numbers = [draw.uniform(-1, 1) for _ in range(draw.randint(0, 4))]
            return draw.choice([0.5, tuple(numbers), np.array(numbers)])
        if kind == "pair":
            return draw.random(), 1
        if kind == "names":
            return [self.text() for _ in range(draw.randint(0, 4))]
        if kind == "headers":
            return {"X-One": self.text(), "Two": [self.text(), self.text()]}
        return self.text()

    def arguments(self, method):
        factory = METHODS[method]
        arguments = {}
        for name, kind in PROPERTIES[factory].items():
            key = name.replace("-", "_")
            parameter = parameters_of(method).get(key)
            if parameter is None or (kind[0] == "line" and
                                     parameter.default is None):
                continue
            if parameter.default is parameter.empty or \
                    self.random.random() < 0.2:
                arguments[key] = self.value(*kind)
        if "name" in arguments:
            self.n_names += 1
            arguments["name"] = f"name{self.n_names}"
        return arguments

    def add(self, pipeline, method):
        if method == "map":
            return pipeline.map(self.random.choice([len, lambda sample: 1]),
                                **self.arguments("map"))
        return getattr(pipeline, method)(**self.arguments(method))

    def chain(self, pipeline, depth):
        for _ in range(self.random.randint(1, 4)):
            choice = self.random.random()
            if choice < 0.1 and depth < 2:
                pipeline = pipeline.route({
                    self.text() if i else None: self.chain(Pipeline(),
                                                           depth + 1)
                    for i in range(self.random.randint(1, 3))})
            elif choice < 0.2:
                pipeline = pipeline.element(
                    "capsfilter", caps="video/x-raw, format=(string)RGB")
            else:
                pipeline = self.add(pipeline, self.random.choice(
                    ["fetch", "decode", "augment", "pipe", "map", "aggregate", "cache", "pack",
                     "disaggregate", "cuda_upload", "cuda_normalize"]))
        return pipeline

    def source(self, depth=0):
        if depth < 2 and self.random.random() < 0.2:
            others = [self.source(depth + 1)
                      for _ in range(self.random.randint(1, 3))]
            weights = self.random.choice(
                [None, [self.random.uniform(0.1, 5) for _ in others]])
            pipeline = Pipeline().mix(*others, weights=weights,
                                      **self.arguments("mix"))
        else:
            pipeline = self.add(Pipeline(), self.random.choice(
                ["files", "files", "worker"]))
        return self.chain(pipeline, depth + 1)

    def pipeline(self):
        made = self.add(self.source(), "batch")
        return self.add(made, "sink") if self.random.random() < 0.5 else made


class RoundTripTest(unittest.TestCase):
    def test_random_pipelines(self):
        make = Maker(32)
        methods, n_values = set(), 0
        for i in range(N_RANDOM):
            with self.subTest(number=i):
                pipeline = make.pipeline()
                line = str(pipeline)
                parsed = Pipeline.parse(line)
                self.assertEqual(parsed, pipeline)
                self.assertEqual(parsed._chains, tuple(
                    tuple(node._replace(function=None, is_renamable=False)
                          if hasattr(node, "function") else node
                          for node in chain) for chain in pipeline._chains))
                self.assertEqual(str(parsed), line)
                self.assertEqual(eval(repr(pipeline)), pipeline)
                methods.update(e.factory for e in pipeline._list_elements())
                n_values += sum(len(e.properties)
                                for e in pipeline._list_elements())
        self.assertLessEqual(set(METHODS.values()), methods)
        self.assertGreater(n_values, 20 * N_RANDOM)

    @needs_gi
    def test_gstreamer_parses_values(self):
        Gst, _ = require_gi()
        make = Maker(33)
        for text in ODD + [make.text() for _ in range(N_RANDOM)]:
            with self.subTest(text=text):
                names = [text, make.text(), "a"]
                line = str(Pipeline().files(text, classes=names, seed=5)
                           .element("fakesink", name="end"))
                made = Gst.parse_launch(line)
                source = [e for e in made.iterate_elements()
                          if e.get_factory().get_name() == "spdlsrc"][0]
                self.assertEqual(source.props.location, text)
                self.assertEqual(list(source.get_property("classes")), names)
                self.assertEqual(source.props.seed, 5)
                self.assertEqual(Pipeline.parse(line).__str__(), line)

    @needs_gi
    def test_gstreamer_parses_random_pipelines(self):
        """Tests that a property in a description gets the same value as from its
        text alone."""
        Gst, _ = require_gi()
        make, n_values, missing = Maker(32), 0, find_missing()

        def read(element, name):
            value = element.get_property(name)
            return (list(value) if isinstance(value, Gst.ValueArray) else
                    value.to_string() if hasattr(value, "to_string") else value)

        for _ in range(N_RANDOM):
            for element in make.pipeline()._list_elements():
                if element.factory in missing:
                    continue
                if element.factory != "capsfilter":
                    # Random text is no caps, which is an error.
                    element = element._replace(properties=tuple(
                        (name, text) for name, text in element.properties
                        if name != "caps"))
                line = str(Pipeline._of([(element,)]))
                with self.subTest(line=line):
                    made = Gst.parse_launch(line)
                    other = Gst.ElementFactory.make(element.factory)
                    for name, text in element.properties:
                        if "::" in name:  # of a pad
                            continue
                        Gst.util_set_object_arg(other, name, text)
                        self.assertEqual(read(made, name), read(other, name))
                        n_values += 1
        self.assertGreater(n_values, 20 * N_RANDOM)

    @needs_gi
    def test_gstreamer_parses_headers(self):
        Gst, _ = require_gi()
        make = Maker(34)
        for _ in range(100):
            one, two = make.text(), [make.text(), make.text()]
            made = Gst.parse_launch(str(Pipeline().fetch(
                extra_headers={"One": one, "X-Two": two})))
            headers = made.get_property("extra-headers")
            self.assertEqual(headers.get_string("One"), one)
            self.assertEqual(list(headers.get_value("X-Two")), two)

    def test_library_accepts_values(self):
        for text in ODD:
            with self.subTest(text=text):
                try:
                    Loader(str(Pipeline().files(text).fetch().decode().batch(1)
                               .sink()))
                except LoaderError as error:
                    self.fail(f"{text!r}: {error}")

    def test_hand_written_lines(self):
        parsed = Pipeline.parse(
            "spdlsrc  location = photos shuffle=1 label=Folder !spdlfetch "
            "! spdldecode width=+8 flip=.5 crop_scale=\"<0.10, 1>\"\n"
            "! video/x-raw, format=RGB ! spdlbatch mean='<0.5>' ! spdlsink")
        self.assertEqual(len(parsed._chains), 1)
        for node, text in zip(parsed._chains[0][:4], [
                "spdlsrc location=photos shuffle=true label=folder",
                "spdlfetch", 'spdldecode width=8 flip=0.5 '
                'crop-scale="<0.1,1.0>"',
                'capsfilter caps="video/x-raw, format=RGB"']):
            self.assertEqual(str(Pipeline._of([(node,)])), text)

    def test_invalid_lines(self):
        for line in ("spdlsrc ! ! spdlsink", "! spdlsink", "spdlsrc !",
                     "a=3", "spdlsrc ! a=3", "bin.( spdlsrc )",
                     "file:///a ! spdlsink", "spdlsrc : spdlsink", "a.b c=d"):
            with self.assertRaises(ValueError, msg=line):
                Pipeline.parse(line)
        with self.assertRaises(TypeError):
            Pipeline.parse(None)


# Batches

def split(line):
    """Splits a description into arguments of gst-launch-1.0."""
    return re.findall(r'(?:"(?:\\.|[^"\\])*"|[^\s"])+', line)


def make_names(n):
    """Names of folders, made of all pieces that a name may have."""
    make = Maker(36)
    names = {name for name in ODD if name.strip(".")}
    while len(names) < n:
        names.add(make.text())
    return sorted(name for name in names if "/" not in name)


def make_branch(draw, seed):
    """Reads and decodes in the order of the source."""
    branch = Pipeline().fetch(output_order="input",
                              concurrency=draw.randint(1, 3))
    if draw.random() < 0.3:
        branch = branch.aggregate(draw.randint(1, 3)).disaggregate()
    branch = branch.decode(
        width=8, height=6, output_order="input", seed=seed,
        resize=draw.choice(["stretch", "cover", "contain"]),
        augment=draw.choice(["none", "random-resized-crop"]),
        crop_scale=draw.choice([None, (0.25, 1)]), flip=0.5,
        interpolation=draw.choice([None, "nearest", "bicubic"]))
    if draw.random() < 0.3:
        branch = branch.element("capsfilter",
                                caps="video/x-raw, width=(int)[ 1, 8 ]")
    if draw.random() < 0.3:
        branch = branch.pipe(Pipeline().element("videoflip",
                                                video_direction="horiz"),
                             output_order="input")
    return branch


def make_pipeline(draw, folder, number):
    """A random pipeline over a folder, and whether its order is fixed."""
    def read(i):
        return Pipeline().files(
            folder, label="folder", epochs=1, seed=number + i,
            shuffle=draw.random() < 0.5,
            pattern=draw.choice(["*", "*.jpg", "*[0-4].jp*g"]))

    is_ordered = True
    if draw.random() < 0.3:
        pipeline = read(0).mix(read(1), weights=draw.choice([None, (2, 0.5)]),
                               seed=number)
    else:
        pipeline = read(0)
    if draw.random() < 0.2:
        is_ordered = False
        pipeline = pipeline.route({
            draw.choice(["label=0", 'uri="*1.jpg"', "label=99"]):
            make_branch(draw, number), None: make_branch(draw, number)})
    else:
        *before, chain = pipeline._chains
        pipeline = Pipeline._of([*before, (
            *chain, *make_branch(draw, number)._chains[0])])
    return pipeline.batch(draw.randint(1, 5), **draw.choice([
        {}, {"layout": "nchw"}, {"dtype": "float32"},
        {"dtype": "float32", "mean": (0.5, 0.25, 0), "std": [1, 2, 3]}])
        ), is_ordered


def paint(value):
    """Returns a function whose results are filled with a value."""
    return lambda sample: np.full((4, 4, 3), value, np.uint8)


def see_labels(pipeline):
    """Returns the value that paint() gave to the items of each label."""
    with pipeline.loader() as loader:
        return {int(label): int(image[0, 0, 0]) for batch in loader
                for label, image in zip(batch.labels, batch["data"].numpy())}


class BatchesTest(unittest.TestCase):
    @needs_gi
    def test_gst_launch_agrees_on_random_pipelines(self):
        """Of many lines, in folders with odd names."""
        n = slow_or(500, 40)
        draw = random.Random(37)
        base = make_folder()
        out = base / "batches"
        paths = sorted(FOLDER.glob("*/*.jpg"))[:6]
        elements, n_odd = set(), 0
        for number, name in enumerate(make_names(n)):
            folder = base / f"{number}" / name
            for path in paths:
                copy = folder / path.parent.name / path.name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.symlink_to(path)
            pipeline, is_ordered = make_pipeline(draw, folder, number)
            with self.subTest(number=number, line=str(pipeline)):
                line = str(pipeline.element("filesink", location=out))
                subprocess.run(["gst-launch-1.0", "-q", *split(line)],
                               check=True, timeout=60)
                with Pipeline.parse(str(pipeline)).loader() as loader:
                    items = [item.tobytes() for batch in loader
                             for item in batch["data"].numpy()]
                self.assertGreater(len(items), 0)
                size = len(items[0])
                found = out.read_bytes()
                found = [found[i:i + size]
                         for i in range(0, len(found), size)]
                if not is_ordered:
                    found.sort()
                    items.sort()
                self.assertEqual(found, items)
            elements.update(e.factory for e in pipeline._list_elements())
            n_odd += not name.isalnum()
        self.assertLessEqual({"spdlmix", "spdlroute", "spdlpipe", "capsfilter",
                              "spdlaggregate"}, elements)
        self.assertGreater(n_odd, 0.8 * n)

    @needs_gi
    def test_gst_launch_agrees(self):
        draw = random.Random(35)
        base = make_folder()
        for i, name in enumerate(["plain", "a b", "a!b ! c", '"quoted"',
                                  "it's", "<1,2>", "ünï ✓ 日本", "back\\slash",
                                  "end\\", "NULL", "a=b;c", "tab\there"]):
            with self.subTest(name=name):
                folder = base / name
                shutil.copytree(FOLDER, folder)
                augment = draw.choice(["none", "random-resized-crop"])
                pipeline = (
                    Pipeline()
                    .files(folder, label="folder", seed=i,
                           shuffle=draw.random() < 0.5, epochs=1,
                           pattern=draw.choice(["*", "*.jpg", "*[0-4].jp*g"]))
                    .fetch(output_order="input", concurrency=2)
                    .decode(width=draw.randint(8, 40), height=24,
                            resize=draw.choice(["stretch", "cover"]),
                            augment=augment, flip=0.5, seed=i,
                            output_order="input", concurrency=2)
                    .batch(draw.randint(2, 9), **draw.choice([
                        {}, {"layout": "nchw"}, {"dtype": "float32"},
                        {"dtype": "float32", "mean": (0.5, 0.25, 0)}])))
                out = base / f"batches {i}"
                line = str(pipeline.element("filesink", location=out))
                subprocess.run(["gst-launch-1.0", "-q", *split(line)],
                               check=True, timeout=60)
                with pipeline.loader() as loader:
                    expected = b"".join(
                        batch["data"].numpy().tobytes() for batch in loader)
                self.assertGreater(len(expected), 0)
                self.assertEqual(out.read_bytes(), expected)
                with Loader(str(pipeline.sink())) as loader:
                    self.assertEqual(expected, b"".join(
                        batch["data"].numpy().tobytes() for batch in loader))

    def test_functions(self):
        def darken(sample):
            return sample["data"].numpy() // 2

        def invert(sample):
            return 255 - sample["data"].numpy()

        base = (Pipeline().files(FOLDER, label="folder")
                .fetch(output_order="input")
                .decode(width=8, height=8, output_order="input"))
        with base.batch(N).loader() as loader:
            plain = next(iter(loader))["data"].numpy().copy()
        pipeline = base.map(darken, output_order="input").map(
            invert, output_order="input").map(
                darken, output_order="input").batch(N)
        self.assertIn("spdlpipe name=darken2", str(pipeline))
        with pipeline.loader() as loader:
            found = next(iter(loader))["data"].numpy()
        np.testing.assert_array_equal(found, (255 - plain // 2) // 2)
        with raises_with("map"):
            pipeline.loader(process=True)

    def test_names_of_functions(self):
        import functools
        for function, name in ((lambda sample: sample, "lambda"),
                               (functools.partial(print, 1), "print"),
                               (N.__add__, "__add__"),
                               (Maker(1).text, "text")):
            self.assertIn(f"name={name}", str(Pipeline().map(function)))

    def test_route(self):
        read = Pipeline().fetch().decode(width=4, height=4)
        inner = Pipeline().route({"label=1": read.map(paint(1)),
                                  None: read.map(paint(2))})
        pipeline = (Pipeline().files(FOLDER, label="folder")
                    .route({"label=0": Pipeline().element("fakesink"),
                            "label=3": read.map(paint(3)), None: inner})
                    .batch(N))
        self.assertEqual(Pipeline.parse(str(pipeline)), pipeline)
        seen = see_labels(pipeline)
        self.assertEqual(seen[1], 1)
        self.assertEqual(seen[3], 3)
        self.assertEqual(seen[4], 2)
        self.assertNotIn(0, seen)

    def test_route_by_a_function(self):
        def choose(sample):
            return sample.label % 2

        inner = Pipeline().route([Pipeline().map(paint(1)),
                                  Pipeline().map(paint(2))],
                                 lambda sample: sample.label > 2)
        pipeline = (Pipeline().files(FOLDER, label="folder").fetch()
                    .route([inner, Pipeline().map(paint(3))], choose)
                    .batch(N))
        self.assertEqual(Pipeline.parse(str(pipeline)), pipeline)
        seen = see_labels(pipeline)
        self.assertEqual(seen, {label: 3 if label % 2 else 1 + (label > 2)
                                for label in seen})
        self.assertEqual({*seen.values()}, {1, 2, 3})
        for branches in {"label=1": Pipeline()}, [], [3], Pipeline(), None:
            with self.assertRaises(TypeError):
                Pipeline().route(branches, choose)
        for function in 3, "label=1":
            with self.assertRaises(TypeError):
                Pipeline().route([Pipeline()], function)
        with self.assertRaises(TypeError):
            Pipeline().route([Pipeline()])

    def test_mix(self):
        def read(seed):
            return Pipeline().files(FOLDER, seed=seed, shuffle=True).fetch()

        whole = (read(1).mix(read(2), read(3), weights=[2, 1, 1], seed=7)
                 .decode(width=4, height=4).batch(8))
        same = (Pipeline().mix(read(1), read(2), read(3), weights=(2, 1, 1),
                               seed=7).decode(width=4, height=4).batch(8))
        self.assertEqual(whole, same)
        with whole.loader() as loader:
            self.assertEqual(sum(batch.num_items for batch in loader), 3 * N)
        twice = whole.mix(same)
        self.assertEqual(Pipeline.parse(str(twice)), twice)
        self.assertEqual(sorted(twice._list_names()), ["mix", "mix2", "mix3"])

    def test_worker(self):
        inner = (Pipeline().files(FOLDER).fetch().decode(width=4, height=4)
                 .batch(8))
        pipeline = Pipeline().worker(inner, nice=5)
        with pipeline.loader() as loader:
            self.assertEqual(sum(batch.num_items for batch in loader), N)
        with inner.loader(process=True) as loader:
            self.assertEqual(sum(batch.num_items for batch in loader), N)

    def test_source(self):
        arrays = [(np.full((2, 2), i, "uint8"), i) for i in range(6)]
        with Pipeline().batch(3).loader(source=arrays) as loader:
            self.assertEqual([list(batch.labels) for batch in loader],
                             [[0, 1, 2], [3, 4, 5]])

    @needs_gi
    def test_description(self):
        Gst, _ = require_gi()
        pipeline = Pipeline().files(FOLDER).fetch().decode().batch(2)
        loader = pipeline.loader()
        self.assertEqual(loader.description, f"{pipeline} ! spdlsink")
        self.assertEqual(Loader(loader.description).description,
                         loader.description)
        self.assertEqual(Loader(pipeline.sink(max_buffers=3)).description,
                         f"{pipeline} ! spdlsink max-buffers=3")
        made = Gst.parse_launch(loader.description)
        self.assertIsNone(Loader(made).description)

    def test_set(self):
        pipeline = (Pipeline().files(FOLDER).fetch().decode(width=4, name="small")
                    .map(paint(1), concurrency=2).batch(2).sink())
        for name in "small", "spdldecode", "decode":
            changed = pipeline.set(name, width=None, resize="cover", height=3)
            decode, = (dict(e.properties) for e in changed._list_elements()
                       if e.factory == "spdldecode")
            self.assertEqual(decode, {"name": "small", "height": "3",
                                      "resize": "cover"})
        # A function stays.
        function, = pipeline.set("map", concurrency=3)._list_functions()
        self.assertEqual(dict(function.properties)["concurrency"], "3")
        named = pipeline.set("batch", name="end")
        self.assertIn("end", named._list_names())
        self.assertEqual(named.set("end", name=None), pipeline)
        route = Pipeline().files(FOLDER).route({None: Pipeline()}, name="way")
        for wrong, values, kind, words in [
                ("spdldecoder", {}, ValueError, "spdlfetch"),
                ("small", {"resize": "covr"}, ValueError, "'cover'"),
                ("small", {"wide": 3}, TypeError, "wide"),
                ("batch", {"name": "small"}, ValueError, "small")]:
            with self.assertRaisesRegex(kind, words):
                pipeline.set(wrong, **values)
        with self.assertRaisesRegex(ValueError, "way"):
            route.set("way", name="other")
        twice = Pipeline().files(FOLDER).fetch().fetch()
        with self.assertRaisesRegex(ValueError, "2 elements"):
            twice.set("fetch", retries=1)

    def test_replace(self):
        start = Pipeline().files(FOLDER).fetch()
        pipeline = start.decode(width=4, height=4).map(len).batch(2)
        row = Pipeline().decode(width=8, height=8).cache()
        self.assertEqual(pipeline.replace("decode", row),
                         start.decode(width=8, height=8).cache().map(len).batch(2))
        self.assertEqual(pipeline.replace("len", Pipeline()),
                         start.decode(width=4, height=4).batch(2))
        # Names of the builder that are in use change, also that of a function.
        both = pipeline.replace("decode", Pipeline().map(len).map(paint(1)))
        self.assertEqual(len(both._list_names()), 3)
        same = pipeline.replace("len", Pipeline().map(len))
        self.assertEqual(same, pipeline)
        for wrong, kind in (("spdldecode", TypeError),
                            (Pipeline().mix(start, start), ValueError)):
            with self.assertRaises(kind):
                pipeline.replace("decode", wrong)

    def test_pipeline_of_a_loader(self):
        """It has the functions of the builder, unlike the description."""
        loader = image_folder(FOLDER, size=4, batch_size=N, dtype="uint8",
                              transform=paint(7))
        pipeline = Pipeline.parse(loader)
        self.assertEqual(str(pipeline), loader.description)
        changed = pipeline.set("spdldecode", interpolation="bicubic")
        with changed.loader() as other:
            batch = next(iter(other))
            self.assertEqual(set(batch["data"].numpy().ravel()), {7})
            self.assertIn("interpolation=bicubic", other.description)
        line = "fakesrc num-buffers=1 ! spdlsink"
        self.assertEqual(str(Pipeline.parse(Loader(line))), line)
        for wrong in 3, None, b"":
            with self.assertRaises(TypeError):
                Pipeline.parse(wrong)

    def test_description_can_be_extended(self):
        pipeline = Pipeline().files(FOLDER).fetch().decode().batch(2)
        parsed = Pipeline.parse(pipeline.loader().description)
        self.assertEqual(parsed, pipeline.sink())
        self.assertEqual(parsed.cache(), pipeline.cache().sink())
        self.assertEqual(str(parsed.map(len)),
                         f"{pipeline} ! spdlpipe name=len ! spdlsink")
        with_values = parsed.sink(name="end", max_buffers=3)
        self.assertEqual(with_values, pipeline.sink(name="end", max_buffers=3))
        self.assertEqual(with_values.cache(),
                         pipeline.cache().sink(name="end", max_buffers=3))
        self.assertEqual(with_values.sink(name="end"),
                         pipeline.sink(name="end"))
        self.assertEqual(parsed.element("fakesink"),
                         pipeline.element("fakesink"))
        self.assertEqual(parsed.mix(parsed), pipeline.mix(pipeline).sink())
        self.assertEqual(Pipeline().mix(parsed, parsed),
                         Pipeline().mix(pipeline, pipeline))
        self.assertEqual(Pipeline().worker(parsed),
                         Pipeline().worker(pipeline))
        branch = Pipeline().cache()
        self.assertEqual(parsed.route({None: branch}),
                         pipeline.route({None: branch}).sink())
        sinks = {None: Pipeline().element("fakesink")}
        self.assertEqual(parsed.route(sinks), pipeline.route(sinks))
        line = str(parsed)
        self.assertEqual(line, f"{pipeline} ! spdlsink")

        def invert(sample):
            return 255 - sample["data"].numpy()

        parsed = Pipeline.parse(
            Pipeline().files(FOLDER).fetch(output_order="input")
            .decode(width=4, height=4, output_order="input")
            .batch(N).loader().description)
        with parsed.loader() as plain, parsed.map(invert).loader() as other:
            np.testing.assert_array_equal(
                next(iter(plain))["data"].numpy(),
                255 - next(iter(other))["data"].numpy())

    def test_chain(self):
        flip = Pipeline().element("videoflip", video_direction="90r")
        pipeline = (Pipeline().files(FOLDER).fetch()
                    .decode(width=6, height=4).pipe(flip).batch(N))
        with pipeline.loader() as loader:
            self.assertEqual(next(iter(loader))["data"].shape, (N, 6, 4, 3))

    def test_pipelines_are_immutable(self):
        base = Pipeline().files(FOLDER)
        line = str(base)
        one, two = base.fetch(), base.fetch(concurrency=2)
        self.assertEqual(str(base), line)
        self.assertNotEqual(one, two)
        self.assertEqual(hash(one), hash(base.fetch()))
        self.assertNotEqual(one, line)


class ArgumentsTest(unittest.TestCase):
    """Tests that methods reject wrong arguments and name the valid ones."""

    def check(self, kind, call, *words):
        with self.assertRaises(kind) as raised:
            call(Pipeline())
        for word in words:
            self.assertIn(word, str(raised.exception))

    def test_names(self):
        self.check(TypeError, lambda p: p.decode(widht=8),
                   "decode()", "'widht'", "'width'", "crop_scale")
        self.check(TypeError, lambda p: p.map(len, chain="x"), "map()")
        self.check(TypeError, lambda p: p.batch(), "batch_size")
        self.check(TypeError, lambda p: p.fetch(4))
        self.check(TypeError, lambda p: p.element("spdlsrc", locatin="a"),
                   "location")
        self.check(TypeError, lambda p: p.element("videoflip", methd="none"),
                   "method")
        self.check(ValueError, lambda p: p.element("videofli"), "videoflip")
        self.check(ValueError, lambda p: p.element("a b"))

    def test_values(self):
        for kind, call, *words in (
                (TypeError, lambda p: p.decode(width="8"), "an int", "'8'"),
                (TypeError, lambda p: p.decode(width=8.5), "an int"),
                (TypeError, lambda p: p.decode(width=True), "an int"),
                (ValueError, lambda p: p.decode(width=-1), "from 0 to"),
                (TypeError, lambda p: p.decode(flip="0.5"), "a number"),
                (ValueError, lambda p: p.decode(flip=1.5), "from 0.0 to 1.0"),
                (ValueError, lambda p: p.decode(flip=float("nan")), "nan"),
                (ValueError, lambda p: p.decode(resize="covr"),
                 "'cover'", "'stretch'", "'contain'"),
                (TypeError, lambda p: p.decode(resize=1), "'cover'"),
                (TypeError, lambda p: p.decode(crop_scale=0.5), "a pair"),
                (ValueError, lambda p: p.decode(crop_scale=(1,)), "a pair"),
                (TypeError, lambda p: p.files(3), "a path"),
                (TypeError, lambda p: p.files("a", shuffle="yes"), "True"),
                (TypeError, lambda p: p.files("a", classes="cat"), "str"),
                (TypeError, lambda p: p.files("a", classes=[1]), "str"),
                (ValueError, lambda p: p.files("a\0b"), "NUL"),
                (ValueError, lambda p: p.files("a\udcff"), "Unicode"),
                (TypeError, lambda p: p.batch(8, mean="0.5"), "a number"),
                (ValueError, lambda p: p.batch(8, std=[float("inf")])),
                (ValueError, lambda p: p.fetch(timeout=1.5), "whole"),
                (ValueError, lambda p: p.fetch(timeout=-1), "seconds"),
                (TypeError, lambda p: p.fetch(timeout="1"), "timedelta"),
                (TypeError, lambda p: p.fetch(extra_headers="a"), "mapping"),
                (ValueError, lambda p: p.fetch(extra_headers={"a b": "c"})),
                (TypeError, lambda p: p.map(3), "callable"),
                (TypeError, lambda p: p.pipe(p.map(len)), "map()"),
                (TypeError, lambda p: p.worker(3), "a Pipeline"),
                (TypeError, lambda p: p.route([p]), "dict"),
                (TypeError, lambda p: p.route({None: "a"}), "Pipeline"),
                (ValueError, lambda p: p.route({None: p.files("a")}),
                 "source"),
                (ValueError, lambda p: p.mix()),
                (ValueError, lambda p: p.mix(p)),
                (TypeError, lambda p: p.mix("a")),
                (ValueError, lambda p: p.mix(p.files("a"), weights=[1, 2])),
                (ValueError, lambda p: p.mix(p.files("a"), weights=[0])),
                (ValueError, lambda p: p.mix(p.files("a"), name="a b")),
                (ValueError, lambda p: p.sink(name="a").fetch(name="a"), "'a'"),
                (ValueError, lambda p: p.mix(p.sink()), "empty"),
                (ValueError, lambda p: p.fetch(name="a").decode(name="a"),
                 "'a'"),
                (ValueError, lambda p: p.mix(p.files("a", name="a"),
                                             p.files("b", name="a")), "'a'"),
                (TypeError, lambda p: p.element("queue", x=object()))):
            with self.subTest(words=words):
                self.check(kind, call, *words)

    def test_types(self):
        line = str(Pipeline().fetch(
            task_timeout=1.5, timeout=datetime.timedelta(minutes=1),
            max_size=-1, cache_dir=pathlib.Path("a b"), cache_shared=True))
        self.assertIn("task-timeout=1500000000", line)
        self.assertIn(" timeout=60", line)
        self.assertIn("max-size=18446744073709551615", line)
        self.assertIn('cache-dir="a b" cache-shared=true', line)
        line = str(Pipeline().decode(width=np.int64(8), flip=np.float32(0.5)))
        self.assertEqual(line, "spdldecode width=8 flip=0.5")
        self.assertEqual(
            str(Pipeline().decode(duration=datetime.timedelta(
                microseconds=1), offset=0.1)),
            "spdldecode offset=100000000 duration=1000")
        self.assertEqual(str(Pipeline().batch(8, mean=np.ones(2))),
                         'spdlbatch batch-size=8 mean="<1.0,1.0>"')

    def test_booleans_of_numpy(self):
        """NumPy 2 names their type like Python's."""
        numpy_2 = type("bool", (), {"__bool__": lambda _: True,
                                    "__float__": lambda _: 1.0})()
        for value in np.True_, numpy_2:
            self.assertEqual(str(Pipeline().element("queue", silent=value)),
                             "queue silent=true")
            self.assertEqual(str(Pipeline().fetch(cache_shared=value)),
                             "spdlfetch cache-shared=true")
            self.check(TypeError, lambda p: p.decode(flip=value), "a number")


class ToolsTest(unittest.TestCase):
    def test_completion(self):
        if not importlib.util.find_spec("jedi"):
            self.skipTest("jedi is missing")
        import jedi

        project = jedi.Project(PACKAGE)
        for method in METHODS:
            names = set(parameters_of(method)) - {"self", "others"}
            for start in "Pipeline()", "Pipeline().files('a').fetch()":
                code = f"from gstspdl import Pipeline\n{start}.{method}("
                script = jedi.Script(code, project=project)
                found = script.get_signatures()
                self.assertEqual(len(found), 1, code)
                self.assertLessEqual(names, {p.name for p in found[0].params})
                offered = {c.name.rstrip("=") for c in script.complete()}
                keywords = {name for name in names if parameters_of(
                    method)[name].kind is inspect.Parameter.KEYWORD_ONLY}
                self.assertLessEqual(keywords, offered, code)
                self.assertIn("The element is", found[0].docstring())
        script = jedi.Script("import gstspdl\ngstspdl.Pipeline().files('a').",
                             project=project)
        self.assertLessEqual({"fetch", "decode", "loader", "element"},
                             {c.name for c in script.complete()})

    def test_import_time(self):
        done = run_python(
            "import sys, gstspdl\n"
            "assert 'gstspdl._pipeline.pipeline' not in sys.modules\n"
            "gstspdl.Pipeline().files('a').fetch()\n"
            "print([name for name in ('datetime', 'difflib', 'gi')"
            " if name in sys.modules])")
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
