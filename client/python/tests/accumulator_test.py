"""gridfold.Accumulator: parts in any order, by merges and by words, against NumPy and exact sums."""

import copy
import fractions
import pickle
import random
import unittest

import numpy as np

from package_case import PackageTest, forms, gf

SUMS = ["count", "sum", "mean", "variance", "l1_norm", "l2_norm", "nonzero_count", "nan_count"]
ALL = [*SUMS, "min", "max", "range", "argmin", "argmax"]


def parts_of(array, generator, make):
    """Accumulators of random parts, shuffled; `make` takes a part and where it begins."""
    cuts = sorted(generator.choices(range(len(array) + 1), k=6))
    bounds = list(zip([0, *cuts], [*cuts, len(array)]))
    generator.shuffle(bounds)
    return [make(array[begin:end], begin) for begin, end in bounds]


class AccumulatorTest(PackageTest):
    def assert_same_statistics(self, actual, expected):
        self.assertEqual(list(actual), list(expected))
        for name in actual:
            self.assert_same(actual[name], expected[name], name)

    def test_parts_are_the_whole(self):
        generator = random.Random(1)
        for dtype in ("i1", "u8", "f2", "f4", "f8"):
            array = np.random.default_rng(4).normal(size=500) * 20
            array = np.abs(array).astype(dtype) if dtype[0] == "u" else array.astype(dtype)
            whole = gf.Accumulator.of(array, ALL)
            parts = parts_of(array, generator,
                             lambda part, begin: gf.Accumulator.of(part, ALL, first_index=begin))
            self.assertEqual(sum(parts), whole)
            self.assertEqual(gf.Accumulator.merge(parts), whole)
            self.assert_same_statistics(whole.result(), self.gpu.reduce(array, ALL))
            self.assertEqual(whole.element_count, 500)

    def test_sums_are_exact(self):
        array = np.random.default_rng(5).normal(size=300) * 10.0**np.arange(-150, 150)
        parts = parts_of(array, random.Random(2),
                         lambda part, _: gf.Accumulator.of(part, ["sum", "mean"]))
        exact = sum(map(fractions.Fraction, array))
        result = sum(parts).result()
        self.assertEqual((result.sum, result.mean), (float(exact), float(exact / 300)))

    def test_columns(self):
        array = np.arange(60.0).reshape(20, 3)
        parts = parts_of(array, random.Random(3),
                         lambda part, _: gf.Accumulator.of(part, ["mean", "max"], axis=0))
        result = sum(parts).result()
        self.assert_same(result["mean"], array.mean(axis=0))
        self.assert_same(result["max"], array.max(axis=0))

    def test_positions_are_those_of_c_order(self):
        array = np.random.default_rng(10).normal(size=(4, 5, 3))
        for form, given in forms(array):
            found = gf.Accumulator.of(given, ["argmin", "argmax"]).result()
            self.assertEqual((found.argmin, found.argmax), (array.argmin(), array.argmax()), form)

    def test_no_elements_of_some_groups(self):
        for shape, axis in (((0, 3), 0), ((2, 0, 3), 1), ((2, 0, 3), (0, 1)), ((0, 3), 1)):
            empty = np.empty(shape)
            none = gf.Accumulator.of(empty, ["sum", "count"], axis)
            self.assert_same(none.result().sum, empty.sum(axis).ravel())
            full = np.ones([size or 4 for size in shape])
            if empty.sum(axis).size:
                both = none + gf.Accumulator.of(full, ["sum", "count"], axis)
                self.assert_same(both.result().sum, full.sum(axis).ravel())

    def test_words_add(self):
        array = (np.random.default_rng(6).normal(size=400) * 2.0**60).astype("f4")
        array[::97] = np.nan
        for options in ({}, {"ignore_nan": True}):
            parts = parts_of(array, random.Random(4),
                             lambda part, _: gf.Accumulator.of(part, SUMS, **options))
            words = sum(part.to_words() for part in parts)
            self.assertEqual(words.dtype, np.int64)
            self.assertEqual(gf.Accumulator.from_words(words), sum(parts))
        many = words * (2**31 // words[0])
        self.assertEqual(gf.Accumulator.from_words(many).result()["count"],
                         sum(parts).result()["count"] * (2**31 // words[0]))
        with self.assertRaises(gf.InvalidArgumentError):
            gf.Accumulator.from_words(words * 2**31)
        with self.assertRaisesRegex(gf.InvalidArgumentError, "argmax"):
            gf.Accumulator.of([1], ["sum", "argmax"]).to_words()
        with self.assertRaises(TypeError):
            gf.Accumulator.from_words([0.5])

    def test_histograms(self):
        array = np.random.default_rng(7).normal(size=1000)
        weights = np.linspace(0, 1, 1000)
        for bins, bounds in ((20, (-2, 2)), ([-1.0, 0.0, 0.5, 9.0], None)):
            parts = parts_of(np.stack([array, weights], 1), random.Random(5),
                             lambda part, _: gf.Accumulator.of_histogram(part[:, 0], bins, bounds))
            counts, edges = sum(parts).result()
            expected = np.histogram(array, bins, bounds)
            self.assert_same(counts, expected[0])
            self.assert_same(edges, expected[1])
            self.assertEqual(gf.Accumulator.from_words(sum(part.to_words() for part in parts)),
                             sum(parts))
        weighted = gf.Accumulator.of_histogram(array, 20, (-2, 2), weights=weights)
        np.testing.assert_allclose(weighted.result()[0],
                                   np.histogram(array, 20, (-2, 2), weights=weights)[0], 1e-12)
        with self.assertRaises(ValueError):
            gf.Accumulator.of_histogram(array, 20)
        with self.assertRaisesRegex(ValueError, "weights should have the same shape"):
            gf.Accumulator.of_histogram(array, 20, (-2, 2), weights=weights[1:])

    def test_parts_are_taken_out_again(self):
        for dtype in ("i1", "u8", "f2", "f4", "f8"):
            array = (np.random.default_rng(8).normal(size=300) * 20).astype("f4")
            array = np.abs(array).astype(dtype) if dtype[0] == "u" else array.astype(dtype)
            parts = [gf.Accumulator.of(part, SUMS) for part in np.split(array, [90, 91, 200])]
            whole = gf.Accumulator.of(array, SUMS)
            self.assertEqual(whole - parts[1], parts[0] + parts[2] + parts[3])
            rest = whole.subtract([parts[3], parts[0], parts[1]])
            self.assertEqual(rest, parts[2])
            self.assert_same_statistics(rest.result(), self.gpu.reduce(array[91:200], SUMS))
        counts = [gf.Accumulator.of_histogram(part, 8, (-9, 9), weights=part * 0.1)
                  for part in np.split(array, [100])]
        self.assertEqual(sum(counts) - counts[0], counts[1])

    def test_windows_do_not_drift(self):
        stream = np.random.default_rng(9).normal(size=(1_000, 4)) * 10.0**np.arange(-8, 8, 4)
        window = gf.Accumulator.of(np.empty(0), ["sum", "variance"])
        for step, values in enumerate(stream):
            window += gf.Accumulator.of(values, ["sum", "variance"])
            if step >= 10:
                window -= gf.Accumulator.of(stream[step - 10], ["sum", "variance"])
            if step % 100 == 99:
                inside = stream[max(step - 9, 0):step + 1]
                exact = sum(map(fractions.Fraction, inside.ravel()))
                self.assertEqual(window.result().sum, float(exact))
                self.assertEqual(window, gf.Accumulator.of(inside.ravel(), ["sum", "variance"]))

    def test_what_cannot_be_taken_out(self):
        one = gf.Accumulator.of([1.0, 2.0], ["sum", "max"])
        with self.assertRaisesRegex(gf.InvalidArgumentError, "max") as caught:
            one - one  # pylint: disable=pointless-statement
        self.assertEqual(caught.exception.field, "minuend")
        two = gf.Accumulator.of([1.0, 2.0], ["sum"])
        with self.assertRaisesRegex(gf.InvalidArgumentError, "never in it") as caught:
            two - gf.Accumulator.of([1.0, 2.0, 3.0], ["sum"])  # pylint: disable=expression-not-assigned
        self.assertEqual(caught.exception.field, "subtrahends")
        nan = gf.Accumulator.of([1.0, np.nan], ["sum"])
        with self.assertRaisesRegex(gf.InvalidArgumentError, "cannot be told"):
            (two + nan) - nan  # pylint: disable=expression-not-assigned
        self.assertEqual((two + nan - two), nan)
        with self.assertRaises(gf.InvalidArgumentError):
            one.subtract([])
        with self.assertRaises(TypeError):
            one - 1  # pylint: disable=pointless-statement

    def test_they_are_values(self):
        one = gf.Accumulator.of([1.0, 2.0], ["sum"])
        for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one),
                      gf.Accumulator(bytes(one)), gf.Accumulator(memoryview(bytes(one)))):
            self.assertEqual(other, one)
            self.assertEqual(hash(other), hash(one))
        self.assertNotEqual(one, gf.Accumulator.of([1.0], ["sum"]))
        for other in (0, "text", bytes(one)):
            self.assertNotEqual(one, other)
        self.assertEqual(one.result().execution, ("cpu", "merge", 0, 0.0, 0.0, 0.0, "in place"))
        self.assertEqual(repr(one), "<gridfold.Accumulator of a reduction of 2 float64>")
        with self.assertRaises(TypeError):
            one + 1  # pylint: disable=pointless-statement
        for other in (1, False, 0.0):
            with self.assertRaises(TypeError):
                other + one  # pylint: disable=pointless-statement

    def test_what_has_no_answer_yet(self):
        none = gf.Accumulator.of(np.empty(0), ["sum", "max"])
        self.assertEqual(none.result(partial=True), {"sum": 0.0, "max": None})
        with self.assertRaises(gf.InvalidArgumentError):
            none.result()
        self.assertEqual((none + gf.Accumulator.of([3.0], ["sum", "max"])).result().max, 3.0)
        large = gf.Accumulator.of([2**62, 2**62], ["sum"])
        with self.assertRaises(gf.OutOfRangeError):
            large.result()
        self.assertEqual((large + gf.Accumulator.of([-2**62], ["sum"])).result().sum, 2**62)

    def test_bad_ones_are_refused(self):
        one = bytes(gf.Accumulator.of([1.0, 2.0], ["sum"]))
        for data in (b"", b"GFAC", one[:-1], one + b"\0", one[:9] + b"\1" + one[10:]):
            with self.assertRaises(gf.InvalidArgumentError):
                gf.Accumulator(data)
        with self.assertRaisesRegex(gf.InvalidArgumentError, "statistics"):
            gf.Accumulator(one) + gf.Accumulator.of([1.0], ["mean"])
        with self.assertRaises(gf.InvalidArgumentError):
            gf.Accumulator.merge([])
        with self.assertRaises(ValueError):
            gf.Accumulator.of([1.0], ["median"])
        with self.assertRaisesRegex(TypeError, "statistics: must be a list of names"):
            gf.Accumulator.of([1.0], "sum")
        for ddof in (-1, 2**32):
            with self.assertRaisesRegex(ValueError, r"ddof: must be 0 or more, and below 2\*\*32"):
                gf.Accumulator.of([1.0], ["variance"], ddof=ddof)
        gf.Accumulator.of([1.0], ["variance"], ddof=2**32 - 1)
        with self.assertRaises(TypeError):
            gf.Accumulator.of([1.0], ["variance"], ddof=0.5)


if __name__ == "__main__":
    unittest.main()
