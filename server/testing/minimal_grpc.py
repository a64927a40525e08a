"""A gRPC client of the smallest size, with nothing but Python's standard library.

It knows as much of HTTP/2 as a test of a process needs: one call at a time on a connection, headers
sent uncompressed, and windows that the test opens when it wants the answer to flow.
"""

import socket
import struct

DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4
FRAME_BYTES_MAX = 16384


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header(name, value):
    """A literal header without indexing (RFC 7541, 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


class Connection:
    def __init__(self, address, answer_window=1 << 20):
        """To a port of the loopback address, or the path of a Unix socket.

        Answers flow until `answer_window` bytes have come, then wait for open_window.
        """
        if isinstance(address, int):
            self.socket = socket.create_connection(("127.0.0.1", address), timeout=60)
        else:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.settimeout(60)
            self.socket.connect(address)
        self.stream = -1
        settings = struct.pack(">HI", INITIAL_WINDOW_SIZE, answer_window)
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))

    def close(self):
        self.socket.close()

    def send_call(self, path, message, metadata=()):
        """Starts a call with a message of less than 60,000 bytes, which needs no flow control.

        `metadata` are further headers, pairs of bytes.
        """
        self.stream += 2
        headers = (
            header(b":method", b"POST")
            + header(b":scheme", b"http")
            + header(b":path", path.encode())
            + header(b":authority", b"localhost")
            + header(b"content-type", b"application/grpc")
            + header(b"te", b"trailers")
            + b"".join(header(*pair) for pair in metadata)
        )
        self.socket.sendall(frame(HEADERS, END_HEADERS, self.stream, headers))
        body = b"\0" + struct.pack(">I", len(message)) + message
        for start in range(0, len(body), FRAME_BYTES_MAX):
            end = start + FRAME_BYTES_MAX
            flags = END_STREAM if end >= len(body) else 0
            self.socket.sendall(frame(DATA, flags, self.stream, body[start:end]))

    def open_window(self, size=1 << 30):
        increment = struct.pack(">I", size)
        self.socket.sendall(frame(WINDOW_UPDATE, 0, self.stream, increment))
        self.socket.sendall(frame(WINDOW_UPDATE, 0, 0, increment))

    def read_answer(self):
        """The message of the answer; None where there is none, that is, for an error."""
        body, _ = self.read_end()
        return body[5:] if body else None

    def read_end(self):
        """The answer's body, and the trailers undecoded: gRPC writes texts of errors as they are."""
        body = b""
        while True:
            kind, flags, stream, payload = self._read_frame()
            if kind == SETTINGS and not flags & ACK:
                self.socket.sendall(frame(SETTINGS, ACK, 0, b""))
            elif kind == PING and not flags & ACK:
                self.socket.sendall(frame(PING, ACK, 0, payload))
            elif stream == self.stream and kind == DATA:
                body += payload
            if stream == self.stream and kind in (DATA, HEADERS) and flags & END_STREAM:
                return body, payload if kind == HEADERS else b""

    def call(self, path, message, metadata=()):
        self.send_call(path, message, metadata)
        return self.read_answer()

    def _read_frame(self):
        head = self._read(9)
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        return kind, flags, stream, self._read(int.from_bytes(head[:3], "big"))

    def _read(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the server closed the connection")
            data += piece
        return data


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    """A length-delimited Protobuf field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number_field(number, value):
    """A varint Protobuf field."""
    return varint(number << 3) + varint(value)


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def read_fields(data):
    """The fields of a Protobuf message by number: ints and bytes; the last of each wins."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        fields[tag >> 3] = value
    return fields
