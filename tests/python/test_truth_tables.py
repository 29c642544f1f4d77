#!/usr/bin/python3
# gst-spdl: tests that random tables arrive unchanged from each form of a dataset
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes random tables as seven datasets with other software, and compares the
items that arrive with the table. SPDL_TRUTH_SEED=N repeats one table. The rules
are those of docs/reference/sources-read.md, spdlsrc.md and shards.md."""

import collections
import csv
import io
import json
import os
import random
import re
import shutil
import tarfile
import unittest
import urllib.parse
import warnings
import zipfile

from support import find_packages, make_folder, slow_or

HAS_ARROW = find_packages("pyarrow", venv="build-venv-arrow")

from errors import has_values  # noqa: E402
from random_tables import (BLANKS, SHARDS, TABLES, Refused, Table,  # noqa: E402
                           is_field, read_label, read_number)
from gstspdl import Loader, LoaderError, LoaderWarning, Pipeline  # noqa: E402

if HAS_ARROW:
    import pyarrow as pa
    import pyarrow.parquet as pq

FORMS = ["folder", "csv", "jsonl", "tar", "zip"] + HAS_ARROW * ["parquet", "arrow"]
ROOT = make_folder()


def describe(value):
    """Returns a text that differs between types, and between 0.0 and -0.0."""
    return repr(sorted(value.items()) if isinstance(value, dict) else value)


class Dataset:
    """A table in one form: its settings, and the items that must arrive."""

    def __init__(self, table, form):
        self.table, self.form, self.folder = table, form, table.folder
        self.draw = random.Random(f"{table.seed} {form}")
        self.order = list(range(table.n))
        self.source, self.given, self.values = None, table.classes, table.labels
        self.labels, self.classes = [-1] * table.n, None
        self.n_missing = 0
        self.lost = []  # the values of a warning for each loss
        self.extras = [{} for _ in table.names]
        self.uris = [*map(self.choose_uri, table.names)]
        self.targets = table.targets if form != "folder" else []
        self.settings = {
            "location": None, "epochs": 1,
            "target_columns": ",".join(self.targets) or None,
            "label_column": table.label_column if form != "folder" else None,
            "label_missing": "keep" if table.keeps else None,
            "index_cache": self.draw.choice(["none", "none", "always"])}

    def write(self):
        """Writes the dataset. Raises Refused if it must not be loaded, and
        UnicodeError if the form cannot hold it."""
        getattr(self, "write_" + ("shard" if self.form in SHARDS else self.form))()
        if self.form != "folder" and not self.table.is_target:
            self.expect_labels()
        if self.targets and not any(map(self.find_targets, self.order)):
            raise Refused

    def expect_labels(self):
        table, form, column = self.table, self.form, self.table.label_column
        self.classes = table.classes
        labels = [read_label(value, table.classes, form, column)
                  for value in self.values]
        texts = {label for label in labels if isinstance(label, str)}
        if texts and form in SHARDS:
            labels = [(None if column else -1) if v in texts else v for v in labels]
            self.lost += [()] * (not table.keeps)
        elif texts:
            if {*labels} - texts - {None, -1}:
                raise Refused
            self.classes = sorted(texts, key=str.encode)
            labels = [self.classes.index(v) if v in texts else v for v in labels]
        self.n_missing = n = labels.count(None)
        if n == table.n and (column or (table.classes and not table.keeps)):
            raise Refused
        if 0 < n < table.n and not table.keeps:
            self.lost.append((n, table.n))
        self.labels = [-1 if label is None else label for label in labels]

    def choose_uri(self, name):
        path = os.path.join(os.fsencode(self.folder), name)
        style = self.draw.randrange(2 if self.form in TABLES else 3)
        try:
            if style > 0:
                return (path if style == 1 else name).decode()
        except UnicodeDecodeError:
            pass
        return "file://" + urllib.parse.quote(path)

    def locate(self, name):
        self.settings["location"] = self.path = self.folder / name
        return self.path

    def list_columns(self, *more):
        """Returns names, kinds and values of the columns in a random order."""
        taken = {name for name, *_ in more} | {self.table.label_column or "label"}
        columns = [*more, *([name, *column] for name, column
                            in self.table.columns.items() if name not in taken)]
        columns.append([self.table.label_column or "label", "label",
                        self.table.labels])
        self.draw.shuffle(columns)
        return columns

    def expect_fields(self, columns, convert):
        """Sets what must arrive from the columns of a list or a table."""
        if self.form not in TABLES and any(
                "\0" in value for column in columns for value in column[2]
                if isinstance(value, str)):
            raise Refused
        if self.table.uri != "uri":
            self.settings["uri_column"] = self.table.uri
        for name, kind, values in columns:
            if kind == "label":
                self.values = values
            if kind == "uri" or (kind == "label" and not self.table.is_target):
                continue
            self.lost += [()] * (not is_field(name))
            for fields, value in zip(self.extras, values):
                value = convert(value, name)
                if isinstance(value, str) and "\0" in value and is_field(name):
                    value = value.replace("\0", "\ufffd")
                    self.lost.append(())
                if value is not None and is_field(name):
                    fields[name] = value

    def write_folder(self):
        table, folders = self.table, [n.rpartition(b"/")[0].decode()
                                      for n in self.table.names]
        self.settings["location"] = self.folder
        self.order.sort(key=lambda i: table.names[i].split(b"/"))
        names = sorted({*folders} - {""}, key=str.encode)
        self.given = None
        if self.draw.random() < 0.3:
            return
        self.settings["label"] = "folder"
        if not names and not table.keeps:
            raise Refused
        if table.classes and names and not any(n != n.strip(BLANKS) for n in names):
            self.draw.shuffle(names)
            self.given = names = [*names, "more"]
        self.labels = [names.index(f) if f else -1 for f in folders]
        self.classes = names or None
        if names and "" in folders and not table.keeps:
            self.lost.append((folders.count(""),))

    def write_csv(self):
        columns = [[name, kind, [
            value if isinstance(value, str) else "" if value is None else repr(value)
            for value in values]] for name, kind, values in
            self.list_columns([self.table.uri, "uri", self.uris])]
        if self.table.kind == "none" and self.draw.random() < 0.5:
            columns = [c for c in columns if c[1] != "label"]
        form = self.draw.choice([  # Python quotes no CR if lines end in LF
            {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
            {"quoting": csv.QUOTE_ALL if len(columns) == 1 else csv.QUOTE_MINIMAL}])
        with open(self.locate("list.csv"), "w", newline="", encoding=self.draw.choice(
                ["utf-8", "utf-8-sig"])) as file:
            csv.writer(file, **form).writerows(
                [[c[0] for c in columns], *zip(*(c[2] for c in columns))])
        self.expect_fields(columns, lambda value, _: value or None)

    def write_jsonl(self):
        columns = self.list_columns([self.table.uri, "uri", self.uris])
        dump = json.JSONEncoder(
            ensure_ascii=self.draw.random() < 0.5,
            separators=self.draw.choice([(",", ":"), (" , ", ": ")])).encode
        with open(self.locate("list.jsonl"), "w", encoding="utf-8") as file:
            for row in zip(*(c[2] for c in columns)):
                file.write(dump(dict(zip((c[0] for c in columns), row))) + "\n")
        if any(len(c[0].encode()) > 255 for c in columns):
            raise Refused
        self.expect_fields(columns, lambda value, _: dump(value) if isinstance(
            value, list) else value)

    def write_shard(self):
        table, files = self.table, []
        in_json = table.label_column or table.is_target
        columns = [c for c in self.list_columns() if in_json or c[1] != "label"]
        if table.kind == "booleans" and not in_json:
            self.values = [*map(json.dumps, table.labels)]
        for i, name in enumerate(table.names):
            folder, slash, last = os.fsdecode(name).rpartition("/")
            key = folder + slash + last.replace(".", "_")
            fields = self.extras[i]
            fields["key"] = re.sub("[\udc80-\udcff]", lambda c:
                                   f"%{ord(c[0]) - 0xdc00:02X}", key)
            files.append((i, key + ".npy", table.contents[i]))
            label = self.values[i]
            if not in_json and label is not None:
                files.append((i, key + ".cls", str(label).encode()))
                if not isinstance(read_number(str(label).strip(BLANKS)), int):
                    fields["cls"] = str(label)
            if columns:
                fields["json"] = json.dumps({c[0]: c[2][i] for c in columns})
                files.append((i, key + ".json", fields["json"].encode()))
            for name, _, values in columns:
                if values[i] is not None and is_field(name):
                    if name not in ("cls", "json") and "\0" not in str(values[i]):
                        fields[name] = json.dumps(values[i]) if isinstance(
                            values[i], list) else values[i]
        self.lost += [()] * any(not is_field(c[0]) for c in columns)
        self.draw.shuffle(files)
        self.settings["extensions"] = self.draw.choice([None, None, "npy"])
        self.order = list(dict.fromkeys(i for i, _, _ in files))
        path = self.locate("shard." + self.form)
        if self.form == "zip":
            with zipfile.ZipFile(path, "w", self.draw.choice(
                    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
                for _, name, data in files:
                    archive.writestr(zipfile.ZipInfo(name), data)
            return
        with tarfile.open(path, "w", format=self.draw.choice(
                [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])) as tar:
            for _, name, data in files:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))

    def write_arrow(self):
        table, draw, items = self.table, self.draw, self.uris
        how = draw.choice(["uri", "binary", "file"])
        if how != "uri":
            items = table.contents
            self.uris = [f"arrow:///{urllib.parse.quote(table.uri)}/{i}"
                         for i in range(table.n)]
        if how == "file":
            items = [{"bytes": data, "path": name.decode(errors="replace")}
                     for data, name in zip(items, table.names)]
            for fields, item in zip(self.extras, items):
                fields["key"] = item["path"]
        texts = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
        types = {"text": texts, "int64": [pa.int64()], "bool": [pa.bool_()],
                 "float64": [pa.float64()], "list": [pa.list_(pa.float64())]}
        types["label"] = {"none": [pa.null(), pa.int64()],
                          "floats": [pa.float64(), pa.float32()]}.get(
            table.kind, texts if "text" in table.kind else [None])
        columns = self.list_columns([table.uri, "uri", items])
        whole = pa.table({name: pa.array(values, draw.choice(types.get(kind, [None])))
                          for name, kind, values in columns})
        self.expect_fields(columns, lambda value, name: None if isinstance(
            value, list) and name not in self.targets else value)
        self.lost += [()] * any(kind == "list" and name not in self.targets
                                for name, kind, _ in columns)
        at = draw.randint(0, table.n)
        self.source = pa.concat_tables([whole[:at], whole[at:]])

    def write_parquet(self):
        self.write_arrow()
        pq.write_table(self.source, self.locate("table.parquet"),
                       row_group_size=self.draw.randint(1, 5))
        self.source = None
        if "text" in self.table.kind and not (
                self.table.classes or self.table.is_target):
            raise Refused

    def find_targets(self, i):
        """Returns the numbers of an item; None: one is missing."""
        found = []
        for name in self.targets:
            value = self.extras[i].get(name)
            if isinstance(value, str):
                number = re.fullmatch(r"-?\d+", value)
                value = int(value) if number else json.loads(value) if \
                    value.startswith("[") else float(value) if \
                    read_number(value) is not None else None
            if value is None or (isinstance(value, int) and abs(value) > 2**53):
                return None
            found.append([*map(float, value)] if isinstance(value, list)
                         else float(value))
        return found

    def load(self, batch, **more):
        """Returns the items by index, the classes and the warnings."""
        line = Pipeline().files(**self.settings, **more).fetch(
            output_order="input", concurrency=1)
        if batch:
            line = line.decode(output_order="input", concurrency=1).batch(batch)
        found = {}
        with warnings.catch_warnings(record=True) as caught, Loader(
                line.sink(), source=self.source, classes=self.given) as loader:
            warnings.simplefilter("always")
            for chunk in loader:
                data = chunk["data"].numpy()
                targets = [chunk[name].numpy().tolist()
                           for name in self.targets * bool(batch)]
                for k, i in enumerate(chunk.indices):
                    assert i not in found, f"item {i} came twice"
                    found[i] = (chunk.keys[k], (data[k] if batch else data).tobytes(),
                                chunk.labels[k], chunk.extras[k],
                                [target[k] for target in targets])
            return found, loader.classes, [
                str(w.message) for w in caught if issubclass(
                    w.category, LoaderWarning) and not w.message.num_failures]

    def compare(self, found, batch):
        """Returns the first difference of the items, or None."""
        wanted = {place: i for place, i in enumerate(self.order)
                  if not batch or self.find_targets(i) is not None}
        if {*found} != {*wanted}:
            return f"items {[*found]}, not {[*wanted]}"
        for place, i in wanted.items():
            uri, data, *others = found[place]
            name = urllib.parse.unquote_to_bytes(uri)
            if self.form in SHARDS:
                if not uri.startswith(f"file://{self.path}#bytes="):
                    return f"URI {uri}"
            elif uri.startswith("arrow:") and uri != self.uris[i] or not \
                    uri.startswith("arrow:") and name != os.path.join(
                        b"file://" + os.fsencode(self.folder), self.table.names[i]):
                return f"URI {uri}, not {self.uris[i]}"
            if data != self.table.contents[i][-8 if batch else 0:]:
                return f"bytes of {place}"
            expected = (self.labels[i], self.extras[i] or None,
                        self.find_targets(i) if batch else [])
            for one, other in zip(others, expected):
                if describe(one) != describe(other):
                    return f"item {place} has\n   {one!r}, not\n   {other!r}"
        return None

    def check(self):
        """Returns the first difference, or None."""
        batch = self.draw.choice([1, 3] if self.targets else [0, 0, 1, 4])
        # Some are counted as they are read, and named before, by each rank.
        lazy = self.form == "parquet" or (
            self.form in SHARDS and self.table.label_column)
        mode = self.draw.choice(["", "", "shuffle", "ranks"])
        if self.targets or (mode == "ranks" and lazy and self.n_missing):
            mode = ""
        if mode == "ranks":
            world, everything = self.draw.choice([2, 3]), {}
            for rank in range(world):
                found, *_ = self.load(batch, rank=rank, world_size=world,
                                      shard_mode="uneven")
                if self.form != "parquet" and \
                        [*found] != list(range(rank, self.table.n, world)):
                    return f"rank {rank} of {world} has {[*found]}"
                everything.update(found)
            return self.compare(everything, batch)
        # The second time with the index.
        for _ in range(1 + (self.settings["index_cache"] == "always")):
            found, names, warned = self.load(batch, shuffle=mode == "shuffle", seed=7)
            if not mode and [*found] != sorted(found):
                return f"order {[*found]}"
            if problem := self.compare(found, batch):
                return problem
            if names != self.classes:
                return f"classes {names}, not {self.classes}"
            if bool(warned) != bool(self.lost) or not lazy and not all(any(
                    has_values(text, *values) for text in warned)
                    for values in self.lost):
                return f"warnings {warned}, not {self.lost}"
        return None


def check_form(table, form, counts):
    """Returns the first difference of a table in one form, or None."""
    dataset = Dataset(table, form)
    refused = None
    try:
        dataset.write()
    except UnicodeError:
        return None  # a ZIP has no names of other bytes
    except Refused as error:
        refused = error.args
    if form not in ("folder", "arrow"):
        os.utime(dataset.path, (1e9, 1e9))  # so that it gets an index
    try:
        if refused is not None:
            return f"no error, but {dataset.load(len(dataset.targets))}"
        counts[form] += 1
        return dataset.check()
    except LoaderError as error:
        return None if refused is not None and has_values(str(error), *refused) \
            else f"{error}, not {refused}"
    finally:
        if form not in ("folder", "arrow"):
            dataset.path.unlink()


def check_seed(seed, counts):
    """Returns the differences of a table."""
    table = Table(seed)
    table.folder = ROOT / str(seed)
    for name, data in zip(table.names, table.contents):
        path = os.path.join(os.fsencode(table.folder), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    found = [f"seed {seed}, {form}: {problem}" for form in FORMS
             if (problem := check_form(table, form, counts))]
    shutil.rmtree(os.fsencode(table.folder))
    return found and [*found, repr(table)]


class TablesTest(unittest.TestCase):
    def test_tables(self):
        seed = os.environ.get("SPDL_TRUTH_SEED")
        seeds = [int(seed)] if seed else range(slow_or(2000, 24))
        counts = collections.Counter()
        found = [problem for seed in seeds for problem in check_seed(seed, counts)]
        print(f"{len(seeds)} tables, compared by form: {dict(counts)}")
        self.assertFalse(found, "\n".join(found[:20]))
        if not seed:
            for form in FORMS:
                self.assertGreater(counts[form], len(seeds) * 0.4, form)


if __name__ == "__main__":
    unittest.main()
