#!/usr/bin/python3
# gst-spdl: tests of the loader's C functions through introspection
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests every function of the loader, of batches and of tensors without
overrides, and the scan that made the typelib. The arguments are
tools/make-dataset, the GIR and the build folder."""

import ctypes
import os
import pathlib
import shlex
import subprocess
import sys
import threading
import unittest

# Removes the overrides from the path.
overrides = os.environ.get("PYTHONPATH", "").split(os.pathsep)
sys.path = [path for path in sys.path if path not in overrides]

from support import make_dataset, make_folder, needs_gi  # noqa: E402

GIR, BUILD = sys.argv[1:] if len(sys.argv) > 2 else (None, None)

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstSpdl", "1.0")
    from gi.module import get_introspection_module
    from gi.repository import GLib, GObject, Gst
except (ImportError, ValueError):
    Gst = None
else:
    Gst.init(None)
    GstSpdl = get_introspection_module("GstSpdl")
    FOREVER = Gst.CLOCK_TIME_NONE
LINE = ('spdlsrc location="{}" label=folder epochs={} ! spdlfetch output-order=input '
        "! spdldecode output-order=input width=8 height=6 "
        "! spdlbatch batch-size=8 labels=true ! spdlsink")


class LoaderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = make_dataset(20)

    def assert_fails(self, code, function, *args):
        with self.assertRaises(GLib.Error) as caught:
            function(*args)
        self.assertTrue(caught.exception.matches(
            GstSpdl.loader_error_quark(), code), caught.exception)

    def start(self, epochs=1):
        loader = GstSpdl.Loader.new(LINE.format(self.folder, epochs))
        loader.start()
        return loader

    def test_epochs(self):
        loader = self.start(epochs=2)
        epochs = []
        while not loader.is_finished():
            sizes = []
            while batch := loader.next(FOREVER):
                sizes.append(batch.get_n_items())
            epochs.append(sizes)
        self.assertEqual(epochs, [[8, 8, 4]] * 2)
        stats = loader.dup_stats()
        self.assertEqual(len(stats), 5)
        self.assertEqual([s.get_value("num-items") for s in stats], [40] * 5)
        loader.stop()
        self.assertTrue(loader.dup_state().startswith("spdl1;"))
        self.assert_fails(GstSpdl.LoaderError.STOPPED, loader.next, 0)

    def test_batch(self):
        loader = self.start()
        batch = loader.next(FOREVER)
        state = loader.dup_state()
        self.assertEqual(batch.get_state(), state)
        del loader
        self.assertEqual(batch.dup_indices(), list(range(8)))
        self.assertTrue(all(key.endswith(".jpg") for key in batch.dup_keys()))
        data = batch.find_tensor("data")
        labels = batch.dup_tensor(1)
        expected = batch.dup_labels()
        del batch
        self.assertEqual(data.get_shape(), [8, 6, 8, 3])
        self.assertEqual(data.get_strides(), [144, 24, 3, 1])
        self.assertEqual(data.get_typestr(), "|u1")
        self.assertEqual(data.get_device(), (GstSpdl.DeviceType.CPU, 0))
        self.assertTrue(data.is_writable() and data.is_contiguous())
        numbers = (ctypes.c_int64 * 8).from_address(labels.get_address())
        self.assertEqual(list(numbers), expected)
        managed = data.to_dlpack()
        address = data.get_address()
        del data
        # The first field of a DLManagedTensor.
        self.assertEqual(ctypes.c_void_p.from_address(managed).value, address)
        GstSpdl.dlpack_free(managed)

    def test_failures(self):
        bad = pathlib.Path(self.folder, "bad.jpg")
        bad.write_text("no picture")
        self.addCleanup(os.unlink, bad)
        failed = []
        loader = GstSpdl.Loader.new(LINE.format(self.folder, 1))
        loader.connect("failed", lambda _, *args: failed.append(args))
        loader.props.max_failures = 0
        loader.start()
        with self.assertRaises(GLib.Error) as caught:
            while loader.next(FOREVER):
                pass
        self.assertIn("bad.jpg", caught.exception.message)
        self.assertEqual(loader.props.num_failures, 1)
        (stage, uri, error, source, epoch, index, sequence), = failed
        self.assertEqual((source, epoch), (0, 0))
        self.assertTrue(index == sequence <= 20)
        self.assertTrue(stage.startswith("spdldecode"))
        self.assertTrue(uri.endswith("bad.jpg"))
        self.assertIn("0x6e", error.message)
        self.assertEqual(error.domain, "gst-stream-error-quark")

    def test_states(self):
        loader = GstSpdl.Loader.new(LINE.format(self.folder, 1))
        loader.start()
        state = loader.next(FOREVER).get_state()
        self.assertTrue(GstSpdl.state_is_done(state, 0, 0, 7))
        self.assertFalse(GstSpdl.state_is_done(state, 0, 0, 8))
        self.assertFalse(GstSpdl.state_is_done(None, 0, 0, 0))

    def test_source(self):
        loader = GstSpdl.Loader.new("spdlbatch batch-size=2 ! spdlsink")
        self.assertTrue(loader.has_source())
        loader.start()
        caps = Gst.Caps.from_string(
            "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
            "dimensions=(string)4,framerate=0/1")
        cause = GLib.Error("broken", "my-domain", 3)

        def push():
            for i in range(40):
                loader.push_bytes(GLib.Bytes.new(bytes([i] * 4)), caps, i,
                                  f"item:{i}", FOREVER)
            loader.end_source(cause)

        thread = threading.Thread(target=push)
        thread.start()
        labels = []
        with self.assertRaises(GLib.Error) as caught:
            while batch := loader.next(FOREVER):
                labels += batch.dup_labels()
        thread.join()
        self.assertEqual(labels, list(range(40)))
        self.assertTrue(caught.exception.matches(
            GLib.quark_from_string("my-domain"), 3))

    def test_samples(self):
        loader = GstSpdl.Loader.new("spdlbatch batch-size=2 pad-to-longest=true ! spdlsink")
        caps = Gst.Caps.from_string(GstSpdl.SAMPLE_CAPS)
        loader.start()
        for text in b"one", b"three":
            sample = Gst.Buffer.new()
            self.assertTrue(GstSpdl.buffer_append_part(
                sample, GstSpdl.MAIN_PART, Gst.Buffer.new_wrapped(text), None))
            self.assertTrue(GstSpdl.buffer_append_part(
                sample, "box", Gst.Buffer.new_wrapped(b"1234"),
                Gst.Caps.from_string(
                    "other/tensors,format=static,num_tensors=1,types=(string)"
                    "uint8,dimensions=(string)4,framerate=0/1")))
            loader.push(sample, caps, -1, None, FOREVER)
        batch = loader.next(FOREVER)
        self.assertEqual([batch.get_name(i) for i in range(3)],
                         ["data_lengths", "box", "data"])
        self.assertEqual(batch.find_tensor("data").get_shape(), [2, 5])
        self.assertEqual(batch.find_tensor("box").get_shape(), [2, 4])

        parts = GstSpdl.buffer_get_parts_meta(sample)
        self.assertEqual(parts.num_parts, 2)
        self.assertEqual(parts.get_part(1).name, "box")
        self.assertEqual(parts.find_part("box").offset, 5)
        self.assertIsNone(parts.get_part(2))
        part = GstSpdl.buffer_dup_part(sample, "box")
        other = GstSpdl.buffer_replace_part(sample, "data", part, None)
        self.assertEqual(other.extract_dup(0, 9), b"12341234")
        self.assertIsNone(GstSpdl.buffer_dup_part(other, "mask"))
        self.assertIsNone(GstSpdl.buffer_get_parts_meta(part))

    def test_errors(self):
        self.assert_fails(GstSpdl.LoaderError.PIPELINE, GstSpdl.Loader.new,
                          "videotestsrc ! fakesink")
        loader = GstSpdl.Loader.new("identity ! spdlsink")
        self.assert_fails(GstSpdl.LoaderError.NOT_STARTED, loader.next, 0)
        loader.start()
        self.assert_fails(GstSpdl.LoaderError.TIMED_OUT, loader.next, 1000)


class ScanTest(unittest.TestCase):
    def test_properties_and_signals(self):
        kinds = [kind for kind in (getattr(GstSpdl, name) for name in dir(GstSpdl))
                 if isinstance(kind, type) and issubclass(kind, GObject.Object)
                 and kind.__gtype__.name.startswith("GstSpdl")]
        self.assertGreaterEqual(len(kinds), 5)
        n_properties = n_signals = 0
        for kind in kinds:
            properties = {spec.name for spec in GObject.list_properties(kind)
                          if spec.owner_type == kind.__gtype__}
            signals = set(GObject.signal_list_names(kind))
            info = kind.__info__
            self.assertEqual(
                ({found.get_name() for found in info.get_properties()},
                 {found.get_name() for found in info.get_signals()}),
                (properties, signals), kind)
            n_properties += len(properties)
            n_signals += len(signals)
        self.assertGreaterEqual(n_properties, 16)
        self.assertGreaterEqual(n_signals, 2)
        self.assertIsNotNone(GstSpdl.Stage.find_property("stage-stats"))

    def test_scan_prints_nothing(self):
        """Repeats the scan of the build, which Ninja reports only once."""
        target = os.path.relpath(GIR, BUILD)
        command = shlex.split(subprocess.check_output(
            ["ninja", "-C", BUILD, "-t", "commands", "-s", target],
            text=True).splitlines()[-1])
        repeated = make_folder() / "repeated.gir"
        place = command.index("--output") + 1
        self.assertEqual(command[place], target)
        command[place] = str(repeated)
        registry = make_folder() / "registry.bin"
        done = subprocess.run(
            command, cwd=BUILD, capture_output=True, text=True, check=False,
            env={**os.environ, "GST_REGISTRY": str(registry)})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(repeated.read_text(), pathlib.Path(GIR).read_text())
        self.assertFalse(registry.exists(), "the scan wrote a registry")


if Gst is None:
    needs_gi(LoaderTest)
    needs_gi(ScanTest)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
