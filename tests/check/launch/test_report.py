#!/usr/bin/python3
# gst-spdl: tests of the HTML report of gst-spdl-launch-1.0
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that need a browser are skipped without Debian's chromium-headless-shell
or chromium."""

import html.parser
import json
import pathlib
import re
import shutil
import socketserver
import subprocess
import tempfile
import threading
import unittest

from launching import launch

BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
POLICY = re.compile("<meta http-equiv=.*?>", re.DOTALL)
NAME = "a-stage-whose-name-is-forty-letters-"

# Rectangles of all texts by line, as JSON in an attribute of the page. A text
# clipped by a scrolling box counts up to the box.
SCRIPT = """
function boxes() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = walker.nextNode();) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("title, script, style")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects())
      found.push({text: node.data, x: r.left, y: r.top + window.scrollY,
                  w: r.width, h: r.height});
  }
  return found;
}
document.body.dataset.boxes = JSON.stringify(boxes());
document.body.dataset.width = document.documentElement.scrollWidth;
"""


class Attributes(html.parser.HTMLParser):
    """Collects the attributes of the body and the references of a page."""

    def __init__(self, text):
        super().__init__()
        self.data = {}
        self.references = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "body":
            self.data = dict(attrs)
        self.references += [value for name, value in attrs
                            if name in ("src", "href", "xlink:href", "srcset",
                                        "action", "data", "poster")]


def make_page(folder, n_stages):
    """Makes a report with a number of stages, whose names have 40 letters."""
    page = folder / f"{n_stages}.html"
    stages = " ! ".join(
        f"spdlteststage name={NAME}{i:04} sleep={(i + 1) * 400000}"
        + (" fail-every=7" if i == 1 else "") for i in range(n_stages))
    launch("--report", page, "--interval", "0.1", "--duration", "1.2",
           f"fakesrc sizetype=fixed sizemax=8 ! {stages} ! identity "
           "! spdlsink").check_returncode()
    return page


def make_sweep_page(folder):
    """Makes a report of a sweep with two settings per row."""
    page = folder / "sweep.html"
    name = f"{NAME}long"
    launch("--report", page, "--duration", "0.3", "--sweep",
           f"{name}.concurrency=1,16;{name}.queue-size=2,16",
           "fakesrc sizetype=fixed sizemax=8 ! spdlteststage "
           f"name={name} sleep=10000000 ! spdlsink").check_returncode()
    return page


class Listener(socketserver.ThreadingTCPServer):
    """Counts connections and does not respond to them."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.server.n_requests += 1

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.n_requests = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()


def overlap(a, b):
    """Returns the overlap in pixels, the smaller of both dimensions."""
    return min(min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"]),
               min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"]))


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.pages = {n: make_page(cls.folder, n) for n in (3, 12)}
        cls.sweep = make_sweep_page(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_no_external_resources(self):
        for page in (*self.pages.values(), self.sweep):
            text = page.read_text()
            self.assertIn(
                "content=\"default-src 'none'; style-src 'unsafe-inline';",
                text)
            self.assertEqual(Attributes(text).references, [])
            self.assertNotRegex(text, r"url\(|@import|<script|<link|<img")

    def test_complete_content(self):
        for n, page in self.pages.items():
            text = page.read_text()
            self.assertEqual(text.count("<svg"), 5)
            for i in range(n):
                self.assertIn(f"{NAME}{i:04}", text)
            self.assertIn("class=\"verdict\"", text)
            self.assertIn("Requested failure at item 6", text)

    def browse(self, text, width):
        """Returns the page as rendered by the browser, as text."""
        copy = self.folder / "asked.html"
        copy.write_text(text)
        return subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={self.folder}/profile",
             f"--window-size={width},1000", "--dump-dom", copy.as_uri()],
            check=True, capture_output=True, text=True, timeout=120).stdout

    def ask(self, page, width):
        """Returns the rectangles of the texts. The page's own policy would not
        allow the script."""
        text = POLICY.sub("", page.read_text(), count=1)
        text = text.replace("</body>", f"<script>{SCRIPT}</script></body>")
        data = Attributes(self.browse(text, width)).data
        return json.loads(data["data-boxes"]), int(data["data-width"])

    @unittest.skipUnless(BROWSER, "no browser")
    def test_content_security_policy(self):
        """Tests that a page cannot load anything, even if it requests
        something."""
        with Listener() as listener:
            text = self.pages[3].read_text().replace(
                "</body>", "<img src='http://127.0.0.1:"
                f"{listener.server_address[1]}/x.png'></body>")
            self.browse(text, 800)
            self.assertEqual(listener.n_requests, 0)
            self.browse(POLICY.sub("", text, count=1), 800)
            self.assertGreater(listener.n_requests, 0)
            listener.shutdown()

    @unittest.skipUnless(BROWSER, "no browser")
    def test_overlaps_are_detected(self):
        """Tests that intersecting texts are found, so that the next test can
        fail."""
        page = self.folder / "wrong.html"
        page.write_text("<body><svg><text y='20'>one</text>"
                        "<text y='25'>two</text></svg></body>")
        boxes, _ = self.ask(page, 800)
        self.assertEqual(len(boxes), 2)
        self.assertGreater(overlap(*boxes), 1)

    @unittest.skipUnless(BROWSER, "no browser")
    def test_no_overlapping_texts(self):
        for page in (*self.pages.values(), self.sweep):
            for width in (800, 1280):
                boxes, page_width = self.ask(page, width)
                self.assertGreater(len(boxes), 10)
                self.assertLessEqual(page_width, width)
                for i, a in enumerate(boxes):
                    for b in boxes[:i]:
                        self.assertLessEqual(
                            overlap(a, b), 1, f"{a} and {b} at {width}")


if __name__ == "__main__":
    unittest.main()
