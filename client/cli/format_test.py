"""Formats that are recognised by their first bytes: compressed files, archives, layouts of .npy."""

import gzip
import io
import json
import os
import shutil
import subprocess
import unittest
import zipfile

import numpy as np

from cli_case import CommandLineTest


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


class FormatTest(CommandLineTest):
    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def both_ways(self, *arguments, **options):
        """The sums of a file, which are the same when it is streamed."""
        sums = self.reduce(*arguments, stat="count,sum", **options)
        self.assertEqual(self.reduce(*arguments, "--stream", stat="count,sum", **options), sums)
        return sums["count"][0], sums["sum"][0]

    def test_gzip(self):
        values = np.arange(100_000)
        text = "\n".join(["v", *map(str, values)]).encode()
        expected = (100_000, int(values.sum()))
        for name in ("a.csv", "a.csv.gz", "A.CSV.GZ"):
            self.assertEqual(self.both_ways(self.write(name, gzip.compress(text))), expected)
        array = gzip.compress(npy(values))
        self.assertEqual(self.both_ways(self.write("a.npy.gz", array)), expected)
        self.assertEqual(self.both_ways("-", stdin=array), expected)
        raw = gzip.compress(values.tobytes()[:1600]) + gzip.compress(values.tobytes()[1600:])
        self.assertEqual(self.both_ways("-", "--type", "int64", stdin=raw), expected)
        for size in (2, 11, 5000, len(array) - 1):
            self.expect_failure(4, "" if size < 3 else "cut off", "reduce",
                                self.write("cut.npy.gz", array[:size]))
        damaged = bytearray(array)
        damaged[-6] ^= 1
        self.expect_failure(4, "damaged", "reduce", self.write("bad.npy.gz", damaged))
        self.assertEqual(
            self.reduce(self.write("r", array), "--format", "raw", "--type", "uint8",
                        stat="count")["count"], [len(array)])
        self.expect_failure(4, "nothing in it", "reduce", self.write("e.csv", gzip.compress(b"")))

    @unittest.skipUnless(shutil.which("zstd"), "no zstd")
    def test_zstd(self):
        values = np.arange(100_000, dtype=np.float32)

        def compress(content, *options):
            return subprocess.run(["zstd", "-c", *options], input=content, capture_output=True,
                                  check=True).stdout
        array = compress(npy(values)[:1000]) + compress(npy(values)[1000:], "-19")
        self.assertEqual(self.both_ways(self.write("a.npy.zst", array)), (100_000, values.sum(
            dtype=np.float64)))
        text = compress(b"v\n1\n2\n")
        self.assertEqual(self.both_ways(self.write("a.csv.zst", text)), (2, 3))
        self.expect_failure(4, "cut off", "reduce", self.write("cut.npy.zst", array[:-1]))

    def test_archives(self):
        a, b = np.arange(10), np.linspace(0, 1, 5)
        for name, save in (("s.npz", np.savez), ("c.npz", np.savez_compressed)):
            path = self.folder / name
            save(path, a=a, b=b)
            self.assertEqual(self.both_ways(path, "--member", "a"), (10, 45))
            self.assertEqual(self.both_ways(path, "--member", "b.npy"), (5, 2.5))
            self.assertEqual(self.both_ways("-", "--member", "a", stdin=path.read_bytes()), (10, 45))
            result = subprocess.run(f"cat {path} | $CLI reduce - --member a --stat sum --json",
                                    shell=True, capture_output=True, timeout=60, env=self.shell())
            self.assertEqual(json.loads(result.stdout)["statistics"], {"sum": [45]})
            self.expect_failure(4, "--member: a, b", "reduce", path)
            self.expect_failure(4, "no 'c', only: a, b", "reduce", path, "--member", "c")
            self.expect_failure(4, "cut off", "reduce",
                                self.write("cut.npz", path.read_bytes()[:-30]), "--member", "a")
            answer = self.json("histogram", path, "--member", "a", "--weights-member", "a",
                               "--bins", 2, "--range", "0,10")
            self.assertEqual(answer["channels"][0]["weight_sums"], [10, 35])
        one = self.folder / "one.npz"
        np.savez(one, x=a)
        self.assertEqual(self.both_ways(one), (10, 45))
        with zipfile.ZipFile(self.folder / "text.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", "v\n1\n2\n")
        self.assertEqual(self.both_ways(self.folder / "text.zip"), (2, 3))
        with zipfile.ZipFile(self.folder / "bz.npz", "w", zipfile.ZIP_BZIP2) as archive:
            archive.writestr("a.npy", npy(a))
        self.expect_failure(4, "method 12", "reduce", self.folder / "bz.npz")

    def shell(self):
        return dict(os.environ, CLI=os.environ["GRIDFOLD_CLI_BINARY"],
                    GRIDFOLD_SERVER=self.server.target)

    def test_layouts_of_npy(self):
        matrix = np.arange(12, dtype=np.int32).reshape(3, 4)
        big = self.save("big.npy", matrix.astype(">i4"))
        self.assertEqual(self.reduce(big, "--axis", 0, stat="sum")["sum"],
                         matrix.sum(axis=0).tolist())
        for array in (np.asfortranarray(matrix), np.asfortranarray(matrix.astype(">f8"))):
            path = self.save("fortran.npy", array)
            for more in ((), ("--stream", "--chunk-bytes", "9")):
                self.assertEqual(self.reduce(path, "--axis", 1, *more, stat="sum")["sum"],
                                 matrix.sum(axis=1).tolist())
                self.assertEqual(self.reduce(path, *more, stat="argmax")["argmax"], [11])
        self.succeed("scan", self.save("f.npy", np.asfortranarray(matrix)), "--output",
                     self.folder / "sums.npy")
        np.testing.assert_array_equal(np.load(self.folder / "sums.npy").ravel(),
                                      matrix.ravel().cumsum())
        self.assertEqual(self.both_ways(self.save("bool.npy", matrix > 4)), (12, 7))
        self.assertEqual(self.both_ways(self.save("scalar.npy", np.float64(2.5))), (1, 2.5))
        self.assertEqual(self.both_ways(self.save("cube.npy", np.ones((2, 3, 4))), "--shape",
                                        "6,4"), (24, 24))
        bits = (np.array([1.0, 2.5, -3.0], np.float32).view(np.uint32) >> 16).astype("<u2")
        bfloat16 = self.save("bfloat16.npy", bits.view("V2"))
        self.assertEqual(self.both_ways(bfloat16, "--type", "bfloat16"), (3, 0.5))
        self.expect_failure(4, "--type bfloat16", "reduce", bfloat16)

    def test_what_is_not_read_is_named(self):
        arrays = {"complex": np.array([1j]), "objects": np.array([None], object),
                  "dates": np.array(["2020-01-01"], "M8[D]"), "text": np.array(["a"]),
                  "structured": np.zeros(2, [("a", "i4")]), "floating-point": np.ones(2, "f16")}
        for message, array in arrays.items():
            for more in ((), ("--stream",)):
                self.expect_failure(4, message, "reduce", self.save("no.npy", array), *more)
        beginnings = {"Parquet": b"PAR1\x15\x04\x15", "Arrow": b"ARROW1\0\0\xff\xff",
                      "HDF5": b"\x89HDF\r\n\x1a\n\0", "xz": b"\xfd7zXZ\0\0",
                      "bzip2": b"BZh91AY&SY\0", "pickle": b"\x80\x04\x95\x10",
                      "Excel": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}
        for message, content in beginnings.items():
            for name in ("no.csv", "no.npy", "no.dat"):
                for more in ((), ("--stream",)):
                    self.expect_failure(4, message, "reduce", self.write(name, content), *more)
            self.expect_failure(4, message, "reduce", "-", stdin=gzip.compress(content))
        for name in ("no.csv", "no.npy", "no.dat"):
            self.expect_failure(4, "empty", "reduce", self.write(name, b""))

    def test_coordinates_of_different_types(self):
        rng = np.random.default_rng(4)
        x = rng.integers(0, 24, 5000).astype(np.int8)
        for y in (rng.normal(size=5000).astype(np.float32), rng.integers(-99, 99, 5000),
                  rng.integers(0, 200, 5000).astype(np.uint16)):
            expected = np.histogram2d(x, y, bins=[6, 4], range=[[0, 24], [-3, 3]])[0]
            arguments = ["histogram", self.save("x.npy", x), "--y", self.save("y.npy", y),
                         "--layout", "even:6:0:24", "--layout", "even:4:-3:3"]
            for more in ((), ("--stream",)):
                answer = self.json(*arguments, *more)
                self.assertEqual(np.ravel(answer["channels"][0]["counts"]).tolist(),
                                 expected.ravel().tolist())
                self.assertEqual(answer["input"]["element_type"], "int8")
        far = self.save("far.npy", np.array([0, 2**53 + 1]))
        real = self.save("real.npy", np.array([0.5, 1.5]))
        for more in ((), ("--stream",)):
            self.expect_failure(4, "is not exact as float64", "histogram", real,
                                "--y", far, "--bins", 2, "--range", "0,1", *more)

    def test_damaged_files_are_errors(self):
        """Each byte of small files of every kind, changed: an answer, or an error of the file."""
        a = np.arange(4, dtype=np.int16)
        archive = io.BytesIO()
        np.savez_compressed(archive, a=a)
        rng = np.random.default_rng(5)
        for content in (npy(a), gzip.compress(npy(a)), archive.getvalue()):
            for _ in range(25):
                damaged = bytearray(content)
                damaged[rng.integers(len(damaged))] ^= int(rng.integers(1, 256))
                result = self.run_cli("reduce", "-", "--stat", "count", stdin=bytes(damaged))
                self.assertIn(result.returncode, (0, 4), result.stderr)
