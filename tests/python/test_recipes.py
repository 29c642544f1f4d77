#!/usr/bin/python3
# gst-spdl: tests of the pipelines in docs/how-to/save-items.md
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decodes the output of each recipe again, with other software if available.
The first argument is the project's folder."""

import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
from PIL import Image
from support import ROOT, needs_gi, needs_launch

N_PHOTOS = 12
SCRATCH = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(SCRATCH.name)

import videos  # noqa: E402
from gstspdl import Loader, decode  # noqa: E402


def recipe(title):
    """Returns the block below a title."""
    page = (ROOT / "docs" / "how-to" / "save-items.md").read_text()
    section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return "".join(line[4:] for line in section.splitlines(keepends=True)
                   if line.startswith("    "))


def run(text):
    return subprocess.run(["sh", "-ec", text], cwd=FOLDER, check=True,
                          timeout=60, capture_output=True, text=True).stdout


def launch(title):
    return run(recipe(title))


def ffmpeg_sound(path):
    """Returns FFmpeg's decode of the audio, at 16 kHz in mono."""
    return np.frombuffer(videos.ffmpeg(
        "-i", path, "-f", "s16le", "-", stdout=subprocess.PIPE).stdout,
        np.int16)


def packets(path):
    """Returns the contents of a video's packets from FFmpeg, in order and
    without SEI messages. h264parse 1.26 drops some of these, such as x264's
    options."""
    return videos.ffmpeg("-i", path, "-c", "copy", "-map", "0:v", "-bsf:v",
                         "h264_mp4toannexb,filter_units=remove_types=6",
                         "-f", "h264", "-", stdout=subprocess.PIPE).stdout


def pictures(path):
    """Returns all frames of a video as decoded by FFmpeg."""
    return videos.ffmpeg("-i", path, "-map", "0:v", "-fps_mode", "passthrough",
                         "-f", "rawvideo", "-",
                         stdout=subprocess.PIPE).stdout


def psnr(a, b):
    error = np.mean((np.asarray(a, float) - np.asarray(b, float)) ** 2)
    return 10 * np.log10(255 ** 2 / error)


def setUpModule():
    photos, films, sounds = (FOLDER / name for name in
                             ("photos", "videos", "sounds"))
    for path in photos, films, sounds:
        path.mkdir()
    for name in "images", "batches":
        (FOLDER / name).mkdir()
    for i in range(N_PHOTOS):
        ramp = np.arange(250) // 2 + 8 * i
        image = np.stack([np.tile(ramp, (200, 1)), np.full((200, 250), 20 * i),
                          np.tile(np.arange(200)[:, None], (1, 250))], -1)
        Image.fromarray(image.astype(np.uint8)).save(photos / f"{i:02}.png")
    for i in range(3):
        videos.make(films / f"{i}.mp4", 40, *videos.H264, "-bf", "2", "-g",
                    "20", first=100 * i)
        videos.ffmpeg("-f", "lavfi", "-i", f"sine=f={300 + 200 * i}:d=2", "-ac",
                      2, sounds / f"{i}.mp3")
    (FOLDER / "video.txt").write_text("videos/1.mp4\n")
    (FOLDER / "sound.txt").write_text("sounds/1.mp3\n")
    (FOLDER / "examples").symlink_to(ROOT / "examples")


def decoded(location, decode_line):
    line = (f'spdlsrc location="{FOLDER / location}" epochs=1 ! spdlfetch '
            f"output-order=input ! spdldecode output-order=input {decode_line} "
            "! spdlsink")
    with Loader(line) as loader:
        return [np.array(item["data"]) for item in loader]


class RecipesTest(unittest.TestCase):
    def check_images(self, folder, n):
        paths = sorted((FOLDER / folder).iterdir())
        wanted = decoded("photos", "width=224 height=224")
        self.assertEqual(len(paths), n)
        for path, expected in zip(paths, wanted):
            with Image.open(path) as image:
                self.assertEqual(image.format, "JPEG")
                self.assertGreater(psnr(image, expected), 35, path.name)

    @needs_launch
    def test_images(self):
        launch("Save images as JPEG files")
        self.check_images("images", N_PHOTOS)

    @needs_launch
    def test_batch(self):
        launch("Save a batch as JPEG files")
        paths = sorted((FOLDER / "batches").iterdir())
        wanted = decoded("photos", "width=224 height=224")
        self.assertEqual(len(paths), N_PHOTOS)
        for path in paths:
            with Image.open(path) as image:
                self.assertGreater(max(psnr(image, other) for other in wanted),
                                   35, path.name)

    def check_clips(self, paths):
        self.assertEqual(len(paths), 3)
        for i, path in enumerate(paths):
            clip = np.asarray(decode(path.read_bytes(), num_frames=16,
                                     short_clip="fail"))
            self.assertEqual(clip.shape, (16, 96, 128, 3))
            self.assertEqual(videos.read(clip).tolist(),
                             [100 * i + 12 + k for k in range(16)])
            times = videos.show_times(path)
            self.assertEqual(len(times), 16)
            np.testing.assert_allclose(np.diff(times), 0.04, atol=0.001)

    @needs_launch
    def test_clips(self):
        launch("Save clips as MP4")
        path = FOLDER / "clips.mp4"
        all_clips = np.asarray(decode(path.read_bytes(), num_frames=48,
                                      short_clip="fail"))
        self.assertEqual(videos.read(all_clips).tolist(),
                         [100 * i + 12 + k for i in range(3)
                          for k in range(16)])
        times = videos.show_times(path)
        self.assertEqual(len(times), 48)
        np.testing.assert_allclose(np.diff(times), 0.04, atol=0.001)
        np.testing.assert_allclose(
            np.diff(videos.show_times(path, "-skip_frame", "nokey")), 0.64,
            atol=0.001)

    @needs_launch
    def test_audio(self):
        launch("Save audio as FLAC")
        expected = np.asarray(decode(
            (FOLDER / "sounds" / "1.mp3").read_bytes(), rate=16000, channels=1,
            audio_format="S16LE", offset=500_000_000, duration=1_000_000_000))
        np.testing.assert_array_equal(ffmpeg_sound(FOLDER / "sound.flac"),
                                      expected[:, 0])
        self.assertEqual(len(expected), 16000)

    @needs_launch
    def test_remux(self):
        launch("Change the container without decoding")
        path = FOLDER / "video.mkv"
        self.assertEqual(packets(path), packets(FOLDER / "videos" / "1.mp4"))
        self.assertEqual(videos.show_numbers(path).tolist(),
                         list(range(100, 140)))

    @needs_gi
    def test_save_items(self):
        (FOLDER / "videos" / "broken.mp4").write_bytes(b"\0\0\0\x18ftypmp42")
        try:
            said = run(recipe("Save each item to its own file"))
        finally:
            (FOLDER / "videos" / "broken.mp4").unlink()
        self.assertEqual(said.count("broken.mp4: "), 2)
        remuxed, clips, sounds = (
            sorted((FOLDER / name).iterdir())
            for name in ("remuxed", "saved-clips", "saved-sounds"))
        self.assertEqual([path.name for path in remuxed],
                         [f"{i:06}-{i}.mp4.mkv" for i in range(3)])
        for i, path in enumerate(remuxed):
            source = FOLDER / "videos" / f"{i}.mp4"
            self.assertEqual(pictures(path), pictures(source))
            np.testing.assert_allclose(videos.show_times(path),
                                       videos.show_times(source), atol=0.001)
        self.check_clips(clips)
        wanted = decoded("sounds",
                         "rate=16000 channels=1 audio-format=S16LE")
        for path, expected in zip(sounds, wanted, strict=True):
            np.testing.assert_array_equal(ffmpeg_sound(path), expected[:, 0])


if __name__ == "__main__":
    unittest.main()
