#!/usr/bin/python3
# gst-spdl: program that loads one epoch, for tests of object stores
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A process searches for credentials only once, so each test runs this program
with a separate environment. The arguments are the name of a file for the
results and a JSON object:

    source   description of spdlsrc
    fetch    more properties of spdlfetch; null: no spdlfetch, so that the
             content of each item is its URI
    state    a state to resume from
    most     number of batches after which to stop
    process  true: images are decoded in a worker process, and `items` is empty

Writes a JSON object: `items` (URI, label, size and SHA-256), `failures` (URI
and reason), `error` (null, or message and code) and `states`."""

import hashlib
import json
import pathlib
import sys
import threading

import numpy as np

from gstspdl import Loader, LoaderError

BATCH = 16


def main(job):
    items, states, lock = [], [], threading.Lock()

    def see(sample):
        data = bytes(sample)
        with lock:
            items.append([sample.key, sample.label, len(data),
                          hashlib.sha256(data).hexdigest()])
        return np.zeros(1, "uint8")

    more = job.get("fetch", "")
    fetch = "" if more is None else f"! spdlfetch name=fetch {more} "
    process = job.get("process", False)
    work = "spdldecode width=8 height=8" if process else \
        "spdlpipe name=see concurrency=1"
    line = (f"{job['source']} epochs=1 {fetch}! {work} "
            f"! spdlbatch batch-size={BATCH} ! spdlsink")
    error, failures, uris = None, [], []
    try:
        loader = Loader(line, state=job.get("state"), process=process)
        if not process:
            loader.map("see", see)
        with loader:
            try:
                for batch in loader:
                    uris += list(batch.keys)
                    states.append(batch.state)
                    if len(states) == job.get("most"):
                        break
            finally:
                failures = [[f.uri, f.reason] for f in loader.failures]
    except LoaderError as raised:
        error = [str(raised), raised.code]
        if raised.__cause__ is not None:
            error.append(repr(raised.__cause__))
    return {"items": items, "failures": failures, "error": error,
            "keys": uris, "states": states}


if __name__ == "__main__":
    # The result goes to a file, because GLib logs to standard output.
    pathlib.Path(sys.argv[1]).write_text(
        json.dumps(main(json.loads(sys.argv[2]))), encoding="utf-8")
