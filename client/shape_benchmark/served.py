"""Asks a live server, over one connection, of resident arrays."""

import contextlib
import os
import sys

import grpc
import numpy as np

import questions

sys.path.insert(0, os.environ["GRIDFOLD_PYTHON_STUBS"])
from gridfold.v1 import array_pb2  # noqa: E402
from gridfold.v1 import array_service_pb2 as arrays  # noqa: E402
from gridfold.v1 import array_service_pb2_grpc  # noqa: E402
from gridfold.v1 import compute_service_pb2 as compute  # noqa: E402
from gridfold.v1 import compute_service_pb2_grpc  # noqa: E402
from gridfold.v1 import execution_pb2  # noqa: E402

CHUNK_BYTES = 1 << 20
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def element_type(name):
    return array_pb2.ElementType.Value(f"ELEMENT_TYPE_{name.upper()}")


def resident(name):
    return array_pb2.ArraySource(resident_array=array_pb2.ResidentArray(name=name))


def view_of(shape, slices, order):
    """The StridedView of an array of this shape that `a[slices].transpose(order)` is in NumPy."""
    ranges = [range(extent)[one] for extent, one in zip(shape, slices)]
    return array_pb2.StridedView(
        first=[one.start for one in ranges],
        dimensions=[array_pb2.ViewDimension(axis=axis, count=len(ranges[axis]), step=ranges[axis].step)
                    for axis in order])


def grouping_of(question):
    if question.grouping == "segments":
        return array_pb2.Grouping(segments=array_pb2.Segments(offsets=question.offsets))
    if question.grouping == "whole":
        return None
    return array_pb2.Grouping(axis=int(question.grouping[-1]))


def bins_of(question):
    low, high = questions.HISTOGRAM_BOUNDS
    if question.bins == "range_found":
        return [compute.BinSpecification(even=compute.EvenBins(bin_count=question.bin_count))]
    if question.bins == "edges":
        return [compute.BinSpecification(edges=compute.EdgeBins(edges=questions.edges_of(question)))]
    if question.bins == "logarithmic":
        return [compute.BinSpecification(logarithmic=compute.LogarithmicBins(
            bin_count=question.bin_count, lower_bound=low, upper_bound=high))]
    dimensions = 2 if question.bins == "two_dimensional" else 1
    bin_count = round(question.bin_count ** (1 / dimensions))
    even = compute.EvenBins(bin_count=bin_count, lower_bound=low, upper_bound=high)
    return [compute.BinSpecification(even=even)] * dimensions


class Server:
    """The services at `target`, from `with` to its end."""

    def __init__(self, target):
        self._channel = grpc.insecure_channel(target, options=OPTIONS)
        self._arrays = array_service_pb2_grpc.ArrayServiceStub(self._channel)
        self._compute = compute_service_pb2_grpc.ComputeServiceStub(self._channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._channel.close()

    @contextlib.contextmanager
    def holding(self, name, type_name, array):
        """The array is resident under that name in between."""
        self._arrays.CreateArray(arrays.CreateArrayRequest(
            name=name, element_type=element_type(type_name), shape=array.shape))
        try:
            data = np.ascontiguousarray(array).tobytes()

            def messages():
                yield arrays.WriteArrayRequest(header=arrays.WriteArrayHeader(name=name))
                for begin in range(0, len(data), CHUNK_BYTES):
                    yield arrays.WriteArrayRequest(first_element=begin // array.itemsize,
                                                   data=data[begin:begin + CHUNK_BYTES])

            self._arrays.WriteArray(messages())
            yield
        finally:
            self._arrays.DeleteArray(arrays.DeleteArrayRequest(name=name))

    def _read(self, name):
        return b"".join(message.data for message in self._arrays.ReadArray(
            arrays.ReadArrayRequest(array=array_pb2.ResidentArray(name=name))))

    def ask(self, question, with_answer=False, strategy=""):
        """The execution statistics of an answer about the resident arrays "x" and, where the question has
        two, "y"; and, if wanted, its numbers: an array for each statistic, or one array. `strategy`: by
        which it is to be run, where it is not the server that chooses."""
        options = execution_pb2.ExecutionOptions(strategy=strategy)
        if question.kind == "scan":
            return self._scan(question, with_answer, options)
        if question.kind == "histogram":
            return self._histogram(question, options)
        response = self._compute.ReduceArray(compute.ReduceArrayRequest(
            array=resident("x"), grouping=grouping_of(question), execution_options=options,
            statistics=[compute.Statistic.Value(f"STATISTIC_{name.upper()}") for name in question.statistics]))
        lists = [getattr(result.values, result.values.WhichOneof("kind")).values for result in response.results]
        return response.execution, [np.array(values) for values in lists] if with_answer else None

    def reduce_axes(self, axes, statistics, view=None):
        """How the resident array "x", or a StridedView of it, was reduced along these axes, or as a whole
        where they are None."""
        request = compute.ReduceArrayRequest(
            array=resident("x"), statistics=[compute.Statistic.Value(f"STATISTIC_{name.upper()}") for name in statistics])
        if view is not None:
            request.array.resident_array.view.CopyFrom(view)
        if axes is not None:
            request.grouping.axes.axes.extend(axes)
        return self._compute.ReduceArray(request).execution

    def strategies(self, question):
        """Those that can take the question, as the server lists them where it is asked for one that there is not."""
        try:
            self.ask(question, strategy="none")
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.INVALID_ARGUMENT:
                raise
            return error.details().rpartition("what can: ")[2].split(", ")
        return []

    def _scan(self, question, with_answer, options):
        response = self._compute.ScanArray(compute.ScanArrayRequest(
            array=resident("x"), execution_options=options, grouping=grouping_of(question), output_type=element_type(question.element_type),
            operation=compute.ScanOperation.Value(f"SCAN_OPERATION_{question.scan.upper()}"),
            overflow_policy=array_pb2.OVERFLOW_POLICY_WRAP,
            destination=compute.ScanDestination(resident_array=compute.ResidentDestination(name="result"))))
        try:
            answer = self._read("result") if with_answer else None
        finally:
            self._arrays.DeleteArray(arrays.DeleteArrayRequest(name="result"))
        if with_answer and question.element_type != "bfloat16":
            answer = np.frombuffer(answer, question.element_type).reshape(question.shape)
        return response.execution, answer

    def _histogram(self, question, options):
        request = compute.ComputeHistogramRequest(array=resident("x"), bins=bins_of(question),
                                                  execution_options=options)
        if question.bins == "two_dimensional":
            request.y_array.CopyFrom(resident("y"))
        elif question.bins == "weighted":
            request.weights.CopyFrom(resident("y"))
        response = self._compute.ComputeHistogram(request)
        channel = response.channels[0]
        return response.execution, np.array(channel.weight_sums or channel.counts)


def kernel_seconds(execution):
    return execution.kernel_time.seconds + execution.kernel_time.nanos * 1e-9
