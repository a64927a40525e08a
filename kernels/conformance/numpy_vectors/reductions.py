"""Cases of reductions, along axes too. Sums, means, norms and variances are exact, rounded once."""

import math
from fractions import Fraction

import numpy as np

from numpy_vectors.data import DATA, special_data, wide_data
from numpy_vectors.elements import TYPES, encode, groups_of, is_float, number


def exact(x):
    return [Fraction(float(v)) if x.dtype.kind == "f" else Fraction(int(v)) for v in x]


def rounded_root(square):
    """The square root of a fraction, rounded once."""
    if square == 0:
        return 0.0
    shift = 200 + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    root = math.isqrt(int(square * 4**shift))
    return float(Fraction(root, 2**shift))


def sum_of(x, magnitudes=False):
    if x.dtype.kind != "f":
        return sum(abs(int(v)) if magnitudes else int(v) for v in x)
    values = np.abs(x) if magnitudes else x
    if not np.all(np.isfinite(values)):
        with np.errstate(invalid="ignore"):
            return float(np.sum(values.astype(np.float64)))
    return math.fsum(float(v) for v in values)


def wrapped(value, kind):
    value &= 2**64 - 1
    return value - 2**64 if kind.startswith("int") and value >= 2**63 else value


def statistics_of(x, kind, ignore_nan, ddof):
    """Every statistic that `kind` has, of one group, as a dictionary of strings."""
    elements = x
    nans = int(np.isnan(x).sum()) if is_float(kind) else 0
    if ignore_nan:
        x = x[~np.isnan(x)]
    finite = bool(np.all(np.isfinite(x)))
    found = {
        "count": len(x),
        "nonzero_count": np.count_nonzero(x),
        "nan_count": nans,
        "infinity_count": int(np.isinf(x).sum()) if is_float(kind) else 0,
        "all": np.all(x != 0),
        "any": np.any(x != 0),
        "l1_norm": float(sum_of(x, magnitudes=True)),
    }
    total = sum_of(x)
    found["sum"] = total if is_float(kind) else wrapped(total, kind)
    numbers = exact(x) if finite else []
    squares = sum(v * v for v in numbers)
    if finite:
        found["l2_norm"] = rounded_root(squares)
    else:
        found["l2_norm"] = math.nan if np.isnan(x).any() else math.inf
    if not is_float(kind):
        found["product"] = wrapped(math.prod(int(v) for v in x), kind)
        found["bitwise_and"] = np.bitwise_and.reduce(x)
        found["bitwise_or"] = np.bitwise_or.reduce(x)
        found["bitwise_xor"] = np.bitwise_xor.reduce(x)
    if len(x):
        found["min"] = np.min(x)
        found["max"] = np.max(x)
        found["argmin"] = (np.nanargmin if ignore_nan else np.argmin)(elements)
        found["argmax"] = (np.nanargmax if ignore_nan else np.argmax)(elements)
        found["mean"] = float(sum(numbers) / len(x)) if finite else total
        with np.errstate(invalid="ignore"):
            found["range"] = (float(np.ptp(x.astype(np.float64))) if is_float(kind)
                              else int(np.max(x)) - int(np.min(x)))
        found["root_mean_square"] = (rounded_root(squares / len(x)) if finite
                                     else found["l2_norm"])
    if len(x) > ddof and not finite:
        for name in ("variance", "standard_deviation", "standard_error"):
            found[name] = math.nan
    elif len(x) > ddof:
        variance = (squares - sum(numbers) ** 2 / len(x)) / (len(x) - ddof)
        found["variance"] = float(variance)
        found["standard_deviation"] = rounded_root(variance)
        found["standard_error"] = rounded_root(variance / len(x))
    return {name: number(value) for name, value in found.items()}


def reduction(kind, array, grouping="whole", offsets=None, ignore_nan=False, ddof=0):
    groups = groups_of(array, grouping, offsets)
    answers = [statistics_of(group, kind, ignore_nan, ddof) for group in groups]
    names = [name for name in answers[0] if all(name in answer for answer in answers)]
    return {
        "operation": "reduce", "type": kind, "shape": list(array.shape),
        "elements": encode(array, kind), "grouping": grouping, "offsets": offsets or [],
        "ignore_nan": ignore_nan, "delta_degrees_of_freedom": ddof,
        "expected": {name: [answer[name] for answer in answers] for name in names},
    }


def reductions(random):
    for kind in TYPES:
        policies = [False, True] if is_float(kind) else [False]
        for name, make in DATA.items():
            for size in [1, 7, 45]:
                for ignore_nan in policies:
                    yield reduction(kind, make(kind, size, random), ignore_nan=ignore_nan,
                                    ddof=1 if size == 7 else 0)
        for grouping in ["axis0", "axis1"]:
            matrix = special_data(kind, 5 * 6, random).reshape(5, 6)
            yield reduction(kind, matrix, grouping)
        yield reduction(kind, wide_data(kind, 40, random), "segments", [0, 1, 20, 23, 40])


def reduction_along(kind, array, axes):
    kept = [d for d in range(array.ndim) if d not in axes]
    count = math.prod(array.shape[d] for d in kept)
    case = reduction(kind, array.transpose(kept + sorted(axes)).reshape(count, -1), "axis1")
    case.update(shape=list(array.shape), elements=encode(array, kind), grouping="axes",
                axes=sorted(axes), result_shape=list(np.any(array, axis=axes).shape))
    return case


def reductions_along_axes(random):
    for kind in TYPES:
        array = special_data(kind, 2 * 3 * 2 * 3, random).reshape(2, 3, 2, 3)
        for axes in [(1,), (0, 2), (1, 3), (0, 1, 3)]:
            yield reduction_along(kind, array, axes)
        yield reduction_along(kind, wide_data(kind, 1, random).reshape(()), ())
        yield reduction_along(kind, wide_data(kind, 24, random).reshape(1, 2, 1, 3, 1, 2, 1, 2),
                              (1, 5, 6))
