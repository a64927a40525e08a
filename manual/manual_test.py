"""Manual pages and completions have every command and option that help has, and tools that read them
understand them: man, mandoc, bash, zsh and fish, of which those that are missing are left out.

GRIDFOLD_SERVER_BINARY, GRIDFOLD_CLI_BINARY and GRIDFOLD_LOAD_BINARY name the programs, whose help is
what the pages in GRIDFOLD_MANUAL are compared with.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

MANUAL = pathlib.Path(os.environ["GRIDFOLD_MANUAL"])
PROGRAMS = {"gridfold": os.environ["GRIDFOLD_CLI_BINARY"],
            "gridfold_load": os.environ["GRIDFOLD_LOAD_BINARY"],
            "gridfold_server": os.environ["GRIDFOLD_SERVER_BINARY"]}
SECTIONS = {"gridfold": 1, "gridfold_load": 1, "gridfold_server": 8}
TIMEOUT_SECONDS = 60
# The shells' own start-up files must not matter.
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                          check=False, **options)


def help_of(program, path):
    return run(PROGRAMS[program], *path, "--help").stdout


def commands_below(program, path=()):
    """The path of the program, (), and those of all commands below it."""
    yield path
    listed = re.search(r"\nSubcommands:\n((?:  .*\n?)+)", help_of(program, path))
    for name in re.findall(r"^  ([a-z]+)\b", listed[1] if listed else "", re.MULTILINE):
        yield from commands_below(program, (*path, name))


def own_options(program, path):
    """The names of the options that belong to a command, not to the program as well."""
    text = help_of(program, path).split("\nServer and output, as of every command")[0]
    lines = re.findall(r"^  (-\S+)", text, re.MULTILINE)
    return {name for line in lines for name in line.split(",")}


def page_of(program, path):
    name = "-".join([program, *path[:1]])
    section = SECTIONS[program]
    return MANUAL / f"man/man{section}/{name}.{section}"


class ContentTest(unittest.TestCase):
    def test_pages_and_completions_have_every_option(self):
        for program in PROGRAMS:
            completions = {
                "bash": (MANUAL / f"bash-completion/completions/{program}").read_text(),
                "zsh": (MANUAL / f"zsh/site-functions/_{program}").read_text(),
                "fish": (MANUAL / f"fish/vendor_completions.d/{program}.fish").read_text()}
            paths = list(commands_below(program))
            for path in paths:
                options = own_options(program, path)
                self.assertIn("--help", options)
                page = page_of(program, path).read_text().replace("\\-", "-")
                for option in options:
                    with self.subTest(option, command=(program, *path)):
                        self.assertIn(f"\\fB{option}\\fR", page)
                        self.assertRegex(completions["bash"], rf"'/?{'/'.join(path)}'\) words='"
                                         rf"[^']*(?<![\w-]){option}(?![\w-])")
                        self.assertIn(f"'*{option}", completions["zsh"])
                        dash = "-l " if option.startswith("--") else "-s "
                        self.assertIn(dash + option.lstrip("-"), completions["fish"])
        self.assertIn(("array", "put"), list(commands_below("gridfold")))

    def test_every_page_belongs_to_a_command(self):
        expected = {page_of(program, path) for program in PROGRAMS
                    for path in commands_below(program) if len(path) < 2}
        self.assertEqual(set(MANUAL.glob("man/*/*")), expected)

    def test_defaults_and_variables_are_told(self):
        page = page_of("gridfold_server", ()).read_text().replace("\\-", "-")
        self.assertRegex(page, r"\\fB--lanes\\fR.*\n.*\nDefault: \d+\.\n"
                               r"Environment variable: \\fBGRIDFOLD_LANES\\fR")

    def test_readers_of_manual_pages_have_no_complaint(self):
        pages = sorted(MANUAL.glob("man/*/*"))
        with self.subTest("mandoc"):
            if not shutil.which("mandoc"):
                self.skipTest("mandoc is not installed")
            checked = run("mandoc", "-T", "lint", "-W", "warning", *pages)
            self.assertEqual((checked.returncode, checked.stdout), (0, ""))
        for page in pages:
            with self.subTest(page.name):
                if not shutil.which("man"):
                    self.skipTest("man is not installed")
                shown = run("man", "--warnings", "--encoding=UTF-8", "--local-file", str(page),
                            env={**ENVIRONMENT, "MANWIDTH": "80"})
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertIn("SYNOPSIS", shown.stdout)


class BashTest(unittest.TestCase):
    def complete(self, *words):
        """What bash offers for the last of the words, as it calls the function that it finds by
        `complete -p`."""
        script = ('source "$1"; shift; function=$(complete -p "$1"); function=${function#*-F }\n'
                  'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))\n'
                  '${function% *} "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"\n'
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        with tempfile.TemporaryDirectory() as folder:
            for name in ("delay.npy", "deep sea.csv", "--odd"):
                pathlib.Path(folder, name).touch()
            done = run("bash", "--norc", "-c", script, "bash",
                       MANUAL / "bash-completion/completions" / words[0], *words,
                       cwd=folder, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [word for word in done.stdout.splitlines() if word]

    def test_commands_and_options(self):
        self.assertEqual(self.complete("gridfold", "re"), ["reduce", "relate", "region"])
        self.assertEqual(self.complete("gridfold", "array", "pu"), ["put"])
        self.assertEqual(self.complete("gridfold", "help", "his"), ["histogram"])
        self.assertEqual(self.complete("gridfold", "reduce", "--sta"), ["--stat"])
        self.assertEqual(self.complete("gridfold", "reduce", "--prio"), ["--priority"])
        self.assertEqual(self.complete("gridfold", "scan", "--sta"), [])
        self.assertEqual(self.complete("gridfold_load", "--find"), ["--find-rate"])
        self.assertEqual(self.complete("gridfold_server", "--lan"), ["--lanes"])

    def test_values(self):
        self.assertEqual(self.complete("gridfold", "--priority", ""), ["low", "normal", "high"])
        self.assertEqual(self.complete("gridfold", "--priority", "="), ["low", "normal", "high"])
        self.assertEqual(self.complete("gridfold", "info", "--priority", "=", "n"), ["normal"])
        self.assertEqual(self.complete("gridfold", "reduce", "x.npy", "--type", "uint1"),
                         ["uint16"])
        self.assertEqual(self.complete("gridfold", "reduce", "--stat", "sum,mea"), ["sum,mean"])
        self.assertEqual(self.complete("gridfold", "reduce", "--tenant", ""), [])
        self.assertEqual(self.complete("gridfold_server", "--engine", "c"), ["cpu", "cuda"])

    def test_the_value_of_an_option_is_no_command(self):
        self.assertEqual(self.complete("gridfold", "--tenant", "array", "sca"), ["scan"])

    def test_files(self):
        self.assertEqual(self.complete("gridfold", "reduce", "de"), ["deep sea.csv", "delay.npy"])
        self.assertEqual(self.complete("gridfold", "--tls-ca", "del"), ["delay.npy"])
        self.assertEqual(self.complete("gridfold", "info", "de"), [])


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class FishTest(unittest.TestCase):
    def complete(self, line):
        with tempfile.TemporaryDirectory() as folder:
            done = run("fish", "--no-config", "-c",
                       'source "$argv[1]"; complete -C "$argv[2]"',
                       str(MANUAL / "fish/vendor_completions.d/gridfold.fish"), line,
                       cwd=folder, env={**ENVIRONMENT, "HOME": folder})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    def test_commands_options_and_values(self):
        self.assertEqual(self.complete("gridfold re"), ["reduce", "region", "relate"])
        self.assertEqual(self.complete("gridfold array pu"), ["put"])
        self.assertEqual(self.complete("gridfold reduce --sta"), ["--stat"])
        self.assertEqual(self.complete("gridfold scan --sta"), [])
        self.assertEqual(self.complete("gridfold reduce --priority h"), ["high"])
        self.assertEqual(self.complete("gridfold reduce --stat sum,mea"), ["sum,mean"])


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class ZshTest(unittest.TestCase):
    def test_zsh_reads_them(self):
        for program in PROGRAMS:
            with self.subTest(program):
                # Descriptions pass through _arguments' own quoting, which zsh -n does not read.
                read = run("zsh", "-f", "-n", str(MANUAL / f"zsh/site-functions/_{program}"))
                self.assertEqual((read.returncode, read.stderr), (0, ""))

    def test_every_description_is_taken(self):
        script = ('autoload -U compinit; compinit -D -u; source "$1" 2>/dev/null\n'
                  'for name in ${(k)functions[(I)_gridfold*]}; do\n'
                  '  _arguments() { shift; comparguments() { : }; '
                  'for spec in "$@"; do case $spec in "&&"|return) ;; *) print -r -- "$spec";; '
                  'esac; done; return 0 }\n'
                  '  $name\ndone')
        done = run("zsh", "-f", "-c", script, "zsh",
                   str(MANUAL / "zsh/site-functions/_gridfold"), env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        specs = done.stdout.splitlines()
        self.assertTrue(any(spec.startswith("*--stat=[") for spec in specs), specs)
        for spec in specs:
            with self.subTest(spec):
                # An option, with a description and, where it takes a value, its name and action.
                self.assertRegex(spec, r"^(\*--?[\w-]+=?\[(\\.|[^\\\]])+\](:(\\.|[^\\:])+:.*)?"
                                       r"|[*1]:.*)$")


if __name__ == "__main__":
    unittest.main()
