#!/usr/bin/python3
# gst-spdl: tests that gst-spdl-launch-1.0 shows no secrets and control characters
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import http.server
import io
import json
import os
import pathlib
import tarfile
import tempfile
import threading
import unittest

from launching import launch, launch_json, launch_report

SECRET = "sesame"
HEADERS = (r'extra-headers="headers, Authorization=(string)\"Bearer sesame\", '
           r'X-Key=(string){sesame, sesame-2}"')
ITEM = bytes(64)
# Each item has another kind of secret.
SECRETS = ("X-Amz-Signature=sesame", "private_key=sesame", "auth_key=1-sesame",
           "hdnts=exp=1~hmac=sesame", "hdnea=st=1~acl=/*~hmac=sesame",
           "to=http%3A%2F%2Fme%3Asesame%40host%2F", "sig=sesame",
           "to=http%253A%252F%252Fme%253Asesame%2540host",
           "X-Amz-Signature=sesame", "X-Amz-Signature=sesame")
CAPS = ("other/tensors,format=static,num_tensors=1,types=(string)uint8,"
        "dimensions=(string)64,framerate=0/1")


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves /0 to /7; other paths are missing."""

    def do_GET(self):
        if "odd" in self.path:
            self.wfile.write(b"HTTP/1.1 404 \x1b[2J\x9b2J\r\n"
                             b"Content-Length: 0\r\n\r\n")
            return
        good = self.path[1:].partition("?")[0] in list("01234567")
        self.send_response(200 if good else 404)
        self.send_header("Content-Length", str(len(ITEM) if good else 0))
        self.end_headers()
        if good:
            self.wfile.write(ITEM)

    def log_message(self, *_):
        pass


class ServerTest(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.addCleanup(self.server.server_close)
        threading.Thread(target=self.server.serve_forever).start()
        self.addCleanup(self.server.shutdown)
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.list = self.folder / "list.txt"
        self.port = self.server.server_address[1]


class SecretsTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.list.write_text("".join(
            f"http://me:sesame@127.0.0.1:{self.port}/{i}?{secret}\n"
            for i, secret in enumerate(SECRETS)))

    def describe(self):
        return ["spdlsrc", f"location={self.list}", "!", "spdlfetch",
                "retries=0", f"caps={CAPS}", HEADERS, "!", "spdlbatch",
                "batch-size=2", "!", "spdlsink"]

    def test_run(self):
        done, data, page = launch_report(*self.describe())
        self.assertEqual(data["failures"], 2)
        self.assertIn("/8?X-Amz-Signature=***", done.stderr)
        for text in done.stdout, done.stderr, page, str(data):
            self.assertNotIn(SECRET, text)
        self.assertIn("extra-headers=*** !", data["pipeline"])
        self.assertIn("spdlbatch", data["pipeline"])

    def test_log(self):
        done = launch(*self.describe(),
                      env={**os.environ, "GST_DEBUG": "spdl*:9"})
        self.assertIn("/9?X-Amz-Signature=***", done.stderr)
        self.assertNotIn(SECRET, done.stdout + done.stderr)

    def test_keys(self):
        """Tests the messages about items with each kind of secret."""
        self.list.write_text(self.list.read_text().replace("?", "/x?"))
        done, data = launch_json(*self.describe())
        self.assertEqual(len(data["failed-items"]), 10)
        self.assertNotIn(SECRET, done.stdout + done.stderr + str(data))

    def test_dumps(self):
        """Tests the graphs that GStreamer writes, and the trace."""
        trace = self.folder / "trace.json"
        done = launch("--trace", trace, *self.describe(),
                      env={**os.environ, "GST_DEBUG": "spdl*:9",
                           "GST_DEBUG_DUMP_DOT_DIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(SECRET, trace.read_text())
        for dump in self.folder.glob("*.dot"):
            self.assertNotIn(SECRET, dump.read_text())

    def test_limit(self):
        """Tests the item that exceeds the failure limit."""
        done, data = launch_json("--max-failures", "0", *self.describe())
        self.assertEqual(done.returncode, 1)
        self.assertIn("?X-Amz-Signature=***", done.stderr)
        self.assertNotIn(SECRET, done.stderr + str(data))

    def test_mistakes(self):
        """Tests invalid headers, and a location without a dataset."""
        bad = "Authorization: Bearer sesame"
        for arguments in (
                ["spdlfetch", f"extra-headers={bad}", "!", "spdlsink"],
                [f'spdlfetch extra-headers="{bad}" ! spdlsink'],
                ["--set", f"fetch.extra-headers={bad}", *self.describe()],
                ["--set", f"extra-headers={bad}", *self.describe()],
                ["spdlsrc", "location=http://me:sesame@host/list.txt", "!",
                 "spdlsink"],
                ["spdlsrc", "location=http://me:sesame@127.0.0.1:1/a.tar?"
                 "sig=sesame", "retries=0", "!", "spdlsink"]):
            with self.subTest(arguments=arguments):
                done = launch(*arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, r"\*\*\*|headers=\.\.\.")
                self.assertNotIn(SECRET, done.stdout + done.stderr)


class PrintableTest(ServerTest):
    """Tests names and texts that clear the terminal and forge lines."""

    ODD = "\x1b[2J\x9b2J\u202e\nerror: forged"

    def check(self, *description):
        """Runs a pipeline of which all items fail. Returns their URIs."""
        report = self.folder / "run.html"
        done, data = launch_json("--report", report, *description)
        log = launch(*description, env={
            **os.environ, "GST_DEBUG": "spdl*:9", "GST_DEBUG_NO_COLOR": "1"})
        reasons = [item["error"] for item in data["failed-items"]]
        for text in (done.stdout, done.stderr, log.stdout, log.stderr,
                     report.read_text(), data["error"], *reasons):
            self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
        for text in done.stderr, log.stderr:
            self.assertNotRegex(text, "(?m)^error: forged")
            self.assertIn(r"\x1b[2J", text)
        return [item["uri"] for item in data["failed-items"]]

    def test_list(self):
        """Tests URIs of a list, which messages contain exactly, and the text of
        a status."""
        base = f"http://127.0.0.1:{self.port}"
        uris = [f"{base}/odd", f"{base}/{self.ODD}", f"odd://{self.ODD}"]
        path = self.folder / "list.jsonl"
        path.write_text("".join(json.dumps({"uri": uri}) + "\n"
                                for uri in uris))
        found = self.check("spdlsrc", f"location={path}", "!", "spdlfetch",
                           "retries=0", f"caps={CAPS}", "!", "spdlbatch", "!",
                           "spdlsink")
        self.assertEqual(sorted(found), sorted(uris))

    def test_shard(self):
        """Tests the names of a shard's members, and values of its JSON."""
        with tarfile.open(self.folder / "a.tar", "w") as shard:
            for name, data in ((f"{self.ODD}.jpg", b"no image"),
                               (f"{self.ODD}.json",
                                json.dumps({"part": self.ODD}).encode())):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                shard.addfile(member, io.BytesIO(data))
        for more in "parts=part", "parts=part coalesce=5":
            with self.subTest(more=more):
                self.check("spdlsrc", f"location={self.folder}/a.tar", "!",
                           "spdlfetch", *more.split(), "!", "spdldecode",
                           "width=8", "height=8", "!", "spdlbatch", "!",
                           "spdlsink")


if __name__ == "__main__":
    unittest.main()
