"""The same questions, of PyTorch on the GPU, timed by events."""

import numpy as np

import questions

try:
    import torch
except ImportError:
    torch = None

TYPES = ["int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64"]


def _reduce(array, statistic, axis):
    dim = tuple(range(array.dim())) if axis is None else axis
    floating = array.is_floating_point()
    match statistic:
        case "sum": return array.sum(dim=dim)
        case "min": return array.amin(dim=dim)
        case "max": return array.amax(dim=dim)
        case "argmax": return array.argmax(dim=axis)
        case "nonzero_count": return array.count_nonzero(dim=axis)
    numbers = array if floating else array.float()
    match statistic:
        case "mean": return numbers.mean(dim=dim)
        case "variance": return numbers.var(dim=dim, correction=0)
        case "standard_deviation": return numbers.std(dim=dim, correction=0)
        case "l2_norm": return torch.linalg.vector_norm(numbers, dim=dim)
    raise ValueError(statistic)


class TorchPeer:
    """Times in seconds, the least of some runs; None where PyTorch has no such operation."""

    NAME = "PyTorch"

    def __init__(self, runs):
        self._runs = runs

    @staticmethod
    def is_available():
        return torch is not None and torch.cuda.is_available()

    def seconds(self, question, x, y):
        if question.element_type not in TYPES:
            return None
        operation = self._operation(question, *(self._on_device(question, array) for array in (x, y)))
        if operation is None:
            return None
        times = []
        for _ in range(self._runs + 1):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            operation()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e-3)
        return min(times[1:])

    @staticmethod
    def _on_device(question, array):
        if array is None:
            return None
        if question.element_type == "bfloat16":
            return torch.from_numpy(array.view(np.int16).copy()).cuda().view(torch.bfloat16)
        return torch.from_numpy(array.copy()).cuda()

    def _operation(self, question, x, y):
        if question.grouping == "segments":
            return self._segments(question, x)
        axis = questions.AXES[question.grouping]
        if question.kind == "reduction":
            return lambda: [_reduce(x, name, axis) for name in question.statistics]
        if question.kind == "scan":
            numbers, dim = (x.reshape(-1), 0) if axis is None else (x, axis)
            if question.scan == "sum":
                return lambda: torch.cumsum(numbers, dim, dtype=numbers.dtype)
            extreme = torch.cummax if question.scan == "max" else torch.cummin
            return lambda: extreme(numbers, dim)
        return self._histogram(question, x, y)

    @staticmethod
    def _segments(question, x):
        if question.kind != "reduction" or not x.is_floating_point():
            return None
        if not set(question.statistics) <= {"sum", "min", "max", "mean"}:
            return None
        offsets = torch.tensor(question.offsets).cuda()
        return lambda: [torch.segment_reduce(x, name, offsets=offsets) for name in question.statistics]

    @staticmethod
    def _histogram(question, x, y):
        low, high = questions.HISTOGRAM_BOUNDS
        if question.bins == "even" and x.is_floating_point():
            return lambda: torch.histc(x.float(), question.bin_count, low, high)
        if question.bins == "range_found" and x.is_floating_point():
            return lambda: torch.histc(x.float(), question.bin_count)
        if question.bins in ("edges", "logarithmic"):
            edges = torch.from_numpy(questions.edges_of(question)).cuda()
            return lambda: torch.bincount(torch.bucketize(x, edges), minlength=len(edges) + 1)
        return None
