# gst-spdl: videos with numbered frames
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import subprocess

import numpy as np

WIDTH, HEIGHT = 160, 96
BITS = 16

H264 = ["-c:v", "libx264", "-preset", "veryfast", "-threads", "1"]
YUV = ["-pix_fmt", "yuv420p"]


def draw(number):
    """Draws 4 by 4 squares, a light one for each bit of the number that is
    set."""
    bits = np.array([number >> i & 1 for i in range(BITS)], np.uint8)
    squares = np.where(bits, 0xE0, 0x20).astype(np.uint8).reshape(4, 4)
    return squares.repeat(HEIGHT // 4, 0).repeat(WIDTH // 4, 1)


def read(frame):
    """Returns the number in an image of any size, or in several."""
    *shape, height, width, _ = frame.shape
    squares = frame[..., 0].reshape(*shape, 4, height // 4, 4, width // 4)
    middle = squares[..., height // 16:-(height // 16) or None, :,
                     width // 16:-(width // 16) or None]
    bits = middle.mean(axis=(-3, -1)) > 128
    return (bits.reshape(*shape, BITS) << np.arange(BITS)).sum(-1)


def ffmpeg(*arguments, **options):
    return subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y",
                           *map(str, arguments)], check=True, **options)


def has_option(name):
    """Returns whether this version of ffmpeg has the option."""
    text = subprocess.run(["ffmpeg", "-hide_banner", "-h", "long"],
                          capture_output=True, text=True, check=True).stdout
    return f"-{name}" in text


def make(path, count, *arguments, rate=25, first=0):
    """Makes a video of the images of `count` numbers."""
    data = b"".join(draw(first + i).tobytes() for i in range(count))
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo",
                    "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}",
                    "-r", str(rate), "-i", "pipe:", *YUV,
                    *map(str, arguments), str(path)],
                   input=data, check=True)
    return path


def show_times(path, *options):
    """Returns the presentation times of frames from FFmpeg in seconds, in
    order."""
    lines = subprocess.run(
        ["ffprobe", "-v", "error", *options, "-select_streams", "v:0",
         "-show_entries", "frame=best_effort_timestamp_time", "-of", "csv=p=0", str(path)],
        check=True, capture_output=True, text=True).stdout.split()
    return sorted(float(line.strip(",")) for line in lines)


def show_numbers(path):
    """Returns the numbers of the frames that FFmpeg shows, in order."""
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-map", "0:v:0",
         "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray",
         "pipe:"], check=True, capture_output=True).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT, WIDTH, 1)
    return read(frames)
