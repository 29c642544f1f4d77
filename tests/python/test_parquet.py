#!/usr/bin/python3
# gst-spdl: tests of Parquet files as the dataset of a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import importlib.util
import os
import shutil
import sys
import threading
import unittest

import support

if not support.find_packages("pyarrow", "datasets", venv="build-venv-arrow") \
        and importlib.util.find_spec("pyarrow") is None:
    print("SKIP: there is no package pyarrow: tools/setup test gets it from "
          "PyPI, where that can be reached")
    sys.exit(77)

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.dataset as ds  # noqa: E402
import pyarrow.feather  # noqa: E402
import pyarrow.fs  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from errors import raises_with  # noqa: E402
from gstspdl import Loader, LoaderError, LoaderWarning, Pipeline  # noqa: E402
from object_store import Swift  # noqa: E402

N_PHOTOS = 40
FOLDER = support.make_dataset(N_PHOTOS)
PATHS = sorted(FOLDER.glob("*/*.jpg"))
PHOTOS = [path.read_bytes() for path in PATHS]
DECODE = ("! spdlfetch output-order=input ! spdldecode output-order=input "
          "width=16 height=16 ! spdlbatch batch-size=8 ! spdlsink")
# Arrays of four bytes, which are not decoded.
ARRAYS = ('spdlsrc {} ! spdlfetch output-order=input '
          'caps="other/tensors,format=static,num_tensors=1,types=uint8,'
          'dimensions=(string)4,framerate=0/1" ! spdlbatch batch-size=16 '
          "! spdlsink")
# Row groups of the files: 3 of 100 rows and 1 of 50 rows in each of 4 files.
N_FILES, N_ROWS, N_OF_GROUP = 4, 1400, 100
N_OF_FILE = N_ROWS // N_FILES


def encode(numbers, **columns):
    return pa.table({"data": pa.array(
        [int(i).to_bytes(4, "little") for i in numbers], pa.binary(4)),
        **columns})


def write_numbers(folder, **options):
    """Writes files with the numbers of all rows."""
    folder.mkdir()
    for i in range(N_FILES):
        pq.write_table(
            encode(range(i * N_OF_FILE, (i + 1) * N_OF_FILE)),
            folder / f"{i}.parquet", row_group_size=N_OF_GROUP, **options)
    return folder


def read(loader):
    """Returns the numbers of an epoch."""
    rows = []
    for batch in loader:
        found = [int.from_bytes(row.tobytes(), "little")
                 for row in batch["data"].numpy()]
        assert found == list(batch.indices)
        rows += found
    return rows


def group_of(number):
    return number // N_OF_FILE, number % N_OF_FILE // N_OF_GROUP


def count_runs(numbers):
    """Returns how often successive numbers are of different row groups."""
    groups = list(map(group_of, numbers))
    return 1 + sum(a != b for a, b in zip(groups, groups[1:]))


class NumbersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = support.make_folder()
        cls.files = write_numbers(cls.folder / "numbers")

    def line(self, settings="", location=None):
        return ARRAYS.format(f"location={location or self.files / '*.parquet'} "
                             f"{settings}")

    def assert_fails(self, line, code, parts, **options):
        with raises_with(code, *parts), Loader(line, **options) as loader:
            list(loader)


class LocationTest(NumbersTest):
    def test_locations(self):
        single = self.folder / "one.parquet"
        shutil.copy(self.files / "1.parquet", single)
        everything = list(range(N_ROWS))
        # ".." is the folder above the link's target.
        above = self.folder / "deep" / "link" / ".."
        above.parent.parent.mkdir()
        above.parent.symlink_to(self.files)
        for settings, wanted in (
                (f"location={above}/one.parquet", list(range(N_OF_FILE))),
                (f"location={above}/numbers/*.parquet", everything),
                (f"location={above}/numbers/ pattern=*.parquet", everything),
                (f"location={self.files}/*.parquet", everything),
                (f"location={self.files}/[12].parquet",
                 list(range(2 * N_OF_FILE))),
                (f"location={self.folder}/numb*/?.parquet", everything),
                (f"location={self.files} pattern=*.parquet", everything),
                (f"location=file://{self.files} pattern=*.parquet",
                 everything),
                (f"location={single}", list(range(N_OF_FILE)))):
            with self.subTest(settings):
                with Loader(ARRAYS.format("epochs=1 " + settings)) as loader:
                    rows = [int.from_bytes(row.tobytes(), "little")
                            for b in loader for row in b["data"].numpy()]
                    first = 0 if len(wanted) == N_ROWS else N_OF_FILE
                    self.assertEqual(rows, [first + i for i in wanted])

    def test_relative(self):
        code = """if True:
            import sys, gstspdl
            with gstspdl.Loader(sys.argv[1]) as loader:
                print(sum(b.num_items for b in loader))
        """
        done = support.run_python(
            code, ARRAYS.format("epochs=1 location=numbers/*.parquet"),
            cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, f"{N_ROWS}\n"),
                         done.stderr)

    def test_folder_of_classes(self):
        """The folders that Hive and Spark write, with their columns."""
        place = self.folder / "set.parquet"
        table = encode(range(60), label=[i % 3 for i in range(60)])
        ds.write_dataset(table, place, format="parquet",
                         partitioning=["label"], partitioning_flavor="hive")
        (place / "_SUCCESS").touch()
        for name in "_temporary", ".cache":
            (place / name).mkdir()
            pq.write_table(table, place / name / "part-0.parquet")
        (place / "note.txt").touch()
        with Loader(ARRAYS.format(f"location={place} epochs=1").replace(
                "spdlbatch", "spdlbatch labels=true")) as loader:
            found = [(int.from_bytes(row.tobytes(), "little"), label)
                     for b in loader
                     for row, label in zip(b["data"].numpy(), b.labels)]
        self.assertEqual(sorted(found), [(i, i % 3) for i in range(60)])

    def test_folders_above(self):
        """Their names do not become columns, and do not replace labels."""
        place = self.folder / "label=7" / "set.parquet"
        (place / "side=left").mkdir(parents=True)
        pq.write_table(encode(range(60), label=[i % 3 for i in range(60)]),
                       place / "side=left" / "a.PARQUET")
        with Loader(ARRAYS.format(f"location={place} epochs=1").replace(
                "spdlbatch", "spdlbatch labels=true")) as loader:
            batches = list(loader)
        self.assertEqual([label for b in batches for label in b.labels],
                         [i % 3 for i in range(60)])
        self.assertEqual({extra["side"] for b in batches for extra in b.extras},
                         {"left"})

    def test_columns_that_do_not_fit(self):
        place = self.folder / "clash.parquet" / "label=left"
        place.mkdir(parents=True)
        pq.write_table(encode(range(6), label=[1] * 6), place / "a.parquet")
        self.assert_fails(ARRAYS.format(f"location={place.parent}"), "source",
                          [str(place.parent)])

    def test_name_with_brackets(self):
        place = self.folder / "run[1].parquet"
        pq.write_table(encode(range(60)), place)
        with Loader(ARRAYS.format(f"location={place} epochs=1")) as loader:
            self.assertEqual(sum(b.num_items for b in loader), 60)

    def test_pipeline(self):
        pipeline = (Pipeline().files(str(self.files / "*.parquet"),
                                     shuffle=True, shuffle_buffer=500)
                    .fetch(caps="other/tensors,format=static,num_tensors=1,"
                           "types=uint8,dimensions=(string)4,framerate=0/1")
                    .batch(50))
        with pipeline.loader() as loader:
            self.assertEqual(len(loader), N_ROWS // 50)
            self.assertEqual(sorted(i for b in loader for i in b.indices),
                             list(range(N_ROWS)))

    def test_two_sources(self):
        """Each spdlsrc of a pipeline has its files, or a table."""
        line = ("spdlmix name=m ! spdlfetch output-order=input caps=\"other/"
                "tensors,format=static,num_tensors=1,types=uint8,dimensions="
                "(string)4,framerate=0/1\" ! spdlbatch batch-size=10 "
                "! spdlsink "
                f"spdlsrc location={self.files}/[01].parquet epochs=1 ! m. ")
        files = f"spdlsrc location={self.files}/[23].parquet epochs=1 ! m. "
        table = encode(range(2 * N_OF_FILE, N_ROWS))
        for last, source in ((files, None), ("spdlsrc epochs=1 ! m.", table),
                             ("spdlsrc epochs=1 ! m.", table.to_reader())):
            with Loader(line + last, source=source) as loader:
                rows = [int.from_bytes(row.tobytes(), "little")
                        for b in loader for row in b["data"].numpy()]
            self.assertEqual(sorted(rows), list(range(N_ROWS)))
        self.assert_fails(line + files + files, "source", ["2", "[23].parquet"])
        self.assert_fails(line + 2 * "spdlsrc ! m. ", "source", ["2"],
                          source=table)

    def test_dataset(self):
        """A Dataset of pyarrow, with its own order of files."""
        paths = [str(self.files / f"{i}.parquet") for i in (2, 0)]
        dataset = ds.dataset(paths, format="parquet")
        with Loader(ARRAYS.format("epochs=1"), source=dataset) as loader:
            rows = [int.from_bytes(row.tobytes(), "little")
                    for b in loader for row in b["data"].numpy()]
        self.assertEqual(rows, [*range(700, 1050), *range(350)])
        self.assert_fails("spdlbatch ! spdlsink", "source", ["spdlsrc"],
                          source=dataset)
        pa.feather.write_feather(encode([1]), self.folder / "x.feather")
        with self.assertRaises(TypeError):
            Loader(ARRAYS.format(""), source=ds.dataset(
                str(self.folder / "x.feather"), format="feather"))

    def test_file_system(self):
        """Any file system, such as one of fsspec."""
        from pyarrow.fs import FSSpecHandler, PyFileSystem
        try:
            from fsspec.implementations.memory import MemoryFileSystem
        except ImportError:
            self.skipTest("there is no package fsspec")
        memory = MemoryFileSystem()
        for path in self.files.iterdir():
            memory.pipe_file(f"/set/{path.name}", path.read_bytes())
        dataset = ds.dataset("/set", format="parquet",
                             filesystem=PyFileSystem(FSSpecHandler(memory)))
        line = ARRAYS.format("epochs=1 shuffle=true")
        with Loader(line, source=dataset) as loader:
            self.assertEqual(sorted(read(loader)), list(range(N_ROWS)))


class OrderTest(NumbersTest):
    def test_shuffle(self):
        for buffer, n_runs in (0, 16), (350, None):
            line = self.line(f"epochs=2 shuffle=true seed=5 "
                             f"shuffle-buffer={buffer}")
            with Loader(line) as loader:
                self.assertEqual(len(loader), 88)
                epochs = [read(loader) for _ in range(2)]
            for rows in epochs:
                self.assertEqual(sorted(rows), list(range(N_ROWS)))
                if n_runs:
                    self.assertEqual(count_runs(rows), n_runs)
                else:
                    self.assertGreater(count_runs(rows), 500)
            self.assertNotEqual(*epochs)
            with Loader(line) as loader:
                self.assertEqual([read(loader) for _ in range(2)], epochs)
            with Loader(line.replace("seed=5", "seed=6")) as loader:
                self.assertNotEqual(read(loader), epochs[0])

    def test_ranks(self):
        """Ranks divide the rows evenly, and read few row groups twice."""
        for settings in "", "shuffle=true seed=2 shuffle-buffer=250":
            found, groups = [], []
            for rank in range(3):
                line = self.line("epochs=1 shard-mode=uneven " + settings)
                with Loader(line, rank=rank, world_size=3) as loader:
                    found.append(read(loader))
                groups += set(map(group_of, found[-1]))
            self.assertEqual(list(map(len, found)), [467, 467, 466])
            self.assertEqual(sorted(sum(found, [])), list(range(N_ROWS)))
            self.assertLessEqual(len(groups), 16 + 2 * 3)
        for mode, size in ("pad", 467), ("drop", 466):
            rows = []
            for rank in range(3):
                line = self.line(f"epochs=1 shuffle=true shard-mode={mode}")
                with Loader(line, rank=rank, world_size=3) as loader:
                    found = read(loader)
                self.assertEqual(len(found), size)
                rows += found
            self.assertEqual(len(set(rows)), min(3 * size, N_ROWS))

    def test_other_ranks(self):
        """The number of ranks changes within an epoch."""
        line = self.line("epochs=1 shuffle=true seed=8 shuffle-buffer=300 "
                         "shard-mode=uneven")
        states, found = [], []
        for rank in range(2):
            with Loader(line, rank=rank, world_size=2) as loader:
                for batch in loader:
                    found += batch.indices
                    if len(found) > (rank + 1) * 200:
                        states.append(batch.state)
                        break
        for rank in range(3):
            with Loader(line, rank=rank, world_size=3, state=states) as loader:
                found += read(loader)
        self.assertEqual(sorted(found), list(range(N_ROWS)))

    def test_resume(self):
        line = self.line("epochs=2 shuffle=true seed=3 shuffle-buffer=220")
        for number in 1, 40, 88, 120:
            found = []
            with Loader(line) as loader:
                while len(found) < number:
                    for batch in loader:
                        found.append(list(batch.indices))
                        state = batch.state
                        if len(found) == number:
                            break
            with Loader(line, state=state) as loader:
                while not loader.is_finished():
                    found += [list(batch.indices) for batch in loader]
            rows = sum(found, [])
            self.assertEqual(sorted(rows[:N_ROWS]), list(range(N_ROWS)))
            self.assertEqual(sorted(rows[N_ROWS:]), list(range(N_ROWS)))
        for other in ("shuffle-buffer=221", "shuffle-buffer=0"):
            with raises_with(None, "shuffle-buffer=220"):
                Loader(line.replace("shuffle-buffer=220", other),
                       state=state).start()
        with self.assertRaises(LoaderError):
            Loader(line.replace("*.parquet", "[123].parquet"),
                   state=state).start()

    def test_kill(self):
        """A killed run resumes with each row used once in each epoch."""
        # All runs together have 700 batches.
        line = self.line("epochs=2 shuffle=true seed=9 shuffle-buffer=150"
                         ).replace("batch-size=16", "batch-size=4")
        support.check_kills(self, line, N_ROWS)


class Groups:
    """Counts the row groups of a Dataset that are read."""

    def __init__(self, test):
        from gstspdl._loader import parquet

        self.parts, self.columns, self.threads = [], [], set()
        self._open = parquet.RowGroups.open
        counter = self

        def open_part(groups, part, columns):
            if part >= 0:
                counter.parts.append(part)
                counter.threads.add(threading.get_native_id())
            counter.columns.append(columns)
            return counter._open(groups, part, columns)

        parquet.RowGroups.open = open_part
        test.addCleanup(setattr, parquet.RowGroups, "open", self._open)


class ReadingTest(NumbersTest):
    def test_columns(self):
        """Only the columns that spdlsrc uses are read."""
        counted = Groups(self)
        place = self.folder / "columns.parquet"
        table = encode(
            range(20), label=list(range(20)), boxes=[[1.0]] * 20,
            note=["x"] * 20)
        pq.write_table(table, place)
        with self.assertWarnsRegex(LoaderWarning, '"boxes"'):
            with Loader(self.line("epochs=1", place)) as loader:
                extras = [e for b in loader for e in b.extras]
        self.assertEqual(extras, [{"note": "x"}] * 20)
        self.assertEqual(counted.columns,
                         [None, *2 * [["data", "label", "note"]]])
        counted.columns.clear()
        with self.assertWarns(LoaderWarning):
            with Loader(self.line("epochs=1 label=none", place)) as loader:
                self.assertEqual([i for b in loader for i in b.labels],
                                 [-1] * 20)
        self.assertEqual(counted.columns, [None, *2 * [["data", "note"]]])

    def test_read_ahead(self):
        """The number and the size of row groups in memory are bounded."""
        size = pq.ParquetFile(self.files / "0.parquet").metadata.row_group(
            0).total_byte_size
        for settings, n in (
                ("", 5), ("read-ahead=0", 1), ("read-ahead=2", 3),
                ("read-ahead=2 shuffle=true shuffle-buffer=300", 5),
                (f"read-ahead-bytes={2 * size}", 3), ("read-ahead-bytes=1", 2)):
            with self.subTest(settings):
                counted = Groups(self)
                # The pipeline stops before it needs a second row group.
                line = self.line(settings).replace(
                    "batch-size=16", "batch-size=1").replace(
                    "spdlsink", "spdlsink max-buffers=1")
                with Loader(line) as loader:
                    next(iter(loader))
                    support.wait_until_asleep()
                    self.assertGreaterEqual(len(counted.parts), min(n, 3))
                    self.assertLessEqual(len(counted.parts), n + 1)
                self.assertEqual(len(set(counted.parts)), len(counted.parts))
                self.doCleanups()

    def test_once(self):
        """Each row group is read once per epoch, in a thread of its own."""
        counted = Groups(self)
        with Loader(self.line("epochs=1 shuffle=true shuffle-buffer=400")
                    ) as loader:
            read(loader)
        self.assertEqual(sorted(counted.parts), list(range(16)))
        self.assertNotIn(threading.get_native_id(), counted.threads)

    def test_no_copy(self):
        """Items have the addresses of the row group's column."""
        from gstspdl._loader import parquet

        tables = []
        before = parquet.RowGroups.open

        def open_part(groups, part, columns):
            if part >= 0:
                fragment, group = groups._groups[part]
                tables.append(fragment.subset(row_group_ids=[group]).to_table())
                return tables[-1].__arrow_c_stream__()
            return before(groups, part, columns)

        parquet.RowGroups.open = open_part
        self.addCleanup(setattr, parquet.RowGroups, "open", before)
        line = self.line("epochs=1 read-ahead=0", self.files / "0.parquet"
                         ).replace("! spdlbatch batch-size=16 ", "")
        with Loader(line) as loader:
            for i, batch in enumerate(loader):
                buffer = tables[i // N_OF_GROUP]["data"].chunk(0).buffers()[1]
                self.assertEqual(batch["data"].numpy().ctypes.data,
                                 buffer.address + 4 * (i % N_OF_GROUP))
        self.assertEqual(i, N_OF_FILE - 1)

    def test_memory(self):
        """The memory of row groups is released."""
        place = self.folder / "large.parquet"
        rng = np.random.default_rng(1)
        table = pa.table({"data": [rng.bytes(4) + bytes(100_000)
                                   for _ in range(400)]})
        pq.write_table(table, place, row_group_size=20, use_dictionary=False)
        del table
        before = pa.total_allocated_bytes()
        line = (f"spdlsrc location={place} epochs=2 shuffle=true "
                "shuffle-buffer=60 read-ahead=2 ! spdlfetch ! spdlsink")
        largest = 0
        with Loader(line) as loader:
            for _ in range(2):
                for i, batch in enumerate(loader):
                    if i % 10 == 0:
                        largest = max(largest, pa.total_allocated_bytes())
        # A block of 3 row groups, 2 ahead, those of the block before that the
        # queues hold, and 2 that pyarrow decodes twice.
        self.assertLess(largest - before, 11 * 2_000_000)
        del batch
        # All but a small part, which pyarrow keeps for the footer.
        support.wait_until(
            lambda: pa.total_allocated_bytes() < before + 100_000)

    def test_stop(self):
        """A stop does not wait for a row group, and the next start reads it
        again."""
        from gstspdl._loader import parquet

        before = parquet.RowGroups.open
        waiting, end = threading.Event(), threading.Event()

        def open_part(groups, part, columns):
            if part >= 0:
                waiting.set()
                end.wait()
            return before(groups, part, columns)

        parquet.RowGroups.open = open_part
        self.addCleanup(setattr, parquet.RowGroups, "open", before)
        loader = Loader(self.line("epochs=1"))
        loader.start()
        self.assertTrue(waiting.wait(60))
        loader.stop()
        end.set()
        with loader:
            self.assertEqual(read(loader), list(range(N_ROWS)))

    def test_exit(self):
        """The interpreter ends while row groups are read and batches held."""
        code = """if True:
            import sys, gstspdl
            loader = gstspdl.Loader(sys.argv[1])
            kept = [loader, *[next(iter(loader)) for _ in range(3)]]
            print("done")
        """
        for _ in range(3):
            self.assertEqual(support.check_python(
                code, self.line("shuffle=true")), "done\n")


class ErrorTest(NumbersTest):
    def test_open(self):
        missing = self.folder / "none" / "*.parquet"
        self.assert_fails(self.line("", missing), "source", [str(missing)])
        self.assert_fails(self.line("", self.folder / "n.parquet"), "source",
                          ["n.parquet"])
        cut = self.folder / "cut.parquet"
        cut.write_bytes((self.files / "0.parquet").read_bytes()[:-100])
        self.assert_fails(self.line("", cut), "source", [str(cut)])
        # The first file has the schema, and each file its own footer.
        place = self.folder / "cut"
        shutil.copytree(self.files, place)
        shutil.copy(cut, place / "2.parquet")
        self.assert_fails(self.line("", place / "*.parquet"), "source",
                          [(place / "2.parquet").as_uri()])
        self.assert_fails(self.line("weight-column=data"), "pipeline-error",
                          ["weight-column"])

    def test_folder(self):
        """A folder of files needs a pattern, which the error names."""
        self.assert_fails(self.line("", self.files), "pipeline-error",
                          ["pattern=*.parquet"])

    def damage(self, name):
        """Returns files, the second one of which is damaged in its third row
        group."""
        place = write_numbers(self.folder / name, compression="zstd",
                              write_page_checksum=True)
        path = place / "1.parquet"
        column = pq.ParquetFile(path).metadata.row_group(2).column(0)
        data = bytearray(path.read_bytes())
        begin = column.dictionary_page_offset or column.data_page_offset
        for i in range(begin, begin + column.total_compressed_size):
            data[i] ^= 0x55
        path.write_bytes(data)
        return place

    def test_damage(self):
        """The rows of a damaged row group fail, and all others come."""
        place = self.damage("damage")
        lost = range(N_OF_FILE + 200, N_OF_FILE + 300)
        line = self.line("epochs=2 shuffle=true shuffle-buffer=300",
                         place / "*.parquet")
        with Loader(line) as loader:
            for epoch in range(2):
                self.assertEqual(sorted(read(loader)), [
                    i for i in range(N_ROWS) if i not in lost])
                self.assertEqual(sorted(f.index for f in loader.failures),
                                 list(lost))
                self.assertEqual(loader.num_failures, 100 * (epoch + 1))
                for failure in loader.failures:
                    self.assertEqual(failure.uri,
                                     f"arrow:///data/{failure.index}")
                    for part in (place / "1.parquet").as_uri(), "row group 2":
                        self.assertIn(part, failure.reason)
        self.assert_fails(line, "failures", ["1.parquet", "row group 2"],
                          max_failures=99)

    def test_change(self):
        """A file is truncated or replaced after the start."""
        place = self.folder / "change"
        shutil.copytree(self.files, place)
        with Loader(self.line("epochs=1", place / "*.parquet")) as loader:
            os.truncate(place / "3.parquet", 100)
            self.assertEqual(read(loader), list(range(3 * N_OF_FILE)))
            self.assertEqual(loader.num_failures, N_OF_FILE)
            self.assertIn("3.parquet", loader.failures[-1].reason)

    def test_labels(self):
        place = self.folder / "labels.parquet"
        pq.write_table(encode(range(9), label=["a", "b", None] * 3), place)
        line = self.line("epochs=1", place)
        self.assert_fails(line, "pipeline-error", ["classes"])
        with Loader(line, classes=["b", "a"]) as loader:
            self.assertEqual([i for b in loader for i in b.labels],
                             [1, 0, -1] * 3)
        self.assert_fails(line, "pipeline-error", ["row 1", '"label"'],
                          classes=["a", "c"])

    def test_launch(self):
        """Without Python, the error names the way."""
        with raises_with(None, "gstspdl.Loader"):
            Loader(self.line(), process=True).start()


class ImagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = support.make_folder()
        with Loader("spdlfetch " + DECODE[len("! spdlfetch "):],
                    source=PATHS) as files:
            cls.images = np.concatenate([np.array(b["data"]) for b in files])

    def check(self, table, indices=range(N_PHOTOS), **options):
        path = self.folder / f"{self.id()}.parquet"
        pq.write_table(table, path, row_group_size=7)
        with Loader(f"spdlsrc location={path} epochs=1 " + DECODE,
                    **options) as loader:
            batches = list(loader)
        np.testing.assert_array_equal(
            np.concatenate([np.array(b["data"]) for b in batches]),
            self.images[list(indices)])
        return batches, loader

    def test_binary(self):
        self.check(pa.table({"image": PHOTOS}))

    def test_types(self):
        for kind in pa.large_binary(), pa.binary_view():
            with self.subTest(kind):
                self.check(pa.table({"image": pa.array(PHOTOS, kind)}))

    def test_structures(self):
        """The images of Hugging Face datasets, some in files."""
        images = [{"bytes": None if i % 5 == 4 else photo, "path": str(path)}
                  for i, (photo, path) in enumerate(zip(PHOTOS, PATHS))]
        batches, _ = self.check(pa.table({"image": images}))
        keys = [extra["key"] if extra else None
                for b in batches for extra in b.extras]
        self.assertEqual(keys, [None if i % 5 == 4 else str(path)
                                for i, path in enumerate(PATHS)])

    def test_nulls(self):
        table = pa.table({"image": [None if i % 10 == 3 else photo
                                    for i, photo in enumerate(PHOTOS)]})
        _, loader = self.check(table, [i for i in range(N_PHOTOS)
                                       if i % 10 != 3])
        self.assertEqual(sorted((f.index, f.uri) for f in loader.failures),
                         [(i, f"arrow:///image/{i}")
                          for i in range(3, N_PHOTOS, 10)])

    @unittest.skipUnless(importlib.util.find_spec("datasets") and
                         importlib.util.find_spec("PIL"),
                         "there is no package datasets or PIL")
    def test_hugging_face(self):
        """Files that datasets writes have class names."""
        import datasets

        datasets.disable_progress_bars()
        names = sorted({path.parent.name for path in PATHS})
        made = datasets.Dataset.from_dict(
            {"image": list(map(str, PATHS)),
             "label": [names.index(path.parent.name) for path in PATHS]},
            features=datasets.Features({
                "image": datasets.Image(),
                "label": datasets.ClassLabel(names=names)}))
        made.to_parquet(self.folder / "hf.parquet", batch_size=9)
        with Loader(f"spdlsrc location={self.folder / 'hf.parquet'} epochs=1 "
                    + DECODE) as loader:
            self.assertEqual(loader.classes, names)
            labels = [i for b in loader for i in b.labels]
        self.assertEqual(labels, made["label"])

    def check_boxes(self, path, boxes, kinds, names, source=None):
        location = f"location={path}" if path else ""
        line = (f"spdlsrc {location} label=none box-column={names[0]} box-format=xywh "
                f"box-label-columns={names[1]} epochs=1 {DECODE}")
        at = 0
        with Loader(line.replace(" width=16 height=16", ""), source=source) as loader:
            for batch in loader:
                found, numbers = (np.array(batch[name]) for name in names)
                for i, n in enumerate(np.array(batch[f"{names[0]}_lengths"])):
                    self.assertEqual(found[i, :n].tolist(), [
                        [x, y, x + w, y + h] for x, y, w, h in boxes[at]])
                    self.assertEqual(numbers[i, :n].tolist(), kinds[at])
                    at += 1
            self.assertEqual(loader.failures, [])
        self.assertEqual(at, N_PHOTOS)

    @unittest.skipUnless(importlib.util.find_spec("pandas") and
                         importlib.util.find_spec("datasets"),
                         "there is no package pandas or datasets")
    def test_boxes(self):
        """Nested lists that pyarrow, pandas and datasets write are boxes with
        the same values, and the other members are not read wrongly for them."""
        import datasets
        import pandas

        datasets.disable_progress_bars()
        rng = np.random.default_rng(2)
        boxes = [rng.integers(1, 16, (i % 5, 4)).astype(float).tolist()
                 for i in range(N_PHOTOS)]
        kinds = [rng.integers(0, 3, len(of_one)).tolist() for of_one in boxes]
        objects = [{"id": k, "bbox": b, "category": k, "area": [9.5] * len(k)}
                   for b, k in zip(boxes, kinds)]
        rows = [[{"bbox": b, "category": k} for b, k in zip(*of_one)]
                for of_one in zip(boxes, kinds)]
        names = "objects.bbox", "objects.category"
        place = self.folder / "boxes.parquet"
        # JPEGs would be decoded at their size.
        photos = [PHOTOS[0]] * N_PHOTOS
        for column in objects, rows:
            pq.write_table(pa.table({"image": photos, "objects": column}), place,
                           row_group_size=7)
            self.check_boxes(place, boxes, kinds, names)
            pandas.DataFrame({"image": photos, "objects": column}).to_parquet(place)
            self.check_boxes(place, boxes, kinds, names)
        pandas.DataFrame({"image": photos, "boxes": [*map(np.array, boxes)],
                          "kinds": kinds}).map(
            lambda v: v.tolist() if isinstance(v, np.ndarray) else v).to_parquet(place)
        self.check_boxes(place, boxes, kinds, ("boxes", "kinds"))

        value, classes = datasets.Value("float32"), datasets.ClassLabel(names=list("abc"))
        members = {"bbox": datasets.Sequence(value, 4), "category": classes}
        for features, column in (
                (datasets.Sequence(members), objects),
                (datasets.List(members), rows),
                ({"bbox": datasets.Sequence(datasets.Sequence(value, 4)),
                  "category": datasets.Sequence(classes)}, objects)):
            column = [{k: v for k, v in of_one.items() if k in members}
                      if isinstance(of_one, dict) else of_one for of_one in column]
            made = datasets.Dataset.from_dict(
                {"image": [str(PATHS[0])] * N_PHOTOS, "objects": column},
                features=datasets.Features({"image": datasets.Image(),
                                            "objects": features}))
            made.to_parquet(place, batch_size=9)
            with self.subTest(made.features):
                self.check_boxes(place, boxes, kinds, names)
                self.check_boxes(None, boxes, kinds, names, made)
        self.run_boxes_page(place)

    def run_boxes_page(self, place):
        """Runs the Python of the section about tables."""
        page = (support.ROOT / "docs/how-to/detection.md").read_text()
        section = page.split("\n## Hugging Face tables\n")[1].split("\n## ")[0]
        code = "\n".join(line[4:] for line in section.splitlines()
                         if line.startswith("    ") or not line)
        self.assertIn("SIZE = 640", code)
        folder = support.make_folder()
        (folder / "data").mkdir()
        shutil.copy(place, folder / "data/train.parquet")
        self.assertIn("(8, 3, 64, 64)", support.check_python(
            code.replace("SIZE = 640", "SIZE = 64"), cwd=folder))

    def test_page(self):
        """Runs the Python of the how-to page."""
        self.assertIn("(8, 3, 64, 64)", support.run_page(
            "parquet.md", self.folder / "page", FOLDER))


class ObjectStoreTest(NumbersTest):
    """Files in an object store, which pyarrow reads."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = Swift()
        cls.addClassCleanup(cls.store.stop)
        cls.store.make_bucket("set")
        for path in cls.files.iterdir():
            cls.store.put("set", f"train/{path.name}", path.read_bytes())

    def test_file_system(self):
        filesystem = pyarrow.fs.S3FileSystem(
            access_key=Swift.ACCESS_KEY, secret_key=Swift.SECRET_KEY,
            endpoint_override=f"127.0.0.1:{self.store.port}", scheme="http",
            region=self.store.region)
        dataset = ds.dataset("set/train", format="parquet",
                             filesystem=filesystem)
        line = ARRAYS.format("epochs=1 shuffle=true")
        with Loader(line, source=dataset) as loader:
            self.assertEqual(sorted(read(loader)), list(range(N_ROWS)))

    def test_location(self):
        place = "s3://set/train/*.parquet"
        code = """if True:
            import sys, gstspdl
            with gstspdl.Loader(sys.argv[1]) as loader:
                print(sum(b.num_items for b in loader))
        """
        done = support.run_python(
            code, ARRAYS.format(f"epochs=1 location={place}"),
            env={**os.environ, **self.store.environment()})
        self.assertEqual((done.returncode, done.stdout), (0, f"{N_ROWS}\n"),
                         done.stderr)


if __name__ == "__main__":
    unittest.main()
