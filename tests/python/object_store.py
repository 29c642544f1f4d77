# gst-spdl: object store for tests: OpenStack Swift with its S3 API
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import hashlib
import http.client
import json
import pathlib
import subprocess
import tempfile
import time
import unittest

import sigv4_reference as sigv4

# Debian's package of Swift is for the system's Python.
PYTHON = "/usr/bin/python3"
SERVER = pathlib.Path(__file__).with_name("swift_server.py")


class Swift:
    """A running Swift server with its S3 API, which keeps a single copy of
    each object.

    Differs from AWS: each signature must be for its single region, buckets are
    never public, and virtual addressing requires a host below `localhost`.
    Session tokens are not supported.
    """

    ACCESS_KEY = "test:tester"
    SECRET_KEY = "sesame-swift"

    def __init__(self, region="us-east-1"):
        self.region = region
        self._folder = tempfile.TemporaryDirectory(prefix="swift-")
        try:
            self._process = subprocess.Popen(
                [PYTHON, SERVER, self._folder.name, region],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
        except FileNotFoundError as error:
            self._folder.cleanup()
            raise unittest.SkipTest(f"needs Debian's Python: {error}") from None
        port = self._process.stdout.readline()
        if not port:
            _, text = self._process.communicate()
            self._folder.cleanup()
            if self._process.returncode == 77:
                raise unittest.SkipTest(
                    f"needs the package python3-swift: {text.strip()}")
            raise RuntimeError(f"Swift does not start: {text}")
        self.port = int(port)
        self.url = f"http://127.0.0.1:{self.port}"
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=60)

    def stop(self):
        """Stops the server and returns its standard error output."""
        self._connection.close()
        try:
            _, text = self._process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, text = self._process.communicate()
        self._folder.cleanup()
        return text

    def environment(self, **more):
        """Returns the environment variables with which AWS clients find the
        server."""
        return {"AWS_ACCESS_KEY_ID": self.ACCESS_KEY,
                "AWS_SECRET_ACCESS_KEY": self.SECRET_KEY,
                "AWS_REGION": self.region,
                "AWS_ENDPOINT_URL_S3": self.url, **more}

    def request(self, method, path, body=b"", query="", headers=(),
                host="127.0.0.1"):
        """Sends a signed request and returns status, headers and body. Path and
        query are encoded. `host` may contain a bucket."""
        host = f"{host}:{self.port}"
        key = sigv4.Key(self.ACCESS_KEY, self.SECRET_KEY)
        date = sigv4.format_time(time.time())
        signed = {"host": host, "x-amz-date": date,
                  "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
                  **dict(headers)}
        scope = f"{date[:8]}/{self.region}/s3/aws4_request"
        signature = sigv4.sign(key.secret_key, method, path, query, signed,
                               signed, scope, date)
        signed["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={key.access_key}/{scope}, "
            f"SignedHeaders={';'.join(sorted(signed))}, "
            f"Signature={signature}")
        self._connection.request(
            method, f"{path}?{query}" if query else path, body, signed)
        answer = self._connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def _control(self, action, value=None):
        self._connection.request("POST", f"/.control/{action}",
                                 json.dumps(value).encode())
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{action}: {answer.status} {body!r}")
        return json.loads(body)

    def make_bucket(self, bucket):
        status, _, body = self.request("PUT", f"/{bucket}")
        if status != 200:
            raise RuntimeError(f"{bucket}: {status} {body!r}")

    def put(self, bucket, key, data):
        """Stores an object with a signed request."""
        status, _, body = self.request(
            "PUT", f"/{bucket}/{sigv4.encode(key, safe='/')}", data)
        if status != 200:
            raise RuntimeError(f"{bucket}/{key}: {status} {body!r}")

    def fill(self, bucket, objects):
        """Stores texts by key without signed requests, which is faster."""
        self._control("fill", {"bucket": bucket,
                               "objects": list(objects.items())})

    def set_skew(self, seconds):
        """Sets how many seconds the server's clock is ahead."""
        self._control("skew", seconds)

    def take_log(self):
        """Returns [method, path, query, range] of the requests since the last
        call."""
        return self._control("log")
