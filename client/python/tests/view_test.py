"""Views of arrays on the server, and of those that `gf.local()` keeps, beside NumPy's."""

import asyncio
import unittest

import numpy as np

from package_case import DTYPES, PackageTest, gf, numbers

SHAPES = [(7,), (5, 6), (4, 3, 5), (3, 4, 2, 3), (2, 3, 2, 3, 2)]


def random_key(random, shape):
    """Basic indices of an array of this shape."""
    keys = []
    for extent in shape:
        kind = random.integers(5)
        if kind == 0 and extent:
            keys.append(int(random.integers(-extent, extent)))
        elif kind == 1:
            keys.append(slice(None))
        else:
            begin, end = (int(random.integers(-extent - 1, extent + 2)) if random.integers(3)
                          else None for _ in range(2))
            keys.append(slice(begin, end, int(random.choice([-3, -2, -1, 1, 2, 3]))))
    first, last = np.sort(random.integers(0, len(keys) + 1, 2))
    return tuple(keys[:first]) if random.integers(2) else (*keys[:first], ..., *keys[last:])


def random_view(random, *arrays):
    """The same view of several arrays of one shape, in up to three steps."""
    for _ in range(random.integers(1, 4)):
        if random.integers(3):
            key = random_key(random, arrays[0].shape)
            arrays = [one[key] for one in arrays]
        else:
            axes = random.permutation(len(arrays[0].shape)).tolist()
            arrays = [one.transpose(axes) for one in arrays]
    # NumPy gives a number where there is one element without dimensions.
    return [np.asarray(one) if isinstance(one, np.generic) else one for one in arrays]


def random_axes(random, dimensions):
    """Some of them, one, or all."""
    if not dimensions or not random.integers(4):
        return None
    count = random.integers(1, dimensions + 1)
    axes = tuple(random.choice(dimensions, count, replace=False).tolist())
    return axes[0] if len(axes) == 1 else axes


class ViewTest(PackageTest):
    def setUp(self):
        self.random = np.random.default_rng(50)
        self.engines = {"server": self.gpu, "local": gf.local()}

    def for_views(self, dtypes, count, check):
        """Calls `check` with an engine, a view there, NumPy's, and masks of its shape, both ways."""
        for where, gpu in self.engines.items():
            for number, shape in enumerate(SHAPES):
                dtype = np.dtype(dtypes[number % len(dtypes)])
                array, mask = numbers(dtype, shape, number), numbers(np.dtype("?"), shape, number)
                with gpu.put(array) as kept, gpu.put(mask) as kept_mask:
                    for _ in range(count):
                        view, numpy_view, mask_view, numpy_mask = random_view(
                            self.random, kept, array, kept_mask, mask)
                        with self.subTest(where=where, view=repr(view)):
                            check(gpu, view, numpy_view, mask_view, numpy_mask)

    def test_elements_and_shapes(self):
        def check(gpu, view, array, mask, numpy_mask):
            self.assertEqual((view.shape, view.ndim, view.size, view.nbytes),
                             (array.shape, array.ndim, array.size, array.nbytes))
            self.assert_same(np.asarray(view), array)
            self.assert_same(np.asarray(mask), numpy_mask)

        self.for_views(DTYPES, 40, check)

    def test_elements_that_come_in_many_messages(self):
        array = np.arange(3_000_000, dtype=np.int32).reshape(1000, 3, 1000)
        with self.gpu.put(array) as kept:
            for one in (lambda a: a.T, lambda a: a[::-1, 1], lambda a: a[..., ::3],
                        lambda a: a.transpose(1, 0, 2)[:, 5:]):
                self.assert_same(np.asarray(one(kept)), one(array))

    def test_the_representation_is_numpys_expression(self):
        def check(gpu, view, array, mask, numpy_mask):
            expression = repr(view).split("'")[2].rsplit(" int64 ", 1)[0]
            whole = np.asarray(gpu.array(view.name))
            self.assert_same(np.asarray(eval("whole" + expression, {"whole": whole})), array)

        self.for_views(["i8"], 20, check)

    def test_reductions(self):
        def check(gpu, view, array, mask, numpy_mask):
            axes = random_axes(self.random, array.ndim)
            self.assert_same(gpu.sum(view, axes), array.sum(axes))
            self.assert_same(gpu.sum(view, axes, where=mask), array.sum(axes, where=numpy_mask))
            self.assert_same(gpu.sum(view, axes, where=numpy_mask),
                             array.sum(axes, where=numpy_mask))
            if array.size:
                self.assert_same(gpu.max(view, axes, where=mask, initial=0, keepdims=True),
                                 array.max(axes, where=numpy_mask, initial=0, keepdims=True))
                self.assert_same(view.min(axes), array.min(axes))
                variance = view.var(axes)
                self.assert_near(variance, array.var(axes, dtype="f8").astype(variance.dtype))
                one = axes[0] if isinstance(axes, tuple) else axes
                self.assert_same(gpu.argmin(view, one), array.argmin(one))

        self.for_views(["f8", "i4", "f4", "u1", "i2"], 40, check)

    def test_scans(self):
        def check(gpu, view, array, mask, numpy_mask):
            axis = int(self.random.integers(array.ndim)) if array.ndim else None
            self.assert_same(view.cumsum(axis), array.cumsum(axis))
            self.assert_same(view.cumsum(), array.cumsum())
            if array.ndim:
                self.assert_same(gpu.cummax(view, axis), np.maximum.accumulate(array, axis))

        self.for_views(["f8", "i4", "u1", "i8"], 30, check)

    def test_histograms(self):
        def check(gpu, view, array, mask, numpy_mask):
            for actual, expected in zip(view.histogram(4, range=(-3, 3)),
                                        np.histogram(array, 4, range=(-3, 3))):
                self.assert_same(actual, expected)
            pairs = gpu.histogram2d(view, view[..., :], 3, [(-8, 8), (-2, 3)]) if array.ndim else ()
            for actual, expected in zip(pairs, np.histogram2d(array.ravel(), array.ravel(), 3,
                                                              [(-8, 8), (-2, 3)])):
                self.assert_same(actual, expected)

        self.for_views(["f8", "i4"], 30, check)

    def test_histograms_of_several_dimensions(self):
        sample = np.random.default_rng(3).normal(size=(500, 3))
        for gpu in (self.gpu, gf.local()):
            with gpu.put(sample) as there:
                for chosen in (slice(None), slice(None, 2), slice(1, 2)):
                    counts, edges = gpu.histogramdd(there[:, chosen], bins=4)
                    expected, expected_edges = np.histogramdd(sample[:, chosen], bins=4)
                    np.testing.assert_array_equal(counts, expected)
                    for one, other in zip(edges, expected_edges):
                        np.testing.assert_allclose(one, other)

    def test_order_statistics(self):
        def check(gpu, view, array, mask, numpy_mask):
            if not array.size:
                return
            axes = random_axes(self.random, array.ndim)
            self.assert_near(gpu.quantile(view, [0.2, 0.5], axes),
                             np.quantile(array.astype("f8"), [0.2, 0.5], axes))
            if array.ndim:
                axis = int(self.random.integers(array.ndim))
                self.assert_same(gpu.topk(view, 1, axis).values, array.max(axis, keepdims=True))
            self.assertEqual(gpu.topk(view, 1, None).indices.tolist(), [array.argmax()])

        self.for_views(["f8", "i4"], 30, check)

    def test_two_arrays_and_keys(self):
        def check(gpu, view, array, mask, numpy_mask):
            if not array.size:
                return
            if array.ndim != 2:  # Two dimensions are columns.
                self.assert_same(gpu.vdot(view, view), (array.astype("i8")**2).sum())
            if array.ndim == 1:
                found = gpu.group(view).agg(view[::-1], "sum")
                keys, inverse = np.unique(array, return_inverse=True)
                np.testing.assert_array_equal(found.keys, keys)
                np.testing.assert_array_equal(
                    found.statistics.sum,
                    np.bincount(inverse, array[::-1]).astype("i8"))

        self.for_views(["i4", "i8"], 40, check)

    def test_what_is_known_of_a_view(self):
        array = numbers(np.dtype("f8"), (6, 5, 4))
        for where, gpu in self.engines.items():
            with self.subTest(where=where), gpu.put(array, "a") as kept:
                for key, expected in ((np.s_[:], "'a'"), (np.s_[2:5], "'a'[2:5]"),
                                      (np.s_[1], "'a'[1]"),
                                      (np.s_[::-2, :, 3], "'a'[5:0:-2, :, 3]"),
                                      (np.s_[..., ::-1], "'a'[:, :, 3::-1]")):
                    self.assertEqual(repr(kept[key]),
                                     f"<ResidentArray {expected} float64 {array[key].shape}>")
                self.assertEqual(repr(kept[0].T),
                                 "<ResidentArray 'a'[0].transpose(1, 0) float64 (4, 5)>")
                self.assertEqual((len(kept[::2]), len(kept.T)), (3, 4))
                self.assertEqual([np.asarray(row).tolist() for row in kept[::2, 0]],
                                 array[::2, 0].tolist())
                for function in (len, list):
                    with self.assertRaises(TypeError):
                        function(kept[0, 0, 0])
                for actual, expected in ((kept.transpose(1, 0, -1), array.transpose(1, 0, -1)),
                                         (kept.transpose((2, 0, 1)), array.transpose(2, 0, 1)),
                                         (kept.transpose(None), array.T),
                                         (kept.swapaxes(0, -1), array.swapaxes(0, -1)),
                                         (np.transpose(kept), array.T),
                                         (kept[np.int8(3), np.array(-1)], array[3, -1])):
                    np.testing.assert_array_equal(np.asarray(actual), expected)

    def test_what_is_sent_of_a_view(self):
        kept = self.gpu.put(np.zeros((6, 5)), "sent")
        self.addCleanup(kept.delete)
        for view, place in ((kept[...], (0, -1)), (kept[:6, ::1], (0, -1)), (kept[2:][1:3], (3, 2)),
                            (kept[4:5:-1], (0, 0)), (kept[-1:], (5, 1)), (kept[5:6:-3], (0, 0)),
                            (kept[1], ((1, 0), ((1, 5, 1),))),
                            (kept[::2].T, ((0, 0), ((1, 5, 1), (0, 3, 2)))),
                            (kept[::-2, 1:][1:, 2], ((3, 3), ((0, 2, -2),)))):
            self.assertEqual(view._place(), ("sent", *place), view)

    def test_a_number_on_the_server(self):
        for where, gpu in self.engines.items():
            with self.subTest(where=where), gpu.put(np.float64(2.5)) as kept:
                self.assertEqual((kept.shape, gpu.array(kept.name).shape), ((), ()))
                for view in (kept, kept[()], kept[...], kept.T):
                    self.assert_same(np.asarray(view), np.array(2.5))
                    self.assert_same(view.sum(), np.float64(2.5))
                    self.assert_same(gpu.sum(view, where=np.array(False)), np.float64(0))
                    self.assert_same(view.cumsum(), np.array([2.5]))

    def test_what_is_no_view(self):
        array = np.zeros((3, 4))
        with self.gpu.put(array) as kept:
            for key in (3, -4, (0, 4), (0, 0, 0), (..., 0, ...), (0, 0, ..., 0)):
                for one in (kept, array):
                    with self.assertRaises(IndexError):
                        one[key]
            for key in (None, (0, np.newaxis), True, [0, 1], np.array([0]), array > 0,
                        (slice(2), [1])):
                with self.assertRaises(NotImplementedError):
                    kept[key]
            for key in ("x", 1.5, (0, 2.0)):
                with self.assertRaisesRegex(TypeError, "r\\[10:20, 0, ::-1\\]"):
                    kept[key]
            with self.assertRaises(ValueError):
                kept[::0]
            for axes in ((0,), (0, 0), (0, 1, 2), (0, 2)):
                for one in (kept, array):
                    with self.assertRaises(ValueError):
                        one.transpose(axes)
            for one in (kept, array):
                with self.assertRaises(np.exceptions.AxisError if hasattr(np, "exceptions")
                                       else np.AxisError):
                    one.swapaxes(0, 2)

    def test_as_many_dimensions_as_the_server_knows(self):
        array = numbers(np.dtype("i4"), (3,) + (2,) * 7)
        for where, gpu in self.engines.items():
            with self.subTest(where=where), gpu.put(array) as kept:
                self.assert_same(np.asarray(kept[::-2, ..., 0]), array[::-2, ..., 0])
                for one, other in ((kept, array), (kept.T, array.T)):
                    self.assert_same(one.sum(axis=(1, 3, 6)), other.sum(axis=(1, 3, 6)))

    def test_more_dimensions_than_the_server_knows(self):
        array = numbers(np.dtype("f8"), (3,) + (2,) * 8)
        with self.gpu.put(array) as kept:
            self.assert_same(np.asarray(kept[1:][1:2]), array[2:3])
            for view in (lambda: kept[1], lambda: kept[::2], lambda: kept[:, 0], lambda: kept.T):
                with self.assertRaisesRegex(NotImplementedError, "9 dimensions"):
                    view()

    def test_writing(self):
        for where, gpu in self.engines.items():
            array = np.zeros((4, 3, 2))
            with self.subTest(where=where), gpu.put(array) as kept:
                for one in (kept, array):
                    one[1] = 1
                    one[2, 1:] = [[3, 4], [5, 6]]
                    one[3, 2, ::-1][1:] = 7
                    one[-1:, 0] = [8, 9]
                    one[2:2] = 10
                self.assert_same(np.asarray(kept), array)
                for key in (np.s_[::2], np.s_[:, 0], np.s_[::-1]):
                    with self.assertRaisesRegex(NotImplementedError, "follow one another"):
                        kept[key] = 0
                with self.assertRaisesRegex(NotImplementedError, "follow one another"):
                    kept.T[0] = 0
                self.assert_same(np.asarray(kept), array)

    def test_event_loops(self):
        array = numbers(np.dtype("f8"), (6, 5, 4))

        async def ask():
            async with gf.aio.connect(self.server.target) as gpu:
                kept = await gpu.put(array)
                sums = await asyncio.gather(*(gpu.sum(view, axis=0) for view in kept.T))
                masked = await gpu.sum(kept[::2], where=(await gpu.put(array > 0))[::2])
                return sums, masked

        sums, masked = asyncio.run(ask())
        for actual, expected in zip(sums, array.T):
            self.assert_same(actual, expected.sum(axis=0))
        self.assert_same(masked, array[::2].sum(where=array[::2] > 0))


if __name__ == "__main__":
    unittest.main()
