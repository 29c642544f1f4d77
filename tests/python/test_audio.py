#!/usr/bin/python3
# gst-spdl: tests of audio decode, compared with FFmpeg
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares spdldecode's audio with ffmpeg's samples, for files made by ffmpeg."""

import atexit
import functools
import itertools
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import unittest

import numpy as np
from errors import has_values, raises
from gstspdl import Loader, LoaderError, decode
from support import slow_or

SECOND = 10**9
LAYOUTS = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
FOLDER = tempfile.TemporaryDirectory()
atexit.register(FOLDER.cleanup)

# Suffix, and options for 2.3 s of stereo at 44.1 kHz. 100003 samples end
# within a frame of every codec.
EXACT = {
    "u8.wav": "-c:a pcm_u8", "s16.wav": "-c:a pcm_s16le",
    "s24.wav": "-c:a pcm_s24le", "s32.wav": "-c:a pcm_s32le",
    "f32.wav": "-c:a pcm_f32le", "f64.wav": "-c:a pcm_f64le",
    "rf64.wav": "-rf64 always", "flac": "-c:a flac",
    "s24.flac": "-c:a flac -sample_fmt s32", "flac.ogg": "-c:a flac",
    "flac.mp4": "-c:a flac -strict -2", "alac.m4a": "-c:a alac",
}
LOSSY = {
    "mp3": "-c:a libmp3lame -b:a 128k", "vbr.mp3": "-c:a libmp3lame -q:a 4",
    "tagless.mp3": "-c:a libmp3lame -write_xing 0 -id3v2_version 0",
    "half.mp3": "-c:a libmp3lame -ar 22050", "m4a": "-c:a aac",
    "faststart.m4a": "-c:a aac -movflags +faststart", "aac": "-c:a aac",
    "opus": "-c:a libopus", "opus.mp4": "-c:a libopus",
    "voice.opus": "-c:a libopus -b:a 16k -application voip -ar 16000 -ac 1",
    "vorbis.ogg": "-c:a libvorbis", "mp2": "-c:a mp2",
}

# Formats that libavformat supports and that have no reader in gst-spdl.
GAINED = {
    "fragmented.mp4": "-c:a aac -movflags frag_keyframe+empty_moov "
                      "-frag_duration 200000",
    "fragmented-flac.mp4": "-c:a flac -strict -2 -movflags "
                           "frag_keyframe+empty_moov -frag_duration 200000",
    "mp3.mp4": "-c:a libmp3lame", "pcm.mov": "-c:a pcm_s16be -f mov",
    "ima.mov": "-c:a adpcm_ima_qt -f mov",
    "webm": "-c:a libopus", "vorbis.webm": "-c:a libvorbis",
    "flac.mka": "-c:a flac", "aac.mka": "-c:a aac",
    "mp3.mka": "-c:a libmp3lame", "pcm.mka": "-c:a pcm_s16le",
    "aiff": "", "s24.aiff": "-c:a pcm_s24be", "f32.aiff": "-c:a pcm_f32be",
    "caf": "-c:a pcm_s16le", "alac.caf": "-c:a alac",
    "opus.caf": "-c:a libopus -ar 48000", "wma": "-c:a wmav2",
    "v1.wma": "-c:a wmav1", "wv": "-c:a wavpack",
    "s24.wv": "-c:a wavpack -sample_fmt s32p",
    "ms.wav": "-c:a adpcm_ms", "ima.wav": "-c:a adpcm_ima_wav",
    "mulaw.wav": "-c:a pcm_mulaw", "alaw.wav": "-c:a pcm_alaw",
    "mp3.wav": "-c:a libmp3lame", "au": "", "mulaw.au": "-c:a pcm_mulaw",
    "ac3": "-c:a ac3", "eac3": "-c:a eac3",
}
# The names of the formats in messages, by suffix, and the media types of files
# whose index is at the end and missing, which a demuxer rejects.
FORMATS = {
    "wav": "WAV", "flac": "FLAC", "ogg": "Ogg", "opus": "Ogg", "mp3": "MP3",
    "aac": "AAC", "mp4": "MP4", "m4a": "MP4", "webm": "Matroska",
    "mka": "Matroska", "aiff": "AIFF", "caf": "CAF", "wma": "WMA",
    "wv": "WavPack", "au": "AU", "ac3": "AC-3", "eac3": "E-AC-3",
}
MEDIA_TYPES = {"mp4": "video/quicktime", "mov": "video/quicktime",
               "m4a": "audio/x-m4a"}
# AMR silence: the signature, and frames of 12 bytes at 7.95 kbit/s.
AMR = b"#!AMR\n" + bytes.fromhex("2c" + "00" * 20) * 50


def ffmpeg(*arguments):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)],
                          check=True, stdout=subprocess.PIPE).stdout


def path_of(name):
    return pathlib.Path(FOLDER.name, name)


def make_all(files, channels=2, samples=100003, rate=44100):
    """Makes files with the same sound, whose names have their options, in one
    process, since starting ffmpeg takes longer than encoding."""
    tones = "|".join(
        f"0.3*sin(2*PI*t*{200 + 97 * i})*sin(t*{3 + i})+0.1*random({i})"
        for i in range(channels))
    ffmpeg("-f", "lavfi", "-i",
           f"aevalsrc='{tones}':s={rate}:c={LAYOUTS[channels - 1]}:"
           f"d={samples / rate + 1},atrim=end_sample={samples}",
           *itertools.chain.from_iterable(
               (*options.split(), path_of(name))
               for name, options in files.items()))
    return [path_of(name) for name in files]


@functools.cache
def make(name, options="", channels=2, samples=100003, rate=44100):
    files = {f"x.{suffix}": how for suffix, how in
             {**EXACT, **LOSSY, **GAINED}.items()}
    if files.get(name) != options:
        make_all({name: options}, channels, samples, rate)
    elif not path_of("x.eac3").exists():
        make_all(files)
    return path_of(name)


try:
    make_all({"x.opus.caf": GAINED["opus.caf"]})
except subprocess.CalledProcessError:
    del GAINED["opus.caf"]  # FFmpeg 9 does not write it


def corrupt(name, without_index):
    """Checks that the error of a corrupt file is raised."""
    suffix = name.rpartition(".")[2]
    if without_index:
        return raises("stream-error demux", MEDIA_TYPES[suffix])
    return raises("stream-error decode", FORMATS[suffix])


def check_cut(name, options, less, indexed, is_lost):
    """Checks the first two thirds of a file, without @less bytes: they are
    corrupt, and what is kept of them is right, unless the table was at the end
    (@is_lost)."""
    path = make("x." + name, options)
    whole, data = load(path), path.read_bytes()
    cut = data[:len(data) * 2 // 3 - less]
    with corrupt(name, indexed):
        decode(cut)
    if not is_lost:
        kept = np.asarray(decode(cut, on_corrupt="keep"))
        assert len(kept) > 0
        np.testing.assert_array_equal(kept, whole[:len(kept)])


def wanted_all(paths, dtype=np.float32):
    """Returns ffmpeg's samples of each file, from one process."""
    kind = {np.float32: "f32le", np.float64: "f64le"}[dtype]
    raw = [path.with_name(path.name + ".raw") for path in paths]
    ffmpeg(*itertools.chain.from_iterable(("-i", path) for path in paths),
           *itertools.chain.from_iterable(
               ("-map", f"{i}:a", "-f", kind, path)
               for i, path in enumerate(raw)))
    return [np.fromfile(path, dtype) for path in raw]


def wanted(path):
    return wanted_all([path])[0]


def load(path, **properties):
    return np.asarray(decode(path.read_bytes(), **properties))


def db(got, reference):
    error = np.mean((got.astype(float) - reference) ** 2)
    return 10 * np.log10(np.mean(reference.astype(float) ** 2) / error)


def rate_of(name):
    return (48000 if "opus" in name or name == "webm" else
            22050 if "half" in name else 44100)


def to_samples(time, rate):
    return (time * rate + SECOND // 2) // SECOND


def cut_as_ffmpeg(got, reference, path):
    """FFmpeg 9 ends MP4 audio at the end of its edit list. Older versions and
    spdldecode also return the rest of the last packet."""
    rest = got.size - reference.size
    if path.suffix in (".m4a", ".mp4") and 0 < rest < 1024 * got.shape[1]:
        return got[:reference.size // got.shape[1]]
    return got


class WholeTest(unittest.TestCase):
    def test_exact(self):
        paths = [make("x." + name, how) for name, how in EXACT.items()]
        for path, reference in zip(paths, wanted_all(paths, np.float64)):
            with self.subTest(path.name):
                got = load(path, audio_format="F64LE")
                self.assertEqual(got.shape, (100003, 2))
                np.testing.assert_array_equal(got.ravel(), reference)
                np.testing.assert_array_equal(
                    load(path), got.astype(np.float32))

    def test_lossy(self):
        paths = [make("x." + name, how) for name, how in LOSSY.items()]
        for path, reference in zip(paths, wanted_all(paths)):
            with self.subTest(path.name):
                got = load(path)
                got = cut_as_ffmpeg(got, reference, path)
                self.assertEqual(got.size, reference.size)
                if np.any(got.ravel() != reference):
                    self.assertGreater(db(got.ravel(), reference), 60)

    def test_channels(self):
        codecs = {"wav": "-c:a pcm_s16le", "flac": "", "opus": "-c:a libopus",
                  "ogg": "-c:a libvorbis", "m4a": "-c:a aac"}
        for n in range(1, 9):
            paths = make_all({
                f"{n}.{end}": options + (" -mapping_family 1"
                                         if end == "opus" and n > 2 else "")
                for end, options in codecs.items()},
                n, 60000, 48000)
            for path, reference in zip(paths, wanted_all(paths)):
                with self.subTest(path.name):
                    got = load(path)
                    got = cut_as_ffmpeg(got, reference, path)
                    self.assertEqual(got.shape, (reference.size // n, n))
                    if np.any(got.ravel() != reference):
                        self.assertGreater(db(got.ravel(), reference), 60)

    def test_short(self):
        """Tests that all encoded samples of files with one page or frame are
        returned. FFmpeg keeps the padding of the last frame in some of them."""
        for end, options in {"wav": "", "flac": "", "mp3": "", "ogg":
                             "-c:a libvorbis", "opus": "-ar 48000"}.items():
            for n in 1, 100, 5000:
                with self.subTest(end=end, n=n):
                    try:
                        path = make(f"short-{n}.{end}", options, 2, n, 48000)
                    except subprocess.CalledProcessError:
                        # FFmpeg 9 encodes no FLAC of one sample.
                        if (end, n) != ("flac", 1):
                            raise
                        continue
                    # Padding that LAME's tag cannot express is kept by all
                    # decoders.
                    length = wanted(path).size // 2 if end == "mp3" else n
                    self.assertEqual(load(path).shape, (length, 2))

    def test_formats(self):
        path = make("formats.wav", "-c:a pcm_f32le")
        got = load(path).astype(float)
        np.testing.assert_array_equal(load(path, audio_format="F64LE"), got)
        np.testing.assert_array_equal(
            load(path, audio_format="S16LE"),
            np.clip(np.rint(got * 2**15), -2**15, 2**15 - 1))
        np.testing.assert_array_equal(
            load(path, audio_format="S32LE"),
            np.clip(np.rint(got * 2**31), -2**31, 2**31 - 1))
        np.testing.assert_array_equal(
            load(path, audio_format="U8"),
            np.clip(np.rint(got * 2**7), -2**7, 2**7 - 1) + 128)


class WindowTest(unittest.TestCase):
    WINDOWS = [(0, 100_000_001), (333_333_337, 250_000_003), (1, 1_000_000),
               (1_234_567_891, 777_000_000), (2_000_000_000, 5 * SECOND)]

    def test_slices(self):
        for name, options in {**EXACT, **LOSSY}.items():
            path = make("x." + name, options)
            whole = load(path)
            rate = rate_of(name)
            for offset, duration in self.WINDOWS:
                with self.subTest(name, offset=offset):
                    first = to_samples(offset, rate)
                    np.testing.assert_array_equal(
                        load(path, offset=offset, duration=duration),
                        whole[first:first + to_samples(duration, rate)])

    def test_resampled(self):
        for name in "s16.wav", "mp3", "flac":
            path = make("x." + name, {**EXACT, **LOSSY}[name])
            for rate in 8000, 16000, 22050, 48000, 44101:
                whole = load(path, rate=rate)
                self.assertEqual(len(whole), -(-100003 * rate // 44100))
                for offset, duration in self.WINDOWS:
                    with self.subTest(name, rate=rate, offset=offset):
                        first = to_samples(offset, rate)
                        np.testing.assert_array_equal(
                            load(path, rate=rate, offset=offset,
                                 duration=duration),
                            whole[first:first + to_samples(duration, rate)])

    def test_window_after_the_end(self):
        path = make("beyond.flac")
        with raises("stream-error decode", 5 * 44100):
            load(path, offset=5 * SECOND)

    def test_random(self):
        """Tests that random windows equal the same samples of the whole."""
        random = np.random.default_rng(7)
        for name, options in {**EXACT, **LOSSY, **GAINED}.items():
            path = make("x." + name, options)
            data, whole = path.read_bytes(), load(path)
            rate = rate_of(name)
            end = len(whole) * SECOND // rate - SECOND // 1000
            with self.subTest(name):
                for _ in range(slow_or(200, 5)):
                    offset = int(random.integers(end))
                    duration = int(random.integers(SECOND // 1000, SECOND // 5))
                    first = to_samples(offset, rate)
                    got = decode(data, offset=offset, duration=duration)
                    np.testing.assert_array_equal(
                        got, whole[first:first + to_samples(duration, rate)])


class PartTest(unittest.TestCase):
    """Tests windows of files that are long enough to be read in part."""
    SECONDS = 8
    # Formats whose packets are found without reading those before them.
    SOUGHT = {"flac": "-c:a flac", "s24.flac": "-c:a flac -sample_fmt s32",
              "mp3": "-c:a libmp3lame -b:a 64k",
              "vbr.mp3": "-c:a libmp3lame -q:a 7",
              "v1.mp3": "-c:a libmp3lame -write_id3v1 1 -metadata title=x",
              "mono.mp3": "-c:a libmp3lame -ac 1 -ar 22050 -b:a 24k",
              "aiff": "", "s24.aiff": "-c:a pcm_s24be", "au": "",
              "caf": "-c:a pcm_s16le", "alaw.wav": "-c:a pcm_alaw"}

    @classmethod
    def setUpClass(cls):
        cls.files = {**EXACT, **LOSSY, **GAINED, **cls.SOUGHT}
        cls.paths = dict(zip(cls.files, make_all(
            {f"long.{name}": how for name, how in cls.files.items()},
            samples=cls.SECONDS * 44100 + 321)))

    def damage(self, name, n):
        """Returns a copy of a file with @n zeros in its middle."""
        path, data = path_of("damaged." + name), self.paths[name].read_bytes()
        at = len(data) // 2
        if "mp3" in name and n < 40:
            # Inside a frame: without a header, the number of frames is wrong.
            sync = b"\xff\xf3" if name == "mono.mp3" else b"\xff\xfb"
            at = data.index(sync, at) + 40
            self.assertNotIn(sync, data[at:at + n])
        path.write_bytes(data[:at] + bytes(n) + data[at + n:])
        return path

    def check(self, path, rate, whole, offset, duration=None):
        first = to_samples(offset, rate)
        window = {"duration": duration} if duration else {}
        n = to_samples(duration, rate) if duration else len(whole)
        np.testing.assert_array_equal(
            load(path, offset=offset, **window), whole[first:first + n])

    def test_windows(self):
        for name, path in self.paths.items():
            whole = load(path)
            rate = 22050 if name == "mono.mp3" else rate_of(name)
            end = len(whole) * SECOND // rate
            for offset, duration in ((0, SECOND // 3), (1, 1_000_000),
                                     (4 * SECOND + 7, SECOND // 2),
                                     (end - SECOND // 3, SECOND // 3),
                                     (end - SECOND // 20, SECOND),
                                     (5 * SECOND, None)):
                with self.subTest(name, offset=offset):
                    self.check(path, rate, whole, offset, duration)

    def test_resampled(self):
        for name in "flac", "mp3", "aiff":
            path = self.paths[name]
            for rate in 400, 16000, 48000:
                whole = load(path, rate=rate)
                for offset in 3 * SECOND, 7 * SECOND + SECOND // 2:
                    first = to_samples(offset, rate)
                    with self.subTest(name, rate=rate, offset=offset):
                        np.testing.assert_array_equal(
                            load(path, rate=rate, offset=offset,
                                 duration=SECOND),
                            whole[first:first + rate])

    def test_damage_outside(self):
        """Tests that what a window does not need is not read."""
        for name in self.SOUGHT:
            whole = load(self.paths[name])
            path = self.damage(name, 30 if "mp3" in name else 5000)
            rate = 22050 if name == "mono.mp3" else 44100
            for offset in 0, SECOND, 6 * SECOND:
                with self.subTest(name, offset=offset):
                    self.check(path, rate, whole, offset, SECOND // 2)
        # Ogg is read from its beginning up to the end of the window.
        whole = load(self.paths["vorbis.ogg"])
        path = self.damage("vorbis.ogg", 9000)
        self.check(path, 44100, whole, SECOND, SECOND // 2)
        for offset in 4 * SECOND, 7 * SECOND:
            with raises("stream-error decode", "Ogg"):
                load(path, offset=offset, duration=SECOND // 2)

    def test_damage_inside(self):
        for name in "flac", "mp3":
            path = self.damage(name, 5000)
            for offset in 4 * SECOND - SECOND // 4, -1:
                with self.subTest(name), raises("stream-error decode",
                                                FORMATS[name]):
                    load(path, offset=offset % 2**64, duration=7 * SECOND)

    def test_cut_off(self):
        """Tests that a file whose end is missing fails for every window, if
        its format tells."""
        untold = {"tagless.mp3", "mp2", "aac", "ac3", "eac3", "wma", "v1.wma"}
        for name in self.files:
            path, data = path_of("cut." + name), self.paths[name].read_bytes()
            path.write_bytes(data[:len(data) * 2 // 3])
            for offset in 0, SECOND:
                with self.subTest(name, offset=offset):
                    if name in untold:
                        load(path, offset=offset, duration=SECOND // 2)
                    else:
                        with self.assertRaises(LoaderError):
                            load(path, offset=offset, duration=SECOND // 2)


def make_tone(frequency):
    path = pathlib.Path(FOLDER.name) / f"tone-{frequency}.wav"
    tone = np.sin(2 * np.pi * frequency * np.arange(44100) / 44100)
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "f32le", "-ar",
                    "44100", "-ac", "1", "-i", "-", "-c:a", "pcm_f32le", path],
                   input=tone.astype("<f4").tobytes(), check=True)
    return path


class GainedTest(unittest.TestCase):
    def test_whole_file(self):
        paths = [make("x." + name, how) for name, how in GAINED.items()]
        for path, reference in zip(paths, wanted_all(paths)):
            with self.subTest(path.name):
                np.testing.assert_array_equal(load(path).ravel(), reference)

    def test_amr(self):
        path = pathlib.Path(FOLDER.name) / "silence.amr"
        path.write_bytes(AMR)
        np.testing.assert_array_equal(load(path).ravel(), wanted(path))
        self.assertEqual(load(path).shape, (50 * 160, 1))

    def test_truncated(self):
        for name, options in GAINED.items():
            indexed = "frag" not in name and name.endswith((".mp4", ".mov"))
            with self.subTest(name):
                check_cut(name, options, 7, indexed,
                          indexed or name in ("alac.caf", "opus.caf"))

    def test_chained_ogg(self):
        """Tests that chained Ogg streams are decoded as one file."""
        for end, first, second in [
                ("ogg", "-c:a libvorbis -q:a 2", "-c:a libvorbis -q:a 6"),
                ("opus", "-c:a libopus", "-c:a libopus -b:a 32k")]:
            paths = [make("chain-1." + end, first),
                     make("chain-2." + end, second, 2, 50000)]
            data = b"".join(path.read_bytes() for path in paths)
            np.testing.assert_array_equal(
                decode(data), np.concatenate([load(path) for path in paths]))

    def test_leading_data(self):
        """Tests MP3s with unknown tags and other leading data."""
        path = make("x.mp3", LOSSY["mp3"])
        for junk in (bytes(1000), b"hello " * 200, b"APETAGEX" + bytes(24) +
                     b"x" * 500):
            other = path.with_name("junk.mp3")
            other.write_bytes(junk + path.read_bytes())
            np.testing.assert_array_equal(load(other).ravel(), wanted(other))


def add_reference(movie, target):
    """Replaces the file's own data by an external reference."""
    name = str(target).encode()
    alias = bytes(10) + bytes([1]) + b"v" + bytes(26) + bytes(12)
    alias += bytes([min(len(name), 63)]) + name[:63].ljust(63, b"\0")
    alias += bytes(16) + struct.pack(">hh", 1, 1) + bytes(16)
    alias += struct.pack(">hh", 2, len(name)) + name + bytes(len(name) % 2)
    alias += struct.pack(">hh", 18, len(name)) + name + bytes(len(name) % 2)
    alias += struct.pack(">hh", -1, 0)
    entry = struct.pack(">I4sI", 12 + len(alias), b"alis", 0) + alias
    at = movie.index(b"dref") + 12
    more = len(entry) - 12
    data = bytearray(movie[:at] + entry + movie[at + 12:])
    for box in b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref":
        size = data.rindex(box, 0, at) - 4
        data[size:size + 4] = struct.pack(
            ">I", struct.unpack(">I", data[size:size + 4])[0] + more)
    return bytes(data)


class ReferenceTest(unittest.TestCase):
    def test_references_are_not_followed(self):
        """Tests that references to other files are not followed. Opening the
        pipe would block."""
        pipe = pathlib.Path(FOLDER.name) / "pipe"
        os.mkfifo(pipe)
        movie = make("x.pcm.mov", GAINED["pcm.mov"]).read_bytes()
        files = [
            f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://{pipe}\n",
            f"ffconcat version 1.0\nfile {pipe}\n",
            f"<?xml version='1.0'?><MPD><BaseURL>{pipe}</BaseURL></MPD>",
            f"v=0\nm=audio 5004 RTP/AVP 0\nc=IN IP4 {pipe}\n"]
        signal.alarm(60)
        for data in [*map(str.encode, files), add_reference(movie, pipe)]:
            with self.assertRaises(LoaderError):
                decode(data)
            listing = make_list([pipe.with_name("named.bin")])
            pipe.with_name("named.bin").write_bytes(data)
            with self.assertRaises(LoaderError):
                with Loader(f'spdlsrc location="{listing}" ! spdlfetch ! '
                            "spdldecode ! audio/x-raw ! spdlsink",
                            max_failures=0) as loader:
                    next(iter(loader))
        signal.alarm(0)


class MixTest(unittest.TestCase):
    def test_rate(self):
        """Tests that a tone keeps its frequency and position after resampling."""
        path = make("tone.wav", "-c:a pcm_f32le")
        tone = np.sin(2 * np.pi * 997 * np.arange(44100) / 44100) / 2
        ffmpeg_in = np.repeat(tone[:, None], 2, 1).astype("<f4")
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "f32le", "-ar",
                        "44100", "-ac", "2", "-i", "-", "-c:a", "pcm_f32le",
                        path], input=ffmpeg_in.tobytes(), check=True)
        # At 44101 Hz the filter is interpolated between phases.
        for rate in 8000, 11025, 16000, 44101, 48000, 96000:
            got = load(path, rate=rate)[:, 0]
            double = load(path, rate=rate, audio_format="F64LE")[:, 0]
            self.assertGreater(db(got, double), 130, rate)
            ideal = np.sin(2 * np.pi * 997 * np.arange(rate) / rate) / 2
            self.assertEqual(len(got), rate)
            self.assertGreater(db(got[500:-500], ideal[500:-500]), 60, rate)

    def test_no_aliasing(self):
        """Tests that tones above half of the lower rate are removed, and that
        those below 0.8 of it are kept."""
        for share, least, most in (0.8, -0.1, 0.1), (1.02, -150, -75), \
                (1.5, -150, -75):
            path = make_tone(4000 * share)
            got = load(path, rate=8000, channels=1)[200:-200]
            level = 10 * np.log10(2 * np.mean(got.astype(float) ** 2) + 1e-15)
            self.assertTrue(least < level < most, (share, level))

    def test_mono(self):
        for name, options in {"m.wav": "", "m.flac": "", "m.mp3": ""}.items():
            path = make("x." + name, options)
            whole = load(path)
            np.testing.assert_array_equal(
                load(path, channels=1)[:, 0],
                (whole[:, 0] + whole[:, 1]) * np.float32(0.5))

    def test_more_channels(self):
        path = make("one.wav", "", 1)
        got = load(path, channels=2)
        np.testing.assert_array_equal(got, np.repeat(load(path), 2, 1))
        for n in range(3, 9):
            path = make(f"down-{n}.flac", "", n)
            self.assertEqual(load(path, channels=2).shape, (100003, 2))
            self.assertEqual(load(path, channels=1).shape, (100003, 1))


class BrokenTest(unittest.TestCase):
    def test_truncated(self):
        for name, options in {**EXACT, **LOSSY}.items():
            if name in ("tagless.mp3", "mp2"):
                continue  # their length was not stored
            indexed = "fast" not in name and name.endswith((".mp4", "m4a"))
            with self.subTest(name):
                check_cut(name, options, 0, indexed, indexed)

    def test_corrupt_bytes(self):
        """Tests that a corrupt file does not affect the next one."""
        for name, options in {**EXACT, **LOSSY}.items():
            path = make("x." + name, options)
            whole, data = load(path), bytearray(path.read_bytes())
            random = np.random.default_rng(1)
            for n in range(0, 20, slow_or(1, 4)):
                broken = bytearray(data)
                for at in random.integers(0, len(data), 1 + n):
                    broken[at] = random.integers(256)
                for corrupt in "fail", "keep":
                    try:
                        decode(broken, on_corrupt=corrupt)
                    except LoaderError:
                        pass
            np.testing.assert_array_equal(load(path), whole, name)

    def test_no_samples(self):
        path = make("silent.wav", "", 2, 1)
        header = path.read_bytes()[:-4]
        header = header[:-4] + bytes(4)
        for data, kind, text in [
                (header, "decode", 0),
                (b"OggS" + bytes(100), "decode", "Ogg"),
                (b"RIFF\x20\0\0\0WAVEfmt " + bytes(3), "decode", "WAV"),
                (b"\0\0\0\x18ftypisom" + bytes(50), "demux", "quicktime")]:
            with self.subTest(data=data), raises("stream-error " + kind, text):
                decode(data)


def make_list(paths):
    name = pathlib.Path(FOLDER.name) / "list.txt"
    name.write_text("".join(f"{path}\n" for path in paths))
    return name


class LoaderTest(unittest.TestCase):
    def items(self, paths, decode="", batch="", order="input", **options):
        return Loader(
            f'spdlsrc location="{make_list(paths)}" ! spdlfetch concurrency=2 '
            f"output-order={order} ! spdldecode concurrency=4 "
            f"output-order={order} {decode} ! spdlbatch {batch} ! spdlsink",
            **options)

    def test_corrupt_files_between_valid_ones(self):
        good = [make(f"g-{i}.{end}", "", 2, 20000 + 100 * i)
                for i, end in enumerate(["wav", "flac", "mp3", "m4a", "ogg",
                                         "opus", "aac"])]
        bad = []
        for path in good:
            bad.append(path.with_name("bad-" + path.name))
            bad[-1].write_bytes(path.read_bytes()[:5000])
        paths = [path for pair in zip(good, bad) for path in pair] * 4
        for order in "input", "completion":
            with self.items(paths, "duration=400000000",
                            "batch-size=1 indices=true", order) as loader:
                got = {int(np.asarray(batch["indices"])[0]): np.array(batch["data"])[0]
                       for batch in loader}
            self.assertEqual(sorted(got), list(range(0, len(paths), 2)))
            for i, data in got.items():
                np.testing.assert_array_equal(
                    data, load(paths[i], duration=400_000_000))

    def test_random_offsets(self):
        names = ["s16.wav", "flac", "mp3", "m4a", "opus", "vorbis.ogg", "aac",
                 "flac.mka", "webm"]
        paths = [make("x." + name, {**EXACT, **LOSSY, **GAINED}[name])
                 for name in names]
        paths.append(make("brief.wav", "", 2, 3000))

        def read(rate, epochs=2):
            with self.items(paths, f"offset=-1 duration=700000000 seed=5 "
                            f"rate={rate}", "batch-size=1 indices=true"
                            ) as loader:
                return [(batch.epoch, batch.indices[0],
                         batch.extras[0]["audio-offset"],
                         np.array(batch["data"])[0])
                        for _ in range(epochs) for batch in loader]

        for rate in 16000, 48000:
            found = read(rate)
            self.assertEqual(len(found), 2 * len(paths))
            for epoch, index, offset, got in found:
                whole = load(paths[index], rate=rate)
                first = to_samples(offset, rate)
                n = min(len(whole), rate * 7 // 10)
                with self.subTest(paths[index].name, rate=rate, epoch=epoch):
                    np.testing.assert_array_equal(got, whole[first:first + n])
            offsets = [offset for *_, offset, _ in found]
            # Those of the last file are 0, as it is shorter.
            self.assertEqual([paths[i].name for _, i, offset, _ in found
                              if offset == 0], ["brief.wav"] * 2)
            self.assertEqual(len(set(offsets)), len(offsets) - 1)
            self.assertEqual(offsets, [offset for *_, offset, _ in read(rate)])
        with raises("resource-error settings", "duration"):
            load(paths[0], offset=2**64 - 1)

    def sound_of(self, path):
        with Loader(f'spdlsrc location="{make_list([path])}" ! spdlfetch '
                    "! spdldecode ! audio/x-raw ! spdlsink",
                    max_failures=0) as loader:
            return np.array(next(iter(loader))["data"])

    def test_audio_of_videos(self):
        picture = ["-f", "lavfi", "-i", "testsrc=d=0.2:s=64x64"]
        silent = pathlib.Path(FOLDER.name) / "no-sound.mp4"
        ffmpeg(*picture, silent)
        with self.assertRaises(LoaderError) as raised:
            self.sound_of(silent)
        self.assertEqual((raised.exception.code, raised.exception.uri),
                         ("failures", silent.as_uri()))
        self.assertTrue(has_values(str(raised.exception), "audio", "MP4"))
        both = pathlib.Path(FOLDER.name) / "both.mp4"
        ffmpeg(*picture, "-i", make("tone.wav", "", 2, 9000), both)
        reference = wanted(both)
        np.testing.assert_array_equal(
            cut_as_ffmpeg(self.sound_of(both), reference, both).ravel(),
            reference)
        # If downstream accepts images, a video gives images.
        self.assertEqual(load(both).shape, (64, 64, 3))

    def test_media(self):
        """Tests that a property of sound, or `media`, decides what of a file
        with pictures is decoded."""
        picture = ["-f", "lavfi", "-i", "testsrc=d=0.2:s=64x64"]
        tone = make("tone.wav", "", 2, 9000)
        cover = path_of("cover.mka")
        ffmpeg(*picture, "-frames:v", 1, path_of("cover.jpg"))
        ffmpeg("-i", tone, "-i", path_of("cover.jpg"), "-map", 0, "-map", 1,
               "-c:a", "flac", "-c:v", "copy", "-disposition:v:0",
               "attached_pic", cover)
        paths = [cover]
        for name, codecs in {
                "sound.avi": "-c:v mpeg4 -c:a pcm_s16le",
                "sound.flv": "-c:v flv -c:a libmp3lame",
                "sound.ts": "-c:v mpeg2video -c:a mp2",
                "sound.mkv": "-c:a flac"}.items():
            paths.append(path_of(name))
            ffmpeg(*picture, "-i", tone, *codecs.split(), paths[-1])
        for path, reference in zip(paths, wanted_all(paths)):
            for settings in {"media": "audio"}, {"audio_format": "F32LE"}:
                with self.subTest(path.name, settings=settings):
                    np.testing.assert_array_equal(
                        load(path, **settings).ravel(), reference)
            if path is cover:
                continue
            with self.subTest(path.name):
                self.assertEqual(load(path).shape, (64, 64, 3))
                self.assertEqual(load(path, media="video", rate=8000).shape,
                                 (64, 64, 3))
                with self.assertRaises(LoaderError):
                    load(path, media="image")
        for path, media in ((path_of("cover.jpg"), "audio"),
                            (path_of("cover.jpg"), "video"),
                            (tone, "image"), (tone, "video")):
            with self.subTest(path.name, media=media), \
                    self.assertRaises(LoaderError) as raised:
                load(path, media=media)
            self.assertTrue(has_values(str(raised.exception),
                                       f"media={media}") or media == "image")

    def test_audio_of_ogg_videos(self):
        picture = ["-f", "lavfi", "-i", "testsrc=d=0.2:s=64x64"]
        both = pathlib.Path(FOLDER.name) / "both.ogv"
        ffmpeg(*picture, "-i", make("tone.wav", "", 2, 9000), both)
        self.assertEqual(load(both).shape, (64, 64, 3))
        # FFmpeg keeps the padding of the last packet.
        np.testing.assert_array_equal(self.sound_of(both).ravel(),
                                      wanted(both)[:2 * 9000])

    def test_padded(self):
        paths = [make(f"p-{n}.flac", "", 2, n) for n in (5000, 9000, 100, 7001)]
        with self.items(paths, "", "batch-size=3 pad-to-longest=true indices=true") as loader:
            batches = [{name: np.array(batch[name]) for name in
                        ("data", "data_lengths", "indices")} for batch in loader]
        self.assertEqual([b["data"].shape for b in batches],
                         [(3, 9000, 2), (1, 7001, 2)])
        for batch in batches:
            for data, n, i in zip(batch["data"], batch["data_lengths"],
                                  batch["indices"]):
                np.testing.assert_array_equal(data[:n], load(paths[i]))
                self.assertFalse(data[n:].any())

    def test_padded_planes(self):
        paths = [make(f"q-{n}.wav", "", 2, n) for n in (500, 900)]
        with self.items(paths, "", "batch-size=2 pad-to-longest=true layout=nchw dtype=float16 "
                        'mean="<0.5>" std="<2>"') as loader:
            batch = next(iter(loader))
            data = np.array(batch["data"])
            self.assertEqual(data.shape, (2, 2, 900))
            self.assertEqual(data.dtype, np.float16)
            for sound, path, n in zip(data, paths, np.array(batch["data_lengths"])):
                np.testing.assert_allclose(
                    sound[:, :n], (load(path).T - 0.5) / 2, atol=1e-3)
                self.assertFalse(sound[:, n:].any())

    def test_unequal_lengths(self):
        paths = [make(f"u-{n}.wav", "", 2, n) for n in (500, 900, 500)]
        with self.items(paths, "", "batch-size=2 on-shape-mismatch=skip",
                        max_failures=-1) as loader:
            batch = next(iter(loader))
            self.assertEqual(batch["data"].shape, (2, 500, 2))
            failure = loader.failures[0] if hasattr(loader, "failures") else None
        if failure:
            self.assertTrue(has_values(str(failure), "pad-to-longest=true",
                                       "spdlbatch"))

    def test_follows_caps(self):
        path = make("caps.wav")
        with Loader(f'spdlsrc location="{make_list([path])}" ! spdlfetch ! '
                    "spdldecode ! audio/x-raw,format=S16LE,rate=16000,channels=1"
                    " ! spdlbatch ! spdlsink") as loader:
            batch = next(iter(loader))
            self.assertEqual(batch["data"].shape, (1, 36283, 1))
            self.assertEqual(np.asarray(batch["data"]).dtype, np.int16)
        for name, value in (("rate", 8000), ("channels", 2),
                            ("audio-format", "F32LE")):
            with self.assertRaisesRegex(LoaderError, name):
                with Loader(f'spdlsrc location="{make_list([path])}" ! '
                            f"spdlfetch ! spdldecode {name}={value} ! "
                            "audio/x-raw,format=S16LE,rate=16000,channels=1 "
                            "! spdlbatch ! spdlsink") as loader:
                    next(iter(loader))

    def test_memory_is_constant(self):
        """Tests that memory is freed after thousands of audio files."""
        n = slow_or(1700, 425)
        paths = [make(f"m-{i}.{end}", "", 2, 3000) for i, end in
                 enumerate(["wav", "flac", "mp3", "m4a", "opus", "ogg"])]

        def resident():
            text = pathlib.Path("/proc/self/status").read_text()
            return int(text.split("VmRSS:")[1].split()[0])
        seen = []
        with Loader(f'spdlsrc location="{make_list(paths)}" epochs={n} ! '
                    "spdlfetch ! spdldecode concurrency=2 rate=16000 channels=1"
                    " ! spdlbatch pad-to-longest=true batch-size=60 ! spdlsink") as loader:
            for epoch in range(n):
                for batch in loader:
                    batch = None
                if (epoch + 1) % (n // 17) == 0:
                    seen.append(resident())
        self.assertLess(seen[-1] - seen[3], 4096, seen)


if __name__ == "__main__":
    unittest.main()
