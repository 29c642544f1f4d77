#!/usr/bin/python3
# gst-spdl: web server with configurable latency
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""slow_server.py FOLDER MS [EVERY MS]

Serves a folder at 127.0.0.1 and prints a list of its files to standard output,
for spdlsrc. Each response is delayed by MS milliseconds; every EVERY-th one has a
longer delay. This shows the effect of latency on the statistics of a pipeline.
Stop it with Ctrl-C."""

import functools
import http.server
import itertools
import os
import pathlib
import sys
import time
from typing import Any


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    counter = itertools.count(1)

    def __init__(self, *args: Any, delay: float, every: int, more: float,
                 **kwargs: Any) -> None:
        self.delay, self.every, self.more = delay, every, more
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        slow = self.every and next(self.counter) % self.every == 0
        time.sleep(self.more if slow else self.delay)
        super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that have disconnected."""


def main() -> None:
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    every, more = (int(sys.argv[3]), float(sys.argv[4])) if sys.argv[3:] \
        else (0, 0)
    handler = functools.partial(
        Handler, directory=folder, delay=float(sys.argv[2]) / 1000,
        every=every, more=more / 1000)
    server = Server(("127.0.0.1", 0), handler)
    for path in sorted(folder.rglob("*.jpg")):
        print(f"http://127.0.0.1:{server.server_port}/"
              f"{path.relative_to(folder)}")
    # Signal the end of the list to a reader.
    sys.stdout.close()
    os.close(1)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
