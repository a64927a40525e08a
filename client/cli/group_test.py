"""gridfold group against NumPy."""

import numpy as np

from cli_case import DELAY, DISTANCE, CommandLineTest


class GroupTest(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        random = np.random.default_rng(35)
        cls.keys = random.integers(-3, 40, 4000).astype(np.int16)
        cls.values = random.normal(0, 1, 4000).astype(np.float32)

    def expected(self, keys, values, statistic):
        return [float(statistic(values[keys == key].astype(np.float64)))
                for key in np.unique(keys)]

    def test_keys_that_occur(self):
        arguments = ("group", self.save("keys.npy", self.keys), self.save("values.npy",
                                                                          self.values))
        answer = self.json(*arguments, "--op", "mean,max,argmin")
        self.assertEqual(answer["keys"], np.unique(self.keys).tolist())
        self.assertEqual(answer["counts"],
                         np.unique(self.keys, return_counts=True)[1].tolist())
        np.testing.assert_allclose(answer["statistics"]["mean"],
                                   self.expected(self.keys, self.values, np.mean), atol=1e-12)
        self.assertEqual(answer["statistics"]["max"],
                         self.expected(self.keys, self.values, np.max))
        first = [int(np.flatnonzero(self.keys == key)[np.argmin(self.values[self.keys == key])])
                 for key in np.unique(self.keys)]
        self.assertEqual(answer["statistics"]["argmin"], first)
        text = self.succeed(*arguments, "--rows", 3).decode()
        self.assertIn("elements", text)
        self.assertIn("more groups (--rows 0 shows all)", text)

    def test_a_range_and_accumulators(self):
        keys = self.save("keys.npy", self.keys)
        values = self.save("values.npy", self.values)
        answer = self.json("group", keys, values, "--op", "sum,mean", "--key-range", "-5:50")
        counts = np.bincount(self.keys + 5, minlength=50).tolist()
        self.assertEqual((answer["first_key"], answer["counts"]), (-5, counts))
        self.assertEqual(answer["statistics"]["mean"][0], "NaN")
        parts = []
        for i, part in enumerate((slice(0, 1000), slice(1000, 4000))):
            parts.append(self.folder / f"{i}.acc")
            self.succeed("group", self.save("part_keys.npy", self.keys[part]),
                         self.save("part.npy", self.values[part]), "--op", "sum", "--key-range",
                         "-5:50", "--accumulator", parts[-1])
        self.assertEqual(self.json("merge", *parts)["statistics"]["sum"],
                         answer["statistics"]["sum"])
        self.expect_failure(1, "not among the 10 from 0 on", "group", keys, values,
                            "--key-range", "0:10")

    def test_output_types(self):
        arguments = ("group", self.save("keys.npy", self.keys),
                     self.save("values.npy", self.values), "--op", "mean")
        means = np.array(self.json(*arguments)["statistics"]["mean"])
        written = self.folder / "means.npy"
        self.succeed(*arguments, "--output-type", "float32", "--output", written)
        self.assertEqual(np.load(written).dtype, np.float32)
        np.testing.assert_array_equal(np.load(written), means.astype(np.float32))

    def test_medians_and_quantiles(self):
        arguments = ("group", self.save("keys.npy", self.keys),
                     self.save("values.npy", self.values))
        answer = self.json(*arguments, "--op", "max,median")
        self.assertEqual(answer["method"], "mean")
        medians = self.expected(self.keys, self.values, np.median)
        self.assertEqual(answer["quantiles"], [{"probability": 0.5, "values": medians}])
        self.assertEqual(answer["statistics"]["max"],
                         self.expected(self.keys, self.values, np.max))
        answer = self.json(*arguments, "-q", "0.25,0.9", "--method", "lower")
        self.assertEqual(answer["statistics"], {})
        self.assertEqual(answer["quantiles"][1]["values"], self.expected(
            self.keys, self.values, lambda v: np.quantile(v, 0.9, method="lower")))
        text = self.succeed(*arguments, "--op", "mean,median").decode()
        self.assertRegex(text, r"key +elements +mean +median\n")
        output = self.folder / "medians.npy"
        self.succeed(*arguments, "--op", "median", "--output", output)
        self.assertEqual(np.load(output).tolist(), medians)
        self.expect_failure(2, "median is --quantile 0.5", *arguments, "--op", "median", "-q", 1)
        self.expect_failure(1, "--quantile: 2 is not", *arguments, "-q", 2)

    def test_accumulators_of_keys_that_occur(self):
        parts = []
        for i, part in enumerate((slice(0, 10), slice(10, 2500), slice(2500, 4000))):
            parts.append(self.folder / f"{i}.acc")
            self.succeed("group", self.save("part_keys.npy", self.keys[part]),
                         self.save("part.npy", self.values[part]), "--op", "sum,max",
                         "--accumulator", parts[-1])
        whole = self.json("group", self.save("keys.npy", self.keys),
                          self.save("values.npy", self.values), "--op", "sum,max")
        merged = self.json("merge", *parts)
        for name in ("keys", "counts", "statistics"):
            self.assertEqual(merged[name], whole[name])
        self.assertEqual(merged["counts"], np.unique(self.keys, return_counts=True)[1].tolist())
        text = self.succeed("merge", *parts, "--rows", 3).decode()
        self.assertIn("more groups (--rows 0 shows all)", text)

    def test_bins(self):
        answer = self.json("group", DISTANCE, DELAY, "--op", "count,mean", "--bins", 5, "--range",
                           "0,3000")
        distance, delay = np.load(DISTANCE), np.load(DELAY)
        edges = np.linspace(0, 3000, 6)
        self.assertEqual(answer["bins"], [{"bin_count": 5, "edges": edges.tolist()}])
        counts, _ = np.histogram(distance, edges)
        self.assertEqual(answer["counts"], counts.tolist())
        sums, _ = np.histogram(distance, edges, weights=delay.astype(np.float64))
        np.testing.assert_allclose(answer["statistics"]["mean"], sums / counts, rtol=1e-12)

    def test_columns_and_arrays_on_the_server(self):
        path = self.folder / "table.csv"
        rows = "".join(f"{key},{value}\n" for key, value in zip(self.keys, self.values))
        path.write_text("key,value\n" + rows)
        answer = self.json("group", path, "--key", "key", "--column", "value", "--op", "count")
        self.assertEqual(answer["counts"], np.unique(self.keys, return_counts=True)[1].tolist())
        self.succeed("array", "put", "k", self.save("keys.npy", self.keys))
        self.succeed("array", "put", "v", self.save("values.npy", self.values))
        answer = self.json("group", "--key-array", "k", "--array", "v", "--op", "min")
        self.assertEqual(answer["statistics"]["min"],
                         self.expected(self.keys, self.values, np.min))
        archive = self.folder / "both.npz"
        np.savez(archive, k=self.keys, v=self.values)
        answer = self.json("group", archive, "--key-member", "k", "--member", "v", "--op", "max")
        self.assertEqual(answer["statistics"]["max"],
                         self.expected(self.keys, self.values, np.max))

    def test_forms_of_the_answer(self):
        command = ("group", self.save("keys.npy", self.keys), self.save("values.npy", self.values))
        rows = self.rows(*command, "--op", "mean,max")
        self.assertEqual([int(row["key"]) for row in rows], np.unique(self.keys).tolist())
        self.assertEqual([int(row["elements"]) for row in rows],
                         np.unique(self.keys, return_counts=True)[1].tolist())
        self.assertEqual([float(row["max"]) for row in rows],
                         self.expected(self.keys, self.values, np.max))
        largest = self.folder / "largest.npy"
        self.succeed(*command, "--op", "max", "--output", largest)
        self.assertEqual(np.load(largest).tolist(), self.expected(self.keys, self.values, np.max))
        self.expect_failure(2, "2 statistics", *command, "--op", "mean,max", "--output", "npy")
        self.assertEqual([row["key"] for row in self.rows(*command, "--op", "count", "--key-range",
                                                          "-5:50")],
                         [str(key) for key in range(-5, 45)])
        binned = self.rows("group", DISTANCE, DELAY, "--op", "count", "--bins", 2, "--range",
                           "0,3000")
        self.assertEqual([(row["lower"], row["upper"]) for row in binned],
                         [("0", "1500"), ("1500", "3000")])
        self.assertIn(b"| key | elements | mean |", self.succeed(*command, "--output", "markdown"))

    def test_what_makes_no_sense(self):
        keys = self.save("keys.npy", self.keys)
        values = self.save("values.npy", self.values)
        self.expect_failure(2, "two arrays", "group", keys)
        self.expect_failure(2, "--key-range", "group", keys, values, "--key-range", "3")
        self.expect_failure(2, "not with bins", "group", keys, values, "--key-range", "0:3",
                            "--bins", 3)
        self.expect_failure(2, "--bins: 'auto' is not a whole number", "group", keys, values, "--bins",
                            "auto")
        self.expect_failure(2, "--op", "group", keys, values, "--op", "maen")
        self.expect_failure(1, "keys are integers", "group", values, values)
        self.expect_failure(2, "--clamp", "group", keys, values, "--clamp")
