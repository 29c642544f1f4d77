#!/usr/bin/python3
# gst-spdl: tests of video codecs in containers, in many variants
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the frames, which have their number in their pixels, with those that
ffmpeg shows. The normal mode has a sixth of the files. The first argument is
tools/make-dataset, which is not needed."""

import collections
import itertools
import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

import videos
from support import slow_or

from gstspdl import Loader

COUNT = 40

# Encoders, with the options of variants; those that a codec lacks are left out.
CODECS = {
    "H.264": ["-c:v", "libx264", "-preset", "veryfast", "-g", "10", "-bf", "0"],
    "HEVC": ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params"],
    "VP8": ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-g",
            "10", "-b:v", "600k"],
    "VP9": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
            "-g", "10", "-b:v", "600k"],
    "AV1": ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-g",
            "10"],
    "MPEG-2": ["-c:v", "mpeg2video", "-q:v", "2", "-g", "10", "-flags", "+cgop",
               "-sc_threshold", "1000000000"],
    "MPEG-4": ["-c:v", "mpeg4", "-q:v", "2", "-g", "10"],
    "Motion JPEG": ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"],
    "ProRes": ["-c:v", "prores", "-pix_fmt", "yuv422p10le"],
    "FFV1": ["-c:v", "ffv1", "-g", "1"],
}
VARIANTS = {
    "plain": {},
    "B-frames": {"H.264": ["-bf", "3"], "MPEG-2": ["-bf", "2"],
                 "MPEG-4": ["-bf", "2"], "HEVC": "bframes=3",
                 "VP8": ["-auto-alt-ref", "1", "-lag-in-frames", "8",
                         "-deadline", "good"],
                 "VP9": ["-auto-alt-ref", "1", "-lag-in-frames", "8",
                         "-deadline", "good"],
                 "AV1": ["-usage", "good", "-lag-in-frames", "8"]},
    "open groups": {"H.264": ["-bf", "2", "-x264-params", "open-gop=1"],
                    "HEVC": "bframes=3:open-gop=1",
                    "MPEG-2": ["-bf", "2", "-flags", "-cgop"]},
    "10 bits": {"H.264": ["-pix_fmt", "yuv420p10le"],
                "HEVC": ("yuv420p10le", ""),
                "VP9": ["-pix_fmt", "yuv420p10le"],
                "AV1": ["-pix_fmt", "yuv420p10le"],
                "FFV1": ["-pix_fmt", "yuv420p10le"]},
}
# Made from another file, by copying the packets.
COPIES = {
    "cut": (["-ss", "0.6"], [], "open groups"),
    "no edit list": ([], ["-use_editlist", "0", "-avoid_negative_ts",
                          "disabled"], "B-frames"),
    "late": (["-itsoffset", "0.5"], [], "B-frames"),
    "early": (["-itsoffset", "-0.2"], ["-avoid_negative_ts", "disabled"],
              "plain"),
    "rotated": ([], [], "plain"),
}
CONTAINERS = {
    "MP4": (".mp4", []), "fragments": (".mp4", [
        "-movflags", "frag_keyframe+empty_moov"]), "MOV": (".mov", []),
    "MKV": (".mkv", []), "WebM": (".webm", []), "TS": (".ts", []),
    "AVI": (".avi", []),
}
FITTING = {
    "MP4": {"H.264", "HEVC", "VP9", "AV1", "MPEG-2", "MPEG-4", "Motion JPEG"},
    "MOV": {"H.264", "HEVC", "MPEG-2", "MPEG-4", "Motion JPEG", "ProRes"},
    "MKV": set(CODECS), "WebM": {"VP8", "VP9", "AV1"},
    "TS": {"H.264", "HEVC", "MPEG-2", "MPEG-4"},
    "AVI": {"H.264", "VP8", "MPEG-2", "MPEG-4", "Motion JPEG", "FFV1"},
}
FITTING["fragments"] = FITTING["MP4"]

Case = collections.namedtuple("Case", "codec container variant path")
FOLDER = tempfile.TemporaryDirectory()


def path_of(codec, container, variant):
    name = f"{codec}-{container}-{variant}".replace(" ", "-")
    return pathlib.Path(FOLDER.name, name + CONTAINERS[container][0])


def list_cases():
    for container, codecs in FITTING.items():
        for codec in CODECS:
            if codec not in codecs:
                continue
            for variant in [*VARIANTS, "variable rate", *COPIES]:
                if variant in VARIANTS and variant != "plain" and (
                        codec not in VARIANTS[variant]):
                    continue
                # Only MP4 has edit lists and, in this version of ffmpeg,
                # rotations that can be written.
                if variant in ("no edit list", "rotated") and (
                        container not in ("MP4", "MOV")):
                    continue
                # H.264 and HEVC in AVI have no times at all.
                if container == "AVI" and variant in (
                        "open groups", "variable rate", "cut", "late", "early"):
                    continue
                yield Case(codec, container, variant,
                           path_of(codec, container, variant))


def encoder(codec, variant):
    options = list(CODECS[codec])
    extra = VARIANTS.get(variant, {}).get(codec, [])
    pixels = "yuv420p"
    if codec == "HEVC":
        if isinstance(extra, tuple):
            pixels, extra = extra
        options.append(":".join(filter(None, [
            "log-level=none:keyint=10:min-keyint=10:scenecut=0:pools=1",
            extra or "bframes=0:open-gop=0"])))
        extra = []
    if variant == "variable rate":
        extra = ["-vf", "select='lt(mod(n\\,10)\\,4)+not(mod(n\\,7))'",
                 "-fps_mode", "vfr"]
    return [*(["-pix_fmt", pixels] if "-pix_fmt" not in options else []),
            *options, *extra]


def make(cases):
    """Makes the files, several with one ffmpeg."""
    raw = pathlib.Path(FOLDER.name, "raw")
    raw.write_bytes(b"".join(videos.draw(i).tobytes() for i in range(COUNT)))
    source = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", "160x96", "-r", "25",
              "-i", raw]
    encoded = [case for case in cases if case.variant not in COPIES]
    # Copies need a file with the packets in a container that keeps all.
    for case in cases:
        if case.variant in COPIES:
            base = COPIES[case.variant][2]
            if case.codec not in VARIANTS.get(base, {}):
                base = "plain"
            other = Case(case.codec, "MKV", base,
                         path_of(case.codec, "MKV", base))
            if other not in encoded:
                encoded.append(other)
    for i in range(0, len(encoded), 12):
        videos.ffmpeg(*source, *itertools.chain.from_iterable(
            [*encoder(case.codec, case.variant),
             *CONTAINERS[case.container][1], "-strict", "-2", case.path]
            for case in encoded[i:i + 12]))
    for case in cases:
        if case.variant not in COPIES:
            continue
        before, after, base = COPIES[case.variant]
        if case.codec not in VARIANTS.get(base, {}):
            base = "plain"
        if case.variant == "rotated":
            after = ["-metadata:s:v:0", "rotate=90"]
            if videos.has_option("display_rotation"):
                before, after = ["-display_rotation", "90"], []
        videos.ffmpeg(*before, "-i", path_of(case.codec, "MKV", base), "-c",
                      "copy", *after, *CONTAINERS[case.container][1],
                      "-strict", "-2", case.path)


def show(path):
    """Returns the numbers of the frames that ffmpeg shows."""
    raw = subprocess.run(
        ["ffmpeg", "-v", "fatal", "-nostdin", "-i", path, "-map", "0:v:0",
         "-fps_mode", "passthrough", "-vf", "scale=160:96", "-f", "rawvideo",
         "-pix_fmt", "gray", "pipe:"], check=False, capture_output=True).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(-1, 96, 160, 1)
    return videos.read(frames).tolist()


def drop_outside(case, numbers):
    """Drops the frames that ffmpeg shows although the edit list leaves them out:
    with dav1d, versions before 6 ignore it."""
    if case.codec != "AV1" or case.container not in ("MP4", "fragments"):
        return numbers
    flags = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "packet=flags", "-of",
         "csv=p=0", case.path], check=True, capture_output=True, text=True)
    outside = ["D" in line for line in flags.stdout.splitlines() if line]
    return numbers[sum(outside):] if len(numbers) == len(outside) else numbers


def read(cases, decode, times=None):
    """Returns the numbers in the clips of each case with their extras, None if it
    failed; and the reasons of failures by the name of the file."""
    listed = pathlib.Path(FOLDER.name, "list.jsonl")
    listed.write_text("".join(json.dumps(
        {"uri": str(case.path), **({"clip-times": times[case]} if times else {})})
        + "\n" for case in cases))
    found = dict.fromkeys(cases)
    with Loader(f"spdlsrc location={listed} ! spdlfetch ! spdldecode {decode} "
                "width=160 height=96 concurrency=2 ! spdlbatch batch-size=1 "
                "indices=true ! spdlsink") as loader:
        for batch in loader:
            found[cases[batch.indices[0]]] = (
                videos.read(np.asarray(batch["data"])[0]).tolist(),
                batch.extras[0])
        failures = {failure.uri.rpartition("/")[2]: failure.reason
                    for failure in loader.failures}
    return found, failures


def compare(cases):
    """Returns a list of (case, mode, expected, found or the reason)."""
    shown = {case: drop_outside(case, show(case.path)) for case in cases}
    wrong = []

    def check(mode, result, choose):
        """Compares the frames with those at the positions that `choose` returns
        for a number of frames. Short clips repeat the last one. If ffmpeg shows
        no frame, the file must fail."""
        found, failures = result
        for case, numbers in shown.items():
            expected = [numbers[i] for i in choose(len(numbers))
                        if i < len(numbers)] or None
            got, reason = None, failures.get(case.path.name)
            if found[case]:
                got, extra = found[case]
                got = got[:extra["num-frames"]]
            if got != expected:
                wrong.append((case, mode, expected, got or reason))

    whole = read(cases, f"num-frames={COUNT + 5}")
    check("all", whole, range)
    check("step", read(cases, "num-frames=5 frame-step=7"),
          lambda n: range(0, 35, 7))
    check("uniform", read(cases, "num-frames=5 clip-sampling=uniform"),
          lambda n: [(2 * i + 1) * n // 10 for i in range(5)])
    found, _ = read(cases, "num-frames=4 clip-sampling=random seed=3")
    for case in cases:
        numbers = found[case] and found[case][0]
        starts = range(max(len(shown[case]), 1))
        if not any(shown[case][i:i + 4] == (numbers or []) for i in starts):
            wrong.append((case, "random", shown[case], numbers))
    # The frames at the times that frame-times has are those frames.
    order = [7, 2, 19, 12]
    times = {case: " ".join(
        repr(whole[0][case][1]["frame-times"][i] / 1e9 + 1e-6)
        for i in order) for case in cases if whole[0][case]}
    timed = list(times)
    found, _ = read(timed, "num-frames=4 clip-sampling=times", times)
    for case in timed:
        numbers = found[case] and found[case][0]
        expected = [shown[case][i] for i in order]
        if numbers != expected:
            wrong.append((case, "times", expected, numbers))
    return wrong


def make_table():
    """Returns the table of docs/reference/video-formats.md."""
    cells = collections.Counter((case.codec, case.container)
                                for case in list_cases())
    lines = ["| Codec | " + " | ".join(CONTAINERS) + " |",
             "| --- |" + " --- |" * len(CONTAINERS)]
    for codec in CODECS:
        lines.append(f"| {codec} | " + " | ".join(
            str(cells[codec, container] or "-") for container in CONTAINERS)
            + " |")
    return "\n".join(lines)


class Matrix(unittest.TestCase):
    def test_documented(self):
        page = (pathlib.Path(__file__).resolve().parents[2]
                / "docs/reference/video-formats.md")
        self.assertIn(make_table(), page.read_text("utf-8"))

    def test_matrix(self):
        cases = list(list_cases())
        cases = slow_or(cases, cases[::6])
        make(cases)
        for case, mode, expected, found in compare(cases):
            with self.subTest(codec=case.codec, container=case.container,
                              variant=case.variant, mode=mode):
                self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main()
