#!/usr/bin/python3
# gst-spdl: tests of object stores with OpenStack Swift
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The argument is the program gst-spdl-index, or "-" if it is not built."""

import unittest

from object_store import Swift
from store_case import (SECRET, StoreTest, digest, make_objects, make_tar,
                        needs_stores, take_program)

INDEX = take_program()

from support import slow_or  # noqa: E402 - takes an argument, too


def make_shard(n, first=0):
    """Returns a shard of invalid images with labels."""
    return make_tar({
        name: data for i in range(first, first + n)
        for name, data in ((f"{i:04}.jpg", b"image %d " % i * (i + 1)),
                           (f"{i:04}.cls", b"%d" % (i % 7)))})


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
        n = slow_or(10_000, 2_500)
        objects = make_objects(n)
        self.fill("many", {**objects, "other/a": b"other", "item": b"item"})
        result = self.load("s3://many/item/", debug="spdl*:4", fetch=None)
        self.assert_loaded(result, {key: f"s3://many/{key}".encode()
                                    for key in objects}, "many")
        lists = [query for method, path, query, _ in self.swift.take_log()
                 if method == "GET" and path.rstrip("/") == "/many"]
        self.assertEqual(len(lists), -(-n // 1000))
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
            self.swift.put("shards", f"train/{i}.tar", make_shard(20, 20 * i))
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
        self.assert_refused(self.load("s3://refused/item/", wrong),
                            "SignatureDoesNotMatch", "s3://refused/item/")
        # There is no retry.
        self.assertEqual(len(self.swift.take_log()), 1)
        uri = "s3://refused/item/00001"
        result = self.load(self.write_list(uri), wrong)
        self.assertEqual(result.items, [])
        self.assertEqual([failed for failed, _ in result.failures], [uri])
        self.assertIn("SignatureDoesNotMatch", result.failures[0][1])
        self.assertEqual(len(self.swift.take_log()), 1)

    def test_missing_bucket_and_objects(self):
        for place, *codes in (("s3://none/a/", "NoSuchBucket"),
                              ("s3://bucket/none/",)):
            self.assert_refused(self.load(place), place, *codes)
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


if __name__ == "__main__":
    unittest.main()
