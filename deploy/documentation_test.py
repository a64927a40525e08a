"""What exists is documented, and what is documented exists: options of the programs, metrics, reasons
of errors, limits, and figures of the kernels.

GRIDFOLD_SERVER_BINARY, GRIDFOLD_CLI_BINARY and GRIDFOLD_LOAD_BINARY name the programs. Each failure
names what is missing and where it belongs.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "server"))
from testing.minimal_grpc import Connection  # noqa: E402

SERVER, CLI, LOAD = (os.environ.get(f"GRIDFOLD_{name}_BINARY") for name in ("SERVER", "CLI", "LOAD"))
DOCUMENTS = sorted(path for path in ROOT.glob("**/*.md")
                   if not {"build", "node_modules", ".git"} & set(path.relative_to(ROOT).parts))
OPERATORS_DOCUMENTS = ["README.md", "ARCHITECTURE.md", "deploy/README.md", "server/METRICS.md",
                       *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md")))]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
# Options of programs of others that the documents show.
FOREIGN_OPTIONS = {
    "--build", "--contract", "--fix", "--fmad", "--gtest_filter", "--install", "--preset", "--prefix",
    "--target", "--workflow", "--gtest-filter", "--user", "--rm", "--gpus", "--help", "--version",
    "--now", "--previous", "--metrics", "--page", "--section",
}
TIMEOUT_SECONDS = 60


def read(path):
    return (ROOT / path).read_text()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                          check=True).stdout


class Help:
    """The options of a program, with their defaults and variables."""

    def __init__(self, text):
        self.options = {}
        # An option's lines are joined: long ones are wrapped.
        for entry in re.split(r"\n(?=  -)", text):
            match = re.match(r"\s*(?:-\w,\s*)?(--[a-z][\w-]*)", entry)
            if match:
                self.options[match[1]] = " ".join(entry.split())

    def default(self, option):
        match = re.match(r"\S+ [^=\s]+=(\S+)", self.options[option])
        return match[1] if match else None


def all_help_texts():
    """Of every program and subcommand that was given."""
    texts = [run(program, "--help") for program in (SERVER, CLI, LOAD) if program]
    if CLI:
        for commands in subcommands(CLI):
            texts.append(run(CLI, *commands, "--help"))
    return texts


def subcommands(program, path=()):
    text = run(program, *path, "--help")
    listed = re.search(r"\nSubcommands:\n((?:  .*\n?)+)", text, re.IGNORECASE)
    for name in re.findall(r"^  ([a-z]+)\b", listed[1] if listed else "", re.MULTILINE):
        yield (*path, name)
        yield from subcommands(program, (*path, name))


def table_rows(text, heading):
    """The rows of the table whose heading line begins so, as lists of cells."""
    lines = text[text.index(heading):].splitlines()[2:]
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def number_of(text):
    """'1,024', '256 MiB', '256MiB' or '2^24' as a number; None where it is something else."""
    match = re.fullmatch(r"([\d,]+)(?:\^(\d+))?\s*(KiB|MiB|GiB)?", text.strip())
    if not match:
        return None
    number = int(match[1].replace(",", ""))
    if match[2]:
        number **= int(match[2])
    return number << {"KiB": 10, "MiB": 20, "GiB": 30}.get(match[3], 0)


class OptionsTest(unittest.TestCase):
    def setUp(self):
        self.help = Help(run(SERVER, "--help"))

    def test_every_option_of_the_server_is_documented(self):
        documented = set().union(*(OPTION.findall(read(path)) for path in OPERATORS_DOCUMENTS))
        for option in self.help.options.keys() - {"--help", "--version"}:
            with self.subTest(option):
                self.assertTrue(option in documented, f"in none of {OPERATORS_DOCUMENTS}")

    def test_every_option_has_its_variable(self):
        for option, text in self.help.options.items():
            if option in ("--help", "--version"):
                continue
            with self.subTest(option):
                variable = "GRIDFOLD_" + option[2:].replace("-", "_").upper()
                self.assertIn(f"(Env:{variable})", text)

    def test_every_option_in_the_documents_exists(self):
        if not (CLI and LOAD):
            self.skipTest("needs all programs")
        exist = set(OPTION.findall("\n".join(all_help_texts()))) | FOREIGN_OPTIONS
        # Of scripts and benchmarks of the tree, which are not asked: their sources tell.
        for pattern in ("deploy/**/*.sh", "**/*.py", "**/*benchmark*/*.cc", "**/*benchmark*.cc"):
            for source in ROOT.glob(pattern):
                if "build" not in source.relative_to(ROOT).parts:
                    exist |= set(OPTION.findall(source.read_text()))
        for document in DOCUMENTS:
            for option in sorted(set(OPTION.findall(document.read_text()))):
                with self.subTest(option, document=str(document.relative_to(ROOT))):
                    self.assertTrue(option in exist, "no program has it")

    def test_commands_with_an_output_type_are_those_of_the_document(self):
        if not CLI:
            self.skipTest("needs gridfold")
        commands = {path[0] for path in subcommands(CLI) if len(path) == 1}
        with_type = {name for name in commands if "--output-type" in run(CLI, name, "--help")}
        paragraph, = (text for text in read("docs/how_to/command_line.md").split("\n\n")
                      if "`--output-type`" in text)
        self.assertEqual(commands & set(re.findall(r"`(\w+)`", paragraph)), with_type)

    def test_configuration_files_have_options_that_exist(self):
        for path in [*ROOT.glob("deploy/**/*.toml")]:
            for name in re.findall(r"^#?\s*([a-z-]+)\s*=", path.read_text(), re.MULTILINE):
                with self.subTest(name, file=str(path.relative_to(ROOT))):
                    self.assertTrue("--" + name in self.help.options, "no such option")


class LinksTest(unittest.TestCase):
    def headings(self, path):
        """The anchors of a document's headings, as the usual renderers make them."""
        lines = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}

    def test_links_within_the_tree_lead_somewhere(self):
        for document in DOCUMENTS:
            text = re.sub(r"```.*?```|`[^`\n]*`", "", document.read_text(), flags=re.DOTALL)
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", link):
                    continue
                with self.subTest(link, document=str(document.relative_to(ROOT))):
                    path, _, anchor = link.partition("#")
                    target = (document.parent / path).resolve() if path else document
                    self.assertTrue(target.exists(), "no such file")
                    if anchor and target.suffix == ".md":
                        self.assertIn(anchor, self.headings(target))

    def test_the_first_page_is_short(self):
        self.assertLess(len(read("README.md").splitlines()), 150)


class BenchmarkPageTest(unittest.TestCase):
    def test_pages_are_made_of_the_figures_in_the_tree(self):
        for script in ("kernels/cuda/benchmark/page.py", "client/transport_benchmark/page.py"):
            with self.subTest(script):
                made = subprocess.run([sys.executable, ROOT / script, "--check"], capture_output=True,
                                      text=True, timeout=TIMEOUT_SECONDS, check=False)
                self.assertEqual(made.returncode, 0, made.stderr)


class LimitsTest(unittest.TestCase):
    def setUp(self):
        self.help = Help(run(SERVER, "--help"))
        self.rows = list(table_rows(read("ARCHITECTURE.md"), "| bound | default | option |"))

    def test_options_of_the_table_exist_and_have_its_defaults(self):
        for bound, default, option in self.rows:
            for name in OPTION.findall(option):
                with self.subTest(bound, option=name):
                    self.assertTrue(name in self.help.options, "no such option")
                    documented, real = number_of(default), number_of(self.help.default(name) or "")
                    if documented is not None and real is not None:
                        self.assertEqual(documented, real)

    def test_every_limit_that_an_operator_may_move_is_in_the_table(self):
        listed = set().union(*(OPTION.findall(row[2]) for row in self.rows))
        source = read("server/base/limits.h")
        limits = source[source.index("struct Limits {"):]
        names = re.findall(r"//\s*(--[a-z-]+)", limits[:limits.index("\n};")])
        self.assertTrue(names)
        for option in names + [name for name in self.help.options if name.startswith("--max-")]:
            with self.subTest(option):
                self.assertTrue(option in listed, "not in the table of limits of ARCHITECTURE.md")


class ErrorReasonsTest(unittest.TestCase):
    def test_reasons_are_those_of_the_table(self):
        exist = set(re.findall(r'kReason\w+\[\]\s*=\s*"(\w+)"', read("server/base/error_reason.h")))
        rows = table_rows(read("ARCHITECTURE.md"), "| cause | code | reason |")
        documented = set().union(*(re.findall(r"`(\w+)`", row[2]) for row in rows))
        self.assertTrue(exist)
        self.assertEqual(exist - documented, set(), "not in the table of ARCHITECTURE.md")
        self.assertEqual(documented - exist, set(), "no error has this reason")
        rows = table_rows(read("docs/how_to/troubleshooting.md"), "| reason | what to do |")
        self.assertEqual({row[0].strip("`") for row in rows}, exist)


def server_with_everything(folder):
    """A server with every option on that brings metrics of its own."""
    certificate, key = folder / "server.crt", folder / "server.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True, timeout=TIMEOUT_SECONDS)
    tokens = folder / "tokens.json"
    tokens.write_text(json.dumps(
        {"tokens": [{"sha256": hashlib.sha256(b"one").hexdigest(), "tenant": "a"}]}))
    return ["--tls-certificate", certificate, "--tls-key", key, "--token-file", tokens,
            "--audit-log", folder / "audit", "--allow-regions"]


class MetricsTest(unittest.TestCase):
    """Families by name: type and labels, as they are exposed and as METRICS.md has them."""

    def scrape(self, *options, call=False):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            command = [SERVER, "--engine=cpu", "--cpu-threads=1", "--listen=127.0.0.1:0",
                       "--metrics-address=127.0.0.1:0", "--log-format=json", "--port-file",
                       folder / "port", *(options or server_with_everything(folder))]
            with open(folder / "log", "w+") as log:
                process = subprocess.Popen(command, stderr=log)
                try:
                    deadline = time.monotonic() + TIMEOUT_SECONDS
                    while not (folder / "port").exists():
                        self.assertIsNone(process.poll(), (folder / "log").read_text())
                        self.assertLess(time.monotonic(), deadline)
                        time.sleep(0.01)
                    if call:
                        connection = Connection(int((folder / "port").read_text()))
                        connection.call("/gridfold.v1.ArrayService/ListArrays", b"")
                        connection.close()
                    port = None
                    while port is None:
                        for line in map(json.loads, (folder / "log").read_text().splitlines()):
                            port = line["port"] if line["event"] == "metrics" else port
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics",
                                                timeout=TIMEOUT_SECONDS) as page:
                        return page.read().decode()
                finally:
                    process.kill()
                    process.wait()

    def exposed(self):
        """With every option on, and after a call, so that no family is empty."""
        text = self.scrape() + self.scrape("--allow-regions", call=True)
        families = {}
        for name, kind in re.findall(r"^# TYPE (\w+) (\w+)", text, re.MULTILINE):
            families[name] = {"type": kind, "labels": set(), "values": set()}
        for name, labels in re.findall(r"^(\w+)\{([^}]*)\}", text, re.MULTILINE):
            family = families[name if name in families
                              else re.sub(r"_(?:bucket|sum|count)$", "", name)]
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
                if label != "le":
                    family["labels"].add(label)
                if label in ("reason", "kind", "what", "log", "stage"):
                    family["values"].add(value)
        return families

    def documented(self):
        rows = {}
        for line in read("server/METRICS.md").splitlines():
            match = re.match(r"\| `((?:gridfold|process)_\w+)` \| (\w+) \|([^|]*)\|(.*)\|$", line)
            if match:
                rows[match[1]] = {"type": match[2], "labels": set(re.findall(r"`(\w+)`", match[3])),
                                  "text": match[4]}
        return rows

    def test_families_are_those_of_the_document(self):
        exposed, documented = self.exposed(), self.documented()
        self.assertEqual(exposed.keys() - documented.keys(), set(), "not in server/METRICS.md")
        self.assertEqual(documented.keys() - exposed.keys(), set(), "no such metric is exposed")
        everything = read("server/METRICS.md")
        for name, family in exposed.items():
            with self.subTest(name):
                self.assertEqual(family["type"], documented[name]["type"])
                self.assertEqual(family["labels"], documented[name]["labels"])
                for value in family["values"]:
                    text = everything if name.startswith("gridfold_request") else (
                        documented[name]["text"])
                    self.assertIn(f"`{value}`", text, "a value of its label is not explained")


if __name__ == "__main__":
    unittest.main()
