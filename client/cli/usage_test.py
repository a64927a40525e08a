"""What is said of a command line that makes no sense, and of fields that came from one."""

import json

import numpy as np

from cli_case import DELAY, CommandLineTest


class UsageTest(CommandLineTest):
    def expect(self, message, *arguments):
        result = self.expect_failure(2, message, *arguments)
        self.assertTrue(result.stderr.startswith(b"gridfold: "), result.stderr)
        self.assertEqual(result.stdout, b"")

    def test_commands(self):
        self.expect("no command 'redcue'; did you mean reduce?", "redcue", DELAY)
        self.expect("no command 'hist'; did you mean histogram?", "hist", DELAY)
        self.expect("no command 'lst'; did you mean list?", "array", "lst")
        self.expect("no command 'frobnicate'\n", "frobnicate")

    def test_options(self):
        self.expect("no option --stats; did you mean --stat?", "reduce", DELAY, "--stats", "sum")
        self.expect("no option --sever; did you mean --server?", "info", "--sever=x")
        self.expect("no option --frobnicate\n", "reduce", DELAY, "--frobnicate")
        self.expect("one argument too many", "scan", DELAY, "more")

    def test_names(self):
        self.expect("--stat: 'meen' is none of", "reduce", DELAY, "--stat", "meen")
        self.expect("did you mean mean?", "reduce", DELAY, "--stat", "meen")
        for flag, value, command in (("--op", "avg", "scan"), ("--format", "xls", "scan"),
                                     ("--priority", "urgent", "scan"),
                                     ("--balance", "random", "scan")):
            result = self.run_cli(command, DELAY, flag, value)
            self.assertEqual(result.returncode, 2)
            text = result.stderr.decode()
            self.assertIn(f"{flag}: '{value}' is none of ", text)
            self.assertNotIn("->", text)
            self.assertNotIn("{", text)

    def test_statistics_by_their_other_names(self):
        values = self.save("values.npy", np.array([1.0, 2.0, 4.0]))
        expected = self.reduce(values, stat="standard_deviation,variance,mean,min,max")
        self.assertEqual(self.reduce(values, stat="std,var,avg,minimum,maximum"), expected)
        self.assertEqual(self.reduce(values, stat="prod"), {"product": [8.0]})
        self.assertEqual(self.reduce(values, stat="ptp,rms,sem"),
                         {"range": [3.0], "root_mean_square": [7 ** 0.5],
                          "standard_error": [(14 / 27) ** 0.5]})
        self.assertEqual(self.succeed("scan", values, "--op", "prod", "--output", "-"),
                         self.succeed("scan", values, "--op", "product", "--output", "-"))

    def test_help_of_a_command_has_the_options_of_all(self):
        for command in (("reduce",), ("array", "put")):
            text = self.succeed(*command, "--help").decode()
            for option in ("--server", "--tls-ca", "--token-file", "--json", "--timeout"):
                self.assertIn(option, text)

    def test_errors_of_fields_name_the_option(self):
        matrix = self.save("matrix.npy", np.ones((2, 3)))
        for option, arguments in (
                ("--bins", ("histogram", DELAY, "--bins", 0)),
                ("--range", ("histogram", DELAY, "--range", "1,0")),
                ("--edges", ("histogram", DELAY, "--edges", "2,1")),
                ("--layout even:0:0:1", ("histogram", DELAY, "--layout", "even:2:0:1",
                                         "--layout", "even:0:0:1", "--channels", 2)),
                ("--channels", ("histogram", DELAY, "--channels", 0)),
                ("--quantiles", ("histogram", DELAY, "--quantiles", "2")),
                ("--axis", ("reduce", DELAY, "--axis", 1)),
                ("--axis", ("reduce", matrix, "--axis", 2)),
                ("--segments", ("reduce", DELAY, "--segments", "0,5")),
                ("--output-type", ("scan", DELAY, "--output-type", "int8")),
                ("--array", ("reduce", "--array", "missing/../x y")),
                ("--tenant", ("reduce", DELAY, "--tenant", "a:b")),
                ("--shape", ("array", "create", "x", "--type", "int8", "--shape",
                              "1,1,1,1,1,1,1,1,1")),
                ("x y", ("array", "show", "x y")),
                ("--expire", ("array", "create", "y", "--type", "int8", "--shape", "1",
                              "--expire=-1h"))):
            result = self.run_cli(*arguments)
            text = result.stderr.decode()
            self.assertIn(result.returncode, (1, 2), text)
            self.assertTrue(text.startswith(f"gridfold: {option}"), f"{arguments}: {text}")

    def test_programs_still_get_the_field(self):
        result = self.run_cli("histogram", DELAY, "--range", "1,0", "--json")
        self.assertEqual(result.returncode, 1)
        error = json.loads(result.stdout)["error"]
        self.assertEqual(error["field"], "bins[0].even.upper_bound")
        # And the message that people get.
        self.assertTrue(error["message"].startswith("--range: "), error)
        self.assertEqual(result.stderr.decode(), f"gridfold: {error['message']}\n")

    def test_streams_say_the_same(self):
        result = self.run_cli("histogram", DELAY, "--range", "1,0", "--stream")
        self.assertIn("gridfold: --range: ", result.stderr.decode())
