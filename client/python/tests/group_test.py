"""Groups by key and binned statistics, beside NumPy's; of a server and of gridfold.local()."""

import asyncio
import unittest

import numpy as np

from package_case import DTYPES, PackageTest, gf, numbers


class GroupTest(PackageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.both = (cls.gpu, gf.local())
        random = np.random.default_rng(35)
        cls.keys = random.integers(-4, 30, 3000).astype("i2")
        cls.values = random.normal(size=3000)

    def of_keys(self, function, keys=None):
        keys = self.keys if keys is None else keys
        return np.array([function(self.values[keys == key]) for key in np.unique(keys)])

    def test_keys_that_occur(self):
        for gpu in self.both:
            keys, counts, statistics = gpu.group(self.keys).agg(
                self.values, ["mean", "max", "argmin", "std"], ddof=1)
            expected_keys, expected_counts = np.unique(self.keys, return_counts=True)
            self.assert_same(keys, expected_keys)
            self.assert_same(counts, expected_counts)
            np.testing.assert_allclose(statistics.mean, self.of_keys(np.mean), atol=1e-14)
            self.assert_same(statistics.max, self.of_keys(np.max))
            np.testing.assert_allclose(statistics.std, self.of_keys(lambda v: v.std(ddof=1)))
            first = np.array([np.flatnonzero(self.keys == key)[
                self.values[self.keys == key].argmin()] for key in expected_keys])
            self.assert_same(statistics.argmin, first)

    def test_medians_and_quantiles(self):
        for gpu in self.both:
            keys, counts, statistics = gpu.group(self.keys).agg(self.values,
                                                                ["max", "median", "mean"])
            self.assertEqual(list(statistics), ["max", "median", "mean"])
            self.assert_same(statistics.median, self.of_keys(np.median))
            self.assert_same(statistics.max, self.of_keys(np.max))
            found = gpu.group(self.keys).quantile(self.values, [[0.1, 0.5], [0.9, 1]])
            self.assert_same(found.keys, np.unique(self.keys))
            self.assert_same(found.counts, counts)
            self.assertEqual(found.values.shape, (2, 2, len(counts)))
            self.assert_same(found.values[1, 0], self.of_keys(lambda v: np.quantile(v, 0.9)))
            # np.rint(values * 10) keeps its dtype where a quantile is an element.
            whole = np.rint(self.values * 10).astype("i4")
            lower = gpu.group(self.keys, first=-6, count=40).quantile(whole, 0.3, method="lower")
            self.assertEqual((lower.values.dtype, lower.values[0]), (np.dtype("i4"), 0))
            self.assertEqual(lower.values[6], np.quantile(whole[self.keys == 0], 0.3,
                                                          method="lower"))
            medians = gpu.binned_statistic(self.values, whole, "median", bins=[-1, 0, 2])
            self.assertEqual(medians.statistic[0],
                             np.median(whole[(self.values >= -1) & (self.values < 0)]))
            with self.assertRaisesRegex(ValueError, "Quantiles must be in the range"):
                gpu.group(self.keys).quantile(self.values, 2)
            with_nan = np.where(self.keys == 3, np.nan, self.values)
            medians = gpu.group(self.keys).agg(with_nan, "median").statistics.median
            self.assertEqual(np.flatnonzero(np.isnan(medians)).tolist(), [3 + 4])

    def test_options_and_their_defaults(self):
        keys, values = [3, 1, 3, 3, 1], np.array([1, 2, 5, 9, np.nan], "f4")
        large = np.array([2**62, 2**62])
        for gpu in self.both:
            group = gpu.group(keys)
            for found in (gpu.aggregate(keys, values, ["var", "median", "sum"]),
                          group.agg(values, ["var", "median", "sum"])):
                for name in ("var", "median", "sum"):
                    expected = getattr(np, name)(values[[0, 2, 3]])
                    self.assert_same(found.statistics[name], np.array([np.nan, expected], "f4"))
            found = group.agg(values, ["var", "median"], ddof=1, ignore_nan=True).statistics
            self.assert_near(found.var, np.array([np.nan, np.var([1, 5, 9], ddof=1)], "f4"))
            self.assert_same(found.median, np.array([2, 5], "f4"))
            for quantiles in (group.quantile, lambda *of, **how: gpu.quantile_by_key(keys, *of,
                                                                                     **how)):
                self.assert_same(quantiles(values, 0.75).values, np.array([np.nan, 7]))
                self.assert_same(quantiles(values, 0.75, ignore_nan=True).values,
                                 np.array([2.0, 7]))
            with self.assertRaises(gf.OutOfRangeError):
                gpu.group([4, 4]).agg(large, "sum")
            found = gpu.group([4, 4]).agg(large, "sum", overflow="wrap")
            self.assert_same(found.statistics.sum, large.sum(keepdims=True))

    def test_options_and_their_defaults_of_bins(self):
        random = np.random.default_rng(41)
        x, y = random.normal(size=(2, 3000))
        for gpu in self.both:
            sums, _ = np.histogram(x, weights=self.values)
            found = gpu.binned_statistic(x, self.values)
            np.testing.assert_allclose(found.statistic, sums / np.histogram(x)[0], atol=1e-12)
            sums, *edges = np.histogram2d(x, y, weights=self.values)
            with np.errstate(invalid="ignore"):
                expected = sums / np.histogram2d(x, y)[0]
            found = gpu.binned_statistic_2d(x, y, self.values)
            np.testing.assert_allclose(found.statistic, expected, atol=1e-12)
            self.assert_same(found.x_edge, edges[0])
            self.assert_same(found.y_edge, edges[1])
            found = gpu.binned_statistic_dd([x, y], self.values)
            np.testing.assert_allclose(found.statistic, expected, atol=1e-12)
            values = np.array([1, 2, 5, np.nan])
            one, both = ([0, 0, 0, 0], values), ([0, 0, 0, 0], [0, 0, 0, 0], values)
            for ask, given in ((gpu.binned_statistic, one), (gpu.binned_statistic_2d, both),
                               (lambda *of, **how: gpu.binned_statistic_dd(of[:2], *of[2:], **how),
                                both)):
                self.assertTrue(np.isnan(ask(*given, "var", 1).statistic).all())
                for options in ({}, {"ddof": 1}):
                    found = ask(*given, "var", 1, ignore_nan=True, **options)
                    np.testing.assert_allclose(found.statistic.ravel(),
                                               [np.var([1, 2, 5], **options)])

    def test_no_elements(self):
        keys, values = np.empty(0, "i2"), np.empty(0, "f4")
        for gpu in self.both:
            found = gpu.group(keys).agg(values, ["sum", "median"])
            self.assert_same(found.keys, keys)
            self.assertEqual(found.counts.tolist(), [])
            self.assert_same(found.statistics.sum, values)
            quantiles = gpu.group(keys).quantile(values, [0.2, 0.5])
            self.assert_same(quantiles.keys, keys)
            self.assert_same(quantiles.values, np.empty((2, 0)))
            with gpu.put(keys) as kept, gpu.put(values) as beside:
                self.assert_same(gpu.group(kept).agg(beside, "sum").keys, keys)
            found = gpu.group(keys, count=2).agg(values, ["sum", "median"])
            self.assertEqual(found.counts.tolist(), [0, 0])
            self.assert_same(found.statistics.median, np.full(2, np.nan, "f4"))

    def test_every_type(self):
        keys = np.arange(60, dtype="u8") % 7 + 2**63
        for dtype in DTYPES:
            values = numbers(dtype, 60)
            for gpu in self.both:
                found = gpu.group(keys).agg(values, ["sum", "min"])
                self.assert_same(found.keys, np.unique(keys))
                expected = np.array([values[keys == key].sum() for key in np.unique(keys)])
                np.testing.assert_array_equal(found.statistics.sum, expected)
                self.assertEqual(found.statistics.min.dtype, dtype)

    def test_a_range(self):
        for gpu in self.both:
            found = gpu.group(self.keys, first=-6, count=40).agg(self.values,
                                                                 ["sum", "mean", "argmax"])
            self.assert_same(found.keys, np.arange(-6, 34, dtype="i2"))
            self.assertEqual(found.counts.tolist(),
                             np.bincount(self.keys + 6, minlength=40).tolist())
            self.assertTrue(np.isnan(found.statistics.mean[0]))
            self.assertEqual((found.statistics.sum[0], found.statistics.argmax[0]), (0, -1))
            with self.assertRaisesRegex(gf.InvalidArgumentError, "not among the 3 from 0 on"):
                gpu.group(self.keys, count=3).agg(self.values, "sum")

    def test_binned_statistics(self):
        x = np.random.default_rng(36).normal(size=3000)
        for gpu in self.both:
            for bins, bounds in ((9, None), (5, (-1, 2)), ([-1, 0, 0.5, 3], None)):
                found = gpu.binned_statistic(x, self.values, "sum", bins, bounds)
                sums, edges = np.histogram(x, bins, bounds, weights=self.values)
                np.testing.assert_allclose(found.statistic, sums, atol=1e-12)
                np.testing.assert_allclose(found.bin_edges, edges, rtol=1e-15)
                self.assertEqual(found.bin_edges.dtype, np.float64)
                self.assertEqual(found.counts.tolist(), np.histogram(x, bins, bounds)[0].tolist())
            several = gpu.binned_statistic(x, self.values, ["mean", "count"], [50, 60])
            self.assert_same(several.bin_edges, np.array([50.0, 60.0]))
            self.assertTrue(np.isnan(several.statistic.mean[0]))
            self.assertEqual(several.statistic.count[0], 0)
            y = self.values[::-1]
            found = gpu.binned_statistic_2d(x, y, self.values, "sum", [4, 3], [(-2, 2), (-1, 1)])
            sums, *_ = np.histogram2d(x, y, [4, 3], [(-2, 2), (-1, 1)], weights=self.values)
            np.testing.assert_allclose(found.statistic, sums, atol=1e-12)
            self.assertEqual(found.counts.shape, (4, 3))

    def test_binned_statistics_of_several_dimensions(self):
        random = np.random.default_rng(37)
        for dimensions in range(1, 9):
            axes = [random.normal(size=900) for _ in range(dimensions)]
            axes[-1] = random.integers(-2, 3, 900)
            values = random.normal(size=900)
            sample = np.stack(axes, axis=1)
            bins = [2] * (dimensions - 1) + [[-1.5, -0.5, 0.5, 2]]
            sums, edges = np.histogramdd(sample, bins, weights=values)
            counts, _ = np.histogramdd(sample, bins)
            for gpu in self.both:
                for given in (sample, axes):
                    found = gpu.binned_statistic_dd(given, values, "sum", bins)
                    np.testing.assert_allclose(found.statistic, sums, atol=1e-12)
                    self.assert_same(found.counts, counts.astype(np.intp))
                    for of_axis, expected in zip(found.bin_edges, edges):
                        self.assert_same(of_axis, expected.astype(float))
                several = gpu.binned_statistic_dd(axes, values, ["mean", "max"], bins)
                with np.errstate(invalid="ignore"):
                    np.testing.assert_allclose(several.statistic.mean, sums / counts, atol=1e-12)

    def test_the_errors_of_a_weighted_histogram_are_norms(self):
        x = np.random.default_rng(39).normal(size=3000)
        squares, _ = np.histogram(x, 7, (-2, 2), weights=self.values**2)
        sums, _ = np.histogram(x, 7, (-2, 2), weights=self.values)
        for gpu in self.both:
            found = gpu.binned_statistic(x, self.values, ["sum", "l2_norm"], 7, (-2, 2))
            np.testing.assert_allclose(found.statistic.l2_norm, np.sqrt(squares))
            np.testing.assert_allclose(found.statistic.sum, sums, atol=1e-12)

    def test_a_histogram_of_each_key(self):
        x = np.random.default_rng(38).normal(size=3000)
        for gpu in self.both:
            found = gpu.binned_statistic_dd(
                [self.keys, x], self.values, ["sum", "count"],
                [np.arange(-4, 31) - 0.5, np.linspace(-2, 2, 6)])
            for key in (-4, 7, 29):
                here = self.keys == key
                expected, _ = np.histogram(x[here], 5, (-2, 2))
                self.assert_same(found.counts[key + 4], expected)
                self.assertEqual(found.statistic.count[key + 4].tolist(), expected.tolist())

    def test_arrays_on_the_server_and_asyncio(self):
        expected = self.gpu.group(self.keys).agg(self.values, "mean")
        with self.gpu.put(self.keys) as keys, self.gpu.put(self.values) as values:
            found = self.gpu.group(keys).agg(values, "mean")
            self.assert_same(found.statistics.mean, expected.statistics.mean)

        async def ask():
            async with gf.aio.connect(self.server.target) as gpu:
                group = gpu.group(self.keys, first=-4, count=34)
                return (await group.agg(self.values, "mean"),
                        await group.quantile(self.values, [0.25, 1], method="lower"))

        found, quantiles = asyncio.run(ask())
        self.assert_same(found.statistics.mean, expected.statistics.mean)
        self.assert_same(quantiles.values[0],
                         self.of_keys(lambda v: np.quantile(v, 0.25, method="lower")))

    def test_what_makes_no_sense(self):
        for gpu in self.both:
            with self.assertRaisesRegex(gf.InvalidArgumentError, "keys are integers"):
                gpu.group(self.values).agg(self.values, "sum")
            with self.assertRaises(gf.InvalidArgumentError):
                gpu.group(self.keys).agg(self.values[1:], "sum")
            with self.assertRaises(ValueError):
                gpu.group(self.keys).agg(self.values, "mode")
            with self.assertRaisesRegex(ValueError, "count: is needed where first is given"):
                gpu.group(self.keys, first=3).agg(self.values, "sum")
            with self.assertRaisesRegex(ValueError, "ddof: must be a whole number"):
                gpu.group(self.keys).agg(self.values, "var", ddof=0.5)
            with self.assertRaisesRegex(ValueError, "statistics: must name at least one"):
                gpu.group(self.keys).agg(self.values, [])
            with self.assertRaisesRegex(TypeError, "an integer or increasing edges"):
                gpu.binned_statistic(self.values, self.values, bins="auto")
            with self.assertRaisesRegex(ValueError, "increase strictly"):
                gpu.binned_statistic_dd([self.values] * 3, self.values, bins=[2, [1, 1], 2])
            with self.assertRaisesRegex(ValueError, "equally many"):
                gpu.binned_statistic_dd([self.values, self.values[1:]], self.values)
            with self.assertRaisesRegex(gf.InvalidArgumentError, "9 dimensions|1 to 8"):
                gpu.binned_statistic_dd([self.values] * 9, self.values, bins=1)


if __name__ == "__main__":
    unittest.main()
