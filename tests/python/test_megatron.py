#!/usr/bin/python3
# gst-spdl: tests of token ids in Megatron's format
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files are written here, from the format's description: IndexedDataset of
Megatron-LM."""

import pathlib
import resource
import struct
import tempfile
import unittest

import numpy as np

from gstspdl import Loader, LoaderError

CODES = {"uint8": 1, "int32": 4, "int64": 5, "uint16": 8}


def write(path, documents, dtype="uint16", modes=False):
    """Writes documents, each a list of sequences."""
    sequences = [np.asarray(s, dtype) for d in documents for s in d]
    lengths = np.array([len(s) for s in sequences], "<i4")
    places = np.cumsum(np.append(0, lengths[:-1])) * np.dtype(dtype).itemsize
    counts = np.cumsum([0] + [len(d) for d in documents])
    path.with_suffix(".bin").write_bytes(b"".join(s.tobytes() for s in sequences))
    path.with_suffix(".idx").write_bytes(
        b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, CODES[dtype], len(sequences),
                                     len(counts))
        + lengths.tobytes() + places.astype("<i8").tobytes()
        + counts.astype("<i8").tobytes()
        + (b"\0" * len(sequences) if modes else b""))


def make_documents(n=200, most=30):
    rng = np.random.default_rng(2)
    return [[rng.integers(0, 200, rng.integers(0, 12)) for _ in range(k)]
            for k in rng.integers(0, 4, n)]


def load(location, settings="", rest="", state=None):
    with Loader(f'spdlsrc location="{location}" {settings} epochs=1 '
                f"! spdlfetch output-order=input {rest} ! spdlsink",
                state=state) as loader:
        yield from loader


class MegatronTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "a b#1.idx"

    def test_documents(self):
        """Each document is an item of its tokens, of each type, in order and
        shuffled, also if it is empty or has several sequences."""
        documents = make_documents()
        expected = [np.concatenate(d + [[]]).astype(int).tolist() for d in documents]
        self.assertIn([], expected)
        for dtype in CODES:
            for shuffle in "false", "true":
                write(self.path, documents, dtype, modes=shuffle == "true")
                items = {}
                for item in load(self.path, f"shuffle={shuffle}"):
                    self.assertEqual(item.extras[0]["token-type"], dtype)
                    items[item.indices[0]] = np.frombuffer(
                        bytes(np.asarray(item["data"])), dtype).tolist()
                self.assertEqual([items[i] for i in range(len(expected))], expected)
        self.assertEqual(len(list(load(self.path.with_suffix(".bin")))), 200)
        n = sum(len(list(load(self.path, f"rank={i} world-size=3 shard-mode=uneven")))
                for i in range(3))
        self.assertEqual(n, 200)

    def test_rows(self):
        """Rows have all tokens, also of a run that resumes."""
        documents = make_documents()
        write(self.path, documents)
        stream = [t for d in documents if sum(map(len, d))
                  for t in [*np.concatenate(d).tolist(), 999]]
        pack = "! spdlpack row-length=64 max-documents=64 eos-id=999 pad-id=-1 ! spdlbatch batch-size=2"
        batches = [(np.asarray(b["tokens"]).ravel().tolist(), b.state)
                   for b in load(self.path, rest=pack)]
        tokens = [t for b, _ in batches for t in b]
        self.assertEqual(tokens[:len(stream)], stream)
        self.assertEqual(set(tokens[len(stream):]), {-1})
        rest = [np.asarray(b["tokens"]).ravel().tolist()
                for b in load(self.path, rest=pack, state=batches[2][1])]
        self.assertEqual(rest, [b for b, _ in batches[3:]])
        # Other tokens under the same name.
        write(self.path, [[s[::-1] for s in d] for d in documents])
        with self.assertRaises(LoaderError):
            list(load(self.path, rest=pack, state=batches[2][1]))

    def test_closed(self):
        """No file stays open after the end of a loader."""
        write(self.path, make_documents())
        self.assertEqual(len(list(load(self.path))), 200)
        names = [file.resolve().name for file in pathlib.Path("/proc/self/fd").iterdir()]
        self.assertNotIn(self.path.with_suffix(".bin").name, names)

    def test_broken(self):
        """Files that do not fit to each other are errors."""
        write(self.path, [[[1, 2, 3]], [[4]], [[5], [6]]])
        index = self.path.read_bytes()
        tokens = self.path.with_suffix(".bin").read_bytes()

        def change(at, data):
            return index[:at] + data + index[at + len(data):]

        places = 34 + 4 * 4
        for name, data, content in (
                ("magic", change(0, b"X"), tokens),
                ("version", change(9, b"\2"), tokens),
                ("float", change(17, b"\7"), tokens),
                ("unknown type", change(17, b"\xff"), tokens),
                ("count", change(18, b"\5"), tokens),
                ("huge count", change(18, b"\xff" * 8), tokens),
                ("no documents", change(26, b"\0"), tokens),
                ("short", index[:-1], tokens),
                ("header", index[:20], tokens),
                ("empty", b"", tokens),
                ("long", index + b"\0", tokens),
                ("gap", change(places + 24, b"\x0c"), tokens),
                ("far", change(places + 16, b"\xff" * 8), tokens),
                ("short tokens", index, tokens[:-1]),
                ("no tokens", index, b"")):
            with self.subTest(name):
                self.path.write_bytes(data)
                self.path.with_suffix(".bin").write_bytes(content)
                with self.assertRaises(LoaderError) as caught:
                    list(load(self.path))
                self.assertIn("a b#1", str(caught.exception))
        self.path.write_bytes(index)
        self.path.with_suffix(".bin").unlink()
        with self.assertRaises(LoaderError):
            list(load(self.path))
        with self.assertRaises(LoaderError):
            list(load(self.path, "label=manifest"))

    def test_size(self):
        """10^11 tokens open in little memory."""
        n = 10**8
        with open(self.path, "wb") as file:
            file.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, n, n + 1))
            file.seek(34 + 4 * (n - 1))
            file.write(struct.pack("<i", 1000))
            file.seek(34 + 12 * n - 8)
            file.write(struct.pack("<q", 2 * 10**11 - 2000))
            file.seek(34 + 20 * n - 8)
            file.write(struct.pack("<qq", n - 1, n))
        with open(self.path.with_suffix(".bin"), "wb") as file:
            file.truncate(2 * 10**11)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with Loader(f'spdlsrc location="{self.path}" shuffle=true '
                    "! spdlfetch ! spdlsink") as loader:
            self.assertEqual(loader.next().epoch, 0)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(after - before, 20000)


if __name__ == "__main__":
    unittest.main()
