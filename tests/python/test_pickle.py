#!/usr/bin/python3
# gst-spdl: tests of batches, failures and errors that are pickled
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import contextlib
import copy
import functools
import http.server
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import unittest
import warnings
from collections.abc import Mapping

import numpy as np
from support import ROOT, describe, make_dataset, make_folder

import gstspdl
from gstspdl import DetachedBatch, Loader, LoaderError

FOLDER = make_dataset(12)
sorted(FOLDER.glob("*/*.jpg"))[2].write_text("no image")
warnings.simplefilter("ignore", gstspdl.LoaderWarning)


def load():
    with Loader(describe(FOLDER, 4, batch="labels=true")) as loader:
        batches = list(loader)
        return batches[0], loader.failures[0]


def dump(value):
    buffers = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return data, buffers


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(folder):
    """Serves the files of a folder, and returns the URI of the server."""
    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


class BatchTest(unittest.TestCase):
    def check(self, detached, batch):
        self.assertIsInstance(detached, DetachedBatch)
        self.assertIsInstance(detached, Mapping)
        self.assertEqual(list(detached), list(batch))
        for name, tensor in batch.items():
            self.assertIsInstance(detached[name], np.ndarray)
            np.testing.assert_array_equal(detached[name], tensor.numpy())
        for name in ("num_items", "names", "labels", "indices", "extras",
                     "epoch", "state"):
            self.assertEqual(getattr(detached, name), getattr(batch, name))
        self.assertEqual(detached.keys, list(batch.keys))
        self.assertEqual(detached.keys(), batch.keys())
        self.assertEqual(len(detached), len(batch))
        self.assertEqual(dict(detached.items()).keys(), set(batch.names))
        self.assertIn("of 4 items", repr(detached))
        with self.assertRaises(KeyError):
            detached["nothing"]

    def test_protocols(self):
        batch, _ = load()
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            detached = pickle.loads(pickle.dumps(batch, protocol))
            self.check(detached, batch)
            self.check(pickle.loads(pickle.dumps(detached, protocol)), batch)

    def test_out_of_band(self):
        batch, _ = load()
        data, buffers = dump(batch)
        self.assertEqual(len(buffers), len(batch))
        self.assertLess(len(data), 3000)
        # The buffers are the memory of the batch.
        array = batch["data"].numpy()
        array[0, 0, 0, 0] ^= 255
        detached = pickle.loads(data, buffers=buffers)
        self.check(detached, batch)
        self.assertTrue(np.shares_memory(detached["data"], array))
        # The memory lives as long as the arrays.
        wanted = array.copy()
        del batch, array, buffers
        np.testing.assert_array_equal(detached["data"], wanted)

    def test_copies(self):
        batch, _ = load()
        other = copy.deepcopy(batch)
        self.assertIsInstance(other, gstspdl.Batch)
        self.assertFalse(np.shares_memory(other["data"].numpy(),
                                          batch["data"].numpy()))


class OtherTest(unittest.TestCase):
    def test_failure(self):
        _, failure = load()
        other = pickle.loads(pickle.dumps(failure))
        self.assertEqual(other, failure)
        self.assertEqual(other.index, 2)
        self.assertFalse(other.is_done(None))

    def test_error(self):
        with self.assertRaises(LoaderError) as caught:
            with Loader(describe(FOLDER, decode="max-failures=0")) as loader:
                list(loader)
        error = caught.exception
        other = pickle.loads(pickle.dumps(error))
        self.assertIs(type(other), LoaderError)
        for name in "code", "stage", "uri", "args":
            self.assertEqual(getattr(other, name), getattr(error, name))

    def test_secrets(self):
        """The keys, failures and errors of items that need credentials."""
        folder = make_folder()
        with serve(folder) as base:
            base = base.replace("//", "//me:sesame@")
            (folder / "item").write_bytes(b"sesame")
            (folder / "list.txt").write_text("".join(
                f"{base}/{name}?{secret}\n" for name in ("item", "none")
                for secret in ("sig=sesame", "private_key=sesame",
                               "to=http%3A%2F%2Fme%3Asesame%40host")))
            line = (f"spdlsrc location={folder}/list.txt epochs=1 "
                    "! spdlfetch retries=0 "
                    'caps="other/tensors,format=static,num_tensors=1,'
                    'types=(string)uint8,dimensions=(string)6,framerate=0/1" '
                    "max-failures={} ! spdlbatch batch-size=9 ! spdlsink")
            with Loader(line.format(-1)) as loader:
                batch, failures = list(loader)[0], loader.failures
            with self.assertRaises(LoaderError) as caught:
                with Loader(line.format(0)) as loader:
                    list(loader)
        self.assertEqual((batch.num_items, len(failures)), (3, 3))
        # The content is not redacted.
        self.assertIn(b"sesame", pickle.dumps(batch))
        detached = pickle.loads(pickle.dumps(batch))
        for value in detached.keys, failures, caught.exception:
            self.assertNotIn(b"sesame", pickle.dumps(value))
        self.assertIn("private_key=***", " ".join(detached.keys))

    def test_without_the_library(self):
        """Another process with NumPy alone, without library and GStreamer."""
        batch, failure = load()
        error = LoaderError("text", code="map", stage="s", uri="u")
        data, buffers = dump((batch, failure, error))
        files = [pathlib.Path(FOLDER, f"{i}.bin") for i in range(len(buffers))]
        for file, buffer in zip(files, buffers):
            file.write_bytes(buffer)
        code = """
import pathlib, pickle, sys
sys.modules["gstspdl._native.library"] = None       # cannot be imported
data, *files = (pathlib.Path(path).read_bytes() for path in sys.argv[1:])
batch, failure, error = pickle.loads(data, buffers=files)
print(batch["data"].shape, batch["data"].sum(), list(batch.labels),
      failure.index, error.code, error.stage, error.uri, error)
"""
        pickled = FOLDER / "pickled"
        pickled.write_bytes(data)
        package = pathlib.Path(gstspdl.__file__).parents[1]
        shown = subprocess.check_output(
            [sys.executable, "-c", code, pickled, *files], text=True, cwd=ROOT,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(package)})
        array = batch["data"].numpy()
        self.assertEqual(shown.strip(), " ".join(map(str, (
            array.shape, array.sum(), list(batch.labels), 2, "map", "s", "u",
            "text"))))


if __name__ == "__main__":
    unittest.main()
