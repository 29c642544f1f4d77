#!/usr/bin/python3
# gst-spdl: tests of object stores against Swift, botocore and fake servers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The arguments are the programs gst-spdl-index and sign-lines
(tests/check/fetch), or "-" for a program that is not built. The stores are
OpenStack Swift and fake_store.py."""

import email.utils
import functools
import hashlib
import importlib.util
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
from types import SimpleNamespace

import sigv4_reference as sigv4
from PIL import Image
from fake_store import (Answer, CredentialService, FakeGoogle, FakeHub, FakeS3,
                        GoogleMetadata, Mirror, StoreKey, find_free_port,
                        format_time, s3_error, slow_down)
from object_store import Swift

INDEX, SIGN_LINES = (None if path == "-" else os.path.abspath(path)
                     for path in sys.argv[1:3])
del sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent

# Each secret of these tests contains this word, which no output may show.
SECRET = "sesame"
ACCESS_KEY = "AKIDTESTS"
SECRET_KEY = f"{SECRET}+/key="
TOKEN = f"{SECRET}+/token=="

# Keys with characters that are special in paths, URIs or listings.
ODD_KEYS = [
    "a+b", "a b", "a%20b", "a%2Fb", "%", "100%", "a//b", "//a", "/a",
    "gr\u00fcn/\u20ac", "\U0001f600", "e\u0301", "a#b", "a#c", "a?b", "a?c",
    "a?b=c&d", "a&b;c", "a=b", "<a>&amp;\"'", "a\\b", "[a]{b}", "*", "~a",
    "a:b@c", "a|b^c`d", "$(a)", "a,b!c", "index.txt", "folder.tar/a",
    "\u00a0", "?", "#", "a%00b", "a.", "a..b",
]
# A listing omits these: names that begin with a dot, as for files, and the
# markers that tools create for folders.
HIDDEN_KEYS = ["a/../b", "../a", "./a", "a/./b", "..", ".", ".a", "a/.b/c",
               "a b/"]


def digest(data):
    return hashlib.sha256(data).hexdigest()


@functools.cache
def find_missing_feature():
    """Returns the reason why this build lacks object stores, or None."""
    done = subprocess.run(
        [sys.executable, "-c",
         "from gstspdl import Loader\n"
         "Loader('spdlsrc location=s3://b/k ! spdlfetch s3-addressing=path "
         "! spdlsink')"], capture_output=True, text=True, check=False,
        timeout=60)
    if "s3-addressing" in done.stderr:
        return "needs spdlfetch with object stores"
    return None


def needs_stores(test):
    """Decorates a class whose tests load from an object store."""
    set_up = test.setUpClass.__func__

    @classmethod
    def set_up_class(cls):
        reason = find_missing_feature()
        if reason:
            raise unittest.SkipTest(reason)
        set_up(cls)

    test.setUpClass = set_up_class
    return test


class Folder(unittest.TestCase):
    """A test case with an empty folder for each test."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class StoreTest(Folder):
    """A test case that loads items in another process with a separate
    environment."""

    def make_environment(self, environment):
        """Returns an environment without credentials except those of the
        test."""
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("AWS_", "HF_", "GOOGLE_", "GCE_", "GS_",
                                       "CLOUDSDK_", "STORAGE_EMULATOR_"))
               and not name.lower().endswith("_proxy")}
        env.update(HOME=str(self.folder / "home"),
                   XDG_CACHE_HOME=str(self.folder / "cache"),
                   AWS_EC2_METADATA_DISABLED="true", **environment)
        return env

    def run_program(self, command, environment, debug="9"):
        """Runs a program and checks that its output contains no secrets."""
        log = self.folder / "gst.log"
        env = self.make_environment(environment)
        env.update(GST_DEBUG=debug, GST_DEBUG_FILE=str(log),
                   GST_DEBUG_NO_COLOR="1")
        if debug == "9":
            env["G_MESSAGES_DEBUG"] = "all"
        done = subprocess.run(
            [str(word) for word in command], env=env, capture_output=True,
            text=True, timeout=30, check=False, cwd=self.folder)
        self.check_secrets(done.stdout, done.stderr)
        return done

    def check_secrets(self, *texts):
        """Checks that no secret, plain or encoded, is in `texts` or in a file
        that the program wrote to the test's folder."""
        secrets = [SECRET.encode(), SECRET.encode().hex().encode()]
        for i, text in enumerate(texts):
            for secret in secrets:
                self.assertFalse(secret in text.encode(),
                                 f"secret in output {i}: {text[-2000:]}")
        for path in self.folder.rglob("*"):
            if path.is_file() and not path.name.startswith("given-"):
                data = path.read_bytes()
                for secret in secrets:
                    place = data.find(secret)
                    self.assertEqual(
                        place, -1, f"secret in {path.name}: "
                        f"{data[max(place - 200, 0):place + 100]!r}")
                    self.assertNotIn(secret, os.fsencode(path.name))

    def load(self, source, environment, debug="9", **job):
        """Returns the results of load_items.py as attributes."""
        if "location=" not in str(source):
            source = f'spdlsrc location="{source}"'
        found = self.folder / "result.json"
        done = self.run_program(
            [sys.executable, HERE / "load_items.py", found,
             json.dumps({"source": source, **job})], environment, debug)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return SimpleNamespace(**json.loads(found.read_text("utf-8")))

    def assert_loaded(self, result, objects, bucket="bucket", scheme="s3"):
        """Checks that all objects arrived completely and that nothing
        failed."""
        self.assertEqual((result.error, result.failures), (None, []))
        found = {uri: data for uri, _, _, data in result.items}
        self.assertEqual(len(result.items), len(found))
        self.assertEqual(found, {f"{scheme}://{bucket}/{key}": digest(data)
                                 for key, data in objects.items()})

    def check_odd_keys(self, bucket, fill):
        odd, hidden = ({f"in/{key}": f"{key!r} has {i}".encode()
                      for i, key in enumerate(keys)}
                     for keys in (ODD_KEYS, HIDDEN_KEYS))
        fill({**odd, **hidden})
        self.assert_loaded(self.load(f"s3://{bucket}/in/"), odd, bucket)
        # A cache must keep them apart.
        for _ in range(2):
            result = self.load(
                self.write_list(*(f"s3://{bucket}/{key}"
                                  for key in {**odd, **hidden})),
                fetch=f'cache-dir="{self.folder}/disk"')
            self.assert_loaded(result, {**odd, **hidden}, bucket)

    def write_list(self, *lines):
        path = self.folder / "given-list.txt"
        path.write_text("".join(f"{line}\n" for line in lines),
                        encoding="utf-8")
        return path


def make_objects(n, prefix="item/"):
    return {f"{prefix}{i:05}": f"content {i}".encode() * (1 + i % 3)
            for i in range(n)}


def make_tar(n, first=0):
    """Returns a shard of invalid images with labels."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for i in range(first, first + n):
            for name, data in ((f"{i:04}.jpg", b"image %d " % i * (i + 1)),
                               (f"{i:04}.cls", b"%d" % (i % 7))):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return file.getvalue()


class ReferenceTest(unittest.TestCase):
    """Tests of sigv4_reference.py and of the signatures in C."""

    def test_published_signatures(self):
        n = 0
        vectors = HERE.parent / "check" / "fetch" / "sigv4-vectors.tsv"
        for line in vectors.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                continue
            (name, access_key, secret_key, token, region, service, method,
             host, path, query, moment, span, signature) = line.split("\t")
            request = sigv4.Request(host, path, query, int(moment), span,
                                    method, region, service)
            key = sigv4.Key(access_key, secret_key, token)
            with self.subTest(name):
                self.assertEqual(
                    sigv4.sign_request(key, request)["authorization"][-64:],
                    signature)
            n += 1
        self.assertEqual(n, 15)

    @unittest.skipUnless(SIGN_LINES, "needs a build with object stores")
    def test_random_requests(self):
        n = sigv4.compare(SIGN_LINES)
        print(f"{n} signatures compared with botocore's", file=sys.stderr)

    @unittest.skipUnless(importlib.util.find_spec("botocore"),
                         "needs botocore")
    def test_botocore(self):
        generator = sigv4.Generator(2)
        for _ in range(200):
            key, request = generator.make_key(), generator.make_request()
            self.assertEqual(
                sigv4.botocore_sign(key, request),
                sigv4.sign_request(key, request)["authorization"], request)


def make_client(test, url, region="us-east-1", access_key=Swift.ACCESS_KEY,
                secret_key=Swift.SECRET_KEY, token=None):
    import botocore.config
    import botocore.session

    # The client ignores the files and the environment of the user.
    session = botocore.session.Session()
    client = session.create_client(
        "s3", endpoint_url=url, region_name=region,
        aws_access_key_id=access_key, aws_secret_access_key=secret_key,
        aws_session_token=token,
        config=botocore.config.Config(
            s3={"addressing_style": "path"}, signature_version="s3v4",
            retries={"max_attempts": 0}))
    test.addCleanup(client.close)
    return client


@unittest.skipUnless(importlib.util.find_spec("botocore"), "needs botocore")
class ServersTest(unittest.TestCase):
    """Tests the servers with botocore, so that they are a reference for the
    elements."""

    def check_error(self, code, call, *arguments, **more):
        from botocore.exceptions import ClientError

        with self.assertRaises(ClientError) as raised:
            call(*arguments, **more)
        self.assertEqual(raised.exception.response["Error"]["Code"], code)
        return raised.exception.response

    def list_all(self, client, bucket, **more):
        """Returns the keys and the number of pages."""
        keys, n, token = [], 0, {}
        while True:
            page = client.list_objects_v2(Bucket=bucket, **more, **token)
            keys += [entry["Key"] for entry in page.get("Contents", [])]
            n += 1
            if not page["IsTruncated"]:
                return keys, n
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def check_store(self, client, objects):
        """Tests all kinds of reads from a bucket with these objects."""
        ordered = sorted(objects, key=str.encode)
        keys, n = self.list_all(client, "bucket", MaxKeys=7)
        self.assertEqual(keys, ordered)
        self.assertEqual(n, -(-len(ordered) // 7))
        for key, data in objects.items():
            with self.subTest(key):
                found = client.get_object(Bucket="bucket", Key=key)
                self.assertEqual(found["Body"].read(), data)
        key = ordered[-1]
        found = client.get_object(Bucket="bucket", Key=key, Range="bytes=2-4")
        self.assertEqual(found["Body"].read(), objects[key][2:5])
        self.assertEqual(found["ResponseMetadata"]["HTTPStatusCode"], 206)
        self.check_error("InvalidRange", client.get_object, Bucket="bucket",
                         Key=key, Range="bytes=9999999-")
        self.check_error("NoSuchKey", client.get_object, Bucket="bucket",
                         Key="none")
        self.check_error("NoSuchBucket", client.list_objects_v2,
                         Bucket="none")
        page = client.list_objects_v2(Bucket="bucket", Delimiter="/")
        self.assertEqual(
            {entry["Prefix"] for entry in page["CommonPrefixes"]},
            {key[:key.index("/") + 1] for key in objects if "/" in key})

    def test_swift(self):
        swift = Swift("eu-test-1")
        self.addCleanup(swift.stop)
        client = make_client(self, swift.url, "eu-test-1")
        client.create_bucket(Bucket="bucket", CreateBucketConfiguration={
            "LocationConstraint": "eu-test-1"})
        objects = {key: f"{key!r} has {i}".encode()
                   for i, key in enumerate(ODD_KEYS)}
        swift.fill("bucket", {key: data.decode() for key, data in
                              list(objects.items())[::2]})
        for key, data in list(objects.items())[1::2]:
            client.put_object(Bucket="bucket", Key=key, Body=data)
        self.check_store(client, objects)
        key = ODD_KEYS[0]
        self.assertEqual(swift.request("GET", "/" + sigv4.encode(key),
                                       host="bucket.localhost")[2],
                         objects[key])
        wrong = make_client(self, swift.url, "eu-test-1", secret_key="wrong")
        self.check_error("SignatureDoesNotMatch", wrong.get_object,
                         Bucket="bucket", Key=key)
        unknown = make_client(self, swift.url, "eu-test-1", access_key="nobody")
        # S3 would return InvalidAccessKeyId.
        self.check_error("SignatureDoesNotMatch", unknown.get_object,
                         Bucket="bucket", Key=key)
        abroad = make_client(self, swift.url, "eu-test-2")
        # botocore repeats the request for the region in the error.
        self.assertEqual(abroad.get_object(Bucket="bucket", Key=key)["Body"]
                         .read(), objects[key])
        for skew in 1800, -1800:
            swift.set_skew(skew)
            answer = self.check_error(
                "RequestTimeTooSkewed", client.get_object, Bucket="bucket",
                Key=key)
            date = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
            ahead = (email.utils.parsedate_to_datetime(date).timestamp()
                     - time.time())
            self.assertAlmostEqual(ahead, skew, delta=5)

    def test_fake_s3(self):
        objects = {key: f"{key!r} has {i}".encode()
                   for i, key in enumerate(ODD_KEYS)}
        with FakeS3({"bucket": objects, "far": {"a": b"far"}},
                    {ACCESS_KEY: StoreKey(SECRET_KEY, TOKEN)},
                    page_size=5) as store:
            store.regions["far"] = "eu-west-1"

            def connect(**more):
                return make_client(self, store.url, **{
                    "access_key": ACCESS_KEY, "secret_key": SECRET_KEY,
                    "token": TOKEN, **more})

            client = connect()
            keys, _ = self.list_all(client, "bucket")
            self.assertEqual(keys, sorted(objects, key=str.encode))
            store.page_size = 1000
            self.check_store(client, objects)
            self.assertGreater(store.n_compared, len(objects))
            get = {"Bucket": "bucket", "Key": ODD_KEYS[0]}
            for code, wrong in (("SignatureDoesNotMatch", "secret_key"),
                                ("InvalidAccessKeyId", "access_key"),
                                ("InvalidToken", "token")):
                self.check_error(code, connect(**{wrong: "x"}).get_object,
                                 **get)
            store.skew = 1000
            self.check_error("RequestTimeTooSkewed", client.get_object, **get)
            store.skew = 0
            store.keys[ACCESS_KEY].expires = 0
            self.check_error("ExpiredToken", client.get_object, **get)
            store.keys[ACCESS_KEY].expires = math.inf
            # botocore repeats the request for the region in the response.
            for status in 301, 400:
                store.moved = status
                found = connect().get_object(Bucket="far", Key="a")
                self.assertEqual(found["Body"].read(), b"far")


class SecretsTest(StoreTest):
    """Tests that the other tests would detect secrets."""

    def test_secrets_are_detected(self):
        for code in (f"print('{SECRET}')", f"import sys; sys.exit('{SECRET}')",
                     f"open('found', 'wb').write(b'{SECRET}'.hex().encode())",
                     f"open('a{SECRET}', 'w')"):
            with self.subTest(code), self.assertRaises(AssertionError):
                self.run_program([sys.executable, "-c", code], {})
            for path in self.folder.iterdir():
                path.unlink()

    def test_log_is_complete(self):
        """Tests that the log that is searched for secrets is complete."""
        reason = find_missing_feature()
        if reason:
            self.skipTest(reason)
        uri = f"s3://bucket/{find_free_port()}"
        self.load(self.write_list(uri), {
            "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{find_free_port()}",
            "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY}, fetch="retries=0")
        self.assertIn(uri, (self.folder / "gst.log").read_text())


@needs_stores
class SwiftTest(StoreTest):
    @classmethod
    def setUpClass(cls):
        cls.swift = Swift()
        cls.addClassCleanup(cls.swift.stop)
        cls.swift.make_bucket("bucket")

    def setUp(self):
        super().setUp()
        self.swift.set_skew(0)
        self.swift.take_log()

    def load(self, source, environment=None, *arguments, **more):
        return super().load(source, environment or self.swift.environment(),
                            *arguments, **more)

    def fill(self, bucket, objects):
        self.swift.make_bucket(bucket)
        self.swift.fill(bucket, {k: v.decode() for k, v in objects.items()})

    def test_many_keys(self):
        objects = make_objects(10_000)
        self.fill("many", {**objects, "other/a": b"other", "item": b"item"})
        result = self.load("s3://many/item/", debug="spdl*:4", fetch=None)
        self.assert_loaded(result, {key: f"s3://many/{key}".encode()
                                    for key in objects}, "many")
        lists = [query for method, path, query, _ in self.swift.take_log()
                 if method == "GET" and path.rstrip("/") == "/many"]
        self.assertEqual(len(lists), 10)
        result = self.load(
            'spdlsrc location="s3://many/item/" pattern=*99', debug="spdl*:4")
        self.assert_loaded(result, {key: data for key, data in objects.items()
                                    if key.endswith("99")}, "many")

    def test_odd_keys(self):
        self.check_odd_keys("odd", lambda objects: self.fill("odd", objects))

    def test_region_in_the_body(self):
        """Tests that the region is found in the body of an error, as Swift
        sends it only there."""
        objects = make_objects(20)
        self.fill("region", objects)
        result = self.load("s3://region/item/", self.swift.environment(
            AWS_REGION="eu-west-9"))
        self.assert_loaded(result, objects, "region")

    def test_folder_markers(self):
        """Tests that keys ending in a slash, which consoles create for
        folders, are skipped."""
        objects = {"in/": b"", "in/a": b"1", "in/b/": b"", "in/b/c": b"2"}
        self.fill("markers", objects)
        result = self.load("s3://markers/in/")
        self.assert_loaded(result, {key: data for key, data in objects.items()
                                    if data}, "markers")

    def test_ranges(self):
        data = bytes(range(256)) * 40
        self.swift.put("bucket", "range data", data)
        spans = [(0, 0), (5, 100), (1000, 10239)]
        result = self.load(self.write_list(*(
            f"s3://bucket/range data#bytes={first}-{last}"
            for first, last in spans)))
        self.assertEqual((result.error, result.failures), (None, []))
        self.assertEqual(
            {item[3] for item in result.items},
            {digest(data[first:last + 1]) for first, last in spans})
        self.assertEqual(
            {span for _, _, _, span in self.swift.take_log() if span},
            {f"bytes={first}-{last}" for first, last in spans})

    def test_labels_of_folders(self):
        objects = {f"set/{name}/{i}": f"{name} {i}".encode()
                   for name in ("cat", "dog") for i in range(3)}
        self.fill("labels", objects)
        result = self.load('spdlsrc location="s3://labels/set/" label=folder')
        self.assert_loaded(result, objects, "labels")
        for uri, label, _, _ in result.items:
            self.assertEqual(label, int("/dog/" in uri))

    def test_resume(self):
        objects = make_objects(40, "resume/")
        self.fill("resume", objects)
        first = self.load("s3://resume/resume/", most=1,
                          fetch="output-order=input")
        second = self.load("s3://resume/resume/", state=first.states[0],
                           fetch="output-order=input")
        self.assertEqual(first.keys[:16] + second.keys,
                         [f"s3://resume/{key}" for key in objects])

    def run_index(self, *arguments):
        return self.run_program([INDEX, *arguments],
                                self.swift.environment())

    @unittest.skipUnless(INDEX, "needs gst-spdl-index")
    def test_shards(self):
        self.swift.make_bucket("shards")
        for i in range(3):
            self.swift.put("shards", f"train/{i}.tar", make_tar(20, 20 * i))
        done = self.run_index("--output", self.folder,
                              "s3://shards/train/{0..2}.tar")
        self.assertEqual(done.returncode, 0, done.stderr)
        indexes = sorted(self.folder.glob("*.spdl-index"))
        self.assertEqual(len(indexes), 3)
        for path in indexes:
            self.swift.put("shards", f"train/{path.name}", path.read_bytes())
            path.unlink()
        wanted = {digest(b"image %d " % i * (i + 1)) for i in range(60)}
        self.swift.take_log()
        result = self.load("s3://shards/train/{0..2}.tar")
        self.assertEqual((result.error, result.failures), (None, []))
        self.assertEqual({item[3] for item in result.items}, wanted)
        self.assertEqual(len(result.items), 60)
        self.assertEqual({item[1] for item in result.items}, set(range(7)))
        log = self.swift.take_log()
        self.assertEqual(
            {path for _, path, _, _ in log if path.endswith("index")},
            {f"/shards/train/{i}.tar.spdl-index" for i in range(3)})
        # One range per image, and a few that validate the shard.
        n_ranges = sum(bool(span) for *_, span in log)
        self.assertLess(n_ranges, 60 + 3 * 12)
        # The second time, the indexes are in the cache.
        for n_read in 3, 0:
            result = self.load('spdlsrc location="s3://shards/train/*.tar" '
                               "index-cache=always")
            self.assertEqual((result.error, len(result.items)), (None, 60))
            self.assertEqual(len({path for _, path, _, _
                                  in self.swift.take_log()
                                  if path.endswith("index")}), n_read)
        wrong = self.run_program(
            [INDEX, "--list", "s3://shards/train/0.tar"],
            self.swift.environment(AWS_SECRET_ACCESS_KEY=f"{SECRET}-wrong"))
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("s3://shards/train/0.tar", wrong.stderr)
        self.assertIn("SignatureDoesNotMatch", wrong.stderr)

    def test_properties(self):
        """Tests that properties replace the environment, with both addressing
        styles."""
        objects = make_objects(5, "by property/")
        self.fill("properties", objects)
        environment = self.swift.environment(
            AWS_REGION="none", AWS_ENDPOINT_URL_S3="http://127.0.0.1:1")
        for host, addressing in (("127.0.0.1", "path"),
                                 ("localhost", "virtual")):
            more = (f"s3-endpoint=http://{host}:{self.swift.port} "
                    f"s3-region=us-east-1 s3-addressing={addressing}")
            with self.subTest(addressing):
                self.swift.take_log()
                result = self.load(
                    f'spdlsrc location="s3://properties/by property/" {more}',
                    environment, fetch=more)
                self.assert_loaded(result, objects, "properties")
                log = self.swift.take_log()
                self.assertEqual(len(log), 6)
                for _, path, _, _ in log:
                    self.assertEqual(path.startswith("/properties"),
                                     addressing == "path", path)

    def test_disk_cache(self):
        objects = make_objects(12, "cached/")
        self.fill("cached", objects)
        fetch = f'cache-dir="{self.folder}/disk"'
        for _ in range(2):
            result = self.load("s3://cached/cached/", fetch=fetch)
            self.assert_loaded(result, objects, "cached")

    def test_wrong_key(self):
        self.fill("refused", make_objects(5))
        self.swift.take_log()
        wrong = self.swift.environment(
            AWS_SECRET_ACCESS_KEY=f"{SECRET}-wrong")
        result = self.load("s3://refused/item/", wrong)
        self.assertEqual(result.items, [])
        self.assertIn("SignatureDoesNotMatch", result.error[0])
        self.assertIn("s3://refused/item/", result.error[0])
        # There is no retry.
        self.assertEqual(len(self.swift.take_log()), 1)
        uri = "s3://refused/item/00001"
        result = self.load(self.write_list(uri), wrong)
        self.assertEqual(result.items, [])
        self.assertEqual([failed for failed, _ in result.failures], [uri])
        self.assertIn("SignatureDoesNotMatch", result.failures[0][1])
        self.assertEqual(len(self.swift.take_log()), 1)

    def test_missing_bucket_and_objects(self):
        for place, code in (("s3://none/a/", "NoSuchBucket"),
                            ("s3://bucket/none/", None)):
            result = self.load(place)
            self.assertEqual(result.items, [])
            self.assertIn(place, result.error[0])
            if code:
                self.assertIn(code, result.error[0])
        uri = "s3://bucket/none"
        result = self.load(self.write_list(uri))
        self.assertEqual([failed for failed, _ in result.failures], [uri])
        self.assertIn("NoSuchKey", result.failures[0][1])

    def test_skewed_clock(self):
        objects = make_objects(20)
        self.fill("skewed", objects)
        for skew in 3600, -86400:
            self.swift.set_skew(skew)
            self.swift.take_log()
            result = self.load("s3://skewed/item/")
            self.assert_loaded(result, objects, "skewed")
            # Only requests in flight at the time of the first error are
            # repeated.
            self.assertLess(len(self.swift.take_log()), 21 + 20)


def make_photo(color):
    file = io.BytesIO()
    Image.new("RGB", (16, 12), color).save(file, "JPEG")
    return file.getvalue()


@needs_stores
class GuideTest(StoreTest):
    """Runs the commands of docs/how-to/object-stores.md with a store that has
    the objects that they name."""

    GUIDE = HERE.parents[1] / "docs" / "how-to" / "object-stores.md"

    @classmethod
    def setUpClass(cls):
        photos = {"a.jpg": make_photo("red"), "b.jpg": make_photo("blue")}
        objects = {f"train/{folder}/{name}": data for folder in ("cat", "dog")
                   for name, data in photos.items()}
        for i in range(128):
            file = io.BytesIO()
            with tarfile.open(fileobj=file, mode="w") as tar:
                info = tarfile.TarInfo(f"{i}.jpg")
                info.size = len(photos["a.jpg"])
                tar.addfile(info, io.BytesIO(photos["a.jpg"]))
            objects[f"train-{i:04}.tar"] = file.getvalue()
        cls.store = FakeS3({"my-bucket": objects},
                           {ACCESS_KEY: StoreKey(SECRET_KEY)})
        cls.addClassCleanup(cls.store.close)
        text = "".join(
            line[4:] if line.startswith("    ") else "\0"
            for line in cls.GUIDE.read_text("utf-8").splitlines(keepends=True)
            if line.strip())
        cls.blocks = [block.strip() for block in text.split("\0")
                      if block.strip()]

    def run_block(self, command):
        done = self.run_program(command, {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_ENDPOINT_URL_S3": self.store.url}, "spdl*:4")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertNotIn("WARNING", done.stderr)
        return done.stdout

    @unittest.skipIf(os.environ.get("SPDL_IN_VENV"),
                     "gst-launch-1.0 does not find the plugins of a wheel")
    def test_gst_launch_lines(self):
        lines = [block for block in self.blocks
                 if block.startswith("gst-launch-1.0 ")]
        self.assertGreaterEqual(len(lines), 3)
        self.write_list("s3://my-bucket/train/cat/a.jpg").rename(
            self.folder / "one.txt")
        for line in lines:
            with self.subTest(line):
                self.store.take_requests()
                self.run_block(["bash", "-c", line])
                self.assertTrue(self.store.take_requests())

    def test_python_block(self):
        blocks = [block for block in self.blocks
                  if block.startswith("import gstspdl")]
        self.assertEqual(len(blocks), 1)
        found = self.run_block([
            sys.executable, "-c", blocks[0] +
            "\nwith loader:\n    print(next(iter(loader))['data'].shape, "
            "loader.classes)"])
        self.assertEqual(found, "(4, 3, 224, 224) ['cat', 'dog']\n")

    @unittest.skipUnless(INDEX, "needs gst-spdl-index")
    def test_index_command(self):
        line = next(block for block in self.blocks
                    if block.startswith("gst-spdl-index "))
        command = line.splitlines()[0].partition(" ")[2]
        (self.folder / "indexes").mkdir()
        self.run_block(["bash", "-c", f"'{INDEX}' {command}"])
        self.assertEqual(
            len(list((self.folder / "indexes").glob("*.spdl-index"))), 128)


@needs_stores
class FakeS3Test(StoreTest):
    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        super().setUp()
        self.objects = make_objects(60)
        self.store = FakeS3({"bucket": self.objects},
                            {ACCESS_KEY: StoreKey(SECRET_KEY)}, page_size=25)
        self.addCleanup(self.store.close)

    def environment(self, **more):
        return {"AWS_ACCESS_KEY_ID": ACCESS_KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
                "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL_S3": self.store.url, **more}

    def load(self, source="s3://bucket/item/", environment=None, *arguments,
             **more):
        return super().load(source, environment or self.environment(),
                            *arguments, **more)

    def test_signed(self):
        self.assert_loaded(self.load(), self.objects)
        requests = self.store.take_requests()
        self.assertEqual(len(requests), 3 + 60)
        if importlib.util.find_spec("botocore"):
            self.assertEqual(self.store.n_compared, 63)
        for request in requests:
            self.assertNotIn("x-amz-security-token", request.headers)

    def test_odd_keys(self):
        self.store.page_size = 4
        self.check_odd_keys("odd", lambda objects: self.store.buckets.update(
            odd=objects))

    def test_broken_connection(self):
        """Tests that the rest of an object is requested with a new
        signature."""
        data = bytes(range(251)) * 1500
        self.store.buckets["bucket"] = {"item/large": data}

        def send_part(request):
            answer = self.store.answer(request)
            answer.sent = 100_000
            return answer

        self.store.add_fault(send_part, 2, lambda r: "list-type" not in r.query)
        self.assert_loaded(self.load(), {"item/large": data})
        spans = [request.headers.get("range", "")
                 for request in self.store.take_requests()]
        self.assertEqual(spans, ["", "", "bytes=100000-", "bytes=200000-"])

    def test_session_token(self):
        self.store.keys[ACCESS_KEY].session_token = TOKEN
        self.assert_loaded(self.load(environment=self.environment(
            AWS_SESSION_TOKEN=TOKEN)), self.objects)

    def test_profile(self):
        """Tests credentials in the files that all AWS tools share."""
        home = self.folder / "given-home"
        home.mkdir()
        (home / "given-credentials").write_text(
            "[default]\naws_access_key_id = no\naws_secret_access_key = no\n"
            f"[other]\naws_access_key_id = {ACCESS_KEY}\n"
            f"aws_secret_access_key = {SECRET_KEY}\n")
        (home / "given-config").write_text(
            "[profile other]\nregion = us-east-1\n"
            f"endpoint_url = {self.store.url}\n")
        self.assert_loaded(self.load(environment={
            "AWS_PROFILE": "other",
            "AWS_SHARED_CREDENTIALS_FILE": str(home / "given-credentials"),
            "AWS_CONFIG_FILE": str(home / "given-config")}), self.objects)

    def test_wrong_region(self):
        self.store.regions["bucket"] = "eu-west-1"
        for status in 400, 301:
            with self.subTest(status):
                self.store.moved = status
                self.store.take_requests()
                self.assert_loaded(self.load(), self.objects)
                # Only requests in flight at the time of the first error are
                # repeated.
                self.assertLess(len(self.store.take_requests()), 63 + 20)

    def test_slow_down(self):
        # A retry is also possible in the middle of a listing.
        self.store.add_fault(slow_down(), 1, lambda r: "list-type" in r.query)
        self.store.add_fault(slow_down(), 1,
                             lambda r: "continuation-token" in r.query)
        self.store.add_fault(slow_down(1), 5,
                             lambda r: "list-type" not in r.query)
        self.assert_loaded(self.load(), self.objects)

    def test_internal_error(self):
        self.store.add_fault(
            s3_error(500, "InternalError", "We encountered an internal error."),
            3)
        self.assert_loaded(self.load(), self.objects)

    def test_anonymous(self):
        self.store.public.add("bucket")
        self.assert_loaded(self.load(
            'spdlsrc location="s3://bucket/item/" anonymous=true',
            fetch="anonymous=true"), self.objects)
        for request in self.store.take_requests():
            self.assertNotIn("authorization", request.headers)

    def test_access_denied(self):
        place = "s3://bucket/item/"
        result = self.load(f'spdlsrc location="{place}" anonymous=true')
        self.assertEqual(result.items, [])
        self.assertIn("AccessDenied", result.error[0])
        self.assertIn(place, result.error[0])

    def test_no_credentials(self):
        result = self.load(environment={
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": self.store.url})
        self.assertEqual(result.items, [])
        self.assertIn("s3://bucket/item/", result.error[0])
        self.assertEqual(self.store.take_requests(), [])

    def test_skewed_clock(self):
        for skew in 7200, -7200:
            self.store.skew = skew
            self.store.take_requests()
            self.assert_loaded(self.load(), self.objects)
            self.assertLess(len(self.store.take_requests()), 63 + 20)

    def test_clock_change(self):
        """Tests a server clock that changes in the middle of an epoch."""
        self.store.add_fault(
            lambda request: setattr(self.store, "skew", 4000), 1,
            lambda request: request.path.endswith("/00020"))
        self.assert_loaded(self.load(), self.objects)

    def test_persistent_skew(self):
        """Tests that retries are limited if the server rejects the time of
        every request."""
        self.store.add_fault(
            s3_error(403, "RequestTimeTooSkewed", "The difference between the "
                     "request time and the current time is too large."), 1000)
        result = self.load()
        self.assertEqual(result.items, [])
        self.assertIn("RequestTimeTooSkewed", result.error[0])
        self.assertLess(len(self.store.take_requests()), 10)

    def test_errors_without_xml(self):
        self.store.add_fault(Answer(403, b"\xff<Error><Code>" * 1000), 1000)
        result = self.load()
        self.assertEqual(result.items, [])
        self.assertIn("s3://bucket/item/", result.error[0])

    def test_invalid_listings(self):
        for body in (b"", b"<ListBucketResult>", b"{}", b"<a/>" * 3,
                     b"<ListBucketResult><IsTruncated>true</IsTruncated>"
                     b"</ListBucketResult>",
                     b"<ListBucketResult><Contents><Key>\xff</Key></Contents>"
                     b"</ListBucketResult>"):
            with self.subTest(body):
                self.store._faults.clear()
                self.store.add_fault(Answer(200, body), 1000)
                result = self.load()
                self.assertEqual(result.items, [])
                self.assertIsNotNone(result.error)
        self.store._faults.clear()

    def test_endless_listing(self):
        """Tests that a listing that repeats a page is an error."""
        first = [None]

        def repeat(request):
            if first[0] is None:
                first[0] = self.store.list(request, "bucket")
            return first[0]

        self.store.add_fault(repeat, 10_000, lambda r: "list-type" in r.query)
        result = self.load()
        self.assertIsNotNone(result.error)
        self.assertLess(len(self.store.take_requests()), 20)

    def serve_credentials(self, issue, token="Bearer sesame-container"):
        service = CredentialService(issue, token)
        self.addCleanup(service.close)
        return service, {
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": self.store.url,
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": service.url + service.PATH,
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": token}

    def test_expired_token(self):
        """Tests that a token that the store refuses before its expiry is
        replaced in the middle of an epoch."""

        def issue(n):
            key = StoreKey(f"{SECRET}/{n}", f"{SECRET}-token/{n}==")
            self.store.keys[f"AKID{n}"] = key
            return {"AccessKeyId": f"AKID{n}", "SecretAccessKey":
                    key.secret_key, "Token": key.session_token,
                    "Expiration": format_time(time.time() + 3600)}

        service, environment = self.serve_credentials(issue)
        self.store.add_fault(
            lambda request: setattr(self.store.keys["AKID1"], "expires", 0),
            1, lambda request: request.path.endswith("/00020"))
        result = self.load(environment=environment)
        self.assert_loaded(result, self.objects)
        self.assertEqual(service.n_issued, 2)
        self.assertEqual(self.store.keys["AKID1"].expires, 0)

    def test_short_lived_token(self):
        """Tests that a token is renewed before it expires, so that no request
        is refused."""

        def issue(n):
            # A token is not used in its last ten seconds.
            expires = int(time.time()) + 13
            key = StoreKey(f"{SECRET}/{n}", f"{SECRET}-token/{n}==", expires)
            self.store.keys[f"AKID{n}"] = key
            return {"AccessKeyId": f"AKID{n}", "SecretAccessKey":
                    key.secret_key, "Token": key.session_token,
                    "Expiration": format_time(expires)}

        service, environment = self.serve_credentials(issue)
        self.store.add_fault(lambda request: time.sleep(0.1), 60,
                             lambda request: "list-type" not in request.query)
        result = self.load(environment=environment,
                           fetch="concurrency=1 retries=0")
        self.assert_loaded(result, self.objects)
        self.assertGreaterEqual(service.n_issued, 3)
        self.assertLess(service.n_issued, 20)

    def test_failing_service(self):
        service, environment = self.serve_credentials(lambda n: {"Code": "x"})
        service.add_fault(Answer(500, b"no"), 100)
        result = self.load(environment=environment)
        self.assertEqual(result.items, [])
        self.assertIsNotNone(result.error)
        # Items share a failed request for credentials.
        self.assertLess(service.n_issued + len(service.take_requests()), 20)

    def test_no_server(self):
        environment = self.environment(
            AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{find_free_port()}")
        result = self.load('spdlsrc location="s3://bucket/item/" retries=0',
                           environment)
        self.assertEqual(result.items, [])
        self.assertIn("s3://bucket/item/", result.error[0])

    @unittest.skipUnless(importlib.util.find_spec("PIL"), "needs Pillow")
    def test_worker_process(self):
        from PIL import Image

        image = io.BytesIO()
        Image.new("RGB", (9, 9)).save(image, "JPEG")
        images = {f"images/{i:02}.jpg": image.getvalue() for i in range(20)}
        self.store.buckets["bucket"] = images
        self.store.keys[ACCESS_KEY].session_token = TOKEN
        result = self.load("s3://bucket/images/", self.environment(
            AWS_SESSION_TOKEN=TOKEN), process=True)
        if result.error and "spdlworkersrc" in result.error[0]:
            self.skipTest(result.error[0])
        self.assertEqual((result.error, result.failures), (None, []))
        self.assertEqual(sorted(result.keys),
                         [f"s3://bucket/{key}" for key in images])

    def test_redirect_to_another_host(self):
        """Tests that a redirect to another host gets neither a signature nor a
        token."""
        with Mirror({"/x": b"from the mirror"}) as mirror:
            self.store.add_fault(
                Answer(307, b"", {"Location": f"{mirror.url}/x"}), 5,
                lambda request: request.path.endswith("/00007"))
            self.store.keys[ACCESS_KEY].session_token = TOKEN
            self.load(environment=self.environment(AWS_SESSION_TOKEN=TOKEN))
            for request in mirror.take_requests():
                self.assertFalse(
                    {"authorization", "x-amz-security-token"}
                    & set(request.headers))

    def test_parts_of_another_bucket(self):
        self.store.buckets["masks"] = {
            key: data[::-1] for key, data in self.objects.items()}
        path = self.folder / "given-list.csv"
        path.write_text("uri,mask\n" + "".join(
            f"s3://bucket/{key},s3://masks/{key}\n" for key in self.objects))
        result = self.load(path, fetch="parts=mask")
        self.assertEqual((result.error, result.failures), (None, []))
        self.assertEqual(len(result.items), 60)


@needs_stores
class GoogleTest(StoreTest):
    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        super().setUp()
        self.objects = make_objects(30)
        self.store = FakeGoogle({"bucket": self.objects}, {TOKEN}, page_size=7)
        self.addCleanup(self.store.close)

    def check(self, environment, **more):
        result = self.load("gs://bucket/item/", {
            "STORAGE_EMULATOR_HOST": self.store.url, **environment}, **more)
        self.assert_loaded(result, self.objects, "bucket", "gs")

    def test_token(self):
        self.check({"CLOUDSDK_AUTH_ACCESS_TOKEN": TOKEN})

    def test_anonymous(self):
        self.store.public.add("bucket")
        result = self.load(
            "spdlsrc location=gs://bucket/item/ anonymous=true",
            {"STORAGE_EMULATOR_HOST": self.store.url}, fetch="anonymous=true")
        self.assert_loaded(result, self.objects, "bucket", "gs")

    def test_wrong_token(self):
        result = self.load("gs://bucket/item/", {
            "STORAGE_EMULATOR_HOST": self.store.url,
            "CLOUDSDK_AUTH_ACCESS_TOKEN": f"{SECRET}-wrong"})
        self.assertEqual(result.items, [])
        self.assertIn("gs://bucket/item/", result.error[0])
        self.assertIn("AuthenticationRequired", result.error[0])

    def test_metadata_token(self):
        """Tests that an invalid token of the metadata service is replaced."""

        def issue(n):
            self.store.tokens = {f"{SECRET}-{n}"}
            return f"{SECRET}-{n}"

        with GoogleMetadata(issue) as metadata:
            self.store.add_fault(
                lambda request: self.store.tokens.clear(), 1,
                lambda request: request.path.endswith("/00020"))
            self.check({"GCE_METADATA_HOST": f"127.0.0.1:{metadata.port}"})
            self.assertEqual(metadata.n_issued, 2)

    def test_hmac_key(self):
        with FakeS3({"bucket": self.objects},
                    {ACCESS_KEY: StoreKey(SECRET_KEY)}, "auto") as store:
            self.check({"STORAGE_EMULATOR_HOST": store.url,
                        "GS_ACCESS_KEY_ID": ACCESS_KEY,
                        "GS_SECRET_ACCESS_KEY": SECRET_KEY})


@needs_stores
class HubTest(StoreTest):
    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        super().setUp()
        self.files = {f"data/{name}": name.encode() * 30 * i
                      for i, name in enumerate(
                          ["a.bin", "b.bin", "c d.bin", "e+f%.bin", "g#h.bin",
                           "\u00e9.bin", "sub/x.bin", "sub/y.bin"], 1)}
        self.mirror = Mirror()
        self.addCleanup(self.mirror.close)
        self.hub = FakeHub({**self.files, "README.md": b"no"}, self.mirror,
                           token=TOKEN)
        self.addCleanup(self.hub.close)

    def load(self, source, token=TOKEN, **more):
        return super().load(source, {"HF_ENDPOINT": self.hub.url,
                                     "HF_TOKEN": token}, **more)

    def test_folder(self):
        for revision in "", "@main":
            result = self.load(f"hf://{FakeHub.REPO}{revision}/data/")
            self.assert_loaded(result, self.files, FakeHub.REPO + revision,
                               "hf")
        # The host of the files gets no token.
        requests = self.mirror.take_requests()
        self.assertGreaterEqual(len(requests), 2)
        for request in requests:
            self.assertNotIn("authorization", request.headers)
            self.assertNotIn(TOKEN, str(request))
            self.assertIn(FakeHub.SIGNATURE, request.query)

    def test_wrong_token(self):
        for place in (f"hf://{FakeHub.REPO}/data/",
                      self.write_list(f"hf://{FakeHub.REPO}/data/a.bin")):
            result = self.load(place, f"{SECRET}-wrong")
            self.assertEqual(result.items, [])
            self.assertIn("RepoNotFound",
                          str(result.error) + str(result.failures))

    def test_ranges(self):
        path = "data/c d.bin"
        result = self.load(self.write_list(
            f"hf://{FakeHub.REPO}/{path}#bytes=3-120"))
        self.assertEqual((result.error, result.failures), (None, []))
        self.assertEqual(result.items[0][3], digest(self.files[path][3:121]))


class FakeHubTest(unittest.TestCase):
    """Tests the fake Hub and the fake Google store with plain HTTP
    requests."""

    def fetch(self, url, **headers):
        import urllib.request

        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.headers, answer.read()

    def test_hub(self):
        files = {f"data/{i:02}.bin": bytes([i]) * (50 * i) for i in range(8)}
        with Mirror() as mirror, FakeHub(files, mirror) as hub:
            url = f"{hub.url}/api/{hub.REPO}/tree/main/data?recursive=true"
            found = []
            while url:
                headers, body = self.fetch(url)
                found += [entry["path"] for entry in json.loads(body)
                          if entry["type"] == "file"]
                link = headers.get("Link", "")
                url = link[1:link.index(">")] if link else None
            self.assertEqual(found, sorted(files))
            for path, data in files.items():
                self.assertEqual(self.fetch(
                    f"{hub.url}/{hub.REPO}/resolve/main/{path}")[1], data)

    def test_google(self):
        with FakeGoogle({"bucket": {"a b": b"1"}}, {TOKEN}) as store:
            _, body = self.fetch(f"{store.url}/bucket/a%20b",
                                 Authorization=f"Bearer {TOKEN}")
            self.assertEqual(body, b"1")
            _, body = self.fetch(f"{store.url}/bucket?list-type=2",
                                 Authorization=f"Bearer {TOKEN}")
            self.assertIn(b"<Key>a b</Key>", body)


if __name__ == "__main__":
    unittest.main()
