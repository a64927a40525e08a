"""Any axes of arrays of up to eight dimensions and more, here and on the server; `where`, `initial`
and groups without elements, with a server and without one."""

import itertools
import unittest
import warnings
from unittest import mock

import numpy as np

from package_case import PackageTest, forms, gf, numbers


class AxesTest(PackageTest):
    def setUp(self):
        self.engines = {"server": self.gpu, "local": gf.local()}

    def test_every_set_of_axes(self):
        array = numbers(np.dtype("f4"), (3, 4, 2, 5))
        sets = [axes for count in range(1, 5) for axes in itertools.combinations(range(4), count)]
        for where, gpu in self.engines.items():
            for axes in sets:
                for form, x in forms(array) if axes == (0, 2) else [("C", array)]:
                    with self.subTest(where=where, axes=axes, form=form):
                        self.assert_same(gpu.sum(x, axis=axes), array.sum(axis=axes))
                        self.assert_same(gpu.max(x, axis=axes, keepdims=True),
                                         array.max(axis=axes, keepdims=True))
                        self.assert_near(gpu.quantile(x, 0.25, axis=axes),
                                         np.quantile(array.astype("f8"), 0.25, axis=axes))

    def test_one_axis_in_the_middle(self):
        array = numbers(np.dtype("i4"), (3, 4, 2, 5))
        for where, gpu in self.engines.items():
            for axis in range(4):
                with self.subTest(where=where, axis=axis):
                    self.assert_same(gpu.cumsum(array, axis=axis), array.cumsum(axis=axis))
                    self.assert_same(gpu.argmin(array, axis=axis), array.argmin(axis=axis))
                    self.assert_same(gpu.topk(array, 1, axis=axis).values,
                                     array.max(axis=axis, keepdims=True))

    def test_more_dimensions_than_the_server_knows(self):
        array = numbers(np.dtype("f8"), (2,) * 10)
        for where, gpu in self.engines.items():
            for axes in ((1, 3, 5, 7, 9), (0, 2, 4, 6, 8), (4,), (0,)):
                with self.subTest(where=where, axes=axes):
                    self.assert_same(gpu.sum(array, axis=axes), array.sum(axis=axes))
            with gpu.put(array) as kept:
                self.assert_same(kept.sum(axis=0), array.sum(axis=0))
                with self.assertRaisesRegex(NotImplementedError, "axis"):
                    kept.sum(axis=1)

    def test_arrays_on_the_server(self):
        array = numbers(np.dtype("f8"), (6, 3, 4))
        mask = array > 0
        for where, gpu in self.engines.items():
            with gpu.put(array) as kept:
                self.assertEqual(gpu.array(kept.name).shape, array.shape)
                for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), None):
                    with self.subTest(where=where, axes=axes):
                        self.assert_same(kept.sum(axes), array.sum(axes))
                        self.assert_same(kept[2:5].max(axes), array[2:5].max(axes))
                        self.assert_near(gpu.mean(kept, axes, where=mask),
                                         array.mean(axes, where=mask))
                self.assert_same(kept.cumsum(axis=1), array.cumsum(axis=1))

    def test_where_and_initial(self):
        for dtype in (np.dtype("f4"), np.dtype("i2"), np.dtype("u8")):
            array = numbers(dtype, (4, 5, 3), seed=5)
            mask = numbers(np.dtype("?"), (4, 5, 3), seed=6)
            mask[:, :2, 0] = True
            for (where, gpu), axis in itertools.product(self.engines.items(), (0, 1, (0, 2), None)):
                with self.subTest(dtype=dtype, where=where, axis=axis), gpu.put(array) as kept:
                    for x in (array, kept):
                        self.assert_same(gpu.sum(x, axis, where=mask), array.sum(axis, where=mask))
                        self.assert_same(gpu.max(x, axis, where=mask, initial=1),
                                         array.max(axis, where=mask, initial=1))
                        self.assert_same(gpu.sum(x, axis, where=mask, initial=7),
                                         array.sum(axis, where=mask, initial=dtype.type(7)))
                        self.assert_near(gpu.std(x, axis, where=mask), array.std(axis, where=mask))

    def test_where_beside_arrays_of_any_order(self):
        array = numbers(np.dtype("f4"), (3, 4, 5), seed=7)
        mask = np.arange(60).reshape(array.shape) % 3 > 0
        for (where, gpu), (form, x), axis in itertools.product(
                self.engines.items(), forms(array), (0, 2, (0, 2), None)):
            with self.subTest(where=where, form=form, axis=axis):
                self.assert_near(gpu.mean(x, axis, where=mask), array.mean(axis, where=mask))

    def test_where_that_is_on_the_server(self):
        array = numbers(np.dtype("f8"), (6, 4), seed=8)
        mask = np.arange(24).reshape(array.shape) % 3 > 0
        for where, gpu in self.engines.items():
            with (self.subTest(where=where), gpu.put(array) as kept, gpu.put(mask) as there,
                  gpu.put(mask[0]) as row):
                with mock.patch.object(type(kept), "__array__", side_effect=AssertionError("read")):
                    for axis in (None, 0, 1):
                        for given in (mask, there):
                            self.assert_near(gpu.mean(kept, axis, where=given),
                                             array.mean(axis, where=mask))
                            self.assert_same(gpu.max(kept, axis, where=given, initial=-1),
                                             array.max(axis, where=mask, initial=-1))
                self.assert_near(gpu.mean(kept, 1, where=row), array.mean(1, where=mask[0]))
                self.assert_near(gpu.mean(array, 1, where=there), array.mean(1, where=mask))

    def test_where_of_no_elements_and_of_no_bools(self):
        empty = np.empty((0, 3), "f4")
        for where, gpu in self.engines.items():
            with self.subTest(where=where):
                with self.assertWarns(RuntimeWarning):
                    self.assert_same(gpu.mean(empty, 0, where=empty > 0),
                                     np.full(3, np.nan, "f4"))
                with gpu.put([[1.0, 2.0]]) as kept:
                    with warnings.catch_warnings():
                        warnings.simplefilter("error")
                        self.assert_same(gpu.sum(kept, 0, where=[[False]]), np.zeros(2))
                    for x, axis in itertools.product((kept, [[1.0, 2.0]]), (None, 0)):
                        for ask in (gpu.sum, gpu.mean):
                            with self.assertRaisesRegex(TypeError, "where: must be of bools"):
                                ask(x, axis, where=[[0, 1]])

    def test_initial_becomes_an_element(self):
        mask = np.array([[True, False], [False, False]])
        for (where, gpu), (dtype, initial) in itertools.product(
                self.engines.items(), (("i4", 0.5), ("f4", 2**70), ("f8", -2**70), ("u1", True))):
            array = np.array([[1, 2], [3, 4]], dtype)
            expected = np.array([max(1, initial), initial]).astype(dtype)
            with self.subTest(where=where, dtype=dtype), gpu.put(array) as kept:
                for x in (array, kept):
                    self.assert_same(gpu.max(x, 1, where=mask, initial=initial), expected)

    def test_initial_of_no_elements(self):
        array = np.empty((3, 0))
        for where, gpu in self.engines.items():
            with self.subTest(where=where), gpu.put(array) as kept:
                for x, name, options in itertools.product(
                        (array, kept), ("min", "max"), ({}, {"axis": 1}, {"axis": 1, "keepdims": True})):
                    self.assert_same(getattr(gpu, name)(x, initial=3, **options),
                                     getattr(np, name)(array, initial=3, **options))
                self.assert_same(gpu.nanmin(kept[:0], initial=2), np.float64(2))

    def test_groups_of_nothing(self):
        array = np.array([[np.nan, np.nan, np.nan], [1, np.nan, 4]])
        for where, gpu in self.engines.items():
            for name in ("nanmin", "nanmax", "nanmean", "nanvar", "nanstd", "nanmedian"):
                for axis in (0, 1):
                    with self.subTest(where=where, name=name, axis=axis):
                        with self.assertWarns(RuntimeWarning):
                            found = getattr(gpu, name)(array, axis=axis)
                        with self.assertWarns(RuntimeWarning):
                            expected = getattr(np, name)(array, axis=axis)
                        self.assert_same(found, expected)
            with self.subTest(where=where):
                with self.assertWarns(RuntimeWarning):
                    self.assertTrue(np.isnan(gpu.nanmean(array[0])))
                with self.assertRaisesRegex(ValueError, "All-NaN"):
                    gpu.nanargmin(array, axis=1)
                mask = np.array([[False] * 3, [True, False, True]])
                with self.assertWarns(RuntimeWarning):
                    self.assert_same(gpu.mean(array, axis=1, where=mask), np.array([np.nan, 2.5]))

    def test_empty_as_asked(self):
        array = np.array([[np.nan, np.nan], [1, 3]])
        for where, gpu in self.engines.items():
            with self.subTest(where=where):
                def ask(x, empty, **options):
                    return gpu.reduce(x, ["min", "variance"], 1, ignore_nan=True, empty=empty,
                                      **options)
                found = ask(array, -5)
                np.testing.assert_array_equal(found.min, [-5, 1])
                np.testing.assert_array_equal(found.variance, [-5, 1])
                # Each statistic by itself: a group too small for one has its value of another.
                mixed = gpu.reduce([[np.nan, np.nan], [np.nan, 5], [1, 3]],
                                   ["variance", "max", "sum", "count"], 1, ddof=1, ignore_nan=True,
                                   empty=-5)
                np.testing.assert_array_equal(mixed.variance, [-5, -5, 2])
                np.testing.assert_array_equal(mixed.max, [-5, 5, 3])
                np.testing.assert_array_equal(mixed.sum, [0, 5, 4])
                np.testing.assert_array_equal(mixed.count, [0, 1, 2])
                with self.assertWarns(RuntimeWarning):
                    np.testing.assert_array_equal(ask(array, "nan", ddof=2).variance,
                                                  [np.nan, np.nan])
                with self.assertRaises(gf.InvalidArgumentError):
                    gpu.reduce(array, ["variance"], 1, ddof=2)
                with self.assertRaises(ValueError):
                    ask(array, "zero")
                with self.assertRaises(TypeError):
                    ask(array, None)

    def test_empty_is_a_value_of_the_statistic(self):
        array = np.array([[np.nan, np.nan], [1, 3]])
        for where, gpu in self.engines.items():
            def ask(name, empty):
                return gpu.reduce(array, [name], 1, ignore_nan=True, empty=empty)[name].tolist()
            with self.subTest(where=where):
                for empty in (0, 7, 2.0, np.uint8(5)):
                    self.assertEqual(ask("argmax", empty), [empty, 1])
                for empty in (-7, 0.5, 2**70):
                    with self.assertRaisesRegex(ValueError, "empty"):
                        ask("argmax", empty)
                with self.assertRaisesRegex(ValueError, "All-NaN"):
                    ask("argmax", "error")
                for empty in (2**64, -2**70, 2**63, -2**63, np.inf):
                    self.assertEqual(ask("max", empty), [float(empty), 3])


if __name__ == "__main__":
    unittest.main()
