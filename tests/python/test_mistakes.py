#!/usr/bin/python3
# gst-spdl: tests of messages about common mistakes in a loader's pipeline
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import copy
import locale
import os
import pathlib
import pickle
import re
import sys
import unittest

from errors import raises_with
from support import make_dataset, needs_gi, require_gi

from gstspdl import (Batch, Loader, LoaderError, Pipeline, decode,
                     merge_states, reshard_states)

FOLDER = make_dataset(8)

# Gst.ParseError
PARSE_ERROR = "gst_parse_error"
SYNTAX, NO_SUCH_ELEMENT, NO_SUCH_PROPERTY, LINK, COULD_NOT_SET = range(5)

# Pipeline, error code of GStreamer and correction.
MISTAKES = [
    (f"spdlsrc location={FOLDER} spdlfetch ! spdldecode ! spdlbatch "
     "! spdlsink", LINK, "spdlsrc ... ! spdlfetch"),
    (f"spdlsrc location={FOLDER} ! ! spdlfetch ! spdldecode ! spdlsink",
     SYNTAX, "! !"),
    (f"spdlsrc location={FOLDER} ! spdlfetch output-order=inptu ! spdlsink",
     COULD_NOT_SET, "completion, input"),
    (f"spdlsrc location={FOLDER} ! spdlfetch ! spdldecode ! spdlbatch "
     "mean=0.5,0.5,0.5 ! spdlsink", COULD_NOT_SET,
     'mean="<0.5,0.5,0.5>"'),
    (f"spdlsrc location={FOLDER} ! spdlfetch ! spdldecode width=-3 "
     "! spdlsink", COULD_NOT_SET,
     "from 0 to 2147483647"),
    (f"spdlsrc location={FOLDER} ! spdlfetch ! spdldecode widht=3 "
     "! spdlsink", NO_SUCH_PROPERTY, '"width"'),
    (f"spdlsrc location={FOLDER} ! spdlfecth ! spdldecode ! spdlsink",
     NO_SUCH_ELEMENT, '"spdlfetch"'),
    (f"spdlsrc location={FOLDER}/my dogs ! spdlfetch ! spdlsink",
     NO_SUCH_ELEMENT, f'location="{FOLDER}/my dogs"'),
    (f"spdlsrc location={FOLDER} ! spdlfetch ! spdldecode width=8,height=8 "
     "! spdlsink", COULD_NOT_SET,
     "width=8 height=8"),
    (f"spdlsrc location={FOLDER} ! spdlbatch ! spdlsink",
     LINK, "spdlsrc ! spdlfetch ! spdldecode ! spdlbatch"),
    (f"spdlsrc location='{FOLDER}' ! spdlfetch ! spdldecode ! spdlsink",
     COULD_NOT_SET, f'location="{FOLDER}"'),
]


def can_load(element):
    """Returns whether an element of that name exists."""
    try:
        Loader(f"{element} ! spdlsink")
    except LoaderError as error:
        return not error.__cause__.matches(PARSE_ERROR, NO_SUCH_ELEMENT)
    return True


class MistakeTest(unittest.TestCase):
    def assert_all_explained(self):
        for description, code, words in MISTAKES:
            with self.subTest(description):
                with raises_with("pipeline-error", words) as raised:
                    Loader(description)
                cause = raised.exception.__cause__
                self.assertTrue(cause.matches(PARSE_ERROR, code))

    def test_suggestions(self):
        self.assert_all_explained()

    def test_translated_messages(self):
        """Tests a German locale, in which GStreamer's messages are translated
        if the translation is installed."""
        try:
            locale.setlocale(locale.LC_MESSAGES, "de_DE.UTF-8")
        except locale.Error:
            self.skipTest("no de_DE.UTF-8")
        try:
            self.assert_all_explained()
        finally:
            locale.setlocale(locale.LC_MESSAGES, "C")

    def test_missing_link_with_a_source(self):
        with raises_with(None, "spdlfetch ... ! spdldecode"):
            Loader("spdlfetch spdldecode ! spdlbatch ! spdlsink",
                   source=["a.jpg"])

    def test_no_source(self):
        """Tests a pipeline without a source, in which no "!" is missing."""
        with raises_with("source"):
            Loader("spdlfetch ! spdldecode ! spdlbatch ! spdlsink")

    def test_folder_as_pipeline(self):
        for folder in str(FOLDER), f"{FOLDER}/", os.path.relpath(FOLDER):
            with raises_with("pipeline-error", f"spdlsrc location={folder} !"):
                Loader(folder)

    def test_arguments(self):
        line = f"spdlsrc location={FOLDER} ! spdlfetch ! spdlsink"
        for make, words in [
                (lambda: Loader(None), "NoneType"),
                (lambda: Loader(3), "int"),
                (lambda: Loader(FOLDER), "Path"),
                (lambda: Loader(line.encode()), "bytes"),
                (lambda: Loader(Pipeline), "the class Pipeline"),
                (lambda: Loader(Loader(line)), "Loader"),
                (lambda: Loader(line, process="yes"), "str"),
                (lambda: Loader(line, process=3), "int"),
                (lambda: Loader(line, max_failures="x"), "max_failures"),
                (lambda: Loader(line, max_failures=1.5), "max_failures"),
                (lambda: Loader(line, state=3), "int"),
                (lambda: Loader(line, classes=3), "int"),
                (lambda: Loader("spdlfetch ! spdlsink", source=str(FOLDER)),
                 "spdlsrc location="),
                (lambda: Loader(line).next("a"), "timeout"),
                (lambda: Loader(line).set_epoch(0.5), "epoch"),
                (lambda: Loader(line).map(None, bytes), "None"),
                (lambda: Loader(line).route(3, bytes), "3"),
                (lambda: copy.copy(Loader(line)), "Loader"),
                (lambda: pickle.dumps(Loader(line)), "Loader"),
                (lambda: Batch.new(3, None), "Gst.Buffer"),
                (lambda: Batch.new(b"abc", "video/x-raw"), "Gst.Buffer"),
                (lambda: decode("a.jpg"), "open(path"),
                (lambda: decode(3), "open(path"),
                (lambda: merge_states(3), "int")]:
            with self.assertRaisesRegex(TypeError, re.escape(words)):
                make()

    def test_ranges(self):
        """Numbers that do not fit into the library's integers."""
        line = f"spdlsrc location={FOLDER} ! spdlfetch ! spdlsink"
        loader = Loader(line)
        for make, words in [
                (lambda: loader.next(-5), "timeout"),
                (lambda: loader.next(2**64), "timeout"),
                (lambda: loader.set_epoch(-1), "epoch"),
                (lambda: loader.set_epoch(2**64), "epoch"),
                (lambda: Loader(line, max_failures=2**31), "max_failures"),
                (lambda: Loader(line, max_failures=-2), "max_failures"),
                (lambda: Loader(line, rank=2**32, world_size=2**33), "rank"),
                (lambda: decode(b"", epoch=-1), "epoch"),
                (lambda: decode(b"", index=2**64), "index"),
                (lambda: reshard_states([], 2**32), "world_size")]:
            with self.assertRaisesRegex(ValueError, words):
                make()

    def test_no_decoder(self):
        paths = sorted(map(str, FOLDER.glob("*/*.jpg")))
        data = pathlib.Path(paths[0]).read_bytes()
        for pipeline, more in [
                (f"spdlsrc location={FOLDER} ! spdlfetch ! spdlbatch", {}),
                ("spdlbatch", {"source": paths}),
                ("spdlbatch", {"source": [data]}),
                ("spdlbatch", {"source": [data], "caps": "image/jpeg"})]:
            with self.subTest(pipeline, more=more):
                with raises_with(None, "spdldecode !") as raised, \
                        Loader(pipeline + " ! spdlsink", **more) as loader:
                    list(loader)
                self.assertEqual(raised.exception.__cause__.domain,
                                 "gst-stream-error-quark")

    @needs_gi
    def test_error_codes(self):
        Gst, _ = require_gi()
        for code, nick in enumerate(["syntax", "no-such-element",
                                     "no-such-property", "link",
                                     "could-not-set-property"]):
            self.assertEqual(Gst.ParseError(code).value_nick, nick)
        with self.assertRaises(LoaderError) as raised:
            Loader(MISTAKES[0][0])
        self.assertTrue(raised.exception.__cause__.matches(
            Gst.ParseError.quark(), LINK))
        self.assertEqual(raised.exception.__cause__.domain, PARSE_ERROR)

    def test_worker_process(self):
        if not can_load("spdlworkersrc"):
            self.skipTest("no spdlworkersrc")
        for description, words in [
                (f"spdlsrc location={FOLDER} spdlfetch ! spdldecode "
                 "! spdlbatch ! spdlsink", "spdlsrc ... ! spdlfetch"),
                (f"spdlsrc location={FOLDER} ! spdlfetch ! spdldecode "
                 "width=-3 ! spdlbatch ! spdlsink", "from 0 to 2147483647"),
                (f"spdlsrc location={FOLDER} ! spdlfetch ! spdldecode "
                 "! spdlbatch ! spdlsink max-buffer=3", "max-buffers")]:
            with self.subTest(description):
                with raises_with(None, words), \
                        Loader(description, process=True) as loader:
                    list(loader)

    def test_decode(self):
        with raises_with(None, '"width"'):
            decode(b"", widht=8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
