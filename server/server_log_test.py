"""The log and the audit log of the program gridfold_server: what stands in them.

GRIDFOLD_SERVER_BINARY names the program.
"""

import hashlib
import json
import os
import pathlib
import signal
import tempfile
import time
import unittest

from testing.minimal_grpc import Connection, field, number_field, varint
from testing.server_process_case import ELEMENT_TYPE_INT8, INFO, SCAN, ServerProcessCase, scan_request

CREATE = "/gridfold.v1.ArrayService/CreateArray"


def create_request(name):
    """An array of ten bytes."""
    return field(1, name.encode()) + number_field(2, ELEMENT_TYPE_INT8) + field(3, varint(10))


class ServerLogTest(ServerProcessCase):
    def test_an_open_address_is_warned_about(self):
        self.assertEqual(
            self.start("--listen=0.0.0.0:0", "--insecure").events()["not_encrypted"]["level"],
            "warning",
        )

    def test_the_log_says_what_an_open_address_is_exposed_to(self):
        event = self.start("--listen=0.0.0.0:0", "--insecure").events()["exposed"]
        self.assertEqual(event["level"], "warning")
        self.assertIn("deploy/README.md", event["note"])
        self.assertNotIn("exposed", self.start("--listen=127.0.0.1:0").events())

    def test_the_log_names_the_caller(self):
        """Who it says it is counts behind a Unix socket only, where an edge says it."""
        said = [(b"x-forwarded-for", b"203.0.113.9, 10.0.0.7:4321"),
                (b"x-client-certificate", b"CN=reports")]
        by_tcp = self.start("--log-level=debug")
        connection = self.connect(by_tcp)
        self.assertIsNotNone(connection.call(SCAN, scan_request(10), said))
        by_tcp.wait_for_event('"call"')
        event = by_tcp.events()["call"]
        port = connection.socket.getsockname()[1]
        self.assertEqual((event["peer"], event["certificate"]), (f"ipv4:127.0.0.1:{port}", ""))
        by_socket, path = self.start_on_socket("--log-level=debug")
        connection = Connection(path)
        self.addCleanup(connection.close)
        self.assertIsNotNone(connection.call(SCAN, scan_request(10), said))
        by_socket.wait_for_event('"call"')
        event = by_socket.events()["call"]
        self.assertEqual((event["peer"], event["certificate"]), ("10.0.0.7:4321", "CN=reports"))

    def test_the_log_names_the_callers_trace(self):
        server = self.start("--log-level=debug")
        traces = (b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", b"00-no-trace")
        for trace in traces:
            answer = self.connect(server).call(SCAN, scan_request(10), [(b"traceparent", trace)])
            self.assertIsNotNone(answer)
        server.signal()
        self.assertEqual(server.wait(), 0)
        calls = [line for line in map(json.loads, server.read_log().splitlines())
                 if line["event"] == "call"]
        self.assertEqual([(call["trace_id"], call["parent_id"]) for call in calls],
                         [("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"), ("", "")])

    def test_a_log_that_nobody_reads_stops_no_call(self):
        reader, writer = os.pipe()
        server = self.start("--log-level=debug", stderr=writer)
        os.close(writer)
        self.fill_the_log(server)
        server.signal()
        with os.fdopen(reader) as log:
            events = [json.loads(line)["event"] for line in log]
        self.assertEqual(server.wait(), 0)
        self.assertEqual(events.count("call"), 600)
        self.assertEqual(events[-1], "stopped")

    def test_refused_callers_are_logged(self):
        token = {"sha256": hashlib.sha256(b"one").hexdigest(), "tenant": "a"}
        with tempfile.NamedTemporaryFile("w") as file:
            json.dump({"tokens": [token]}, file)
            file.flush()
            server = self.start("--token-file", file.name)
            connection = self.connect(server)
            for guess in range(500):
                metadata = [(b"authorization", b"Bearer guess-%d" % guess)]
                self.assertIsNone(connection.call(SCAN, scan_request(10), metadata))
            server.signal()
            self.assertEqual(server.wait(), 0)
        lines = [json.loads(line) for line in server.read_log().splitlines()]
        refused = [line for line in lines if line["event"] == "caller_refused"]
        told = sum(line["calls"] for line in lines if line["event"] == "callers_refused")
        suppressed = sum(line["suppressed"] for line in refused)
        self.assertEqual(len(refused) + told + suppressed, 500, server.read_log())
        self.assertLess(len(refused), 20)
        for line in refused:
            self.assertEqual(line["reason"], "unknown_token")
            self.assertEqual(line["rpc"], "ScanArray")
            self.assertRegex(line["peer"], r"^ipv4:127\.0\.0\.1:\d+$")
        self.assertNotIn("guess", server.read_log())

    def read_lines(self, path):
        with open(path) as file:
            return list(map(json.loads, file))

    def await_lines(self, path, count):
        """Waits for lines, which are written a while after what they tell of."""
        deadline = time.monotonic() + 60
        while pathlib.Path(path).read_text().count("\n") < count:
            assert time.monotonic() < deadline, f"{path} has too few lines"
            time.sleep(0.005)

    def test_the_audit_log_says_who_did_what(self):
        token = {"sha256": hashlib.sha256(b"one").hexdigest(), "tenant": "a"}
        with tempfile.TemporaryDirectory() as folder:
            tokens, audit = os.path.join(folder, "tokens"), os.path.join(folder, "audit")
            with open(tokens, "w") as file:
                json.dump({"tokens": [token]}, file)
            server = self.start("--token-file", tokens, "--audit-log", audit)
            connection = self.connect(server)
            metadata = [(b"authorization", b"Bearer one")]
            connection.call(CREATE, create_request("x"), metadata)
            connection.call(CREATE, create_request("x"), metadata)
            self.await_lines(audit, 2)
            os.rename(audit, audit + ".1")
            server.signal(signal.SIGHUP)
            server.wait_for_event("audit_log_reopened")
            connection.call(SCAN, scan_request(10), metadata)
            connection.call(INFO, b"", [(b"authorization", b"Bearer two")])
            server.signal()
            self.assertEqual(server.wait(), 0)
            first, second = self.read_lines(audit + ".1"), self.read_lines(audit)
            self.assertEqual(os.stat(audit).st_mode & 0o777, 0o600)
        outcome = [(line["rpc"], line["tenant"], line["objects"], line["code"], line["reason"])
                   for line in first + second]
        self.assertEqual(outcome, [
            ("CreateArray", "a", ["array:x"], "OK", ""),
            ("CreateArray", "a", ["array:x"], "ALREADY_EXISTS", "ARRAY_ALREADY_EXISTS"),
            ("ScanArray", "a", [], "OK", ""),
            ("GetServerInfo", "", [], "UNAUTHENTICATED", "UNAUTHENTICATED")])
        for line in first + second:
            self.assertRegex(line["peer"], r"^ipv4:127\.0\.0\.1:\d+$")
            self.assertGreaterEqual(line["duration_us"], 0)
        self.assertEqual(second[0]["token"], token["sha256"][:8])
        self.assertGreater(second[0]["request_bytes"], 0)
        self.assertGreater(second[0]["response_bytes"], 0)

    def test_the_audit_log_can_stand_in_the_log(self):
        server = self.start("--audit-log=stderr", "--log-level=off")
        self.connect(server).call(SCAN, scan_request(10))
        server.signal()
        self.assertEqual(server.wait(), 0)
        self.assertEqual(json.loads(server.read_log())["rpc"], "ScanArray")


if __name__ == "__main__":
    unittest.main()
