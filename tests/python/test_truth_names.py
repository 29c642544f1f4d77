#!/usr/bin/python3
# gst-spdl: tests of odd names of files, members and keys, by every way in
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset. Each name is the name of a file next
to others whose names are equal but for blanks, escapes or a fragment, so that a
name that is changed on the way delivers other bytes."""

import contextlib
import csv
import io
import json
import os
import pathlib
import shutil
import tarfile
import unittest
import urllib.parse
import warnings
import zipfile

from fake_store import FakeS3
from support import find_packages, make_folder

# May start this program again in the virtual environment that has it.
HAS_ARROW = find_packages("pyarrow", venv="build-venv-arrow")

from errors import raises_with  # noqa: E402
from gstspdl import Loader, LoaderError  # noqa: E402

NAMES = [os.fsencode(name) for name in (
    "plain.jpg", "cat.jpg ", " cat.jpg", "  a b  ", " ", "\u00a0nbsp\u00a0",
    "tab\tin.jpg", "tab.jpg\t", "\tjpg", "nl.jpg\n", "\nnl.jpg", "a\nb.jpg",
    "cr.jpg\r", "crlf.jpg\r\n", "a\r\nb.jpg", "x#bytes=1-5",
    "y#bytes=0-3&inflate=9&crc32=0", "#bytes=0-1", "#comment.jpg", "50%.jpg",
    "a%20b.jpg", "a%2Fb.jpg", "a%00b.jpg", "q?x=1&y=2.jpg", "a+b.jpg", "a:b",
    "file:a", "http:", "c:\\x.jpg", "back\\nslash", "-rf", "--help.jpg", "~",
    "$HOME", "*.jpg", "[a]{b,c}.jpg", "'q'", "\"q\".jpg", "a,b;c.jpg",
    "null", "-1", "\u00e9.jpg", "e\u0301.jpg", "\u65e5\u672c\U0001f600.jpg",
    "\ufeffbom.jpg", "\x01\x7f.jpg", "dots..", "l" * 251 + ".jpg")]
NAMES += [b"\xe9.jpg", b"\xe8.jpg", b"\xff\xfe "]
FOLDER = make_folder()
DATA = os.fsencode(FOLDER / "data")


def content_of(name):
    return b"content of " + name


def is_text(name):
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def write_files():
    """Returns the contents of all files by path, relative to DATA."""
    files = {}
    for name in NAMES:
        files[name] = content_of(name)
        files[b"in/" + name + b"/item"] = content_of(name + b"/")
    for name in NAMES:
        for other in (name.strip(), name.rstrip(b"\r\n"), name.split(b"#")[0],
                      name.split(b"?")[0], name.replace(b"+", b" "),
                      urllib.parse.unquote_to_bytes(name)):
            if other and b"/" not in other and b"\0" not in other:
                files.setdefault(other, b"another file than " + name)
    for path, data in files.items():
        path = os.path.join(DATA, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return files


FILES = write_files()
# What the tests of lists read.
PATHS = NAMES + [b"in/" + name + b"/item" for name in NAMES]


def uri_of(path):
    return "file://" + urllib.parse.quote(os.path.join(DATA, path))


def path_of(uri):
    return os.path.relpath(urllib.parse.unquote_to_bytes(uri[len("file://"):]),
                           DATA)


def load(line, parts=(), **settings):
    """Returns [uri, bytes, bytes of each part], and the warnings."""
    items = []
    line = line.replace("spdlfetch", "spdlfetch output-order=input")
    with warnings.catch_warnings(record=True) as caught, \
            Loader(line + " ! spdlsink", **settings) as loader:
        warnings.simplefilter("always")
        for batch in loader:
            items.append([batch.keys[0], *(batch[name].numpy().tobytes()
                                           for name in ("data", *parts))])
        failures = list(loader.failures)
    assert not failures, failures[0]
    return items, [str(warning.message) for warning in caught]


@contextlib.contextmanager
def write_list(name, data):
    """Writes a list to the folder of the data, for a while."""
    path = os.path.join(os.fsdecode(DATA), name)
    with open(path, "wb") as file:
        file.write(data)
    try:
        yield f"spdlsrc location={path} index-cache=none"
    finally:
        os.unlink(path)


def write_csv(rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def write_jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n"
                   for i, row in enumerate(rows)).encode()


def as_line(path):
    """Returns the path as it is written in a text list."""
    if (not is_text(path) or path.endswith(b"\r") or b"\n" in path or
            b"\t" in path):
        return uri_of(path).encode()
    return b"./" + path if path.startswith(b"#") or path.isspace() else path


def as_text(path, folder=""):
    """Returns the path as a text of Unicode."""
    return folder + path.decode() if is_text(path) else uri_of(path)


class NamesTest(unittest.TestCase):
    maxDiff = 2000

    def check(self, found, paths):
        """Checks the items, which are local files, and their URIs."""
        self.assertEqual([[path_of(uri), data] for uri, data in found],
                         [[path, FILES[path]] for path in paths])


class LocalTest(NamesTest):
    def test_folder(self):
        found, _ = load(f"spdlsrc location={os.fsdecode(DATA)} ! spdlfetch")
        found.sort(key=lambda item: path_of(item[0]))
        self.check(found, sorted(FILES))

    def test_text_list(self):
        for end in b"\n", b"\r\n":
            lines = end.join(map(as_line, PATHS))
            for rest in b"", end, end + b" \t " + end:
                with write_list("a.txt", lines + rest) as source:
                    self.check(load(source + " ! spdlfetch")[0], PATHS)
        lines = b"\n".join(as_line(path) + b"\t3 " for path in PATHS)
        with write_list("a.txt", lines) as source:
            self.check(load(source + " ! spdlfetch")[0], PATHS)

    def test_csv(self):
        for make in (as_text, uri_of,
                     lambda p: as_text(p, os.fsdecode(DATA + b"/"))):
            rows = [["uri", "label"], *([make(p), 1] for p in PATHS)]
            with write_list("a.csv", write_csv(rows)) as source:
                self.check(load(source + " ! spdlfetch")[0], PATHS)

    def test_jsonl(self):
        rows = [{"uri": as_text(p)} for p in PATHS]
        with write_list("a.jsonl", write_jsonl(rows)) as source:
            self.check(load(source + " ! spdlfetch")[0], PATHS)

    def test_no_name(self):
        for name, data in ("a.csv", b"uri,label\n,1\n"), \
                ("a.jsonl", b'{"uri": ""}\n'), ("a.txt", b"\t1\n"):
            with self.subTest(name), write_list(name, data) as source, \
                    self.assertRaises(LoaderError):
                load(source + " ! spdlfetch")

    def test_folder_that_looks_like_a_scheme(self):
        os.mkdir(os.path.join(DATA, b"in/ftp:"))
        self.addCleanup(shutil.rmtree, os.path.join(DATA, b"in/ftp:"))
        for name, path in (b"a.jpg", b"ftp:/a.jpg"), (b" ", b"ftp:/ "):
            with open(os.path.join(DATA, b"in/", path), "wb") as file:
                file.write(name)
        with write_list("in/a.txt", b"ftp:/a.jpg\n./ftp://a.jpg\n") as source:
            found, _ = load(source + " ! spdlfetch")
        self.assertEqual([data for _, data in found], [b"a.jpg"] * 2)
        found, _ = load("spdlfetch", source=[
            pathlib.Path(os.fsdecode(DATA), "in", "ftp:", " ")])
        self.assertEqual([data for _, data in found], [b" "])

    def test_parts(self):
        others = PATHS[1:] + PATHS[:1]
        rows = [(as_text(p), as_text(m)) for p, m in zip(PATHS, others)]
        for name, data in (
                ("a.csv", write_csv([("uri", "mask"), *rows])),
                ("a.jsonl", write_jsonl([{"uri": p, "mask": m}
                                         for p, m in rows]))):
            with self.subTest(name), write_list(name, data) as source:
                found, _ = load(source + " ! spdlfetch parts=mask", ["mask"])
                self.assertEqual([i[1:] for i in found], [
                    [FILES[p], FILES[m]] for p, m in zip(PATHS, others)])


class ProgramTest(NamesTest):
    """Items from Python, and payloads of spdlfetch."""

    def refuse(self, **settings):
        """Tests that the only item fails."""
        with raises_with("pipeline-error"):
            load("spdlfetch", **settings)

    def test_paths(self):
        class BytesPath:
            def __init__(self, path):
                self.path = path

            def __fspath__(self):
                return self.path

        before = os.getcwd()
        os.chdir(DATA)
        self.addCleanup(os.chdir, before)
        for make in (os.fsdecode, lambda p: pathlib.Path(os.fsdecode(p)),
                     BytesPath, lambda p: BytesPath(os.path.join(DATA, p)),
                     lambda p: os.path.join(os.fsdecode(DATA), os.fsdecode(p)),
                     lambda p: (os.fsdecode(p), 7), uri_of):
            found, _ = load("spdlfetch", source=[make(p) for p in PATHS])
            self.check(found, PATHS)
        found, _ = load("spdlfetch", source=[
            (os.fsdecode(p), i, f"key {i}") for i, p in enumerate(PATHS)])
        self.assertEqual(found, [[f"key {i}", FILES[p]]
                                 for i, p in enumerate(PATHS)])

    def test_references(self):
        """Tests that a str with a scheme stays a reference, and a path none."""
        plain = uri_of(b"plain.jpg")
        source = [plain + "#bytes=1-5", plain.replace("file", "FILE")]
        found, _ = load("spdlfetch", source=source)
        wanted = content_of(b"plain.jpg")
        self.assertEqual(found, [[source[0], wanted[1:6]], [source[1], wanted]])
        path = os.path.join(os.fsdecode(DATA), "plain.jpg#bytes=1-5")
        self.refuse(source=[path])

    def test_folder_behind_a_link(self):
        """Tests that ".." after a link is the folder above its target."""
        os.symlink(os.path.join(DATA, b"in"), FOLDER / "link")
        above = FOLDER / "link" / ".."
        found, _ = load("spdlfetch", source=[above / "cat.jpg "])
        self.assertEqual(found[0][1], content_of(b"cat.jpg "))
        self.assertEqual(
            len(load(f"spdlsrc location={above}/ ! spdlfetch")[0]), len(FILES))
        shard = FOLDER / "data" / "a.tar"
        with tarfile.open(shard, "w") as tar:
            tar.add(FOLDER / "data" / "cat.jpg ", "a.jpg")
        self.addCleanup(shard.unlink)
        with write_list("a.txt", b"cat.jpg "):
            for name in "a.txt", shard.name:
                found, _ = load(f"spdlsrc location={above}/{name} ! spdlfetch")
                self.assertEqual(found[0][1], content_of(b"cat.jpg "))

    def test_nul(self):
        """Tests that nothing is read by the name before a NUL."""
        path = os.path.join(os.fsdecode(DATA), "plain.jpg\0")
        with self.assertRaises(LoaderError) as caught:
            load("spdlfetch", source=[path])
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        for text in path, "file://" + path, uri_of(b"plain.jpg") + "%00":
            self.refuse(source=[text.encode()], caps="text/uri-list")

    def test_payloads(self):
        """Tests buffers whose source names no item, as of filesrc."""
        for end in b"\r\n", b"\n", b"":
            paths = [p for p in PATHS if end or not p.endswith(b"\n")]
            for make in (lambda p: os.path.join(DATA, p),
                         lambda p: uri_of(p).encode()):
                if end == b"\n":
                    paths = [p for p in paths if not p.endswith(b"\r")]
                found, _ = load("spdlfetch", caps="text/uri-list",
                                source=[make(p) + end for p in paths])
                self.assertEqual([data for _, data in found],
                                 [FILES[p] for p in paths])
        location = FOLDER / "uri"
        for text in b"cat.jpg ", b"x#bytes=1-5":
            location.write_bytes(os.path.join(DATA, text) + b"\r\n")
            found, _ = load(
                f"filesrc location={location} ! text/uri-list ! spdlfetch")
            self.assertEqual(found[0][1], FILES[text])

    def test_relative_payload(self):
        for text in b"plain.jpg", b" " + uri_of(b"plain.jpg").encode(), b"":
            self.refuse(source=[text], caps="text/uri-list")

    @unittest.skipUnless(HAS_ARROW, "needs pyarrow")
    def test_tables(self):
        import pyarrow
        import pyarrow.parquet

        # The texts of a table are Unicode, and have no base folder.
        texts = [as_text(p, os.fsdecode(DATA + b"/")) for p in PATHS]
        table = pyarrow.table({"uri": texts, "mask": texts[::-1]})
        pyarrow.parquet.write_table(table, FOLDER / "t #bytes=1-5.parquet")
        for line, more in (("spdlsrc", {"source": table}), (
                f'spdlsrc location="{FOLDER}/t #bytes=1-5.parquet"', {})):
            found, _ = load(line + " ! spdlfetch", **more)
            self.check(found, PATHS)
            # Columns for parts may name files in trusted folders.
            found, _ = load(
                line + f' ! spdlfetch parts=mask trusted-origins="file:{FOLDER}"',
                ["mask"], **more)
            self.assertEqual([i[1:] for i in found], [
                [FILES[p], FILES[m]] for p, m in zip(PATHS, PATHS[::-1])])


class ShardTest(NamesTest):
    def check_shards(self, ending, write, names):
        """Tests shards with odd names that have members with odd names. A dot
        in the name of a member ends its key."""
        folder = FOLDER / ending
        folder.mkdir()
        keys = {name: name.replace(b".", b"_") for name in names}
        for name in names:
            # The last characters of long names make room for the ending.
            write(os.path.join(os.fsencode(folder),
                               name[:200] + b"." + ending.encode()),
                  [(key + b".bin", content_of(key)) for key in
                   (keys[name], b"in/" + keys[name])])
        with Loader(f"spdlsrc location={folder}/*.{ending} index-cache=none "
                    "! spdlfetch ! spdlsink") as loader:
            found = {batch.extras[0]["key"]: batch["data"].numpy().tobytes()
                     for batch in loader}
            self.assertEqual(loader.num_failures, 0)
        # As a key is Unicode, other bytes are escaped.
        self.assertEqual(found, {
            "".join(c if ord(c) < 0xdc80 or ord(c) > 0xdcff else
                    f"%{ord(c) - 0xdc00:02X}" for c in os.fsdecode(key)):
            content_of(key) for name in names
            for key in (keys[name], b"in/" + keys[name])})

    def test_tar(self):
        def write(path, members):
            with tarfile.open(os.fsdecode(path), "w",
                              format=tarfile.GNU_FORMAT) as tar:
                for name, data in members:
                    info = tarfile.TarInfo(os.fsdecode(name))
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))

        self.check_shards("tar", write, NAMES)

    def test_zip(self):
        def write(path, members):
            with zipfile.ZipFile(os.fsdecode(path), "w",
                                 zipfile.ZIP_DEFLATED) as file:
                for name, data in members:
                    file.writestr(zipfile.ZipInfo(name.decode()), data)

        self.check_shards("zip", write, [n for n in NAMES if is_text(n)])


class ServerTest(NamesTest):
    @classmethod
    def setUpClass(cls):
        # Keys of other bytes than UTF-8 do not exist in object stores.
        names = [p.decode() for p in PATHS if is_text(p)]
        cls.objects = {f"a /{n}": f"object {n}".encode() for n in names}
        for path, data in FILES.items():
            if is_text(path):
                cls.objects.setdefault(f"a /{path.decode()}", data)
        cls.store = FakeS3({"bucket": cls.objects}, {}, page_size=50)
        cls.store.public.add("bucket")
        cls.addClassCleanup(cls.store.close)
        cls.settings = f"s3-endpoint={cls.store.url} anonymous=true"

    def test_listing(self):
        found, texts = load(f'spdlsrc location="s3://bucket/a " {self.settings} '
                            f"! spdlfetch {self.settings}")
        wanted = {f"s3://bucket/{key}": data
                  for key, data in self.objects.items()}
        # These cannot be written, and are left out with a warning for each.
        odd = {uri for uri in wanted if "#bytes=" in uri}
        self.assertEqual(dict(found), {uri: data for uri, data in wanted.items()
                                       if uri not in odd})
        self.assertEqual(len(texts), len(odd), texts)
        for uri in odd:
            self.assertTrue(any(uri.split("\n")[0] in text for text in texts))

    def test_uris(self):
        """Tests lists of URIs, with a disk cache that keeps them apart."""
        objects = {key: data for key, data in self.objects.items()
                   if "#bytes=" not in key}
        web = {f"{self.store.url}/bucket/{urllib.parse.quote(key)}": data
               for key, data in self.objects.items()}
        for wanted in {f"s3://bucket/{key}": data
                       for key, data in objects.items()}, web:
            rows = [{"uri": uri} for uri in wanted]
            with write_list("a.jsonl", write_jsonl(rows)) as source:
                for _ in range(2):
                    found, _ = load(
                        f"{source} ! spdlfetch {self.settings} "
                        f"cache-dir={FOLDER}/cache cache-validate=none")
                    self.assertEqual(dict(found), wanted)
            self.store.take_requests()
        self.assertEqual(dict(load(
            f"spdlfetch {self.settings}", source=list(web))[0]), web)


class StateTest(unittest.TestCase):
    """Ordinary names: hashes of datasets are in states, which stay valid."""

    def test_states(self):
        folder = make_folder()
        for name in "b.jpg", "a/c d.jpg", "a/\u00e9.jpg":
            path = folder / "d" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        files = {"l.txt": "d/b.jpg\td\nd/a/c d.jpg\te\r\n\n# no item\n",
                 "l.csv": "uri,label\nd/b.jpg,1\nd/a/c d.jpg,2\n",
                 "l.jsonl": '{"uri": "d/b.jpg"}\n{"uri": "d/a/c d.jpg"}\n'}
        for name, text in files.items():
            (folder / name).write_bytes(text.encode())
        for name, wanted in {
                "d": "4a9ccbbce2ae4ac1", "l.txt": "52e9468b464b842c",
                "l.csv": "2b096d443c256add",
                "l.jsonl": "04f96598ef97e19e"}.items():
            with self.subTest(name), Loader(
                    f"spdlsrc location={folder / name} ! spdlfetch "
                    "! spdlsink") as loader:
                next(iter(loader))
                self.assertIn(f",hash={wanted},", loader.state)


if __name__ == "__main__":
    unittest.main()
