#!/usr/bin/python3
# gst-spdl: check that the result of a still does not depend on earlier ones
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orders.py FOLDER: decodes all stills of `gather.py` four times, sequentially
and in parallel, in both output orders, sorted and shuffled. Fails unless all
runs deliver the same files with the same bytes."""

import argparse
import pathlib
import random
import sys
import warnings
import zlib

from decoders import MARKLESS, MAX_PIXELS
from gather import KINDS, suffix_of

from gstspdl import Loader


def decode_all(paths, order, concurrency):
    """Returns the checksum of each result by the URI of its file."""
    settings = (f"concurrency={concurrency} output-order={order} "
                "max-failure-rate=1")
    line = (f"spdlfetch {settings} ! spdldecode {settings} width=32 height=32 "
            f"max-pixels={MAX_PIXELS} ! spdlbatch batch-size=1 ! spdlsink")
    with Loader(line, source=paths) as loader:
        return {batch.keys[0]: zlib.crc32(batch["data"].numpy().tobytes())
                for batch in loader}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    root = parser.parse_args().folder / "files"
    warnings.simplefilter("ignore")
    stills = set(KINDS["image"]) - set(MARKLESS)
    paths = sorted(str(p) for p in root.rglob("*")
                   if p.is_file() and suffix_of(p.name) in stills)
    shuffled = random.Random(1).sample(paths, len(paths))
    expected = decode_all(paths, "input", 1)
    print(f"{len(paths)} stills, {len(expected)} of them delivered")
    n_wrong = 0
    for which, order, concurrency in ((paths, "completion", 4),
                                      (shuffled, "input", 3),
                                      (shuffled, "completion", 2)):
        found = decode_all(which, order, concurrency)
        wrong = [uri for uri in expected.keys() | found.keys()
                 if expected.get(uri) != found.get(uri)]
        for uri in sorted(wrong):
            print(f"{order}, concurrency {concurrency}: {uri}")
        n_wrong += len(wrong)
    print(f"{n_wrong} differ")
    return n_wrong > 0


if __name__ == "__main__":
    sys.exit(main())
