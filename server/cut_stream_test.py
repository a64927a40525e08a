"""Streams whose last message the end of the stream cuts short, as a broken proxy may.

gRPC drops such a message without an error, so the server is told how many elements there are: in the
first message of a stream or in a later one that arrives whole. GRIDFOLD_SERVER_BINARY names the
program.
"""

import struct
import unittest

from testing.minimal_grpc import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    Connection,
    field,
    frame,
    header,
    number_field,
    varint,
)
from testing.server_process_case import ServerProcess

ELEMENT_TYPE_INT64, ELEMENT_TYPE_FLOAT64 = 4, 12
STATISTIC_SUM, STATISTIC_COUNT = 2, 1
SCAN_OPERATION_SUM = 1
ELEMENT_COUNT, WRITE_ELEMENT_COUNT = 15, 3  # Fields of the messages of streams and of WriteArray.
TEN = struct.pack("<10d", *range(1, 11))

STREAMED = field(4, number_field(1, ELEMENT_TYPE_FLOAT64))
REDUCTION = field(1, STREAMED) + field(2, bytes([STATISTIC_COUNT, STATISTIC_SUM]))
EVEN_BINS = (
    number_field(1, 1)
    + varint(2 << 3 | 1)
    + struct.pack("<d", 0)
    + varint(3 << 3 | 1)
    + struct.pack("<d", 100)
)
HISTOGRAM = field(1, STREAMED) + field(2, field(1, EVEN_BINS))
SCAN = field(1, STREAMED) + number_field(2, SCAN_OPERATION_SUM)
# Keys of any bits, as they occur, and values.
BY_KEY = (
    field(1, field(4, number_field(1, ELEMENT_TYPE_INT64)))
    + field(2, STREAMED)
    + field(3, bytes([STATISTIC_COUNT, STATISTIC_SUM]))
    + field(5, b"")
)
COMPUTE = "/gridfold.v1.ComputeService/"
WRITE_ARRAY = "/gridfold.v1.ArrayService/WriteArray"


def message(body):
    return b"\0" + struct.pack(">I", len(body)) + body


class StreamConnection(Connection):
    def send_stream(self, path, bodies, end):
        """Starts a call with these bytes in a frame each; `end`: the last one ends the stream."""
        self.stream += 2
        headers = [
            (b":method", b"POST"),
            (b":scheme", b"http"),
            (b":path", path.encode()),
            (b":authority", b"localhost"),
            (b"content-type", b"application/grpc"),
            (b"te", b"trailers"),
        ]
        block = b"".join(header(*pair) for pair in headers)
        frames = frame(HEADERS, END_HEADERS, self.stream, block)
        for body in bodies:
            is_last = end and body is bodies[-1]
            frames += frame(DATA, END_STREAM if is_last else 0, self.stream, body)
        self.socket.sendall(frames)


class CutStreamTest(unittest.TestCase):
    def setUp(self):
        self.server = ServerProcess()
        self.addCleanup(self.server.close)
        array = field(1, b"x") + number_field(2, ELEMENT_TYPE_FLOAT64) + field(3, bytes([100]))
        connection = Connection(self.server.port)
        self.addCleanup(connection.close)
        connection.call("/gridfold.v1.ArrayService/CreateArray", array)

    def end_of(self, path, bodies):
        connection = StreamConnection(self.server.port)
        self.addCleanup(connection.close)
        connection.send_stream(path, bodies, end=True)
        return connection.read_end()

    def check(self, path, request, data_fields, count_field, first_of_second):
        """Twenty elements, in two messages, the second of them whole or cut short."""
        ten = b"".join(field(one, TEN) for one in data_fields)

        def first(count):
            announced = b"" if count is None else number_field(count_field, count)
            return message(field(1, request) + announced + ten)

        second = message(first_of_second + ten)
        for count in (None, 20):
            body, trailers = self.end_of(path, [first(count), second])
            self.assertTrue(body, trailers)
            self.assertNotIn(b"element_count", trailers)
        for cut in (second[:-30], second[:3], second[:-1]):
            _, trailers = self.end_of(path, [first(20), cut])
            self.assertIn(b"element_count: 80 bytes have come, where 20 elements", trailers)
        # Said by a message of its own, before the one that is cut.
        announced = message(number_field(count_field, 20))
        _, trailers = self.end_of(path, [first(None), announced, second[:-30]])
        self.assertIn(b"element_count", trailers)
        # More than was said.
        _, trailers = self.end_of(path, [first(15), second])
        self.assertIn(b"element_count", trailers)
        _, trailers = self.end_of(path, [first(20), announced, message(number_field(count_field, 7))])
        self.assertIn(b"element_count: 7 elements", trailers)

    def test_reduce_stream(self):
        self.check(COMPUTE + "ReduceStream", REDUCTION, (2,), ELEMENT_COUNT, b"")

    def test_histogram_stream(self):
        self.check(COMPUTE + "HistogramStream", HISTOGRAM, (2,), ELEMENT_COUNT, b"")

    def test_scan_stream(self):
        self.check(COMPUTE + "ScanStream", SCAN, (2,), ELEMENT_COUNT, b"")

    def test_reduce_by_key_stream(self):
        self.check(COMPUTE + "ReduceByKeyStream", BY_KEY, (2, 3), ELEMENT_COUNT, b"")

    def test_write_array(self):
        first_element = number_field(2, 10)
        self.check(WRITE_ARRAY, field(1, b"x"), (15,), WRITE_ELEMENT_COUNT, first_element)


if __name__ == "__main__":
    unittest.main()
