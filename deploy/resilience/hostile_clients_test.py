"""Clients that mean ill, against a server that has others: these are answered, memory is bounded.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_LOAD_BINARY are the programs. Prints its figures, for
deploy/README.md.
"""

import contextlib
import gzip
import pathlib
import resource
import socket
import struct
import sys
import time
import unittest

import replica

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "server" / "testing"))
from minimal_grpc import END_HEADERS, HEADERS, SETTINGS, Connection, frame, header  # noqa: E402

REDUCE = b"/gridfold.v1.ComputeService/ReduceArray"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b"")
CONTINUATION = 9
MIB = 1 << 20
FRAME_BYTES = 12_000  # Of headers: fewer than the server's bound on those of one frame.
RATE = 50  # Calls a second of those who mean well.
IDLE_CONNECTIONS = 10_000
HANDSHAKE_SECONDS_MAX = 10
P99_SECONDS_MAX = 10  # On a machine that does other things too.
RECOVERY_SECONDS_MAX = 10
MEMORY_BYTES_MAX = 256 * MIB  # Beyond which the server closes connections.


def call_headers(*more):
    return (header(b":method", b"POST") + header(b":scheme", b"http") + header(b":path", REDUCE)
            + header(b":authority", b"localhost") + header(b"content-type", b"application/grpc")
            + header(b"te", b"trailers") + b"".join(header(*pair) for pair in more))


def raise_file_limit():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


class EndlessHeaders:
    """A call, on a connection of its own, whose headers never end."""

    def __init__(self, connection, value):
        self.is_open = True
        self._connection = connection
        one = header(b"x", value)
        self._piece = FRAME_BYTES // len(one) * one
        connection.sendall(frame(HEADERS, 0, 1, call_headers()))

    def send_more(self):
        """Returns how much was sent."""
        try:
            self._connection.sendall(frame(CONTINUATION, 0, 1, self._piece))
            return len(self._piece)
        except OSError:
            self.is_open = False
            return 0


class HostileClientsTest(unittest.TestCase):
    def setUp(self):
        self.file_limit = raise_file_limit()
        self.ends = self.enterContext(contextlib.ExitStack())
        self.server = self.ends.enter_context(replica.Replica())

    def connect(self, greeting=PREFACE):
        connection = self.ends.enter_context(
            socket.create_connection(("127.0.0.1", self.server.port), timeout=30))
        connection.sendall(greeting)
        return connection

    def await_answers(self):
        """Until ten calls in a row are answered, each on a new connection."""
        deadline = time.monotonic() + RECOVERY_SECONDS_MAX
        answered = 0
        while answered < 10:
            self.assertLess(time.monotonic(), deadline)
            try:
                with contextlib.closing(Connection(self.server.port)) as connection:
                    answer = connection.call("/grpc.health.v1.Health/Check", b"")
                answered = 0 if answer is None else answered + 1
            except OSError:
                answered = 0
            time.sleep(0.1)

    @contextlib.contextmanager
    def others(self, name, memory_max, *options):
        """Others call all the while; then says how they fared, and what the server holds."""
        before = self.server.resident_bytes()
        load = self.ends.enter_context(
            replica.Load(self.server.target, "--rate", RATE, "--verify", "all", *options))
        figures = {}
        time.sleep(1)
        yield figures
        figures["most"] = max(figures.get("most", 0), self.server.resident_bytes())
        level = load.finish()
        calls = level["calls"]
        p50, p99 = (level["latency_us"][name] / 1000 for name in ("p50", "p99"))
        grown = figures["most"] - before
        print(f"{name}: others answered {calls['answered']}, failed {calls['failed']}, "
              f"p50 {p50:.1f} ms, p99 {p99:.1f} ms; memory +{grown / MIB:.1f} MiB", file=sys.stderr)
        self.assertGreater(calls["answered"], 0)
        self.assertEqual((calls["failed"], calls["wrong"], calls["unanswered"]), (0, 0, 0))
        self.assertLess(p99, 1000 * P99_SECONDS_MAX)
        self.assertLess(grown, memory_max)

    def is_closed(self, connection, seconds):
        connection.settimeout(seconds)
        try:
            while connection.recv(65536):
                pass
            return True
        except TimeoutError:
            return False
        except ConnectionError:
            return True

    def test_idle_connections(self):
        count = min(IDLE_CONNECTIONS, self.file_limit - 200)
        with self.others(f"{count} idle connections", count * 64 << 10) as figures:
            for _ in range(count):
                self.connect()
            while self.server.open_files() < count:
                time.sleep(0.1)
            time.sleep(5)
            figures["most"] = self.server.resident_bytes()

    def test_connections_that_say_nothing(self):
        with self.others("2000 connections that say nothing", 64 * MIB):
            silent = [self.connect(b"") for _ in range(1000)]
            half = [self.connect(PREFACE[:10]) for _ in range(1000)]
            time.sleep(HANDSHAKE_SECONDS_MAX + 5)
            self.assertTrue(all(self.is_closed(connection, 5) for connection in silent + half))

    def test_slow_messages(self):
        """A byte of a message now and then, in many calls: none of them ever has its turn."""
        with self.others("20000 calls that send a byte a second", 20_000 * 32 << 10) as figures:
            connections = [self.connect() for _ in range(200)]
            message = b"\0" + struct.pack(">I", 100 * MIB)
            for connection in connections:
                for call in range(100):
                    connection.sendall(
                        frame(HEADERS, END_HEADERS, 2 * call + 1, call_headers())
                        + frame(0, 0, 2 * call + 1, message))
            for _ in range(5):
                for connection in connections:
                    connection.sendall(b"".join(frame(0, 0, 2 * call + 1, b"x")
                                                for call in range(100)))
                time.sleep(1)
                figures["most"] = max(figures.get("most", 0), self.server.resident_bytes())

    def test_headers_that_are_too_large(self):
        with self.others("500 calls with 1 MiB of headers", 64 * MIB) as figures:
            block = call_headers() + b"".join(
                header(b"x-%d" % i, b"y" * 120) for i in range(8000))
            for _ in range(500):
                connection = self.connect()
                with contextlib.suppress(ConnectionError):
                    pieces = [block[i : i + 16384] for i in range(0, len(block), 16384)]
                    connection.sendall(frame(HEADERS, 0, 1, pieces[0]))
                    for piece in pieces[1:-1]:
                        connection.sendall(frame(CONTINUATION, 0, 1, piece))
                    connection.sendall(frame(CONTINUATION, END_HEADERS, 1, pieces[-1]))
                figures["most"] = max(figures.get("most", 0), self.server.resident_bytes())
                connection.close()

    def test_headers_that_never_end(self):
        """gRPC 1.51 bounds each frame of headers, not their sum: it is the server that closes
        connections where they take more memory than it may have.

        gRPC makes 64 bytes of a header of 4 bytes; when the call is ended it copies them into an
        array of 96 bytes a header, which grows by copying as well. So memory reaches four times
        what it was when the server noticed, and a busy machine notices late: some 100 MiB of
        headers may come in a second. Without a bound they would take 64 GiB here."""
        for count, value in ((2, b""), (6, b"y" * 120)):
            self.server = self.ends.enter_context(
                replica.Replica(f"--max-memory-bytes={MEMORY_BYTES_MAX}"))
            hostile = [self.connect() for _ in range(count)]
            for _ in range(1000):  # Idle: gRPC would close them first for want of memory.
                self.connect()
            name = f"{count} calls whose headers, with values of {len(value)} bytes, never end"
            # The server may take some seconds to give back what was taken.
            with self.others(name, 8 * MEMORY_BYTES_MAX, "--give-up-after", "30s") as figures:
                calls = [EndlessHeaders(connection, value) for connection in hostile]
                sent = 0
                while any(call.is_open for call in calls):
                    sent += sum(call.send_more() for call in calls if call.is_open)
                    figures["most"] = max(figures.get("most", 0), self.server.resident_bytes())
                    self.assertLess(sent, 1024 * MIB)
                print(f"{name}: closed after {sent / MIB:.0f} MiB", file=sys.stderr)
                end = time.monotonic() + RECOVERY_SECONDS_MAX
                while time.monotonic() < end:
                    figures["most"] = max(figures["most"], self.server.resident_bytes())
                    time.sleep(0.1)
            self.await_answers()
            with self.others("after headers that never ended", 64 * MIB):
                time.sleep(2)

    def test_compression_bombs(self):
        bomb = gzip.compress(b"\0" * (64 * MIB))
        message = b"\1" + struct.pack(">I", len(bomb)) + bomb
        with self.others("200 messages that unpack to 64 MiB", 64 * MIB) as figures:
            for _ in range(200):
                connection = self.connect(PREFACE + frame(
                    HEADERS, END_HEADERS, 1, call_headers((b"grpc-encoding", b"gzip"))))
                with contextlib.suppress(ConnectionError):
                    for i in range(0, len(message), 16384):
                        connection.sendall(frame(0, 0, 1, message[i : i + 16384]))
                figures["most"] = max(figures.get("most", 0), self.server.resident_bytes())
                connection.close()


if __name__ == "__main__":
    unittest.main()
