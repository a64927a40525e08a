"""Reductions beside NumPy's: all dtypes, orders, axes and policies."""

import itertools
import unittest
import unittest.mock
import warnings

import numpy as np

from package_case import DTYPES, PackageTest, forms, gf, numbers

SAME = ("sum", "prod", "min", "max", "any", "all", "argmin", "argmax")
NEAR = ("mean", "var", "std")


def axes_of(dimensions):
    yield None
    for count in range(dimensions + 1):
        yield from itertools.combinations(range(dimensions), count)
    yield from range(-dimensions, dimensions)


def exact(array, name, **options):
    """NumPy's answer, rounded once: computed in float64 where elements are smaller."""
    if array.dtype.kind == "f" and name not in ("any", "all", "argmin", "argmax"):
        value = getattr(np, name)(array.astype(np.float64), **options)
        return value.astype(array.dtype)
    return getattr(np, name)(array, **options)


class ReductionTest(PackageTest):
    def test_every_type(self):
        for dtype in DTYPES:
            array = numbers(dtype, (3, 5))
            for name in SAME + NEAR:
                for axis in (None, 0, 1):
                    with self.subTest(dtype=dtype, name=name, axis=axis):
                        actual = getattr(self.gpu, name)(array, axis=axis)
                        expected = exact(array, name, axis=axis)
                        check = self.assert_near if name in NEAR else self.assert_same
                        check(actual, expected)

    def test_every_axis_and_order(self):
        array = numbers(np.dtype("f4"), (2, 3, 4, 5))
        for form, given in forms(array):
            for axis in axes_of(array.ndim):
                for name in ("sum", "max", "mean"):
                    for keepdims in (False, True):
                        message = f"{form} {name} {axis} {keepdims}"
                        actual = getattr(self.gpu, name)(given, axis=axis, keepdims=keepdims)
                        self.assert_near(actual, exact(array, name, axis=axis, keepdims=keepdims),
                                         message)

    def test_large_answers_are_rounded_by_the_server(self):
        generator = np.random.default_rng(11)
        for dtype in (np.float16, np.float32):
            array = generator.normal(0, 1, (3, 65_537)).astype(dtype)
            array[:, 0] = np.finfo(dtype).max
            array[1, 1:4] = np.nan, np.inf, -0.0
            with unittest.mock.patch.object(self.gpu._engine, "reduce",
                                            wraps=self.gpu._engine.reduce) as asked:
                actual = self.gpu.reduce(array, ["mean", "min", "count"], axis=0)
                self.assertEqual(asked.call_args.kwargs["output_type"],
                                 {"float16": 9, "float32": 11}[np.dtype(dtype).name])
                half = self.gpu.reduce(array[:, :32_768], ["mean", "min", "count"], axis=0)
                self.assertIsNone(asked.call_args.kwargs["output_type"])
                # Whose sum may overflow, of which NumPy warns.
                self.gpu.reduce(array[:, 1:], ["sum"], axis=0)
                self.assertIsNone(asked.call_args.kwargs["output_type"])
                self.gpu.mean(array[:, 1:].astype(bool).astype(int), axis=0)
                self.assertIsNone(asked.call_args.kwargs["output_type"])
            for name, values in half.items():
                self.assertEqual(actual[name].dtype, np.int64 if name == "count" else dtype)
                self.assertEqual(actual[name][:32_768].tobytes(), values.tobytes())

    def test_positions_in_every_order(self):
        array = numbers(np.dtype("i4"), (4, 3, 5))
        for form, given in forms(array):
            for axis in (None, 0, 1, 2, -1):
                for name in ("argmin", "argmax"):
                    actual = getattr(self.gpu, name)(given, axis=axis)
                    self.assert_same(actual, getattr(np, name)(array, axis=axis), f"{form} {axis}")

    def test_scalars_and_lists(self):
        self.assert_same(self.gpu.sum(3), np.int64(3))
        self.assert_same(self.gpu.sum(np.float32(1.5), axis=-1), np.float32(1.5))
        self.assert_same(self.gpu.max([[1.0, 2.0], [4.0, 3.0]], axis=1), np.array([2.0, 4.0]))
        self.assert_same(self.gpu.sum(range(5)), np.int64(10))

    def test_no_elements(self):
        for shape in ((0,), (0, 3), (3, 0), (2, 0, 4)):
            empty = np.empty(shape, np.float32)
            for axis in (None, 0, len(shape) - 1):
                for name in ("sum", "prod", "any", "all"):
                    self.assert_same(getattr(self.gpu, name)(empty, axis=axis),
                                     getattr(np, name)(empty, axis=axis), f"{shape} {axis}")
                for name in ("mean", "std", "nansum", "nanmean", "nanvar"):
                    self.assert_warns_alike(name, empty, axis=axis)
        for name in ("argmin", "argmax", "min", "max", "nanmin", "ptp"):
            self.assert_same(getattr(self.gpu, name)(np.empty((0, 3)), axis=1),
                             getattr(np, name)(np.empty((0, 3)), axis=1), name)
        with self.assertRaisesRegex(ValueError, "zero-size array"):
            self.gpu.min(np.empty(0))
        self.assertEqual(self.gpu.min(np.empty(0), initial=3), 3)
        with self.assertWarns(RuntimeWarning):
            self.assertTrue(np.isnan(self.gpu.mean(np.empty(0))))

    def test_nan(self):
        array = numbers(np.dtype("f8"), (4, 6))
        array[0, 1] = array[2, :3] = array[3] = np.nan
        for name in ("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"):
            for axis in (None, 0, 1):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    expected = getattr(np, name)(array, axis=axis)
                    actual = getattr(self.gpu, name)(array, axis=axis)
                self.assert_near(actual, expected, f"{name} {axis}")
        for name in ("sum", "min", "max", "mean", "std", "argmin"):
            self.assert_same(getattr(self.gpu, name)(array, axis=1),
                             getattr(np, name)(array, axis=1), name)
        self.assert_same(self.gpu.nanargmax(array[:3], axis=1), np.nanargmax(array[:3], axis=1))
        with self.assertRaisesRegex(ValueError, "All-NaN"):
            self.gpu.nanargmax(array, axis=1)
        self.assert_same(self.gpu.count_nan(array, axis=1), np.isnan(array).sum(axis=1))

    def assert_warns_alike(self, name, *arguments, **options):
        """The same answer as NumPy's, and its first warning; of divisions it warns, too."""
        found = []
        for module in (self.gpu, np):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                answer = getattr(module, name)(*arguments, **options)
            found.append((answer, [str(one.message).rstrip(".") for one in caught]))
        (answer, messages), (expected, expected_messages) = found
        self.assert_near(answer, expected, name)
        self.assertEqual(messages[:1], expected_messages[:1], f"{name} {options}")
        return messages

    def test_warnings(self):
        array = np.array([[np.nan, np.nan], [np.nan, 5], [1, 3]])
        mask = np.array([[False, False], [True, False], [True, True]])
        for name in ("nanmean", "nanmin", "nanvar", "nanstd", "var"):
            every = [{}] if name in ("nanmean", "nanmin") else [{"ddof": ddof}
                                                               for ddof in (0, 0.5, 1, 2)]
            for options in every:
                for x in (array, array[1:], array[2:]):
                    self.assertLessEqual(
                        len(self.assert_warns_alike(name, x, axis=1, **options)), 1, name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # `ddof` is none of a mean's.
            self.gpu.reduce(array[1:], ["mean"], 1, ddof=1, ignore_nan=True)
        for name in ("mean", "nanmean", "var", "std"):
            for chosen in (mask, mask[:, :1], np.ones_like(mask)):
                self.assert_warns_alike(name, array, axis=1, where=chosen)

    def test_degrees_of_freedom(self):
        array = numbers(np.dtype("f8"), (3, 2))
        array[0, 0] = np.nan
        for ddof in (0, 0.5, 1, 1.5, 2, 3):
            for name in ("var", "std", "nanvar", "nanstd"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    self.assert_near(getattr(self.gpu, name)(array, axis=1, ddof=ddof),
                                     getattr(np, name)(array, axis=1, ddof=ddof),
                                     f"{name} {ddof}")
        for wrong in (-1, "1"):
            with self.assertRaises((TypeError, ValueError)):
                self.gpu.std(array, ddof=wrong)

    def test_further_statistics(self):
        array = numbers(np.dtype("f8"), (40,))
        self.assert_near(self.gpu.rms(array), np.sqrt(np.mean(array**2)))
        self.assert_near(self.gpu.sem(array), np.std(array, ddof=1) / np.sqrt(40))
        self.assert_near(self.gpu.norm(array), np.linalg.norm(array))
        self.assert_near(self.gpu.norm(array, 1), np.linalg.norm(array, 1))
        self.assert_same(self.gpu.ptp(array), np.ptp(array))
        self.assert_same(self.gpu.count_nonzero(array), np.int64(np.count_nonzero(array)))
        for axis in (None, 1):
            self.assert_same(self.gpu.ptp(np.array([[-1, 126]], np.int8), axis),
                             np.ptp(np.array([[-1, 126]], np.int8), axis))
            with self.assertRaisesRegex(OverflowError, "the range 128 lies outside int8"):
                self.gpu.ptp(np.array([[-1, 127]], np.int8), axis)

    def test_sums_are_exact(self):
        array = np.array([1e100, 1.0, -1e100, 2.0**-60])
        self.assertEqual(self.gpu.sum(array), 1.0)
        self.assertEqual(self.gpu.sum(array[::-1]), 1.0)

    def test_dtype_initial_and_where(self):
        small = np.array([1, 2, 250], np.uint8)
        self.assert_same(self.gpu.sum(small, dtype=np.float32), np.float32(253))
        self.assert_same(self.gpu.sum([0.75, 0.75], dtype=np.int64),
                         np.sum([0.75, 0.75], dtype=np.int64))
        self.assert_same(self.gpu.sum([1.0], initial=2), np.float64(3))
        array, mask = numbers(np.dtype("f8"), (3, 4)), np.eye(3, 4, dtype=bool)
        for name in ("sum", "prod", "mean", "std", "any"):
            self.assert_near(getattr(self.gpu, name)(array, where=mask),
                             getattr(np, name)(array, where=mask), name)
            self.assert_near(getattr(self.gpu, name)(array, where=mask, keepdims=True),
                             getattr(np, name)(array, where=mask, keepdims=True), name)
        for name in ("sum", "prod", "any", "all"):
            self.assert_near(getattr(self.gpu, name)(array, axis=0, where=mask),
                             getattr(np, name)(array, axis=0, where=mask), name)
        nothing = np.zeros_like(mask)
        self.assert_same(self.gpu.max(array, initial=-99, where=nothing), np.max(
            array, initial=-99, where=nothing))
        self.assert_same(self.gpu.max(array, axis=1, initial=-99, where=mask),
                         np.max(array, axis=1, initial=-99, where=mask))
        for name in ("mean", "std", "var"):
            for axis in (0, 1, -1):
                self.assert_near(getattr(self.gpu, name)(array, axis=axis, where=array > -20),
                                 getattr(np, name)(array, axis=axis, where=array > -20), name)
        cube = numbers(np.dtype("f4"), (3, 4, 5))
        mask = np.arange(20).reshape(4, 5) % 3 > 0
        for axis in ((0, 2), 1, (1, 2), 0):
            self.assert_near(self.gpu.mean(cube, axis=axis, where=mask),
                             np.mean(cube, axis=axis, where=mask), axis)
        with self.assertWarns(RuntimeWarning):
            self.assertTrue(np.isnan(self.gpu.mean(array, axis=0, where=array > 1e9)).all())
        with self.assertRaises(ValueError):
            self.gpu.max(array, axis=0, where=mask[:3, :4])
        with self.assertRaises(TypeError):
            self.gpu.mean(array, axis=0, where=array)

    def test_options_of_those_without_nan(self):
        array = numbers(np.dtype("f4"), (4, 6), seed=2)
        array[1, 2] = array[2] = np.nan
        mask = np.arange(24).reshape(4, 6) % 4 > 0
        for name in ("nansum", "nanprod"):
            function = getattr(np, name)
            for options in (dict(axis=1), dict(axis=0, keepdims=True), dict(where=mask),
                            dict(axis=1, initial=3), dict(axis=1, dtype=np.float16)):
                self.assert_near(getattr(self.gpu, name)(array, **options),
                                 function(array, **options), f"{name} {options}")
            with self.assertRaises(gf.OutOfRangeError):
                getattr(self.gpu, name)(np.array([2**62] * 4))
            self.assertEqual(getattr(self.gpu, name)(np.array([2**62] * 4), overflow="wrap"), 0)
        for name in ("nanmin", "nanmax"):
            for options in (dict(axis=1, initial=0.25), dict(initial=-0.25, keepdims=True),
                            dict(axis=0, initial=2, where=mask)):
                self.assert_same(getattr(self.gpu, name)(array, **options),
                                 getattr(np, name)(array, **options), f"{name} {options}")
        for name in ("nanmean", "nanvar", "nanstd"):
            with self.assertRaisesRegex(TypeError, "must be inexact"):
                getattr(self.gpu, name)(array, dtype=np.int64)
            self.assertEqual(getattr(self.gpu, name)(array, dtype=np.float64).dtype, np.float64)
            self.assert_near(getattr(self.gpu, name)(array, where=mask, keepdims=True),
                             getattr(np, name)(array, where=mask, keepdims=True), name)
        for name in ("mean", "var", "std"):
            self.assertEqual(getattr(self.gpu, name)([1, 3], dtype=np.float32).dtype, np.float32)
        row = np.array([np.nan, 5, 2, 7, 2])
        self.assert_same(self.gpu.nanargmin(row, keepdims=True), np.nanargmin(row, keepdims=True))
        self.assert_same(self.gpu.nanargmax(row), np.nanargmax(row))

    def test_options_of_further_statistics(self):
        array = numbers(np.dtype("f8"), (3, 8), seed=9)
        mask = array > -4
        for keepdims in (False, True):
            options = dict(axis=1, keepdims=keepdims)
            count = mask.sum(**options)
            self.assert_near(self.gpu.rms(array, where=mask, **options),
                             np.sqrt(np.mean(array**2, where=mask, **options)))
            self.assert_near(self.gpu.sem(array, where=mask, ddof=0, **options),
                             np.std(array, where=mask, **options) / np.sqrt(count))
            self.assert_near(self.gpu.norm(array, **options), np.linalg.norm(array, **options))
            self.assert_near(self.gpu.norm(array, 1, **options),
                             np.linalg.norm(array, 1, **options))
            self.assert_same(self.gpu.ptp(array, **options), np.ptp(array, **options))
            self.assert_same(self.gpu.count_nonzero(array, where=mask, **options),
                             ((array != 0) & mask).sum(**options))
            self.assert_same(self.gpu.argmin(array, **options), np.argmin(array, **options))
            self.assert_same(self.gpu.argmax(array, **options), np.argmax(array, **options))
        with self.assertRaisesRegex(ValueError, "ord: must be 1 or 2, not 3"):
            self.gpu.norm(array, 3)
        self.assert_same(self.gpu.any(array > 1, where=mask), np.any(array > 1, where=mask))
        self.assert_same(self.gpu.all(array > -4, where=mask), np.True_)
        self.assert_same(self.gpu.all(array > -4), np.False_)

    def test_names_and_their_aliases(self):
        array = numbers(np.dtype("i4"), 9, seed=4)
        pairs = [("prod", "product"), ("amin", "min"), ("amax", "max"), ("var", "variance"),
                 ("std", "standard_deviation"), ("ptp", "range"), ("rms", "root_mean_square"),
                 ("sem", "standard_error"), ("count_nonzero", "nonzero_count")]
        for short, long in pairs:
            found = self.gpu.reduce(array, [short], ddof=1)
            self.assertEqual(list(found), [short])
            self.assert_same(found[short], self.gpu.reduce(array, [long], ddof=1)[long])
        with self.assertRaises(AttributeError):
            found.maen  # pylint: disable=pointless-statement
        for given, error, words in (("sum", TypeError, "a list of names"),
                                    ([], ValueError, "must name at least one"),
                                    (["sum", "?"], ValueError, "'?'")):
            with self.assertRaisesRegex(error, words):
                self.gpu.reduce(array, given)
        with self.assertRaisesRegex(ValueError, "ddof: must be a whole number"):
            self.gpu.reduce(array, ["variance"], ddof=0.5)

    def test_where_on_the_server(self):
        array = numbers(np.dtype("i4"), (30, 40))
        mask = array % 3 == 0
        with self.gpu.put(array) as kept:
            for axis in (None, 0, 1):
                for name in ("sum", "mean", "any"):
                    self.assert_near(getattr(self.gpu, name)(kept, axis, where=mask),
                                     getattr(np, name)(array, axis, where=mask), name)
                self.assert_same(self.gpu.max(kept, axis, where=mask, initial=-7),
                                 np.max(array, axis, where=mask, initial=-7))
        with self.gpu.put(mask) as kept:
            self.assertEqual(kept.dtype, np.bool_)
            np.testing.assert_array_equal(np.asarray(kept), mask)
            self.assert_same(self.gpu.min(kept, 0), mask.min(0))
            self.assert_same(self.gpu.sum(kept), mask.sum())
            self.assert_same(self.gpu.cumsum(kept, 1), mask.cumsum(1))

    def test_several_at_once(self):
        array = numbers(np.dtype("i4"), (3, 4))
        statistics = self.gpu.reduce(array, ["sum", "mean", "argmax"], axis=0)
        self.assert_same(statistics["sum"], array.sum(axis=0))
        self.assert_same(statistics.mean, array.mean(axis=0))
        self.assert_same(statistics.argmax, array.argmax(axis=0))
        execution = statistics.execution
        self.assertEqual(execution.engine, self.server.engine)
        self.assertRegex(execution.strategy, "^reduce/")
        self.assertEqual(execution.bytes_read, array.nbytes)
        self.assertLessEqual(execution.queue_time_s + execution.kernel_time_s,
                             execution.total_time_s)
        self.assertRegex(repr(execution), f"^<Execution {self.server.engine} reduce/[^,]+, 48 "
                         r"bytes in 0\.[0-9]{6} s>$")
        self.assertEqual(repr(self.gpu.reduce([1.0, 2.0, 6.0], ["mean", "max"])),
                         "Statistics(mean=3.0, max=6.0)")
        with self.assertRaisesRegex(ValueError, "maen"):
            self.gpu.reduce(array, ["maen"])

    def test_overflow(self):
        large = np.array([2**63 - 1, 1])
        with self.assertRaises(gf.OutOfRangeError) as raised:
            self.gpu.sum(large)
        self.assertIsInstance(raised.exception, OverflowError)
        self.assert_same(self.gpu.sum(large, overflow="wrap"), np.sum(large))
        with self.assertRaisesRegex(ValueError, "overflow: must be \"error\" or \"wrap\", not 'no'"):
            self.gpu.sum(large, overflow="no")

    def test_names_are_those_of_the_library(self):
        from gridfold import _native, _statistics
        self.assertEqual(_statistics.NUMBERS, _native.STATISTICS)


if __name__ == "__main__":
    unittest.main()
