#!/usr/bin/python3
# gst-spdl: tests of gst-spdl-launch-1.0 --digest, and of equal decoded bytes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import pathlib
import re
import tempfile
import unittest

from launching import launch, launch_json

IMAGES = pathlib.Path(__file__).resolve().parent / "images"
# Properties of spdldecode, and the digests of the images.
DIGESTS = {
    "width=96 height=96":
        "f714ffa4789306c6c098bdf107d6f21f",
    "width=224 height=224 resize=cover crop-fraction=0.875":
        "e2f06ad5c482a32b99583011608e219a",
    "width=150 height=100 resize=contain interpolation=lanczos":
        "6edb03df01b47197f2e51386f96a17a7",
    "width=64 height=64 augment=random-resized-crop flip=0.5 seed=3":
        "5103baa236abe83ab6dd5443d6d3605a",
    "width=80 height=80 fast-scale=true format=GRAY8":
        "e963c970aeb0d3f5ae2400f1b4077ba6",
}
ANY = next(iter(DIGESTS))


def make_npy(size):
    """Returns an NPY file with an array of bytes."""
    header = (f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},)}}"
              .ljust(117) + "\n").encode()
    return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
            + bytes(range(size)))


class DigestTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.list = pathlib.Path(folder.name) / "images.txt"
        self.list.write_text("".join(
            f"{path}\n" for path in sorted(IMAGES.iterdir())
            if path.suffix in (".jpg", ".png")))

    def line(self, decode=ANY, source="", stage="", batch="batch-size=4"):
        return (f"spdlsrc location={self.list} {source} ! spdlfetch {stage} "
                f"! spdldecode on-corrupt=keep {decode} {stage} "
                f"! spdlbatch {batch} ! spdlsink")

    def digest(self, line, *args, n_items=18, **variables):
        done = launch("--digest", *args, line, env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search("^digest ([0-9a-f]{32}) of ([0-9]+) items$",
                          done.stdout, re.MULTILINE)
        self.assertEqual(int(found[2]), n_items)
        return found[1]

    def test_published(self):
        for decode, digest in DIGESTS.items():
            with self.subTest(decode):
                self.assertEqual(self.digest(self.line(decode)), digest)

    def test_kernels(self):
        """Tests the kernels that this machine has, and libjpeg-turbo's entropy
        decoder and plain C code."""
        for name, value in (("SPDL_KERNELS", "c"), ("SPDL_KERNELS", "sse2"),
                            ("SPDL_KERNELS", "avx2"),
                            ("SPDL_ENTROPY_DECODER", "libjpeg"),
                            ("JSIMD_FORCENONE", "1")):
            for decode, digest in DIGESTS.items():
                with self.subTest(f"{name}={value} {decode}"):
                    self.assertEqual(
                        self.digest(self.line(decode), **{name: value}), digest)

    def test_order(self):
        for order in "input", "completion":
            for concurrency in 1, 3, 8:
                stage = f"output-order={order} concurrency={concurrency}"
                self.assertEqual(
                    self.digest(self.line(source="shuffle=true seed=5",
                                          stage=stage,
                                          batch=f"batch-size={concurrency}")),
                    DIGESTS[ANY])

    def test_worker(self):
        """Tests decoding in a worker process."""
        pipeline = self.line().replace(" ! spdlsink", "").replace('"', '\\"')
        self.assertEqual(
            self.digest(f'spdlworkersrc pipeline="{pipeline}" ! spdlsink'),
            DIGESTS[ANY])

    def test_resume(self):
        """Tests that the digests of two parts add up to that of the whole."""
        line = self.line()
        first = self.digest(line, "--batches", "2", n_items=8)
        _, data = launch_json("--batches", "2", line)
        state = data["resume-state"]
        rest = self.digest(self.line(source=f'resume-state="{state}"'),
                           n_items=10)
        self.assertEqual(
            (int(first, 16) + int(rest, 16)) % 2**128, int(DIGESTS[ANY], 16))

    def test_padding(self):
        """Tests that the padding of a batch is not part of the digest."""
        for i, size in enumerate((3, 50, 20, 7)):
            (self.list.parent / f"{i}.npy").write_bytes(make_npy(size))
        self.list.write_text("0.npy\n1.npy\n2.npy\n3.npy\n")
        line = self.line("").replace("on-corrupt=keep", "")
        digests = {
            self.digest(line.replace("batch-size=4",
                                     f"pad-to-longest=true batch-size={n}"),
                        n_items=4)
            for n in (1, 2, 3, 4)}
        self.assertEqual(len(digests), 1)

    def test_differences(self):
        """Tests that another byte, index, shape or name changes the digest."""
        digests = [self.digest(self.line()),
                   self.digest(self.line(ANY + " format=BGR")),
                   self.digest(self.line("width=48 height=192")),
                   self.digest(self.line(batch="batch-size=4 indices=true"))]
        lines = self.list.read_text().splitlines()
        self.list.write_text("\n".join(reversed(lines)))
        digests.append(self.digest(self.line()))
        self.assertEqual(len(set(digests)), len(digests))

    def test_errors(self):
        line = self.line()
        done = launch("--digest", line.replace("! spdlbatch batch-size=4", ""))
        self.assertEqual(done.returncode, 1)
        self.assertIn("spdlbatch", done.stderr)
        done = launch("--digest", line.replace("spdlsink", "fakesink"))
        self.assertEqual(done.returncode, 2)
        done = launch("--digest", "--sweep", "spdldecode0.concurrency=1", line)
        self.assertEqual(done.returncode, 2)
        done, data = launch_json("--digest", line)
        self.assertEqual(data["items"], 18)


if __name__ == "__main__":
    unittest.main()
