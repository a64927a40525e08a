"""gridfold describe, against NumPy."""

import fractions
import gzip

import numpy as np

from cli_case import CommandLineTest, DELAY

BINS = 1024


class DescribeTest(CommandLineTest):
    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def check(self, described, values):
        """That an array's description is what NumPy says of the values."""
        numbers = values[~np.isnan(values)]
        statistics = {name: value[0] for name, value in described["statistics"].items()}
        self.assertEqual(statistics["count"], numbers.size)
        self.assertEqual(statistics["nan_count"], values.size - numbers.size)
        self.assertEqual(statistics["min"], numbers.min())
        self.assertEqual(statistics["max"], numbers.max())
        self.assertEqual(statistics["mean"], float(sum(map(fractions.Fraction, numbers)) / numbers.size))
        self.assertAlmostEqual(statistics["standard_deviation"], numbers.std(),
                               delta=1e-9 * numbers.std())
        width = (numbers.max() - numbers.min()) / BINS
        for quantile in described["quantiles"]:
            # Of the elements on either side of the rank; NumPy's default lies between them.
            exact = [np.quantile(numbers, quantile["probability"], method=method)
                     for method in ("lower", "higher")]
            self.assertLessEqual(min(abs(quantile["value"] - value) for value in exact), width)
        self.assertEqual(described["counts"], np.histogram(numbers, described["edges"])[0].tolist())

    def columns(self):
        generator = np.random.default_rng(5)
        delay = generator.normal(0, 30, 5_000).round(3)
        delay[::7] = np.nan
        hour = generator.integers(0, 24, 5_000)
        text = "delay,carrier,hour\n" + "".join(
            f"{'NA' if np.isnan(d) else d},{'AA' if h % 2 else 'UA'},{h}\n"
            for d, h in zip(delay, hour))
        return text, delay, hour.astype(float)

    def test_every_column(self):
        text, delay, hour = self.columns()
        path = self.write("flights.csv", text)
        described = self.json("describe", path, "--missing", "NA")
        self.assertEqual([array["name"] for array in described["arrays"]],
                         ["delay", "carrier", "hour"])
        self.check(described["arrays"][0], delay)
        self.assertEqual(described["arrays"][1], {"name": "carrier"})
        self.check(described["arrays"][2], hour)
        self.assertEqual(described["arrays"][2]["input"]["element_type"], "int64")

    def test_some_columns_and_compressed(self):
        text, delay, hour = self.columns()
        path = self.folder / "flights.csv.gz"
        path.write_bytes(gzip.compress(text.encode()))
        described = self.json("describe", path, "--column", "hour", "--column", "1",
                              "--missing", "NA")["arrays"]
        self.assertEqual([array["name"] for array in described], ["delay", "hour"])
        self.check(described[0], delay)
        self.check(described[1], hour)
        self.expect_failure(4, "--column", "describe", path, "--column", "hours")

    def test_arrays_and_archives(self):
        values = np.load(DELAY).astype(float)
        described, = self.json("describe", DELAY)["arrays"]
        self.check(described, values)
        path = self.folder / "results.npz"
        np.savez(path, scores=np.arange(10.0), matrix=np.arange(6, dtype=np.float32).reshape(2, 3))
        described = self.json("describe", path)["arrays"]
        self.assertEqual([array["name"] for array in described], ["scores", "matrix"])
        self.check(described[0], np.arange(10.0))
        self.check(described[1], np.arange(6.0))
        described, = self.json("describe", path, "--member", "scores")["arrays"]
        self.check(described, np.arange(10.0))

    def test_arrays_without_numbers(self):
        described, = self.json("describe", self.save("nan.npy", np.full(3, np.nan)))["arrays"]
        self.assertEqual(described["statistics"]["count"], [0])
        self.assertNotIn("counts", described)
        described, = self.json("describe", self.save("inf.npy", np.full(3, np.inf)))["arrays"]
        self.assertEqual(described["statistics"]["max"], ["Infinity"])
        described, = self.json("describe", self.save("empty.npy", np.zeros(0)))["arrays"]
        self.assertNotIn("statistics", described)

    def test_the_table(self):
        path = self.write("table.csv", "x,word\n1,a\n2,b\n2,c\n4,d\n")
        text = self.succeed("describe", path).decode()
        self.assertRegex(text, r"(?m)^x +int64 +4 +0 +1 +4 +2\.25 +1\.08")
        self.assertRegex(text, r"(?m)^word +text *$")
        self.assertIn("(max - min) / 1024", text)
        self.assertEqual(self.json("describe", self.write("bare.csv", "1,2\n3,4\n"))["arrays"][1]
                         ["name"], "2")

    def test_all_of_a_pipe_is_described(self):
        values = np.arange(2_000, dtype=np.float32)
        npy = self.save("values.npy", values).read_bytes()
        for stdin, options in ((npy, ()), (gzip.compress(npy), ()),
                               (values.tobytes(), ("--type", "float32"))):
            described, = self.json("describe", "-", *options, stdin=stdin)["arrays"]
            self.check(described, values.astype(float))

    def test_a_pipe_of_columns_is_refused(self):
        self.expect_failure(4, "it takes a file", "describe", "-", "--format", "csv", stdin=b"1\n2\n")
