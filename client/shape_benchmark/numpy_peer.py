"""The same questions, of NumPy."""

import time

import numpy as np

import questions


def _as_numbers(array):
    """For arithmetic that NumPy does in floating point, as it does it, but not in 16 bits."""
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _reduce(array, statistic, axis):
    # As wide as a careful user would ask for.
    wide = np.float32 if array.dtype == np.float16 else None
    match statistic:
        case "sum": return array.sum(axis=axis, dtype=wide)
        case "min": return array.min(axis=axis)
        case "max": return array.max(axis=axis)
        case "argmax": return array.argmax(axis=axis)
        case "mean": return array.mean(axis=axis, dtype=wide)
        case "variance": return array.var(axis=axis, dtype=wide)
        case "standard_deviation": return array.std(axis=axis, dtype=wide)
        case "nonzero_count": return np.count_nonzero(array, axis=axis)
        case "l2_norm":
            numbers = _as_numbers(array)
            return np.linalg.norm(numbers.ravel() if axis is None else numbers, axis=axis)
    raise ValueError(statistic)


def _reduce_segments(array, statistic, starts, sizes):
    match statistic:
        case "sum": return np.add.reduceat(array, starts)
        case "min": return np.minimum.reduceat(array, starts)
        case "max": return np.maximum.reduceat(array, starts)
        case "mean": return np.add.reduceat(array, starts) / sizes
        case "nonzero_count": return np.add.reduceat(array != 0, starts, dtype=np.int64)
        case "variance" | "standard_deviation" | "l2_norm":
            numbers = _as_numbers(array)
            squares = np.add.reduceat(numbers * numbers, starts)
            if statistic == "l2_norm":
                return np.sqrt(squares)
            variance = squares / sizes - (np.add.reduceat(numbers, starts) / sizes) ** 2
            return variance if statistic == "variance" else np.sqrt(variance)
    return None


class NumpyPeer:
    """Times in seconds, the least of some runs; None where NumPy has no answer."""

    NAME = "NumPy"

    def __init__(self, runs):
        self._runs = runs

    def seconds(self, question, x, y):
        operation = self.operation(question, x, y)
        if operation is None:
            return None
        times = []
        for _ in range(self._runs):
            begin = time.perf_counter()
            try:
                operation()
            except IndexError:  # Of its histograms of float16 whose edges are infinite.
                return None
            times.append(time.perf_counter() - begin)
        return min(times)

    def operation(self, question, x, y):
        if question.element_type == "bfloat16":
            return None
        return getattr(self, "_" + question.kind)(question, x, y)

    def _reduction(self, question, x, _):
        if question.grouping == "segments":
            if "argmax" in question.statistics:
                return None
            starts = np.array(question.offsets[:-1])
            sizes = np.diff(question.offsets)
            return lambda: [_reduce_segments(x, name, starts, sizes) for name in question.statistics]
        axis = questions.AXES[question.grouping]
        return lambda: [np.atleast_1d(_reduce(x, name, axis)) for name in question.statistics]

    def _scan(self, question, x, _):
        if question.grouping == "segments":
            return None
        ufunc = {"sum": np.add, "min": np.minimum, "max": np.maximum}[question.scan]
        result = np.zeros_like(x)
        numbers, target = (x.ravel(), result.ravel()) if question.grouping == "whole" else (x, result)
        axis = questions.AXES[question.grouping] or 0

        def scan():
            ufunc.accumulate(numbers, axis=axis, out=target)
            return result

        return scan

    def _histogram(self, question, x, y):
        bounds = questions.HISTOGRAM_BOUNDS
        match question.bins:
            case "range_found": return lambda: np.histogram(x, question.bin_count)[0]
            case "edges" | "logarithmic":
                edges = questions.edges_of(question)
                return lambda: np.histogram(x, edges)[0]
            case "two_dimensional":
                side = round(question.bin_count ** 0.5)
                return lambda: np.histogram2d(x, y, side, (bounds, bounds))[0].ravel()
            case "weighted": return lambda: np.histogram(x, question.bin_count, bounds, weights=y)[0]
        return lambda: np.histogram(x, question.bin_count, bounds)[0]
