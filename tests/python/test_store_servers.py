#!/usr/bin/python3
# gst-spdl: tests of the stores that tests of object stores use
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The argument is the program sign-lines (tests/check/fetch). The stores are
OpenStack Swift and fake_store.py."""

import email.utils
import importlib.util
import json
import math
import sys
import time
import unittest

import sigv4_reference as sigv4
from fake_store import FakeGoogle, FakeHub, FakeS3, Mirror, StoreKey
from object_store import Swift
from store_case import (ACCESS_KEY, HERE, ODD_KEYS, SECRET_KEY, TOKEN,
                        take_program)

SIGN_LINES = take_program()


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
