#!/usr/bin/python3
# gst-spdl: tests of shards from other writers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The arguments are gst-spdl-index and optionally a Python with WebDataset. By
default a virtual environment is made, if PyPI is reachable."""

import base64
import http.server
import importlib.util
import io
import json
import os
import pathlib
import pty
import random
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import zipfile
import zlib

TOOL = sys.argv.pop(1)
PYTHON = sys.argv.pop(1) if "/" in "".join(sys.argv[1:2]) else None
LONG = "deep/" * 30 + "name" * 30
# Writes the first shard, and reads all.
WEBDATASET = """
import base64, json, sys
import webdataset
with webdataset.TarWriter(sys.argv[1]) as writer:
    for i in range(20):
        writer.write({"__key__": f"some/{i:04}", "jpg": bytes([i]) * (i * 997),
                      "cls": i, "json": {"i": i}, "txt": f"text {i}"})
for shard in sys.argv[1:]:
    print(json.dumps([
        [sample.pop("__key__"), {name: base64.b64encode(data).decode()
                                 for name, data in sample.items()
                                 if not name.startswith("__")}]
        for sample in webdataset.WebDataset([shard], shardshuffle=False)]))
"""


def make_files():
    """Returns names and contents of the files in a shard."""
    draw = random.Random(1)
    files = []
    for i, key in enumerate(["a", "b/c.d/e", LONG, "gr\u00fcn/\u20ac", "x y", "./f"]):
        files += [(f"{key}.jpg", draw.randbytes(1 + 40000 * i)),
                  (f"{key}.left.PNG", draw.randbytes(513)),
                  (f"{key}.cls", str(i).encode()),
                  (f"{key}.json", json.dumps({"i": i}).encode()),
                  (f"{key}.txt", f"text {i}".encode())]
    return files


def write_tar(path, files, form):
    with tarfile.open(path, "w", format=form) as tar:
        for name, data in files:
            folder = tarfile.TarInfo(name.rpartition("/")[0] or "folder")
            folder.type = tarfile.DIRTYPE
            tar.addfile(folder)
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def run(*arguments, **options):
    return subprocess.run([str(a) for a in arguments], capture_output=True,
                          text=True, timeout=120, check=False, **options)


def cut(data, span):
    """Returns the bytes of a range, decompressed according to its URI."""
    if not span:
        return b""
    span, _, packing = span.partition("&inflate=")
    first, last = map(int, span.split("-"))
    if not packing:
        return data[first:last + 1]
    unpacked = zlib.decompress(data[first:last + 1], wbits=-15)
    assert packing == f"{len(unpacked)}&crc32={zlib.crc32(unpacked):08x}"
    return unpacked


def read(path, **environment):
    """Reads a shard by its index: keys, labels and contents of files."""
    done = run(TOOL, "--list", path, env=dict(os.environ, **environment))
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    data = path.read_bytes()
    samples = []
    for line in done.stdout.splitlines():
        key, label, *files = line.split("\t")
        content = {}
        for file in files:
            name, _, span = file.partition("=")
            content[name] = cut(data, span)
        samples.append((key, int(label), content))
    return samples


def expected(files):
    """Returns the samples according to WebDataset's rules."""
    samples = {}
    for name, data in files:
        folder, slash, base = name.rpartition("/")
        stem, _, extension = base.partition(".")
        samples.setdefault(folder + slash + stem, {})[extension.lower()] = data
    return [(key, int(content["cls"]), content)
            for key, content in samples.items()]


class Unseekable(io.BytesIO):
    def seek(self, *arguments):
        raise io.UnsupportedOperation

    def tell(self):
        raise io.UnsupportedOperation

    def seekable(self):
        return False


class ShardsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.shard = self.folder / "shard.tar"


class FormatsTest(ShardsTest):
    def test_list_writes_nothing(self):
        path = self.folder / "listed.tar"
        with tarfile.open(path, "w") as tar:
            info = tarfile.TarInfo("a.txt")
            info.size = 1
            tar.addfile(info, io.BytesIO(b"x"))
        before = sorted(self.folder.iterdir())
        done = run(TOOL, "--list", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split("\t")[0], "a")
        self.assertEqual(sorted(self.folder.iterdir()), before)
        done = run(TOOL, "--list", "--output", self.folder, path)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(list(self.folder.iterdir())), len(before) + 1)

    def test_tarfile(self):
        for name, form in (("gnu", tarfile.GNU_FORMAT),
                           ("ustar", tarfile.USTAR_FORMAT),
                           ("pax", tarfile.PAX_FORMAT)):
            # A ustar header has no room for a name of more than 100 bytes.
            files = [(n, d) for n, d in make_files()
                     if form != tarfile.USTAR_FORMAT or LONG not in n]
            write_tar(self.shard, files, form)
            for locale in "C", "C.UTF-8":
                with self.subTest(name, locale=locale):
                    self.assertEqual(read(self.shard, LC_ALL=locale),
                                     expected(files))

    def test_gnu_tar(self):
        files = [(n.replace("./", ""), d) for n, d in make_files()]
        for name, data in files:
            path = self.folder / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (self.folder / "in" / "link.jpg").symlink_to("a.jpg")
        names = self.folder / "names"
        names.write_text("\n".join(n for n, _ in files) + "\nlink.jpg\n",
                         encoding="utf-8")
        for form in "gnu", "oldgnu", "pax", "posix":
            with self.subTest(form):
                done = run("tar", f"--format={form}", "-C", self.folder / "in",
                           "-cf", self.shard, "-T", names)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(read(self.shard), expected(files))

    def test_zip(self):
        files = make_files()
        shard = self.folder / "shard.zip"
        with zipfile.ZipFile(shard, "w", zipfile.ZIP_STORED) as archive:
            for name, data in files:
                archive.writestr(name, data)
        self.assertEqual(read(shard), expected(files))
        # Stored and deflated; with sizes after the data, as from a writer that
        # cannot seek; and with a comment at the end.
        for stream in False, True:
            packed = Unseekable() if stream else io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for i, (name, data) in enumerate(files):
                    archive.writestr(name, data, i % 3 and zipfile.ZIP_DEFLATED)
                archive.comment = b"comment"
            shard.write_bytes(packed.getvalue())
            with self.subTest(stream=stream):
                self.assertEqual(read(shard), expected(files))

    def test_zip_of_65535_members(self):
        """The number is the mark of ZIP64, but may be meant."""
        shard = self.folder / "shard.zip"
        with zipfile.ZipFile(shard, "w") as archive:
            for i in range(65535):
                archive.writestr(f"{i}.txt", "x")
        self.assertEqual(len(read(shard)), 65535)

    def test_zip_variants(self):
        """Tests ZIPs with a prefix, a comment, trailing garbage, gaps and
        ZIP64."""
        files = make_files()
        shard = self.folder / "shard.zip"

        def make(wide=False, gap=0, comment=b""):
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.mkdir("folder") if hasattr(archive, "mkdir") else None
                for i, (name, data) in enumerate(files):
                    info = zipfile.ZipInfo(name)
                    info.compress_type = i % 3 and zipfile.ZIP_DEFLATED
                    # zipalign inserts zeros after the name.
                    info.extra = bytes(gap)
                    with archive.open(info, "w", force_zip64=wide) as member:
                        member.write(data)
                link = zipfile.ZipInfo("link.jpg")
                link.create_system = 3
                link.external_attr = 0o120777 << 16
                archive.writestr(link, "a.jpg")
                archive.comment = comment
            return packed.getvalue()

        plain = make()
        directory = plain.index(b"PK\1\2")
        end = plain.rindex(b"PK\5\6")
        wide_end = struct.pack(
            "<4sQHHIIQQQQ4sIQI", b"PK\6\6", 44, 45, 45, 0, 0,
            len(files) + 1, len(files) + 1, end - directory, directory,
            b"PK\6\7", 0, end, 1) + plain[end:end + 8] + struct.pack(
                "<HHIIH", 0xffff, 0xffff, 2 ** 32 - 1, 2 ** 32 - 1, 0)
        wide = plain[:end] + wide_end
        for name, data in (
                ("wide members", make(wide=True)),
                ("wide end", wide),
                ("wide end, behind a program", b"#!/bin/sh\n" * 20 + wide),
                ("wide end, junk", wide + b"junk" * 100),
                ("gaps", make(gap=40)),
                ("long comment", make(comment=b"PK\5\6" * 16383)),
                ("behind a program", b"#!/bin/sh\nexit\n" * 9 + plain),
                ("behind a program, with a comment",
                 b"#!/usr/bin/python3\n" + make(comment=b"so" * 9000)),
                ("junk behind it", plain + b"junk" * 1000),
                ("a gap before its end",
                 plain[:end] + bytes(13) + plain[end:])):
            shard.write_bytes(data)
            with self.subTest(name):
                self.assertEqual(read(shard), expected(files))

    def test_zip_with_cp437_names(self):
        """Tests that names that are not UTF-8 are decoded as CP437."""
        if run("iconv", "-f", "CP437", "/dev/null").returncode:
            self.skipTest("there is no converter of CP437")
        shard = self.folder / "shard.zip"
        with zipfile.ZipFile(shard, "w") as archive:
            archive.writestr("aa.jpg", b"x")
        shard.write_bytes(shard.read_bytes().replace(
            b"aa.jpg", "\u00e6\u00e5.jpg".encode("cp437")))
        self.assertEqual(read(shard),
                         [("\u00e6\u00e5", -1, {"jpg": b"x"})])

    def test_broken_zips(self):
        shard = self.folder / "shard.zip"
        with zipfile.ZipFile(shard, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.jpg", b"x" * 1000)
            archive.writestr("a.json", '{"n": 1}' + " " * 100)
        data = shard.read_bytes()
        entry, end = data.index(b"PK\1\2"), data.rindex(b"PK\5\6")
        note = data.index(b"PK\3\4", 10) + 30 + len("a.json")

        def change(at, value):
            return data[:at] + value + data[at + len(value):]

        for name, changed, part in (
                ("cut", data[:end], "shard.zip"),
                ("place", change(end + 16, b"\xff\xff\xff\x00"), "shard.zip"),
                ("size", change(end + 12, b"\xff\xff\xff\x00"), "shard.zip"),
                ("mark", change(entry, b"XX"), "shard.zip"),
                ("head", change(entry + 42, b"\1"), "a.jpg"),
                ("other", change(30, b"b"), "a.jpg"),
                ("note", change(note, b"\xff"), "a.json")):
            shard.write_bytes(changed)
            with self.subTest(name):
                done = run(TOOL, shard)
                self.assertEqual(done.returncode, 1)
                self.assertIn(part, done.stderr)

    def test_refused_zips(self):
        shard = self.folder / "shard.zip"
        with zipfile.ZipFile(shard, "w", zipfile.ZIP_BZIP2) as archive:
            archive.writestr("small.jpg", b"x" * 1000)
        self.assert_refused(shard, "compression method")
        with zipfile.ZipFile(shard, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("small.jpg", b"x" * 1000)
        data = bytearray(shard.read_bytes())
        entry = data.index(b"PK\1\2")
        for places, part in (((6, entry + 8), "encrypted"),
                             ((entry + 20,), "past the end")):
            changed = data.copy()
            for place in places:
                changed[place] |= 1 if len(places) > 1 else 0xff
            changed[entry + 21] |= 0 if len(places) > 1 else 0x7f
            shard.write_bytes(changed)
            self.assert_refused(shard, part)

    def assert_refused(self, shard, part):
        done = run(TOOL, shard)
        self.assertEqual(done.returncode, 1)
        self.assertIn('"small.jpg"', done.stderr)
        self.assertIn(part, done.stderr)

    def test_control_characters(self):
        """Tests names that clear the terminal: exact in a pipe, escaped on a
        terminal and in messages."""
        name = "\x1b[2J\u202ea"
        write_tar(self.shard, [(f"{name}.jpg", b"x"), (f"{name}.txt", b"y")],
                  tarfile.PAX_FORMAT)
        self.assertEqual(run(TOOL, "--list", self.shard).stdout.split("\t")[0],
                         name)
        main, terminal = pty.openpty()
        subprocess.run([TOOL, "--list", self.shard], stdout=terminal,
                       timeout=120, check=True)
        os.close(terminal)
        shown = os.read(main, 4096).decode()
        os.close(main)
        self.assertTrue(shown.startswith(r"\x1b[2J\u202ea"), shown)
        self.assertNotIn("\x1b", shown)
        write_tar(self.shard, [(f"{name}.jpg", bytes(5000))],
                  tarfile.PAX_FORMAT)
        os.truncate(self.shard, 4096)
        done = run(TOOL, self.shard)
        self.assertEqual(done.returncode, 1)
        self.assertIn(r"\x1b[2J\u202ea.jpg", done.stderr)
        self.assertNotRegex(done.stderr, "[\x1b\u202e]")

    def test_sparse(self):
        (self.folder / "hole.jpg").write_bytes(b"begin")
        os.truncate(self.folder / "hole.jpg", 1 << 20)
        for form in "gnu", "oldgnu", "posix":
            done = run("tar", f"--format={form}", "-C", self.folder, "-Scf",
                       self.shard, "hole.jpg")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run(TOOL, self.shard)
            self.assertEqual(done.returncode, 1, form)
            self.assertIn('"hole.jpg"',
                          done.stderr)


class ToolTest(ShardsTest):
    def test_braces_and_folder(self):
        for i in range(3):
            write_tar(self.folder / f"s-{i}.tar", make_files(),
                      tarfile.PAX_FORMAT)
        done = run(TOOL, self.folder / "s-{0..2}.tar")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(" 6 samples, "), 3)
        self.assertTrue((self.folder / "s-1.tar.spdl-index").exists())
        self.assertEqual(run(TOOL, "-o", self.folder / "new" / "out",
                             self.folder / "s-*.tar").returncode, 0)
        self.assertEqual(len(list((self.folder / "new" / "out").iterdir())), 3)

    def test_failures(self):
        self.assertEqual(run(TOOL).returncode, 2)
        self.shard.write_bytes(b"")
        write_tar(self.folder / "good.tar", make_files(), tarfile.PAX_FORMAT)
        done = run(TOOL, self.shard, self.folder / "good.tar")
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.shard), done.stderr)
        self.assertIn("good.tar: 6 samples", done.stdout)
        done = run(TOOL, "--extra-headers", "=", self.shard)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--extra-headers", done.stderr)
        for option in "--retries=-1", "--timeout=3601", "--retries=x":
            done = run(TOOL, option, self.folder / "good.tar")
            self.assertEqual(done.returncode, 2)
            self.assertIn(option.partition("=")[0], done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TOOL, "--list", self.folder / "good.tar"],
                                  stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"Failed to write the output", done.stderr)
        done = run(TOOL, "-o", self.shard / "none", self.folder / "good.tar")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'"{self.shard}/none"', done.stderr)

    def test_equal_names(self):
        """A second shard does not replace the index of another one."""
        for name in "a", "b":
            (self.folder / name).mkdir()
            write_tar(self.folder / name / "s.tar", make_files(),
                      tarfile.PAX_FORMAT)
        done = run(TOOL, "-o", self.folder / "out", self.folder / "a" / "s.tar",
                   self.folder / "b" / "s.tar")
        self.assertEqual(done.returncode, 1)
        self.assertIn("same name", done.stderr)
        self.assertEqual(done.stdout.count(" 6 samples, "), 1)

    def test_object_store(self):
        """Tests the options for the address of a store."""
        class Store(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                requests.append((self.path, self.headers["Authorization"]))
                first, last = self.headers["Range"][6:].split("-")
                part = data[int(first):int(last or len(data)) + 1]
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {first}-"
                                 f"{int(first) + len(part) - 1}/{len(data)}")
                self.send_header("Content-Length", str(len(part)))
                self.end_headers()
                self.wfile.write(part)

            def log_message(self, *arguments):
                pass

        requests = []
        write_tar(self.shard, make_files(), tarfile.PAX_FORMAT)
        data = self.shard.read_bytes()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        done = run(TOOL, "--anonymous", "--s3-region", "eu-west-1",
                   "--s3-addressing", "path", "--s3-endpoint",
                   f"http://127.0.0.1:{server.server_port}",
                   "-o", self.folder, "s3://bucket/dir/a.tar")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(" 6 samples, ", done.stdout)
        self.assertTrue((self.folder / "a.tar.spdl-index").exists())
        self.assertEqual(set(requests), {("/bucket/dir/a.tar", None)})

    def test_secrets(self):
        """Tests that the output contains no credentials."""
        done = run(TOOL, "--retries", "0", "--trusted-origins",
                   "https://cdn.example.com",
                   "http://me:sesame@127.0.0.1:1/a.tar?sig=sesame")
        self.assertEqual(done.returncode, 1)
        self.assertIn("http://***@127.0.0.1:1/a.tar", done.stderr)
        self.assertNotIn("sesame", done.stdout + done.stderr)
        done = run(TOOL, "--trusted-origins", "http://me:sesame@host",
                   "http://127.0.0.1:1/a.tar")
        self.assertEqual(done.returncode, 1)
        self.assertIn("trusted-origins", done.stderr)
        self.assertIn("http://***@host", done.stderr)
        self.assertNotIn("sesame", done.stdout + done.stderr)


def find_python(folder):
    """Returns a Python that may have WebDataset."""
    if PYTHON:
        return PYTHON
    if importlib.util.find_spec("webdataset"):
        return sys.executable
    python = folder / "venv" / "bin" / "python"
    run("/usr/bin/python3", "-m", "venv", "--system-site-packages",
        folder / "venv")
    run(python, "-m", "pip", "install", "--quiet", "--retries", "0",
        "--timeout", "10", "--no-deps", "webdataset", "braceexpand")
    return python


class WebDatasetTest(unittest.TestCase):
    """Tests shards written and read by the webdataset package."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        cls.shards = [folder / f"{name}.tar" for name in ("own", "gnu", "pax")]
        odd = [("README", b"x"), ("__info__/a.json", b"x"), ("__x__", b"x"),
               ("k.jpg", b"1"), ("K.jpg", b"2"), ("k.TXT", b"3"),
               ("dir.d/k", b"x"), ("dir.d/k.a.b", b"4")]
        write_tar(cls.shards[1], make_files() + odd, tarfile.GNU_FORMAT)
        write_tar(cls.shards[2], make_files() + odd, tarfile.PAX_FORMAT)
        try:
            done = run(find_python(folder), "-c", WEBDATASET, *cls.shards)
            cls.theirs = list(map(json.loads, done.stdout.splitlines()))
        except OSError as error:
            raise unittest.SkipTest(f"there is no webdataset: {error}")
        if "No module named" in done.stderr:
            raise unittest.SkipTest(f"there is no webdataset: {done.stderr}")
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def test_read_shards_of_webdataset(self):
        self.assertEqual([label for _, label, _ in read(self.shards[0])],
                         list(range(20)))

    def test_same_samples_as_webdataset(self):
        for shard, theirs in zip(self.shards, self.theirs, strict=True):
            # WebDataset makes another sample of a key that comes back.
            expected = {}
            for key, content in theirs:
                expected.setdefault(key, {}).update(
                    (name, base64.b64decode(data))
                    for name, data in content.items())
            self.assertEqual(
                {key: content for key, _, content in read(shard)}, expected)
            self.assertEqual([key for key, _, _ in read(shard)], list(expected))


if __name__ == "__main__":
    unittest.main(verbosity=2)
