"""Cases of histograms: of one and two dimensions, of weights, of channels, and their quantiles."""

import math

import numpy as np

from numpy_vectors.data import small_data
from numpy_vectors.elements import TYPES, as_kind, encode, is_float, number


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
