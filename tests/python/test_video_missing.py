#!/usr/bin/python3
# gst-spdl: tests of videos in which a packet is missing
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Removes one packet from a video: each frame that arrives must be that of the
whole video at its time, or the item fails. VP8, VP9 and MPEG-2 are not among the
codecs, as nothing in their packets tells that one is missing. The first argument
is tools/make-dataset, which is not needed."""

import json
import pathlib
import tempfile
import unittest
import warnings

import numpy as np

import videos
from support import slow_or

from gstspdl import Loader, LoaderWarning

RATE = 25
COUNT = slow_or(170, 40)
STEP = slow_or(1, 5)
CODECS = {
    "h264.mkv": [*videos.H264, "-g", "12", "-bf", "2", "-x264-params",
                 "scenecut=0"],
    "h264.mp4": [*videos.H264, "-g", "24", "-bf", "3", "-x264-params",
                 "scenecut=0:open-gop=1"],
    "hevc.mkv": ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                 "log-level=none:keyint=12:bframes=2:pools=1"],
    "hevc.mp4": ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                 "log-level=none:keyint=24:bframes=3:open-gop=1:pools=1"],
    "mpeg4.mp4": ["-c:v", "mpeg4", "-q:v", "3", "-g", "12", "-bf", "2"],
    "av1.mkv": ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8",
                "-g", "12"],
}


class Missing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        warnings.simplefilter("ignore", LoaderWarning)

    def load(self, paths, decode=""):
        """Returns the frames of each video by their number, None if it failed."""
        listed = self.folder / "list.jsonl"
        listed.write_text("".join(json.dumps({"uri": str(path)}) + "\n"
                                  for path in paths))
        found = [None] * len(paths)
        with Loader(f"spdlsrc location={listed} ! spdlfetch "
                    f"! spdldecode num-frames={COUNT} concurrency=2 "
                    f"max-failure-rate=1 {decode} "
                    "! spdlbatch batch-size=1 indices=true ! spdlsink"
                    ) as loader:
            for batch in loader:
                extra = batch.extras[0]
                times = extra["frame-times"][:extra["num-frames"]]
                frames = np.asarray(batch["data"])[0]
                found[batch.indices[0]] = {
                    round(time / 1e9 * RATE): frame.copy()
                    for time, frame in zip(times, frames)}
        return found

    def test_missing_packets(self):
        for name, codec in CODECS.items():
            source = videos.make(self.folder / name, COUNT, *codec)
            whole, = self.load([source])
            self.assertEqual(sorted(whole), list(range(COUNT)))
            paths = []
            for i in range(1, COUNT - 1, STEP):
                paths.append(self.folder / f"{i}-{name}")
                videos.ffmpeg("-i", source, "-c", "copy", "-bsf:v",
                              f"noise=drop=eq(n\\,{i})", paths[-1])
            found = self.load(paths)
            for path, frames in zip(paths, found):
                for i, frame in (frames or {}).items():
                    with self.subTest(path=path.name, frame=i):
                        np.testing.assert_array_equal(frame, whole[i])
            # Each of these videos has pictures that others are made from.
            self.assertIn(None, found)
            kept = self.load(paths[:3], "on-corrupt=keep")
            self.assertNotIn(None, kept)
            for path in paths:
                path.unlink()


if __name__ == "__main__":
    unittest.main()
