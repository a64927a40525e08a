"""Random questions: what is asked of which array, drawn from a seed."""

import dataclasses
import math

import numpy as np

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
         "float32", "float64"]
STATISTIC_SETS = [("sum",), ("min", "max"), ("mean", "variance"), ("sum", "min", "max", "variance"), ("l2_norm",),
                  ("nonzero_count",), ("argmax",), ("standard_deviation",)]
AXES = {"whole": None, "axis 0": 0, "axis 1": 1}  # Of groupings, as NumPy and PyTorch count them.
SCANS = ["sum", "sum", "sum", "max", "min"]
BINS = ["even", "even", "range_found", "edges", "logarithmic", "two_dimensional", "weighted"]
# Of a question: as many groups as a server allows by default, and values that fit in a message.
VALUES_MAX = 1 << 24
# Of the values: floating-point elements are normal numbers, integers lie between these bounds.
INTEGER_BOUND = 100
HISTOGRAM_BOUNDS = (0.125, 3.0)


@dataclasses.dataclass(frozen=True)
class Question:
    kind: str  # "reduction", "scan" or "histogram".
    element_type: str
    shape: tuple
    grouping: str = "whole"  # Or "axis 0", "axis 1", "segments".
    offsets: tuple = ()  # Of segments.
    statistics: tuple = ()
    scan: str = ""
    bins: str = ""
    bin_count: int = 0

    @property
    def element_count(self):
        return math.prod(self.shape)

    @property
    def group_count(self):
        return {"whole": 1, "segments": len(self.offsets) - 1, "axis 0": self.shape[-1],
                "axis 1": self.shape[0]}[self.grouping]

    @property
    def has_second_array(self):
        """Whether there are second coordinates, or weights."""
        return self.bins in ("two_dimensional", "weighted")

    @property
    def input_bytes(self):
        arrays = 2 if self.has_second_array else 1
        return arrays * self.element_count * element_size(self.element_type)

    @property
    def moved_bytes(self):
        """What an answer takes at least: every array once, and every result."""
        results = {"reduction": 8 * self.group_count * len(self.statistics),
                   "scan": self.element_count * element_size(self.element_type),
                   "histogram": 8 * self.bin_count}[self.kind]
        return self.input_bytes + results

    def __str__(self):
        what = {"reduction": ", ".join(self.statistics), "scan": f"scan {self.scan}",
                "histogram": f"{self.bin_count} bins, {self.bins}"}[self.kind]
        groups = f" of {self.group_count} segments" if self.grouping == "segments" else f" {self.grouping}"
        return f"{self.element_type} {list(self.shape)} {what}{'' if self.grouping == 'whole' else groups}"


def element_size(element_type):
    return 2 if element_type == "bfloat16" else np.dtype(element_type).itemsize


def log_uniform(rng, least, most):
    """An integer of [least, most], of any order of magnitude as likely as of another."""
    return min(most, max(least, int(math.exp(rng.uniform(math.log(least), math.log(most + 1))))))


def random_offsets(rng, count):
    segments = log_uniform(rng, 2, max(2, count // 4))
    inner = np.unique(rng.integers(1, count, segments - 1))
    return (0, *(int(offset) for offset in inner), count)


def random_question(rng, bytes_min, bytes_max):
    element_type = str(rng.choice(TYPES))
    count = max(2, log_uniform(rng, bytes_min, bytes_max) // element_size(element_type))
    kind = str(rng.choice(["reduction", "scan", "histogram"], p=[0.6, 0.2, 0.2]))
    if kind == "histogram":
        return random_histogram(rng, element_type, count)
    grouping = str(rng.choice(["whole", "axis 0", "axis 1", "segments"], p=[0.25, 0.3, 0.25, 0.2]))
    shape, offsets = (count,), ()
    if grouping.startswith("axis"):
        columns = log_uniform(rng, 1, count)
        shape = (max(1, count // columns), columns)
    elif grouping == "segments":
        offsets = random_offsets(rng, count)
    if kind == "scan":
        question = Question("scan", element_type, shape, grouping, offsets, scan=str(rng.choice(SCANS)))
    else:
        statistics = STATISTIC_SETS[rng.integers(len(STATISTIC_SETS))]
        question = Question("reduction", element_type, shape, grouping, offsets, statistics)
    return within_limits(question)


def within_limits(question):
    """The question, or one like it that has no more groups and values than a server answers."""
    if question.group_count > VALUES_MAX:
        question = dataclasses.replace(question, shape=question.shape[::-1])
    return dataclasses.replace(question, statistics=question.statistics[:VALUES_MAX // question.group_count])


def random_histogram(rng, element_type, count):
    bins = str(rng.choice(BINS))
    if bins == "two_dimensional":
        side = log_uniform(rng, 2, 256)
        return Question("histogram", element_type, (count,), bins=bins, bin_count=side * side)
    most = min(1 << 17, max(2, count // 4))
    return Question("histogram", element_type, (count,), bins=bins, bin_count=log_uniform(rng, 1, most))


def random_questions(count, seed, bytes_min, bytes_max):
    rng = np.random.default_rng(seed)
    return [random_question(rng, bytes_min, bytes_max) for _ in range(count)]


def edges_of(question):
    """The edges of bins that are asked for by their edges, or as logarithmic ones."""
    low, high = HISTOGRAM_BOUNDS
    if question.bins == "logarithmic":
        return np.geomspace(low, high, question.bin_count + 1)
    return low + (high - low) * np.linspace(0, 1, question.bin_count + 1) ** 2


class ArrayPool:
    """Elements of every type, made once, of which each question's arrays are slices."""

    def __init__(self, seed, bytes_max):
        self._rng = np.random.default_rng(seed)
        self._bytes_max = bytes_max
        self._elements = {}

    def array(self, question):
        """The elements, in the question's shape; bfloat16 as the uint16 that it is stored as."""
        if question.element_type not in self._elements:
            self._elements[question.element_type] = self._make(question.element_type)
        elements = self._elements[question.element_type]
        first = self._rng.integers(len(elements) - question.element_count + 1)
        return elements[first:first + question.element_count].reshape(question.shape)

    def _make(self, element_type):
        count = self._bytes_max // element_size(element_type) + 1
        if "int" in element_type:
            least = 0 if element_type.startswith("u") else -INTEGER_BOUND
            return self._rng.integers(least, INTEGER_BOUND, count, element_type)
        normal = self._rng.standard_normal(count, np.float64 if element_type == "float64" else np.float32)
        if element_type == "bfloat16":
            return (normal.view(np.uint32) >> 16).astype(np.uint16)
        return normal.astype(element_type)
