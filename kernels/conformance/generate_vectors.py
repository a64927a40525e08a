#!/usr/bin/env python3
"""Writes numpy_vectors.json: small jobs and the answers that NumPy gives.

Sums, means, norms and variances are not NumPy's, which rounds on the way, but exact (math.fsum and
fractions), rounded once. Everything else is NumPy's own. The file is committed; a test runs this
script with --check, which fails where the file is not what it would write.

Arrays are little-endian bytes in hexadecimal, floating-point numbers hexadecimal too, so nothing is
lost on the way. A case reads like the request: see numpy_vector_test.cc.
"""

import argparse
import json
import math
import sys
from fractions import Fraction

import numpy as np

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
TYPES = INTEGERS + FLOATS


def is_float(kind):
    return kind in FLOATS


def dtype(kind):
    """The NumPy type that holds elements of `kind`; NumPy has no bfloat16."""
    return np.dtype("float32" if kind == "bfloat16" else kind)


def to_bfloat16(values):
    """float32 values rounded to bfloat16, to the nearest, ties to even; still as float32."""
    values = np.asarray(values, np.float32)
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    rounded = np.where(np.isnan(values), 0x7FC00000, rounded)
    return rounded.astype(np.uint32).view(np.float32)


def as_kind(values, kind):
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "bfloat16":
            return to_bfloat16(values)
        return np.asarray(values).astype(dtype(kind))


def encode(array, kind):
    if kind == "bfloat16":
        return (array.view(np.uint32) >> 16).astype("<u2").tobytes().hex()
    return array.astype(array.dtype.newbyteorder("<")).tobytes().hex()


def number(x):
    """A value as a string that reads back exactly."""
    if isinstance(x, (bool, np.bool_)):
        return "1" if x else "0"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    x = float(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x.hex()


# --- Data ---------------------------------------------------------------------------------------


def small_data(kind, size, random):
    steps = random.randint(0, 17, size)
    if kind.startswith("uint"):
        return as_kind(steps, kind)
    return as_kind((steps - 8) * 0.25 if is_float(kind) else steps - 8, kind)


def wide_data(kind, size, random):
    if is_float(kind):
        reach = {"float16": 8, "float64": 50}.get(kind, 30)
        values = random.standard_normal(size) * 2.0 ** random.randint(-reach, reach, size)
        return as_kind(values, kind)
    return np.frombuffer(random.bytes(size * dtype(kind).itemsize), dtype(kind)).copy()


def special_data(kind, size, random):
    values = wide_data(kind, size, random)
    if is_float(kind):
        tiny = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149}.get(kind, 5e-324)
        numbers = [math.nan, math.inf, -math.inf, 0.0, -0.0, tiny, -3 * tiny]
    else:
        numbers = [np.iinfo(dtype(kind)).min, np.iinfo(dtype(kind)).max, 0]
    places = random.randint(0, size, max(1, size // 4))
    values[places] = as_kind([numbers[i % len(numbers)] for i in range(len(places))], kind)
    return values


DATA = {"small": small_data, "wide": wide_data, "special": special_data}

# --- Reductions ---------------------------------------------------------------------------------


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


def groups_of(array, grouping, offsets):
    if grouping == "axis0":
        return [array[:, c] for c in range(array.shape[1])]
    if grouping == "axis1":
        return [array[r, :] for r in range(array.shape[0])]
    if grouping == "segments":
        return [array[a:b] for a, b in zip(offsets, offsets[1:])]
    return [array.reshape(-1)]


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


# --- Scans --------------------------------------------------------------------------------------


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


# --- Histograms ---------------------------------------------------------------------------------


def samples_of(kind, size, random):
    low, high = (0, 250) if kind.startswith("uint") else (-120, 120)
    values = random.uniform(low, high, size)
    values = as_kind(values if is_float(kind) else np.floor(values), kind)
    if is_float(kind) and size > 10:
        values[:3] = as_kind([math.nan, math.inf, -math.inf], kind)
    return values


def outside(x, edges):
    return {"underflow": int(np.sum(x < edges[0])), "overflow": int(np.sum(x > edges[-1])),
            "nan": int(np.sum(np.isnan(x)))}


def histogram(kind, x, bins, weights=None, weight_kind=None, quantiles=()):
    """`bins` is a dictionary as in the file; NumPy looks at the samples as float64."""
    values = x.astype(np.float64)
    inside = values[~np.isnan(values)]
    case = {"operation": "histogram", "type": kind, "shape": [len(x)], "elements": encode(x, kind),
            "bins": [bins], "channel_count": 1}
    chosen = None if weights is None else weights.astype(np.float64)[~np.isnan(values)]
    if bins["layout"] == "integer":
        offsets = x.astype(np.int64) - bins["first_value"]
        offsets = offsets[(offsets >= 0) & (offsets < bins["bin_count"])]
        counts = np.bincount(offsets, minlength=bins["bin_count"])
        ends = [bins["first_value"], bins["first_value"] + bins["bin_count"] - 1]
        case["channels"] = [{"counts": counts.tolist(), **outside(values, ends)}]
        return case
    if bins["layout"] == "automatic":
        finite = inside[np.isfinite(inside)]
        counts, edges = np.histogram(finite, bins["bin_count"])
    elif bins["layout"] == "even":
        bounds = (float.fromhex(bins["lower"]), float.fromhex(bins["upper"]))
        counts, edges = np.histogram(inside, bins["bin_count"], bounds, weights=chosen)
    else:
        counts, edges = np.histogram(inside, [float.fromhex(e) for e in bins["edges"]],
                                     weights=chosen)
    channel = {"edges": [number(e) for e in edges], **outside(values, edges)}
    if weights is None:
        channel["counts"] = counts.tolist()
    else:
        channel["weight_sums"] = [number(w) for w in counts]
        case["weight_type"] = weight_kind
        case["weights"] = encode(weights, weight_kind)
    if len(quantiles) and np.all(counts > 0):
        ranks = [q * counts.sum() for q in quantiles]
        channel["quantile_values"] = [
            number(v) for v in np.interp(ranks, np.concatenate([[0], np.cumsum(counts)]), edges)]
        case["quantiles"] = [number(q) for q in quantiles]
    case["channels"] = [channel]
    return case


def histogram_2d(kind, x, y, x_bins, y_bins):
    bounds = [[float.fromhex(b["lower"]), float.fromhex(b["upper"])] for b in (x_bins, y_bins)]
    pairs = ~(np.isnan(x) | np.isnan(y))
    with np.errstate(invalid="ignore"):
        counts, _, _ = np.histogram2d(x.astype(np.float64)[pairs], y.astype(np.float64)[pairs],
                                      [x_bins["bin_count"], y_bins["bin_count"]], bounds)
    return {"operation": "histogram", "type": kind, "shape": [len(x)], "elements": encode(x, kind),
            "y_elements": encode(y, kind), "bins": [x_bins, y_bins], "channel_count": 1,
            "channels": [{"counts": counts.astype(np.int64).reshape(-1).tolist(),
                          "nan": int(np.sum(~pairs))}]}


def channels(kind, x, count, bins):
    parts = [histogram(kind, x[c::count], bins) for c in range(count)]
    return {"operation": "histogram", "type": kind, "shape": [len(x)], "elements": encode(x, kind),
            "bins": [bins], "channel_count": count,
            "channels": [part["channels"][0] for part in parts]}


def even(bin_count, lower, upper):
    return {"layout": "even", "bin_count": bin_count, "lower": number(float(lower)),
            "upper": number(float(upper))}


def table(edges):
    return {"layout": "edges", "edges": [number(float(e)) for e in edges]}


def histograms(random):
    for kind in TYPES:
        low = 10 if kind.startswith("uint") else -100
        # Rounded: the last bits of logarithms depend on the processor.
        growing = np.round(np.geomspace(0.5, 90, 12), 6)
        layouts = [even(1, low, 100), even(10, low, 100), even(37, low, 99.5), even(8, low, 200),
                   table([low, low + 0.5, 17, 18, 60, 101]), table(growing),
                   {"layout": "automatic", "bin_count": 9}]
        for bins in layouts:
            yield histogram(kind, samples_of(kind, 90, random), bins, quantiles=(0, 0.1, 0.5, 0.99))
        if not is_float(kind):
            yield histogram(kind, samples_of(kind, 90, random),
                            {"layout": "integer", "first_value": low, "bin_count": 60})
        # Samples on the edges themselves.
        yield histogram(kind, as_kind(np.arange(0, 101, 5), kind), even(20, 0, 100))
        weight_kind = TYPES[(TYPES.index(kind) + 5) % len(TYPES)]
        yield histogram(kind, samples_of(kind, 60, random), even(7, low, 90),
                        small_data(weight_kind, 60, random), weight_kind)
        x, y = samples_of(kind, 70, random), samples_of(kind, 70, random)[::-1].copy()
        yield histogram_2d(kind, x, y, even(4, low, 90), even(5, low, 110))
        yield channels(kind, samples_of(kind, 90, random), 3, even(6, low, 80))


# --- Order statistics ---------------------------------------------------------------------------


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


# --- The file -----------------------------------------------------------------------------------


def generate():
    # RandomState's streams are frozen: every version of NumPy draws the same numbers.
    random = np.random.RandomState(20231)
    cases = [*reductions(random), *scans(random), *histograms(random),
             *reductions_along_axes(random), *scans_along_axes(random),
             *quantiles(random), *tops(random)]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    return '{"cases":[\n' + lines + "\n]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="the file to write, or to compare with")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    text = generate()
    if not arguments.check:
        with open(arguments.file, "w", encoding="ascii") as file:
            file.write(text)
        return 0
    with open(arguments.file, encoding="ascii") as file:
        if file.read() == text:
            return 0
    print(f"{arguments.file} is not what this script writes", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
