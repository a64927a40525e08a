"""Calls through the edge are what they are without it: every form, errors, identity, back-pressure.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_CLI_BINARY are the programs, GRIDFOLD_PYTHON_STUBS where protoc
has written the stubs. Without nginx it is skipped.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time
import unittest

import edge

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server" / "testing"), str(ROOT / "client" / "python"),
                os.environ["GRIDFOLD_PYTHON_STUBS"]]
import grpc  # noqa: E402
import numpy as np  # noqa: E402
import server_process  # noqa: E402
from gridfold.v1 import array_pb2  # noqa: E402
from gridfold.v1 import compute_service_pb2 as compute  # noqa: E402
from gridfold.v1 import compute_service_pb2_grpc  # noqa: E402
from minimal_grpc import (END_HEADERS, HEADERS, Connection, field, frame, header,  # noqa: E402
                          number_field)

SKIPPED = 77  # The exit code by which CTest knows a test that could not run here.
MIB = 1 << 20
SAMPLE = ROOT / "deploy" / "sample_data" / "flight_delay_minutes.npy"
TOKEN = "t" * 64
WAIT_SECONDS_MAX = 60
ANY_SIZE = [("grpc.max_receive_message_length", -1)]
SCAN = "/gridfold.v1.ComputeService/ScanArray"


def make_certificates(folder):
    """server.crt for localhost, client.crt for CN=reports, both by ca.crt, with their keys."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=authority",
            "-days", "2")
    for name, subject in (("server", "/CN=localhost"), ("client", "/O=unit/CN=reports")):
        openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
        (folder / "extensions").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "2", "-extfile", "extensions", "-out", f"{name}.crt")


class EdgeTestCase(unittest.TestCase):
    def setUp(self):
        self.ends = self.enterContext(contextlib.ExitStack())
        self.folder = pathlib.Path(self.ends.enter_context(tempfile.TemporaryDirectory()))
        self.socket_path = self.folder / "socket"
        self.log = self.ends.enter_context(open(self.folder / "log", "w+"))

    def start_server(self, *options):
        server = server_process.ServerProcess("--log-format=json", *options,
                                              listen=f"unix:{self.socket_path}")
        # The log goes where the test reads it.
        saved = os.dup(2)
        os.dup2(self.log.fileno(), 2)
        try:
            self.ends.enter_context(server)
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        return server

    def start_edge(self, **options):
        started = self.ends.enter_context(edge.Edge(self.socket_path, **options))
        self.addCleanup(lambda: self.assertNotRegex(started.log(), r"\[(alert|emerg)\]")
                        if self._outcome.success else None)
        return started

    def command_line(self, target, *arguments, code=0):
        result = subprocess.run(
            [os.environ["GRIDFOLD_CLI_BINARY"], arguments[0], "--server", target,
             *map(str, arguments[1:])], capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout + result.stderr

    def events(self, name):
        text = (self.folder / "log").read_text()
        return [event for event in map(json.loads, text.splitlines()) if event["event"] == name]

    def wait_for_event(self, name):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not self.events(name):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        return self.events(name)[-1]


class PlainEdgeTest(EdgeTestCase):
    def test_answers_are_those_of_the_server_itself(self):
        server, through = self.start_server(), self.start_edge()
        large = self.folder / "large.npy"
        np.save(large, np.arange(6_000_000) % 1000 / 7)  # 48 MB: no bound of the edge's on bodies.
        for arguments in (["reduce", SAMPLE, "--stat", "sum,mean,argmax", "--json"],
                          ["histogram", SAMPLE, "--bins", "20", "--json"],
                          ["reduce", large, "--stat", "sum", "--json"],
                          ["reduce", large, "--stat", "sum,variance", "--stream", "--json"]):
            answers = [json.loads(self.command_line(target, *arguments))
                       for target in (through.target, server.target)]
            for answer in answers:
                answer.pop("execution", None)
            self.assertEqual(*[json.dumps(answer, sort_keys=True) for answer in answers])
        files = []
        for target in (through.target, server.target):
            files.append(self.folder / f"scan{len(files)}.npy")
            self.command_line(target, "scan", large, "--stream", "--output", files[-1])
        self.assertEqual(files[0].read_bytes(), files[1].read_bytes())
        self.command_line(through.target, "info", "--health")

    def test_results_of_a_stream_come_while_it_is_sent(self):
        self.start_server()
        through = self.start_edge()
        pieces = queue.Queue()
        request = compute.ScanStreamRequest(request=compute.ScanArrayRequest(
            operation=compute.SCAN_OPERATION_SUM,
            array=array_pb2.ArraySource(streamed_array=array_pb2.StreamedArray(
                element_type=array_pb2.ELEMENT_TYPE_INT64))))
        with grpc.insecure_channel(through.target, ANY_SIZE) as channel:
            stub = compute_service_pb2_grpc.ComputeServiceStub(channel)
            answers = stub.ScanStream(iter(pieces.get, None), timeout=WAIT_SECONDS_MAX)
            pieces.put(request)
            total = 0
            for turn in range(3):
                # 4 MiB, a batch: its results come before more is sent.
                values = np.full(1 << 19, turn + 1, dtype="<i8")
                pieces.put(compute.ScanStreamRequest(data=values.tobytes()))
                received = 0
                while received < len(values):
                    answer = next(answers)
                    received += len(answer.data) // 8
                total += int(values.sum())
                self.assertEqual(np.frombuffer(answer.data, "<i8")[-1], total)
                time.sleep(0.2)
            pieces.put(None)
            self.assertEqual([answer.data for answer in answers], [b""])

    def test_details_of_errors_pass(self):
        self.start_server()
        through = self.start_edge()
        with grpc.insecure_channel(through.target) as channel:
            stub = compute_service_pb2_grpc.ComputeServiceStub(channel)
            with self.assertRaises(grpc.RpcError) as raised:
                stub.ReduceArray(compute.ReduceArrayRequest(), timeout=WAIT_SECONDS_MAX)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        trailers = dict(raised.exception.trailing_metadata())
        self.assertIn(b"INVALID_FIELD", trailers["grpc-status-details-bin"])

    def test_without_a_server_calls_are_unavailable(self):
        through = self.start_edge()
        with grpc.insecure_channel(through.target) as channel:
            stub = compute_service_pb2_grpc.ComputeServiceStub(channel)
            with self.assertRaises(grpc.RpcError) as raised:
                stub.ReduceArray(compute.ReduceArrayRequest(), timeout=WAIT_SECONDS_MAX)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertIn("the edge does not reach the server", raised.exception.details())
        # And are answered once there is one, by the same edge.
        self.start_server()
        self.command_line(through.target, "info", "--health")

    def test_the_server_learns_that_a_caller_has_gone(self):
        self.start_server("--log-level=debug")
        through = self.start_edge()
        with grpc.insecure_channel(through.target) as channel:
            stub = compute_service_pb2_grpc.ComputeServiceStub(channel)
            pieces = queue.Queue()
            pieces.put(compute.ReduceStreamRequest(request=compute.ReduceArrayRequest(
                statistics=[compute.STATISTIC_SUM],
                array=array_pb2.ArraySource(streamed_array=array_pb2.StreamedArray(
                    element_type=array_pb2.ELEMENT_TYPE_INT64)))))
            call = stub.ReduceStream.future(iter(pieces.get, None))
            time.sleep(0.5)
            call.cancel()
            self.assertEqual(self.wait_for_event("call")["code"], "CANCELLED")
            pieces.put(None)

    def test_an_address_has_so_many_calls_under_way_and_no_more(self):
        self.start_server()
        through = self.start_edge(calls_of_address=3)
        block = b"".join(header(*pair) for pair in (
            (b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"localhost"),
            (b":path", b"/gridfold.v1.ComputeService/ReduceArray"),
            (b"content-type", b"application/grpc"), (b"te", b"trailers")))
        with contextlib.closing(Connection(through.port)) as connection:
            for stream in (1, 3, 5):  # Calls whose message does not come.
                connection.socket.sendall(frame(HEADERS, END_HEADERS, stream, block))
            time.sleep(0.5)
            with grpc.insecure_channel(through.target) as channel:
                stub = compute_service_pb2_grpc.ComputeServiceStub(channel)
                with self.assertRaises(grpc.RpcError) as raised:
                    stub.ReduceArray(compute.ReduceArrayRequest(), timeout=WAIT_SECONDS_MAX)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertIn("this address", raised.exception.details())
        time.sleep(0.5)
        self.command_line(through.target, "info", "--health")

    def test_the_log_names_the_caller_and_not_what_it_calls_itself(self):
        self.start_server("--log-level=debug")
        through = self.start_edge()
        with contextlib.closing(Connection(through.port)) as connection:
            local_port = connection.socket.getsockname()[1]
            request = field(1, field(1, number_field(1, 1) + field(15, b"\1"))) + number_field(2, 1)
            self.assertIsNotNone(connection.call(SCAN, request, [
                (b"x-forwarded-for", b"203.0.113.7"), (b"x-client-certificate", b"CN=root")]))
        event = self.wait_for_event("call")
        self.assertEqual((event["peer"], event["certificate"]), (f"127.0.0.1:{local_port}", ""))

    def test_tokens_and_tenants_pass(self):
        tokens = self.folder / "tokens.json"
        tokens.write_text(json.dumps({"tokens": [
            {"sha256": hashlib.sha256(TOKEN.encode()).hexdigest(), "tenant": "reports"}]}))
        (self.folder / "token").write_text(TOKEN)
        self.start_server("--token-file", str(tokens))
        through = self.start_edge()
        token = ["--token-file", self.folder / "token"]
        self.command_line(through.target, "array", *token, "put", "kept", SAMPLE)
        self.assertIn("kept", self.command_line(through.target, "array", *token, "list"))
        self.assertIn("token", self.command_line(through.target, "reduce", SAMPLE, code=1))

    def test_one_who_takes_no_answer_is_not_read_on(self):
        """Neither the edge nor the server holds what a caller sends or is sent beyond buffers."""
        self.start_server()
        through = self.start_edge()
        before = edge.resident_bytes(through.process_ids())
        pieces = queue.Queue()
        with grpc.insecure_channel(through.target) as channel:
            stub = compute_service_pb2_grpc.ComputeServiceStub(channel)
            answers = stub.ScanStream(iter(pieces.get, None), timeout=WAIT_SECONDS_MAX)
            pieces.put(compute.ScanStreamRequest(request=compute.ScanArrayRequest(
                operation=compute.SCAN_OPERATION_SUM,
                array=array_pb2.ArraySource(streamed_array=array_pb2.StreamedArray(
                    element_type=array_pb2.ELEMENT_TYPE_INT64)))))
            for _ in range(100):  # 200 MiB, and as much of results, of which none is taken.
                pieces.put(compute.ScanStreamRequest(data=bytes(2 * MIB)))
            time.sleep(3)
            taken = 100 - pieces.qsize()
            grown = edge.resident_bytes(through.process_ids()) - before
            answers.cancel()
        self.assertLess(taken, 100)
        self.assertLess(grown, 64 * MIB)


class EncryptedEdgeTest(EdgeTestCase):
    def test_callers_of_a_tls_edge_trust_its_certificate(self):
        make_certificates(self.folder)
        self.start_server()
        through = self.start_edge(listen_file="listen_tls.conf", tls=self.folder)
        self.command_line(through.target, "info", "--health", "--tls-ca", self.folder / "ca.crt")
        self.command_line(through.target, "info", "--health", code=3)

    def test_client_certificates_are_asked_for_and_named(self):
        make_certificates(self.folder)
        self.start_server("--log-level=debug")
        through = self.start_edge(listen_file="listen_tls.conf", tls=self.folder,
                                  client_certificates=True)
        trusted = ["--tls-ca", self.folder / "ca.crt"]
        self.command_line(through.target, "reduce", SAMPLE, *trusted, code=1)
        self.command_line(through.target, "reduce", SAMPLE, *trusted, "--tls-certificate",
                          self.folder / "client.crt", "--tls-key", self.folder / "client.key")
        self.assertEqual(self.wait_for_event("call")["certificate"], "CN=reports,O=unit")


if __name__ == "__main__":
    if edge.NGINX is None:
        print("skipped: no nginx")
        sys.exit(SKIPPED)
    unittest.main()
