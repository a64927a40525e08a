"""gridfold.QuantileSearch: parts of any size, counted by servers and by this process, against NumPy."""

import pickle
import sys
import unittest
from unittest import mock

import numpy as np

from package_case import PackageTest, gf

METHODS = ("linear", "midpoint", "lower", "higher", "nearest")
QUANTILES = [0.0, 0.001, 0.25, 0.5, 0.77, 0.999, 1.0]


def arrays():
    """Elements of all magnitudes, equal ones, and those at the ends of their type."""
    generator = np.random.default_rng(5)
    for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        limits = np.iinfo(name)
        yield generator.integers(limits.min, limits.max, 700, name, endpoint=True)
        near = generator.integers(0, 40, 700).astype(name)
        yield near + np.array(limits.max - 39, name)
        yield np.concatenate([near, np.full(900, limits.max, name), np.full(3, limits.min, name)])
    for name in ("f2", "f4", "f8"):
        limits = np.finfo(name)
        wide = generator.normal(size=900) * 10.0**generator.integers(-4, 4, 900)
        yield wide.astype(name)
        yield np.array([limits.max, np.nextafter(limits.max, np.array(0, name)), limits.min, 0.0,
                        -0.0, limits.smallest_subnormal, -limits.smallest_subnormal], name)
        yield np.concatenate([wide, [np.inf] * 300, [-np.inf] * 200, [limits.max] * 50]).astype(name)


def search(parts, q, method="linear", engines=(None,), **options):
    one = gf.QuantileSearch(parts[0].dtype, q, method, **options)
    rounds = 0
    while not one.is_done:
        one.add(sum(one.count(part, engines[i % len(engines)]) for i, part in enumerate(parts)))
        rounds += 1
    return one.result(), rounds


class QuantileSearchTest(PackageTest):
    def test_every_type_is_found_as_by_one_call(self):
        local = gf.local()
        # Few bins make many rounds.
        with mock.patch.object(sys.modules[gf.QuantileSearch.__module__], "_BINS_MAX", 4096):
            for array in arrays():
                parts = np.split(array, [0, 3, len(array) // 2])
                for method in METHODS:
                    with self.subTest(dtype=array.dtype, size=array.size, method=method):
                        found, _ = search(parts, QUANTILES, method)
                        self.assert_same(found, local.quantile(array, QUANTILES, method=method))

    def test_rounds(self):
        for array in arrays():
            found, rounds = search([array], 0.3)
            self.assert_same(found, gf.local().quantile(array, 0.3))
            size = array.dtype.itemsize
            self.assertLessEqual(rounds, {1: 1, 2: 1, 4: 3, 8: 6}[size], array.dtype)

    def test_elements_are_those_of_a_sort(self):
        for array in arrays():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                continue
            ordered = np.sort(array)
            ranks = [0, 1, len(array) // 3, len(array) - 2, len(array) - 1]
            found, _ = search(np.array_split(array, 3),
                              [rank / (len(array) - 1) for rank in ranks], "nearest")
            self.assert_same(found, ordered[ranks] + np.array(0, array.dtype))

    def test_servers_count_what_they_hold(self):
        array = np.random.default_rng(6).normal(size=5_000).astype("f4")
        with self.gpu.put(array[:3_000]) as held:
            one = gf.QuantileSearch("f4", [0.5, 0.9])
            while not one.is_done:
                one = pickle.loads(pickle.dumps(one))
                one.add(one.count(held, self.gpu) + one.count(array[3_000:]))
        self.assert_same(one.result(), np.quantile(array.astype("f8"), [0.5, 0.9]))

    def test_large_unsigned_integers_on_a_server(self):
        array = np.uint64(2**64 - 1) - np.arange(500, dtype="u8")
        self.assert_same(search([array[::2], array[1::2]], [0.5], "lower", (self.gpu,))[0],
                         np.quantile(array, [0.5], method="lower"))

    def test_the_shape_is_that_of_q(self):
        array = np.arange(10.0)
        self.assert_same(search([array], 0.5)[0], np.quantile(array, 0.5))
        self.assert_same(search([array], [[0.1, 0.2]])[0], np.quantile(array, [[0.1, 0.2]]))

    def test_nan(self):
        parts = [np.array([1.0, np.nan]), np.array([3.0, np.inf])]
        self.assertTrue(np.isnan(search(parts, [0.0, 1.0])[0]).all())
        self.assert_same(search(parts, [0.0, 0.5, 1.0], ignore_nan=True)[0],
                         np.array([1.0, 3.0, np.inf]))
        self.assertTrue(np.isnan(search([parts[0][1:]], 0.5, ignore_nan=True)[0]))
        self.assertEqual(search([parts[0]], 0.5, ignore_nan=True)[0], 1)

    def test_what_cannot_be(self):
        with self.assertRaisesRegex(ValueError, "range"):
            gf.QuantileSearch("f4", 1.5)
        with self.assertRaisesRegex(ValueError, "median_unbiased"):
            gf.QuantileSearch("f4", 0.5, "median_unbiased")
        for dtype in ("?", "c8", "U3"):
            with self.assertRaisesRegex(TypeError, "dtype"):
                gf.QuantileSearch(dtype, 0.5)
        one = gf.QuantileSearch("f4", 0.5)
        with self.assertRaisesRegex(TypeError, "float64"):
            one.count(np.zeros(3))
        for counts in (np.zeros(3, np.int64), np.zeros(70_000), [[1]], None):
            with self.assertRaisesRegex(ValueError, "counts"):
                one.add(counts)
        with self.assertRaisesRegex(ValueError, "not ended"):
            one.result()
        with self.assertRaisesRegex(ValueError, "no elements"):
            one.add(one.count(np.zeros(0, "f4")))
        ended = gf.QuantileSearch("u1", 0.5)
        ended.add(ended.count(np.zeros(3, "u1")))
        with self.assertRaisesRegex(ValueError, "the search has ended"):
            ended.add(np.zeros(2, np.int64))

    def test_counts_of_other_elements_are_noticed(self):
        one = gf.QuantileSearch("f4", 0.5)
        one.add(one.count(np.arange(100, dtype="f4")))
        with self.assertRaisesRegex(ValueError, "do not agree"):
            one.add(one.count(np.zeros(0, "f4")))


if __name__ == "__main__":
    unittest.main()
