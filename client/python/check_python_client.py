"""A client of nothing but grpcio, NumPy and the stubs generated from proto/, against a real server.

GRIDFOLD_SERVER_BINARY is the server, GRIDFOLD_SAMPLE_DATA the folder of the flight data,
GRIDFOLD_PYTHON_STUBS where protoc has written the stubs.
"""

import os
import pathlib
import sys
import unittest

import grpc
import numpy as np

sys.path.insert(0, os.environ["GRIDFOLD_PYTHON_STUBS"])
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import server_process  # noqa: E402
from gridfold.v1 import array_pb2  # noqa: E402
from gridfold.v1 import compute_service_pb2 as compute  # noqa: E402
from gridfold.v1 import compute_service_pb2_grpc  # noqa: E402
from gridfold.v1 import error_details_pb2  # noqa: E402
from gridfold.v1 import server_service_pb2  # noqa: E402
from gridfold.v1 import server_service_pb2_grpc  # noqa: E402

DATA = pathlib.Path(os.environ["GRIDFOLD_SAMPLE_DATA"])

ELEMENT_TYPES = {
    np.dtype(np.int16): array_pb2.ELEMENT_TYPE_INT16,
    np.dtype(np.float32): array_pb2.ELEMENT_TYPE_FLOAT32,
}


def source(array):
    """An array as it travels inside a request."""
    return array_pb2.ArraySource(inline_array=array_pb2.InlineArray(
        element_type=ELEMENT_TYPES[array.dtype], data=array.tobytes()))


def violated_field(error):
    """The field that an RPC's error names in its trailer."""
    trailer = dict(error.trailing_metadata())["grpc-status-details-bin"]
    status = error_details_pb2.RpcStatus.FromString(trailer)
    for detail in status.details:
        if detail.type_url == "type.googleapis.com/google.rpc.BadRequest":
            return error_details_pb2.BadRequest.FromString(detail.value).field_violations[0].field
    return None


class PythonClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server_process.ServerProcess()
        cls.enterClassContext(cls.server)
        channel = cls.enterClassContext(grpc.insecure_channel(cls.server.target))
        cls.compute = compute_service_pb2_grpc.ComputeServiceStub(channel)
        cls.information = server_service_pb2_grpc.ServerServiceStub(channel)
        cls.delay = np.load(DATA / "flight_delay_minutes.npy")
        cls.hour = np.load(DATA / "flight_departure_hour.npy")

    def test_reduce(self):
        response = self.compute.ReduceArray(compute.ReduceArrayRequest(
            array=source(self.delay),
            statistics=[compute.STATISTIC_SUM, compute.STATISTIC_ARGMAX, compute.STATISTIC_MEAN]))
        total, argmax, mean = (result.values for result in response.results)
        self.assertEqual(list(total.int64_values.values), [1500159])
        self.assertEqual(list(argmax.uint64_values.values), [199991])
        self.assertEqual(list(mean.double_values.values), [7.500795])
        self.assertEqual(response.execution.engine, self.server.engine)

    def test_exactly_rounded_sum(self):
        response = self.compute.ReduceArray(compute.ReduceArrayRequest(
            array=source(self.hour), statistics=[compute.STATISTIC_SUM]))
        self.assertEqual(list(response.results[0].values.double_values.values),
                         [2755170.1662385147])

    def test_scan(self):
        response = self.compute.ScanArray(compute.ScanArrayRequest(
            array=source(self.delay), operation=compute.SCAN_OPERATION_SUM))
        self.assertEqual(response.inline_array.element_type, array_pb2.ELEMENT_TYPE_INT64)
        values = np.frombuffer(response.inline_array.data, "<i8")
        np.testing.assert_array_equal(values, self.delay.cumsum(dtype=np.int64))
        self.assertEqual([values[i] for i in (0, 1, 9, 999, -1)], [0, 171, 447, 36454, 1500159])

    def test_histogram(self):
        response = self.compute.ComputeHistogram(compute.ComputeHistogramRequest(
            array=source(self.delay),
            bins=[compute.BinSpecification(even=compute.EvenBins(
                bin_count=10, lower_bound=-60, upper_bound=140))]))
        counts = response.channels[0]
        self.assertEqual(list(counts.counts),
                         [328, 8724, 88704, 65394, 18184, 7857, 4157, 2410, 1401, 962])
        self.assertEqual((counts.underflow_count, counts.overflow_count), (13, 1866))
        self.assertEqual(list(response.bins[0].edges), list(range(-60, 141, 20)))

    def test_merged_parts(self):
        parts = [self.compute.ReduceArray(compute.ReduceArrayRequest(
            array=source(self.hour[begin:end]), statistics=[compute.STATISTIC_SUM],
            return_accumulator=True, first_index=begin)) for begin, end in ((0, 9), (9, None))]
        merged = self.compute.MergeAccumulators(compute.MergeAccumulatorsRequest(
            accumulators=[part.accumulator for part in parts]))
        self.assertEqual(list(merged.reduction.results[0].values.double_values.values),
                         [2755170.1662385147])
        self.assertEqual(merged.element_count, len(self.hour))

    def test_streams(self):
        streamed = array_pb2.ArraySource(streamed_array=array_pb2.StreamedArray(
            element_type=array_pb2.ELEMENT_TYPE_INT16))
        data = self.delay.tobytes()
        pieces = [data[begin:begin + 77777] for begin in range(0, len(data), 77777)]

        def messages(request_type, header):
            yield request_type(request=header)
            for piece in pieces:
                yield request_type(data=piece)

        response = self.compute.ReduceStream(messages(
            compute.ReduceStreamRequest, compute.ReduceArrayRequest(
                array=streamed, statistics=[compute.STATISTIC_SUM, compute.STATISTIC_ARGMAX])))
        total, argmax = (result.values for result in response.result.results)
        self.assertEqual(list(total.int64_values.values), [1500159])
        self.assertEqual(list(argmax.uint64_values.values), [199991])
        answers = list(self.compute.ScanStream(messages(
            compute.ScanStreamRequest, compute.ScanArrayRequest(
                array=streamed, operation=compute.SCAN_OPERATION_SUM))))
        values = np.frombuffer(b"".join(answer.data for answer in answers), "<i8")
        np.testing.assert_array_equal(values, self.delay.cumsum(dtype=np.int64))
        self.assertEqual(answers[-1].execution.engine, self.server.engine)

    def test_error_names_the_field(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.compute.ComputeHistogram(compute.ComputeHistogramRequest(
                array=source(self.delay),
                bins=[compute.BinSpecification(even=compute.EvenBins(
                    bin_count=10, lower_bound=140, upper_bound=-60))]))
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(violated_field(raised.exception), "bins[0].even.upper_bound")

    def test_server_info(self):
        info = self.information.GetServerInfo(server_service_pb2.GetServerInfoRequest())
        self.assertEqual(info.engine, self.server.engine)
        self.assertGreater(info.limits.message_bytes_max, 0)


if __name__ == "__main__":
    server_process.skip_without_device()
    unittest.main()
