# gst-spdl: cases of boxes and keypoints that move with their image
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import json
import pathlib

import numpy
from PIL import Image

from gstspdl import Loader

EXPECTED = pathlib.Path(__file__).with_name("boxes-expected.json")
WIDTH, HEIGHT = 160, 120

# Left, top, right, bottom in the stored image. Some reach over a border, and the
# last ones are small and near a corner.
BOXES = [[10, 20, 60, 90], [0, 0, 160, 120], [70.5, 30.25, 110.75, 64.5],
         [-8, 50, 20, 130], [140, 100, 160, 120], [1, 1, 4, 3],
         [150, 2, 158, 9]]
POINTS = [[12, 22], [0, 0], [159, 119], [80.5, 60.25], [70, 30], [3, 110]]

# Name, EXIF orientation, properties of spdldecode, ops of spdlaugment.
DECODE = [
    ("plain", 1, "", ""),
    *[(f"orientation {n}", n, "", "") for n in range(2, 9)],
    *[(f"turned {n}, cropped and flipped", n,
       "width=64 height=48 augment=random-resized-crop crop-scale=<0.2,0.6> "
       f"flip=1 seed={n}", "") for n in range(1, 9)],
    ("ignored", 6, "orientation=ignore width=50 height=40", ""),
    ("stretch", 1, "width=97 height=31", ""),
    ("cover", 1, "width=64 height=64 resize=cover", ""),
    ("cover, one side", 6, "height=50 resize=cover", ""),
    ("cover, fraction", 1, "width=56 height=56 resize=cover crop-fraction=0.875", ""),
    ("cover, fraction, turned", 8,
     "width=56 height=56 resize=cover crop-fraction=0.875 flip=1", ""),
    ("contain", 1, "width=64 height=64 resize=contain", ""),
    ("contain, turned", 5, "width=80 height=40 resize=contain flip=1", ""),
    ("random crop", 1, "width=64 height=64 augment=random-crop seed=3", ""),
    ("no resize", 7, "resize=none", ""),
    ("small JPEG", 1, "width=20 height=15", ""),
    ("small JPEG, full scale", 1, "width=20 height=15 fast-scale=false", ""),
]
STEPS = [
    "horizontal-flip(p=1)", "vertical-flip(p=1)", "pad(padding=7)",
    "crop(x=20,y=15,width=90,height=70)", "center-crop(size=61x100)",
    "rotate(angle=30)", "rotate(angle=-100)",
    "affine(angle=9,translate-x=12,translate-y=-5,scale=1.2,shear-x=8,shear-y=-5)",
    "affine(shear-x=16.7,center=corner)",
    "perspective(corners=10/5/150/0/140/119/3/110,p=1)",
    "erase(x=3,y=2,width=50,height=40,value=9,p=1)", "invert(p=1)",
]
CHAINS = [
    "rotate(angle=20); crop(x=30,y=20,width=80,height=70); horizontal-flip(p=1)",
    "crop(x=10,y=10,width=120,height=100); rotate(angle=45); rotate(angle=-45)",
    "pad(padding=9); perspective(corners=10/5/150/0/140/119/3/110,p=1); "
    "center-crop(size=100)",
    "vertical-flip(p=1); affine(angle=-15,scale=0.8,shear-x=10); pad(padding=3)",
    "affine(scale=2,translate-x=40); rotate(angle=10); vertical-flip(p=1)",
]
CASES = (DECODE + [(step, 1, "", step) for step in STEPS] +
         [(chain, 1, "", chain) for chain in CHAINS] +
         [("all: " + CHAINS[0], 6,
           "width=130 height=150 augment=random-resized-crop flip=1 seed=5",
           CHAINS[0])])


def write_list(folder, lines, name="list.jsonl"):
    path = pathlib.Path(folder, name)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def make_image(folder, orientation, size=(WIDTH, HEIGHT), suffix=".jpg"):
    exif = Image.Exif()
    exif[0x0112] = orientation
    name = f"image{orientation}{suffix}"
    Image.linear_gradient("L").resize(size).convert("RGB").save(
        pathlib.Path(folder, name), exif=exif)
    return name


def load(path, decode="", ops="", source="", batch="", n=1, middle=""):
    """Returns the batches of a list, copied."""
    order = "output-order=input"
    augment = f"! spdlaugment {order} ops=\"{ops}\"" if ops else ""
    batches = []
    with Loader(f"spdlsrc location={path} box-column=boxes "
                f"box-label-columns=kinds keypoint-column=points {source} "
                f"! spdlfetch {order} {middle} ! spdldecode {order} {decode} {augment} "
                f"! spdlbatch batch-size={n} {batch} ! spdlsink") as loader:
        for batch in loader:
            batches.append({
                "names": list(batch.keys()),
                "extras": batch.extras, "indices": list(batch.indices),
                **{name: numpy.array(batch[name]).tolist() for name in batch.keys()
                   if name != "data"},
                "shape": list(batch["data"].shape)})
    return batches


def run_case(folder, case, source=""):
    """Returns what becomes of the boxes and keypoints."""
    name, orientation, decode, ops = case
    path = write_list(folder, [{
        "uri": make_image(folder, orientation), "boxes": BOXES,
        "points": POINTS, "kinds": list(range(len(BOXES)))}])
    return load(path, decode, ops, source)[0]
