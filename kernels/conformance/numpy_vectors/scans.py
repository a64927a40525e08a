"""Cases of scans, along axes too."""

import math

import numpy as np

from numpy_vectors.data import small_data, special_data
from numpy_vectors.elements import TYPES, as_kind, dtype, encode, groups_of, is_float, number


def running(x, kind, operation, ignore_nan):
    """The inclusive, forward scan of one group, in the widest type."""
    if operation in ("min", "max"):
        if ignore_nan:
            # NaN until the first number.
            return (np.fmin if operation == "min" else np.fmax).accumulate(x)
        return (np.minimum if operation == "min" else np.maximum).accumulate(x)
    function = np.cumsum if operation == "sum" else np.cumprod
    if not is_float(kind):
        return function(x, dtype=np.uint64 if kind.startswith("uint") else np.int64)
    if ignore_nan:
        function = np.nancumsum if operation == "sum" else np.nancumprod
    return function(x.astype(np.float64))


def identity(kind, operation):
    if operation in ("sum", "product"):
        return 0 if operation == "sum" else 1
    if is_float(kind):
        return math.inf if operation == "min" else -math.inf
    limits = np.iinfo(dtype(kind))
    return limits.max if operation == "min" else limits.min


def scanned(x, kind, operation, exclusive, reverse, ignore_nan):
    if reverse:
        x = x[::-1]
    result = running(x, kind, operation, ignore_nan)
    if exclusive and len(x):
        result = np.concatenate([np.array([identity(kind, operation)], result.dtype), result[:-1]])
    return result[::-1] if reverse else result


def scan(kind, array, operation, exclusive, reverse, own_type, grouping="whole", ignore_nan=False):
    output_type = kind if own_type else accumulator(kind)
    result = np.empty(array.shape, running(array[:0].reshape(-1), kind, operation, False).dtype)
    for source, target in zip(groups_of(array, grouping, None), groups_of(result, grouping, None)):
        target[...] = scanned(source, kind, operation, exclusive, reverse, ignore_nan)
    return {
        "operation": "scan", "type": kind, "shape": list(array.shape),
        "elements": encode(array, kind), "grouping": grouping, "offsets": [],
        "ignore_nan": ignore_nan, "scan": operation, "exclusive": exclusive, "reverse": reverse,
        "output_type": output_type,
        "expected": [number(x) for x in as_kind(result, output_type).reshape(-1)],
    }


def accumulator(kind):
    if is_float(kind):
        return "float64"
    return "uint64" if kind.startswith("uint") else "int64"


def scans(random):
    for kind in TYPES:
        for turn, operation in enumerate(["sum", "product", "min", "max"] * 2):
            exclusive, reverse = turn % 2 == 1, turn // 2 % 2 == 1
            extreme = operation in ("min", "max")
            # Floating-point sums and products are NumPy's where nothing is rounded on the way.
            if extreme:
                data = special_data(kind, 37, random)
            elif operation == "sum":
                data = small_data(kind, 37, random)
            else:
                data = as_kind(random.choice([1, 2] if kind.startswith("uint") else [1, 2, -1], 37),
                               kind)
            ignore_nan = is_float(kind) and turn >= 4
            if ignore_nan:
                data[[0, 1, 36] if extreme else [0, 11]] = math.nan
            own_type = extreme or turn >= 4
            yield scan(kind, data, operation, exclusive, reverse, own_type, ignore_nan=ignore_nan)
            matrix = small_data(kind, 4 * 9, random).reshape(4, 9)
            yield scan(kind, matrix, "sum" if turn % 2 else "max", exclusive, reverse, True,
                       "axis0" if turn % 4 < 2 else "axis1")


def scans_along_axes(random):
    for kind in TYPES:
        array = small_data(kind, 2 * 3 * 4, random).reshape(2, 3, 4)
        for axis in range(3):
            rows = np.moveaxis(array, axis, -1)
            case = scan(kind, np.ascontiguousarray(rows).reshape(-1, rows.shape[-1]), "sum", False,
                        False, False, "axis1")
            expected = np.cumsum(array.astype(np.float64), axis=axis)
            case.update(shape=list(array.shape), elements=encode(array, kind), grouping="axes",
                        axes=[axis],
                        expected=[number(x) for x in
                                  as_kind(expected, case["output_type"]).reshape(-1)])
            yield case
