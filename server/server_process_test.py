"""The program gridfold_server as an operator meets it: options, files, signals, exit codes.

GRIDFOLD_SERVER_BINARY names the program.
"""

import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

from testing.minimal_grpc import Connection, field, number_field, read_fields, varint

BINARY = os.environ["GRIDFOLD_SERVER_BINARY"]
SCAN = "/gridfold.v1.ComputeService/ScanArray"
CREATE = "/gridfold.v1.ArrayService/CreateArray"
INFO = "/gridfold.v1.ServerService/GetServerInfo"
HEALTH = "/grpc.health.v1.Health/Check"
SERVING = 1
STATISTICS = "/gridfold.v1.ServerService/GetStatistics"
ELEMENT_TYPE_INT8, SCAN_OPERATION_SUM = 1, 1
JOBS_SUCCEEDED = 4  # Field of GetStatisticsResponse.
ELEMENTS = 50000


def create_request(name):
    """An array of ten bytes."""
    return field(1, name.encode()) + number_field(2, ELEMENT_TYPE_INT8) + field(3, varint(10))


def scan_request(elements=ELEMENTS):
    """A scan whose answer, 400,000 bytes by default, is larger than a window that was not opened."""
    array = number_field(1, ELEMENT_TYPE_INT8) + field(15, b"\1" * elements)
    return field(1, field(1, array)) + number_field(2, SCAN_OPERATION_SUM)


class ServerProcess:
    def __init__(self, *options, environment=None, files_max=None, stderr=None):
        self.folder = tempfile.TemporaryDirectory()
        self.port_file = os.path.join(self.folder.name, "port")
        # Appending: reading must not move the place where the server writes.
        self.log = open(os.path.join(self.folder.name, "log"), "a+")
        command = [BINARY, "--engine=cpu", "--cpu-threads=1", "--log-format=json"]
        command += ["--port-file", self.port_file, *options]
        if not any(option.startswith("--listen") for option in options):
            command.append("--listen=127.0.0.1:0")
        if not any(option.startswith("--metrics-address") for option in options):
            command.append("--metrics-address=off")
        if files_max is not None:
            command = ["prlimit", f"--nofile={files_max}", *command]
        self.process = subprocess.Popen(
            command, stderr=stderr or self.log, env={**os.environ, **(environment or {})}
        )
        self.port = self._wait_for_port()

    def _wait_for_port(self):
        while not os.path.exists(self.port_file):
            if self.process.poll() is not None:
                raise RuntimeError("the server ended: " + self.read_log())
            time.sleep(0.005)
        with open(self.port_file) as file:
            return int(file.read())

    def read_log(self):
        self.log.seek(0)
        return self.log.read()

    def events(self):
        return {line["event"]: line for line in map(json.loads, self.read_log().splitlines())}

    def wait_for_event(self, name):
        deadline = time.monotonic() + 60
        while name not in self.read_log():
            assert time.monotonic() < deadline, self.read_log()
            time.sleep(0.005)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(timeout=60)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


class ServerProcessTest(unittest.TestCase):
    def start(self, *options, **arguments):
        server = ServerProcess(*options, **arguments)
        self.addCleanup(server.close)
        return server

    def connect(self, server, **arguments):
        connection = Connection(server.port, **arguments)
        self.addCleanup(connection.close)
        return connection

    def start_unread_call(self, server):
        """A call that stays in flight until its window is opened: nobody reads its answer."""
        connection = self.connect(server, answer_window=1000)
        connection.send_call(SCAN, scan_request())
        observer = self.connect(server)
        while read_fields(observer.call(STATISTICS, b"")).get(JOBS_SUCCEEDED, 0) == 0:
            time.sleep(0.005)
        observer.close()
        return connection

    def limits(self, server):
        return read_fields(read_fields(self.connect(server).call(INFO, b""))[4])

    def test_port_file_names_a_port_that_answers(self):
        server = self.start()
        info = read_fields(self.connect(server).call(INFO, b""))
        self.assertEqual(info[2], b"cpu")
        self.assertEqual(server.events()["serving"]["port"], server.port)

    def test_start_tells_engine_limits_version_and_address(self):
        events = self.start().events()
        self.assertEqual(events["engine"]["engine"], "cpu")
        self.assertGreater(events["engine"]["memory_bytes"], 0)
        self.assertEqual(events["limits"]["message_bytes_max"], 256 << 20)
        self.assertRegex(events["serving"]["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(events["not_encrypted"]["level"], "info")

    def test_metrics_are_served_where_the_log_says(self):
        server = self.start("--metrics-address=127.0.0.1:0")
        port = server.events()["metrics"]["port"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        version = server.events()["serving"]["version"]
        self.assertIn(f'gridfold_build_info{{version="{version}",engine="cpu",', text)
        self.assertIn("gridfold_serving 1\n", text)
        server.signal()
        self.assertEqual(server.wait(), 0)

    def test_metrics_can_be_turned_off(self):
        self.assertNotIn("metrics", self.start("--metrics-address=off").events())

    def test_an_open_address_is_warned_about(self):
        self.assertEqual(
            self.start("--listen=0.0.0.0:0", "--insecure").events()["not_encrypted"]["level"],
            "warning",
        )

    def start_on_socket(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "socket")
        return self.start(f"--listen=unix:{path}", *options), path

    def call_at(self, path):
        connection = Connection(path)
        self.addCleanup(connection.close)
        return connection.call(SCAN, scan_request(10))

    def test_a_unix_socket_answers_and_goes_with_the_server(self):
        server, path = self.start_on_socket()
        self.assertEqual(server.port, 0)
        self.assertIsNotNone(self.call_at(path))
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o660)
        events = server.events()
        self.assertEqual(events["serving"]["listen"], f"unix:{path}")
        self.assertEqual(events["not_encrypted"]["level"], "info")
        self.assertNotIn("exposed", events)
        server.signal()
        self.assertEqual(server.wait(), 0)
        self.assertFalse(os.path.exists(path))

    def test_a_unix_socket_of_a_server_that_was_killed_is_taken_over(self):
        server, path = self.start_on_socket()
        server.signal(signal.SIGKILL)
        server.wait()
        self.assertTrue(os.path.exists(path))
        self.start(f"--listen=unix:{path}")
        self.assertIsNotNone(self.call_at(path))

    def test_a_unix_socket_in_use_is_not_taken(self):
        _, path = self.start_on_socket()
        with self.assertRaisesRegex(RuntimeError, "another server listens there"):
            self.start(f"--listen=unix:{path}")
        self.assertIsNotNone(self.call_at(path))

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

    def expect_full_and_free_again(self, server, attempts):
        """More connections than the server takes cost the others nothing, while they are open and after."""
        first = self.connect(server)
        self.assertEqual(read_fields(first.call(HEALTH, b"")), {1: SERVING})
        crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(attempts)]
        self.assertEqual(read_fields(first.call(HEALTH, b"")), {1: SERVING})
        # Silent connections give way to whoever calls.
        self.expect_answer_soon(server)
        server.wait_for_event("connections_gave_way")
        self.assertEqual(read_fields(first.call(HEALTH, b"")), {1: SERVING})
        for connection in crowd:
            connection.close()
        self.expect_answer_soon(server)
        server.signal()
        self.assertEqual(server.wait(), 0)

    def expect_answer_soon(self, server):
        deadline = time.monotonic() + 60
        while True:
            try:
                self.assertEqual(read_fields(self.connect(server).call(HEALTH, b"")), {1: SERVING})
                return
            except ConnectionError:
                self.assertLess(time.monotonic(), deadline)

    def expect_connections(self, count):
        """So many keep their places whatever they ask; one more takes the place of one of them."""
        server = self.start(f"--max-connections={count}")
        connections = []

        def are_served():
            served = []
            for connection in connections:
                try:
                    served.append(read_fields(connection.call(HEALTH, b"")) == {1: SERVING})
                except (ConnectionError, TimeoutError):
                    served.append(False)
            return served

        for _ in range(count):
            connections.append(self.connect(server))
            self.assertEqual(are_served(), [True] * len(connections))
        connections.append(self.connect(server))
        # Those that called last have the place; which of the others gives way is not said.
        self.assertLessEqual(sum(are_served()), count)

    def test_as_many_connections_as_it_may_have(self):
        for count in (1, 5, 20):
            with self.subTest(count):
                self.expect_connections(count)

    def test_no_more_connections_than_it_may_have(self):
        self.expect_full_and_free_again(self.start("--max-connections=20"), attempts=40)

    def test_no_more_connections_than_it_may_have_files(self):
        server = self.start(files_max=150)
        self.expect_full_and_free_again(server, attempts=200)

    def test_localhost_is_every_address_that_it_has(self):
        server = self.start("--listen=localhost:0")
        self.assertEqual(read_fields(self.connect(server).call(HEALTH, b"")), {1: SERVING})

    def test_signals_end_an_idle_server(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.start()
            server.signal(number)
            self.assertEqual(server.wait(), 0)
            self.assertIn("stopped", server.events())

    def test_sigterm_lets_a_call_in_flight_finish(self):
        server = self.start()
        call = self.start_unread_call(server)
        late = self.connect(server)
        server.signal()
        server.wait_for_event("draining")
        self.assertIsNone(late.call(SCAN, scan_request()), "a new job was accepted")
        late.close()
        self.assertIsNone(server.process.poll())
        call.open_window()
        answer = read_fields(call.read_answer())
        sums = read_fields(answer[2])[15]
        self.assertEqual(len(sums), 8 * ELEMENTS)
        self.assertEqual(int.from_bytes(sums[-8:], "little"), ELEMENTS)
        call.close()
        self.assertEqual(server.wait(), 0)

    def test_the_grace_period_ends(self):
        server = self.start("--grace-period=200ms")
        self.start_unread_call(server)
        server.signal()
        self.assertEqual(server.wait(), 0)

    def test_a_lame_duck_says_so_and_goes_on(self):
        server = self.start("--lame-duck=1h")
        call = self.start_unread_call(server)
        health = self.connect(server)
        self.assertEqual(read_fields(health.call(HEALTH, b"")), {1: SERVING})
        server.signal()
        while read_fields(health.call(HEALTH, b"")) == {1: SERVING}:
            time.sleep(0.005)
        self.assertIsNotNone(self.connect(server).call(SCAN, scan_request(10)), "it has stopped")
        call.close()
        server.signal()
        self.assertEqual(server.wait(), 0)

    def test_the_lame_duck_time_ends(self):
        server = self.start("--lame-duck=200ms")
        server.signal()
        self.assertEqual(server.wait(), 0)
        self.assertEqual(server.events()["draining"]["lame_duck_ms"], 200)

    def test_a_second_signal_stops_at_once(self):
        server = self.start("--grace-period=24h")
        self.start_unread_call(server)
        server.signal()
        server.wait_for_event("draining")
        self.assertIsNone(server.process.poll())
        server.signal()
        self.assertEqual(server.wait(), 0)
        self.assertIn("stopping_at_once", server.events())

    def test_a_second_signal_ends_it_whatever_hangs(self):
        """A log that nobody reads, and a call whose answer nobody takes."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        server = self.start("--grace-period=24h", "--log-level=debug", stderr=writer)
        os.close(writer)
        self.start_unread_call(server)
        self.fill_the_log(server)
        server.signal()
        time.sleep(0.2)
        self.assertIsNone(server.process.poll())
        server.signal()
        begin = time.monotonic()
        server.wait()
        self.assertLess(time.monotonic() - begin, 5)

    def fill_the_log(self, server):
        """Calls whose lines are more than a pipe takes; they are answered all the same."""
        for _ in range(3):
            connection = self.connect(server)  # Each has a window for some hundred answers.
            connection.socket.settimeout(20)
            for _ in range(200):
                self.assertIsNotNone(connection.call(SCAN, scan_request(10)))
            connection.close()

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

    def test_signals_without_meaning_do_nothing(self):
        server = self.start()
        for name in ("USR1", "USR2", "USR1", "ALRM", "VTALRM", "PROF", "IO", "PWR", "STKFLT",
                     "TTIN", "TTOU", "PIPE", "XFSZ", "RTMIN", "RTMAX", "HUP"):
            server.signal(getattr(signal, "SIG" + name))
        server.wait_for_event("reloading")
        server.wait_for_event("signal_ignored")
        time.sleep(0.1)
        self.assertEqual(read_fields(self.connect(server).call(HEALTH, b"")), {1: SERVING})
        self.assertEqual(server.read_log().count("signal_ignored"), 1)
        server.signal()
        self.assertEqual(server.wait(), 0)

    def test_sigquit_leaves_a_core(self):
        server = self.start()
        pid = str(server.process.pid)
        subprocess.run(["prlimit", "--core=0", "--pid", pid], check=True)  # Not here.
        server.signal(signal.SIGQUIT)
        self.assertEqual(server.wait(), -signal.SIGQUIT)

    def test_files_that_are_none_are_errors_and_keep_nobody_waiting(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            for options in (["--token-file", fifo], ["--audit-log", fifo],
                            ["--tls-certificate", fifo, "--tls-key", fifo]):
                result = subprocess.run(
                    [BINARY, "--engine=cpu", "--listen=127.0.0.1:0", "--metrics-address=off",
                     *options], capture_output=True, text=True, timeout=20)
                self.assertEqual(result.returncode, 1, result)
                self.assertIn("is not a regular file", result.stderr)
                self.assertIn(fifo, result.stderr)

    def test_sighup_reads_tokens_again_at_once(self):
        token = {"sha256": hashlib.sha256(b"one").hexdigest(), "tenant": "a"}
        with tempfile.NamedTemporaryFile("w") as file:
            json.dump({"tokens": [token]}, file)
            file.flush()
            server = self.start("--token-file", file.name)
            os.truncate(file.name, 0)
            server.signal(signal.SIGHUP)
            server.wait_for_event("tokens_not_reloaded")
            metadata = [(b"authorization", b"Bearer one")]
            self.assertIsNotNone(self.connect(server).call(INFO, b"", metadata))

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

    def test_environment_variables_and_configuration_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
            config.write('lanes = 3\nmax-message-bytes = "1MiB"\nmax-bins = 500\n')
            config.flush()
            server = self.start(
                "--config",
                config.name,
                "--max-bins=600",
                environment={"GRIDFOLD_MAX_GROUPS": "700", "GRIDFOLD_GRACE_PERIOD": "1s"},
            )
            limits = self.limits(server)
        self.assertEqual(limits[1], 1 << 20)
        self.assertEqual(limits[2], 600)
        self.assertEqual(limits[3], 700)
        self.assertEqual(limits[4], 3)

    def test_unusable_options_exit_with_2(self):
        for options in (["--no-such-option"], ["--lanes=none"], ["--listen=here"], ["--config=/x"],
                        ["--listen=0.0.0.0:0"]):
            result = subprocess.run([BINARY, *options], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 2, result)
            self.assertIn(options[0].split("=")[-1].lstrip("-"), result.stderr)
            self.assertEqual(result.stdout, "")

    def test_help_and_version_exit_with_0(self):
        for option in ("--help", "--version"):
            result = subprocess.run([BINARY, option], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 0)
            self.assertIn("gridfold_server", result.stdout)

    def test_a_port_that_is_taken_exits_with_1(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            result = subprocess.run(
                [
                    BINARY,
                    "--engine=cpu",
                    "--metrics-address=off",
                    f"--listen=127.0.0.1:{taken.getsockname()[1]}",
                ],
                capture_output=True,
                text=True,
                timeout=60,
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot listen", result.stderr)

    def test_a_metrics_port_that_is_taken_exits_with_1(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            result = subprocess.run(
                [BINARY, "--engine=cpu", "--listen=127.0.0.1:0", f"--metrics-address={address}"],
                capture_output=True,
                text=True,
                timeout=60,
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"cannot listen on {address} for metrics", result.stderr)

    def test_a_port_file_that_cannot_be_written_exits_with_1(self):
        result = subprocess.run(
            [
                BINARY,
                "--engine=cpu",
                "--listen=127.0.0.1:0",
                "--metrics-address=off",
                "--port-file=/nowhere/port",
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nowhere/port", result.stderr)


if __name__ == "__main__":
    unittest.main()
