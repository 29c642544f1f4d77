#!/usr/bin/python3
# gst-spdl: tests of the example trainers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first arguments are tools/make-dataset and the folder of examples. A test
is skipped if its trainer is missing."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import unittest

from support import ROOT, launch_ranks, make_dataset, make_folder

EXAMPLES = pathlib.Path(sys.argv.pop(1))
N = 24
FOLDER = make_dataset(N)
N_CLASSES = sum(path.is_dir() for path in FOLDER.iterdir())
OPTIONS = "--size=32", "--batch-size=4", "--epochs=2"


def run_script(path, *arguments):
    done = subprocess.run(
        [sys.executable, path, *map(str, arguments)], cwd=path.parent,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "USE_LIBUV": "0"},
        capture_output=True, text=True, timeout=200, check=False)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


def run(name, *arguments):
    return run_script(EXAMPLES / name, *arguments, *OPTIONS)


class Needs(unittest.TestCase):
    def need(self, *names):
        for name in names:
            if not importlib.util.find_spec(name):
                self.skipTest(f"{name} is missing")

    def need_ranks(self):
        self.need("torch")
        import torch.distributed as dist
        if not (dist.is_available() and dist.is_gloo_available()):
            self.skipTest("PyTorch is built without gloo")


class TrainersTest(Needs):
    def test_two_ranks(self):
        self.need_ranks()
        text = launch_ranks(2, EXAMPLES / "train_ranks.py", FOLDER, FOLDER,
                            *OPTIONS, folder=make_folder())
        found = re.findall(r"epoch (\d): \d+ of (\d+) right on 2 ranks", text)
        self.assertEqual(found, [("0", str(N)), ("1", str(N))])

    def test_lightning(self):
        self.need("torch", "pytorch_lightning")
        for n in 1, 2:
            text = run("train_lightning.py", FOLDER, FOLDER,
                       f"--classes={N_CLASSES}", f"--devices={n}")
            self.assertIn(f"{2 * N // 4 // n} steps on {n} ranks", text)

    def test_accelerate(self):
        self.need_ranks()
        self.need("accelerate")
        for n in 1, 2:
            text = launch_ranks(n, EXAMPLES / "train_accelerate.py", FOLDER,
                                *OPTIONS, folder=make_folder())
            self.assertIn(f"epoch 1: {N // n} images on each of {n} ranks",
                          text)

    def test_hf_trainer(self):
        self.need_ranks()
        self.need("transformers", "accelerate")
        for n in 1, 2:
            out = make_folder()
            arguments = FOLDER, FOLDER, out, *OPTIONS, "--save-steps=2"
            # The first run ends within the second epoch.
            steps = N // 4 // n
            for last in steps + 2, 2 * steps:
                text = launch_ranks(n, EXAMPLES / "train_hf_trainer.py",
                                    *arguments, f"--max-steps={last}",
                                    folder=make_folder())
                self.assertIn(f"{last} steps, {N} images on {n} ranks", text)
            # All batches of two epochs were delivered.
            states = json.loads(
                (out / f"checkpoint-{last}" / "data.json").read_text())["spdl"]
            for state in states if isinstance(states, list) else [states]:
                self.assertIn(",epoch=2,mark=0,", state)

    def test_jax(self):
        self.need("jax")
        text = run("train_jax.py", FOLDER)
        self.assertEqual(re.findall(r"epoch (\d)", text), ["0", "1"])


class AccelerateTest(Needs):
    """The loaders that Accelerate and Trainer make."""

    def read(self, n_ranks, *options):
        """Returns the classes and the batches of each rank."""
        out = make_folder()
        launch_ranks(n_ranks, ROOT / "tests" / "python" / "accelerate_rank.py",
                     out, *options, folder=make_folder())
        found = [json.loads((out / f"{rank}.json").read_text())
                 for rank in range(n_ranks)]
        kinds, batches = set(), []
        for value in (value for rank in found for job in rank for value in job):
            if isinstance(value, str):
                kinds.add(value)
            else:
                batches.append(value)
        return kinds, batches

    def test_same_batches(self):
        self.need_ranks()
        self.need("accelerate", "transformers")
        for n in 1, 2:
            kinds, expected = self.read(n)
            self.assertEqual(kinds, {"torch.utils.data.dataloader"})
            kinds, found = self.read(n, "use")
            self.assertEqual(kinds, {"gstspdl._dataloader.dataloader"})
            self.assertEqual(found, expected)

    def test_replaced(self):
        """A loader of ours does not become PyTorch's in silence."""
        self.need("torch", "accelerate")
        for use, expected in ("", "1 torch.utils"), ("use", "0 gstspdl"):
            text = run_script(ROOT / "tests/python/accelerate_replaced.py", use)
            self.assertIn(expected, text)


def make_chats(folder):
    """Makes conversations, and a small model with a tokenizer of letters."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    (folder / "chats").mkdir()
    for i in range(20):
        (folder / f"chats/{i}.json").write_text(json.dumps([
            {"role": "user", "text": f"{i} and {i}?" * (i % 4 + 1)},
            {"role": "assistant", "text": str(2 * i) * (i % 3 + 1)}]))
    letters = ["</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({name: i for i, name in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>",
                            pad_token="</s>").save_pretrained(folder / "model")
    torch.manual_seed(0)
    LlamaForCausalLM(LlamaConfig(
        vocab_size=len(letters), hidden_size=32, intermediate_size=32,
        num_hidden_layers=1, num_attention_heads=2)).save_pretrained(folder / "model")


class PagesTest(Needs):
    """The scripts of the pages in docs/how-to, with small images and batches.
    They run twice: the second time for one more epoch."""

    def write(self, page, name):
        """Writes a script of a page into a new folder."""
        text = (ROOT / "docs" / "how-to" / page).read_text()
        script = re.search(rf"as\s+`{name}`:\n\n((?:    .*\n|\n)+)", text)[1]
        path = make_folder() / name
        path.write_text(textwrap.dedent(script))
        return path

    def save(self, page, name):
        """Writes a script of a page with the data."""
        path = self.write(page, name)
        self.change(path, "64, 32\n", "32, 4\n")
        for link in "train", "val":
            (path.parent / link).symlink_to(FOLDER)
        return path

    def change(self, path, old, new):
        script = path.read_text()
        self.assertIn(old, script)
        path.write_text(script.replace(old, new))

    def launch(self, path, n_ranks):
        return launch_ranks(n_ranks, path, folder=make_folder(),
                            cwd=path.parent)

    def test_pytorch(self):
        self.need_ranks()
        path = self.save("distributed.md", "train.py")
        expected = rf"epoch (\d): \d+ of {N} right"
        self.assertEqual(re.findall(expected, self.launch(path, 2)),
                         ["0", "1", "2"])
        self.change(path, "BATCH = 3,", "BATCH = 5,")
        # Between two epochs, the number of ranks may change.
        self.assertEqual(re.findall(expected, self.launch(path, 1)),
                         ["3", "4"])

    def test_lightning(self):
        self.need("torch", "lightning")
        import torch
        path = self.save("lightning.md", "train.py")
        self.assertIn(f"{3 * N // 4} steps", run_script(path))
        # This checkpoint is within the third epoch.
        folder = path.parent / "checkpoints"
        (folder / "epoch=2-step=15.ckpt").rename(folder / "last.ckpt")
        self.change(path, "BATCH = 3,", "BATCH = 4,")
        self.assertIn(f"{N} steps", run_script(path))
        saved = torch.load(folder / "epoch=3-step=20.ckpt")["Images"]
        self.assertIn(",epoch=3,", saved["spdl"])
        self.assertEqual(saved["batches"], 2)

    def test_trainer(self):
        self.need_ranks()
        self.need("transformers", "accelerate")
        path = self.save("hugging-face.md", "trainer.py")
        for n_epochs in 3, 4:
            self.change(path, "num_train_epochs=3",
                        f"num_train_epochs={n_epochs}")
            text = run_script(path)
            self.assertIn("eval_accuracy", text)

    def test_trl(self):
        """A run that resumes has the losses of one that does not."""
        self.need_ranks()
        self.need("trl", "transformers", "accelerate")
        found = []
        for steps in [5], [3, 5]:
            path = self.write("pack-tokens.md", "chat.py")
            make_chats(path.parent)
            self.change(path, '"Qwen/Qwen3-0.6B", 4096, 2, 1000', '"model", 256, 2, 0')
            self.change(path, "save_steps=100, logging_steps=10",
                        "save_steps=3, logging_steps=1, use_cpu=True, bf16=False, "
                        "lr_scheduler_type='constant'")
            for before, step in zip([0, *steps], steps):
                self.change(path, f"256, 2, {before}", f"256, 2, {step}")
                run_script(path)
            saved = path.parent / "out/checkpoint-5"
            log = json.loads((saved / "trainer_state.json").read_text())["log_history"]
            found.append(([entry["loss"] for entry in log if "loss" in entry],
                          (saved / "rows.json").read_text()))
        self.assertEqual(len(found[0][0]), 5)
        self.assertEqual(*found)

    def test_accelerate(self):
        self.need_ranks()
        self.need("accelerate")
        path = self.save("hugging-face.md", "accelerated.py")
        self.change(path, "Accelerator()", "Accelerator(cpu=True)")
        expected = r"epoch (\d): loss \d"
        self.assertEqual(re.findall(expected, self.launch(path, 2)),
                         ["0", "1", "2"])
        self.change(path, "BATCH = 3,", "BATCH = 4,")
        self.assertEqual(re.findall(expected, self.launch(path, 2)), ["3"])

    def test_jax(self):
        self.need("jax")
        path = self.save("jax.md", "train.py")
        expected = r"epoch (\d): loss \d"
        self.assertEqual(re.findall(expected, run_script(path)),
                         ["0", "1", "2"])
        self.change(path, "BATCH = 3,", "BATCH = 4,")
        self.assertEqual(re.findall(expected, run_script(path)), ["3"])


if __name__ == "__main__":
    unittest.main()
