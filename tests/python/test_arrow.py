#!/usr/bin/python3
# gst-spdl: tests of Arrow tables as the dataset of a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import gc
import importlib.util
import io
import json
import os
import sys
import tempfile
import threading
import unittest

import support

if not support.find_packages("pyarrow", "polars", "duckdb", "datasets",
                             venv="build-venv-arrow") and \
        importlib.util.find_spec("pyarrow") is None:
    print("SKIP: there is no package pyarrow: tools/setup test gets it from "
          "PyPI, where that can be reached")
    sys.exit(77)

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from errors import raises_with  # noqa: E402
from PIL import Image  # noqa: E402
from gstspdl import Loader, LoaderError, LoaderWarning, Pipeline  # noqa: E402

N_ROWS = 40
FOLDER = support.make_dataset(N_ROWS)
PATHS = sorted(FOLDER.glob("*/*.jpg"))
FILES = [path.read_bytes() for path in PATHS]
NAMES = sorted({path.parent.name for path in PATHS})
LABELS = [NAMES.index(path.parent.name) for path in PATHS]
DECODE = ("! spdlfetch output-order=input ! spdldecode output-order=input "
          "width=16 height=16 ! spdlbatch batch-size=8 ! spdlsink")
LINE = "spdlsrc epochs=1 " + DECODE
# A column of arrays, which are not decoded.
ARRAYS = ('spdlsrc epochs=1 {} ! spdlfetch output-order=input '
          'caps="other/tensors,format=static,num_tensors=1,types=uint8,'
          'dimensions=(string)4,framerate=0/1" {} ! spdlsink')


with io.BytesIO() as blank:
    Image.new("RGB", (40, 40)).save(blank, "PNG")
    BLANK = blank.getvalue()


class Batches:
    """A stream of record batches."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.RecordBatchReader.from_batches(
            self.table.schema, self.table.to_batches(max_chunksize=7)
        ).__arrow_c_stream__()


def needs(name):
    return unittest.skipUnless(importlib.util.find_spec(name),
                               f"there is no package {name}")


def make_table(**columns):
    return pa.table({"image": FILES, "label": LABELS, **columns})


def numbers(n=100):
    """Returns a table of arrays of four bytes, which have the row's number."""
    return pa.table({"data": pa.array(
        [int(i).to_bytes(4, "little") for i in range(n)], pa.binary(4))})


def decode_all(source, line=LINE, **options):
    """Returns images, labels and keys."""
    with Loader(line, source=source, **options) as loader:
        batches = list(loader)
        return (np.concatenate([np.array(b["data"]) for b in batches]),
                [label for b in batches for label in b.labels],
                [key for b in batches for key in b.keys], loader)


def decode_files(rows=range(N_ROWS)):
    files = Loader("spdlfetch output-order=input ! spdldecode "
                   "output-order=input width=16 height=16 ! spdlbatch "
                   "batch-size=8 ! spdlsink", source=[PATHS[i] for i in rows])
    with files:
        return np.concatenate([np.array(batch["data"]) for batch in files])


class TableTest(unittest.TestCase):
    def check(self, source, rows=range(N_ROWS), labels=True, **options):
        images, found, _, loader = decode_all(source, **options)
        np.testing.assert_array_equal(images, decode_files(rows))
        if labels:
            self.assertEqual(found, [LABELS[i] for i in rows])
        self.assertEqual(loader.num_failures, 0)
        return loader

    def test_layouts(self):
        names = [NAMES[i] for i in LABELS]
        for kind in pa.binary(), pa.large_binary(), pa.binary_view():
            table = pa.table({"image": pa.array(FILES, kind),
                              "label": pa.array(names)})
            self.assertEqual(self.check(table).classes, NAMES)
        for kind in pa.large_string(), pa.string_view():
            self.check(make_table().set_column(
                1, "label", pa.array(names, kind)))
        encoded = pa.array(FILES).dictionary_encode()
        self.check(pa.table({"image": encoded,
                             "label": pa.array(names).dictionary_encode()}))

    def test_chunks(self):
        table = make_table()
        parts = [table.slice(0, 3), table.slice(3, 0), table.slice(3, 20),
                 table.slice(23)]
        self.check(pa.concat_tables(parts))
        self.check(table.slice(5, 30), range(5, 35))
        self.check(table.to_batches()[0])

    @needs("polars")
    def test_polars(self):
        import polars

        frame = polars.DataFrame(make_table())
        self.check(frame)
        self.check(frame[10:20].vstack(frame[3:5]), [*range(10, 20), 3, 4])
        self.check(frame.sort("label", descending=True, maintain_order=True),
                   sorted(range(N_ROWS), key=lambda i: -LABELS[i]))

    @needs("duckdb")
    def test_duckdb(self):
        import duckdb

        table = make_table(row=list(range(N_ROWS)))  # noqa: F841
        self.check(duckdb.sql("select * from table where row % 3 = 1 "
                              "order by row desc"
                              .replace("from table", 'from "table"')),
                   [i for i in reversed(range(N_ROWS)) if i % 3 == 1])

    @needs("lance")
    def test_lance(self):
        import lance

        with tempfile.TemporaryDirectory() as folder:
            dataset = lance.write_dataset(make_table(), folder)

            class Rows:
                def __arrow_c_stream__(self, requested_schema=None):
                    scanner = dataset.scanner(columns=["image"])
                    return scanner.to_reader().__arrow_c_stream__()

            self.check(dataset.to_table())
            self.check(Rows(), labels=False)
            with self.assertRaisesRegex(TypeError, "to_table"):
                Loader(LINE, source=dataset)

    @needs("pandas")
    def test_pandas(self):
        import pandas

        frame = pandas.DataFrame({"image": FILES, "label": LABELS})
        if hasattr(frame, "__arrow_c_stream__"):
            self.check(frame)

    def test_extras(self):
        table = make_table(
            text=["a"] * (N_ROWS - 1) + [None], part=[0.5] * N_ROWS,
            flag=[True] * N_ROWS, big=pa.array([2**64 - 1] * N_ROWS, "uint64"),
            day=pa.array([1] * N_ROWS, pa.date32()))
        with Loader(LINE, source=table) as loader:
            with self.assertWarnsRegex(LoaderWarning, '"day"'):
                batches = list(loader)
        extras = [extra for batch in batches for extra in batch.extras]
        self.assertEqual(extras[0], {"text": "a", "part": 0.5, "flag": True,
                                     "big": 2**64 - 1})
        self.assertNotIn("text", extras[-1])

    def test_parts(self):
        line = ("spdlsrc epochs=1 ! spdlfetch output-order=input parts=mask "
                "! spdldecode output-order=input part=data width=16 height=16 "
                "! spdldecode output-order=input part=mask width=16 height=16 "
                "! spdlbatch batch-size=8 ! spdlsink")
        table = make_table(mask=[None, *reversed(FILES[1:])])
        with Loader(line, source=table) as loader:
            batches = list(loader)
            self.assertEqual([f.index for f in loader.failures], [0])
        for name, rows in (("data", range(1, N_ROWS)),
                           ("mask", range(N_ROWS - 1, 0, -1))):
            np.testing.assert_array_equal(
                np.concatenate([np.array(b[name]) for b in batches]),
                decode_files(rows))

    def test_parts_of_strangers(self):
        """Tests what a column of `parts` may name. The column of the items may
        name any file."""
        own = PATHS[0].as_uri()
        for mask, trust, error in (
                (str(PATHS[1]), "", f"trusted-origins=file:{PATHS[1].parent}"),
                (PATHS[1].as_uri(), "", "trusted-origins=file:"),
                ("s3://bucket/key", "", "trusted-origins=s3://bucket"),
                ("masks/1.png", "", "absolute path"),
                (str(PATHS[1]), f"file:{PATHS[1].parent}", None),
                (own, "", None)):
            table = pa.table({"uri": [own], "mask": [mask]})
            line = ('spdlsrc epochs=1 ! spdlfetch parts=mask retries=0 '
                    f'trusted-origins="{trust}" ! spdldecode part=data width=8 '
                    'height=8 ! spdldecode part=mask width=8 height=8 '
                    '! spdlbatch ! spdlsink')
            with self.subTest(mask=mask, trust=trust):
                with Loader(line, source=table) as loader:
                    if error:
                        with self.assertRaises(LoaderError):
                            list(loader)
                        self.assertIn(error, loader.failures[0].reason)
                    else:
                        self.assertEqual(len(list(loader)), 1)

    def test_uri_column(self):
        table = pa.table({"other": [b"x"] * N_ROWS, "image": FILES,
                          "file": list(map(str, PATHS))})
        for name in "image", "file":
            images = decode_all(table, LINE.replace(
                "spdlsrc", "spdlsrc uri-column=" + name))[0]
            np.testing.assert_array_equal(images, decode_files())
        with raises_with(None, '"none"'):
            Loader(LINE.replace("spdlsrc", "spdlsrc uri-column=none"),
                   source=table).start()

    def test_pipeline(self):
        loader = (Pipeline().element("spdlsrc", shuffle=True)
                  .fetch().decode(width=16, height=16).batch(8)
                  .loader(source=make_table()))
        with loader:
            self.assertEqual(len(loader), 5)
            indices = [[i for b in loader for i in b.indices]
                       for _ in range(2)]
        for found in indices:
            self.assertEqual(sorted(found), list(range(N_ROWS)))
        self.assertNotEqual(*indices)


class MemoryTest(unittest.TestCase):
    def test_no_copy(self):
        table = numbers()
        buffer = table["data"].chunk(0).buffers()[1]
        with Loader(ARRAYS.format("", ""), source=table) as loader:
            for i, batch in enumerate(loader):
                values = np.asarray(batch["data"])
                self.assertEqual(values.ctypes.data, buffer.address + 4 * i)

    def test_batch_outlives_all(self):
        before = pa.total_allocated_bytes()
        table = pa.table({"data": pa.array(
            [bytes([i]) * 4 for i in range(200)], pa.binary(4))})
        loader = Loader(ARRAYS.format("", ""), source=table)
        with loader:
            batch = next(iter(loader))
        del loader, table
        gc.collect()
        junk = [pa.array([b"\xff\xff\xff\xff"] * 200, pa.binary(4))
                for _ in range(50)]
        np.testing.assert_array_equal(batch["data"].numpy().ravel(), [0] * 4)
        del junk, batch
        gc.collect()
        support.wait_until(lambda: pa.total_allocated_bytes() <= before)

    def test_one_thread(self):
        """Python code behind a stream runs in one thread, not a worker's."""
        threads = set()
        table = numbers()

        def batches():
            for batch in table.to_batches(max_chunksize=7):
                threads.add(threading.get_native_id())
                yield batch

        class Stream:
            def __arrow_c_stream__(self, requested_schema=None):
                return pa.RecordBatchReader.from_batches(
                    table.schema, batches()).__arrow_c_stream__()

        with Loader(ARRAYS.format("", ""), source=Stream()) as loader:
            self.assertEqual(len(list(loader)), 100)
        self.assertEqual(len(threads), 1)
        self.assertNotIn(threading.get_native_id(), threads)

    def test_exit(self):
        """The interpreter ends while loaders run and batches are held."""
        code = """if True:
            import sys, gstspdl, pyarrow as pa
            table = pa.table({"data": [bytes([i]) for i in range(200)]})
            def batches():
                yield from table.to_batches(max_chunksize=3)
            class Stream:
                def __arrow_c_stream__(self, requested_schema=None):
                    return pa.RecordBatchReader.from_batches(
                        table.schema, batches()).__arrow_c_stream__()
            kept = []
            for source in table, Stream():
                loader = gstspdl.Loader(sys.argv[1], source=source)
                kept += [loader, *[next(iter(loader)) for _ in range(3)]]
            print("done")
        """
        for _ in range(3):
            self.assertEqual(support.check_python(
                code, "spdlsrc ! spdlfetch ! spdlsink"), "done\n")


class ErrorTest(unittest.TestCase):
    def assert_fails(self, source, code, parts, line=LINE, **options):
        with raises_with(code, *parts), \
                Loader(line, source=source, **options) as loader:
            list(loader)

    def test_nulls(self):
        table = pa.table({"image": [None if i % 10 == 3 else file
                                    for i, file in enumerate(FILES)],
                          "label": LABELS})
        images, labels, _, loader = decode_all(table)
        rows = [i for i in range(N_ROWS) if i % 10 != 3]
        np.testing.assert_array_equal(images, decode_files(rows))
        self.assertEqual(labels, [LABELS[i] for i in rows])
        # A row may fail before an earlier one.
        self.assertEqual(sorted((f.index, f.uri, f.stage[:9])
                                for f in loader.failures),
                         [(i, f"arrow:///image/{i}", "spdlfetch")
                          for i in range(3, N_ROWS, 10)])
        self.assert_fails(table, "failures", ["row"], max_failures=2)

    def test_no_item(self):
        self.assert_fails(pa.table({"a": [1], "b": ["x"]}), "pipeline-error",
                          ['"a"', '"b"', "uri"])
        self.assert_fails(pa.table({}), "pipeline-error", ["pyarrow.Table"])
        self.assert_fails(make_table().slice(0, 0), "pipeline-error", ["rows"])
        self.assert_fails(pa.chunked_array([FILES]), "pipeline-error",
                          ["pyarrow.table"])

    def test_labels(self):
        table = pa.table({"image": FILES, "label": [0.5] * N_ROWS})
        self.assert_fails(table, "pipeline-error", ['"label"',
                                                    "target-columns"])
        self.assertEqual(
            decode_all(table, LINE.replace("spdlsrc", "spdlsrc label=none"))[1],
            [-1] * N_ROWS)
        wrong = pa.table({"image": FILES, "label": [7] * N_ROWS})
        self.assert_fails(wrong, "pipeline-error", ["row 0", '"label"'],
                          classes=["a", "b"])

    def test_boxes(self):
        """Lists of numbers are read as boxes, keypoints and labels."""
        table = pa.table({
            "image": FILES,
            "box": pa.array([[0, 0, 0.5, 0.25] * (i % 3) for i in range(N_ROWS)],
                            pa.list_(pa.float32())),
            "kind": [[i] * (i % 3) for i in range(N_ROWS)],
            "point": pa.array([[0.5, 0.75]] * N_ROWS, pa.list_(pa.float64(), 2))})
        line = LINE.replace("spdlsrc", "spdlsrc box-column=box keypoint-column=point "
                            "box-label-columns=kind relative-coordinates=true", 1)
        with Loader(line, source=table) as loader:
            batch = next(iter(loader))
            self.assertEqual(np.array(batch["box_lengths"]).tolist(),
                             [0, 1, 2, 0, 1, 2, 0, 1])
            self.assertEqual(np.array(batch["box"])[2].tolist(), [[0, 0, 8, 4]] * 2)
            self.assertEqual(np.array(batch["kind"])[4].tolist(), [4, -1])
            self.assertEqual(np.array(batch["point"])[7].tolist(), [[8, 12]])

    def test_nested_boxes(self):
        """All forms of boxes in tables, also in parts of arrays, have the values
        that were written."""
        rng = np.random.default_rng(3)
        boxes = [(rng.integers(0, 8, (i % 4, 4)) + [0, 0, 8, 8]).tolist()
                 for i in range(N_ROWS)]
        kinds = [rng.integers(0, 90, len(of_one)).tolist() for of_one in boxes]
        points = [[[x, y, 2] for x, y, *_ in of_one] * 2 for of_one in boxes]
        points = [[p[k::len(p) // 2] for k in range(len(p) // 2)] for p in points]
        objects = [[{"kind": k, "bbox": b, "text": "t", "deep": {"points": p}}
                    for b, k, p in zip(*of_one)] for of_one in zip(boxes, kinds, points)]
        lists = [{"bbox": b, "kind": k, "deep": {"points": p}}
                 for b, k, p in zip(boxes, kinds, points)]
        names = "o.bbox", "o.kind", "o.deep.points"
        plain = "bbox", "kind", "points"
        text = [*map(json.dumps, objects)], [*map(json.dumps, lists)]
        for columns, of in (
                ({"o": lists}, names), ({"o": objects}, names),
                ({"o": text[0]}, names), ({"o": text[1]}, names),
                ({"o.bbox": boxes, "o.kind": kinds, "o": lists}, names),
                ({"bbox": pa.array(boxes, pa.list_(pa.list_(pa.int16(), 4))),
                  "kind": pa.array(kinds, pa.large_list(pa.uint8())),
                  "points": pa.array(points, pa.list_(pa.large_list(pa.list_(
                      pa.float64(), 3))))}, plain),
                ({"bbox": pa.array(boxes, pa.large_list(pa.large_list(pa.float32()))),
                  "kind": kinds, "points": points}, plain)):
            line = LINE.replace(
                "spdlsrc", "spdlsrc box-column={} box-label-columns={} keypoint-column={}"
                " keypoints-per-box=2 keypoint-size=3 relative-coordinates=false".format(
                    *of), 1).replace("width=16 height=16", "")
            table = pa.table({"image": [BLANK] * N_ROWS, **columns})
            for begin, source in ((0, table), (0, Batches(table)), (5, table.slice(5))):
                with self.subTest(of=of, begin=begin), Loader(line, source=source) as loader:
                    at = begin
                    for batch in loader:
                        found = [np.array(batch[name]) for name in of]
                        for i, n in enumerate(np.array(batch[of[0] + "_lengths"])):
                            self.assertEqual(found[0][i, :n].tolist(), boxes[at])
                            self.assertEqual(found[1][i, :n].tolist(), kinds[at])
                            self.assertEqual(found[2][i, :n].tolist(), points[at])
                            at += 1
                    self.assertEqual(at, N_ROWS)
                    self.assertEqual(loader.failures, [])

    def test_wrong_boxes(self):
        """Types that cannot be boxes are errors that name the column, and values
        fail with their row and column."""
        line = LINE.replace("spdlsrc", "spdlsrc box-column=o.b", 1)
        for column in ([{"b": [["1"]]}], [{"b": 1}], [{"c": [[1]]}], [[[1]]], [1],
                       [{"b": [[{"x": 1}]]}], [b"x"], [[{"b": "x"}]]):
            self.assert_fails(pa.table({"image": FILES, "o": column * N_ROWS}),
                              "pipeline-error", ['"o.b"', '"o"', "box-column"], line)
        boxes = [[[1, 2, 3, 4]]] * N_ROWS
        for row, value in enumerate(([[1, 2, 3]], [[1, 2, 3, None]], None, [None],
                                     [[3, 2, 1, 4]], [[2**60, 1, 2, 2]])):
            boxes[row] = value
        for dtype in pa.int64(), pa.float64():
            if dtype == pa.float64():
                boxes[5] = [[float("nan"), 1, 2, 2]]
            table = pa.table({"image": FILES, "o": pa.StructArray.from_arrays(
                [pa.array(boxes, pa.list_(pa.list_(dtype)))], ["b"])})
            with Loader(line, source=table, max_failures=-1) as loader:
                n = sum(len(batch.indices) for batch in loader)
            self.assertEqual(n, N_ROWS - 6)
            self.assertEqual(sorted(f.uri for f in loader.failures),
                             [f"arrow:///image/{row}" for row in range(6)])
            for failure in loader.failures:
                self.assertIn('Field "o.b"', failure.reason)

    def test_empty_lists(self):
        """A column whose lists are all empty has no type of numbers."""
        for column in [[]] * N_ROWS, [{"b": []}] * N_ROWS:
            name = "o.b" if column[0] else "o"
            line = LINE.replace("spdlsrc", f"spdlsrc box-column={name}", 1)
            with Loader(line, source=pa.table({"image": FILES, "o": column})) as loader:
                for batch in loader:
                    self.assertEqual(np.array(batch[name + "_lengths"]).sum(), 0)
                self.assertEqual(loader.failures, [])

    def test_other_lists(self):
        """Lists that nothing uses are left out with a warning; those of targets
        may not be nested."""
        table = pa.table({"image": FILES, "a": [[[1.0]]] * N_ROWS,
                          "t": [[1.0, 2.0]] * N_ROWS, "b": [[1, 2, 3, 4]] * N_ROWS})
        with self.assertWarnsRegex(LoaderWarning, r'"a" \(\+l<item:\+l<item:g>>\)'), \
                Loader(LINE.replace("spdlsrc", "spdlsrc target-columns=t box-column=b", 1),
                       source=table) as loader:
            batch = list(loader)[0]
            self.assertEqual(np.array(batch["t"])[0].tolist(), [1, 2])
            self.assertEqual(sorted(batch.extras[0]), ["b", "image-matrix", "t"])
        self.assert_fails(table, "pipeline-error", ['"a"', "target-columns"],
                          LINE.replace("spdlsrc", "spdlsrc target-columns=a", 1))

    def test_other_members_in_the_next_epoch(self):
        class Source:
            n = 0

            def __arrow_c_stream__(self, requested_schema=None):
                self.n += 1
                objects = {"b": [[1, 2, 3, 4]], "c": [[0, 0, 1, 1]]}
                if self.n > 2:
                    objects = dict(reversed(objects.items()))
                return pa.table({"image": FILES, "o": [objects] * N_ROWS}
                                ).__arrow_c_stream__()

        line = LINE.replace("spdlsrc epochs=1", "spdlsrc epochs=3 box-column=o.b", 1)
        with raises_with("pipeline-error", "other columns"), \
                Loader(line, source=Source()) as loader:
            for _ in range(3):
                list(loader)

    def test_lines(self):
        for line in DECODE[2:], "spdlsrc location=/tmp " + DECODE:
            self.assert_fails(make_table(), "source", ["spdlsrc"], line)
        self.assert_fails(make_table(), "source", ["process"], process=True)

    def test_failing_producer(self):
        table = make_table()

        def batches():
            yield from table.to_batches(max_chunksize=15)[:2]
            raise ValueError("no more disk")

        reader = pa.RecordBatchReader.from_batches(table.schema, batches())
        self.assert_fails(reader, "pipeline-error", ["row 30", "no more disk"])


class OrderTest(unittest.TestCase):
    def test_ranks(self):
        line = ARRAYS.format("shuffle=true seed=5 shard-mode=uneven", "")
        found = []
        for rank in range(3):
            with Loader(line, source=numbers(), rank=rank,
                        world_size=3) as loader:
                found += [int.from_bytes(b["data"].numpy().tobytes(), "little")
                          for b in loader]
        self.assertEqual(sorted(found), list(range(100)))

    def test_weights(self):
        table = numbers(10).append_column(
            "weight", pa.array([0.0, 1, 3] + [0] * 7, "float32"))
        line = ARRAYS.format("weight-column=weight items-per-epoch=400", "")
        with Loader(line, source=table) as loader:
            indices = [i for batch in loader for i in batch.indices]
        self.assertEqual(set(indices), {1, 2})
        self.assertAlmostEqual(indices.count(2) / 400, 0.75, delta=0.1)
        line = ARRAYS.format('weight-column="weight, old"', "")
        with raises_with(None, '"weight, old"'):
            Loader(line, source=table.rename_columns(
                [*table.column_names[:-1], "weight, old"])).start()

    def test_other_table(self):
        line = "spdlsrc shuffle=true " + DECODE
        with Loader(line, source=make_table()) as loader:
            state = next(iter(loader)).state
        for table in (make_table().slice(1), make_table().set_column(
                0, "image", [[FILES[-1], *FILES[1:]]])):
            with raises_with(None, "pyarrow.Table"):
                Loader(line, source=table, state=state).start()
        # The same rows in other record batches.
        table = pa.concat_tables([make_table().slice(0, 7),
                                  make_table().slice(7)])
        with Loader(line, source=table, state=state) as loader:
            self.assertEqual(sum(b.num_items for b in loader), N_ROWS - 8)

    def test_kill(self):
        """A killed run resumes with each row used once in each epoch."""
        # All runs together have 858 batches.
        line = ARRAYS.format("shuffle=true seed=9", "! spdlbatch batch-size=7"
                             ).replace("epochs=1", "epochs=2")
        support.check_kills(self, line, 3000, """
import pyarrow as pa
source = pa.table({"data": pa.array(
    [b"%4d" % i for i in range(3000)], pa.binary(4))})
""")


class Stream:
    """A source without a length, which counts its streams."""

    def __init__(self, table, size=7):
        self.table, self.size = table, size
        self.n_opened = self.n_read = 0

    def batches(self):
        for batch in self.table.to_batches(max_chunksize=self.size):
            self.n_read += 1
            yield batch

    def __arrow_c_stream__(self, requested_schema=None):
        self.n_opened += 1
        return pa.RecordBatchReader.from_batches(
            self.table.schema, self.batches()).__arrow_c_stream__()


class StreamTest(unittest.TestCase):
    LINE = ARRAYS.format("", "! spdlbatch batch-size=8")

    def read(self, loader):
        return [int.from_bytes(row.tobytes(), "little")
                for batch in loader for row in batch["data"].numpy()]

    def test_reader(self):
        table = numbers()
        line = self.LINE.replace("epochs=1", "")
        with Loader(line, source=table.to_reader(9)) as loader:
            self.assertEqual(self.read(loader), list(range(100)))
            self.assertTrue(loader.is_finished())
            with self.assertRaises(TypeError):
                len(loader)
        # It cannot be read again.
        with raises_with(None, "RecordBatchReader"):
            with Loader(line.replace("spdlsrc", "spdlsrc epochs=2"),
                        source=table.to_reader()) as loader:
                self.assertEqual(self.read(loader), list(range(100)))
                self.read(loader)

    def test_epochs(self):
        stream = Stream(numbers())
        line = self.LINE.replace("epochs=1", "epochs=3")
        with Loader(line, source=stream) as loader:
            for _ in range(3):
                self.assertEqual(self.read(loader), list(range(100)))
            self.assertTrue(loader.is_finished())
        self.assertEqual((stream.n_opened, stream.n_read), (3, 3 * 15))

    def test_resume(self):
        line = self.LINE.replace("epochs=1", "epochs=2")
        for number in 1, 5, 12, 13, 20:
            found = []
            with Loader(line, source=Stream(numbers())) as loader:
                while len(found) < number:
                    for batch in loader:
                        found.append(self.read([batch]))
                        state = batch.state
                        if len(found) == number:
                            break
            with Loader(line, source=Stream(numbers(), 20),
                        state=state) as loader:
                while not loader.is_finished():
                    found += [self.read([batch]) for batch in loader]
            self.assertEqual([i for part in found for i in part],
                             [*range(100), *range(100)])

    def test_ranks(self):
        found = []
        for rank in range(3):
            line = self.LINE.replace("spdlsrc", "spdlsrc shard-mode=uneven")
            with Loader(line, source=Stream(numbers()), rank=rank,
                        world_size=3) as loader:
                found.append(self.read(loader))
            self.assertEqual(found[-1], list(range(rank, 100, 3)))
        for setting, options in (("shuffle=true", {}), ("shard-mode=pad", {
                "rank": 0, "world_size": 2}), ("weight-column=data", {})):
            with raises_with("pipeline-error"):
                Loader(self.LINE.replace("spdlsrc", "spdlsrc " + setting),
                       source=Stream(numbers()), **options).start()

    def test_other_ranks(self):
        """Between two epochs, the number of ranks may change."""
        line = (self.LINE.replace("epochs=1", "epochs=2")
                .replace("spdlsrc", "spdlsrc shard-mode=uneven"))
        early, late, found = [], [], []
        for rank in range(2):
            with Loader(line, source=Stream(numbers()), rank=rank,
                        world_size=2) as loader:
                for batch in loader:
                    early.append(batch.state)
                late.append(loader.state)
        for rank in range(3):
            with Loader(line, source=Stream(numbers()), rank=rank,
                        world_size=3, state=late) as loader:
                while not loader.is_finished():
                    found += self.read(loader)
        self.assertEqual(sorted(found), list(range(100)))
        with self.assertRaises(LoaderError):
            Loader(line, source=Stream(numbers()), rank=0, world_size=3,
                   state=[early[0], early[-1]]).start()

    def test_memory(self):
        """Only the batches in use are in memory."""
        stream = Stream(numbers(100_000), 100)
        with Loader(self.LINE, source=stream) as loader:
            batch = next(iter(loader))
            support.wait_until_asleep()
            self.assertLess(stream.n_read, 100)
        self.assertEqual(self.read([batch]), list(range(8)))

    def test_late_errors(self):
        table = make_table()
        wrong = table.set_column(1, "label", [[0] * 30 + [9] * 10])
        with Loader(LINE, source=Stream(wrong), classes=["a", "b"]) as loader:
            labels = []
            with raises_with(None, "row 30"):
                for batch in loader:
                    labels += batch.labels
        self.assertEqual(labels, [0] * 30)
        text = table.set_column(1, "label", [["a"] * N_ROWS])
        with raises_with(None, "classes"):
            Loader(LINE, source=Stream(text)).start()
        with Loader(LINE, source=Stream(text), classes=["b", "a"]) as loader:
            self.assertEqual({i for b in loader for i in b.labels}, {1})
        with self.assertRaises(LoaderError):
            list(Loader(LINE, source=Stream(table.slice(0, 0))))

    def test_stop(self):
        """A stop does not wait for a producer."""
        waiting, end = threading.Event(), threading.Event()

        class Slow(Stream):
            def batches(self):
                yield from self.table.to_batches()
                waiting.set()
                end.wait()

        loader = Loader(self.LINE, source=Slow(numbers(20)))
        with loader:
            next(iter(loader))
            self.assertTrue(waiting.wait(60))
        end.set()


@needs("datasets")
@needs("PIL")
class DatasetsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import datasets

        datasets.disable_progress_bars()
        cls.folder = support.make_folder()
        cls.features = datasets.Features({
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=NAMES)})
        made = datasets.Dataset.from_dict(
            {"image": list(map(str, PATHS)), "label": LABELS},
            features=cls.features)
        made.save_to_disk(cls.folder / "set")
        cls.dataset = datasets.load_from_disk(cls.folder / "set")
        cls.paths_only = made

    def check(self, dataset):
        import datasets

        line = ("spdlsrc epochs=1 ! spdlfetch output-order=input "
                "! spdldecode output-order=input ! spdlbatch batch-size=1 "
                "! spdlsink")
        with Loader(line, source=dataset) as loader:
            self.assertEqual(loader.classes, NAMES)
            found = [(batch.labels[0], batch.extras[0] or {}, batch.keys[0])
                     for batch in loader]
        rows = list(dataset.cast_column("image", datasets.Image(decode=False)))
        self.assertEqual(len(found), len(rows))
        for (label, extra, key), row in zip(found, rows):
            self.assertEqual(label, row["label"])
            self.assertIn(os.path.basename(row["image"]["path"]),
                          extra.get("key", key))
        return found

    def test_selections(self):
        dataset = self.dataset
        self.check(dataset)
        shuffled = dataset.shuffle(seed=3)
        self.assertIsNotNone(shuffled._indices)
        self.check(shuffled)
        self.check(shuffled.filter(lambda label: label == 1,
                                   input_columns="label"))
        self.check(shuffled.select(range(3, 20)).select([4, 1, 1]))
        self.check(dataset.train_test_split(test_size=0.3, seed=2)["test"])
        self.check(dataset.sort("label"))
        self.check(dataset.shard(3, 1))

    def test_paths(self):
        """Images whose bytes are in files."""
        self.check(self.paths_only)
        self.check(self.paths_only.shuffle(seed=1))

    def test_concatenated(self):
        import datasets

        self.check(datasets.concatenate_datasets(
            [self.dataset.select([5, 2]), self.dataset.shuffle(seed=4)]))

    def test_columns(self):
        more = self.dataset.add_column("note", list(map(str, range(N_ROWS))))
        self.assertEqual(self.check(more)[3][1]["note"], "3")
        chosen = self.check(more.select_columns(["image", "label"]))
        self.assertNotIn("note", chosen[3][1])

    def test_transform(self):
        with self.assertRaisesRegex(TypeError, "reset_format"):
            Loader(LINE, source=self.dataset.with_transform(lambda row: row))

    def test_iteration_remains(self):
        """Without spdlsrc, a dataset is iterated over as before."""
        rows = self.dataset.select_columns("label").with_format("numpy")
        with Loader("spdlbatch batch-size=8 ! spdlsink", source=rows) as loader:
            found = [i for b in loader for i in np.ravel(b["label"])]
        self.assertEqual(found, LABELS)

    def test_page(self):
        """Runs the Python of the how-to page."""
        text = support.run_page("arrow-tables.md", self.folder / "page", FOLDER)
        for shape in "(4, 64, 64, 3)", "(4, 32, 32, 1)":
            self.assertIn(shape, text)


if __name__ == "__main__":
    unittest.main()
