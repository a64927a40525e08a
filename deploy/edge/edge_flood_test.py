"""Floods against a server behind its edge: little is spent on them, and others are answered.

Each would keep gRPC 1.51 busy by itself, take its memory, or both. GRIDFOLD_SERVER_BINARY is the
server. Prints its figures, for deploy/README.md. Without nginx it is skipped.
"""

import contextlib
import pathlib
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest

import edge

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server" / "testing"), str(ROOT / "deploy" / "resilience")]
import replica  # noqa: E402
from minimal_grpc import (ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PING,  # noqa: E402
                          SETTINGS, Connection, field, frame, header, number_field)

SKIPPED = 77  # The exit code by which CTest knows a test that could not run here.
MIB = 1 << 20
RST_STREAM, CONTINUATION = 3, 9
INITIAL_WINDOW_SIZE = 4
CANCEL = struct.pack(">I", 8)
REDUCE = b"/gridfold.v1.ComputeService/ReduceArray"
SCAN = b"/gridfold.v1.ComputeService/ScanArray"
HEALTH = "/grpc.health.v1.Health/Check"
# By far more than was seen, and by far less than the floods cost gRPC itself.
SERVER_SECONDS_MAX = 3
EDGE_SECONDS_MAX = 3
SERVER_BYTES_MAX = 192 * MIB
EDGE_BYTES_MAX = 256 * MIB
OTHERS_SECONDS_MAX = 3  # On a machine that does other things too.
SETTLE_SECONDS = 2


def call_headers(path=REDUCE):
    return (header(b":method", b"POST") + header(b":scheme", b"http") + header(b":path", path)
            + header(b":authority", b"localhost") + header(b"content-type", b"application/grpc")
            + header(b"te", b"trailers"))


def announced_value(size):
    """A header whose value is said to have `size` bytes, of which none has come (RFC 7541, 5.1)."""
    out = bytes([0x7F])
    size -= 0x7F
    while size >= 128:
        out += bytes([size & 127 | 128])
        size >>= 7
    return b"\0\x01a" + out + bytes([size])


class Others:
    """A caller who means well, on a new connection each time, from `with` to its end."""

    def __init__(self, port):
        self._port = port
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.seconds = []
        self.failed = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ending.set()
        self._thread.join()

    def _run(self):
        while not self._ending.wait(0.05):
            begin = time.monotonic()
            try:
                with contextlib.closing(Connection(self._port)) as connection:
                    answer = connection.call(HEALTH, b"")
            except OSError:
                answer = None
            self.failed += answer is None
            self.seconds.append(time.monotonic() - begin)


class FloodTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ends = contextlib.ExitStack()
        cls.addClassCleanup(cls.ends.close)
        folder = cls.ends.enter_context(tempfile.TemporaryDirectory())
        path = f"{folder}/socket"
        cls.server = cls.ends.enter_context(replica.Replica(listen=f"unix:{path}"))
        cls.edge = cls.ends.enter_context(edge.Edge(path))

    def connect(self, settings=b"", acknowledge=True):
        connection = socket.create_connection(("127.0.0.1", self.edge.port), timeout=10)
        self.addCleanup(connection.close)
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))
        if acknowledge:
            connection.sendall(frame(SETTINGS, ACK, 0, b""))
        return connection

    def discard_answers(self, connection):
        def run():
            with contextlib.suppress(OSError):
                while connection.recv(65536):
                    pass
        threading.Thread(target=run, daemon=True).start()

    def send(self, connection, pieces):
        """Until the edge has had enough. Returns the bytes that were sent."""
        sent = 0
        with contextlib.suppress(OSError):
            for piece in pieces:
                connection.sendall(piece)
                sent += len(piece)
        return sent

    @contextlib.contextmanager
    def bounded(self, name, server_bytes_max=SERVER_BYTES_MAX):
        """Others are answered, and little is spent, while the body sends a flood."""
        figures = {"sent": 0}
        servers, edges = [self.server.process_id], self.edge.process_ids()
        before = [edge.processor_seconds(servers), edge.processor_seconds(edges),
                  edge.resident_bytes(servers), edge.resident_bytes(edges)]
        with Others(self.edge.port) as others:
            time.sleep(0.3)
            yield figures
            time.sleep(SETTLE_SECONDS)
            grown = [edge.resident_bytes(servers) - before[2], edge.resident_bytes(edges) - before[3]]
        spent = [edge.processor_seconds(servers) - before[0],
                 edge.processor_seconds(edges) - before[1]]
        print(f"{name}: sent {figures['sent'] / MIB:.1f} MiB; server {spent[0]:.2f} s, "
              f"+{grown[0] / MIB:.0f} MiB; edge {spent[1]:.2f} s, +{grown[1] / MIB:.0f} MiB; others "
              f"{len(others.seconds)} calls, worst {1000 * max(others.seconds):.0f} ms, failed "
              f"{others.failed}", file=sys.stderr)
        self.assertEqual(others.failed, 0)
        self.assertLess(max(others.seconds), OTHERS_SECONDS_MAX)
        self.assertLess(spent[0], SERVER_SECONDS_MAX)
        self.assertLess(spent[1], EDGE_SECONDS_MAX)
        self.assertLess(grown[0], server_bytes_max)
        self.assertLess(grown[1], EDGE_BYTES_MAX)

    def test_a_header_that_comes_in_frames_of_a_byte(self):
        """CVE-2023-33953: gRPC 1.51 looks at all of it again for each frame."""
        with self.bounded("a header in frames of a byte") as figures:
            connection = self.connect()
            connection.sendall(
                frame(HEADERS, 0, 1, call_headers() + announced_value(2_000_000_000)))
            piece = 6000 * frame(CONTINUATION, 0, 1, b"b")
            figures["sent"] = self.send(connection, [piece] * 64)

    def test_a_header_of_gigabytes(self):
        with self.bounded("a header of gigabytes") as figures:
            connection = self.connect()
            connection.sendall(
                frame(HEADERS, 0, 1, call_headers() + announced_value(2_000_000_000)))
            figures["sent"] = self.send(connection, [frame(CONTINUATION, 0, 1, b"b" * 16000)] * 4096)

    def test_headers_without_end(self):
        for value in (b"", b"y" * 120):
            with self.bounded(f"headers of {len(value)} bytes without end") as figures:
                connection = self.connect()
                connection.sendall(frame(HEADERS, 0, 1, call_headers()))
                one = header(b"x", value)
                piece = frame(CONTINUATION, 0, 1, 12_000 // len(one) * one)
                figures["sent"] = self.send(connection, [piece] * 4096)

    def test_frames_of_headers_with_nothing_in_them(self):
        """CVE-2024-27316 and its like."""
        with self.bounded("empty frames of headers") as figures:
            connection = self.connect()
            connection.sendall(frame(HEADERS, 0, 1, call_headers()))
            figures["sent"] = self.send(connection, [1000 * frame(CONTINUATION, 0, 1, b"")] * 1000)

    def test_calls_that_are_cancelled_at_once(self):
        """CVE-2023-44487, rapid reset."""
        block = call_headers()
        for body in (b"", frame(DATA, 0, 0, b"\0" + struct.pack(">I", 0))):
            with self.bounded(f"calls cancelled at once, {'with' if body else 'no'} body") as figures:
                for _ in range(4):
                    connection = self.connect()
                    self.discard_answers(connection)
                    pieces = []
                    for first in range(1, 50_000, 200):
                        pieces.append(b"".join(
                            frame(HEADERS, END_HEADERS, stream, block)
                            + (frame(DATA, 0, stream, body[9:]) if body else b"")
                            + frame(RST_STREAM, 0, stream, CANCEL)
                            for stream in range(first, first + 200, 2)))
                    figures["sent"] += self.send(connection, pieces)

    def test_calls_of_one_who_never_acknowledges_settings(self):
        block = call_headers()
        with self.bounded("calls without an acknowledged SETTINGS") as figures:
            connection = self.connect(acknowledge=False)
            self.discard_answers(connection)
            figures["sent"] = self.send(connection, (
                b"".join(frame(HEADERS, END_HEADERS, stream, block)
                         for stream in range(first, first + 200, 2))
                for first in range(1, 100_000, 200)))

    def test_answers_that_nobody_takes(self):
        request = (field(1, field(1, number_field(1, 1) + field(15, b"\1" * 50_000)))
                   + number_field(2, 1))
        message = b"\0" + struct.pack(">I", len(request)) + request
        pieces = [message[at:at + 16384] for at in range(0, len(message), 16384)]
        # What has been answered waits in the server, which has a bound of its own on it.
        with self.bounded("800 scans of 400 KB that nobody takes", 448 * MIB) as figures:
            for _ in range(8):
                connection = self.connect(struct.pack(">HI", INITIAL_WINDOW_SIZE, 0))
                figures["sent"] += self.send(connection, (
                    frame(HEADERS, END_HEADERS, stream, call_headers(SCAN)) + b"".join(
                        frame(DATA, END_STREAM if piece is pieces[-1] else 0, stream, piece)
                        for piece in pieces)
                    for stream in range(1, 200, 2)))

    def test_pings_without_end(self):
        with self.bounded("pings") as figures:
            connection = self.connect()
            self.discard_answers(connection)
            figures["sent"] = self.send(
                connection, [1000 * frame(PING, 0, 0, b"gridfold")] * 1000)

    def test_pings_whose_answers_nobody_takes(self):
        with self.bounded("pings whose answers nobody takes") as figures:
            connection = self.connect()
            connection.settimeout(2)
            figures["sent"] = self.send(
                connection, [1000 * frame(PING, 0, 0, b"gridfold")] * 1000)

    def test_settings_without_end(self):
        one = frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, 65535))
        with self.bounded("SETTINGS") as figures:
            connection = self.connect()
            connection.settimeout(2)
            figures["sent"] = self.send(connection, [1000 * one] * 1000)


if __name__ == "__main__":
    if edge.NGINX is None:
        print("skipped: no nginx")
        sys.exit(SKIPPED)
    unittest.main()
