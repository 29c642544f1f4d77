#!/usr/bin/python3
# gst-spdl: tests of lists of token ids in tables and Parquet files
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import importlib.util
import pathlib
import sys
import tempfile
import unittest

import support

if not support.find_packages("pyarrow", "datasets", venv="build-venv-arrow") \
        and importlib.util.find_spec("pyarrow") is None:
    print("SKIP: there is no package pyarrow: tools/setup test gets it from "
          "PyPI, where that can be reached")
    sys.exit(77)

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from gstspdl import Loader, LoaderError, pretrain_tokens  # noqa: E402

TYPES = {pa.uint8(): "uint8", pa.uint16(): "uint16", pa.int32(): "int32",
         pa.uint32(): "uint32", pa.int64(): "int64"}


def make_documents(dtype, n=100):
    """Returns lists, some of them empty, with the least and the largest values."""
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    return [rng.integers(limits.min, limits.max, rng.integers(0, 12), dtype,
                         endpoint=True).tolist() for _ in range(n)] + [
        [int(limits.min), int(limits.max)]]


def load(location="", source=None, settings="", rest="", state=None):
    location = f'location="{location}"' if location else ""
    with Loader(f"spdlsrc {location} {settings} ! spdlfetch output-order=input {rest} "
                "! spdlsink", source=source, state=state) as loader:
        yield from loader
        load.failures = loader.failures


def read(*args, **options):
    """Returns the tokens of each item, and their types."""
    items, types = {}, set()
    for item in load(*args, **options):
        dtype = item.extras[0]["token-type"]
        items[item.indices[0]] = np.frombuffer(
            bytes(np.asarray(item["data"])), dtype).tolist()
        types.add(dtype)
    return items, types


PACK = "! spdlpack row-length=50 max-documents=50 eos-id=5000000000 pad-id=-2 ! spdlbatch batch-size=1"


def join(documents):
    """Returns all tokens as PACK writes them."""
    return [t for d in documents if d for t in [*d, 5 * 10**9]]


def read_rows(*args, **options):
    """Returns all tokens, and the state after each row."""
    rows = [(np.asarray(b["tokens"]).ravel().tolist(), b.state)
            for b in load(*args, rest=PACK, **options)]
    return [t for row, _ in rows for t in row if t != -2], [s for _, s in rows]


class ListsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "a.parquet"

    def write(self, documents, type=pa.int32(), name="input_ids", **options):
        table = pa.table({"text": ["x"] * len(documents),
                          name: pa.array(documents, pa.list_(type))})
        pq.write_table(table, self.path, **options)
        return table

    def test_types(self):
        """Lists of each type, of tables and files, in order and shuffled."""
        for type, name in TYPES.items():
            documents = make_documents(name)
            wanted = dict(enumerate(documents)), {name}
            with self.subTest(name):
                table = self.write(documents, type, row_group_size=7)
                self.assertEqual(read(self.path), wanted)
                self.assertEqual(read(self.path, settings="shuffle=true seed=3"),
                                 wanted)
                self.assertEqual(read(source=table), wanted)
                self.assertEqual(read(source=table.slice(11, 5)),
                                 (dict(enumerate(documents[11:16])), {name}))
                large = pa.table({"tokens": pa.array(documents, pa.large_list(type))})
                self.assertEqual(read(source=large), wanted)
                fixed = pa.table({"tokens": pa.array(
                    [d[:2] for d in documents if len(d) > 1], pa.list_(type, 2))})
                self.assertEqual(read(source=fixed.slice(3))[0], dict(enumerate(
                    [d[:2] for d in documents if len(d) > 1][3:])))

    def test_rows(self):
        """spdlpack makes rows of them, also in a run that resumes, in one call, and
        on several ranks."""
        documents = [[t % 2**40 for t in d] for d in make_documents("int64")]
        self.write(documents, pa.int64(), "tokens", row_group_size=9)
        tokens, states = read_rows(self.path)
        self.assertEqual(tokens, join(documents))
        for place in 0, 3, len(states) - 2:
            rest, _ = read_rows(self.path, state=states[place])
            self.assertEqual(rest, tokens[50 * (place + 1):])
        parts = [read_rows(self.path, settings=f"rank={i} world-size=3 "
                           "shard-mode=uneven")[0] for i in range(3)]
        self.assertEqual(sorted(sum(parts, [])), sorted(tokens))
        with pretrain_tokens(self.path, 50, train=False, eos_id=5 * 10**9, pad_id=-2,
                             max_documents=50) as loader:
            rows = np.concatenate([np.asarray(b["tokens"]) for b in loader])
        self.assertEqual([t for t in rows.ravel().tolist() if t != -2], tokens)

    def test_state(self):
        """A state is not that of other tokens."""
        documents = make_documents("int32")
        _, states = read_rows(source=self.write(documents))
        for other in [d[::-1] for d in documents], documents[:-1] + [[1]]:
            with self.assertRaises(LoaderError):
                read_rows(source=self.write(other), state=states[1])

    def test_hugging_face(self):
        """Files that `datasets` writes after tokenizing."""
        if not importlib.util.find_spec("datasets"):
            self.skipTest("needs datasets")
        import datasets

        words = [" ".join(str(n) for n in range(i)) for i in range(30)]
        made = datasets.Dataset.from_dict({"text": words}).map(
            lambda rows: {"input_ids": [list(map(int, t.split())) for t in rows["text"]],
                          "attention_mask": [[1] * len(t.split()) for t in rows["text"]]},
            batched=True)
        wanted = dict(enumerate(list(range(i)) for i in range(30)))
        for table in made, made.cast_column(
                "input_ids", datasets.Sequence(datasets.Value("int32"))):
            table.to_parquet(str(self.path))
            self.assertEqual(read(self.path)[0], wanted)
            self.assertEqual(read(source=table)[0], wanted)
            some = table.select([7, 3, 29])
            self.assertEqual(list(read(source=some)[0].values()),
                             [wanted[7], wanted[3], wanted[29]])
        only = made.remove_columns("text").with_format("numpy")
        self.assertEqual(read(source=only)[0], wanted)

    def test_other_columns(self):
        """Bytes and `uri` are the item as before; uri-column names a list."""
        documents = [[1, 2], [3]]
        table = pa.table({"bytes": [b"ab", b"c"], "input_ids": documents,
                          "ids": [[5], []]})
        item = next(load(source=table))
        self.assertEqual(bytes(np.asarray(item["data"])), b"ab")
        self.assertNotIn("token-type", item.extras[0] or {})
        self.assertEqual(read(source=table, settings="uri-column=ids")[0],
                         {0: [5], 1: []})
        self.assertEqual(read(source=table, settings="uri-column=input_ids")[0],
                         {0: [1, 2], 1: [3]})

    def test_null(self):
        """A list that is null, or has a null, fails with its reason."""
        documents = [[1], None, [2, 3], [4, None, 5], [], [6]]
        for source in self.write(documents, row_group_size=4), None:
            tokens, _ = read_rows(*([] if source else [self.path]), source=source)
            self.assertEqual(tokens, join([[1], [2, 3], [6]]))
            self.assertEqual([f.index for f in load.failures], [1, 3])
            self.assertIn("is null", str(load.failures[0]))
            self.assertIn('row 3, column "input_ids": the list has a null',
                          str(load.failures[1]))

    def test_wrong_type(self):
        """Other lists are errors that name the types."""
        for type, values in (pa.float32(), [[1.5]]), (pa.int8(), [[1]]), \
                (pa.uint64(), [[1]]), (pa.string(), [["a"]]), \
                (pa.list_(pa.int32()), [[[1]]]), (pa.bool_(), [[True]]):
            for settings in "", "uri-column=input_ids":
                with self.subTest(type=type, settings=settings), \
                        self.assertRaises(LoaderError) as caught:
                    self.write(values, type)
                    read(self.path, settings=settings)
                self.assertIn("uint16, int32, uint32 or int64", str(caught.exception))

    def test_broken(self):
        """Offsets outside of the numbers are errors that name the row."""
        for offsets in [0, 1, 1000], [0, -5, 2], [0, 2, 1]:
            buffer = np.array([0, 1, 2], "int32")
            lists = pa.Array.from_buffers(
                pa.list_(pa.int32()), 2, [None, pa.py_buffer(buffer)],
                children=[pa.array([1, 2], pa.int32())])
            table = pa.table({"input_ids": lists})
            buffer[:] = offsets  # pyarrow has checked them
            with self.subTest(offsets), self.assertRaises(LoaderError) as caught:
                read(source=table)
            self.assertRegex(str(caught.exception),
                             'row [01], column "input_ids": .* outside of its buffer')

    def test_mix(self):
        """Shares of tokens are those of the lists."""
        self.write([[1] * n for n in range(1, 60)])
        other = self.path.with_name("b.parquet")
        pq.write_table(pa.table({"tokens": [[2] * 5] * 500 + [None]}), other)
        with Loader("spdlmix name=m unit=tokens sink_0::weight=3 "
                    "stopping-strategy=all-exhausted "
                    "! spdlfetch output-order=input "
                    "! spdlpack row-length=1000 max-documents=1000 ! spdlbatch batch-size=1 "
                    f'! spdlsink spdlsrc location="{self.path}" epochs=-1 ! m.sink_0 '
                    f'spdlsrc location="{other}" epochs=-1 ! m.sink_1') as loader:
            tokens = np.concatenate([np.asarray(batch["tokens"]).ravel()
                                     for _ in range(10) for batch in loader])
        tokens = tokens[tokens > 0]
        self.assertLess(abs((tokens == 1).mean() - 0.75), 0.002)


if __name__ == "__main__":
    unittest.main()
