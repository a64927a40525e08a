"""HDF5 files, as h5py writes them, against NumPy."""

import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import time
import unittest

import numpy as np

from cli_case import CommandLineTest

try:
    import h5py
except ImportError:
    h5py = None

READER = pathlib.Path(os.environ["GRIDFOLD_CLI_BINARY"]).parent / "gridfold_hdf5"
TYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")


@unittest.skipIf(h5py is None or not READER.exists(), "no h5py, or built without the HDF5 library")
class Hdf5Test(CommandLineTest):
    def write(self, name="file.h5", **datasets):
        path = self.folder / name
        with h5py.File(path, "w") as file:
            for key, given in datasets.items():
                array, options = given if isinstance(given, tuple) else (given, {})
                file.create_dataset(key.replace("__", "/"), data=array, **options)
        return path

    def stored(self, path, *arguments, **options):
        """The elements as the server has them."""
        self.succeed("array", "put", "stored", path, *arguments, **options)
        out = self.folder / "stored.npy"
        self.succeed("array", "get", "stored", "--output", out)
        self.succeed("array", "delete", "stored")
        return np.load(out)

    def test_every_type_in_both_byte_orders(self):
        for name in TYPES:
            for order in "<>":
                array = np.arange(-6, 6).astype(order + name).reshape(3, 4)
                with self.subTest(type=name, order=order):
                    read = self.stored(self.write(one=array))
                    self.assertEqual(read.dtype, array.dtype.newbyteorder("<"))
                    np.testing.assert_array_equal(read, array)

    def test_what_is_stored_otherwise(self):
        flags = np.array([True, False, True])
        np.testing.assert_array_equal(self.stored(self.write(flags=flags)), flags)
        kinds = np.array([3, 500, 3], np.int16)
        path = self.write(kinds=(kinds, {"dtype": h5py.enum_dtype({"a": 3, "b": 500}, ">i2")}))
        np.testing.assert_array_equal(self.stored(path), kinds)
        path = self.folder / "three.h5"
        with h5py.File(path, "w") as file:
            three_bytes = h5py.h5t.STD_I32LE.copy()
            three_bytes.set_precision(24)
            three_bytes.set_size(3)
            space = h5py.h5s.create_simple((4,))
            values = np.array([-8_388_608, -1, 0, 8_388_607], np.int32)
            h5py.h5d.create(file.id, b"x", three_bytes, space).write(h5py.h5s.ALL, h5py.h5s.ALL, values)
        np.testing.assert_array_equal(self.stored(path), values)
        self.assertEqual(self.reduce(self.write(scalar=np.float64(2.5)), stat="sum")["sum"], [2.5])
        self.assertEqual(self.stored(self.write(none=np.zeros((0, 3)))).shape, (0, 3))

    def test_chunks_filters_and_dimensions(self):
        generator = np.random.default_rng(38)
        for shape, chunks in (((1000,), (7,)), ((50, 60), (7, 11)), ((9, 8, 7, 6), (2, 3, 2, 5)),
                              ((2,) * 8, (1,) * 8), ((3, 2_000_000), (2, 70_000))):
            array = generator.normal(size=shape)
            for options in ({"compression": "gzip", "shuffle": True}, {"fletcher32": True}, {}):
                with self.subTest(shape=shape, options=options):
                    if array.nbytes > 10_000_000 and "shuffle" not in options:
                        continue
                    path = self.write(x=(array, {"chunks": chunks, **options}))
                    np.testing.assert_array_equal(self.stored(path), array)
        # A filter that is not the library's own.
        other = self.write(x=(np.zeros((100, 100)), {"compression": "lzf"}))
        self.expect_failure(4, "HDF5: its elements cannot be read", "reduce", other)
        path = self.folder / "partly.h5"
        with h5py.File(path, "w") as file:
            dataset = file.create_dataset("x", (100,), "i4", chunks=(10,), fillvalue=7)
            dataset[20:30] = 1
        self.assertEqual(self.reduce(path, stat="sum")["sum"], [90 * 7 + 10])

    def test_datasets_are_chosen_by_name(self):
        path = self.write(a=np.arange(5), group__b=np.arange(7.0), text=np.array([b"x"]))
        for flag in ("--dataset", "--member"):
            self.assertEqual(self.reduce(path, flag, "/group/b", stat="sum")["sum"], [21])
        self.assertEqual(self.reduce(path, "--dataset", "a", stat="count")["count"], [5])
        self.expect_failure(4, "2 datasets; choose one with --dataset: /a, /group/b", "reduce", path)
        self.expect_failure(4, "there is no dataset 'c'", "reduce", path, "--dataset", "c")
        self.expect_failure(4, "its elements are text", "reduce", path, "--dataset", "text")
        self.expect_failure(4, "there is no dataset '/group'", "reduce", path, "--dataset", "/group")
        described = self.json("describe", path)["arrays"]
        self.assertEqual([array["name"] for array in described], ["/a", "/group/b"])
        answer = self.json("group", path, "--key-member", "a", "--member", "a", "--op", "count")
        self.assertEqual(answer["keys"], [0, 1, 2, 3, 4])
        self.expect_failure(4, "holds int64, not float32", "reduce", path, "--dataset", "a",
                            "--type", "float32")

    def test_pipes_compressed_files_and_user_blocks(self):
        array = np.arange(100_000.0)
        path = self.write(x=array)
        self.assertEqual(self.reduce("-", stat="sum", stdin=path.read_bytes())["sum"], [array.sum()])
        packed = self.folder / "packed.h5.gz"
        packed.write_bytes(gzip.compress(path.read_bytes(), 1))
        self.assertEqual(self.reduce(packed, stat="sum")["sum"], [array.sum()])
        block = self.folder / "block.mat"
        with h5py.File(block, "w", userblock_size=512) as file:
            file["x"] = array
        with open(block, "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file")
        self.assertEqual(self.reduce(block, stat="sum")["sum"], [array.sum()])

    def test_streams_take_little_memory(self):
        count = 80_000_000  # 640 MB that take no place in the file.
        path = self.folder / "long.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("x", (count,), "f8", chunks=(100_000,), fillvalue=0.5)
        output = self.folder / "answer.json"
        peak_kib = 0
        with open(output, "wb") as file:
            process = subprocess.Popen(
                [os.environ["GRIDFOLD_CLI_BINARY"], "reduce", path, "--stream", "--stat", "sum,count",
                 "--json"], env=dict(os.environ, GRIDFOLD_SERVER=self.server.target), stdout=file)
            self.addCleanup(process.kill)
            end = time.monotonic() + 100
            while process.poll() is None and time.monotonic() < end:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                peak_kib = max([peak_kib, *map(int, re.findall(r"VmHWM:\s*(\d+)", status))])
                time.sleep(0.01)
        self.assertEqual(process.poll(), 0)
        answer = json.loads(output.read_text())
        self.assertEqual(answer["statistics"], {"sum": [count / 2], "count": [count]})
        self.assertGreater(peak_kib, 0)
        self.assertLess(peak_kib, 400_000)

    def test_other_files_are_not_opened(self):
        outside = self.write("outside.h5", x=np.arange(3))
        path = self.folder / "links.h5"
        raw = self.folder / "raw.bin"
        raw.write_bytes(bytes(80))
        with h5py.File(path, "w") as file:
            file["away"] = h5py.ExternalLink(str(outside), "/x")
            file.create_dataset("raw", (10,), "f8", external=[(str(raw), 0, 80)])
            layout = h5py.VirtualLayout((3,), "i8")
            layout[:] = h5py.VirtualSource(str(outside), "x", (3,))
            file.create_virtual_dataset("virtual", layout)
        self.expect_failure(4, "there is no dataset 'away'", "reduce", path, "--dataset", "away")
        for name in ("raw", "virtual"):
            self.expect_failure(4, "are in other files", "reduce", path, "--dataset", name)

    def test_damage_is_named(self):
        array = np.random.default_rng(1).integers(0, 9, (60, 50))
        path = self.write(x=(array, {"chunks": (7, 11), "compression": "gzip", "fletcher32": True}))
        whole = path.read_bytes()
        bad = self.folder / "bad.h5"
        generator = random.Random(38)
        for trial in range(60):
            content = bytearray(whole)
            if trial % 3 == 0:
                del content[generator.randrange(600, len(content)):]
            else:
                # Mostly in the headers, which are what the library has to believe.
                end = 3000 if trial % 3 == 1 else len(content)
                for _ in range(generator.randrange(1, 6)):
                    content[generator.randrange(8, end)] = generator.randrange(256)
            bad.write_bytes(content)
            result = self.run_cli("reduce", bad, "--stat", "sum", "--json")
            if result.returncode == 0:
                continue
            with self.subTest(trial=trial):
                self.assertEqual(result.returncode, 4, result.stderr)
                self.assertRegex(result.stderr.decode(), r"bad\.h5: (HDF5: |\.npy: |the file is)")
