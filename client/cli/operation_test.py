"""Reductions, scans and histograms with their options, against NumPy."""

import io
import json
import math

import numpy as np

from cli_case import CommandLineTest, HOUR


class OperationTest(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        random = np.random.default_rng(7)
        cls.matrix = random.integers(-1000, 1000, (37, 53)).astype(np.int32)
        cls.samples = random.normal(0, 1, 5000)

    def test_axes(self):
        path = self.save("matrix.npy", self.matrix)
        for axis in (0, 1):
            statistics = self.reduce(path, "--axis", axis, stat="sum,max,argmin")
            self.assertEqual(statistics["sum"], self.matrix.sum(axis).tolist())
            self.assertEqual(statistics["max"], self.matrix.max(axis).tolist())
            self.assertEqual(statistics["argmin"], self.matrix.argmin(axis).tolist())
            values = self.json("scan", path, "--axis", axis)["result"]["values"]
            self.assertEqual(values, self.matrix.cumsum(axis).ravel().tolist())

    def test_arrays_of_any_number_of_dimensions(self):
        array = np.random.default_rng(8).integers(-99, 99, (3, 4, 2, 5)).astype(np.int16)
        path = self.save("array.npy", array)
        for axes in [(0,), (1,), (-1,), (0, 2), (3, 1), (-3, 2), (0, 1, 3), (0, 1, 2, 3)]:
            with self.subTest(axes):
                arguments = ("reduce", path, "--axis", ",".join(map(str, axes)), "--stat",
                             "sum,max")
                answer = self.json(*arguments)
                expected = array.sum(axes)
                self.assertEqual(answer["result_shape"], list(expected.shape))
                self.assertEqual(answer["statistics"]["sum"], expected.ravel().tolist())
                self.assertEqual(answer["statistics"]["max"], array.max(axes).ravel().tolist())
                kept = self.json(*arguments, "--keep-dimensions")
                self.assertEqual(kept["result_shape"],
                                 list(array.sum(axes, keepdims=True).shape))
        for axis in (0, 1, 2, 3, -2):
            result = self.json("scan", path, "--axis", axis, "--rows", 0)["result"]
            self.assertEqual(result["shape"], list(array.shape))
            self.assertEqual(result["values"], array.cumsum(axis).ravel().tolist())
#Groups are named by their indices.
        self.assertIn(b"2, 1  ", self.succeed("reduce", path, "--axis", "0,3", "--stat", "sum"))
#As a stream where rows are enough, and else not .
        self.assertEqual(self.reduce(path, "--axis", "1,2,3", "--stream", stat="sum")["sum"],
                         array.sum((1, 2, 3)).tolist())
        self.expect_failure(1, "--axis", "reduce", path, "--axis", "1", "--stream")
        self.expect_failure(1, "--axis", "scan", path, "--axis", "0,1")
        scalar = self.json("reduce", self.save("scalar.npy", np.float32(2.5)), "--stat", "sum")
        self.assertEqual((scalar["input"]["shape"], scalar["result_shape"],
                          scalar["statistics"]["sum"]), ([], [], [2.5]))
        self.assertEqual(self.json("reduce", path, "--shape", "24,5", "--axis", "0", "--stat",
                                   "sum")["result_shape"], [5])

    def test_segments(self):
        path = self.save("vector.npy", self.matrix.ravel())
        offsets = [0, 10, 10, 1000, self.matrix.size]
        expected = [self.matrix.ravel()[a:b].sum() for a, b in zip(offsets, offsets[1:])]
        as_list = ",".join(map(str, offsets))
        as_file = self.save("offsets.npy", np.array(offsets))
        as_text = self.folder / "offsets.txt"
        as_text.write_text("\n".join(map(str, offsets)))
        for segments in (as_list, as_file, as_text):
            self.assertEqual(self.reduce(path, "--segments", segments, stat="sum"),
                             {"sum": expected})

    def test_sample_variance(self):
        path = self.save("samples.npy", self.samples)
        self.assertAlmostEqual(self.reduce(path, "--ddof", 1, stat="variance")["variance"][0],
                               self.samples.var(ddof=1), places=12)
        self.assertEqual(self.reduce(path, stat="sum")["sum"], [math.fsum(self.samples)])

    def test_degrees_of_freedom_that_are_no_whole_number(self):
        path = self.save("samples.npy", self.samples)
        for ddof in (1.5, -0.25, -3):
            self.assertAlmostEqual(self.reduce(path, "--ddof", ddof, stat="std")
                                   ["standard_deviation"][0], self.samples.std(ddof=ddof),
                                   places=12)

    def test_output_types(self):
        values = np.random.default_rng(8).normal(0, 1, (50, 7)).astype(np.float32)
        path = self.save("floats.npy", values)
        exact = np.array([math.fsum(column) for column in values.T.astype(np.float64)])
        written = self.folder / "sums.npy"
        for dtype in (np.float16, np.float32):
            arguments = (path, "--axis", 0, "--output-type", np.dtype(dtype).name)
            expected = exact.astype(dtype)
            # As few digits as tell a value from others of its type, which NumPy writes too.
            shown = [float(str(value)) for value in expected]
            self.assertEqual(self.reduce(*arguments, stat="sum,count"),
                             {"sum": shown, "count": [50] * 7})
            self.assertEqual(self.reduce(*arguments, "--stream", stat="sum"), {"sum": shown})
            self.succeed("reduce", *arguments, "--stat", "sum", "--output", written)
            self.assertEqual(np.load(written).dtype, dtype)
            np.testing.assert_array_equal(np.load(written), expected)
        text = self.succeed("reduce", self.save("one.npy", np.full(3, 0.1, np.float32)), "--stat",
                            "mean", "--output-type", "float32").decode()
        self.assertIn("mean  0.1\n", text)
        large = self.save("large.npy", np.full(2, 40_000, np.float32))
        self.assertEqual(self.reduce(large, "--output-type", "float16", stat="sum,max"),
                         {"sum": ["Infinity"], "max": [40_000.0]})
        integers = self.save("integers.npy", np.array([1, 2], np.int8))
        self.assertEqual(self.reduce(integers, "--output-type", "float32", stat="sum,mean"),
                         {"sum": [3], "mean": [1.5]})
        self.expect_failure(1, "--output-type: none of the statistics", "reduce", integers, "--stat",
                            "sum", "--output-type", "float32")
        self.expect_failure(1, "--output-type: is no floating-point type", "reduce", path, "--stat",
                            "sum", "--output-type", "int64")

    def test_groups_without_values(self):
        path = self.save("vector.npy", np.array([3, 1, 2], np.int32))
        arguments = (path, "--segments", "0,0,2,3", "--ddof", 1)
        self.expect_failure(1, "group 0 is empty", "reduce", *arguments, "--stat", "max")
        self.assertEqual(self.reduce(*arguments, "--empty", "null", stat="max,var,sum,argmin"),
                         {"max": [None, 3, 2], "variance": [None, 2.0, None], "sum": [0, 4, 2],
                          "argmin": [None, 1, 0]})
        self.assertEqual(self.reduce(*arguments, "--empty", "nan", stat="mean,var"),
                         {"mean": ["NaN", 2.0, 2.0], "variance": ["NaN", 2.0, "NaN"]})
        self.assertEqual(self.reduce(*arguments, "--empty", "-7", stat="max,mean"),
                         {"max": [-7, 3, 2], "mean": [-7.0, 2.0, 2.0]})
        self.expect_failure(1, "--empty: does not fit", "reduce", *arguments, "--stat", "max",
                            "--empty", "0.5")
        self.expect_failure(1, "--empty: not in streams", "reduce", *arguments, "--stat", "max",
                            "--empty", "null", "--stream")
        self.assertIn(b"null", self.succeed("reduce", *arguments, "--empty", "null", "--stat",
                                            "max"))

    def test_masks(self):
        array = np.random.default_rng(9).integers(-99, 99, (3, 4, 5)).astype(np.int16)
        path = self.save("array.npy", array)
        masks = {"full": array % 3 != 0, "rows": array[0] % 2 == 0, "last": np.arange(5) > 1}
        for name, mask in masks.items():
            where = self.save(f"{name}.npy", mask)
            for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
                with self.subTest((name, axes)):
                    axis = ",".join(map(str, axes))
                    statistics = self.reduce(path, "--axis", axis, "--where", where, "--empty",
                                             "null", stat="sum,count,max")
                    self.assertEqual(statistics["sum"], array.sum(axes, where=mask).ravel()
                                     .tolist())
                    counts = np.broadcast_to(mask, array.shape).sum(axes).ravel()
                    self.assertEqual(statistics["count"], counts.tolist())
                    largest = array.max(axes, where=mask, initial=-1000).ravel().tolist()
                    self.assertEqual(statistics["max"], [value if count else None for value, count
                                                         in zip(largest, counts.tolist())])
            values = self.json("scan", path, "--axis", 2, "--where", where, "--rows", 0)["result"]
            self.assertEqual(values["values"],
                             np.where(mask, array, 0).cumsum(2).ravel().tolist())
        full = self.folder / "full.npy"
        counts = self.json("histogram", path, "--bins", 10, "--where", full)
        self.assertEqual(sum(counts["channels"][0]["counts"]), int(masks["full"].sum()))
        bins = ("--bins", 10, "--range", "0,100", "--where", full)
        self.assertEqual(self.json("histogram", path, *bins, "--stream")["channels"],
                         self.json("histogram", path, *bins)["channels"])
        self.succeed("array", "put", "mask", full)
        self.assertEqual(self.reduce(path, "--where-array", "mask", stat="sum")["sum"],
                         [array.sum(where=masks["full"])])
        self.assertEqual(self.reduce(path, "--initial", 50, "--axis", "0", stat="max")["max"],
                         array.max(0, initial=50).ravel().tolist())
        self.expect_failure(1, "--where: ", "reduce", path, "--where",
                            self.save("wrong.npy", np.ones((2, 5), bool)))
        self.expect_failure(4, "--where: ", "reduce", path, "--where", path)
        self.expect_failure(1, "--initial: ", "reduce", path, "--stat", "sum", "--initial", 1e6)
        self.assertEqual(self.reduce(path, "--where", full, "--axis", "0", "--stream",
                                     stat="sum,count"),
                         self.reduce(path, "--where", full, "--axis", "0", stat="sum,count"))
        self.expect_failure(1, "where: ", "reduce", path, "--where",
                            self.save("wrong.npy", np.ones((2, 5), bool)), "--stream")

    def test_truth_values(self):
        truths = self.samples > 0
        path = self.save("truths.npy", truths)
        self.assertEqual(self.json("reduce", path)["input"]["element_type"], "bool")
        statistics = self.reduce(path, stat="sum,mean,min,max,any")
        self.assertEqual(statistics, {"sum": [truths.sum()], "mean": [truths.mean()],
                                      "min": [False], "max": [True], "any": [True]})
        self.assertEqual(self.reduce(path, "--stream", stat="sum,max"),
                         {"sum": [truths.sum()], "max": [True]})
        output = self.folder / "seen.npy"
        self.succeed("scan", path, "--op", "max", "--output", output)
        np.testing.assert_array_equal(np.load(output), np.maximum.accumulate(truths))
        raw = self.folder / "raw.bin"
        raw.write_bytes(b"\x00\x01\x02")
        self.expect_failure(1, "neither 0 nor 1", "reduce", raw, "--type", "bool")

    def test_special_values(self):
        path = self.save("special.npy", np.array([1, np.nan, np.inf]))
        self.assertEqual(self.reduce(path, stat="sum,nan_count"),
                         {"sum": ["NaN"], "nan_count": [1]})
        self.assertEqual(self.reduce(path, "--ignore-nan", stat="sum"), {"sum": ["Infinity"]})

    def test_overflow(self):
        path = self.save("large.npy", np.array([2**63 - 1, 1]))
        result = self.expect_failure(1, "does not fit", "reduce", path, "--stat", "sum", "--json")
        self.assertEqual(json.loads(result.stdout)["error"]["code"], "OUT_OF_RANGE")
        self.assertEqual(self.reduce(path, "--wrap", stat="sum"), {"sum": [-2**63]})

    def test_scan_options(self):
        array = np.array([3, 1, 2], np.int32)
        path = self.save("small.npy", array)
        scan = lambda *flags: self.json("scan", path, *flags)["result"]
        self.assertEqual(scan("--exclusive")["values"], [0, 3, 4])
        self.assertEqual(scan("--reverse")["values"], [6, 3, 2])
        self.assertEqual(scan("--op", "max")["values"], [3, 3, 3])
        self.assertEqual(scan("--op", "product")["values"], [3, 3, 6])
        self.assertEqual(scan("--window", "2")["values"], [3, 4, 3])
        self.assertEqual(scan("--op", "mean")["values"], [3, 2, 2])
        self.assertEqual(scan("--op", "mean", "--window", "2", "--min-count", "2")["values"],
                         ["NaN", 2, 1.5])
        self.expect_failure(1, "--window", "scan", path, "--op", "max", "--window", "2")
        self.assertEqual(scan()["element_type"], "int64")
        self.assertEqual(scan("--output-type", "int32")["element_type"], "int32")

    def test_scan_output(self):
        path = self.save("matrix.npy", self.matrix)
        output = self.folder / "out.npy"
        self.succeed("scan", path, "--axis", 1, "--output", output)
        np.testing.assert_array_equal(np.load(output), self.matrix.cumsum(1))
        piped = self.succeed("scan", path, "--axis", 1, "--output", "-")
        np.testing.assert_array_equal(np.load(io.BytesIO(piped)), self.matrix.cumsum(1))
        raw = self.folder / "out.bin"
        self.succeed("scan", path, "--axis", 1, "--output", raw)
        self.assertEqual(raw.read_bytes(), self.matrix.cumsum(1).tobytes())

    def test_bin_kinds(self):
        path = self.save("samples.npy", self.samples)
        counts = lambda *flags: self.json("histogram", path, *flags)["channels"][0]["counts"]
        self.assertEqual(counts(), np.histogram(self.samples, 10)[0].tolist())
        self.assertEqual(counts("--bins", 33), np.histogram(self.samples, 33)[0].tolist())
        for rule in ("auto", "fd", "scott", "rice", "sturges", "sqrt"):
            self.assertEqual(counts("--bins", rule), np.histogram(self.samples, rule)[0].tolist())
            self.assertEqual(counts("--bins", rule, "--range=-0.5,1"),
                             np.histogram(self.samples, rule, (-0.5, 1))[0].tolist())
        refused = self.run_cli("histogram", path, "--bins", "doane")
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"nor one of auto, fd, scott", refused.stderr)
        edges = [-np.inf, -1, 0.25, np.inf]
        self.assertEqual(counts("--edges", "-inf,-1,0.25,inf"),
                         np.histogram(self.samples, edges)[0].tolist())
        positive = self.save("positive.npy", np.abs(self.samples) + 0.01)
        answer = self.json("histogram", positive, "--log", "--bins", 7, "--range", "0.01,10")
        self.assertEqual(answer["channels"][0]["counts"],
                         np.histogram(np.load(positive), answer["bins"][0]["edges"])[0].tolist())

    def test_integer_bins_of_channels(self):
        pixels = np.random.default_rng(1).integers(0, 256, 3000).astype(np.uint8)
        answer = self.json("histogram", self.save("pixels.npy", pixels), "--integer", 0, "--bins",
                           256, "--channels", 3)
        for channel in range(3):
            self.assertEqual(answer["channels"][channel]["counts"],
                             np.bincount(pixels[channel::3], minlength=256).tolist())

    def test_integer_bins_beyond_int64(self):
        first = 2**64 - 6
        samples = self.save("large.npy", np.array([first, first + 5, first + 5, 3], np.uint64))
        for bins in (["--integer", first, "--bins", 6], ["--layout", f"integer:{first}:6"]):
            channel = self.json("histogram", samples, *bins)["channels"][0]
            self.assertEqual(channel["counts"], [1, 0, 0, 0, 0, 2])
            self.assertEqual(channel["underflow_count"], 1)
        self.assertIn(b"18,446,744,073,709,551,615",
                      self.succeed("histogram", samples, "--integer", first, "--bins", 6))

    def test_equal_samples_of_any_size(self):
        for x in (2.0**53, 1e16, 1.7e18, np.finfo(np.float64).max, -np.finfo(np.float32).max):
            answer = self.json("histogram", self.save("equal.npy", np.full(7, x)), "--bins", 10)
            edges = answer["bins"][0]["edges"]
            self.assertEqual(sum(answer["channels"][0]["counts"]), 7)
            self.assertTrue(all(a < b for a, b in zip(edges, edges[1:])))
            self.assertTrue(np.isfinite(edges).all() and edges[0] <= x <= edges[-1])

    def test_two_dimensions_sparse(self):
        answer = self.json("histogram", HOUR, "--y", HOUR, "--layout", "even:24:0:24", "--layout",
                           "even:12:0:24", "--sparse")
        hours = np.load(HOUR).astype(np.float64)
        expected, _, _ = np.histogram2d(hours, hours, [np.arange(25), np.arange(0, 25, 2)])
        dense = np.zeros(24 * 12)
        channel = answer["channels"][0]
        dense[channel["bin_indices"]] = channel["counts"]
        np.testing.assert_array_equal(dense.reshape(24, 12), expected)
        self.assertNotIn(0, channel["counts"])

    def test_clamp_weights_and_quantiles(self):
        path = self.save("samples.npy", self.samples)
        clamped = self.json("histogram", path, "--bins", 4, "--range", "-1,1", "--clamp")
        self.assertEqual(sum(clamped["channels"][0]["counts"]), self.samples.size)
        weights = self.save("weights.npy", np.arange(self.samples.size))
        weighted = self.json("histogram", path, "--bins", 4, "--range", "-1,1", "--weights",
                             weights)
        self.assertEqual(
            weighted["channels"][0]["weight_sums"],
            np.histogram(self.samples, 4, (-1, 1), weights=np.load(weights))[0].tolist())
        quantiles = self.json("histogram", path, "--bins", 10000, "--quantiles", "0.5,0.9")
        for quantile in quantiles["channels"][0]["quantiles"]:
            self.assertAlmostEqual(quantile["value"],
                                   np.quantile(self.samples, quantile["probability"]), places=2)
