#!/usr/bin/python3
# gst-spdl: tests of arrays, compared with NumPy
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, which is not needed."""

import io
import json
import pathlib
import struct
import tempfile
import threading
import unittest
import zipfile

import support

HAS_SAFETENSORS = support.find_packages("safetensors")
HAS_ML_DTYPES = support.find_packages("ml_dtypes")
HAS_TORCH = support.find_packages("torch")

import numpy as np  # noqa: E402
from numpy.lib import format as npy  # noqa: E402
from PIL import Image  # noqa: E402

from gstspdl import Loader, LoaderError, decode  # noqa: E402

TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
         "int64", "uint64", "float16", "float32", "float64"]
SHAPES = [(), (1,), (7,), (3, 5), (1, 4), (4, 1), (2, 3, 4), (2, 1, 3, 1),
          (2,) * 9, (1,) * 14 + (3,)]


def make(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return np.asarray(rng.normal(size=shape)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype.newbyteorder("="),
                        endpoint=True).astype(dtype)


def as_tensor(array):
    """Returns the expected tensor, in the order of the machine's bytes."""
    array = np.asarray(array)
    return array.astype(array.dtype.newbyteorder("="))


def write_npy(array, version=None, fortran=False):
    file = io.BytesIO()
    npy.write_array(file, np.asarray(array, order="F" if fortran else "C"),
                    version, allow_pickle=True)
    return file.getvalue()


def write_npz(arrays, compressed):
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


class Pipe(io.BytesIO):
    """A stream that cannot seek, so sizes come after the data."""

    def seekable(self):
        return False

    def seek(self, *_):
        raise io.UnsupportedOperation


def write_safetensors(arrays):
    """Writes a file according to the format's specification, if the package is
    missing."""
    names = {"bool": "BOOL", "int": "I", "uint": "U", "float": "F"}
    header, data = {"__metadata__": {"made": "by \u00fcs"}}, b""
    for name, array in arrays.items():
        kind = array.dtype.name.rstrip("0123456789")
        bits = array.dtype.name[len(kind):]
        header[name] = {"dtype": names[kind] + bits, "shape": array.shape,
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def load_all(files, settings="output-order=input"):
    """Loads each file as a separate batch."""
    loader = Loader(f"spdldecode {settings} ! spdlsink", source=files)
    with loader:
        return list(loader), loader.failures


class NpyTest(unittest.TestCase):
    def check(self, arrays, files, **settings):
        batches, failures = load_all(files, **settings)
        self.assertEqual(failures, [])
        for array, batch in zip(arrays, batches, strict=True):
            found = batch["data"].numpy()
            np.testing.assert_array_equal(found, as_tensor(array))
            self.assertEqual(found.dtype, as_tensor(array).dtype)
            self.assertTrue(found.flags.aligned)

    def test_all_types_and_shapes(self):
        """Tests types by shapes by byte orders by dimension orders, with the
        format's versions in turn."""
        arrays, files = [], []
        for dtype in TYPES:
            for shape in SHAPES:
                for order in "<>":
                    for fortran in False, True:
                        array = make(np.dtype(dtype).newbyteorder(order),
                                     shape, len(files))
                        version = [(1, 0), (2, 0), (3, 0)][len(files) % 3]
                        arrays.append(array)
                        files.append(write_npy(array, version, fortran))
        for settings in "output-order=input", "concurrency=1":
            self.check(arrays, files, settings=settings)

    def test_large(self):
        for fortran in False, True:
            array = make("float32", (300, 500, 3))
            self.check([array], [write_npy(array, None, fortran)])

    def test_refused_files(self):
        refused = {
            "any objects": np.array([{}, 1], object),
            "any fields": np.zeros(3, [("a", "f4"), ("b", "i4")]),
            "<c8": np.zeros(3, "c8"), "<c16": np.zeros(3, "c16"),
            "S3": np.array([b"abc"]), "<U3": np.array(["abc"]),
            "<M8": np.zeros(3, "M8[s]"), "<m8": np.zeros(3, "m8[s]"),
            "f16": np.zeros(3, np.longdouble), "V5": np.zeros(3, "V5"),
            "16": np.zeros((1,) * 16),
        }
        good = np.zeros(3, "u1")
        batches, failures = load_all(
            [write_npy(array) for array in [*refused.values(), good]])
        self.assertEqual(len(batches), 1)
        failures.sort(key=lambda failure: failure.index)
        for value, failure in zip(refused, failures, strict=True):
            if not value.startswith("any"):
                self.assertIn(value, failure.reason)

    def test_decode(self):
        array = make("int16", (3, 4))
        found = decode(write_npy(array))
        np.testing.assert_array_equal(found, array)
        np.testing.assert_array_equal(
            decode(write_npz({"x": array}, True)), array)
        with self.assertRaisesRegex(LoaderError, "x.*y"):
            decode(write_npz({"x": array, "y": array}, True))
        with self.assertRaises(LoaderError):
            decode(write_npy(array)[:50])

    def test_decode_in_threads(self):
        arrays = [make("float32", (20, i + 1), i) for i in range(40)]
        files = [write_npz({"x": array}, i % 2)
                 for i, array in enumerate(arrays)]
        wrong = []

        def work():
            for array, file in zip(arrays, files):
                if not np.array_equal(decode(file), array):
                    wrong.append(array.shape)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class NamedTest(unittest.TestCase):
    ARRAYS = {f"{dtype} {i}": make(dtype, SHAPES[i % 8], i)
              for i, dtype in enumerate(TYPES)}

    def check(self, file, arrays=None):
        (batch,), failures = load_all([file])
        self.assertEqual(failures, [])
        arrays = arrays or self.ARRAYS
        self.assertEqual(list(batch), list(arrays))
        for name, array in arrays.items():
            found = batch[name].numpy()
            np.testing.assert_array_equal(found, as_tensor(array))
            self.assertEqual(found.dtype, as_tensor(array).dtype)
            self.assertTrue(found.flags.aligned)

    def test_npz(self):
        for compressed in False, True:
            self.check(write_npz(self.ARRAYS, compressed))

    def test_npz_of_other_writers(self):
        """Tests NPZs of zipfile and other writers, also with sizes after the
        data."""
        for packing in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
            for kind in io.BytesIO, Pipe:
                file = kind()
                with zipfile.ZipFile(file, "w", packing) as archive:
                    archive.comment = b"PK\5\6" * 9
                    for name, array in self.ARRAYS.items():
                        archive.writestr(name + ".npy", write_npy(array))
                self.check(file.getvalue())

    def test_npz_with_extra_data(self):
        """Tests gaps, a comment of the maximum length and trailing data."""
        for compressed in False, True:
            plain = write_npz(self.ARRAYS, compressed)
            end = plain.rindex(b"PK\5\6")
            for data in (plain + b"junk" * 1000,
                         plain[:end] + bytes(13) + plain[end:],
                         plain[:-2] + b"\xff\xff" + b"x" * 65535):
                self.check(data)

    def test_safetensors(self):
        self.check(write_safetensors(self.ARRAYS))

    @unittest.skipUnless(HAS_SAFETENSORS, "there is no package safetensors")
    def test_safetensors_of_other_writers(self):
        from safetensors.numpy import save

        # The package sorts by type and name.
        for name, array in self.ARRAYS.items():
            self.check(save({name: array}), {name: array})
        (batch,), _ = load_all([save(self.ARRAYS, {"some": "text"})])
        self.assertEqual(sorted(batch), sorted(self.ARRAYS))
        for name, array in self.ARRAYS.items():
            np.testing.assert_array_equal(
                batch[name].numpy(), as_tensor(array))


class BFloat16Test(unittest.TestCase):
    """Each number is the upper half of a float32."""

    @classmethod
    def setUpClass(cls):
        cls.floats = np.arange(-3, 3, 0.25, dtype="float32").reshape(2, 3, 4)
        cls.bits = (cls.floats.view("uint32") >> 16).astype("uint16")
        safetensors = write_safetensors({"data": cls.bits}).replace(
            b'"U16"', b'"BF16"')
        size, = struct.unpack("<Q", safetensors[:8])
        safetensors = struct.pack("<Q", size + 1) + safetensors[8:]
        arrays = write_npy(cls.bits).replace(b"'<u2'", b"'<V2'")
        cls.batches, cls.failures = load_all([safetensors, arrays])

    def test_type(self):
        self.assertEqual(self.failures, [])
        for batch in self.batches:
            self.assertEqual(batch["data"].dtype, "bfloat16")
            self.assertEqual(batch["data"].shape, (2, 3, 4))

    def test_stacked(self):
        loader = Loader("spdldecode output-order=input ! spdlbatch "
                        "batch-size=2 ! spdlsink",
                        source=[write_npy(self.bits + i).replace(
                            b"'<u2'", b"'<V2'") for i in range(2)])
        with loader:
            (batch,) = list(loader)
        self.assertEqual(batch["data"].dtype, "bfloat16")
        self.assertEqual(batch["data"].shape, (2, 2, 3, 4))

    @unittest.skipUnless(HAS_TORCH, "there is no package torch")
    def test_pytorch(self):
        import torch

        for batch in self.batches:
            found = torch.from_dlpack(batch["data"])
            self.assertEqual(found.dtype, torch.bfloat16)
            np.testing.assert_array_equal(found.float().numpy(), self.floats)

    @unittest.skipIf(HAS_ML_DTYPES, "there is a package ml_dtypes")
    def test_numpy_alone(self):
        for convert in np.asarray, lambda tensor: tensor.numpy():
            with self.assertRaisesRegex(TypeError, "ml_dtypes"):
                convert(self.batches[0]["data"])

    @unittest.skipUnless(HAS_ML_DTYPES, "there is no package ml_dtypes")
    def test_ml_dtypes(self):
        from ml_dtypes import bfloat16

        for batch in self.batches:
            for found in np.asarray(batch["data"]), batch["data"].numpy():
                self.assertEqual(found.dtype, bfloat16)
                np.testing.assert_array_equal(found.astype("float32"),
                                              self.floats)
                self.assertEqual(found.ctypes.data, batch["data"].address)
        loader = Loader(
            "spdlpipe name=double ! spdlbatch batch-size=1 ! spdlsink",
            source=[self.floats.astype(bfloat16)])
        loader.map("double", lambda sample: sample["data"].numpy() * 2)
        with loader:
            (batch,) = list(loader)
        self.assertEqual(batch["data"].dtype, "bfloat16")
        np.testing.assert_array_equal(
            batch["data"].numpy().astype("float32")[0], self.floats * 2)


class PipelineTest(unittest.TestCase):
    N = 30

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.samples = [{"image": make("uint8", (6, 5, 3), i),
                        # The values are out of range for any floating-point type.
                        "ids": make("int64", (9,), i)} for i in range(cls.N)]
        for i, sample in enumerate(cls.samples):
            data = (write_safetensors(sample) if i % 3 == 2
                    else write_npz(sample, i % 3))
            (cls.folder / f"{i:03}").write_bytes(
                data if i % 10 != 7 else data[:-40])

    def load(self, batch="", order="input"):
        good = [s for i, s in enumerate(self.samples) if i % 10 != 7]
        loader = Loader(
            f'spdlsrc location="{self.folder}" epochs=1 '
            f"! spdlfetch output-order={order} "
            f"! spdldecode output-order={order} concurrency=3 width=16 "
            f"! spdlbatch batch-size=4 labels=true {batch} ! spdlsink")
        with loader:
            batches = list(loader)
        self.assertEqual(loader.num_failures, self.N // 10)
        return batches, good

    def test_batches(self):
        batches, good = self.load()
        self.assertEqual(list(batches[0]), ["image", "ids", "labels"])
        self.assertEqual(batches[0]["image"].shape, (4, 6, 5, 3))
        for name in "image", "ids":
            np.testing.assert_array_equal(
                np.concatenate([batch[name].numpy() for batch in batches]),
                np.stack([sample[name] for sample in good]))

    def test_any_order(self):
        batches, good = self.load(order="completion")
        indices = [i for batch in batches for i in batch.indices]
        self.assertEqual(sorted(indices),
                         [i for i in range(self.N) if i % 10 != 7])
        found = np.concatenate([batch["ids"].numpy() for batch in batches])
        for i, ids in zip(indices, found):
            np.testing.assert_array_equal(ids, self.samples[i]["ids"])

    def test_conversion_of_first_tensor(self):
        batches, good = self.load('dtype=float32 mean="<0.5>" layout=nchw')
        self.assertEqual(batches[0]["image"].shape, (4, 3, 6, 5))
        self.assertEqual(batches[0]["image"].dtype, "float32")
        self.assertEqual(batches[0]["ids"].dtype, "int64")
        np.testing.assert_allclose(
            batches[0]["image"].numpy()[0].transpose(1, 2, 0),
            good[0]["image"] / 255 - 0.5, atol=1e-6)
        np.testing.assert_array_equal(
            batches[0]["ids"].numpy()[0], good[0]["ids"])

    def test_part_of_a_sample(self):
        """Tests arrays and an encoded image in one sample, each decoded by name."""
        file = io.BytesIO()
        Image.new("RGB", (9, 7), (3, 2, 1)).save(file, "PNG")
        ids, weight = make("int64", (4,)), make("float32", (2, 3))
        loader = Loader(
            "spdldecode part=image ! spdldecode part=x ! spdldecode part=y "
            "! spdlbatch batch-size=2 ! spdlsink", source=[{
                "image": file.getvalue(), "x": write_npy(ids),
                "y": write_npz({"ids": ids, "w": weight}, True)}] * 2)
        with loader:
            (batch,) = loader
        self.assertEqual(loader.failures, [])
        self.assertEqual(list(batch), ["image", "x", "y.ids", "y.w"])
        self.assertEqual(batch["image"].shape, (2, 7, 9, 3))
        for name, array in ("x", ids), ("y.ids", ids), ("y.w", weight):
            np.testing.assert_array_equal(
                batch[name].numpy(), np.stack([array] * 2))

    def test_integers_are_not_scaled(self):
        """Tests that mean and std do not silently scale tokens, and that the
        error names them."""
        line = "spdldecode ! spdlbatch batch-size=2 {} ! spdlsink"
        for settings in 'mean="<0.5>"', "dtype=float32":
            with self.assertRaisesRegex(LoaderError, r"int64 \(9,\)"):
                with Loader(line.format(settings),
                            source=[write_npy(make("int64", (9,)))]) as loader:
                    list(loader)


if __name__ == "__main__":
    unittest.main()
