"""Quantiles, medians and the largest elements beside NumPy's."""

import itertools
import unittest
import warnings

import numpy as np

from package_case import DTYPES, PackageTest, forms, gf, numbers

QUANTILES = [0.0, 0.25, 0.5, 0.9, 1.0]


def top(array, k, axis, largest):
    """By a stable sort; NaNs first."""
    keys = array if largest is False else -array.astype(np.float64)
    order = np.argsort(np.where(np.isnan(keys), -np.inf, keys), axis=axis, kind="stable")
    order = np.take(order, range(k), axis=axis)
    return np.take_along_axis(array, order, axis), order


def weighted_quantile(array, weights, q, axis):
    """As NumPy 2 has it; sums of weights are exact."""
    if axis is None:
        array, weights, axis = array.ravel(), weights.ravel(), 0
    order = np.argsort(array, axis=axis, kind="stable")
    part = np.cumsum(np.take_along_axis(weights, order, axis), axis, np.float64)
    part = part / np.take(part, [-1], axis)
    place = np.argmax((part >= q) & (part > 0), axis=axis)
    return np.take_along_axis(np.take_along_axis(array, order, axis),
                              np.expand_dims(place, axis), axis).squeeze(axis)


class OrderTest(PackageTest):
    def both(self):
        yield "server", self.gpu
        yield "local", gf.local()

    def test_quantiles_of_every_type(self):
        for name, gpu in self.both():
            for dtype in DTYPES:
                if dtype.kind == "b":
                    continue
                array = numbers(dtype, (5, 7), seed=3)
                for axis in (None, 0, 1):
                    with self.subTest(engine=name, dtype=dtype, axis=axis):
                        wide = array.astype(np.float64)
                        self.assert_same(gpu.quantile(array, QUANTILES, axis),
                                         np.quantile(wide, QUANTILES, axis))
                        for method in ("lower", "higher", "nearest"):
                            self.assert_same(gpu.quantile(array, QUANTILES, axis, method=method),
                                             np.quantile(array, QUANTILES, axis, method=method))
                        self.assert_same(gpu.quantile(array, 0.3, axis, method="midpoint"),
                                         np.quantile(wide, 0.3, axis, method="midpoint"))

    def test_midpoints_are_interpolated_and_no_means(self):
        array = np.array([1 / 3, 2.0])
        self.assertNotEqual(np.quantile(array, 0.3, method="midpoint"), array.mean())
        for name, gpu in self.both():
            self.assert_same(gpu.quantile(array, 0.3, method="midpoint"),
                             np.quantile(array, 0.3, method="midpoint"), name)

    def test_medians_of_every_type(self):
        for name, gpu in self.both():
            for dtype in DTYPES:
                for shape in ((4, 6), (3, 5)):
                    array = numbers(dtype, shape, seed=4)
                    for axis in (None, 0, -1):
                        with self.subTest(engine=name, dtype=dtype, axis=axis):
                            self.assert_same(gpu.median(array, axis), np.median(array, axis))

    def test_every_set_of_axes_and_order(self):
        array = numbers(np.dtype("f4"), (2, 3, 4), seed=5)
        for form, given in forms(array):
            for axis in (0, 1, 2, (0, 2), (0, 1), (1, 2), None):
                for keepdims in (False, True):
                    self.assert_same(self.gpu.median(given, axis, keepdims=keepdims),
                                     np.median(array, axis, keepdims=keepdims), f"{form} {axis}")
                    self.assert_same(
                        self.gpu.percentile(given, [[10, 50], [60, 90]], axis, keepdims=keepdims),
                        np.percentile(array.astype("f8"), [[10, 50], [60, 90]], axis,
                                      keepdims=keepdims), f"{form} {axis}")

    def test_weights(self):
        random = np.random.default_rng(6)
        for name, gpu in self.both():
            for dtype in (np.dtype("f4"), np.dtype("i8"), np.dtype("u1"), np.dtype("f8")):
                array = np.rint(random.random((4, 9)) * 20).astype(dtype)
                weights = random.integers(0, 7, (4, 9)) / 4
                weights[0] += 1  # No group has nothing but zeros.
                weights[:, 0] += 1
                for axis in (None, 0, 1):
                    with self.subTest(engine=name, dtype=dtype, axis=axis):
                        expected = [weighted_quantile(array, weights, q, axis)
                                    for q in QUANTILES]
                        self.assert_same(
                            gpu.quantile(array, QUANTILES, axis, method="inverted_cdf",
                                         weights=weights), np.array(expected))
                along = gpu.quantile(array, 0.5, 1, method="inverted_cdf", weights=np.arange(9))
                self.assert_same(along, weighted_quantile(
                    array, np.broadcast_to(np.arange(9), (4, 9)), 0.5, 1))
            with_nan = np.array([4.0, np.nan, 2.0])
            self.assertTrue(np.isnan(gpu.quantile(with_nan, 0.5, method="inverted_cdf",
                                                  weights=[1, 1, 2])))
            self.assertEqual(gpu.nanquantile(with_nan, 0.5, method="inverted_cdf",
                                             weights=[1, 9, 2]), 2)
            with self.assertRaisesRegex(ValueError, "Only method 'inverted_cdf'"):
                gpu.quantile([1, 2], 0.5, weights=[1, 2])
            with self.assertRaisesRegex(ValueError, "Shape of weights"):
                gpu.quantile([1, 2], 0.5, method="inverted_cdf", weights=[1, 2, 3])
            with self.assertRaisesRegex(gf.InvalidArgumentError, "negative"):
                gpu.quantile([1, 2], 0.5, method="inverted_cdf", weights=[1, -2])
        resident = self.gpu.put(np.arange(6.0)), self.gpu.put(np.arange(6, dtype="u2"))
        self.assertEqual(self.gpu.quantile(resident[0], 0.5, method="inverted_cdf",
                                           weights=resident[1]), 4)

    def test_weights_beside_arrays_of_any_order(self):
        array = np.arange(24.0).reshape(4, 6)[:, ::-1] % 7
        weights = np.random.default_rng(9).integers(1, 9, (4, 6))
        for form, given in forms(array):
            for axis in (None, 0, 1):
                self.assert_same(
                    self.gpu.quantile(given, 0.4, axis, method="inverted_cdf", weights=weights),
                    weighted_quantile(array, weights, 0.4, axis)[()], f"{form} {axis}")

    def test_nan(self):
        array = np.array([[1.0, np.nan, 3.0, 2.0], [5.0, 4.0, 8.0, 7.0]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assert_same(self.gpu.median(array, 1), np.median(array, 1))
            self.assert_same(self.gpu.quantile(array, 0.3), np.quantile(array, 0.3))
        self.assert_same(self.gpu.nanmedian(array, 1), np.nanmedian(array, 1))
        self.assert_same(self.gpu.nanquantile(array, [0.1, 0.7], 0),
                         np.nanquantile(array, [0.1, 0.7], 0))
        self.assert_same(self.gpu.nanpercentile(array, 40), np.nanpercentile(array, 40))
        self.assert_same(self.gpu.percentile(array[1], 40), np.percentile(array[1], 40))
        with self.assertWarns(RuntimeWarning):
            self.assertTrue(np.isnan(self.gpu.nanmedian(np.full(3, np.nan))))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Of NaNs that count nobody is warned.
            self.assertTrue(np.isnan(self.gpu.median(np.full(3, np.nan))))
            self.assertEqual(self.gpu.nanmedian([3, 1, 2]), 2)

    def test_large_integers_are_exact(self):
        array = np.array([2**63 - 1, 2**63 - 3, -2**63], np.int64)
        self.assert_same(self.gpu.quantile(array, 0.5, method="lower"), np.int64(2**63 - 3))
        unsigned = np.array([2**64 - 1, 2**64 - 2], np.uint64)
        self.assert_same(self.gpu.quantile(unsigned, 0.0, method="nearest"), np.uint64(2**64 - 2))

    def test_no_elements(self):
        for (name, q), (shape, axis) in itertools.product(
                (("quantile", [0.5]), ("nanquantile", [0.5]), ("median", []), ("nanmedian", [])),
                (((0,), None), ((0, 3), 0), ((0, 3), 1))):
            found = []
            for module in (self.gpu, np):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        answer = getattr(module, name)(np.empty(shape), *q, axis=axis).tolist()
                    except IndexError as error:
                        answer = str(error)
                found.append((str(answer), [str(one.message) for one in caught]))
            self.assertEqual(*found, f"{name} {shape} {axis}")

    def test_topk(self):
        for name, gpu in self.both():
            for dtype in DTYPES:
                array = numbers(dtype, (4, 5, 6), seed=6)
                for axis in (0, 1, 2, -1):
                    for largest in (False, True):
                        with self.subTest(engine=name, dtype=dtype, axis=axis, largest=largest):
                            values, indices = gpu.topk(array, 3, axis, largest=largest)
                            expected, places = top(array, 3, axis, largest)
                            self.assert_same(values, expected)
                            self.assert_same(indices, places)
                values, indices = gpu.topk(array, 7, None)
                expected, places = top(array.reshape(-1), 7, 0, True)
                self.assert_same(values, expected)
                self.assert_same(indices, places)

    def test_topk_of_nan(self):
        array = np.array([1.0, np.nan, 5.0, 3.0])
        self.assertEqual(self.gpu.topk(array, 2).indices.tolist(), [1, 2])
        self.assertEqual(self.gpu.topk(array, 2, largest=False).indices.tolist(), [1, 0])
        self.assertEqual(self.gpu.topk(array, 2, ignore_nan=True).indices.tolist(), [2, 3])
        with self.assertRaises(gf.InvalidArgumentError):
            self.gpu.topk(array, 4, ignore_nan=True)

    def test_resident_arrays(self):
        array = numbers(np.dtype("f4"), (40, 30), seed=7)
        with self.gpu.put(array) as kept:
            for axis in (None, 0, 1):
                self.assert_same(self.gpu.median(kept, axis), np.median(array, axis))
                values, indices = self.gpu.topk(kept, 2, axis)
                expected, places = (top(array, 2, axis, True) if axis is not None else
                                    top(array.reshape(-1), 2, 0, True))
                self.assert_same(values, expected)
                self.assert_same(indices, places)

    def test_faults(self):
        for q in (-0.1, 1.5, np.nan):
            with self.assertRaisesRegex(ValueError, "must be in the range"):
                self.gpu.quantile([1.0, 2.0], q)
        with self.assertRaises(ValueError):
            self.gpu.quantile([1.0], 0.5, method="cubic")
        for k in (0, 3):
            with self.assertRaisesRegex(ValueError, f"k: {k} is not from 1 to the 2 elements"):
                self.gpu.topk([1.0, 2.0], k)
        for shape in ((0,), (0, 3)):
            with self.assertRaisesRegex(ValueError, "topk: there are no elements"):
                self.gpu.topk(np.empty(shape), 1)
        with self.assertRaisesRegex(ValueError, "axis 3 is out of bounds for array of dimension 2"):
            self.gpu.median([[1.0]], axis=3)

    def test_more_quantiles_than_a_request_takes(self):
        array = np.random.default_rng(8).normal(size=1000)
        many = np.linspace(0, 1, 600)
        self.assert_same(self.gpu.quantile(array, many), np.quantile(array, many))


if __name__ == "__main__":
    unittest.main()
