# gst-spdl: audio files of the benchmarks
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
import subprocess

FORMATS = {"wav": "-c:a pcm_s16le", "flac": "-c:a flac",
           "mp3": "-c:a libmp3lame -b:a 128k", "m4a": "-c:a aac -b:a 128k",
           "opus": "-c:a libopus -b:a 96k",
           "ogg": "-c:a libvorbis -q:a 4"}
N_FILES = 8


def output(*command):
    return subprocess.run(list(map(str, command)), check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def make_list(folder, end, options):
    """Makes stereo files of ten seconds, and a list of them."""
    paths = []
    for i in range(1, N_FILES + 1):
        paths.append(folder / f"{i}.{end}")
        left = f"0.3*sin(2*PI*t*{200 + 97 * i})*sin(t*5)+0.1*random(1)*sin(t*3)"
        right = f"0.3*sin(2*PI*t*{300 + 57 * i})+0.05*random(2)"
        output("ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
               f"aevalsrc='{left}|{right}':s=44100:d=10:c=stereo",
               *options.split(), paths[-1])
    name = folder / f"{end}.txt"
    name.write_text("".join(f"{path}\n" for path in paths))
    return name
