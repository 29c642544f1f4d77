#!/usr/bin/python3
# gst-spdl: tests that a sample of a shard has all of its files
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The archives are written by GNU tar and Python."""

import http.server
import io
import random
import subprocess
import tarfile
import threading
import unittest
import warnings
import zipfile

import support

from gstspdl import Loader, LoaderError, LoaderWarning

ROOT = support.make_folder()
FILES = {f"{folder}/{i:03}.{e}": str(i % 10).encode() if e == "cls"
         else f"{folder} {i} {e}".encode()
         for folder in "ab" for i in range(20) for e in ("jpg", "cls", "txt")}
NAMES = random.Random(1).sample(sorted(FILES), len(FILES))
for name, content in FILES.items():
    (ROOT / name).parent.mkdir(exist_ok=True)
    (ROOT / name).write_bytes(content)


def write_tar(path, names):
    with tarfile.open(ROOT / path, "w") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(FILES[name])
            tar.addfile(info, io.BytesIO(FILES[name]))


def read(location):
    """Returns the key, bytes, label and text of each item."""
    got = {}

    def keep(sample):
        got[sample.index] = (sample.extra["key"], bytes(sample), sample.label,
                             sample.extra.get("txt"))
        return sample

    with warnings.catch_warnings():
        warnings.simplefilter("error", LoaderWarning)
        loader = Loader(f'spdlsrc location="{location}" index-cache=none '
                        "epochs=1 ! spdlfetch ! spdlpipe name=f ! spdlsink")
        loader.map("f", keep)
        with loader:
            for _ in loader:
                pass
    return [got[i] for i in sorted(got)]


def expect(names):
    keys = dict.fromkeys(name[:-4] for name in names)
    return [(key, FILES[key + ".jpg"], int(FILES[key + ".cls"]),
             FILES[key + ".txt"].decode()) for key in keys]


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves files without byte ranges."""

    def do_GET(self):
        content = (ROOT / self.path[1:]).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Shards(unittest.TestCase):
    def test_any_order(self):
        subprocess.run(["tar", "cf", "gnu.tar", *NAMES], cwd=ROOT, check=True)
        subprocess.run(["tar", "--sort=name", "-cf", "sorted.tar", "a", "b"],
                       cwd=ROOT, check=True)
        write_tar("python.tar", NAMES)
        with zipfile.ZipFile(ROOT / "python.zip", "w") as archive:
            for name in NAMES:
                archive.write(ROOT / name, name)
        for path in ("gnu.tar", "python.tar", "python.zip"):
            self.assertEqual(read(ROOT / path), expect(NAMES), path)
        self.assertEqual(read(ROOT / "sorted.tar"), expect(sorted(FILES)))

    def test_two_of_one_extension(self):
        write_tar("twice.tar", [*NAMES, NAMES[0]])
        with self.assertRaisesRegex(LoaderError, NAMES[0]):
            read(ROOT / "twice.tar")

    def test_streamed(self):
        write_tar("ordered.tar", sorted(FILES))
        write_tar("mixed.tar", NAMES)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        try:
            self.assertEqual(read(url + "/ordered.tar"), expect(sorted(FILES)))
            with self.assertRaisesRegex((LoaderError, LoaderWarning),
                                        "--sort=name"):
                read(url + "/mixed.tar")
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


if __name__ == "__main__":
    unittest.main()
