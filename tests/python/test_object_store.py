#!/usr/bin/python3
# gst-spdl: tests of object stores with fake servers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The argument is the program gst-spdl-index, or "-" if it is not built."""

import importlib.util
import io
import itertools
import os
import sys
import time
import unittest

from PIL import Image
from fake_store import (Answer, CredentialService, FakeGoogle, FakeHub, FakeS3,
                        GoogleMetadata, Mirror, StoreKey, find_free_port,
                        format_time, s3_error, slow_down)
from store_case import (ACCESS_KEY, HERE, SECRET, SECRET_KEY, TOKEN, StoreTest,
                        digest, find_missing_feature, make_objects, make_tar,
                        needs_stores, take_program)

INDEX = take_program()


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
            objects[f"train-{i:04}.tar"] = make_tar(
                {f"{i}.jpg": photos["a.jpg"]})
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


def answer_page(keys, token):
    """Returns a page of a listing; `token`: None if it is the last one."""
    more = "" if token is None else (
        "<IsTruncated>true</IsTruncated>"
        f"<NextContinuationToken>{token}</NextContinuationToken>")
    keys = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys)
    return Answer(200, f"<ListBucketResult>{more}{keys}</ListBucketResult>"
                  .encode())


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
        # All may concern the same item, which has four attempts.
        self.store.add_fault(slow_down(1), 3,
                             lambda r: "list-type" not in r.query)
        self.assert_loaded(self.load(), self.objects)

    def test_other_temporary_errors(self):
        """boto3 retries these, although their status is that of an error in
        the request."""
        for code in "RequestTimeout", "Throttling", "BandwidthLimitExceeded":
            self.store.add_fault(s3_error(400, code, "Try again."), 2,
                                 lambda r: "list-type" not in r.query)
        self.store.add_fault(s3_error(400, "RequestTimeout", "Try again."))
        # The clock is corrected, and differs again.
        self.store.add_fault(s3_error(403, "RequestTimeTooSkewed", "Late"), 2,
                             lambda r: "list-type" in r.query)
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
        self.assert_refused(
            self.load(f'spdlsrc location="{place}" anonymous=true'),
            "AccessDenied", place)

    def test_no_credentials(self):
        self.assert_refused(self.load(environment={
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": self.store.url}), "s3://bucket/item/")
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
        self.assert_refused(self.load(), "RequestTimeTooSkewed")
        self.assertLess(len(self.store.take_requests()), 10)

    def test_errors_without_xml(self):
        self.store.add_fault(Answer(403, b"\xff<Error><Code>" * 1000), 1000)
        self.assert_refused(self.load(), "s3://bucket/item/")

    def test_invalid_listings(self):
        for body in (b"", b"<ListBucketResult>", b"{}", b"<a/>" * 3,
                     b"<ListBucketResult><IsTruncated>true</IsTruncated>"
                     b"</ListBucketResult>",
                     b"<ListBucketResult><Contents><Key>\xff</Key></Contents>"
                     b"</ListBucketResult>"):
            with self.subTest(body):
                self.store._faults.clear()
                self.store.add_fault(Answer(200, body), 1000)
                self.assert_refused(self.load())
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

    def list_pages(self, make_page, **properties):
        """Returns the error and the number of requests of a listing whose
        n-th page is make_page(n)."""
        n = itertools.count()
        self.store.add_fault(lambda request: make_page(next(n)), 10_000,
                             lambda r: "list-type" in r.query)
        source = "".join(f" {name.replace('_', '-')}={value}"
                         for name, value in properties.items())
        result = self.load(f"spdlsrc location=s3://bucket/item/{source}",
                           None, "2")
        self.assert_refused(result, 'Failed to list "s3://bucket/item/"')
        return result.error[0], len(self.store.take_requests())

    def test_listing_repeats_keys(self):
        error, n = self.list_pages(lambda n: answer_page(
            [f"item/{n % 2}"], f"token {n % 2}"))
        self.assertIn("repeats the key item/0", error)
        self.assertEqual(n, 3)

    def test_listing_without_keys(self):
        error, n = self.list_pages(lambda n: answer_page([], f"token {n}"))
        self.assertIn("1000 pages", error)
        self.assertEqual(n, 1001)

    def test_unordered_listing(self):
        """Tests that a store may list keys in any order, with some pages
        without keys."""
        keys = sorted(self.objects, reverse=True)
        pages = [keys[:20], [], keys[20:40], [], keys[40:]]
        for i, page in enumerate(pages):
            self.store.add_fault(
                answer_page(page, f"token {i}" if i < 4 else None), 1,
                lambda r: "list-type" in r.query)
        self.assert_loaded(self.load(), self.objects)

    def test_listing_takes_too_long(self):
        def make_page(n):
            time.sleep(0.02)
            return answer_page([f"item/{n}"], f"token {n}")

        begun = time.monotonic()
        error, _ = self.list_pages(make_page, list_timeout=1)
        self.assertIn("list-timeout (1 s)", error)
        self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_page_without_end(self):
        error, n = self.list_pages(lambda n: Answer(
            200, b"<ListBucketResult>" + b"<a/>" * 100_000, endless=True))
        self.assertIn("33554432 bytes", error)
        self.assertEqual(n, 1)

    def serve_credentials(self, issue, token="Bearer sesame-container"):
        service = CredentialService(issue, token)
        self.addCleanup(service.close)
        return service, {
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": self.store.url,
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": service.url + service.PATH,
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": token}

    def issue_key(self, n, expires):
        """Adds key number @n to the store, and returns it as a service does."""
        key = StoreKey(f"{SECRET}/{n}", f"{SECRET}-token/{n}==", expires)
        self.store.keys[f"AKID{n}"] = key
        return {"AccessKeyId": f"AKID{n}", "SecretAccessKey": key.secret_key,
                "Token": key.session_token, "Expiration": format_time(expires)}

    def test_expired_token(self):
        """Tests that a token that the store refuses before its expiry is
        replaced in the middle of an epoch."""
        service, environment = self.serve_credentials(
            lambda n: self.issue_key(n, time.time() + 3600))
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
        # A token is not used in its last ten seconds.
        service, environment = self.serve_credentials(
            lambda n: self.issue_key(n, int(time.time()) + 13))
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
        self.assert_refused(self.load(environment=environment))
        # Items share a failed request for credentials.
        self.assertLess(service.n_issued + len(service.take_requests()), 20)

    def test_no_server(self):
        environment = self.environment(
            AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{find_free_port()}")
        self.assert_refused(
            self.load('spdlsrc location="s3://bucket/item/" retries=0',
                      environment), "s3://bucket/item/")

    def test_worker_process(self):
        photo = make_photo("black")
        images = {f"images/{i:02}.jpg": photo for i in range(20)}
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
        self.assert_refused(self.load("gs://bucket/item/", {
            "STORAGE_EMULATOR_HOST": self.store.url,
            "CLOUDSDK_AUTH_ACCESS_TOKEN": f"{SECRET}-wrong"}),
            "gs://bucket/item/", "AuthenticationRequired")

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


if __name__ == "__main__":
    unittest.main()
