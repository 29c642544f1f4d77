# gst-spdl: decode of a corpus file by gst-spdl and by the reference
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each decoder returns a list of arrays or raises an exception with the reason.
Each file is decoded in a separate process."""

import json
import os
import subprocess
import tarfile
import warnings
import zipfile
import zlib

import numpy as np

MAX_PIXELS = 16000000
FRAMES = 3
# These formats have no signature and are identified by caps.
MARKLESS = {"tga": "image/x-tga", "pcx": "image/x-pcx", "sgi": "image/x-sgi",
            "rgb": "image/x-sgi"}


class TooLarge(Exception):
    """Raised for an image with more pixels than the corpus allows, which both
    decoders reject."""


# References

def pillow(path):
    from PIL import Image, ImageOps
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None
    with Image.open(path) as image:
        if image.width * image.height > MAX_PIXELS:
            raise TooLarge(f"{image.width}x{image.height}")
        image.load()
        image = ImageOps.exif_transpose(image)
        if image.mode in ("I", "F") and image.format != "PNG":
            raise ValueError("samples of 32 bits")
        if image.mode.startswith("I"):  # 16 bits of gray
            values = np.asarray(image).astype(np.int64)
            gray = (values // 257).astype(np.uint8)
            gray[values == image.info.get("transparency", -1)] = 0
            return [np.repeat(gray[..., None], 3, 2)]
        if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or (
                "transparency" in image.info):
            image = image.convert("RGBA")
            below = Image.new("RGBA", image.size, (0, 0, 0, 255))
            image = Image.alpha_composite(below, image)
        return [np.asarray(image.convert("RGB"))]


def ffmpeg(path, *arguments):
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", path, *arguments, "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(lines[-1] if lines else "ffmpeg gave nothing")
    return done.stdout


def probe(path, kind, fields):
    text = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", f"{kind}:0",
         "-show_entries", f"stream={fields}:stream_tags=rotate:"
         "stream_side_data=rotation", "-of", "json", path],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    streams = json.loads(text or "{}").get("streams")
    if not streams:
        raise ValueError(f"no stream of kind {kind}")
    return streams[0]


def ffmpeg_sound(path):
    stream = probe(path, "a", "channels,sample_rate")
    raw = ffmpeg(path, "-map", "a:0", "-f", "f32le", "-c:a", "pcm_f32le")
    return [np.frombuffer(raw, np.float32).reshape(-1, stream["channels"])]


def ffmpeg_video(path):
    raw = ffmpeg(path, "-map", "v:0", "-frames:v", str(FRAMES), "-fps_mode",
                 "passthrough", "-f", "image2pipe", "-c:v", "ppm")
    frames, at = [], 0
    while at < len(raw):
        head = raw[at:at + 40].split(b"\n")
        width, height = map(int, head[1].split())
        begin = at + sum(len(line) + 1 for line in head[:3])
        at = begin + width * height * 3
        frames.append(np.frombuffer(raw[begin:at], np.uint8).reshape(
            height, width, 3))
    return frames


def safetensors(path):
    kinds = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4",
             "I16": "i2", "I8": "i1", "U8": "u1", "BOOL": "u1"}
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return [np.frombuffer(data[8 + size + e["data_offsets"][0]:
                               8 + size + e["data_offsets"][1]],
                          kinds[e["dtype"]]).reshape(e["shape"])
            for _, e in sorted(header.items())]


def numpy_arrays(path):
    if path.suffix == ".safetensors":
        return safetensors(path)
    found = np.load(path, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return [found]
    return [found[name] for name in sorted(found.files)]


def split_name(name):
    """Returns the key and extension of a member's name in WebDataset's way, or
    None."""
    folder, slash, base = name.removeprefix("./").rpartition("/")
    stem, dot, extension = base.partition(".")
    if not dot or not stem or name.split("/")[0].startswith("__"):
        return None
    return f"{folder}{slash}{stem}.{extension.lower()}"


def members(files):
    """Returns names and contents in one array per file, sorted by name."""
    return [np.frombuffer(f"{name}\0".encode(errors="replace") + data,
                          np.uint8) for name, data in sorted(files)]


def python_archive(path):
    # A tar that contains a ZIP ends like a ZIP.
    if tarfile.is_tarfile(path):
        with tarfile.open(path, "r:") as archive:
            found = [(entry.name, archive.extractfile(entry).read())
                     for entry in archive if entry.isreg()]
    else:
        with zipfile.ZipFile(path) as archive:
            found = [(entry.filename, archive.read(entry))
                     for entry in archive.infolist() if not entry.is_dir()
                     and entry.external_attr >> 28 in (0, 8)]
    return members((split_name(name), data) for name, data in found
                   if split_name(name))


REFERENCES = {"image": pillow, "sound": ffmpeg_sound, "video": ffmpeg_video,
              "array": numpy_arrays, "archive": python_archive}


def reference(path, kind):
    return REFERENCES[kind](path)


# gst-spdl

def decoded(path, kind, **properties):
    from gstspdl import decode
    if path.suffix[1:].lower() in MARKLESS:
        return loaded(path, "caps=" + MARKLESS[path.suffix[1:].lower()],
                      "resize=none")
    if kind == "video":
        properties["num_frames"] = FRAMES
        properties["short_clip"] = "repeat"
    if kind in ("image", "video"):
        properties.update(resize="none", max_pixels=MAX_PIXELS)
    return [np.asarray(decode(path.read_bytes(), **properties))]


def loaded(path, fetching, decoding):
    """Decodes with a pipeline, for formats that decode() does not support."""
    from gstspdl import Loader
    line = (f"spdlfetch {fetching} ! spdldecode max-pixels={MAX_PIXELS} "
            f"{decoding} ! spdlsink")
    with Loader(line, source=[str(path)]) as loader:
        return [np.asarray(batch[name]) for batch in list(loader)
                for name in sorted(batch.names)]


def cut(data, span):
    """Returns the bytes of an index entry, decompressed if necessary."""
    span, _, packing = span.partition("&inflate=")
    first, last = map(int, span.split("-")) if span else (0, -1)
    part = data[first:last + 1]
    return zlib.decompress(part, wbits=-15) if packing else part


def listed(path):
    done = subprocess.run(["gst-spdl-index", "--list", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False)
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    data, found = path.read_bytes(), []
    for line in done.stdout.splitlines():
        key, _, *files = line.split("\t")
        for file in files:
            extension, _, span = file.partition("=")
            found.append((f"{key.removeprefix('./')}.{extension}",
                          cut(data, span)))
    return members(found)


def ours(path, kind):
    if kind == "archive":
        return listed(path)
    return loaded(path, "", "") if kind == "array" else decoded(path, kind)
