"""Dot products, covariances, correlations and weighted averages beside NumPy's and exact fractions."""

import unittest
from fractions import Fraction
from unittest import mock

import numpy as np

from package_case import DTYPES, PackageTest, forms, gf, numbers

NUMBERS = [dtype for dtype in DTYPES if dtype.kind != "b"]


def exactly(array):
    return [Fraction(one) for one in array.ravel().tolist()]


def covariance(x, y, weights=None, ddof=1, reliability=False):
    """As a fraction, of fractions."""
    weights = weights or [Fraction(1)] * len(x)
    total = sum(weights)
    deviations = (total * sum(w * a * b for w, a, b in zip(weights, x, y))
                  - sum(w * a for w, a in zip(weights, x)) * sum(w * b for w, b in zip(weights, y)))
    taken = sum(w * w for w in weights) if reliability else total
    return deviations / (total * total - ddof * taken)


class PairedTest(PackageTest):
    def both(self):
        yield "server", self.gpu
        yield "local", gf.local()

    def test_dot_of_every_type(self):
        for name, gpu in self.both():
            for dtype in NUMBERS:
                with self.subTest(engine=name, dtype=dtype):
                    x, y = numbers(dtype, 300, seed=1), numbers(dtype, 300, seed=2)
                    expected = sum(a * b for a, b in zip(exactly(x), exactly(y)))
                    value = gpu.dot(x, y)
                    kind = dtype if dtype.kind == "f" else np.dtype(
                        np.uint64 if dtype.kind == "u" else np.int64)
                    self.assertEqual(value.dtype, kind)
                    self.assertEqual(value, dtype.type(float(expected)) if dtype.kind == "f"
                                     else expected)

    def test_dtypes_that_differ(self):
        flags = np.array([True, False, True])
        for name, gpu in self.both():
            for dtype in NUMBERS:
                with self.subTest(engine=name, dtype=dtype):
                    values = np.array([100, 2, 3], dtype)
                    kind = dtype if dtype.kind == "f" else np.dtype(
                        np.uint64 if dtype.kind == "u" else np.int64)
                    for given in ((flags, values), (values, flags)):
                        self.assert_same(gpu.dot(*given), kind.type(103))
            self.assertEqual(gpu.dot(flags, flags), 2)
            values = np.array([[1.5, 2.0], [3.0, 4.0]], "f4")
            self.assert_same(gpu.average(values, 0, [1, 3]), np.average(values, 0, [1, 3]))
            for one in (2**53, -2**53):
                self.assert_same(gpu.dot(np.array([one, 3]), [0.5, 1]), np.float64(one / 2 + 3))
            self.assert_same(gpu.dot(np.array([2**53], "u8"), np.array([-1], "i8")),
                             np.float64(-2**53))
            self.assertEqual(gpu.dot(np.array([100], "i1"), np.array([200], "u1")), 20_000)

    def test_sums_that_cancel_are_exact(self):
        generator = np.random.default_rng(5)
        x = generator.normal(size=999) * 10.0 ** generator.integers(-150, 150, 999)
        y = generator.normal(size=999) * 10.0 ** generator.integers(-150, 150, 999)
        for name, gpu in self.both():
            with self.subTest(engine=name):
                expected = float(sum(a * b for a, b in zip(exactly(x), exactly(y))))
                self.assertEqual(gpu.dot(x, y), expected)
                self.assertEqual(gpu.dot(x[::-1], y[::-1]), expected)
                self.assertEqual(gpu.cov(x, y)[0, 1], float(covariance(exactly(x), exactly(y))))

    def test_covariances_and_correlations(self):
        generator = np.random.default_rng(3)
        for name, gpu in self.both():
            for dtype in NUMBERS:
                if dtype.itemsize == 1:
                    continue
                with self.subTest(engine=name, dtype=dtype):
                    m = numbers(dtype, (4, 50), seed=4)
                    wide = m.astype(np.float64)
                    self.assert_near(gpu.cov(m), np.cov(wide))
                    self.assert_near(gpu.cov(m.T, rowvar=False, ddof=0), np.cov(wide, ddof=0))
                    self.assert_near(gpu.corrcoef(m), np.corrcoef(wide), ulps=8)
                    self.assert_near(gpu.cov(m[0], m[1]), np.cov(wide[0], wide[1]))
                    self.assert_near(gpu.cov(m, m[1]), np.cov(wide, wide[1]))
                    self.assert_near(gpu.corrcoef(m[0], m[1]), np.corrcoef(wide[0], wide[1]),
                                     ulps=8)
                    self.assert_near(gpu.cov(m[0]), np.cov(wide[0]))
            for form, given in forms(generator.normal(size=(3, 40))):
                self.assert_near(gpu.cov(given), np.cov(given), form)

    def test_weights_of_both_kinds(self):
        x, y = numbers(np.dtype("f8"), 80, seed=1), numbers(np.dtype("f8"), 80, seed=2)
        counts = np.random.default_rng(1).integers(0, 5, 80)
        for name, gpu in self.both():
            with self.subTest(engine=name):
                self.assert_near(gpu.cov(x, y, fweights=counts.astype("i4")),
                                 np.cov(x, y, fweights=counts))
                weights = counts / 8
                self.assert_near(gpu.cov(x, y, aweights=weights), np.cov(x, y, aweights=weights))
                self.assertEqual(
                    gpu.cov(x, y, aweights=weights)[0, 1],
                    float(covariance(exactly(x), exactly(y), exactly(weights), reliability=True)))

    def test_averages(self):
        a = numbers(np.dtype("f4"), (6, 70), seed=1)
        weights = np.random.default_rng(1).integers(0, 9, (6, 70)).astype("f4")
        for name, gpu in self.both():
            with self.subTest(engine=name):
                self.assert_near(gpu.average(a, weights=weights),
                                 np.average(a, weights=weights))
                self.assert_near(gpu.average(a, 0, weights=weights[:, 1] + 1),
                                 np.average(a, 0, weights=weights[:, 1] + 1))
                self.assert_near(gpu.average(a, 1, weights=weights[1]),
                                 np.average(a, 1, weights=weights[1]))
                self.assert_near(gpu.average(a, 1), np.average(a, 1))
                whole = a.astype("i2")
                self.assert_near(gpu.average(whole, weights=weights),
                                 np.average(whole, weights=weights.astype("f8")).astype("f4"))
                self.assert_same(gpu.average([1, 2], weights=[1, 3]), np.float64(1.75))
                with self.assertRaises(gf.InvalidArgumentError):
                    gpu.average(a, weights=np.zeros_like(a))

    def test_nan_and_constants(self):
        for name, gpu in self.both():
            with self.subTest(engine=name):
                x = np.array([1.0, np.nan, 3.0])
                self.assertTrue(np.isnan(gpu.cov(x, x[::-1])).all())
                with np.errstate(all="ignore"):
                    expected = np.corrcoef([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
                np.testing.assert_array_equal(
                    gpu.corrcoef([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]), expected)
                # Variances that are not 0, and less than any float64.
                small = gpu.corrcoef([1e-310, 2e-310, 4e-310], [1.0, 2.0, 3.0])
                np.testing.assert_array_equal(np.diag(small), [1.0, 1.0])
                np.testing.assert_array_equal(gpu.corrcoef([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]),
                                              expected)

    def test_arrays_on_the_server(self):
        m = numbers(np.dtype("f8"), (50, 3), seed=7)
        weights = numbers(np.dtype("f8"), (50, 3), seed=8) + 20
        for name, gpu in self.both():
            with self.subTest(engine=name), gpu.put(m) as there:
                self.assert_same(gpu.cov(there, rowvar=False), gpu.cov(m, rowvar=False))
                self.assert_same(gpu.vdot(there, m), gpu.vdot(m, m))
                self.assert_same(gpu.vdot(there, there), gpu.vdot(m, m))
                self.assert_near(gpu.average(there, weights=weights),
                                 np.average(m, weights=weights))
                self.assert_near(gpu.average(there, 0, weights=weights[:, 0]),
                                 np.average(m, 0, weights=weights[:, 0]))

    def test_matrices_on_the_server_stay_there(self):
        m = numbers(np.dtype("f8"), (70, 130), seed=9)
        of_rows = np.random.default_rng(1).integers(1, 9, 70).astype("f8")
        of_columns = np.random.default_rng(2).integers(1, 9, 130).astype("f8")
        for name, gpu in self.both():
            with (self.subTest(engine=name), gpu.put(m) as there,
                  mock.patch.object(type(there), "__array__", side_effect=AssertionError("read"))):
                self.assert_same(gpu.cov(there[:60]), gpu.cov(m[:60]))
                self.assert_same(gpu.corrcoef(there[:9, ::2]), gpu.corrcoef(m[:9, ::2]))
                self.assert_same(gpu.average(there, 0, of_rows), gpu.average(m, 0, of_rows))
                self.assert_same(gpu.average(there, 1, of_columns), gpu.average(m, 1, of_columns))
                self.assert_near(gpu.average(there, -1, of_columns),
                                 np.average(m, -1, of_columns))

    def test_what_is_refused(self):
        for name, gpu in self.both():
            with self.subTest(engine=name):
                for ask in (gpu.dot, gpu.vdot):
                    with self.assertRaisesRegex(ValueError, r"shapes \(2,\) and \(1,\) differ"):
                        ask([1.0, 2.0], [1.0])
                with self.assertRaisesRegex(ValueError, "more than 2 dimensions"):
                    gpu.cov([[1.0, 2.0]], [[[1.0, 2.0]]])
                with self.assertRaises(ValueError):
                    gpu.dot([[1.0]], [[1.0]])
                for one in (2**53 + 1, -2**53 - 1):
                    with self.assertRaisesRegex(TypeError, "64-bit integers would be rounded"):
                        gpu.dot(np.array([1, one]), np.array([1.0, 2.0]))
                with gpu.put([1, 2]) as kept, self.assertRaisesRegex(TypeError, "64-bit integers"):
                    gpu.dot(kept, np.array([1.0, 2.0]))
                with self.assertRaises(gf.OutOfRangeError):
                    gpu.dot(np.array([2**62] * 2), np.array([1, 1]))
                self.assertEqual(gpu.dot(np.array([2**62] * 2), np.array([1, 1]), overflow="wrap"),
                                 -2**63)
                with self.assertRaises(gf.Error):
                    gpu.cov(np.zeros((65, 3)))


if __name__ == "__main__":
    unittest.main()
