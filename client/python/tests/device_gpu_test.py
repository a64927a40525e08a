"""Arrays on a real GPU, against a server on it: of CuPy, PyTorch and JAX, whichever there are, and
memory of the driver's.

Skipped where there is no GPU, and unless GRIDFOLD_TEST_ENGINE is "cuda".
"""

import gc
import importlib
import os
import subprocess
import sys
import unittest

import numpy as np

from package_case import PackageTest, gf
from gridfold import _cuda  # noqa: E402
import server_process  # noqa: E402

DTYPES = ("i1", "i2", "i4", "i8", "u1", "f2", "f4", "f8", "?")


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


HAS_GPU = os.path.exists("/dev/nvidiactl") and os.environ.get("GRIDFOLD_TEST_ENGINE") == "cuda"
# JAX takes three quarters of the GPU otherwise, and leaves no room for a second server.
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
cupy, torch, jax = (module(name) if HAS_GPU else None for name in ("cupy", "torch", "jax"))


class Memory:
    """An allocation of the driver's."""

    def __init__(self, array):
        self._driver = _cuda.driver()  # Not one that another test has put in its place meanwhile.
        self.address = self._driver.allocate(0, np.ascontiguousarray(array))

    def __del__(self):
        self._driver.free(0, self.address)


class OfDriver:
    """An array in an allocation of its own, which goes after it."""

    def __init__(self, array):
        self._memory = Memory(array)
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "version": 3,
            "data": (self._memory.address, False), "strides": None, "stream": None}


def makers():
    """By name: a function that puts an array of NumPy's on the GPU."""
    yield "driver", OfDriver
    if cupy is not None:
        yield "cupy", cupy.asarray
    if torch is not None:
        yield "torch", lambda array: torch.from_numpy(np.array(array)).cuda()
    if jax is not None:
        yield "jax", jax.numpy.asarray


@unittest.skipUnless(HAS_GPU, "no GPU")
class DeviceGpuTest(PackageTest):
    server_options = ("--allow-regions",)

    def way(self, array, expected=("in place",)):
        answer = self.gpu.reduce(array, ["sum", "max"])
        self.assertIn(answer.execution.transport, expected)
        return answer

    def test_elements_of_all_types_are_read_in_place(self):
        for name, make in makers():
            for dtype in DTYPES:
                if name == "jax" and dtype in ("i8", "f8"):
                    continue  # JAX makes 32 bits of them.
                array = (np.arange(100_003) % 50).astype(dtype)
                # JAX's memory is one allocation, which may be larger than regions are.
                ways = ("in place", "inline", "stream", "streams") if name == "jax" else (
                    "in place",)
                with self.subTest(library=name, dtype=dtype):
                    on_gpu = make(array)
                    answer = self.way(on_gpu, ways)
                    # The sum of float16 is too large for one.
                    expected = np.array(array.astype(np.float64).sum())
                    with np.errstate(over="ignore"):
                        self.assertEqual(answer.sum, expected.astype(np.asarray(answer.sum).dtype))

    def test_small_arrays_of_one_pool_are_told_apart(self):
        for name, make in makers():
            with self.subTest(library=name):
                arrays = [make(np.full(count, count, np.int32)) for count in range(1, 60)]
                for count, array in enumerate(arrays, 1):
                    self.assertEqual(self.gpu.sum(array), count * count)
                    self.assertEqual(self.gpu.min(array), count)
                if name != "driver":
                    for count, array in enumerate(arrays, 1):
                        self.assertEqual(self.gpu.max(array[count // 2:]), count)

    def test_what_was_asked_before_is_waited_for(self):
        for name, make in makers():
            if name in ("driver", "jax"):  # Whose arrays do not change.
                continue
            with self.subTest(library=name):
                array = make(np.zeros(1 << 26, np.float32))
                for turn in range(1, 20):
                    array += 1
                    self.assertEqual(self.gpu.reduce(array, ["min", "max"]),
                                     {"min": turn, "max": turn})
        if cupy is not None:
            with cupy.cuda.Stream(non_blocking=True):
                array = cupy.zeros(1 << 26, cupy.float32)
                for turn in range(1, 20):
                    array += 1
                    self.assertEqual(self.gpu.min(array), turn)

    def test_axes_scans_histograms(self):
        array = np.random.default_rng(1).integers(0, 100, (30, 40, 50)).astype(np.float32)
        for name, make in makers():
            with self.subTest(library=name):
                on_gpu = make(array)
                np.testing.assert_array_equal(self.gpu.sum(on_gpu, axis=(0, 2)), array.sum((0, 2)))
                np.testing.assert_array_equal(self.gpu.cumsum(on_gpu, axis=1), array.cumsum(1))
                np.testing.assert_array_equal(self.gpu.histogram(on_gpu, 7)[0],
                                              np.histogram(array, 7)[0])
                self.assertEqual(self.gpu.median(on_gpu), np.median(array))

    def test_freed_memory_is_not_taken_for_what_comes_after_it(self):
        if cupy is None:
            self.skipTest("no CuPy")
        for count in (3_000_000, 5_000_000, 3_000_000):
            for fill in (1, 2, 3):
                array = cupy.full(count, fill, cupy.int32)
                self.assertEqual(self.gpu.sum(array), count * fill)
                del array
                gc.collect()
                cupy.get_default_memory_pool().free_all_blocks()

    def test_memory_without_a_handle_is_copied(self):
        if cupy is None:
            self.skipTest("no CuPy")
        block = np.arange(100_000, dtype=np.int32)
        for allocator in (cupy.cuda.malloc_managed, cupy.cuda.malloc_async):
            with self.subTest(allocator=allocator), cupy.cuda.using_allocator(allocator):
                answer = self.way(cupy.asarray(block), ("inline", "region", "stream", "streams"))
                self.assertEqual(answer.sum, block.sum())

    def test_strided_arrays_and_gradients(self):
        if torch is not None:
            weights = torch.ones(1000, device="cuda", requires_grad=True)
            self.assertEqual(self.gpu.sum(weights), 1000)
            self.assertEqual(self.gpu.sum(torch.arange(100, device="cuda")[::2]), 2450)
            halves = torch.full((64,), 1.5, dtype=torch.bfloat16, device="cuda")
            if module("ml_dtypes") is not None:
                self.assertEqual(float(self.gpu.sum(halves)), 96)
        if cupy is not None:
            self.assertEqual(self.gpu.sum(cupy.arange(100)[::2]), 2450)
            turned = cupy.arange(6).reshape(2, 3).T
            np.testing.assert_array_equal(self.gpu.max(turned, axis=0), [2, 5])

    def test_the_server_forgets_and_ends(self):
        array = next(makers())[1](np.arange(1000, dtype=np.int32))
        self.assertEqual(self.gpu.sum(array), 499500)
        for region in list(self.gpu._regions._regions.values()):
            self.gpu._native.unregister_region(region.name)
        self.assertEqual(self.gpu.sum(array), 499500)
        with server_process.ServerProcess() as other, gf.connect(other.target) as without:
            self.assertEqual(without.sum(array), 499500)

    def test_a_gibibyte_takes_little_longer_than_the_kernel(self):
        if cupy is None and torch is None:
            self.skipTest("neither CuPy nor PyTorch")
        program = os.path.join(os.path.dirname(__file__), "..", "package_benchmark.py")
        subprocess.run([sys.executable, program, "device", self.server.target], check=True,
                       env=dict(os.environ, PYTHONPATH=os.environ["GRIDFOLD_PYTHON_PACKAGE"]))


if __name__ == "__main__":
    server_process.skip_without_device()
    unittest.main()
