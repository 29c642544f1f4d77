#!/usr/bin/python3
# gst-spdl: tests of the selection of video frames
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed."""

import itertools
import os
import pathlib
import re
import resource
import struct
import subprocess
import tempfile
import unittest

import numpy as np

import videos
from errors import raises
from support import check_python, run_python, slow_or

from gstspdl import Loader, LoaderError, decode

FOLDER = tempfile.TemporaryDirectory()
SIZE = {"width": 32, "height": 32}
X264 = videos.H264
BFRAMES = [*X264, "-g", "30", "-bf", "3", "-x264-params",
           "scenecut=0:b-pyramid=normal"]
OPEN_GOP = [*X264, "-g", "30", "-bf", "3", "-x264-params",
            "scenecut=0:open-gop=1"]
MPEG4 = ["-c:v", "mpeg4", "-g", "30", "-bf", "2"]
MPEG2 = ["-c:v", "mpeg2video", "-q:v", "2", "-g", "12", "-bf", "2"]
THEORA = ["-c:v", "libtheora", "-g", "30"]
XVID = ["-c:v", "libxvid", "-g", "30", "-q:v", "3"]
X265 = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params"]


# For each codec whose headers are parsed before decoding.
STREAMS = {
    "h264.mp4": [*X264, *videos.YUV],
    "h264.mkv": [*X264, *videos.YUV],
    "h264.avi": [*X264, *videos.YUV],
    "h264-interlaced.mkv": [*X264, *videos.YUV, "-flags", "+ildct"],
    "h264-444.mkv": [*X264, "-pix_fmt", "yuv444p"],
    "h265.mp4": [*X265, "log-level=error", *videos.YUV],
    "av1.mkv": ["-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime",
                *videos.YUV],
    "vp8.webm": ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"],
    "vp9.webm": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used",
                 "8", *videos.YUV],
    "mpeg2.mkv": ["-c:v", "mpeg2video", "-q:v", "3"],
    "mpeg4.mp4": ["-c:v", "mpeg4"],
    "mjpeg.avi": ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"],
    "prores.mov": ["-c:v", "prores"],
}


def make_streams(kind, source, n_frames):
    """Makes a video of that kind for each of the codecs from a source of
    lavfi."""
    videos.ffmpeg("-f", "lavfi", "-i", source, *itertools.chain.from_iterable(
        ("-frames:v", n_frames, *codec, path_of(f"{kind}-{name}"))
        for name, codec in STREAMS.items()))


def with_size(data, width, height):
    """Returns a video whose container has another size than its stream."""
    data = bytearray(data)
    if data.startswith(b"RIFF"):
        at = data.index(b"strf") + 12
        data[at:at + 8] = struct.pack("<II", width, height)
    elif data.startswith(b"\x1aE\xdf\xa3"):
        for mark, side in ((b"\xb0\x82", width), (b"\xba\x82", height)):
            at = data.index(mark) + 2
            data[at:at + 2] = struct.pack(">H", side)
    else:
        at = data.index(b"stsd") + 4 + 8 + 4 + 28
        data[at:at + 4] = struct.pack(">HH", width, height)
    return bytes(data)


def path_of(name):
    return pathlib.Path(FOLDER.name, name)


def video(name, *arguments, count=100, **options):
    """Returns that file, which is made on first use."""
    path = path_of(name)
    if not path.exists():
        videos.make(path, count, *arguments, **options)
    return path


def late():
    """Returns a video whose edit list starts after half a second."""
    path = path_of("late.mp4")
    if not path.exists():
        videos.ffmpeg("-itsoffset", "0.5", "-i", video("b.mp4", *BFRAMES),
                      "-c", "copy", path)
    return path


def with_one_header(source):
    """Returns MPEG-4 in which only the first key frame has the sequence
    header."""
    path = path_of(f"one-header-{source.name}")
    headers = re.compile(rb"\0\0\x01\xb0.{4,90}?(?=\0\0\x01[\xb3\xb6])",
                         re.DOTALL)
    first = headers.search(source.read_bytes())
    path.write_bytes(source.read_bytes()[:first.end()] + headers.sub(
        lambda found: b"\0\0\x01\xb2".ljust(len(found[0]), b"x"),
        source.read_bytes()[first.end():]))
    return path


def with_one_dropped(source):
    """Returns MPEG-4 in which a non-reference picture is marked as not coded."""
    data = bytearray(source.read_bytes())
    # Picture type, no further second, a marker, 5 bits of time, a marker, and
    # the bit.
    places = [found.end() for found in re.finditer(rb"\0\0\x01\xb6", data)]
    place = [i for i in places if data[i] >> 4 == 0b1001][20]
    data[place + 1] &= ~0x20
    path = path_of(f"dropped-{source.name}")
    path.write_bytes(data)
    return path


def with_duration_of_first(source):
    """Returns Matroska in which only the first frame has a duration."""
    path = path_of(f"first-{source.name}")
    # A pipe gives it clusters of unknown size, which may change.
    data = videos.ffmpeg("-i", source, "-c", "copy", "-f", "matroska", "-",
                         stdout=subprocess.PIPE).stdout
    # A Void element replaces DefaultDuration.
    data, n = re.subn(
        rb"\x23\xe3\x83([\x81-\x88])",
        lambda found: bytes([0xEC, found[1][0] + 2, 0, 0]), data)
    assert n == 1, n
    block = re.search(rb"\xa3([\x80-\xff]|[\x40-\x7f].)(?=\x81\0\0\x80)", data,
                      re.DOTALL)
    size = int.from_bytes(block[1], "big") & (1 << 7 * len(block[1])) - 1
    end = block.end() + size
    group = (b"\xa1\x10" + size.to_bytes(3, "big") + data[block.end():end]
             + b"\x9b\x81\x28")
    path.write_bytes(data[:block.start()] + b"\xa0\x10"
                     + len(group).to_bytes(3, "big") + group + data[end:])
    return path


def varying(suffix):
    """Returns a video without some frames, so that its intervals vary."""
    return video(f"vfr.{suffix}", "-vf",
                 "select='lt(mod(n\\,10)\\,4)+not(mod(n\\,7))'", "-fps_mode",
                 "vfr", *BFRAMES, count=200)


def clip(path, n, **properties):
    """Returns the numbers of its frames."""
    data = path if isinstance(path, bytes) else path.read_bytes()
    tensor = decode(data, num_frames=n, **{**SIZE, **properties})
    assert tensor.shape == (n, 32, 32, 3), tensor.shape
    return videos.read(np.asarray(tensor)).tolist()


def positions(kind, total, n, step=1):
    reach = (n - 1) * step + 1
    if kind == "uniform":
        return [(2 * i + 1) * total // (2 * n) for i in range(n)]
    begin = (total - reach) // 2 if kind == "center" else 0
    return [begin + i * step for i in range(n)]


class Frames(unittest.TestCase):
    """Tests that frames are counted in the order in which FFmpeg shows them."""

    def check(self, path):
        numbers = videos.show_numbers(path).tolist()
        for kind, n, step in [("head", 3, 1), ("head", 5, 7), ("center", 4, 1),
                              ("center", 3, 9), ("uniform", 6, 1),
                              ("uniform", len(numbers), 1)]:
            with self.subTest(path=path.name, kind=kind, n=n, step=step):
                self.assertEqual(
                    clip(path, n, clip_sampling=kind, frame_step=step),
                    [numbers[i] for i in positions(kind, len(numbers), n,
                                                   step)])

    def check_numbers(self, path, count):
        """Checks the frame numbers, and that FFmpeg shows all frames."""
        self.assertEqual(videos.show_numbers(path).tolist(),
                         list(range(count)))
        self.check(path)

    def test_formats(self):
        open_hevc = [*X265,
                     "log-level=none:keyint=25:open-gop=1:bframes=3:pools=1"]
        vpx = ["-deadline", "good", "-cpu-used", "5", "-auto-alt-ref", "1",
               "-lag-in-frames", "16", "-g", "40", "-b:v", "400k"]
        for name, count, *arguments in (
                ("b.mp4", 100, *BFRAMES), ("b.mkv", 100, *BFRAMES),
                ("b.flv", 100, *BFRAMES), ("b.ts", 100, *BFRAMES),
                ("250.mp4", 600, *X264, "-g", "250", "-keyint_min", "250",
                 "-x264-params", "scenecut=0"),
                ("front.mp4", 100, *BFRAMES, "-movflags", "+faststart"),
                ("fragments.mp4", 100, *BFRAMES, "-movflags",
                 "frag_keyframe+empty_moov"),
                ("open.mp4", 100, *OPEN_GOP), ("open.mkv", 100, *OPEN_GOP),
                ("open-hevc.mp4", 100, *open_hevc),
                ("open-hevc.mkv", 100, *open_hevc),
                ("mpeg2.mpg", 100, *MPEG2), ("mpeg2.ts", 100, *MPEG2),
                # No packet says which frames are key frames.
                ("h265.ts", 100, *X265, "keyint=20:log-level=error"),
                # Some packets are not shown.
                ("vp8.webm", 100, "-c:v", "libvpx", *vpx),
                ("vp9.webm", 60, "-c:v", "libvpx-vp9", *vpx),
                ("av1.mkv", 40, "-c:v", "libaom-av1", "-cpu-used", "8",
                 "-usage", "realtime", "-g", "15"),
                # Header packets do not count as frames.
                ("theora.ogv", 100, *THEORA), ("theora.mkv", 100, *THEORA),
                # Packets of AVI have no presentation times.
                ("h264.avi", 100, *X264, "-g", "30"),
                ("mpeg4.avi", 100, "-c:v", "mpeg4", "-g", "30"),
                ("motion.avi", 100, "-c:v", "mjpeg", "-q:v", "3")):
            with self.subTest(name):
                self.check_numbers(video(name, *arguments, count=count), count)

    def test_rare_formats(self):
        for name, *codec in (
                ("raw.avi", "-c:v", "rawvideo"),
                ("raw24.avi", "-c:v", "rawvideo", "-pix_fmt", "bgr24"),
                ("raw.mov", "-c:v", "rawvideo", "-pix_fmt", "uyvy422",
                 "-tag:v", "2vuy"),
                ("v210.mov", "-c:v", "v210"), ("ut.avi", "-c:v", "utvideo"),
                ("wmv.wmv", "-c:v", "wmv2", "-q:v", "3"),
                ("mpeg2.mxf", *MPEG2), ("stream.h264", *BFRAMES),
                ("stream.h265", *X265, "keyint=20:log-level=error"),
                ("stream.m2v", *MPEG2), ("open.avi", *OPEN_GOP), ("vp8.ivf", "-c:v", "libvpx"),
                ("raw.y4m", "-c:v", "wrapped_avframe"),
                ("alpha.webm", "-c:v", "libvpx", "-pix_fmt", "yuva420p",
                 "-auto-alt-ref", "0"),
                ("animation.gif", "-c:v", "gif"),
                ("animation.apng", "-c:v", "apng", "-pix_fmt", "rgb24")):
            self.check_numbers(video(name, *codec, count=40), 40)

    def test_unknown_pixels(self):
        """Tests that a format that cannot be converted is named."""
        path = video("rgb48.mov", "-c:v", "png", "-pix_fmt", "rgb48be", count=2)
        with raises("stream-error decode", "rgb48be"):
            clip(path, 2)

    def test_intra_refresh(self):
        """Tests key frames that are not random access points."""
        self.check(video("refresh.mkv", *X264, "-g", "40", "-bf", "0",
                         "-x264-params", "intra-refresh=1:scenecut=0"))

    def test_false_key_frames(self):
        """Tests files that mark all packets as key frames."""
        for name, *codec in (
                ("h264", *X264, "-g", "40"),
                ("hevc", *X265, "log-level=none:keyint=40:pools=1"),
                ("hevc10", "-pix_fmt", "yuv420p10le", *X265,
                 "log-level=none:keyint=40:pools=1")):
            path = path_of(f"false-{name}.mkv")
            data = video(f"{name}.mkv", *codec).read_bytes()
            # Size, track, time and flags of a SimpleBlock.
            path.write_bytes(re.sub(
                rb"(\xa3(?:[\x80-\xff]|[\x40-\x7f].)\x81..)\0",
                lambda found: found[1] + b"\x80", data, flags=re.DOTALL))
            self.assertNotEqual(path.read_bytes(), data)
            self.check(path)
        # Without the sync sample table, all packets of an MP4 are key frames.
        for name, *codec in (
                ("mpeg4.mp4", *MPEG4), ("mpeg2.mp4", "-c:v", "mpeg2video"),
                ("h264.mp4", *X264, "-g", "40")):
            path = path_of(f"false-{name}")
            data = video(name, *codec).read_bytes()
            path.write_bytes(data.replace(b"stss", b"free"))
            self.assertNotEqual(path.read_bytes(), data)
            self.check(path)

    def test_false_key_frames_of_h263(self):
        """Tests the same with H.263, in which pictures are too coarse for
        numbers."""
        data = video("h263.3gp", "-s", "176x144", "-c:v", "h263", "-g", "12",
                     count=60).read_bytes()
        whole = np.asarray(decode(data, num_frames=60, **SIZE))
        data = data.replace(b"stss", b"free")
        for kind in "uniform", "center":
            np.testing.assert_array_equal(
                np.asarray(decode(data, num_frames=5, clip_sampling=kind, **SIZE)),
                whole[positions(kind, 60, 5)])

    def test_cut_transport_streams(self):
        """Tests streams that begin within a group of pictures."""
        for name, *codec in (("b.ts", *BFRAMES), ("mpeg2.ts", *MPEG2),
                             ("h265.ts", *X265, "keyint=20:log-level=error")):
            data = video(name, *codec).read_bytes()
            at = len(data) // 188 * 4 // 10 * 188
            path = path_of(f"cut-{name}")
            path.write_bytes(data[at:])
            # Of HEVC, ffmpeg also shows a picture that it made up.
            numbers = [i for i in videos.show_numbers(path).tolist() if i < 100]
            self.assertGreater(len(numbers), 20)
            for n in 3, len(numbers):
                self.assertEqual(clip(path, n), numbers[:n])
                self.assertEqual(
                    clip(path, n, clip_sampling="uniform"),
                    [numbers[i] for i in positions("uniform", len(numbers), n)])

    def test_no_edit_list(self):
        """Tests that frames shown after the end that the header gives are part
        of the video."""
        source = video("b.mp4", *BFRAMES)
        for suffix in "mp4", "mov":
            path = path_of(f"unedited.{suffix}")
            videos.ffmpeg("-i", source, "-c", "copy", "-use_editlist", "0",
                          "-avoid_negative_ts", "disabled", path)
            self.check_numbers(path, 100)

    def test_cut_open_gop(self):
        """Tests that the pictures are not counted that need frames before a
        cut."""
        source = video("h265-open.mp4", *X265, "keyint=15:min-keyint=15:"
                       "open-gop=1:bframes=4:log-level=error")
        for name, options in (("cut.mkv", []),
                              ("cut.mp4", ["-use_editlist", "0"])):
            path = path_of(name)
            videos.ffmpeg("-ss", "1.3", "-i", source, "-c", "copy", *options,
                          path)
            self.assertEqual(videos.show_numbers(path)[0], 30)
            self.check(path)

    def test_theora_headers(self):
        """Tests that each file is decoded with its own headers, also after an
        error."""
        good = video("theora.mkv", *THEORA).read_bytes()
        small = video("small.ogv", *THEORA, "-s", "80x48").read_bytes()
        broken = bytearray(good)
        # Size, track, time and flags of a SimpleBlock.
        keys = [found.end() for found in re.finditer(
            rb"\xa3(?:[\x80-\xff]|[\x40-\x7f].)\x81..\x80", good, re.DOTALL)]
        broken[keys[1] + 1] = 0x70  # reserved bits
        for data in good, small, bytes(broken), small, good:
            numbers = clip(data, 100, on_corrupt="keep")
            # Versions of FFmpeg go on at different frames after an error.
            first = 90 if data == broken else 30
            self.assertEqual(numbers[first:], [*range(first, 100)])
        self.assertNotEqual(clip(bytes(broken), 100, on_corrupt="keep"),
                            [*range(100)])

    def test_avi_of_mpeg4(self):
        """Tests B-frames, which come after the pictures that they depend on."""
        source = video("between.avi", *MPEG4)
        self.check_numbers(source, 100)
        self.check_numbers(video("divx.avi", *MPEG4, "-vtag", "DX50"), 100)
        self.check_numbers(video("closed.avi", *MPEG4, "-flags", "+cgop",
                                 "-sc_threshold", "1000000000"), 100)
        self.check(with_one_header(source))
        dropped = with_one_dropped(source)
        self.assertEqual(len(videos.show_numbers(dropped)), 99)
        self.check(dropped)

    def test_packed_avi(self):
        """Tests two pictures in one packet and none in the next."""
        for n in 1, 2:
            path = video(f"packed-{n}.avi", *XVID, "-bf", str(n))
            self.assertIn(b"DivX503b1393p", path.read_bytes())
            self.check(path)
            self.check(with_one_header(path))

    def test_codecs_with_one_media_type(self):
        """Tests codecs whose caps differ only in a version."""
        first, second = (video(f"{codec}.avi", "-c:v", codec)
                         for codec in ("asv1", "asv2"))
        for path in first, second, first:
            self.check(path)

    def test_variable_rate(self):
        for suffix in "mp4", "mkv":
            path = varying(suffix)
            self.assertGreater(
                len(set(np.diff(videos.show_times(path)).round(3))), 2)
            self.check(path)

    def test_edit_lists(self):
        self.check_numbers(late(), 100)
        source = video("b.mp4", *BFRAMES)
        cut = path_of("cut.mp4")
        videos.ffmpeg("-ss", "1.5", "-i", source, "-c", "copy", cut)
        self.assertLess(len(videos.show_numbers(cut)), 70)
        self.check(cut)

    def test_random_clips(self):
        path = video("b.mp4", *BFRAMES)
        found = set()
        for index in range(20):
            numbers = [int(i) for i in videos.read(np.asarray(decode(
                path.read_bytes(), index=index, num_frames=4, clip_sampling="random",
                frame_step=3, **SIZE)))]
            begin = numbers[0]
            self.assertEqual(numbers, [begin + 3 * i for i in range(4)])
            self.assertLessEqual(begin, 100 - 10)
            found.add(begin)
        self.assertGreater(len(found), 10)

    def test_fixed_random_clips(self):
        """Tests that seed, epoch and index determine random clips, and that
        these never change."""
        path = video("b.mp4", *BFRAMES)
        begins = [videos.read(np.asarray(decode(
            path.read_bytes(), num_frames=1, clip_sampling="random", seed=seed,
            epoch=epoch, index=index, **SIZE)))[0]
            for seed, epoch, index in [(0, 0, 0), (0, 0, 1), (0, 1, 0),
                                       (1, 0, 0), (0, 0, 0)]]
        self.assertEqual(begins, FIXED)

    def test_too_few_frames(self):
        path = video("short.mp4", *BFRAMES, count=5)
        self.assertEqual(clip(path, 8), [0, 1, 2, 3, 4, 4, 4, 4])
        self.assertEqual(clip(path, 8, clip_sampling="uniform"),
                         [0, 1, 2, 3, 4, 4, 4, 4])
        self.assertEqual(clip(path, 4, frame_step=2, clip_sampling="center"),
                         [0, 2, 4, 4])
        with self.assertRaisesRegex(LoaderError, "5.* 8"):
            clip(path, 8, short_clip="fail")

    def test_image(self):
        """Tests that without num-frames, a frame is an image."""
        path = video("b.mp4", *BFRAMES)
        for kind, number in ("head", 0), ("center", 49), ("uniform", 50):
            image = decode(path.read_bytes(), clip_sampling=kind, **SIZE)
            self.assertEqual(image.shape, (32, 32, 3))
            self.assertEqual(videos.read(np.asarray(image)), number)


def planes_of(path):
    """Returns a video's first frame in 4:4:4, as coded."""
    raw = path_of("raw")
    videos.ffmpeg("-i", path, "-frames:v", "1", "-f", "rawvideo", raw)
    return np.frombuffer(raw.read_bytes(), np.uint8).reshape(3, 96, 160)


def convert(planes, kr, kb, levels):
    """Converts Y'CbCr to R'G'B'."""
    luma, blue, red = planes.astype(float)
    blue, red = blue - 128, red - 128
    if levels == "tv":
        luma = (luma - 16) * 255 / 219
        blue, red = blue * 255 / 224, red * 255 / 224
    r, b = luma + 2 * (1 - kr) * red, luma + 2 * (1 - kb) * blue
    g = (luma - kr * r - kb * b) / (1 - kr - kb)
    return np.clip(np.stack([r, g, b], -1), 0, 255)


FIXED = [61, 22, 52, 5, 61]


class Pictures(unittest.TestCase):
    def test_colors(self):
        """Tests each matrix and range against its definition."""
        for matrix, kr, kb in ("bt709", 0.2126, 0.0722), \
                ("smpte170m", 0.299, 0.114):
            for levels in "tv", "pc":
                path = path_of(f"colors-{matrix}-{levels}.mkv")
                videos.ffmpeg(
                    "-f", "lavfi", "-i", "smptebars=s=160x96:d=0.1", "-vf",
                    "format=yuv444p", "-colorspace", matrix, "-color_range",
                    levels, *X264, "-qp", "0", path)
                expected = convert(planes_of(path), kr, kb, levels)
                for size in {}, {"width": 80, "height": 48}:
                    found = np.asarray(decode(path.read_bytes(), **size))
                    step = 160 // found.shape[1]
                    # Each position is in the middle of a bar.
                    for x in range(12, 160, 24):
                        np.testing.assert_allclose(
                            found[20 // step, x // step], expected[20, x],
                            atol=1.01,
                            err_msg=f"{matrix} {levels} {size} {x}")

    def test_high_bit_depth(self):
        path = video("deep.mkv", "-pix_fmt", "yuv420p10le", *X264, count=10)
        self.assertEqual(clip(path, 3, clip_sampling="uniform"), [1, 5, 8])

    def test_rotation(self):
        path = path_of("turned.mp4")
        upright = video("b.mp4", *BFRAMES)
        if videos.has_option("display_rotation"):  # FFmpeg 6 and newer
            videos.ffmpeg("-display_rotation", "-90", "-i", upright, "-c",
                          "copy", path)
        else:
            videos.ffmpeg("-i", upright, "-c", "copy", "-metadata:s:v",
                          "rotate=90", path)
        frame = np.asarray(decode(path.read_bytes(), clip_sampling="uniform"))
        self.assertEqual(frame.shape, (160, 96, 3))
        back = np.rot90(frame, 1)
        number = videos.read(back[None])[0]
        if number != 50:
            number = videos.read(np.rot90(frame, -1)[None])[0]
        self.assertEqual(number, 50)

    def test_odd_matrices(self):
        """Tests matrices that scale too, or are no exact quarter turns."""
        data = video("b.mp4", *BFRAMES).read_bytes()
        at = data.index(b"tkhd") + 44
        one = 1 << 16
        upright = np.asarray(decode(data, clip_sampling="uniform"))
        for matrix, turn in (
                ((one - 1, 0, 0, 0, one - 1), lambda x: x),
                ((one // 2, 0, 0, 0, one), lambda x: x),
                ((2 * one, 9, 0, -9, one), lambda x: x),
                ((-one, 0, 0, 0, one), lambda x: x[:, ::-1]),
                ((one, 0, 0, 0, 1 - one), lambda x: x[::-1]),
                ((0, 2 * one, 0, -one, 0), lambda x: np.rot90(x, -1)),
                ((0, -one, 0, one + 7, 0), np.rot90),
                ((0, one, 0, one, 0), lambda x: x.swapaxes(0, 1))):
            turned = data[:at] + struct.pack(">5i", *matrix) + data[at + 20:]
            with self.subTest(matrix):
                np.testing.assert_array_equal(
                    decode(turned, clip_sampling="uniform"), turn(upright))

    def test_same_crop_for_all_frames(self):
        """Tests that all frames of a clip get the same random crop and flip."""
        path = path_of("still.mkv")
        videos.ffmpeg("-f", "lavfi", "-i", "testsrc=s=160x96:d=0.1:r=1",
                      "-vf", "loop=8:1:0", "-pix_fmt", "yuv444p", *X264,
                      "-qp", "0", path)
        data = path.read_bytes()
        crops = [np.asarray(decode(data, num_frames=4, index=index,
                                   augment="random-resized-crop", flip=0.5,
                                   **SIZE)) for index in range(6)]
        for crop in crops:
            for frame in crop[1:]:
                np.testing.assert_array_equal(frame, crop[0])
        self.assertGreater(len({crop.tobytes() for crop in crops}), 4)


class Broken(unittest.TestCase):
    def check(self, data, message, **properties):
        with self.assertRaisesRegex(LoaderError, message):
            clip(data, 4, **properties)

    def test_no_video(self):
        sound = path_of("sound.mp4")
        videos.ffmpeg("-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac", sound)
        self.check(sound, "with aac")
        matroska = path_of("sound.mka")
        videos.ffmpeg("-f", "lavfi", "-i", "sine=d=1", "-c:a", "flac",
                      matroska)
        self.check(matroska, "with flac")

    def test_image(self):
        image = path_of("image.png")
        videos.ffmpeg("-f", "lavfi", "-i", "testsrc=s=32x32:d=0.1:r=10",
                      "-frames:v", "1", image)
        self.check(image, "image/png")

    def test_no_frames(self):
        empty = path_of("empty.mp4")
        videos.ffmpeg("-f", "lavfi", "-i", "testsrc=s=32x32:d=1", "-frames:v",
                      "0", *X264, empty)
        with raises("stream-error wrong-type|decode|demux"):
            clip(empty, 4)

    def test_truncated(self):
        for name, *arguments in (
                ("front.mp4", *BFRAMES, "-movflags", "+faststart"),
                ("b.mkv", *BFRAMES), ("h264.avi", *X264),
                ("b.flv", *BFRAMES), ("pages.ogv", *THEORA, "-g", "1",
                 "-page_duration", "100000")):
            data = video(name, *arguments).read_bytes()
            half = data[:len(data) * 6 // 10]
            with self.subTest(name=name):
                with raises("stream-error demux", len(half)):
                    clip(half, 4, clip_sampling="uniform")
                if name == "h264.avi":
                    continue  # its index is missing
                # Its header is complete.
                self.assertEqual(clip(half, 4), [0, 1, 2, 3])
                numbers = clip(half, 4, clip_sampling="uniform", on_corrupt="keep")
                self.assertEqual(numbers, sorted(numbers))
                self.assertGreater(numbers[-1], 20)

    def test_truncated_transport_stream(self):
        """Tests a container that does not tell where its file ends."""
        data = video("b.ts", *BFRAMES).read_bytes()
        numbers = clip(data[:len(data) * 6 // 10], 4, clip_sampling="uniform")
        self.assertEqual(numbers, sorted(numbers))
        self.assertGreater(numbers[-1], 20)

    def test_truncated_before_the_index(self):
        data = video("b.mp4", *BFRAMES).read_bytes()
        with raises("stream-error demux", len(data) // 2):
            clip(data[:len(data) // 2], 4)

    def test_unsupported_header_version(self):
        """Tests that an unknown version fails, and that FFmpeg's libraries write
        nothing to stderr."""
        data = video("b.mkv", *BFRAMES).read_bytes()
        path = path_of("head.mkv")
        self.assertEqual(data[:64].count(b"\x42\xf7\x81\x01"), 1)
        path.write_bytes(data.replace(b"\x42\xf7\x81\x01",
                                      b"\x42\xf7\x81\x02", 1))
        self.assertEqual(check_python(
            "import pathlib, sys; from gstspdl import decode, LoaderError\n"
            "try: decode(pathlib.Path(sys.argv[1]).read_bytes(), clip_sampling='head')\n"
            "except LoaderError: print('failed')", path,
            env={**os.environ, "G_DEBUG": "fatal-criticals"}), "failed\n")

    def test_corrupt_bytes(self):
        """Tests that a corrupt byte affects at most its own item."""
        random = np.random.default_rng(5)
        good = {name: video(name, *BFRAMES).read_bytes()
                for name in ("b.mp4", "b.mkv")}
        for name, data in good.items():
            expected = positions("uniform", 100, 4)
            for _ in range(30):
                broken = bytearray(data)
                for at in random.integers(0, len(data), 20):
                    broken[at] = random.integers(0, 256)
                try:
                    clip(bytes(broken), 4, clip_sampling="uniform")
                except LoaderError:
                    pass
                self.assertEqual(clip(data, 4, clip_sampling="uniform"), expected)

    def test_max_pixels(self):
        self.check(video("b.mp4", *BFRAMES), "max-pixels",
                   max_pixels=10000)

    def test_max_pixels_memory(self):
        """Tests that frames that are too large are rejected before memory is
        allocated."""
        good = video("b.mp4", *BFRAMES)
        for name in ("large.mp4", "large.mkv"):
            large = path_of(name)
            videos.ffmpeg("-f", "lavfi", "-i", "color=s=8192x4096:r=1",
                          "-frames:v", 1, *X264, large)
            done = run_python(
                "import pathlib, resource, sys\n"
                "from gstspdl import decode, LoaderError\n"
                "def peak():\n"
                "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
                "good, large = (pathlib.Path(p).read_bytes() for p in sys.argv[1:])\n"
                "decode(good, max_pixels=20000)\n"
                "before = peak()\n"
                "try: decode(large, max_pixels=20000)\n"
                "except LoaderError as error: print(error)\n"
                "print(peak() - before < 32 * 1024)\n", good, large)
            with self.subTest(name=name):
                self.assertIn("8192 by 4096", done.stdout)
                self.assertTrue(done.stdout.endswith("True\n"), done)

    def test_max_pixels_stream(self):
        """Tests containers with a smaller size than their stream."""
        make_streams("good", "color=s=160x96:r=1", 1)
        make_streams("lying", "color=s=3072x3072:r=1", 1)
        for name in STREAMS:
            path = path_of(f"lying-{name}")
            path.write_bytes(with_size(path.read_bytes(), 160, 96))
        done = run_python(
            "import pathlib, resource, sys\n"
            "from gstspdl import decode, LoaderError\n"
            "def peak():\n"
            "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "def read(kind, name):\n"
            "    path = pathlib.Path(sys.argv[1], kind + '-' + name)\n"
            "    return path.read_bytes()\n"
            "for name in sys.argv[2:]:\n"
            "    decode(read('good', name), max_pixels=160 * 96)\n"
            "for name in sys.argv[2:]:\n"
            "    data, before = read('lying', name), peak()\n"
            "    try: decode(data, max_pixels=160 * 96)\n"
            "    except LoaderError as error:\n"
            "        print(name, peak() - before < 8 * 1024, error)\n",
            FOLDER.name, *STREAMS)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(STREAMS), done)
        for line, name in zip(lines, STREAMS):
            with self.subTest(name=name):
                self.assertTrue(line.startswith(f"{name} True "), line)
                self.assertIn("3072 by 3072", line)

    def test_max_pixels_exact(self):
        """Tests that the padding of the last block does not count as pixels."""
        for width, height in ((158, 92), (66, 36)):
            make_streams("exact", f"testsrc2=s={width}x{height}:r=5", 3)
            for name in STREAMS:
                data = path_of(f"exact-{name}").read_bytes()
                with self.subTest(name=name, width=width, height=height):
                    frames = np.asarray(decode(data, num_frames=3,
                                               max_pixels=width * height))
                    self.assertEqual(frames.shape, (3, height, width, 3))
                    with self.assertRaisesRegex(LoaderError, "max-pixels"):
                        decode(data, num_frames=3,
                               max_pixels=width * height - 1)


class Colors(unittest.TestCase):
    """Tests ranges and matrices in the bitstream and in the container."""

    def check(self, *paths):
        # One process, since starting ffmpeg takes longer than decoding.
        raw = [path_of(f"{path.name}.raw") for path in paths]
        videos.ffmpeg(*itertools.chain.from_iterable(
            ("-i", path) for path in paths), *itertools.chain.from_iterable(
            ("-map", f"{i}:v", "-frames:v", 1, "-vf",
             "scale=flags=accurate_rnd+full_chroma_int", "-f", "rawvideo",
             "-pix_fmt", "rgb24", path) for i, path in enumerate(raw)))
        for path, reference in zip(paths, raw):
            expected = np.frombuffer(reference.read_bytes(), np.uint8)
            got = np.asarray(decode(path.read_bytes()))
            difference = np.abs(got.astype(int) - expected.reshape(96, 160, 3))
            with self.subTest(path=path.name):
                # Decoders interpolate chroma differently at edges.
                self.assertLess(difference.mean(), 3)
                self.assertLessEqual(np.median(difference), 1)

    def test_colors(self):
        matrices = {"bt601": ["-colorspace", "smpte170m", "-color_primaries",
                              "smpte170m", "-color_trc", "smpte170m"],
                    "bt709": ["-colorspace", "bt709", "-color_primaries",
                              "bt709", "-color_trc", "bt709"],
                    "bt2020": ["-colorspace", "bt2020nc", "-color_primaries",
                               "bt2020", "-color_trc", "bt2020-10"],
                    "unset": []}
        outputs = {}
        for pixels, (name, matrix), value_range, end in itertools.product(
                ("yuv420p", "yuv420p10le"), matrices.items(), ("tv", "pc"),
                ("mp4", "mkv")):
            outputs[path_of(f"{pixels}-{name}-{value_range}.{end}")] = (
                "-frames:v", 2, "-vf",
                f"scale=out_range={value_range},format={pixels}", *X264, "-qp",
                1, "-color_range", value_range, *matrix)
        videos.ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x96:r=5",
                      *itertools.chain.from_iterable(
                          (*how, path) for path, how in outputs.items()))
        self.check(*outputs)

    def test_interlaced(self):
        """Interlaced frames are taken for progressive ones."""
        path = path_of("interlaced.mp4")
        videos.ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x96:r=5",
                      "-frames:v", 2, "-vf", "format=yuv420p10le", *X264,
                      "-qp", 1, "-x264-params", "tff=1", path)
        self.check(path)


def resident():
    """Returns the resident memory of the process in bytes."""
    pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


class Pipelines(unittest.TestCase):
    def load(self, location, decode="", fetch="", size=4, **options):
        loader = Loader(
            f'spdlsrc location="{location}" epochs=1 ! spdlfetch {fetch} '
            f"! spdldecode width=32 height=32 {decode} "
            f"! spdlbatch batch-size={size} indices=true ! spdlsink", **options)
        with loader:
            batches = list(loader)
        return batches, loader

    def write(self, name, lines):
        path = path_of(name)
        path.write_text("\n".join(lines) + "\n")
        return path

    def test_frame_times(self):
        for path in (video("b.mp4", *BFRAMES), video("b.mkv", *BFRAMES),
                     late(), varying("mp4")):
            times = videos.show_times(path)
            listed = self.write("times.txt", [str(path)])
            batches, _ = self.load(listed, "num-frames=6 clip-sampling=uniform")
            extra = batches[0].extras[0]
            self.assertEqual(extra["num-frames"], 6)
            np.testing.assert_allclose(
                np.array(extra["frame-times"]) / 1e9,
                [times[i] for i in positions("uniform", len(times), 6)],
                atol=0.0011)

    def test_times_of_avi(self):
        """Tests B-frames in AVI, in which packets have only decoding times."""
        path = video("between.avi", *MPEG4)
        asked = [(i + 0.5) / 25 for i in range(40, 52)]
        batches, _ = self.load(
            self.write("avi.csv", ["uri,clip-times", f"{path},"
                                   + " ".join(map(str, asked))]),
            "num-frames=12 clip-sampling=times")
        self.assertEqual(videos.read(np.asarray(batches[0]["data"])).tolist(),
                         [list(range(40, 52))])
        np.testing.assert_allclose(
            np.array(batches[0].extras[0]["frame-times"]) / 1e9,
            np.arange(40, 52) / 25, atol=0.0011)

    def test_increasing_times_of_avi(self):
        """Tests the same with two pictures in one packet."""
        path = video("packed-2.avi", *XVID, "-bf", "2")
        batches, _ = self.load(self.write("packed.txt", [str(path)]),
                               "num-frames=98")
        times = batches[0].extras[0]["frame-times"]
        self.assertTrue((np.diff(np.array(times, np.int64)) > 0).all())

    def test_times_with_few_durations(self):
        """Tests that the duration of one frame does not end a video."""
        path = with_duration_of_first(video("b.mkv", *BFRAMES))
        listed = self.write("few.csv", ["uri,clip-times", f"{path},0 1.01 3.99"])
        batches, _ = self.load(listed, "num-frames=3 clip-sampling=times "
                               "short-clip=fail")
        self.assertEqual(videos.read(np.asarray(batches[0]["data"])).tolist(),
                         [[0, 25, 99]])

    def test_given_times(self):
        path = video("b.mp4", *BFRAMES)
        listed = self.write("given.csv", [
            "uri,clip-times", f"{path},0 0.04 1.01 3.99",
            f"{path},2.0;1.0;1.0", f"{path},3.9 77", f"{path},one",
            f"{path},0 1 2 3 3.5"])
        batches, loader = self.load(
            listed, "num-frames=4 clip-sampling=times output-order=input",
            "output-order=input")
        self.assertEqual(loader.num_failures, 2)
        self.assertEqual(
            videos.read(np.asarray(batches[0]["data"])).tolist(),
            [[0, 1, 25, 99], [50, 25, 25, 25], [97, 97, 97, 97]])
        _, loader = self.load(
            listed, "num-frames=4 clip-sampling=times short-clip=fail")
        self.assertEqual(loader.num_failures, 4)
        # The clock of a transport stream begins anywhere.
        listed = self.write("given-ts.csv", [
            "uri,clip-times", f"{video('b.ts', *BFRAMES)},0 0.04 1.01 3.99"])
        batches, _ = self.load(listed, "num-frames=4 clip-sampling=times")
        self.assertEqual(
            videos.read(np.asarray(batches[0]["data"])).tolist(),
            [[0, 1, 25, 99]])

    def test_thousand_videos(self):
        """Tests a thousand videos, in the normal mode 200, through four slots.
        Every tenth is broken."""
        n = slow_or(1000, 200)
        names = {f"base{i}.{suffix}": ([*BFRAMES], 20 + i)
                 for i, suffix in enumerate(["mp4", "mkv", "mp4", "mkv"])}
        folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER.name))
        data, counts = [], []
        for name, (arguments, count) in names.items():
            data.append(video(name, *arguments, count=count,
                              first=1000).read_bytes())
            counts.append(count)
        for i in range(n):
            content = data[i % 4]
            if i % 10 == 3:
                content = content[:len(content) // 3]
            (folder / f"{i:04}").write_bytes(content)
        for order in "input", "completion":
            batches, loader = self.load(
                folder, f"concurrency=4 num-frames=3 clip-sampling=uniform "
                f"output-order={order}",
                f"concurrency=4 output-order={order}", size=50)
            self.assertEqual(loader.num_failures, n // 10)
            seen = []
            for batch in batches:
                numbers = videos.read(np.asarray(batch["data"]))
                for index, found in zip(batch.indices, numbers):
                    total = counts[index % 4]
                    self.assertEqual(
                        [1000 + p for p in positions("uniform", total, 3)],
                        found.tolist())
                    seen.append(index)
            expected = [i for i in range(n) if i % 10 != 3]
            self.assertEqual(seen if order == "input" else sorted(seen),
                             expected)

    def test_memory(self):
        """Tests that memory does not grow with hundreds of videos, intact and
        broken."""
        path = video("small.mp4", *X264, "-g", "10", "-movflags",
                     "+faststart", count=12)
        good = path.read_bytes() + bytes(300_000)
        contents = [good, good[:path.stat().st_size // 2], b"no video" * 40000]

        def decode_some(count):
            for i in range(count):
                try:
                    decode(contents[i % 3], num_frames=2,
                           clip_sampling="uniform", **SIZE)
                except LoaderError:
                    pass

        decode_some(slow_or(300, 150))
        before = resident()
        decode_some(slow_or(2100, 450))
        # The limit is a tenth of the size of the data, or less.
        self.assertLess(resident() - before, 9 << 20)

    def test_contradiction(self):
        with self.assertRaisesRegex(LoaderError, "num-frames"):
            with Loader("spdldecode num-frames=4 ! video/x-raw ! spdlbatch "
                        "! spdlsink", source=[b"x"]) as loader:
                list(loader)


if __name__ == "__main__":
    unittest.main()
