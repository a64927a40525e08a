"""What does not depend on the operation: exit codes, errors, output into pipes."""

import json

import numpy as np

from cli_case import CommandLineTest, DELAY


class BehaviourTest(CommandLineTest):
    def test_info(self):
        info = self.json("info")
        self.assertEqual(info["health"], "SERVING")
        self.assertEqual(info["engine"], self.server.engine)
        self.assertGreater(len(info["devices"]), 0)
        self.assertIn("SERVING", self.succeed("info").decode())
        self.assertEqual(self.succeed("info", "--health"), b"SERVING\n")

    def test_unreachable(self):
        self.expect_failure(3, "cannot connect", "info", "--health", "--server", "127.0.0.1:1")

    def test_usage(self):
        self.expect_failure(2, "--stat", "reduce", DELAY, "--stat", "median")
        self.expect_failure(2, "subcommand is required")
        self.assertEqual(self.run_cli("--help").returncode, 0)

    def test_request_errors_name_the_field(self):
        result = self.expect_failure(1, "--range: must", "histogram", DELAY, "--bins", 3,
                           "--range", "1,0", "--json")
        error = json.loads(result.stdout)["error"]
        self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.assertEqual(error["field"], "bins[0].even.upper_bound")

    def test_no_escape_codes_into_pipes(self):
        for arguments in (("info",), ("reduce", DELAY), ("histogram", DELAY)):
            self.assertNotIn(b"\x1b", self.succeed(*arguments))

    def test_plain_ascii_where_the_locale_is(self):
        output = self.succeed("histogram", DELAY, environment={"LC_ALL": "C"})
        self.assertTrue(output.isascii())
        self.assertIn(b"####", output)

    def test_large_array(self):
        array = np.arange(5_000_000, dtype=np.int64)
        path = self.save("large.npy", array)
        self.assertEqual(self.reduce(path, stat="sum"), {"sum": [int(array.sum())]})
        output = self.folder / "large_out.npy"
        self.succeed("scan", path, "--output", output)
        np.testing.assert_array_equal(np.load(output), array.cumsum())
