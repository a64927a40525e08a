"""Parts that are reduced by themselves and merged."""

import math

import numpy as np

from cli_case import CommandLineTest, DELAY, DELAY_BINS, HOUR


class AccumulatorTest(CommandLineTest):
    STATISTICS = ("count,sum,min,argmin,max,argmax,range,mean,variance,standard_error,l1_norm,l2_norm,"
                  "root_mean_square,nonzero_count")

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

    def test_output_types(self):
        array = np.random.default_rng(4).normal(0, 1, 1000).astype(np.float32)
        parts = self.parts(array, (300,), lambda part, _: ("reduce", part, "--stat", "sum"))
        merged = self.json("merge", *parts, "--output-type", "float32")["statistics"]
        # JSON has as few digits as tell a value from others of its type, and so has NumPy.
        self.assertEqual(merged["sum"], [float(str(np.float32(math.fsum(array))))])
        whole = self.folder / "whole.acc"
        self.succeed("merge", *parts, "--output", whole)
        rest = self.json("merge", whole, "--subtract", parts[0], "--output-type", "float16")
        self.assertEqual(rest["statistics"]["sum"], [float(str(np.float16(math.fsum(array[300:]))))])

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

    def test_forms_of_the_answer(self):
        array = np.load(DELAY)
        flags = ("--bins", 10, "--range", "-60,140")
        parts = self.parts(array, (1000,), lambda part, _: ("histogram", part, *flags))
        self.assertEqual([int(row["count"]) for row in self.rows("merge", *parts)], DELAY_BINS)
        self.assertEqual(self.array("merge", *parts).tolist(), DELAY_BINS)
        parts = self.parts(array, (1000,), lambda part, _: ("reduce", part, "--stat", "sum,max"))
        self.assertEqual([(int(row["sum"]), int(row["max"])) for row in self.rows("merge", *parts)],
                         [(int(array.sum(dtype=np.int64)), int(array.max()))])
        table = self.folder / "answer.md"
        self.succeed("merge", *parts, "--output", table)
        self.assertTrue(table.read_text().startswith("| source | column | sum | max |"))

    def test_parts_are_taken_out(self):
        array = np.load(DELAY)
        statistics = "count,sum,mean,variance,l1_norm,nonzero_count"
        parts = self.parts(array, (40_000, 40_001), lambda part, _: (
            "reduce", part, "--stat", statistics))
        self.succeed("merge", *parts, "--output", self.folder / "all.acc")
        rest = self.json("merge", self.folder / "all.acc", "--subtract", parts[0],
                         "--subtract", parts[2])
        one_call = self.json("reduce", self.save("one.npy", array[40_000:40_001]),
                             "--stat", statistics)
        self.assertEqual(rest["statistics"], one_call["statistics"])
        self.assertEqual(rest["execution"]["strategy"], "subtract/reduction")
        self.succeed("merge", *parts, "--subtract", parts[1], "--output", self.folder / "two.acc")
        self.succeed("merge", parts[0], parts[2], "--output", self.folder / "same.acc")
        self.assertEqual((self.folder / "two.acc").read_bytes(),
                         (self.folder / "same.acc").read_bytes())
        self.expect_failure(1, "--subtract: group 0: what is taken out was never in it",
                            "merge", parts[1], "--subtract", parts[0])
        extremes, = self.parts(array[:9], (), lambda part, _: ("reduce", part, "--stat", "max"))
        self.expect_failure(1, "max", "merge", extremes, "--subtract", extremes)

    def test_damage_is_named(self):
        part, = self.parts(np.arange(10), (), lambda path, _: ("reduce", path))
        bad = self.folder / "bad.acc"
        bad.write_bytes(part.read_bytes()[:-1])
        self.expect_failure(1, "bad.acc: ", "merge", part, bad)
        self.expect_failure(1, f"{DELAY}: not an accumulator", "merge", DELAY)
