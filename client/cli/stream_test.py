"""Arrays that are sent as they are read: the answers are those of one request."""

import numpy as np

from cli_case import CommandLineTest


class StreamTest(CommandLineTest):
    def test_reductions(self):
        rng = np.random.default_rng(1)
        values = rng.normal(size=(1000, 37)).astype(np.float32)
        path = self.save("stream.npy", values)
        stat = "sum,variance,argmin,argmax,count"
        for grouping in [(), ("--axis", "0"), ("--axis", "1")]:
            expected = self.json("reduce", path, "--stat", stat, *grouping)
            for chunk in ["8", "999", "100000000"]:
                streamed = self.json("reduce", path, "--stat", stat, *grouping, "--stream",
                                     "--chunk-bytes", chunk)
                self.assertEqual(streamed["statistics"], expected["statistics"])
                self.assertEqual(streamed["input"], expected["input"])
        raw = self.json("reduce", "-", "--type", "float32", "--stat", stat, "--stream",
                        stdin=values.tobytes())
        self.assertEqual(raw["statistics"],
                         self.json("reduce", path, "--stat", stat)["statistics"])
        self.assertEqual(raw["input"]["shape"], [37000])

    def test_histograms(self):
        rng = np.random.default_rng(2)
        x = self.save("x.npy", rng.normal(size=50000))
        y = self.save("y.npy", rng.normal(size=50000))
        weights = self.save("weights.npy", rng.integers(0, 9, 50000).astype(np.uint8))
        for more in [(), ("--y", y), ("--weights", weights), ("--y", y, "--weights", weights)]:
            arguments = ["histogram", x, "--bins", "20", "--range=-2,2", *more]
            expected = self.json(*arguments)
            streamed = self.json(*arguments, "--stream", "--chunk-bytes", "4096")
            self.assertEqual(streamed["channels"], expected["channels"])

    def test_scans(self):
        values = np.random.default_rng(3).normal(size=500_000)
        path = self.save("values.npy", values)
        self.succeed("scan", path, "--output", self.folder / "whole.npy")
        self.succeed("scan", path, "--stream", "--chunk-bytes", "65537",
                     "--output", self.folder / "streamed.npy")
        whole = (self.folder / "whole.npy").read_bytes()
        self.assertEqual((self.folder / "streamed.npy").read_bytes(), whole)
        self.succeed("scan", "-", "--type", "float64", "--stream", "--output",
                     self.folder / "streamed.bin", stdin=values.tobytes())
        self.assertEqual((self.folder / "streamed.bin").read_bytes(),
                         np.load(self.folder / "whole.npy").tobytes())
        self.assertEqual(self.succeed("scan", path, "--stream", "--output", "-"), whole)
        mask = self.save("mask.npy", values > 0)
        masked = self.succeed("scan", path, "--where", mask, "--output", "-")
        self.assertEqual(self.succeed("scan", path, "--where", mask, "--stream", "--chunk-bytes",
                                      "65537", "--output", "-"), masked)
        self.assertNotEqual(masked, whole)

    def test_what_cannot_be_streamed(self):
        path = self.save("few.npy", np.arange(10.0))
        self.expect_failure(2, "--output with a file of elements is needed", "scan", path, "--stream")
        self.expect_failure(2, "--stream", "reduce", path, "--chunk-bytes", "100")
        self.expect_failure(2, "--array", "reduce", "--array", "x", "--stream")
        self.expect_failure(4, "number of elements", "scan", "-", "--type", "int8", "--stream",
                            "--output", "-", stdin=b"abc")
        cut = self.folder / "cut.npy"
        cut.write_bytes(path.read_bytes()[:-8])
        self.expect_failure(4, "the header promises 10 float64", "reduce", cut, "--stream")
        self.expect_failure(4, "3 bytes are not a whole number", "reduce", "-", "--type", "int16",
                            "--stream", stdin=b"abc")
        result = self.run_cli("histogram", path, "--bins", "3", "--stream")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("--bins: ", result.stderr.decode())
