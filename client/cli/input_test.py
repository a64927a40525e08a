"""Every input format, and files that make no sense."""

import io

import numpy as np

from cli_case import CommandLineTest


class InputTest(CommandLineTest):
    def test_every_element_type(self):
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                     "float16", "float32", "float64"):
            array = (np.arange(1000) % 100).astype(name)
            with self.subTest(name):
                self.assertEqual(self.reduce(self.save("a.npy", array), stat="sum,max"),
                                 {"sum": [49500], "max": [99]})
                (self.folder / "a.bin").write_bytes(array.tobytes())
                self.assertEqual(self.reduce(self.folder / "a.bin", "--type", name, stat="sum"),
                                 {"sum": [49500]})

    def test_bfloat16(self):
        bits = np.array([1.0, 2.5, -3.0], np.float32).view(np.uint32) >> 16
        (self.folder / "b.bin").write_bytes(bits.astype(np.uint16).tobytes())
        self.assertEqual(self.reduce(self.folder / "b.bin", "--type", "bfloat16", stat="sum"),
                         {"sum": [0.5]})

    def test_standard_input(self):
        array = np.arange(10, dtype=np.float32)
        npy = io.BytesIO()
        np.save(npy, array)
        self.assertEqual(self.reduce("-", stat="sum", stdin=npy.getvalue()), {"sum": [45]})
        self.assertEqual(
            self.reduce("-", "--type", "float32", stat="sum", stdin=array.tobytes()), {"sum": [45]})
        self.assertEqual(
            self.reduce("-", "--format", "csv", stat="sum", stdin=b"x\n1\n2.5\n"), {"sum": [3.5]})

    def test_csv(self):
        path = self.folder / "flights.csv"
        path.write_text('carrier,delay,miles\r\n"A, B",-5,100\r\nC,,200\r\nD,7,300\r\n')
        self.assertEqual(self.reduce(path, "--column", "miles", stat="sum"), {"sum": [600]})
        self.assertEqual(
            self.reduce(path, "--column", 2, "--ignore-nan", stat="sum,nan_count"),
            {"sum": [2], "nan_count": [1]})
        answer = self.json("histogram", path, "--column", "delay", "--weights-column", "miles",
                           "--edges", "-10,0,10")
        self.assertEqual(answer["channels"][0]["weight_sums"], [100, 300])
        self.assertEqual(answer["channels"][0]["nan_count"], 1)

    def test_npy_versions(self):
        array = np.arange(6, dtype="<u4").reshape(2, 3)
        for version in ((1, 0), (2, 0), (3, 0)):
            file = io.BytesIO()
            np.lib.format.write_array(file, array, version)
            with self.subTest(version):
                npy = file.getvalue()
                self.assertEqual(self.reduce("-", "--axis", 0, stat="sum", stdin=npy),
                                 {"sum": [3, 5, 7]})

    def test_malformed_files(self):
        whole = self.save("whole.npy", np.arange(4)).read_bytes()
        (self.folder / "short.npy").write_bytes(whole[:-1])
        self.expect_failure(4, "bytes follow", "reduce", self.folder / "short.npy")
        self.expect_failure(4, "9 dimensions", "reduce", self.save("nine.npy", np.ones((1,) * 9)))
        self.expect_failure(4, "'<c16'", "reduce", self.save("complex.npy", np.array([1j])))
        self.expect_failure(4, "No such file", "reduce", self.folder / "missing.npy")
        self.expect_failure(4, "give --type", "reduce", "-", stdin=b"abc")
