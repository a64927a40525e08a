"""CSV: headings, columns, missing values, types, and files of any dialect against fractions."""

import csv
import fractions
import io
import math
import random

import numpy as np

from cli_case import CommandLineTest


class CsvTest(CommandLineTest):
    def csv(self, text, *arguments, stat="count,sum", **options):
        """The statistics of a column of the text, which comes through standard input."""
        answer = self.reduce("-", "--format", "csv", *arguments, stat=stat,
                             stdin=text.encode(), **options)
        return {name: values[0] for name, values in answer.items()}

    def expect_csv_error(self, text, message, *arguments):
        self.expect_failure(4, message, "reduce", "-", "--format", "csv", *arguments,
                            stdin=text.encode())

    def test_a_column_given_by_name_means_a_heading(self):
        text = "0.5,0.9\n10,20\n30,40\n"
        self.assertEqual(self.csv(text, "--column", "0.9"), {"count": 2, "sum": 60})
        self.assertEqual(self.csv("v,\n7,0\n8,1\n", "--column", ""), {"count": 2, "sum": 1})

    def test_header_can_be_said(self):
        self.assertEqual(self.csv("10\n20\n", "--header", "yes"), {"count": 1, "sum": 20})
        self.assertEqual(self.csv("10\n20\n", "--header", "no"), {"count": 2, "sum": 30})
        self.assertEqual(self.csv("10\n20\n"), {"count": 2, "sum": 30})
        self.assertEqual(self.csv(",v\n0,7\n1,8\n"), {"count": 2, "sum": 1})
        self.expect_csv_error("id,2019\n7,8\n", "--header", "--column", "2")
        self.expect_csv_error("v\n1\n", "line 1: 'v' is not a number", "--header", "no")

    def test_numbers_out_of_range(self):
        self.assertEqual(self.csv("1e-400\n2.5\n"), {"count": 2, "sum": 2.5})
        self.assertEqual(self.csv("1\n2\n1e400\n", stat="count,max"),
                         {"count": 3, "max": "Infinity"})
        self.assertEqual(self.csv("18446744073709551615\n0\n"),
                         {"count": 2, "sum": 18446744073709551615})
        self.expect_csv_error("18446744073709551616\n", "--type")
        self.expect_csv_error("18446744073709551615\n-1\n", "--type")
        self.assertEqual(self.csv("18446744073709551616\n", "--type", "float64")["sum"], 2.0**64)

    def test_every_row_has_as_many_fields(self):
        self.expect_csv_error("v\n1,234\n", "line 2 has 2 fields, and line 1 1")
        self.expect_csv_error("v,w\n1,2\n\n3\n", "line 4 has 1 field, and line 1 2")

    def test_missing_values_are_told(self):
        text = "v\n" + "1\n" * 1997 + "NA\nnull\n\"\"\n"
        arguments = ["reduce", "-", "--format", "csv", "--missing", "NA,null", "--stat",
                     "count,sum,nan_count"]
        for more, hint in [((), "; --ignore-nan"), (("--ignore-nan",), "taken as NaN\n"),
                           (("--stream", "--type", "float64"), "; --ignore-nan")]:
            result = self.run_cli(*arguments, *more, stdin=text.encode())
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("3 of 2,000 values missing", result.stderr.decode())
            self.assertIn(hint, result.stderr.decode())
        answer = self.json(*arguments, "--ignore-nan", stdin=text.encode())
        self.assertEqual(answer["statistics"],
                         {"count": [1997], "sum": [1997], "nan_count": [3]})
        self.assertEqual(answer["input"]["missing_count"], 3)
        self.expect_csv_error("9007199254740993\n\"\"\n", "--missing")
        self.expect_csv_error("1\n\"\"\n", "a value is missing", "--type", "int32")
        result = self.run_cli("reduce", "-", "--format", "csv", "--stat", "count",
                              stdin=b"only a heading\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("standard input has no elements", result.stderr.decode())

    def test_comments_and_delimiters(self):
        text = "# a \"file\nx;y\n1;2\n#3\n4;5\n"
        for option in ("--delimiter", "--separator"):
            self.assertEqual(self.csv(text, "--comment", "#", option, ";", "--column", "y"),
                             {"count": 2, "sum": 7})
        self.assertEqual(self.csv("1\t2\n", "--delimiter", "\\t", "--column", "2")["sum"], 2)
        self.expect_csv_error("x;y\n1;2\n", "--delimiter")
        self.expect_failure(2, "--comment", "reduce", "-", "--comment", "##", stdin=b"")
        self.expect_failure(2, "--delimiter", "reduce", "-", "--delimiter", "", stdin=b"")

    def test_what_is_no_text(self):
        self.expect_failure(4, "NUL byte", "reduce", "-", "--format", "csv",
                            stdin=b"1\n" * 5000 + b"2\x003\n")
        self.expect_failure(4, "binary", "reduce", "-", "--format", "csv", stdin=b"\x01\x02\x03\x04")
        self.expect_failure(4, "UTF-16", "reduce", "-", "--format", "csv",
                            stdin="1\n2\n".encode("utf-16"))
        self.expect_failure(4, "empty", "reduce", "-", "--format", "csv", stdin=b"")
        path = self.save("few.npy", np.arange(3))
        self.expect_failure(4, "--column", "reduce", path, "--column", "x")

    def test_files_larger_than_any_window(self):
        values = range(400_000)
        text = "n,v\r\n" + "".join(f'"row, ""{value}""\r\n",{value}\r\n' for value in values)
        path = self.folder / "long.csv"
        path.write_text(text, newline="")
        for more in ((), ("--stream",), ("--stream", "--type", "int64", "--chunk-bytes", "99")):
            self.assertEqual(self.reduce(path, "--column", "v", *more, stat="count,sum"),
                             {"count": [len(values)], "sum": [sum(values)]})


class RandomDialectTest(CommandLineTest):
    """Files that Python's csv module writes in random dialects. A sum is exact, rounded once."""

    def random_field(self, rng, kind):
        if kind == "integer":
            return str(rng.randrange(-10**rng.randrange(1, 15), 10**rng.randrange(1, 15)))
        text = rng.choice([f"{rng.uniform(-1e3, 1e3)!r}", f"{rng.gauss(0, 1):.3e}",
                           f"{rng.uniform(-1, 1) * 10.0**rng.randrange(-300, 290)!r}",
                           str(rng.randrange(10**6)), f"+{rng.random()!r}", "1e-400", "-0.0"])
        return rng.choice(["", "", " "]) + text

    def test_sums(self):
        for seed in range(60):
            rng = random.Random(seed)
            kind = rng.choice(["integer", "decimal"])
            delimiter = rng.choice(",;\t|^")
            column_count = rng.randrange(1, 5)
            target = rng.randrange(column_count)
            missing = rng.choice([[], ["NA"], ["n/a", "-"]])
            rows = []
            expected, missing_count = fractions.Fraction(0), 0
            for _ in range(rng.choice([1, 5, 300])):
                row = [rng.choice(["x", "a,b", 'say "hi"', "two\nlines", "\r\n", "é", " ", "5;6"])
                       for _ in range(column_count)]
                row[target] = self.random_field(rng, kind)
                if missing and rng.random() < 0.1:
                    row[target] = rng.choice(missing)
                    missing_count += 1
                else:
                    expected += fractions.Fraction(float(row[target]))
                rows.append(row)
            heading = [f"column {i}" for i in range(column_count)]
            file = io.StringIO(newline="")
            writer = csv.writer(file, delimiter=delimiter,
                                quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
                                lineterminator=rng.choice(["\n", "\r\n"]))
            has_heading = rng.random() < 0.7
            writer.writerows(([heading] if has_heading else []) + rows)
            text = file.getvalue()
            if rng.random() < 0.3:
                text = text.rstrip("\r\n")
            if rng.random() < 0.2:
                text = "\ufeff" + text
            column = heading[target] if has_heading and rng.random() < 0.5 else str(target + 1)
            arguments = ["--delimiter", delimiter, "--column", column,
                         "--header", "yes" if has_heading else "no", "--ignore-nan"]
            if missing:
                arguments += ["--missing", ",".join(missing)]
            if rng.random() < 0.3:
                arguments += ["--stream", "--chunk-bytes", str(rng.choice([8, 100, 100_000]))]
            with self.subTest(seed):
                answer = self.reduce("-", "--format", "csv", *arguments, stdin=text.encode(),
                                     stat="count,sum,nan_count")
                self.assertEqual(answer["nan_count"], [missing_count])
                self.assertEqual(answer["count"], [len(rows) - missing_count])
                if kind == "integer" and missing_count == 0:
                    self.assertEqual(answer["sum"], [int(expected)])
                else:
                    self.assertEqual(answer["sum"], [float(expected)])
                self.assertTrue(math.isfinite(answer["sum"][0]))
