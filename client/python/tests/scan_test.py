"""Running sums, products and extremes beside NumPy's."""

import itertools
import math
import unittest
from fractions import Fraction

import numpy as np

from package_case import DTYPES, PackageTest, forms, gf, numbers


class ScanTest(PackageTest):
    def test_every_type(self):
        for dtype in DTYPES:
            array = numbers(dtype, (3, 5))
            for axis in (None, 0, 1):
                with self.subTest(dtype=dtype, axis=axis):
                    self.assert_same(self.gpu.cumsum(array, axis), np.cumsum(array, axis))
                    self.assert_same(self.gpu.cumprod(array[:, :3], axis),
                                     np.cumprod(array[:, :3].astype(
                                         np.float64 if dtype.kind == "f" else dtype),
                                         axis).astype(np.cumprod(array[:1, :1]).dtype))

    def test_every_axis_and_order(self):
        array = numbers(np.dtype("f4"), (2, 3, 4))
        for form, given in forms(array):
            for axis in (None, 0, 1, 2, -1):
                self.assert_same(self.gpu.cumsum(given, axis), np.cumsum(array, axis),
                                 f"{form} {axis}")
                if axis is not None:
                    self.assert_same(self.gpu.cummax(given, axis),
                                     np.maximum.accumulate(array, axis), f"{form} {axis}")

    def test_extremes(self):
        array = numbers(np.dtype("i2"), 50)
        self.assert_same(self.gpu.cummin(array), np.minimum.accumulate(array))
        self.assert_same(self.gpu.cummax(array), np.maximum.accumulate(array))
        flags = numbers(np.dtype("?"), 9)
        self.assert_same(self.gpu.cummax(flags), np.maximum.accumulate(flags))

    def test_nan(self):
        array = np.array([1.0, np.nan, 2.0, np.nan])
        self.assert_same(self.gpu.cumsum(array), np.cumsum(array))
        self.assert_same(self.gpu.nancumsum(array), np.nancumsum(array))
        self.assert_same(self.gpu.nancumprod(array), np.nancumprod(array))

    def test_modes(self):
        array = np.array([1, 2, 3, 4])
        self.assert_same(self.gpu.cumsum(array, exclusive=True), np.array([0, 1, 3, 6]))
        self.assert_same(self.gpu.cumsum(array, reverse=True), np.array([10, 9, 7, 4]))

    def test_every_mode_of_every_scan(self):
        array = np.array([[3.0, 1.0, np.nan, 2.0], [0.5, 4.0, -1.0, 8.0]])
        nan = {"nancumsum": 0.0, "nancumprod": 1.0, "cumsum": np.nan, "cumprod": np.nan}
        functions = {"cumsum": np.cumsum, "nancumsum": np.cumsum, "cumprod": np.cumprod,
                     "nancumprod": np.cumprod, "cummin": np.minimum.accumulate,
                     "cummax": np.maximum.accumulate}
        firsts = {"cumsum": 0.0, "nancumsum": 0.0, "cumprod": 1.0, "nancumprod": 1.0,
                  "cummin": np.inf, "cummax": -np.inf}
        modes = itertools.product((False, True), repeat=3)
        for (name, function), (exclusive, reverse, ignores) in itertools.product(
                functions.items(), modes):
            if ignores and name in nan:
                continue
            missing = firsts[name] if ignores else nan.get(name, np.nan)
            given = np.where(np.isnan(array), missing, array)
            given = given[:, ::-1] if reverse else given
            expected = function(given, axis=1)
            if exclusive:
                expected = np.concatenate([np.full((2, 1), firsts[name]), expected[:, :-1]], 1)
            expected = expected[:, ::-1] if reverse else expected
            options = {"ignore_nan": True} if ignores else {}
            with self.subTest(name=name, exclusive=exclusive, reverse=reverse, ignores=ignores):
                self.assert_same(getattr(self.gpu, name)(array, 1, exclusive=exclusive,
                                                         reverse=reverse, **options),
                                 np.ascontiguousarray(expected))

    def test_exact_sums_and_wrapping(self):
        array = np.array([1e30, 1.0, -1e30, 1.0])
        for name in ("cumsum", "nancumsum"):
            exact = getattr(self.gpu, name)(array, exact=True)
            self.assert_same(exact, np.array([1e30, 1e30, 1.0, 2.0]), name)
        large = np.array([2**62, 2, 2])
        for name, function in (("cumsum", np.cumsum), ("cumprod", np.cumprod),
                               ("nancumsum", np.cumsum), ("nancumprod", np.cumprod)):
            given = large if name.endswith("prod") else large * 1 + np.array([0, 2**62 - 2, 0])
            with self.assertRaises(gf.OutOfRangeError):
                getattr(self.gpu, name)(given)
            self.assert_same(getattr(self.gpu, name)(given, overflow="wrap"), function(given), name)

    def test_moving(self):
        array = numbers(np.dtype("f8"), (2, 60))
        array[1, 5] = np.nan
        for window in (1, 3, 50):
            for axis in (-1, 0):
                rows = np.moveaxis(array, axis, -1)
                for least in (None, 1):
                    counted = window if least is None else least
                    sums = np.full(rows.shape, np.nan)
                    means = sums.copy()
                    for place in np.ndindex(rows.shape):
                        held = rows[place[:-1]][max(0, place[-1] + 1 - window):place[-1] + 1]
                        held = held[~np.isnan(held)]
                        if len(held) >= max(counted, 1):
                            sums[place] = math.fsum(held)
                            means[place] = float(sum(map(Fraction, held)) / len(held))
                    with self.subTest(window=window, axis=axis, least=least):
                        self.assert_same(self.gpu.move_sum(array, window, least, axis),
                                         np.moveaxis(sums, -1, axis))
                        self.assert_same(self.gpu.move_mean(array, window, least, axis),
                                         np.moveaxis(means, -1, axis))

    def test_moving_integers(self):
        array = np.array([1, 2, 3, 5], np.int16)
        nan = np.nan
        self.assert_same(self.gpu.move_sum(array, 2), np.array([nan, 3, 5, 8]))
        self.assert_same(self.gpu.move_sum(array, 2, 1), np.array([1.0, 3, 5, 8]))
        self.assert_same(self.gpu.move_sum(array, 3, reverse=True), np.array([6, 10.0, nan, nan]))
        self.assert_same(self.gpu.move_sum(array.reshape(2, 2), 2, axis=0),
                         np.array([[nan, nan], [4.0, 7]]))
        self.assert_same(self.gpu.move_sum(array, 2, 0), np.array([1.0, 3, 5, 8]))
        self.assert_same(self.gpu.move_sum([nan, 1.0], 1, 0), np.array([0.0, 1]))
        self.assert_same(self.gpu.move_mean(array, 2), np.array([nan, 1.5, 2.5, 4]))
        self.assert_same(self.gpu.move_mean(array > 2, 4, 1), np.array([0, 0, 1 / 3, 0.5]))
        self.assert_same(self.gpu.move_sum(array[:0], 2), np.empty(0))
        for name, dtype in itertools.product(("move_sum", "move_mean"), ("i2", "f4")):
            for axis, shape in ((None, (0,)), (0, (0, 3)), (1, (0, 3))):
                found = getattr(self.gpu, name)(np.empty((0, 3), dtype), 2, axis=axis)
                self.assert_same(found, np.empty(shape, "f8" if dtype == "i2" else "f4"), name)
        for window, least in ((0, None), (2, 3), (2, -1)):
            with self.assertRaisesRegex(ValueError, f"a window of {window} elements, of which"):
                self.gpu.move_sum(array, window, least)

    def test_dtypes(self):
        small = np.array([100, 100], np.int8)
        self.assert_same(self.gpu.cumsum(small), np.cumsum(small))
        self.assert_same(self.gpu.cumsum(small, dtype=np.float32),
                         np.cumsum(small, dtype=np.float32))
        # Elements are converted before they are added.
        for array, dtype in ((np.array([2**62] * 3), np.float64), (np.full(4, 0.5), np.int32)):
            self.assert_same(self.gpu.cumsum(array, dtype=dtype), np.cumsum(array, dtype=dtype))
        for array, dtype in ((small[:1], np.int16), (np.ones(3, "f4"), np.float16)):
            self.assert_same(self.gpu.cumsum(array, dtype=dtype), np.cumsum(array, dtype=dtype))
        halves = np.full(4, 0.1, np.float32)
        self.assert_same(self.gpu.cumsum(halves, dtype=np.float64),
                         np.cumsum(halves, dtype=np.float64))

    def test_no_elements_and_errors(self):
        self.assert_same(self.gpu.cumsum(np.empty((0, 3), np.int16), 1),
                         np.cumsum(np.empty((0, 3), np.int16), 1))
        with self.assertRaises(gf.OutOfRangeError):
            self.gpu.cumsum(np.array([2**63 - 1, 1]))
        with self.assertRaises(ValueError):
            self.gpu.cumsum([1, 2], axis=1)

    def test_more_than_four_mebibytes_come_back(self):
        array = np.ones(2_000_000, np.float64)
        result = self.gpu.cumsum(array)
        self.assert_same(result, np.cumsum(array))
        self.assertTrue(result.flags.writeable and result.flags.aligned)


if __name__ == "__main__":
    unittest.main()
