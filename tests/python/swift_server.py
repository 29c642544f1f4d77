#!/usr/bin/python3
# gst-spdl: OpenStack Swift with the S3 API, in one process
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs Swift's proxy, account, container and object servers for tests.

    swift_server.py FOLDER REGION

Objects are kept in memory, and the databases of accounts and containers in
FOLDER. Writes the port of the proxy to standard output once the proxy
responds, and exits at the end of standard input. Exits with 77 if Swift is not
installed.

Requests to /.control/ need no signature:

    POST /.control/fill   {"bucket": B, "objects": [[KEY, TEXT], ...]}
    POST /.control/skew   SECONDS by which the clock of the S3 API is ahead
    POST /.control/log    returns and forgets what was requested
"""

import os
import sys

try:
    import eventlet

    eventlet.monkey_patch()
    from swift.common import utils
except ImportError as error:
    print(f"Swift is not installed: {error}", file=sys.stderr)
    sys.exit(77)

import array
import email.utils
import hashlib
import io
import json
import logging
import pathlib
import time

from eventlet import tpool, wsgi

ACCOUNT = "AUTH_test"
PROXY = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors s3api tempauth proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
location = {region}
storage_domain = localhost
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = sesame-swift .admin
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
"""


class Skew:
    """Offset of the S3 API's clock from the machine's, in seconds."""

    seconds = 0


def make_ring(folder, name, port):
    """Returns a ring of one device and one partition."""
    from swift.common.ring import RingData

    device = {"id": 0, "zone": 0, "region": 1, "device": "sda", "weight": 1.0,
              "ip": "127.0.0.1", "port": port,
              "replication_ip": "127.0.0.1", "replication_port": port}
    RingData([array.array("H", [0])], [device], 32).save(
        str(folder / f"{name}.ring.gz"))


def make_objects(conf, logger):
    """Returns an object server that keeps objects in memory."""
    from swift.obj import mem_server

    class Objects(mem_server.ObjectController):
        def setup(self, conf):
            super().setup(conf)
            get_object = self._filesystem.get_object

            def copy_object(name):
                # Readers must not share a file position.
                file, metadata = get_object(name)
                if file is not None:
                    file = io.BytesIO(file.getvalue())
                return file, metadata

            self._filesystem.get_object = copy_object

        def fill(self, name, data, metadata):
            self._filesystem.put_object(
                name, io.BytesIO(data), dict(metadata, name=name))

    return Objects(conf, logger=logger)


class NoCache:
    """Stub of the memcached that tempauth requires: it stores nothing."""

    def get(self, *arguments, **more):
        return None

    def set(self, *arguments, **more):
        pass

    delete = incr = set


class Control:
    """Handles control requests of the tests, and forwards all others."""

    def __init__(self, app, containers, objects):
        self.app = app
        self.containers = containers
        self.objects = objects
        self.log = []

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"]
        if path.startswith("/.control/"):
            return self.control(path.rpartition("/")[2], environ,
                                start_response)
        self.log.append([environ["REQUEST_METHOD"],
                         environ.get("RAW_PATH_INFO", path),
                         environ.get("QUERY_STRING", ""),
                         environ.get("HTTP_RANGE", "")])
        environ["swift.cache"] = NoCache()
        return self.app(environ, lambda status, headers, *error:
                        start_response(status, headers + self.date(), *error))

    def date(self):
        return [("Date", email.utils.formatdate(
            time.time() + Skew.seconds, usegmt=True))]

    def control(self, action, environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        value = json.loads(environ["wsgi.input"].read(length) or b"null")
        result = None
        if action == "fill":
            self.fill(value["bucket"], value["objects"])
        elif action == "skew":
            Skew.seconds = value
        elif action == "log":
            result, self.log = self.log, []
        body = json.dumps(result).encode()
        start_response("200 OK", [("Content-Type", "application/json"),
                                  ("Content-Length", str(len(body)))])
        return [body]

    def fill(self, bucket, objects):
        """Stores many objects in one request."""
        broker = self.containers._get_container_broker(
            "sda", 0, ACCOUNT, bucket)
        now = utils.Timestamp.now().internal
        records = []
        for key, text in objects:
            data = text.encode()
            etag = hashlib.md5(data).hexdigest()
            self.objects.fill(f"/{ACCOUNT}/{bucket}/{key}", data, {
                "X-Timestamp": now, "Content-Type": "text/plain",
                "ETag": etag, "Content-Length": str(len(data))})
            records.append({
                "name": key, "created_at": now, "size": len(data),
                "content_type": "text/plain", "etag": etag, "deleted": 0,
                "storage_policy_index": 0, "ctype_timestamp": None,
                "meta_timestamp": None})
        broker.merge_items(records)


def set_clock():
    """Makes the S3 API use the skewed clock when it compares dates."""
    from swift.common.middleware.s3api import s3request

    class SkewedTimestamp(s3request.S3Timestamp):
        @classmethod
        def now(cls, offset=0, delta=0):
            return cls(time.time() + Skew.seconds)

    s3request.S3Timestamp = SkewedTimestamp


def serve(sock, app):
    from swift.common.http_protocol import SwiftHttpProtocol

    eventlet.spawn(wsgi.server, sock, app, io.StringIO(),
                   protocol=SwiftHttpProtocol, socket_timeout=60,
                   capitalize_response_headers=False, log_output=False)


def main(folder, region):
    (folder / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_suffix = tests\n")
    utils.set_swift_dir(str(folder))
    from swift.account import server as account
    from swift.common.wsgi import loadapp
    from swift.container import server as container

    (folder / "devices" / "sda").mkdir(parents=True)
    sockets = {name: eventlet.listen(("127.0.0.1", 0), backlog=256)
               for name in ("proxy", "account", "container", "object")}
    for name in "account", "container", "object":
        make_ring(folder, name, sockets[name].getsockname()[1])
    logging.disable(logging.CRITICAL)
    logger = utils.get_logger({}, "tests")
    conf = {"devices": str(folder / "devices"), "mount_check": "false",
            "swift_dir": str(folder), "allow_versions": "false"}
    containers = container.ContainerController(conf, logger=logger)
    objects = make_objects(conf, logger)
    serve(sockets["account"], account.AccountController(conf, logger=logger))
    serve(sockets["container"], containers)
    serve(sockets["object"], objects)
    (folder / "proxy.conf").write_text(
        PROXY.format(folder=folder, region=region))
    set_clock()
    serve(sockets["proxy"], Control(
        loadapp(str(folder / "proxy.conf")), containers, objects))
    print(sockets["proxy"].getsockname()[1], flush=True)
    # Other green threads run while this one waits for the end of its input.
    tpool.execute(sys.stdin.read)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
    os._exit(0)
