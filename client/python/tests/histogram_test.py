"""Histograms beside NumPy's: counts, edges, dtypes and errors."""

import contextlib
import unittest
import warnings

import numpy as np

from package_case import DTYPES, PackageTest, numbers

RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


class HistogramTest(PackageTest):
    def check(self, *arguments, ulps=0, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            counts, edges = np.histogram(*arguments, **options)
        actual_counts, actual_edges = self.gpu.histogram(*arguments, **options)
        message = f"{options}"
        self.assert_edges(actual_edges, edges, message)
        self.assert_near(actual_counts, counts, message, ulps=ulps)

    def test_every_type(self):
        for dtype in DTYPES:
            array = numbers(dtype, (20, 30))
            with self.subTest(dtype=dtype):
                self.check(array)
                self.check(array, bins=7, range=(-2, 3))
                self.check(array, bins=[-3, -1, 0, 0.5, 3])

    def test_random_numbers(self):
        for dtype in ("f4", "f8"):
            array = np.random.default_rng(3).normal(size=10_000).astype(dtype)
            self.check(array, bins=100)
            self.check(array, bins=33, range=(-1, 1))
            self.check(array, bins=np.linspace(-2, 2, 41))

    def test_rules(self):
        array = np.random.default_rng(4).normal(size=2000)
        for rule in RULES:
            with self.subTest(rule=rule):
                self.check(array, bins=rule)
                self.check(array, bins=rule, range=(-1, 2))
                self.check(array, bins=rule, range=(50, 60))
                self.check(array[:0], bins=rule)
                self.check(np.full(9, 2.5), bins=rule)
                self.check(np.repeat(np.arange(10.0), 30), bins=rule, range=(2, 7))
                self.check(np.repeat(np.arange(10), 30), bins=rule)  # Widths below 1.
                np.testing.assert_allclose(self.gpu.histogram_bin_edges(array, rule),
                                           np.histogram_bin_edges(array, rule), 1e-15)

    def test_density_and_weights(self):
        array = np.random.default_rng(5).normal(size=500)
        weights = np.random.default_rng(6).normal(size=500)
        self.check(array, density=True, ulps=4)
        self.check(array, weights=weights, ulps=64)
        self.check(array, weights=np.arange(500))
        self.check(array, weights=np.arange(500), density=True, ulps=4)

    def test_degenerate(self):
        self.check(np.empty(0))
        self.check(np.full(5, 3))
        self.check(np.full(5, np.float32(3)))
        self.check([1, 2, 2], bins=[1, 2, 2, 3])
        self.check([1, 2], bins=[1])
        self.check([0.0, np.nan, 1.0], range=(0, 1))

    def test_edges_that_are_equal(self):
        array = np.array([1.0, 1.0, 2.0, 3.0, np.nextafter(1, 2)])
        for edges in ([1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 3.0], [1.0, 3.0, 3.0]):
            self.check(array, edges)
            counts, *of_axes = self.gpu.histogram2d(array, array[::-1], [edges, 2])
            expected, *expected_axes = np.histogram2d(array, array[::-1], [edges, 2])
            self.assert_same(counts, expected)
            for actual, other in zip(of_axes, expected_axes):
                self.assert_same(actual, other)
        # Too large for half a unit to be told apart: all edges of float16 are equal.
        counts, edges = self.gpu.histogram(np.full(5, 30_000, "f2"), 10)
        self.assert_same(counts, np.histogram(np.full(5, 30_000, "f2"), edges)[0])

    def test_errors_are_those_of_numpy(self):
        cases = [dict(bins=0), dict(bins=2.5), dict(bins=[2, 1]), dict(bins=[[1, 2]]),
                 dict(range=(1, 0)), dict(range=(0, np.inf)), dict(bins="nonsense"),
                 dict(weights=[1.0])]
        for options in cases:
            with self.assertRaises(Exception) as theirs:
                np.histogram([1.0, 2.0], **options)
            with self.subTest(options=options), self.assertRaises(type(theirs.exception)):
                self.gpu.histogram([1.0, 2.0], **options)
        for bad in ([np.nan], [np.inf], [-np.inf], [-np.inf, np.inf], [np.inf, np.nan]):
            with self.assertRaises(ValueError) as theirs:
                np.histogram([0.5, *bad])
            with self.assertRaises(ValueError) as ours:
                self.gpu.histogram([0.5, *bad])
            self.assertEqual(str(ours.exception), str(theirs.exception))

    def test_histogramdd(self):
        random = np.random.default_rng(39)
        for dtype in ("f8", "f4", "i4"):
            for dimensions in range(1, 9):
                sample = (random.normal(size=(700, dimensions)) * 3).astype(dtype)
                edges = [[-4, -1, 0, 0, 5], [-3, 0, 3]]
                every = [("bins", 2), ("bins", (edges + [2] * 8)[:dimensions]),
                         ("range", [(-2, 2), *[None] * 8][:dimensions])]
                for name, value in every:
                    for more in ({}, {"weights": random.normal(size=700)},
                                 {"weights": random.integers(-5, 9, 700)}, {"density": True}):
                        given = {"bins": 3, name: value, **more}
                        if dimensions > 5:
                            given["bins"] = value if name == "bins" else 2
                        counts, of_axes = self.gpu.histogramdd(sample, **given)
                        expected, expected_axes = np.histogramdd(sample, **given)
                        # NumPy 2 divides by volumes of float32 where the sample is of float32.
                        rtol = 1e-6 if "density" in more and dtype == "f4" else 1e-12
                        np.testing.assert_allclose(counts, expected, rtol=rtol, atol=1e-12)
                        self.assertEqual(counts.dtype, expected.dtype)
                        for axis, expected_axis in zip(of_axes, expected_axes):
                            np.testing.assert_allclose(axis, expected_axis, rtol=1e-6, atol=1e-6)

    def test_histogramdd_of_no_sample_and_what_makes_no_sense(self):
        counts, edges = self.gpu.histogramdd(np.empty((0, 3)), bins=2)
        expected, expected_edges = np.histogramdd(np.empty((0, 3)), bins=2)
        self.assert_same(counts, expected)
        self.assert_same(edges[2], expected_edges[2])
        sample = np.zeros((5, 3))
        large = np.full(5, 2**62)
        for dimensions in (2, 3):
            sums, _ = self.gpu.histogramdd(sample[:, :dimensions], bins=1, weights=large)
            self.assertEqual(sums.ravel().tolist(), [5.0 * 2**62])
        for given in ({"bins": (2, 2)}, {"range": [(0, 1)]}, {"bins": (2, 0, 2)},
                      {"bins": ([1, 0], 2, 2)}):
            for module in (self.gpu, np):
                with self.assertRaises(ValueError):
                    module.histogramdd(sample, **given)
        with self.assertRaises(ValueError):
            self.gpu.histogramdd(np.zeros((2, 2, 2)))

    def test_histogramdd_of_arrays_on_the_server(self):
        sample = np.random.default_rng(40).normal(size=(500, 3))
        expected, _ = np.histogramdd(sample, 4)
        with contextlib.ExitStack() as arrays:
            axes = [arrays.enter_context(self.gpu.put(np.ascontiguousarray(axis)))
                    for axis in sample.T]
            self.assert_same(self.gpu.histogramdd(axes, 4)[0], expected)

    def test_two_dimensions(self):
        generator = np.random.default_rng(7)
        x, y = generator.normal(size=1000), generator.normal(size=1000)
        cases = [dict(), dict(bins=(3, 5)), dict(bins=4, range=[[-1, 1], [-2, 2]]),
                 dict(bins=[[-1, 0, 1], [-2, 0, 1, 2]]), dict(bins=[-1, 0, 2]), dict(density=True),
                 dict(weights=generator.normal(size=1000))]
        for options in cases:
            with self.subTest(options=options):
                for actual, expected in zip(self.gpu.histogram2d(x, y, **options),
                                            np.histogram2d(x, y, **options)):
                    self.assert_near(actual, expected, ulps=64)
        mixed = self.gpu.histogram2d(x.astype("f4"), np.arange(1000), 4)
        for actual, expected in zip(mixed, np.histogram2d(x.astype("f4"), np.arange(1000), 4)):
            self.assert_near(actual, expected)


if __name__ == "__main__":
    unittest.main()
