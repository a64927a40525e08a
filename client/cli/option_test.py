"""Numbers of options are what was written, or errors: none wraps around, none is left out."""

from cli_case import CommandLineTest, DELAY


class OptionTest(CommandLineTest):
    def test_numbers_do_not_wrap_around(self):
        options = [("reduce", "--rows"), ("reduce", "--first-index"),
                   ("scan", "--rows"), ("histogram", "--rows"),
                   ("histogram", "--bins"), ("histogram", "--channels"), ("merge", "--rows")]
        bad = ["-1", "-18446744073709551613", "18446744073709551616", "+1", " 1", "1 ", "1.0",
               "1e3", "0x10", "true", "two", ""]
        for command, option in options:
            for value in bad:
                with self.subTest((option, value)):
                    self.expect_failure(2, option, command, DELAY, f"{option}", value)
        for value in bad[1:] + ["0,", "0,,1", "0;1"]:
            with self.subTest(("--axis", value)):
                self.expect_failure(2, "--axis", "reduce", DELAY, "--axis", value)
        self.expect_failure(2, "'-18446744073709551613' is not a whole number from 1 to "
                            "18446744073709551615", "histogram", DELAY, "--bins",
                            "-18446744073709551613")
        for option, value in (("--chunk-bytes", "-8"), ("--chunk-bytes", "7"),
                              ("--chunk-bytes", "18446744073709551624")):
            self.expect_failure(2, option, "reduce", DELAY, "--stream", option, value)
        self.expect_failure(2, "--integer", "histogram", DELAY, "--bins", 3, "--integer",
                            "18446744073709551616")
        self.expect_failure(2, "--device", "array", "put", "a", DELAY, "--device", "4294967296")
        self.expect_failure(2, "--first", "array", "write", "a", DELAY, "--first", "-1")
        for value in ("nan", "inf", "0x10", "true", "two", ""):
            self.expect_failure(2, "--ddof", "reduce", DELAY, "--ddof", value)
        for value in ("none", "1 2", ""):
            self.expect_failure(2, "--empty", "reduce", DELAY, "--empty", value)
        for value in ("-1", "nan", "", "3x"):
            self.expect_failure(2, "--timeout", "reduce", DELAY, "--timeout", value)

    def test_empty_values_are_no_values(self):
        for option in ("--segments", "--stat", "--type", "--shape", "--array", "--format",
                       "--delimiter", "--member", "--missing", "--comment", "--server",
                       "--tls-ca", "--token-file", "--accumulator"):
            self.expect_failure(2, option, "reduce", DELAY, option, "")
        for option in ("--range", "--edges", "--layout", "--quantiles", "--y", "--weights",
                       "--y-array", "--weights-type"):
            self.expect_failure(2, option, "histogram", DELAY, option, "")
        for option in ("--output", "--to-array", "--op", "--output-type"):
            self.expect_failure(2, option, "scan", DELAY, option, "")
        self.expect_failure(2, "--expire", "array", "put", "a", DELAY, "--expire", "")
        self.expect_failure(2, "NAME", "array", "show", "")

    def test_help_says_what_there_is(self):
        for command in ("reduce", "scan", "histogram"):
            text = self.succeed(command, "--help").decode()
            for option in ("--header", "--missing", "--comment", "--delimiter", "--member", ".npz",
                           "gzip"):
                self.assertIn(option, text)
        self.assertIn("--ignore-nan", self.succeed("reduce", "--help").decode())

    def test_strategies_are_named_or_refused(self):
        for command, other in (("reduce", ()), ("scan", ()), ("histogram", ("--bins", 10))):
            chosen = self.json(command, DELAY, *other)["execution"]["strategy"]
            named = self.json(command, DELAY, *other, "--strategy", chosen)
            self.assertEqual(named["execution"]["strategy"], chosen)
            refused = self.expect_failure(1, "--strategy", command, DELAY, *other,
                                          "--strategy", "fastest")
            self.assertIn(chosen, refused.stderr.decode())

    def test_bins_for_one_axis(self):
        self.expect_failure(1, "2 entries, where one is needed", "histogram", DELAY, "--layout",
                            "even:3", "--layout", "even:4")
