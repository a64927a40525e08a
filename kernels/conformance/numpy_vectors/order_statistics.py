"""Cases of quantiles and of the largest and smallest elements."""

import numpy as np

from numpy_vectors.data import small_data, wide_data
from numpy_vectors.elements import INTEGERS, TYPES, encode, is_float, number


def order_data(kind, size, random, method):
    """Of 64 bits small numbers where NumPy's differences would leave the type."""
    is_wide = kind not in ("int64", "uint64", "float64") or method in ("lower", "higher", "nearest")
    return (wide_data if is_wide and size % 2 else small_data)(kind, size, random)


def quantile(kind, array, method, quantiles, grouping="whole", ignore_nan=False):
    # Between elements in float64, whatever their type; elements as they are.
    wide = array if kind in INTEGERS else array.astype(np.float64)
    if kind not in ("int64", "uint64") and method not in ("lower", "higher", "nearest"):
        wide = array.astype(np.float64)
    axis = {"whole": None, "axis1": 1}[grouping]
    if method == "mean":
        answers = [np.median(wide, axis)]
    else:
        function = np.nanquantile if ignore_nan else np.quantile
        answers = function(wide, quantiles, axis, method=method)
    return {"operation": "quantile", "type": kind, "shape": list(array.shape),
            "elements": encode(array, kind), "grouping": grouping, "ignore_nan": ignore_nan,
            "method": method, "quantiles": [number(q) for q in quantiles],
            "expected": [[number(one) for one in np.atleast_1d(answer)] for answer in answers]}


def quantiles(random):
    wanted = [0.0, 0.1, 0.25, 0.5, 0.613, 0.99, 1.0]
    for kind in TYPES:
        for method in ["linear", "lower", "higher", "nearest", "midpoint", "mean"]:
            asked = [0.5] if method == "mean" else wanted
            for size in [1, 10, 45]:
                yield quantile(kind, order_data(kind, size, random, method), method, asked)
            yield quantile(kind, order_data(kind, 60, random, method).reshape(6, 10), method, asked,
                           "axis1")
            if is_float(kind) and method != "mean":
                for ignore_nan in [False, True]:
                    data = small_data(kind, 20, random)
                    data[[3, 11]] = np.nan
                    yield quantile(kind, data, method, asked, ignore_nan=ignore_nan)


def tops(random):
    for kind in TYPES:
        for size in [1, 6, 30, 50]:
            data = (small_data if size % 4 else wide_data)(kind, size, random)
            keys = data.astype(np.float64) if is_float(kind) else data
            for smallest in [False, True]:
                order = np.argsort(keys, kind="stable")
                if not smallest:
                    order = size - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
                count = size // 2 + 1
                yield {"operation": "top", "type": kind, "shape": [size],
                       "elements": encode(data, kind), "smallest": smallest, "count": count,
                       "indices": order[:count].tolist(),
                       "expected": [number(keys[i]) for i in order[:count]]}
