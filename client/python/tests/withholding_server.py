"""A server that keeps its callers waiting: as much of HTTP/2 as that takes."""

import socket
import struct
import threading

_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
_END_STREAM, _ACKNOWLEDGED, _END_HEADERS = 1, 1, 4
_PREFACE_BYTES = 24
# Of a connection: 65,535 more are there from the start.
_WINDOW_BYTES_MAX = 2**31 - 1
_INITIAL_WINDOW_SIZE = 4

# ":status: 200" is the eighth entry of HPACK's table; the others are literals.
_RESPONSE = b"\x88\x00\x0ccontent-type\x10application/grpc"
_TRAILERS = b"\x00\x0bgrpc-status\x010"


def _sum_of(value):
    """The bytes of a ReduceArrayResponse: one group with this sum."""
    values = b"\x0a\x08" + struct.pack("<d", value)  # DoubleValues.values.
    listed = b"\x1a" + bytes([len(values)]) + values  # ValueList.double_values.
    entry = b"\x08\x02\x12" + bytes([len(listed)]) + listed  # StatisticValues: STATISTIC_SUM.
    return b"\x0a" + bytes([len(entry)]) + entry + b"\x10\x01"


_MESSAGE = _sum_of(42.0)


def _frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _answer(stream):
    return (_frame(_HEADERS, _END_HEADERS, stream, _RESPONSE)
            + _frame(_DATA, 0, stream, b"\0" + struct.pack(">I", len(_MESSAGE)) + _MESSAGE)
            + _frame(_HEADERS, _END_HEADERS | _END_STREAM, stream, _TRAILERS))


class WithholdingServer:
    """Answers no call before so many have come on one connection: then all of them, and each that
    comes later, by a sum of 42. From `with` to its end.

    Attributes
    ----------
    target : str
    in_flight_max : int
        How many calls had neither been answered nor given up, at most.
    cancelled : int
        How many calls have been given up.
    """

    def __init__(self, answered_from):
        self._answered_from = answered_from
        self.in_flight_max = 0
        self.cancelled = 0

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.target = "127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as stream:
            try:
                self._talk(connection, stream)
            except OSError:
                pass  # The client is gone.

    def _talk(self, connection, stream):
        stream.read(_PREFACE_BYTES)
        connection.sendall(
            _frame(_SETTINGS, 0, 0, struct.pack(">HI", _INITIAL_WINDOW_SIZE, _WINDOW_BYTES_MAX))
            + _frame(_WINDOW_UPDATE, 0, 0, struct.pack(">I", _WINDOW_BYTES_MAX - 65535)))
        waiting, count = set(), 0
        while len(head := stream.read(9)) == 9:
            kind, flags, number = struct.unpack(">BBI", head[3:])
            payload = stream.read(int.from_bytes(head[:3], "big"))
            if kind in (_SETTINGS, _PING) and not flags & _ACKNOWLEDGED:
                connection.sendall(_frame(kind, _ACKNOWLEDGED, 0,
                                          payload if kind == _PING else b""))
            elif kind == _RESET and number in waiting:
                waiting.remove(number)
                self.cancelled += 1
            elif kind in (_HEADERS, _DATA) and flags & _END_STREAM:
                waiting.add(number)
                count += 1
                self.in_flight_max = max(self.in_flight_max, len(waiting))
                if count >= self._answered_from:
                    connection.sendall(b"".join(map(_answer, sorted(waiting))))
                    waiting.clear()
