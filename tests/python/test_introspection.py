#!/usr/bin/python3
# gst-spdl: tests of the library and the elements through PyGObject
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a dataset of 20 JPEGs through GObject introspection, as a trainer
would. The arguments are tools/make-dataset and the example loader in C."""

import os
import subprocess
import sys
import unittest

from support import ROOT, make_dataset, make_folder, needs_gi, require_gi

EXAMPLE = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None

try:
    Gst, GstSpdl = require_gi()
    from gi.module import get_introspection_module
    from gi.repository import GLib, GObject
except unittest.SkipTest:  # needs_gi reports it
    pass


@needs_gi
class PipelineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = make_dataset(20)

    def load(self, more=""):
        pipeline = Gst.parse_launch(
            f'spdlsrc name=source location="{self.folder}" label=folder '
            f"! spdlfetch concurrency=2 {more} "
            f"! spdldecode name=decode concurrency=2 {more} width=32 height=24 "
            "! spdlbatch batch-size=8 labels=true "
            "! spdlsink name=sink")
        sink = pipeline.get_by_name("sink")
        samples = []
        pipeline.set_state(Gst.State.PLAYING)
        while sample := sink.emit("pull-sample"):
            samples.append(sample)
        return pipeline, samples

    def test_batches(self):
        pipeline, samples = self.load("output-order=input")
        self.assertEqual(pipeline.get_by_name("source").props.num_items, 20)
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(len(samples), 3)
        indices = []
        for sample in samples:
            buffer = sample.get_buffer()
            batch = GstSpdl.buffer_get_batch_meta(buffer)
            ok, info = GstSpdl.tensors_info_from_caps(sample.get_caps())
            self.assertTrue(ok)
            self.assertEqual(info.num_tensors, 2)
            self.assertEqual(batch.get_name(0), "data")
            self.assertEqual(batch.get_name(1), "labels")
            self.assertEqual(buffer.peek_memory(0).get_sizes()[0],
                             batch.num_items * 32 * 24 * 3)
            for i in range(batch.num_items):
                item = batch.get_item(i)
                self.assertTrue(item.uri.startswith("file:///"))
                self.assertGreaterEqual(item.label, 0)
                indices.append(item.index)
        self.assertEqual(indices, list(range(20)))

    def test_statistics(self):
        pipeline, _ = self.load()
        decode = pipeline.get_by_name("decode")
        self.assertIsInstance(decode, GstSpdl.Stage)
        pipeline.set_state(Gst.State.NULL)
        stats = decode.props.stage_stats
        self.assertEqual(stats.get_name(), "spdl-stage-stats")
        self.assertEqual(stats.get_value("num-tasks"), 20)
        self.assertGreater(stats.get_value("cpu-time"), 0)
        self.assertEqual(decode.props.output_order,
                         GstSpdl.OutputOrder.COMPLETION)

    def test_diagnosis(self):
        pipeline, _ = self.load()
        stats = [pipeline.get_by_name(name).props.stage_stats
                 for name in ("source", "decode", "sink")]
        pipeline.set_state(Gst.State.NULL)
        diagnosis = GstSpdl.diagnose(stats, 2, 0)
        # 20 items: too few, or in too short a time.
        self.assertEqual(diagnosis.get_limit(), GstSpdl.Limit.TOO_FEW)
        self.assertEqual(diagnosis.get_limit_nick(), "too-few")
        self.assertTrue(diagnosis.get_sentence())
        self.assertIsNone(diagnosis.dup_suggestion())
        self.assertIsNone(diagnosis.get_roofline())

        stats = Gst.Structure.new_from_string(
            "s, stage=decode, elapsed=(guint64)9000000000, concurrency=(uint)2,"
            "num-items=(guint64)1800, max-concurrency=(uint)64,"
            "num-tasks=(guint64)1800, ave-time=(guint64)10000000,"
            "cpu-time=(guint64)18000000000, occupancy-rate=0.98")
        diagnosis = GstSpdl.diagnose([stats], 8, 0)
        self.assertEqual(diagnosis.dup_suggestion(), "decode.concurrency=4")
        self.assertEqual(
            diagnosis.get_sentence(),
            "decode computes all the time and its queue is 98 % full: "
            "raise decode.concurrency, now 2")
        roofline = diagnosis.get_roofline()
        self.assertEqual(roofline.get_value("limit"), "cores")
        self.assertAlmostEqual(roofline.get_value("items-per-second"), 800)

    def test_cpus(self):
        self.assertGreaterEqual(GstSpdl.get_num_cores(), 1)
        self.assertLessEqual(GstSpdl.get_num_cores(),
                             len(os.sched_getaffinity(0)))
        before = GstSpdl.dup_cpu_stats()
        after = GstSpdl.dup_cpu_stats()
        self.assertEqual(after.get_name(), "spdl-cpu-stats")
        self.assertGreater(after.get_value("time"), before.get_value("time"))
        stats = Gst.Structure.new_from_string(
            "s, stage=decode, elapsed=(guint64)9000000000, concurrency=(uint)2,"
            "num-tasks=(guint64)1800, ave-time=(guint64)10000000,"
            "cpu-time=(guint64)18000000000, occupancy-rate=0.98")
        before, after = (Gst.Structure.new_from_string(text) for text in (
            "c, time=(guint64)0, num-cores=4.0, process-time=(guint64)0,"
            "num-cpus=(uint)4, busy-time=(guint64)0, idle-time=(guint64)0",
            "c, time=(guint64)1000, num-cores=4.0, process-time=(guint64)2000,"
            "num-cpus=(uint)4, busy-time=(guint64)4000, idle-time=(guint64)0"))
        diagnosis = GstSpdl.diagnose_with_cpus([stats], before, after)
        self.assertEqual(diagnosis.get_limit(), GstSpdl.Limit.OTHERS)
        diagnosis = GstSpdl.diagnose_with_cpus([stats], None, after)
        self.assertEqual(diagnosis.get_limit(), GstSpdl.Limit.COMPUTING)

    def test_events(self):
        event = GstSpdl.event_new_items_dropped(
            1, 2, [3, 4], GstSpdl.DropReason.FILTERED)
        result = GstSpdl.event_parse_items_dropped(event)
        self.assertEqual(result[:4], (True, 1, 2, [3, 4]))
        self.assertIsNone(GstSpdl.event_get_base(event))
        event = GstSpdl.event_new_source(0, 5, "spdl1;")
        self.assertIsNone(GstSpdl.event_get_base(event))
        GstSpdl.event_set_base(event, "file:///data")
        self.assertEqual(GstSpdl.event_get_base(event), "file:///data")


@needs_gi
class OverrideTest(unittest.TestCase):
    """Tests the classes of PyGObject where the package is installed."""

    @classmethod
    def setUpClass(cls):
        cls.folder = make_dataset(20)

    def make_loader(self):
        return GstSpdl.Loader.new(
            f'spdlsrc location="{self.folder}" label=folder epochs=2 ! spdlfetch '
            "! spdldecode width=8 height=6 "
            "! spdlbatch batch-size=8 labels=true ! spdlsink")

    def test_introspected_members_stay(self):
        raw = get_introspection_module("GstSpdl")
        for name in "Loader", "Batch", "Tensor":
            kind, own = getattr(GstSpdl, name), getattr(raw, name)
            with self.subTest(name):
                self.assertIsNot(kind, own)
                self.assertTrue(issubclass(kind, own))
                added = {member for member in vars(kind)
                         if not member.startswith("__")}
                self.assertFalse(added & set(dir(own)))
        with self.assertRaises(TypeError):
            GstSpdl.Loader()
        self.assertIs(GstSpdl.LoaderError, raw.LoaderError)
        self.assertTrue(issubclass(GstSpdl.Loader, GObject.Object))
        self.assertIn("failed", GObject.signal_list_names(GstSpdl.Loader))
        with self.assertRaises(GLib.Error) as caught:
            GstSpdl.Loader.new("videotestsrc ! fakesink")
        self.assertTrue(caught.exception.matches(
            GstSpdl.loader_error_quark(), GstSpdl.LoaderError.PIPELINE))

    def test_epochs(self):
        with self.make_loader() as loader:
            self.assertIsInstance(loader, GstSpdl.Loader)
            epochs = [sum(batch.get_n_items() for batch in loader)
                      for _ in range(3)]
            self.assertTrue(loader.is_running())
        self.assertEqual(epochs, [20, 20, 0])
        self.assertFalse(loader.is_running())
        with self.assertRaises(GLib.Error):
            loader.next(0)

    def test_tensors_by_name(self):
        batch = next(iter(self.make_loader()))
        self.assertIsInstance(batch, GstSpdl.Batch)
        self.assertEqual((list(batch), len(batch)), (["data", "labels"], 2))
        self.assertIn("labels", batch)
        self.assertNotIn("nothing", batch)
        self.assertTrue(batch)
        self.assertIsInstance(batch["data"], GstSpdl.Tensor)
        with self.assertRaisesRegex(KeyError, "data, labels"):
            batch["nothing"]

    def test_views(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("needs NumPy")
        batch = next(iter(self.make_loader()))
        tensor = batch["data"]
        labels = batch["labels"].numpy().tolist()
        self.assertEqual(labels, batch.dup_labels())
        address, shape = tensor.get_address(), tuple(tensor.get_shape())
        views = [tensor.numpy(), np.asarray(tensor), np.from_dlpack(tensor)]
        copy = views[0].copy()
        del batch, tensor
        # Other memory may not come in the place of this one.
        other = list(self.make_loader())
        for view in views:
            self.assertEqual((view.ctypes.data, view.shape), (address, shape))
            self.assertTrue((view == copy).all())
        del other


@needs_gi
class AloneTest(unittest.TestCase):
    """Runs programs with and without the package."""

    def run_both(self, *command):
        folder = make_folder()
        (folder / "photos").symlink_to(make_dataset(20))
        outputs = []
        for path in os.environ["PYTHONPATH"], "":
            done = subprocess.run(
                command, cwd=folder, env={**os.environ, "PYTHONPATH": path},
                capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            outputs.append(done.stdout)
        return outputs

    def test_package(self):
        """Checks that it is there only once."""
        with_it, without = self.run_both(
            sys.executable, "-c", "import importlib.util as u; print(*["
            "bool(u.find_spec(n)) for n in ('gstspdl', 'gi.overrides.GstSpdl')])")
        self.assertEqual((with_it, without), ("True True\n", "False False\n"))

    def test_program_of_the_guide(self):
        page = (ROOT / "docs/how-to/pygobject.md").read_text()
        block = page.split("\n## Classes of the library\n")[1].split("\n    import gi\n")[1]
        lines = ["import gi"]
        for line in block.splitlines():
            if line and not line.startswith("    "):
                break
            lines.append(line[4:])
        with_it, without = self.run_both(sys.executable, "-c", "\n".join(lines))
        self.assertEqual(with_it, without)
        self.assertEqual(with_it.splitlines()[-2:],
                         ["0 failures in 1 epoch", "True"])
        self.assertEqual(with_it.count("[8, 64, 64, 3]"), 2)

    def test_program_in_c(self):
        with_it, without = self.run_both(EXAMPLE, "photos")
        shapes = [[line.split(", mean")[0] for line in text.splitlines()
                   if "data (" in line] for text in (with_it, without)]
        self.assertEqual(*shapes)
        self.assertEqual(len(shapes[0]), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
