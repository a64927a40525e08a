"""gridfold.local(): the same calls without a server, with the same bits as from a server."""

import os
import threading
import unittest

import numpy as np

from package_case import DTYPES, PackageTest, gf, numbers, run_python

NAMES = ("sum", "prod", "min", "max", "argmin", "argmax", "mean", "var", "std", "any", "all",
         "count_nonzero", "cumsum", "cumprod", "cummax")


class LocalTest(PackageTest):
    def setUp(self):
        self.local = gf.local()

    def test_answers_are_those_of_a_server(self):
        for dtype in DTYPES:
            array = numbers(dtype, (6, 5), seed=3)
            for name in NAMES:
                for axis in (None, 0, 1):
                    with self.subTest(dtype=dtype, name=name, axis=axis):
                        self.assert_same(getattr(self.local, name)(array, axis),
                                         getattr(self.gpu, name)(array, axis))

    def test_histograms_are_those_of_a_server(self):
        x, y = np.random.default_rng(1).normal(size=(2, 1000))
        weights = np.linspace(-1, 1, 1000).astype("f4")
        for options in ({}, {"bins": 7, "range": (-1, 2)}, {"bins": [0, 1, 1.5]},
                        {"weights": weights}):
            for actual, expected in zip(self.local.histogram(x, **options),
                                        self.gpu.histogram(x, **options)):
                self.assert_same(actual, expected)
        for actual, expected in zip(self.local.histogram2d(x, y, 5), np.histogram2d(x, y, 5)):
            np.testing.assert_array_equal(actual, expected)

    def test_arrays_that_are_put(self):
        array = np.arange(12, dtype="f4").reshape(4, 3)
        with self.local.put(array, "x") as kept:
            self.assert_same(kept.sum(), self.gpu.sum(array))
            self.assert_same(kept[1:3].max(), np.float32(8))
            self.assert_same(np.asarray(kept), array)
            self.assert_same(self.local.sum(kept, axis=0), array.sum(axis=0))
            kept[0:1] = 7
            self.assertEqual(kept.sum(), 84)
            self.assertEqual([one.name for one in self.local.arrays()], ["x"])
            with self.assertRaises(gf.AlreadyExistsError):
                self.local.put(array, "x")
        with self.assertRaises(gf.NotFoundError):
            self.local.array("x")
        self.assertNotEqual(self.local.put([1]).name, self.local.put([2]).name)

    def test_errors(self):
        with self.assertRaises(gf.OutOfRangeError):
            self.local.sum(np.array([2**62] * 3))
        with self.assertRaises(gf.InvalidArgumentError) as caught:
            self.local.reduce([1.5], ["bitwise_or"])
        self.assertEqual(caught.exception.field, "statistics[0]")
        self.local.put([1])
        self.local.close()
        self.assertEqual(self.local.arrays(), [])
        with self.assertRaises(gf.FailedPreconditionError):
            self.local.sum([1])

    def test_names_that_are_not_given(self):
        with self.local.put([1], "array-1"):
            self.assertEqual([self.local.put([n]).name for n in range(3)],
                             ["array-0", "array-2", "array-3"])
            self.assertEqual([one.name for one in self.local.arrays()],
                             ["array-0", "array-1", "array-2", "array-3"])
            self.local.delete("array-0")
            self.assertEqual(self.local.put([5]).name, "array-0")
        for call in (self.local.array, self.local.delete):
            with self.assertRaisesRegex(gf.NotFoundError, "there is no array 'x'") as caught:
                call("x")
            self.assertEqual(caught.exception.field, "name")

    def test_how_many_threads(self):
        for threads in (-1, 1025):
            with self.assertRaisesRegex(ValueError, f"from 0 to 1024, not {threads}"):
                gf.local(threads)
        self.assertEqual(gf.local(1024).info().devices[0].compute_units, 1024)
        device = gf.local(3).info().devices[0]
        self.assertEqual((device.name, device.compute_units), ("this process", 3))
        self.assertEqual(device.memory_bytes,
                         os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        self.assertEqual(self.local.info().devices[0].compute_units, len(os.sched_getaffinity(0)))

    def test_how_a_call_ran(self):
        array = np.ones((3, 4), "f4")
        execution = self.local.reduce(array, ["sum"]).execution
        self.assertEqual((execution.strategy, execution.bytes_read, execution.transport),
                         ("reduce", 48, "in place"))
        self.assertEqual(execution.queue_time_s, 0)
        self.assertGreater(execution.kernel_time_s, 0)
        self.assertEqual(execution.total_time_s, execution.kernel_time_s)

    def test_what_it_is(self):
        self.assertEqual(self.local.info().engine, "cpu")
        self.assertTrue(self.local.is_serving())
        self.assertIn("this process", repr(self.local))
        self.assertEqual(self.local.options(timeout=1).sum([1, 2]), 3)
        self.assertIsNone(self.local._regions, "there is no server to share memory with")
        self.assertEqual(self.local.reduce([1, 2], ["sum"]).execution.engine, "cpu")

    def test_threads(self):
        array = np.random.default_rng(2).normal(size=200_000)
        expected, found = self.local.var(array), []
        threads = [threading.Thread(target=lambda: found.append(self.local.var(array)))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 8)

    def test_a_process_that_fork_has_made(self):
        result = run_python("""
import os, numpy as np, gridfold as gf
local, x = gf.local(), np.ones(3_000_000)
part = gf.Accumulator.of(x, ["sum"])
child = os.fork()
if child == 0:
    whole = part + gf.Accumulator.of(x, ["sum"])
    os._exit(0 if local.sum(x) == 3e6 and whole.result().sum == 6e6 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), local.sum(x))
""")
        self.assertEqual(result.stdout, "0 3000000.0\n", result.stderr)

    def test_import_is_not_for_everybody(self):
        result = run_python("import sys, gridfold; print('gridfold._core' in sys.modules)")
        self.assertEqual(result.stdout, "False\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
