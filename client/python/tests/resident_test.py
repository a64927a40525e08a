"""Arrays that stay on the server."""

import unittest

import numpy as np

from package_case import DTYPES, PackageTest, bin_count_by_rule, gf, numbers


class ResidentTest(PackageTest):
    def test_every_type_comes_back(self):
        for dtype in DTYPES:
            array = numbers(dtype, (3, 4))
            with self.gpu.put(array) as resident:
                np.testing.assert_array_equal(np.asarray(resident), array)
                self.assertEqual(resident.sum(), array.sum())
                if array.dtype.kind != "b":  # DLPack's bools came later than NumPy's.
                    np.testing.assert_array_equal(np.from_dlpack(resident), array)

    def test_operations_and_slices(self):
        array = numbers(np.dtype("f8"), (10, 3, 2))
        with self.gpu.put(array, "numbers") as resident:
            self.assertEqual((resident.shape, resident.size, len(resident)), ((10, 3, 2), 60, 10))
            self.assertEqual(repr(resident[2:5]),
                             "<ResidentArray 'numbers'[2:5] float64 (3, 3, 2)>")
            self.assert_same(resident.max(), array.max())
            self.assert_same(resident.min(1, keepdims=True), array.min(1, keepdims=True))
            self.assert_near(resident[:3].prod(axis=2), array[:3].prod(axis=2))
            self.assert_near(resident.var(0, ddof=1), array.var(0, ddof=1))
            self.assert_near(resident.std(0, ddof=1), array.std(0, ddof=1))
            self.assert_same(resident[2:5].sum(axis=0), array[2:5].sum(axis=0))
            self.assert_near(resident[2:5].mean(axis=(1, 2)), array[2:5].mean(axis=(1, 2)))
            self.assert_same(resident[4:].cumsum(axis=0), array[4:].cumsum(axis=0))
            self.assert_same(resident.cumsum(), array.cumsum())
            self.assert_same(np.asarray(resident[3:4]), array[3:4])
            self.assert_same(resident[3:3].sum(), np.float64(0))
            self.assert_same(resident[3:3].cumsum(), array[3:3].cumsum())
            for actual, expected in zip(resident.histogram(5), np.histogram(array, 5)):
                self.assert_same(actual, expected)
            self.assertEqual((resident[5:2].shape, resident[8:99].shape), ((0, 3, 2), (2, 3, 2)))
            self.assertEqual(np.asarray(resident[3:3], np.int8).dtype, np.int8)
            self.assertEqual(np.asarray(resident, np.int8).dtype, np.int8)
            self.assertEqual(repr(resident), "<ResidentArray 'numbers' float64 (10, 3, 2)>")
            self.assert_same(np.asarray(resident[4:8][1:3]), array[5:7])

    def test_rules_for_bins(self):
        array = np.random.default_rng(6).normal(size=3000)
        for case in (array, np.zeros(5), np.repeat([1.0, 2.0], [30, 1]), np.arange(10)):
            with self.gpu.put(case) as resident:
                for rule in ("auto", "fd", "scott", "rice", "sturges", "sqrt"):
                    counts, edges = np.histogram(case, bin_count_by_rule(case, rule))
                    actual_counts, actual_edges = self.gpu.histogram(resident, rule)
                    self.assert_same(actual_counts, counts, rule)
                    self.assert_edges(actual_edges, edges, rule)
                with self.assertRaisesRegex(NotImplementedError, "doane"):
                    self.gpu.histogram(resident, "doane")

    def test_rules_for_bins_of_every_type_and_in_a_range(self):
        random = np.random.default_rng(7)
        for dtype in ("i1", "u2", "i4", "u8", "f4", "f8"):
            array = (random.normal(size=(40, 50)) * 20 + 40).clip(0, 120).astype(dtype)
            with self.gpu.put(array) as resident:
                for rule in ("auto", "fd", "scott", "rice", "sturges", "sqrt"):
                    for bounds in (None, (20.5, 60), (40, 40), (500, 600)):
                        message = f"{dtype} {rule} {bounds}"
                        counts, edges = np.histogram(
                            array, bin_count_by_rule(array, rule, bounds), bounds)
                        actual_counts, actual_edges = self.gpu.histogram(resident, rule, bounds)
                        self.assert_same(actual_counts, counts, message)
                        self.assert_edges(actual_edges, edges, message)

    def test_writing(self):
        with self.gpu.put(np.zeros((4, 2))) as resident:
            resident[1:3] = [[1, 2], [3, 4]]
            resident[3:] = 9
            self.assert_same(np.asarray(resident), np.array([[0, 0], [1, 2], [3, 4], [9, 9.0]]))

    def test_listing_and_deleting(self):
        self.gpu.put([1, 2], "one", expiry=60)
        self.gpu.put([[1.5]], "two")
        name, number, shape, size, expiry, idle, device = self.gpu._native.get_array("one")
        self.assertEqual((name, number, shape, size, expiry, device), ("one", 4, (2,), 16, 60, 0))
        self.assertLess(idle, 60)
        self.assertEqual(self.gpu._native.get_array("two")[4], 3600)
        self.assertEqual([array.name for array in self.gpu.arrays()], ["one", "two"])
        self.assertEqual(self.gpu.array("two").shape, (1, 1))
        with self.assertRaises(gf.AlreadyExistsError):
            self.gpu.put([3], "one")
        self.gpu.delete("one")
        self.gpu.array("two").delete()
        with self.assertRaises(gf.NotFoundError):
            self.gpu.array("one")
        self.assertEqual(self.gpu.arrays(), [])


if __name__ == "__main__":
    unittest.main()
