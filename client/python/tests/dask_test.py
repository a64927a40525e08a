"""gridfold.dask on a cluster of worker processes: chunks of any shape give the same bits."""

import os
import signal
import unittest

import numpy as np

from package_case import PACKAGE, gf

try:
    import dask.array as da
    import distributed
except ImportError:
    da = None


@unittest.skipIf(da is None, "Dask is not installed (python3-dask, python3-distributed)")
class DaskTest(unittest.TestCase):
    CHUNKS = ((60, 40), (17, 40), (60, 7), (11, 13), (1, 40))

    @classmethod
    def setUpClass(cls):
        os.environ["PYTHONPATH"] = os.pathsep.join(
            [PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])])
        cls.cluster = distributed.LocalCluster(
            n_workers=3, threads_per_worker=2, processes=True, dashboard_address=None,
            memory_limit=None)
        cls.addClassCleanup(cls.cluster.close)
        cls.client = distributed.Client(cls.cluster)
        cls.addClassCleanup(cls.client.close)
        generator = np.random.default_rng(8)
        cls.array = generator.normal(size=(60, 40)) * 10.0**generator.integers(-9, 9, (60, 40))

    def assert_bits(self, found, expected):
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(found, expected)

    def test_chunks_of_any_shape_give_the_same_bits(self):
        local = gf.local()
        for name, axis in (("sum", None), ("mean", 0), ("var", 1), ("std", None)):
            expected = getattr(local, name)(self.array, axis)
            for chunks in self.CHUNKS:
                x = da.from_array(self.array, chunks=chunks)
                lazy = getattr(gf.dask, name)(x, axis, split_every=3)
                self.assertEqual(lazy.shape, np.shape(expected))
                self.assert_bits(np.asarray(lazy.compute()), np.asarray(expected))

    def test_options(self):
        array = self.array.astype("f4")
        array[3, ::5] = np.nan
        x = da.from_array(array, chunks=(13, 9))
        local = gf.local()
        for actual, expected in (
                (gf.dask.nansum(x, 0, keepdims=True), local.nansum(array, 0, keepdims=True)),
                (gf.dask.nanmean(x), local.nanmean(array)),
                (gf.dask.var(x[:3], 1, ddof=1), local.var(array[:3], 1, ddof=1)),
                (gf.dask.reduce(x[5:], "max", 1), local.max(array[5:], 1)),
                (gf.dask.sum(x[5:].T[::2], 1), local.sum(array[5:].T[::2], 1))):
            self.assert_bits(np.asarray(actual.compute()), np.asarray(expected))
        with self.assertRaises(NotImplementedError):
            gf.dask.reduce(x, "argmax")

    def test_histograms(self):
        weights = np.random.default_rng(9).normal(size=self.array.shape)
        for bins, bounds in ((12, (-5, 5)), ([-1.0, 0.0, 3.0], None)):
            for chunks in self.CHUNKS[1:]:
                x = da.from_array(self.array, chunks=chunks)
                counts, edges = gf.dask.histogram(x, bins, bounds)
                expected = np.histogram(self.array, bins, bounds)
                self.assert_bits(counts.compute(), expected[0])
                self.assert_bits(edges, expected[1])
        x = da.from_array(self.array, chunks=(17, 40))
        densities, _ = gf.dask.histogram(x, [-1.0, 0.0, 3.0], density=True)
        np.testing.assert_allclose(densities.compute(),
                                   np.histogram(self.array, [-1.0, 0.0, 3.0], density=True)[0])
        expected = gf.local().histogram(self.array, 12, (-5, 5), weights=weights)[0]
        for chunks in self.CHUNKS[1:]:
            sums, _ = gf.dask.histogram(da.from_array(self.array, chunks=chunks), 12, (-5, 5),
                                        weights=da.from_array(weights, chunks=(60, 9)))
            self.assert_bits(sums.compute(), expected)

    def test_quantiles(self):
        array = self.array.astype("f4")
        for chunks in self.CHUNKS[1:]:
            x = da.from_array(array, chunks=chunks)
            self.assert_bits(gf.dask.quantile(x, [0.1, 0.5, 1.0]),
                             gf.local().quantile(array, [0.1, 0.5, 1.0]))
        x = da.from_array(np.where(array > 0, np.nan, array), chunks=(7, 40))
        self.assert_bits(gf.dask.nanquantile(x, 0.3, method="lower"),
                         np.quantile(array[array <= 0], 0.3, method="lower"))

    def test_a_worker_that_dies_is_survived(self):
        x = da.from_array(self.array, chunks=(2, 40)).map_blocks(_slowly, dtype=float)
        process = next(iter(self.client.run(os.getpid).values()))
        future = self.client.compute(gf.dask.sum(x))
        os.kill(process, signal.SIGKILL)
        self.assertEqual(future.result(timeout=60), gf.local().sum(self.array))


def _slowly(block):
    import time
    time.sleep(0.02)
    return block


if __name__ == "__main__":
    unittest.main()
