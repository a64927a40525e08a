"""What the tests of the package share: a server, a connection, and arrays of all kinds.

GRIDFOLD_SERVER_BINARY is the server, GRIDFOLD_PYTHON_PACKAGE the folder that `gridfold` is
imported from. NumPy is the oracle.
"""

import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

PACKAGE = os.environ["GRIDFOLD_PYTHON_PACKAGE"]
sys.path.insert(0, PACKAGE)
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import gridfold as gf  # noqa: E402
import server_process  # noqa: E402

DTYPES = [np.dtype(name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4",
                                      "f8", "?")]


def numbers(dtype, shape, seed=0):
    """Numbers whose sums and products stay small enough to be exact in most cases."""
    generator = np.random.default_rng(seed)
    if dtype.kind == "f":
        return (generator.integers(-64, 65, shape) / 8).astype(dtype)
    return generator.integers(0 if dtype.kind in "ub" else -3, 4, shape).astype(dtype)


def bin_count_by_rule(array, rule, bounds=None):
    """How many bins a rule of NumPy 1 makes, in float64; later releases have other ones for integers
    and "auto"."""
    samples = np.asarray(array, np.float64).ravel()
    lower, upper = bounds or (samples.min(), samples.max())
    if lower == upper:
        lower, upper = lower - 0.5, upper + 0.5
    samples = samples[(samples >= lower) & (samples <= upper)]
    if samples.size == 0:
        return 1
    spread = np.ptp(samples)
    root = samples.size ** (1 / 3)
    fd = 2 * np.subtract(*np.percentile(samples, [75, 25])) / root
    sturges = spread / (np.log2(samples.size) + 1)
    width = {"auto": min(fd, sturges) or sturges, "fd": fd, "sturges": sturges,
             "scott": (24 * np.pi**0.5 / samples.size) ** (1 / 3) * samples.std(),
             "rice": spread / (2 * root), "sqrt": spread / np.sqrt(samples.size)}[rule]
    return int(np.ceil((upper - lower) / width)) if width else 1


def forms(array):
    """The same numbers as they may lie in memory, each with a name."""
    yield "C", array
    yield "Fortran", np.asfortranarray(array)
    yield "swapped", array.astype(array.dtype.newbyteorder())
    wide = np.zeros(tuple(2 * size for size in array.shape), array.dtype)
    strided = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    strided[...] = array
    yield "strided", strided
    yield "reversed", np.ascontiguousarray(array[::-1])[::-1]
    if array.ndim > 2:
        order = (1, *range(2, array.ndim), 0)
        yield "rolled", np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


class PackageTest(unittest.TestCase):
    server_options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = server_process.ServerProcess(*cls.server_options)
        cls.enterClassContext(cls.server)
        cls.gpu = cls.enterClassContext(gf.connect(cls.server.target))

    def assert_same(self, actual, expected, message=""):
        """Equal values, NaN included, of the same type, dtype and shape."""
        self.assertIs(type(actual), type(expected), message)
        if hasattr(expected, "dtype"):
            self.assertEqual(actual.dtype, expected.dtype, message)
        np.testing.assert_array_equal(actual, expected, message)

    def assert_near(self, actual, expected, message="", ulps=4):
        """As assert_same, but floating-point results may differ in their last bits."""
        self.assertEqual(np.asarray(actual).dtype, np.asarray(expected).dtype, message)
        self.assertEqual(np.shape(actual), np.shape(expected), message)
        dtype = np.asarray(expected).dtype
        tolerance = ulps * np.finfo(dtype).eps if dtype.kind == "f" else 0
        np.testing.assert_allclose(actual, expected, tolerance, tolerance, err_msg=message)

    def assert_edges(self, actual, expected, message=""):
        """As assert_same, but edges may differ by what is lost where they are computed in their own
        type, as NumPy 2 does, and not in float64."""
        self.assertEqual(np.asarray(actual).dtype, np.asarray(expected).dtype, message)
        self.assertEqual(np.shape(actual), np.shape(expected), message)
        dtype = np.asarray(expected).dtype
        lost = 4 * np.finfo(dtype).eps * np.abs(expected).max() if dtype.kind == "f" else 0
        np.testing.assert_allclose(actual, expected, 0, lost, err_msg=message)


def run_python(program, *arguments, seconds=60, **environment):
    """Runs a program of Python that imports the package."""
    variables = dict(os.environ, PYTHONPATH=PACKAGE, **environment)
    return subprocess.run([sys.executable, "-c", program, *arguments], env=variables,
                          capture_output=True, text=True, timeout=seconds)
