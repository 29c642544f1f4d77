#!/usr/bin/python3
# gst-spdl: tests of text converted to rows of tokens
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first arguments are tools/make-dataset, which is not needed, and the
folder of examples."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import support

if not support.find_packages("tokenizers"):
    print("SKIP: there is no package tokenizers: tools/setup test gets it from "
          "PyPI, where that can be reached")
    sys.exit(77)

import numpy as np  # noqa: E402

sys.path.insert(0, sys.argv[1])
EXAMPLE = pathlib.Path(sys.argv.pop(1)) / "pack_tokens.py"
import pack_tokens  # noqa: E402

ROWS = 4


def write_texts(folder):
    """Writes paragraphs of the documentation, and special cases."""
    text = "\n\n".join(page.read_text("utf-8") for page in
                       sorted((support.ROOT / "docs").glob("tutorials/*.md")))
    texts = [part for part in text.split("\n\n") if part.strip()]
    texts[10:10] = ["", "😀 naïve — Ωμέγα \u0000", "x" * 3]
    for i, part in enumerate(texts):
        (folder / f"{i:04}.txt").write_bytes(part.encode())
    # One that is longer than a batch, and one that is not UTF-8.
    (folder / "0007-long.txt").write_text(text[:40000], "utf-8")
    (folder / "0009-bad.txt").write_bytes(b"caf\xe9")
    (folder / "README").write_text("not a text of the set", "utf-8")


class TokensTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        write_texts(cls.folder)
        cls.paths = sorted(cls.folder.glob("*.txt"))
        cls.tokenizer = pack_tokens.train(cls.folder, 500)
        cls.packer = pack_tokens.Packer(cls.tokenizer, ROWS)

    def reference(self):
        """Returns batches as plain lists, and the texts in each of them."""
        most = ROWS * 1024
        batches, texts = [[]], [[]]
        for index, path in enumerate(self.paths):
            if path.name == "0009-bad.txt":
                continue
            text = path.read_bytes().decode("utf-8")
            tokens = self.tokenizer.encode(text).ids + [0]
            while tokens:
                piece, tokens = tokens[:most], tokens[most:]
                if len(batches[-1]) + len(piece) > most:
                    batches.append([])
                    texts.append([])
                batches[-1] += piece
                texts[-1].append(index)
        return [batch + [1] * (most - len(batch)) for batch in batches], texts

    def check(self, loader, first=0):
        wanted, texts = self.reference()
        states = []
        with loader:
            for i, batch in enumerate(loader, first):
                self.assertEqual(batch["data"].shape, (ROWS, 1024))
                self.assertEqual(batch["data"].dtype, "int64")
                self.assertEqual(
                    batch["data"].numpy().reshape(-1).tolist(), wanted[i])
                self.assertEqual(list(batch.indices), texts[i])
                self.assertIsNotNone(batch.state)
                states.append(batch.state)
            self.assertEqual(first + len(states), len(wanted))
        return states

    def test_packing_equals_the_reference(self):
        loader = pack_tokens.load(self.folder, self.packer, "epochs=1")
        self.check(loader)
        (failure,) = loader.failures
        self.assertEqual(failure.stage, "tokenize")
        self.assertRegex(failure.uri, "0009-bad.txt$")
        self.assertRegex(failure.reason, "^UnicodeDecodeError")

    def test_resume(self):
        states = self.check(
            pack_tokens.load(self.folder, self.packer, "epochs=1"))
        # Resumes after the long text, as a text that was split would occur again.
        _, texts = self.reference()
        at = next(i for i, part in enumerate(texts) if part[0] > 12)
        self.check(pack_tokens.load(self.folder, self.packer, "epochs=1",
                                    states[at - 1]), at)

    def test_tokens_decode_to_the_texts(self):
        loader = pack_tokens.load(self.folder, self.packer, "epochs=1")
        with loader:
            tokens = np.concatenate([
                batch["data"].numpy().reshape(-1) for batch in loader])
        tokens = tokens[tokens != self.packer.padding]
        ends = np.flatnonzero(tokens == self.packer.end)
        texts = [self.tokenizer.decode(part.tolist()) for part in
                 np.split(tokens, ends)]
        self.assertEqual(texts[-1], "")
        self.assertEqual(texts[:-1], [
            path.read_bytes().decode() for path in self.paths
            if path.name != "0009-bad.txt"])

    def test_script(self):
        saved = self.folder / "tokenizer.json"
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, EXAMPLE, self.folder, saved, "--rows=2"],
                check=True, stdout=subprocess.PIPE, text=True)
            self.assertRegex(
                done.stdout, "failed: .*0009-bad.txt: UnicodeDecodeError.*\n"
                rf"\d+ batches of 2 by 1024 tokens of {len(self.paths) - 1} "
                r"texts, \d+\.\d% padding, [\d,]+ tokens a second")
            self.assertTrue(saved.exists())


if __name__ == "__main__":
    unittest.main()
