#!/usr/bin/python3
# gst-spdl: tests of shards whose files are in any order
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each item must have the bytes, label, texts and mask that were written. The
argument is gst-spdl-index."""

import http.server
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import warnings
import zipfile

from gstspdl import Loader, LoaderError, LoaderWarning

TOOL = pathlib.Path(sys.argv.pop(1)).absolute()


def make_files():
    """Returns the contents of the files by name. Two folders have files of the
    same names."""
    draw = random.Random(1)
    files = {}
    for i, key in enumerate([f"{folder}/{n:02}{end}" for folder in ("a", "b/c.d")
                             for n in range(4) for end in ("", "-x")]):
        files |= {f"{key}.jpg": b"image" + draw.randbytes(900 + i),
                  f"{key}.seg.png": b"mask" + draw.randbytes(600 + i),
                  f"{key}.cls": b"%d" % i, f"{key}.txt": b"text %d" % i,
                  f"{key}.json": b'{"n": %d}' % i}
    return files


FILES = make_files()
SORTED = sorted(FILES)
MIXED = random.Random(2).sample(SORTED, len(FILES))
KEYS = {name: name[:len(name) - len(name.rpartition("/")[2].partition(".")[2]) - 1]
        for name in FILES}


def expect(names):
    """Returns the items of a shard with these files in order."""
    return [(key, FILES[f"{key}.jpg"] + FILES[f"{key}.seg.png"],
             int(FILES[f"{key}.cls"]), FILES[f"{key}.txt"].decode(),
             json.loads(FILES[f"{key}.json"])["n"])
            for key in dict.fromkeys(KEYS[name] for name in names)]


def load(location, source="index-cache=none", parts="parts=seg.png"):
    """Returns the items in the order of the dataset, and the warnings."""
    media, extras, labels = {}, {}, {}

    def keep(sample):
        media[sample.index] = bytes(sample)
        return sample

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loader = Loader(f'spdlsrc location="{location}" epochs=1 {source} '
                        f"! spdlfetch {parts} ! spdlpipe name=f ! spdlsink")
        loader.map("f", keep)
        with loader:
            for batch in loader:
                extras.update(zip(batch.indices, batch.extras))
                labels.update(zip(batch.indices, batch.labels))
    return [(extras[i]["key"], media[i], labels[i], extras[i].get("txt"),
             extras[i].get("n")) for i in sorted(media)], \
        [str(warning.message) for warning in caught
         if issubclass(warning.category, LoaderWarning)]


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves a folder, with byte ranges unless the path begins with /whole."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    folder = None
    sent = []

    def do_GET(self):
        mode, _, name = self.path[1:].partition("/")
        path = pathlib.Path(self.folder, name)
        if not path.exists():
            self.send_error(404)
            return
        data = path.read_bytes()
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers["Range"] or "")
        if span and mode != "whole":
            first, last = int(span[1]), int(span[2] or len(data))
            part = data[first:last + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-"
                             f"{first + len(part) - 1}/{len(data)}")
            data = part
        else:
            self.send_response(200)
        self.sent.append((name, len(data)))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        """A client may close a connection while it is read or written."""


class ShardsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name, content in FILES.items():
            path = cls.folder / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        Handler.folder = cls.folder
        server = Server(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        cls.addClassCleanup(thread.join)
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.url = f"http://127.0.0.1:{server.server_port}"

    def run_in_folder(self, *arguments, **options):
        subprocess.run([str(argument) for argument in arguments], check=True,
                       cwd=self.folder / "in", stdout=subprocess.DEVNULL,
                       **options)

    def write_tar(self, name, names, mode="w"):
        with tarfile.open(self.folder / name, mode) as tar:
            for member in names:
                info = tarfile.TarInfo(member)
                info.size = len(FILES[member])
                tar.addfile(info, io.BytesIO(FILES[member]))

    def check(self, name, names):
        """Checks a shard as a file and on a server, with an index that spdlsrc
        makes and with one of gst-spdl-index."""
        expected = (expect(names), [])
        self.assertEqual(load(self.folder / name), expected)
        self.assertEqual(load(f"{self.url}/ranges/{name}"), expected)
        index = self.folder / f"{name}.spdl-index"
        self.run_in_folder(TOOL, self.folder / name)
        made = index.read_bytes()
        self.assertEqual(load(self.folder / name, "index-cache=auto"), expected)
        self.assertEqual(load(f"{self.url}/ranges/{name}", "index-cache=auto"),
                         expected)
        self.assertEqual(index.read_bytes(), made)
        self.assertIn((index.name, len(made)), Handler.sent)

    def test_gnu_tar(self):
        """The order of a folder is that of its file system, so a list of names
        gives another one."""
        (self.folder / "names").write_text("\n".join(MIXED))
        for name, arguments in (("gnu-folder.tar", ["a", "b"]),
                                ("gnu-sorted.tar", ["--sort=name", "a", "b"]),
                                ("gnu-mixed.tar", ["-T", "../names"])):
            with self.subTest(name):
                self.run_in_folder("tar", "-cf", self.folder / name, *arguments)
                with tarfile.open(self.folder / name) as tar:
                    names = [m.name for m in tar if m.isfile()]
                self.check(name, names)

    def test_zip(self):
        for method in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
            name = f"python-{method}.zip"
            with zipfile.ZipFile(self.folder / name, "w", method) as archive:
                for member in MIXED:
                    archive.writestr(member, FILES[member])
            with self.subTest(name):
                self.check(name, MIXED)

    @unittest.skipUnless(shutil.which("zip"), "needs zip")
    def test_zip_tool(self):
        self.run_in_folder("zip", "-q", "-r", self.folder / "tool.zip", ".")
        with zipfile.ZipFile(self.folder / "tool.zip") as archive:
            names = [name for name in archive.namelist() if name in FILES]
        self.check("tool.zip", names)

    def test_tarfile(self):
        self.write_tar("mixed.tar", MIXED)
        self.check("mixed.tar", MIXED)

    def test_old_index(self):
        """Tests that an index of an older version is written again."""
        self.write_tar("old.tar", MIXED)
        os.utime(self.folder / "old.tar", (1e9, 1e9))
        self.run_in_folder(TOOL, self.folder / "old.tar")
        index = self.folder / "old.tar.spdl-index"
        made = index.read_bytes()
        for version in 1, 4, 5:
            index.write_bytes(made[:7] + bytes([version]) + made[8:])
            self.assertEqual(load(self.folder / "old.tar", "index-cache=always"),
                             (expect(MIXED), []))
            self.assertEqual(index.read_bytes(), made)

    def test_two_shards(self):
        """Tests that a key in two shards is two samples."""
        self.write_tar("part-0.tar", ["a/00.jpg", "a/00.seg.png", "a/01.cls"])
        self.write_tar("part-1.tar", ["a/01.jpg", "a/01.seg.png", "a/00.cls"])
        items, caught = load(self.folder / "part-{0..1}.tar")
        self.assertEqual([(item[0], item[2]) for item in items],
                         [("a/00", -1), ("a/01", -1)])
        for i in range(2):
            self.assertTrue(any(f"part-{i}.tar" in text for text in caught))

    def test_missing_image(self):
        """Tests that a mask without its image is not an image in silence."""
        keys = [f"a/{i:02}{end}" for i in range(2) for end in ("", "-x")]
        names = [name for name in SORTED
                 if KEYS[name] in keys and name != "a/01.jpg"]
        self.write_tar("missing.tar", names)
        for location in (self.folder / "missing.tar",
                         f"{self.url}/whole/missing.tar"):
            with self.subTest(location):
                items, caught = load(location, parts="")
                self.assertEqual([item[0] for item in items],
                                 list(dict.fromkeys(KEYS[n] for n in names)))
                self.assertEqual(len(caught), 1)
                for text in '"a/01"', '"seg.png"', "extensions":
                    self.assertIn(text, caught[0])
                items, caught = load(
                    location, "index-cache=none extensions=jpg", "")
                self.assertNotIn("a/01", [item[0] for item in items])
                self.assertEqual(len(items), len(keys) - 1)
                self.assertEqual(len(caught), 1)

    def test_two_files(self):
        """Tests that two files with one key and extension are refused, with
        files of other samples between them or not."""
        for names in (["a/00.jpg"] * 2, [*MIXED, "a/00.jpg"]):
            self.write_tar("twice.tar", names)
            with self.assertRaisesRegex(LoaderError, r"a/00\.jpg"):
                load(self.folder / "twice.tar")

    def test_ranges(self):
        """Tests that the bytes between the files of a sample are not read."""
        FILES["gap.bin"] = bytes(400000)
        self.addCleanup(FILES.pop, "gap.bin")
        self.write_tar("gap.tar", ["a/00.jpg", "gap.bin", "a/00.seg.png",
                                   "a/00.cls", "a/00.txt", "a/00.json"])
        self.run_in_folder(TOOL, self.folder / "gap.tar")
        Handler.sent.clear()
        items, _ = load(f"{self.url}/ranges/gap.tar", "index-cache=auto")
        self.assertEqual(items, expect(["a/00.jpg"]))
        self.assertLess(sum(n for name, n in Handler.sent if name == "gap.tar"),
                        50000)

    def test_streamed(self):
        self.write_tar("ordered.tar", SORTED)
        self.write_tar("ordered.tar.gz", SORTED, "w:gz")
        for name in "ordered.tar", "ordered.tar.gz":
            with self.subTest(name):
                self.assertEqual(load(f"{self.url}/whole/{name}"),
                                 (expect(SORTED), []))

    def test_streamed_out_of_order(self):
        """Tests that the samples before a key that comes back are delivered,
        and that the warning has the key."""
        names = [name for name in SORTED if KEYS[name] in ("a/00", "a/01")]
        self.write_tar("back.tar", [n for n in names if n != "a/00.cls"] +
                       ["a/00.cls"])
        self.write_tar("ordered-2.tar", names)
        items, caught = load(f"{self.url}/whole/{{back,ordered-2}}.tar")
        wanted = expect(names)
        self.assertEqual(items, [(*wanted[0][:2], -1, *wanted[0][3:]),
                                 *wanted[1:], *wanted])
        self.assertTrue(any(
            all(value in text for value in ("back.tar", "a/00.cls",
                                            "--sort=name")) for text in caught))


if __name__ == "__main__":
    unittest.main()
