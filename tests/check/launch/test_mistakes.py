#!/usr/bin/python3
# gst-spdl: tests of messages about common mistakes in pipelines
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_mistakes.py MAKE-DATASET

Prints each message, so that a person can check that it names the correction."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from launching import launch

MAKE_DATASET = sys.argv.pop(1)

# Name, pipeline and correction. PHOTOS is a folder.
MISTAKES = [
    ("a forgotten !",
     "spdlsrc location=PHOTOS spdlfetch ! spdldecode ! spdlbatch ! spdlsink",
     ['write "!"', "spdlsrc ... ! spdlfetch"]),
    ("! !",
     "spdlsrc location=PHOTOS ! ! spdlfetch ! spdldecode ! spdlsink",
     ['"spdlsrc location=PHOTOS ! !"', "remove one"]),
    ("a wrong value of an enumeration",
     "spdlsrc location=PHOTOS ! spdlfetch output-order=inptu ! spdldecode "
     "! spdlbatch ! spdlsink",
     ["output-order=input?", "completion, input"]),
    ("an array without <...>",
     "spdlsrc location=PHOTOS ! spdlfetch ! spdldecode ! spdlbatch "
     "dtype=float32 mean=0.485,0.456,0.406 ! spdlsink",
     ['mean="<0.485,0.456,0.406>"']),
    ("a number out of range",
     "spdlsrc location=PHOTOS ! spdlfetch ! spdldecode width=-3 ! spdlbatch "
     "! spdlsink",
     ["width", "from 0 to 2147483647"]),
    ("spdlbatch without a decoder",
     "spdlsrc location=PHOTOS ! spdlfetch ! spdlbatch ! spdlsink",
     ['"! spdldecode !"']),
    ("a misspelt property",
     "spdlsrc location=PHOTOS ! spdlfetch ! spdldecode widht=64 ! spdlbatch "
     "! spdlsink",
     ['"width"?']),
    ("a misspelt element",
     "spdlsrc location=PHOTOS ! spdlfecth ! spdldecode ! spdlbatch "
     "! spdlsink",
     ['"spdlfetch"?']),
    ("a path with a space",
     "spdlsrc location=PHOTOS/my dogs ! spdlfetch ! spdldecode ! spdlbatch "
     "! spdlsink",
     ['location="PHOTOS/my dogs"']),
    ("properties with a comma between them",
     "spdlsrc location=PHOTOS ! spdlfetch ! spdldecode width=64,height=64 "
     "! spdlbatch ! spdlsink",
     ["width=64 height=64"]),
    ("spdlbatch right after spdlsrc",
     "spdlsrc location=PHOTOS ! spdlbatch ! spdlsink",
     ["spdlsrc ! spdlfetch ! spdldecode ! spdlbatch"]),
    ("a number in single quotes",
     "spdlsrc location=PHOTOS ! spdlfetch ! spdldecode ! spdlbatch batch-size='8' "
     "! spdlsink",
     ["batch-size=8"]),
]


class MistakeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.photos = str(pathlib.Path(cls.temporary.name) / "photos")
        subprocess.run(["/usr/bin/python3", MAKE_DATASET, "--count", "8",
                        cls.photos], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_all(self, locale, split):
        texts = []
        for name, job, words in MISTAKES:
            job = job.replace("PHOTOS", self.photos)
            done = launch(*(job.split() if split else [job]),
                          env={**os.environ, "LC_ALL": locale})
            with self.subTest(name, locale=locale):
                self.assertIn(done.returncode, (1, 2), done.stdout)
                text = done.stderr.replace(self.photos, "PHOTOS")
                texts.append(text)
                for word in words:
                    self.assertIn(word, text)
                # The error is one line, without a warning of GLib.
                self.assertRegex(text, r"\Aerror: [^\n]+\n\Z")
        return texts

    def test_suggestions(self):
        texts = self.run_all("C", split=False)
        self.assertEqual(len(texts), len(MISTAKES))
        for (name, job, _), text in zip(MISTAKES, texts):
            print(f"\n{name}\n  {job}\n  {text}", end="")

    def test_command_line_arguments(self):
        self.run_all("C", split=True)

    def test_translated_messages(self):
        """Tests a German locale, in which GStreamer's messages are translated
        if the translation is installed."""
        texts = self.run_all("de_DE.UTF-8", split=False)
        print("\nIn German:", *texts, sep="\n  ", end="")

    def test_suggestions_work(self):
        for job in [
                "spdlsrc location=PHOTOS ! spdlfetch output-order=input "
                "! spdldecode width=64 height=64 ! spdlbatch batch-size=8 "
                'dtype=float32 mean="<0.485,0.456,0.406>" ! spdlsink']:
            done = launch(job.replace("PHOTOS", self.photos))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_set_option(self):
        """Tests the errors of --set."""
        job = f"spdlsrc location={self.photos} ! spdlfetch ! spdlsink"
        done = launch("--set", "fetch.concurrency=-1", job)
        self.assertEqual(done.returncode, 2)
        self.assertIn("fetch.concurrency", done.stderr)

    def test_open_end(self):
        """Tests that an spdlsink is appended only at the end of the pipeline."""
        done = launch("spdlsrc location=x spdlfetch ! spdldecode")
        self.assertEqual(done.returncode, 2)
        self.assertIn("spdlsrc ... ! spdlfetch", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
