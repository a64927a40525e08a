"""What is taken as an array, and what is refused."""

import array as array_module
import pathlib
import tempfile
import unittest

import numpy as np

from package_case import PackageTest, gf

# NumPy before 1.25 has it in another place.
AXIS_ERROR = getattr(np, "exceptions", np).AxisError


class WithArray:
    def __array__(self, dtype=None, copy=None):
        return np.arange(5)


class WithDlpack:
    """As an array of another library that knows nothing of NumPy."""

    def __dlpack__(self, stream=None, **options):
        return np.arange(5.0).__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


class OnDevice:
    """As CuPy's arrays, which NumPy refuses to convert."""

    __cuda_array_interface__ = {}

    def __array__(self, *_):
        raise TypeError("implicit conversion")

    def get(self):
        return np.arange(4)


class InputTest(PackageTest):
    def test_whatever_has_elements(self):
        cases = [(memoryview(b"\x01\x02"), 3), (array_module.array("d", [1, 2]), 3),
                 (bytearray(b"\x05"), 5), (WithArray(), 10), (WithDlpack(), 10), (OnDevice(), 6),
                 ((1, 2), 3), (True, 1)]
        for values, expected in cases:
            with self.subTest(kind=type(values)):
                self.assertEqual(self.gpu.sum(values), expected)

    def test_memory_map(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.npy")
            np.save(path, np.arange(100_000, dtype=np.float32))
            mapped = np.load(path, mmap_mode="r")
            self.assertEqual(self.gpu.max(mapped), 99_999)

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("no ml_dtypes")
        values = np.array([1, 2, 4], ml_dtypes.bfloat16)
        self.assertEqual(self.gpu.sum(values), 7)
        self.assertEqual(self.gpu.max(values).dtype, values.dtype)

    def test_refused_by_kind(self):
        for values in ([1j], ["text"], [None], [{}], np.array(["2020"], "M8[D]"),
                       np.longdouble([1])):
            with self.subTest(values=values), self.assertRaises(TypeError):
                self.gpu.sum(values)
        with self.assertRaisesRegex(TypeError, "masked"):
            self.gpu.sum(np.ma.array([1, 2], mask=[0, 1]))

    def test_refused_axes(self):
        array = np.ones((2, 3))
        for axis, error in ((2, AXIS_ERROR), (-3, AXIS_ERROR), ((0, 0), ValueError),
                            (0.5, TypeError), ("0", TypeError)):
            with self.subTest(axis=axis), self.assertRaises(error):
                self.gpu.sum(array, axis=axis)
        with self.assertRaises(TypeError):
            self.gpu.argmax(array, axis=(0, 1))

    def test_wrong_arguments_of_native_functions(self):
        native = self.gpu._native
        for source in ((), (1, 2, 3), (np.ones((3, 2)).T, 12, None), (np.ones(3), 11, None),
                       (np.ones(3), 99, None), (np.ones(3), 12, (1,)), (np.ones(3), 12, (2, 2))):
            with self.subTest(source=source), self.assertRaises(
                    (TypeError, IndexError, gf.InvalidArgumentError)):
                native.reduce(source, [2], (-1,), False, False, 0)


if __name__ == "__main__":
    unittest.main()
