"""The command line against a real server: the flight data, every input format, the exit codes.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_CLI_BINARY are the programs, GRIDFOLD_SAMPLE_DATA the folder of
the flight data, whose README has the expected numbers. NumPy is the oracle of everything else.
"""

import fractions
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "python"))
import server_process  # noqa: E402

DATA = pathlib.Path(os.environ["GRIDFOLD_SAMPLE_DATA"])
DELAY = str(DATA / "flight_delay_minutes.npy")
DISTANCE = str(DATA / "flight_distance_miles.npy")
HOUR = str(DATA / "flight_departure_hour.npy")

DELAY_BINS = [328, 8724, 88704, 65394, 18184, 7857, 4157, 2410, 1401, 962]


class CommandLineTest(unittest.TestCase):
    server_options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = server_process.ServerProcess(*cls.server_options)
        cls.enterClassContext(cls.server)
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def run_cli(self, *arguments, stdin=None, environment=None):
        variables = dict(os.environ, GRIDFOLD_SERVER=self.server.target, LC_ALL="C.UTF-8")
        variables.update(environment or {})
        return subprocess.run(
            [os.environ["GRIDFOLD_CLI_BINARY"], *map(str, arguments)],
            input=stdin, env=variables, capture_output=True, timeout=120)

    def succeed(self, *arguments, **options):
        result = self.run_cli(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout

    def json(self, *arguments, **options):
        return json.loads(self.succeed(*arguments, "--json", **options))

    def reduce(self, *arguments, stat, **options):
        return self.json("reduce", *arguments, "--stat", stat, **options)["statistics"]

    def save(self, name, array):
        path = self.folder / name
        np.save(path, array)
        return path

    def expect_failure(self, code, message, *arguments, **options):
        result = self.run_cli(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        self.assertIn(message, result.stderr.decode())
        return result


class StreamTest(CommandLineTest):
    """Arrays that are sent as they are read: the answers are those of one request."""

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

    def test_what_cannot_be_streamed(self):
        path = self.save("few.npy", np.arange(10.0))
        self.expect_failure(2, "--output is needed", "scan", path, "--stream")
        self.expect_failure(2, "--stream", "reduce", path, "--chunk-bytes", "100")
        self.expect_failure(2, "--array", "reduce", "--array", "x", "--stream")
        csv = self.folder / "few.csv"
        csv.write_text("1\n2\n")
        self.expect_failure(4, "CSV cannot be streamed", "reduce", csv, "--stream")
        self.expect_failure(4, "number of elements", "scan", "-", "--type", "int8", "--stream",
                            "--output", "-", stdin=b"abc")
        cut = self.folder / "cut.npy"
        cut.write_bytes(path.read_bytes()[:-8])
        self.expect_failure(4, "the header promises 10 float64", "reduce", cut, "--stream")
        self.expect_failure(4, "3 bytes are not a whole number", "reduce", "-", "--type", "int16",
                            "--stream", stdin=b"abc")
        result = self.run_cli("histogram", path, "--bins", "3", "--stream")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("request.bins[0]", result.stderr.decode())


class FlightDataTest(CommandLineTest):
    def test_delay(self):
        statistics = self.reduce(
            DELAY, stat="sum,min,argmin,max,argmax,mean,nonzero_count,count")
        self.assertEqual(statistics, {
            "sum": [1500159], "min": [-86], "argmin": [166523], "max": [1444], "argmax": [199991],
            "mean": [7.500795], "nonzero_count": [192070], "count": [200000]})

    def test_delay_variance_is_rounded_once(self):
        delays = [int(delay) for delay in np.load(DELAY)]
        exact = fractions.Fraction(
            len(delays) * sum(delay**2 for delay in delays) - sum(delays)**2, len(delays)**2)
        variance = self.reduce(DELAY, stat="variance")["variance"][0]
        self.assertEqual(variance, float(exact))
        # NumPy rounds on the way.
        self.assertAlmostEqual(variance, 1022.9571493679751, places=12)

    def test_distance(self):
        self.assertEqual(
            self.reduce(DISTANCE, stat="sum,min,argmin,max,argmax"),
            {"sum": [145847125], "min": [30], "argmin": [141145], "max": [4962],
             "argmax": [33028]})

    def test_hour(self):
        statistics = self.reduce(HOUR, stat="sum,min,argmin,max,argmax")
        self.assertEqual(statistics["sum"], [2755170.1662385147])
        self.assertEqual(statistics["min"], [0.0])
        self.assertEqual(statistics["argmin"], [0])
        self.assertEqual(np.float32(statistics["max"][0]), np.float32(23.983334))
        self.assertEqual(statistics["argmax"], [199974])

    def test_delay_histogram(self):
        answer = self.json("histogram", DELAY, "--bins", 10, "--range", "-60,140")
        self.assertEqual(answer["channels"][0], {
            "counts": DELAY_BINS, "underflow_count": 13, "overflow_count": 1866, "nan_count": 0,
            "quantiles": []})
        self.assertEqual(answer["bins"][0]["edges"], list(range(-60, 141, 20)))

    def test_delay_scan(self):
        values = self.json("scan", DELAY)["result"]["values"]
        self.assertEqual(len(values), 200000)
        self.assertEqual([values[i] for i in (0, 1, 9, 999, -1)], [0, 171, 447, 36454, 1500159])

    def test_tables_for_people(self):
        table = self.succeed("reduce", DELAY).decode()
        self.assertRegex(table, r"sum +1,500,159\n")
        self.assertRegex(table, r"mean +7\.500795\n")
        self.assertIn("round trip", table)
        scan = self.succeed("scan", DELAY).decode()
        self.assertRegex(scan, r"199,999 +1,500,159\n")
        histogram = self.succeed("histogram", DELAY, "--bins", 10, "--range", "-60,140").decode()
        self.assertRegex(histogram, r"\[-20, 0\) +88,704 +█+\n")
        self.assertRegex(histogram, r"\[120, 140\] +962 +[▏▎▍▌▋▊▉█]+\n")
        self.assertRegex(histogram, r"above the bins +1,866\n")

    def test_execution_is_reported(self):
        execution = self.json("reduce", DELAY)["execution"]
        self.assertEqual(execution["engine"], self.server.engine)
        self.assertTrue(execution["strategy"].startswith("reduce/"))
        self.assertEqual(execution["bytes_read"], 400000)
        self.assertGreater(execution["total_time_us"], 0)
        self.assertGreater(execution["round_trip_time_us"], execution["kernel_time_us"])


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
        self.expect_failure(4, "bool", "reduce", self.save("bool.npy", np.array([True])))
        self.expect_failure(4, "big-endian", "reduce",
                            self.save("big.npy", np.arange(3, dtype=">i4")))
        self.expect_failure(4, "Fortran", "reduce",
                  self.save("fortran.npy", np.asfortranarray(np.ones((2, 3)))))
        self.expect_failure(4, "3 dimensions", "reduce", self.save("cube.npy", np.ones((2, 2, 2))))
        self.expect_failure(4, "'<c16'", "reduce", self.save("complex.npy", np.array([1j])))
        self.expect_failure(4, "No such file", "reduce", self.folder / "missing.npy")
        self.expect_failure(4, "give --type", "reduce", "-", stdin=b"abc")


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


class AccumulatorTest(CommandLineTest):
    STATISTICS = "count,sum,min,argmin,max,argmax,mean,variance,l1_norm,l2_norm,nonzero_count"

    def parts(self, array, cuts, command):
        """The accumulators of the parts of an array, as files."""
        paths = []
        for begin, end in zip([0, *cuts], [*cuts, len(array)]):
            part = self.save("part.npy", array[begin:end])
            paths.append(self.folder / f"part{len(paths)}.acc")
            self.succeed(*command(part, begin), "--accumulator", paths[-1])
        return paths

    def test_reductions(self):
        for path in (DELAY, HOUR):
            array = np.load(path)
            parts = self.parts(array, (1, 70_000, 70_000, 150_000), lambda part, begin: (
                "reduce", part, "--stat", self.STATISTICS, "--first-index", begin))
            whole = self.folder / "whole.acc"
            one_call = self.json("reduce", path, "--stat", self.STATISTICS)
            merged = self.json("merge", *reversed(parts), "--output", whole)
            self.assertEqual(merged["statistics"], one_call["statistics"])
            self.assertEqual(merged["input"]["element_count"], len(array))
            self.assertEqual(merged["execution"]["strategy"], "merge/reduction")
            # By a tree, and piped.
            inner = self.succeed("merge", *parts[:2], "--partial", "--output", "-")
            self.assertEqual(
                self.succeed("merge", "-", *parts[2:], "--output", "-", stdin=inner),
                whole.read_bytes())
            self.assertIn("accumulators", self.succeed("merge", *parts).decode())

    def test_columns(self):
        matrix = np.random.default_rng(3).normal(0, 1e6, (50, 7))
        parts = self.parts(matrix, (20,), lambda part, begin: (
            "reduce", part, "--axis", 0, "--stat", "sum,argmax", "--first-index", begin))
        merged = self.json("merge", *parts)["statistics"]
        self.assertEqual(merged["sum"], [math.fsum(column) for column in matrix.T])
        self.assertEqual(merged["argmax"], matrix.argmax(0).tolist())

    def test_histograms(self):
        array = np.load(DELAY)
        flags = ("--bins", 10, "--range", "-60,140", "--quantiles", "0.5")
        parts = self.parts(array, (3, 100_000), lambda part, _: ("histogram", part, *flags))
        merged = self.json("merge", *parts)
        self.assertEqual(merged["channels"], self.json("histogram", DELAY, *flags)["channels"])
        self.assertEqual(merged["channels"][0]["counts"], DELAY_BINS)
        self.assertRegex(self.succeed("merge", *parts).decode(), r"\[-20, 0\) +88,704 ")

    def test_damage_is_named(self):
        part, = self.parts(np.arange(10), (), lambda path, _: ("reduce", path))
        bad = self.folder / "bad.acc"
        bad.write_bytes(part.read_bytes()[:-1])
        self.expect_failure(1, "accumulators[1]", "merge", part, bad)
        self.expect_failure(1, "accumulators[0]: not an accumulator", "merge", DELAY)


class ResidentArrayTest(CommandLineTest):
    def setUp(self):
        random = np.random.default_rng(9)
        self.samples = random.normal(0, 1e3, 300_001).astype(np.float32)
        self.path = self.save("samples.npy", self.samples)
        self.succeed("array", "put", "samples", self.path)
        self.addCleanup(self.run_cli, "array", "delete", "samples")

    def get(self, reference):
        return np.load(io.BytesIO(self.succeed("array", "get", reference, "--output", "-")))

    def test_what_is_put_can_be_got(self):
        np.testing.assert_array_equal(self.get("samples"), self.samples)
        np.testing.assert_array_equal(self.get("samples[299998:3]"), self.samples[-3:])
        self.assertEqual(self.get("samples[5:0]").size, 0)
        shown = self.json("array", "show", "samples")["array"]
        self.assertEqual((shown["element_type"], shown["shape"], shown["size_bytes"],
                          shown["device"]), ("float32", [300_001], 1_200_004, 0))

    def test_slices_have_the_answers_of_files(self):
        for first, count in ((0, 300_001), (1, 77_777), (299_999, 2)):
            path = self.save("slice.npy", self.samples[first:first + count])
            reference = f"samples[{first}:{count}]"
            stat = "sum,mean,variance,l2_norm,argmax"
            self.assertEqual(self.reduce("--array", reference, stat=stat),
                             self.reduce(path, stat=stat))
            self.assertEqual(
                self.json("histogram", "--array", reference, "--weights-array", reference,
                          "--bins", 20)["channels"],
                self.json("histogram", path, "--weights", path, "--bins", 20)["channels"])

    def test_scans_from_and_to_arrays(self):
        self.succeed("scan", "--array", "samples[1:1000]", "--to-array", "sums")
        self.addCleanup(self.run_cli, "array", "delete", "sums")
        path = self.save("slice.npy", self.samples[1:1001])
        expected = self.json("scan", path)["result"]["values"]
        np.testing.assert_array_equal(self.get("sums"), np.array(expected, np.float32))
        self.succeed("scan", "--array", "sums", "--op", "max", "--in-place")
        np.testing.assert_array_equal(
            self.get("sums"), np.maximum.accumulate(np.array(expected, np.float32)))

    def test_parts_are_written_where_they_belong(self):
        matrix = np.arange(12, dtype=np.int32).reshape(4, 3)
        self.succeed("array", "create", "m", "--type", "int32", "--shape", "4,3", "--device", 0)
        self.addCleanup(self.run_cli, "array", "delete", "m")
        self.succeed("array", "write", "m", self.save("part.npy", matrix[2:]), "--first", 6)
        np.testing.assert_array_equal(self.get("m[2:2]"), matrix[2:])
        np.testing.assert_array_equal(self.get("m[0:2]"), np.zeros((2, 3), np.int32))
        self.expect_failure(1, "first_element", "array", "write", "m",
                            self.save("part.npy", matrix), "--first", 1)
        self.expect_failure(1, "int64", "array", "write", "m",
                            self.save("part.npy", matrix.astype(np.int64)))

    def test_names(self):
        self.expect_failure(1, "samples", "array", "put", "samples", self.path)
        self.assertEqual([array["name"] for array in self.json("array", "list")["arrays"]],
                         ["samples"])
        other = {"GRIDFOLD_TENANT": "other"}
        self.assertEqual(self.json("array", "list", environment=other)["arrays"], [])
        failed = self.expect_failure(1, "samples", "reduce", "--array", "samples", "--json",
                                     environment=other)
        self.assertEqual(json.loads(failed.stdout)["error"]["reason"], "ARRAY_NOT_FOUND")
        self.expect_failure(1, "name", "array", "delete", "two words")

    def test_an_array_that_nobody_uses_goes(self):
        self.succeed("array", "create", "brief", "--type", "int8", "--shape", 1, "--expire",
                     "10ms")
        while self.run_cli("array", "show", "brief").returncode == 0:
            pass
        self.expect_failure(1, "brief", "array", "delete", "brief")


class RegionTest(CommandLineTest):
    server_options = ("--allow-regions",)

    def test_shared_input_has_the_answers_of_files(self):
        random = np.random.default_rng(10)
        path = self.save("samples.npy", random.normal(0, 1e3, (3, 10_001)).astype(np.float32))
        for command in (("reduce", path, "--axis", 1), ("scan", path, "--rows", 0),
                        ("histogram", path, "--bins", 20)):
            plain = self.json(*command)
            shared = self.json(*command, "--shared")
            for part in plain.keys() - {"execution"}:
                self.assertEqual(shared[part], plain[part], (command, part))
        self.assertEqual(self.json("region", "list")["regions"], [])

    def test_an_empty_array_is_just_sent(self):
        path = self.save("empty.npy", np.zeros(0, np.int8))
        self.assertEqual(self.reduce(path, "--shared", stat="sum")["sum"], [0])

    def test_regions_that_are_not_there(self):
        self.assertIn(b"no regions", self.succeed("region", "list"))
        failed = self.expect_failure(1, "nothing", "region", "unregister", "nothing", "--json")
        self.assertEqual(json.loads(failed.stdout)["error"]["reason"], "REGION_NOT_FOUND")
        self.expect_failure(2, "--shared", "reduce", "--array", "x", "--shared")


class NoRegionTest(CommandLineTest):
    def test_regions_are_off_unless_they_are_allowed(self):
        path = self.save("samples.npy", np.arange(5))
        self.expect_failure(1, "--allow-regions", "reduce", path, "--shared")
        self.expect_failure(1, "--allow-regions", "region", "list")


class BehaviourTest(CommandLineTest):
    def test_info(self):
        info = self.json("info")
        self.assertEqual(info["health"], "SERVING")
        self.assertEqual(info["engine"], self.server.engine)
        self.assertGreater(len(info["devices"]), 0)
        self.assertIn("SERVING", self.succeed("info").decode())
        self.assertEqual(self.succeed("info", "--health"), b"SERVING\n")

    def test_unreachable(self):
        self.expect_failure(3, "cannot connect", "info", "--health", "--server", "127.0.0.1:1")

    def test_usage(self):
        self.expect_failure(2, "--stat", "reduce", DELAY, "--stat", "median")
        self.expect_failure(2, "subcommand is required")
        self.assertEqual(self.run_cli("--help").returncode, 0)

    def test_request_errors_name_the_field(self):
        result = self.expect_failure(1, "bins[0].even.upper_bound", "histogram", DELAY, "--bins", 3,
                           "--range", "1,0", "--json")
        error = json.loads(result.stdout)["error"]
        self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.assertEqual(error["field"], "bins[0].even.upper_bound")

    def test_no_escape_codes_into_pipes(self):
        for arguments in (("info",), ("reduce", DELAY), ("histogram", DELAY)):
            self.assertNotIn(b"\x1b", self.succeed(*arguments))

    def test_plain_ascii_where_the_locale_is(self):
        output = self.succeed("histogram", DELAY, environment={"LC_ALL": "C"})
        self.assertTrue(output.isascii())
        self.assertIn(b"####", output)

    def test_large_array(self):
        array = np.arange(5_000_000, dtype=np.int64)
        path = self.save("large.npy", array)
        self.assertEqual(self.reduce(path, stat="sum"), {"sum": [int(array.sum())]})
        output = self.folder / "large_out.npy"
        self.succeed("scan", path, "--output", output)
        np.testing.assert_array_equal(np.load(output), array.cumsum())


if __name__ == "__main__":
    server_process.skip_without_device()
    unittest.main()
