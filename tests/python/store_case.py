# gst-spdl: test case of object stores
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import functools
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
from types import SimpleNamespace

HERE = pathlib.Path(__file__).resolve().parent

# Each secret of these tests contains this word, which no output may show.
SECRET = "sesame"
ACCESS_KEY = "AKIDTESTS"
SECRET_KEY = f"{SECRET}+/key="
TOKEN = f"{SECRET}+/token=="

# Keys with characters that are special in paths, URIs or listings.
ODD_KEYS = [
    "a+b", "a b", "a%20b", "a%2Fb", "%", "100%", "a//b", "//a", "/a",
    "gr\u00fcn/\u20ac", "\U0001f600", "e\u0301", "a#b", "a#c", "a?b", "a?c",
    "a?b=c&d", "a&b;c", "a=b", "<a>&amp;\"'", "a\\b", "[a]{b}", "*", "~a",
    "a:b@c", "a|b^c`d", "$(a)", "a,b!c", "index.txt", "folder.tar/a",
    "\u00a0", "?", "#", "a%00b", "a.", "a..b", "a ", " a", "a.txt ", "a.txt",
]
# A listing omits these: names that begin with a dot, as for files, and the
# markers that tools create for folders.
HIDDEN_KEYS = ["a/../b", "../a", "./a", "a/./b", "..", ".", ".a", "a/.b/c",
               "a b/"]


def take_program():
    """Removes the first argument, a program, and returns its path, or None for
    "-", which stands for a program that is not built."""
    path = sys.argv.pop(1)
    return None if path == "-" else os.path.abspath(path)


def digest(data):
    return hashlib.sha256(data).hexdigest()


@functools.cache
def find_missing_feature():
    """Returns the reason why this build lacks object stores, or None."""
    done = subprocess.run(
        [sys.executable, "-c",
         "from gstspdl import Loader\n"
         "Loader('spdlsrc location=s3://b/k ! spdlfetch s3-addressing=path "
         "! spdlsink')"], capture_output=True, text=True, check=False,
        timeout=60)
    if "s3-addressing" in done.stderr:
        return "needs spdlfetch with object stores"
    return None


def needs_stores(test):
    """Decorates a class whose tests load from an object store."""
    set_up = test.setUpClass.__func__

    @classmethod
    def set_up_class(cls):
        reason = find_missing_feature()
        if reason:
            raise unittest.SkipTest(reason)
        set_up(cls)

    test.setUpClass = set_up_class
    return test


class StoreTest(unittest.TestCase):
    """A test case that loads items in another process with a separate
    environment, and has an empty folder for each test."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make_environment(self, environment):
        """Returns an environment without credentials except those of the
        test."""
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("AWS_", "HF_", "GOOGLE_", "GCE_", "GS_",
                                       "CLOUDSDK_", "STORAGE_EMULATOR_"))
               and not name.lower().endswith("_proxy")}
        env.update(HOME=str(self.folder / "home"),
                   XDG_CACHE_HOME=str(self.folder / "cache"),
                   AWS_EC2_METADATA_DISABLED="true", **environment)
        return env

    def run_program(self, command, environment, debug="9"):
        """Runs a program and checks that its output contains no secrets."""
        log = self.folder / "gst.log"
        env = self.make_environment(environment)
        env.update(GST_DEBUG=debug, GST_DEBUG_FILE=str(log),
                   GST_DEBUG_NO_COLOR="1")
        if debug == "9":
            env["G_MESSAGES_DEBUG"] = "all"
        done = subprocess.run(
            [str(word) for word in command], env=env, capture_output=True,
            text=True, timeout=30, check=False, cwd=self.folder)
        self.check_secrets(done.stdout, done.stderr)
        return done

    def check_secrets(self, *texts):
        """Checks that no secret, plain or encoded, is in `texts` or in a file
        that the program wrote to the test's folder."""
        secrets = [SECRET.encode(), SECRET.encode().hex().encode()]
        for i, text in enumerate(texts):
            for secret in secrets:
                self.assertFalse(secret in text.encode(),
                                 f"secret in output {i}: {text[-2000:]}")
        for path in self.folder.rglob("*"):
            if path.is_file() and not path.name.startswith("given-"):
                data = path.read_bytes()
                for secret in secrets:
                    place = data.find(secret)
                    self.assertEqual(
                        place, -1, f"secret in {path.name}: "
                        f"{data[max(place - 200, 0):place + 100]!r}")
                    self.assertNotIn(secret, os.fsencode(path.name))

    def load(self, source, environment, debug="9", **job):
        """Returns the results of load_items.py as attributes."""
        if "location=" not in str(source):
            source = f'spdlsrc location="{source}"'
        found = self.folder / "result.json"
        done = self.run_program(
            [sys.executable, HERE / "load_items.py", found,
             json.dumps({"source": source, **job})], environment, debug)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return SimpleNamespace(**json.loads(found.read_text("utf-8")))

    def assert_refused(self, result, *texts):
        """Checks that an error with the texts came before any item."""
        self.assertEqual(result.items, [])
        self.assertIsNotNone(result.error)
        for text in texts:
            self.assertIn(text, result.error[0])

    def assert_loaded(self, result, objects, bucket="bucket", scheme="s3"):
        """Checks that all objects arrived completely and that nothing
        failed."""
        self.assertEqual((result.error, result.failures), (None, []))
        found = {uri: data for uri, _, _, data in result.items}
        self.assertEqual(len(result.items), len(found))
        self.assertEqual(found, {f"{scheme}://{bucket}/{key}": digest(data)
                                 for key, data in objects.items()})

    def check_odd_keys(self, bucket, fill):
        odd, hidden = ({f"in/{key}": f"{key!r} has {i}".encode()
                      for i, key in enumerate(keys)}
                     for keys in (ODD_KEYS, HIDDEN_KEYS))
        fill({**odd, **hidden})
        self.assert_loaded(self.load(f"s3://{bucket}/in/"), odd, bucket)
        # A cache must keep them apart.
        for _ in range(2):
            result = self.load(
                self.write_list(*(f"s3://{bucket}/{key}"
                                  for key in {**odd, **hidden})),
                fetch=f'cache-dir="{self.folder}/disk"')
            self.assert_loaded(result, {**odd, **hidden}, bucket)

    def write_list(self, *lines):
        path = self.folder / "given-list.txt"
        path.write_text("".join(f"{line}\n" for line in lines),
                        encoding="utf-8")
        return path


def make_objects(n, prefix="item/"):
    return {f"{prefix}{i:05}": f"content {i}".encode() * (1 + i % 3)
            for i in range(n)}


def make_tar(files):
    """Returns a tar of these contents by name."""
    tar_file = io.BytesIO()
    with tarfile.open(fileobj=tar_file, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return tar_file.getvalue()
