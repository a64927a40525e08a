"""The program gridfold_server as an operator starts it: options, files, ports, exit codes.

GRIDFOLD_SERVER_BINARY names the program.
"""

import os
import socket
import subprocess
import tempfile
import unittest
import urllib.request

from testing.minimal_grpc import read_fields
from testing.server_process_case import BINARY, INFO, ServerProcessCase


class ServerProcessTest(ServerProcessCase):
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
