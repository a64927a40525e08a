"""Elements that are drawn: small ones, any of the type's range, and special values among them."""

import math

import numpy as np

from numpy_vectors.elements import as_kind, dtype, is_float


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
