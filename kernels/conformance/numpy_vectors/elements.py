"""Elements of the vectors: their types in NumPy, their groups, and values as text."""

import math

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


def groups_of(array, grouping, offsets):
    if grouping == "axis0":
        return [array[:, c] for c in range(array.shape[1])]
    if grouping == "axis1":
        return [array[r, :] for r in range(array.shape[0])]
    if grouping == "segments":
        return [array[a:b] for a, b in zip(offsets, offsets[1:])]
    return [array.reshape(-1)]
