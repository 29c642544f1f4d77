#!/usr/bin/python3
# gst-spdl: tests that labels and fields are those of their dataset
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset. The datasets are written by others:
pandas' text, tarfile, NumPy, pyarrow."""

import importlib.util
import io
import json
import struct
import tarfile
import unittest
import warnings
import zipfile

import support

support.find_packages("pyarrow", venv="build-venv-arrow")

import numpy as np  # noqa: E402
from errors import has_values, raises  # noqa: E402
from gstspdl import (Loader, LoaderError, LoaderWarning,  # noqa: E402
                     image_folder, image_list, web_dataset)

ROOT = support.make_folder()
HAS_ARROW = importlib.util.find_spec("pyarrow") is not None
if HAS_ARROW:
    import pyarrow as pa
    import pyarrow.parquet as pq
# One pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082")

for i in range(5):
    (ROOT / f"{i}.png").write_bytes(PNG)


def write(name, text):
    path = ROOT / name
    path.write_text(text, encoding="utf-8")
    return path


def write_tar(name, files):
    """`files`: names and contents."""
    with tarfile.open(ROOT / name, "w") as tar:
        for file, content in files:
            info = tarfile.TarInfo(file)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return ROOT / name


def write_shard(name, notes, extension="cls"):
    """Writes samples of a payload and, unless it is None, a note."""
    files = []
    for i, note in enumerate(notes):
        files.append((f"{i}.png", PNG))
        if note is not None:
            files.append((f"{i}.{extension}", note.encode()))
    return write_tar(name, files)


def load(location, settings="", source=None, **options):
    """Returns the labels, extras and warnings of a dataset."""
    place = f'location="{location}"' if source is None else ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Loader(f"spdlsrc {place} index-cache=none {settings} ! spdlsink",
                    source=source, **options) as loader:
            batches = list(loader)
    return ([label for batch in batches for label in batch.labels],
            [extra for batch in batches for extra in batch.extras],
            [str(w.message) for w in caught
             if issubclass(w.category, LoaderWarning)])


class LabelsCase(unittest.TestCase):
    def check(self, wanted, location, settings="", n_warnings=0, **options):
        labels, _, warned = load(location, settings, **options)
        self.assertEqual(labels, wanted)
        self.assertEqual(len(warned), n_warnings, warned)
        return warned

    def refuse(self, code, names, location, settings="", **options):
        """Asserts an error with this code, whose text has all of `names`."""
        with raises("resource-error " + code, *names):
            load(location, settings, **options)


class FloatsTest(LabelsCase):
    """pandas writes integers as floats as soon as one of the column is
    missing."""

    FLOATS = ["3.0", "10.0", "2.0", "0.0", ""]
    LABELS = [3, 10, 2, 0, -1]

    def test_csv(self):
        text = "uri,label\n" + "".join(
            f"{i}.png,{label}\n" for i, label in enumerate(self.FLOATS))
        path = write("floats.csv", text)
        (warned,) = self.check(self.LABELS, path, n_warnings=1)
        self.assertTrue(has_values(warned, 1, 5, "4.png"), warned)
        for _ in range(2):  # with the index
            path.touch()
            self.check(self.LABELS, path, "index-cache=always", n_warnings=1)

    def test_text_and_json(self):
        path = write("floats.txt", "".join(
            f"{i}.png\t{label}\n" for i, label in enumerate(self.FLOATS)))
        self.check(self.LABELS, path, n_warnings=1)
        path = write("floats.jsonl", "".join(
            f'{{"uri": "{i}.png", "label": {label or "null"}}}\n'
            for i, label in enumerate(self.FLOATS)))
        self.check(self.LABELS, path, n_warnings=1)

    def test_shards(self):
        path = write_shard("floats.tar", self.FLOATS)
        self.check(self.LABELS, path, n_warnings=1)
        path = write_shard("floats-json.tar", [
            f'{{"target": {label or "null"}}}' for label in self.FLOATS], "json")
        # The first one, and at the end of the epoch all of them.
        self.check(self.LABELS, path, "label-column=target", n_warnings=2)

    def test_classes(self):
        path = write("classes.csv", "uri,label\n0.png,2.0\n1.png,\n2.png,0.0\n")
        self.check([2, -1, 0], path, n_warnings=1, classes=["a", "b", "c"])
        self.refuse("read", ["2.0"], path, classes=["a", "b"])
        # Names come first.
        path = write("versions.csv", "uri,label\n0.png,2.0\n1.png,1.5\n")
        self.check([1, 0], path, classes=["1.5", "2.0"])

    def test_regression(self):
        files = [write("real.csv", "uri,label\n0.png,0.00\n1.png,0.10\n"
                                   "2.png,1.5\n"),
                 write("real.txt", "0.png\t0.00\n1.png\t0.10\n"),
                 write("real.jsonl", '{"uri": "0.png", "label": 0.0}\n'
                                     '{"uri": "1.png", "label": 0.10}\n'),
                 write_shard("real.tar", ["0.00", "0.10"])]
        for path in files:
            with self.subTest(path=path.name):
                self.refuse("read", ["target-columns"], path)
        self.refuse("read", ["target-columns", "1.png"], files[0])
        # Too large to be exact.
        self.refuse("read", ["1e+16"], write("large.csv",
                                             "uri,label\n0.png,1e+16\n"))
        self.refuse("read", ["cat"], write("mixed.csv",
                                           "uri,label\n0.png,1.0\n1.png,cat\n"))

    @unittest.skipUnless(HAS_ARROW, "there is no package pyarrow")
    def test_tables(self):
        numbers = [float(label) if label else None for label in self.FLOATS]
        for kind in pa.float64(), pa.float32():
            table = pa.table({"uri": [f"{ROOT}/{i}.png" for i in range(5)],
                              "label": pa.array(numbers, kind)})
            self.check(self.LABELS, None, source=table, n_warnings=1)
            pq.write_table(table, ROOT / "floats.parquet")
            with warnings.catch_warnings(record=True):
                self.assertEqual(load(ROOT / "floats.parquet")[0], self.LABELS)
        nans = table.set_column(1, "label", pa.array(
            np.array([3, 10, 2, 0, np.nan])))
        self.check(self.LABELS, None, source=nans, n_warnings=1)
        real = table.set_column(1, "label", pa.array([0, 0.1, 1.5, 0, 0]))
        self.refuse("read", ["target-columns", 1], None, source=real)


def make_sources(labels):
    """Yields datasets of five items by name. Labels are texts, None for none."""
    rows = [{"uri": f"{i}.png", **({} if label is None else {"label": label})}
            for i, label in enumerate(labels)]
    yield write("s.csv", "uri,label\n" + "".join(
        f"{row['uri']},{row.get('label', '')}\n" for row in rows)), ""
    yield write("s.txt", "".join(
        "\t".join(row.values()) + "\n" for row in rows)), ""
    yield write("s.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), ""
    yield write_shard("s.tar", labels), ""
    yield write_shard("j.tar", [json.dumps(row) for row in rows],
                      "json"), "label-column=label"


class MissingTest(LabelsCase):
    LABELS = ["7", "-1", None, "", "8"]
    WANTED = [7, -1, -1, -1, 8]

    def test_missing(self):
        for path, settings in make_sources(self.LABELS):
            with self.subTest(path=path.name):
                labels, _, warned = load(path, settings)
                self.assertEqual(labels, self.WANTED)
                self.assertTrue(has_values(warned[-1], 2, 5), warned)
                self.check(self.WANTED, path,
                           settings + " label-missing=keep")
                self.refuse("read", [], path, settings + " label-missing=fail")

    def test_explicit(self):
        """-1 is a label."""
        for path, settings in make_sources(["7", "-1", "-1", "-1", "8"]):
            with self.subTest(path=path.name):
                self.check(self.WANTED, path, settings + " label-missing=fail")

    def test_none(self):
        """No item has a label."""
        for path, column in make_sources([None] * 5):
            with self.subTest(path=path.name):
                if not column:
                    self.check([-1] * 5, path)
                    self.check([-1] * 5, path,
                               "label=manifest label-missing=keep")
                self.check([-1] * 5, path, "label=none")
                for settings in "label=manifest", "label-missing=fail":
                    self.refuse("read|settings", ["uri"] if path.suffix in (
                        ".csv", ".jsonl") else [], path,
                        f"{settings} {column}")
                self.refuse("settings", [], path, column, classes=["a", "b"])

    def test_fields_are_named(self):
        shard = write_shard("named.tar", ['{"target": 3}'] * 2, "json")
        self.refuse("settings", ["target", "json"], shard, "label=manifest")
        self.check([3, 3], shard, "label-column=target")
        self.refuse("settings", ["target", "nope"], shard, "label-column=nope")
        table = write("named.csv", "uri,target\n0.png,3\n1.png,4\n")
        self.refuse("settings", ["target"], table, "label=manifest")
        self.check([3, 4], table, "label-column=target")
        self.assertEqual(load(table)[1], [{"target": "3"}, {"target": "4"}])
        self.assertEqual(load(table, "label-column=target")[1], [None, None])
        self.refuse("settings", ["target", "nope"], table, "label-column=nope")
        lines = write("named.jsonl", '{"uri": "0.png", "target": "b"}\n'
                                     '{"uri": "1.png", "target": "a"}\n')
        self.check([1, 0], lines, "label-column=target")
        self.refuse("settings", ["target"], lines, "label=manifest")

    def test_folder(self):
        for name in "a/0.png", "b/1.png", "2.png":
            (ROOT / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / "folder" / name).write_bytes(PNG)
        folder = ROOT / "folder"
        self.check([-1] * 3, folder)
        labels, _, warned = load(folder, "label=folder")
        self.assertEqual(sorted(labels), [-1, 0, 1])
        self.assertIn("2.png", warned[0])
        self.assertEqual(len(load(folder, "label=folder label-missing=keep")[2]),
                         0)
        for code, settings in (
                ("read", "label=folder label-missing=fail"),
                ("settings", "label=manifest"),
                ("settings", "label=folder pattern=2.png"),
                ("settings", "label-column=x")):
            self.refuse(code, [], folder, settings)
        self.refuse("settings", ["label=folder"], folder, classes=["a", "b"])
        self.refuse("settings", [], write("l.txt", "0.png\n"), "label=folder")
        self.refuse("settings", [], write("l.txt", "0.png\n"),
                    "label=none label-column=x")

    @unittest.skipUnless(HAS_ARROW, "there is no package pyarrow")
    def test_tables(self):
        uris = [f"{ROOT}/{i}.png" for i in range(3)]
        table = pa.table({"uri": uris, "target": [2, None, -1]})
        self.check([-1] * 3, None, source=table)
        self.refuse("settings", ["target"], None, "label=manifest",
                    source=table)
        (warned,) = self.check([2, -1, -1], None, "label-column=target",
                               source=table, n_warnings=1)
        self.assertTrue(has_values(warned, 1, 3), warned)
        self.refuse("read", [], None,
                    "label-column=target label-missing=fail", source=table)
        pq.write_table(table, ROOT / "missing.parquet", row_group_size=2)
        place = ROOT / "missing.parquet"
        labels, _, warned = load(place, "label-column=target")
        self.assertEqual(labels, [2, -1, -1])
        self.assertTrue(has_values(warned[-1], 1, 3), warned)
        self.refuse("read", [], place,
                    "label-column=target label-missing=fail")
        self.refuse("settings", ["target"], place, "label=manifest")
        # The classes that Hugging Face datasets write are those of the column.
        features = {"label": {"names": ["x"]}, "target": {"names": ["a", "b", "c"]}}
        pq.write_table(table.replace_schema_metadata({
            "huggingface": json.dumps({"info": {"features": features}})}), place)
        with Loader(f'spdlsrc location="{place}" label-column=target ! spdlsink'
                    ) as loader:
            self.assertEqual(loader.classes, ["a", "b", "c"])
        texts = pa.table({"uri": uris, "label": ["b", None, ""]})
        (warned,) = self.check([0, -1, -1], None, source=texts, n_warnings=1)
        self.assertTrue(has_values(warned, 2, 3), warned)

    def test_recipes(self):
        shard = write_shard("r.tar", ['{"label": 3}'] * 2, "json")
        with self.assertRaises(LoaderError):
            list(web_dataset(shard, train=False, size=8))
        with web_dataset(shard, train=False, size=8,
                         label_column="label") as loader:
            self.assertEqual([b["labels"].numpy().tolist() for b in loader],
                             [[3, 3]])
        table = write("r.csv", "uri,label,other\n0.png,3,1\n1.png,,2\n")
        with self.assertRaises(LoaderError):
            list(image_list(table, train=False, size=8))
        with image_list(table, train=False, size=8,
                        label_column="other") as loader:
            self.assertEqual([b["labels"].numpy().tolist() for b in loader],
                             [[1, 2]])
        with self.assertRaises(ValueError):
            image_list(table, label_column="nope")
        for name in "a/0.png", "1.png":
            (ROOT / "bare" / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / "bare" / name).write_bytes(PNG)
        with self.assertRaises(LoaderError):
            list(image_folder(ROOT / "bare", train=False, size=8))


class FieldsTest(unittest.TestCase):
    """Names of columns and members that are not words of ASCII."""

    ODD = {"größe": "1", "my caption": "x", "a,b=c;": "2", "日本": "3"}

    def check(self, location, wanted, n_warnings=0, settings="", **options):
        labels, extras, warned = load(location, settings, **options)
        self.assertEqual(labels, [1])
        for name, value in wanted.items():
            self.assertEqual(str(extras[0][name]), str(value))
        self.assertEqual(len(warned), n_warnings, warned)
        self.assertNotIn("", extras[0] or {})
        return warned

    def test_csv(self):
        names = ",".join(f'"{name}"' for name in self.ODD)
        text = (f",uri,label,{names}\n"
                f"0,0.png,1,{','.join(self.ODD.values())}\n")
        for _ in range(2):
            (warned,) = self.check(write("odd.csv", text), self.ODD, 1)
            self.assertTrue(has_values(warned, 1))
        self.check(ROOT / "odd.csv", {}, 1, process=True)
        write("odd.csv", "my uri,größe,x,x\n0.png,1,2,3\n")
        self.check(ROOT / "odd.csv", {"x": 2}, 1,
                   'uri-column="my uri" label-column="größe"')
        with raises("resource-error read", "x", 4):
            load(ROOT / "odd.csv", 'uri-column="my uri" label-column=x')

    def test_jsonl(self):
        for ascii in True, False:
            row = json.dumps({"uri": "0.png", "label": 1, **self.ODD},
                             ensure_ascii=ascii)
            self.check(write("odd.jsonl", row + "\n"), self.ODD)
        self.check(ROOT / "odd.jsonl", self.ODD, process=True)
        row = json.dumps({"uri": "0.png", "label": 1, "": 5, "a\n": 6, "b": 7})
        self.check(write("odd.jsonl", row + "\n"), {"b": 7}, 1)
        row = json.dumps({'a "uri"': "0.png", "größe": 1})
        self.check(write("odd.jsonl", row + "\n"), {}, 0,
                   'uri-column="a \\"uri\\"" label-column=größe')

    def test_shard(self):
        path = write_tar("odd.tar", [
            ("a.png", PNG), ("a.cls", b"1"), ("a.größe b", b"x"),
            ("a.json", json.dumps({**self.ODD, "": 5}).encode())])
        self.check(path, self.ODD, 1)
        self.check(path, self.ODD, 1, process=True)

    def test_long_texts(self):
        text = json.dumps({"a": "x" * 100000, "n": 3})
        path = write_tar("long.tar", [("a.png", PNG), ("a.cls", b"1"),
                                      ("a.json", text.encode()),
                                      ("a.txt", b"y" * 200000)])
        self.check(path, {"json": text, "n": 3, "a": "x" * 100000,
                          "txt": "y" * 200000})

    @unittest.skipUnless(HAS_ARROW, "there is no package pyarrow")
    def test_table(self):
        table = pa.table({"uri": [f"{ROOT}/0.png"], "label": [1], "": [5],
                          **{name: [value] for name, value in self.ODD.items()}})
        self.check(None, self.ODD, 1, source=table)


class ArraysTest(unittest.TestCase):
    """Members of NPZ and safetensors files that cannot be tensors."""

    IMAGE = np.arange(12, dtype="float32").reshape(3, 4)
    MASK = np.arange(6, dtype="uint8")

    def load(self, name, settings=""):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with Loader(f'spdlsrc location="{ROOT}" pattern={name} ! spdlfetch '
                        f"! spdldecode {settings} ! spdlbatch batch-size=1 "
                        "! spdlsink", max_failures=0) as loader:
                (batch,) = loader
        return ({tensor: batch[tensor].numpy()[0].tolist() for tensor in batch},
                [str(w.message) for w in caught
                 if issubclass(w.category, LoaderWarning)])

    def check(self, name):
        both = {"image": self.IMAGE.tolist(), "mask": self.MASK.tolist(),
                "boxes": []}
        found, warned = self.load(name)
        self.assertEqual(found, both)
        self.assertEqual(len(warned), 1, warned)
        for members in "image", "mask", "mask,image", "boxes":
            wanted = {key: both[key] for key in both
                      if key in members.split(",")}
            self.assertEqual(self.load(name, f"members={members}"),
                             (wanted, []))
        for members in "other", "nope", "image,nope":
            with self.assertRaises(LoaderError):
                self.load(name, f"members={members}")

    def test_npz(self):
        for save in np.savez, np.savez_compressed:
            save(ROOT / "odd.npz", image=self.IMAGE, mask=self.MASK,
                 boxes=np.zeros((0, 4), "float32"), name="cat",
                 objects=np.array([{}], object), when=np.zeros(2, "M8[s]"))
            self.check("odd.npz")
        with zipfile.ZipFile(ROOT / "odd.npz", "a") as file:
            file.writestr("readme.md", "about")
        self.check("odd.npz")
        np.savez(ROOT / "none.npz", when=np.zeros(2, "M8[s]"))
        with self.assertRaises(LoaderError):
            self.load("none.npz")
        np.savez(ROOT / "many.npz", **{f"a{i}": self.MASK for i in range(40)})
        self.assertEqual(list(self.load("many.npz", "members=a39,a7")[0]),
                         ["a7", "a39"])

    def test_safetensors(self):
        arrays = [("boxes", "F32", [0, 4], b""),
                  ("image", "F32", [3, 4], self.IMAGE.tobytes()),
                  ("mask", "U8", [6], self.MASK.tobytes()),
                  ("other", "F8_E4M3", [5], bytes(5))]
        header, at = {}, 0
        for name, dtype, shape, data in arrays:
            header[name] = {"dtype": dtype, "shape": shape,
                            "data_offsets": [at, at + len(data)]}
            at += len(data)
        text = json.dumps(header).encode()
        (ROOT / "odd.safetensors").write_bytes(
            struct.pack("<Q", len(text)) + text +
            b"".join(array[3] for array in arrays))
        self.check("odd.safetensors")


class TargetsTest(unittest.TestCase):
    """Numbers of a dataset as tensors of the batch."""

    ROWS = [(0.0, [1.0, 0.0, 0.5]), (0.1, [2.0, -1.0, 1e-3]), (1.5, [0, 1, 2])]

    def load(self, location, settings="", batch="batch-size=3", source=None,
             **options):
        place = f'location="{location}"' if source is None else ""
        return list(Loader(
            f"spdlsrc {place} epochs=1 {settings} ! spdlfetch "
            "output-order=input ! spdldecode output-order=input ! spdlbatch "
            f"{batch} ! spdlsink", source=source, **options))

    def check(self, location, names="y,z", settings="", **options):
        (batch,) = self.load(location, f"target-columns={names} {settings}",
                             **options)
        found = {name: batch[name].numpy() for name in names.split(",")}
        y, z = (found[name] for name in names.split(","))
        self.assertEqual((y.dtype, z.dtype), (np.float64, np.float64))
        self.assertEqual(y.tolist(), [row[0] for row in self.ROWS])
        self.assertEqual(z.tolist(), [row[1] for row in self.ROWS])

    def make_csv(self, label="y"):
        return write("targets.csv", f"uri,{label},z\n" + "".join(
            f'{i}.png,{y},"{z}"\n' for i, (y, z) in enumerate(self.ROWS)))

    def test_lists(self):
        path = self.make_csv()
        for options in {}, {"process": True}:
            self.check(path, **options)
        rows = [{"uri": f"{i}.png", "y": y, "z": z}
                for i, (y, z) in enumerate(self.ROWS)]
        self.check(write("targets.jsonl", "".join(
            json.dumps(row) + "\n" for row in rows)))

    def test_label(self):
        """The column of a regression may be called label."""
        path = self.make_csv("label")
        with raises("resource-error read", "target-columns"):
            self.load(path)
        self.check(path, "label,z")
        (batch,) = self.load(path, "target-columns=label")
        self.assertEqual(list(batch.labels), [-1] * 3)

    def test_shard(self):
        files = []
        for i, (y, z) in enumerate(self.ROWS):
            files += [(f"{i}.png", PNG), (f"{i}.cls", b"%d" % i),
                      (f"{i}.json", json.dumps({"y": y, "n": i}).encode())]
        (batch,) = self.load(write_tar("targets.tar", files),
                             "target-columns=y,n", "batch-size=3 labels=true")
        self.assertEqual(batch["y"].numpy().tolist(), [0.0, 0.1, 1.5])
        self.assertEqual(batch["n"].numpy().tolist(), [0, 1, 2])
        self.assertEqual(batch["labels"].numpy().tolist(), [0, 1, 2])

    @unittest.skipUnless(HAS_ARROW, "there is no package pyarrow")
    def test_tables(self):
        y, z = zip(*self.ROWS)
        lists = [pa.array(z, kind) for kind in (
            pa.list_(pa.float64()), pa.list_(pa.float64(), 3),
            pa.large_list(pa.float64()))]
        for column in lists:
            table = pa.table({"uri": [f"{ROOT}/{i}.png" for i in range(3)],
                              "y": y, "z": column})
            self.check(None, source=table)
            # Not from their beginning.
            self.check(None, source=pa.concat_tables([table, table])[3:])
            pq.write_table(table, ROOT / "targets.parquet")
            self.check(ROOT / "targets.parquet")
            with raises("resource-error settings", "uri"):
                self.load(None, "target-columns=uri", source=table)
        integers = table.set_column(2, "z", pa.array(
            [[1, 2], [3, 4], [2 ** 53, 5]], pa.list_(pa.int64())))
        (batch,) = self.load(None, "target-columns=z", source=integers)
        self.assertEqual(batch["z"].numpy().tolist(),
                         [[1, 2], [3, 4], [2 ** 53, 5]])

    def test_missing(self):
        """An item without a target fails."""
        path = write("holes.csv", "uri,y\n0.png,1\n1.png,\n2.png,x\n3.png,2\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (batch,) = self.load(path, "target-columns=y")
        self.assertEqual(batch["y"].numpy().tolist(), [1, 2])
        with self.assertRaises(LoaderError):
            self.load(path, "target-columns=y", max_failures=0)
        with raises("resource-error settings", "nope", "y"):
            self.load(path, "target-columns=nope")
        for place in ROOT, write("t.txt", "0.png\n"):
            with raises("resource-error settings", "target-columns=y"):
                self.load(place, "target-columns=y")
        path = write("ragged.jsonl", '{"uri": "0.png", "y": [1, 2]}\n'
                                     '{"uri": "1.png", "y": [1]}\n')
        with raises("stream-error format", "y", 1, 2):
            self.load(path, "target-columns=y")
        path = write("large.jsonl", '{"uri": "0.png", "y": 9007199254740993}\n')
        with self.assertRaises(LoaderError):
            self.load(path, "target-columns=y", max_failures=0)

    def test_mix(self):
        path = self.make_csv()
        line = ("spdlmix name=m ! spdlfetch ! spdldecode ! spdlbatch "
                f'batch-size=6 ! spdlsink spdlsrc location="{path}" '
                f'target-columns=y ! m. spdlsrc location="{{}}" {{}} ! m.')
        without = write("without.csv", "uri\n0.png\n")
        (batch,) = Loader(line.format(path, "target-columns=y"),
                          max_failures=0)
        self.assertEqual(sorted(batch["y"].numpy().tolist()),
                         [0, 0, 0.1, 0.1, 1.5, 1.5])
        for other in (path, "target-columns=z"), (without, ""):
            with self.assertRaises(LoaderError):
                list(Loader(line.format(*other), max_failures=0))

    def test_padding(self):
        for i in range(3):
            np.save(ROOT / f"{i}.npy", np.ones(i + 1))
        path = write("padded.csv", "uri,y\n" + "".join(
            f"{i}.npy,{i}.5\n" for i in range(3)))
        (batch,) = self.load(path, "target-columns=y",
                             "batch-size=3 pad-to-longest=true labels=true")
        self.assertEqual(batch["y"].numpy().tolist(), [0.5, 1.5, 2.5])
        self.assertEqual(batch["data"].shape, (3, 3))

    def test_recipes(self):
        with image_list(self.make_csv("label"), train=False, size=8,
                        target_columns=["label", "z"]) as loader:
            (batch,) = loader
            self.assertEqual(batch["label"].numpy().tolist(), [0.0, 0.1, 1.5])
            self.assertEqual(batch["z"].shape, (3, 3))
            self.assertNotIn("labels", list(batch))
        with self.assertRaises(LoaderError):
            list(image_list(self.make_csv("label"), train=False, size=8,
                            target_columns="z", label_column="label"))


if __name__ == "__main__":
    unittest.main()
