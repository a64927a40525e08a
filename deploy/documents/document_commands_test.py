#!/usr/bin/env python3
"""Runs the commands that the documents show, as they stand there, and compares what they print where
a document shows that.

The commands of a document run one after the other in a folder that looks like a copy of the tree
with a build, in a network of their own (unshare), in which default ports are free and the names of
the examples are this machine. A server runs until the document starts the next one. Runs of
gridfold_load are cut short. Commands that build, change the machine or need hardware are listed
below with the reason why they are not run; any other has to succeed.
"""
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from document_commands import Command, commands_of, commands_of_tree, shows  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
COMMAND_SECONDS = 60
SERVER_SECONDS = 20
INSIDE = 'GRIDFOLD_DOCUMENTS_NETWORK'

NOT_RUN = {
    r'deploy/(quickstart|run_tests|run_gpu_tests|verify_image|install_dependencies|release|packages/(check_in_chroot|time_as_new_user))\.sh':
        'builds or installs for minutes; continuous integration runs them as such',
    r'deploy/mutation/mutation_score\.py': 'builds for minutes; mutation_test.py tries it',
    r'\bcmake\b|\bctest\b|\bcpack\b': 'builds; continuous integration does so',
    r'^(sudo )?(docker|kubectl|systemctl|install|apt)\b|\bsudo\b':
        'changes the machine; the tests of compose, kubernetes and systemd read the same files',
    r'_benchmark\b|stall_picture\.py|run_scenarios\.py|edge_cost\.py|--cpu-threads 1 ': 'measures for minutes',
    r'\bpip (install|wheel)\b': 'installs; wheel_test.py does so, elsewhere',
    r'/opt/gridfold/': 'runs what is installed; check_install.sh does so',
    r'^export GRIDFOLD_SERVER_BINARY|deploy/resilience/': 'is a test of its own',
}
# Commands in other blocks than `console` ones.
ELSEWHERE = {
    'docs/how_to/other_languages.md': 'languages_test.py generates, compiles and runs the same clients',
}
SHELLS = ('sh', 'bash', 'shell', 'zsh')
# What gridfold_load returns, too, where a threshold of --fail-if is not met: a machine may be slow.
LOAD_EXIT_CODES = (0, 1)
EXAMPLE_HOSTS = ('that-machine', 'host-a', 'host-b')


def reason_not_to_run(command: Command) -> str | None:
    return next((reason for pattern, reason in NOT_RUN.items()
                 if re.search(pattern, command.text)), None)


def tracked_documents() -> list[str]:
    listed = subprocess.run(['git', 'ls-files', '*.md'], cwd=ROOT, capture_output=True, text=True,
                            check=False)
    names = listed.stdout.split() if listed.returncode == 0 else [
        str(path.relative_to(ROOT)) for path in ROOT.rglob('*.md') if 'build' not in path.parts]
    return sorted(names)


class Workplace:
    """A folder in which a document's commands find what they name, and the server they started."""

    def __init__(self, folder: pathlib.Path, document: str):
        self.folder = folder
        self.server: subprocess.Popen | None = None
        (folder / 'bin').mkdir()
        for name in ('deploy', 'client', 'proto', 'server', 'kernels'):
            (folder / name).symlink_to(ROOT / name)
        for path in (ROOT / document).parent.iterdir():
            if not (folder / path.name).exists() and path.is_dir() and path.name != 'build':
                (folder / path.name).symlink_to(path)
        for variable, name, place in (('SERVER', 'gridfold_server', 'server'),
                                      ('CLI', 'gridfold', 'client/command_line'),
                                      ('LOAD', 'gridfold_load', 'client/load')):
            binary = os.environ[f'GRIDFOLD_{variable}_BINARY']
            built = folder / 'build' / 'release' / place
            built.mkdir(parents=True, exist_ok=True)
            (built / name).symlink_to(binary)
            (folder / 'bin' / name).symlink_to(binary)
        self._make_arrays()
        self._make_certificates()
        self._start_server('gridfold_server')

    def _make_arrays(self) -> None:
        values = np.random.default_rng(1).random(10_000)
        for name in ('measurements', 'january', 'february', 'huge', 'x'):
            np.save(self.folder / f'{name}.npy', values)
        self._make_hdf5(values)
        values.astype(np.float32).tofile(self.folder / 'values.bin')
        producer = self.folder / 'bin' / 'producer'
        producer.write_text(f'#!/bin/sh\ncat {self.folder}/values.bin\n', encoding='utf-8')
        producer.chmod(0o755)

    def _make_hdf5(self, values: np.ndarray) -> None:
        with h5py.File(self.folder / 'weather.h5', 'w') as file:
            file['surface/temperature'] = values.reshape(100, 100)

    def _make_certificates(self) -> None:
        subject = 'subjectAltName=' + ','.join(f'DNS:{name}' for name in EXAMPLE_HOSTS)
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj',
                        '/CN=that-machine', '-addext', subject, '-keyout',
                        self.folder / 'server.key', '-out', self.folder / 'server.crt'],
                       check=True, capture_output=True)
        (self.folder / 'ca.crt').write_bytes((self.folder / 'server.crt').read_bytes())

    def _write_shown_file(self, command: Command) -> None:
        """A file that a document shows by `cat`: with the hash that the command before printed."""
        token = (self.folder / 'reports.token').read_text(encoding='utf-8').strip()
        digest = subprocess.run(['sha256sum'], input=token.encode(), capture_output=True,
                                check=True).stdout.decode().split()[0]
        text = '\n'.join(command.output).replace('5f0c…', digest)
        text = re.sub(r'[0-9a-f]{4}…', 'ab' * 32, text)
        (self.folder / 'tokens.json').write_text(text, encoding='utf-8')

    def environment(self) -> dict[str, str]:
        return {**os.environ, 'PATH': f'{self.folder}/bin:{os.environ["PATH"]}'}

    def run(self, command: Command) -> tuple[int, str]:
        """The exit code, and what was printed. A server's is 0 once it takes connections."""
        text = command.text
        if re.match(r'(\S*/)?gridfold_server\b(?!.*--help)', text):
            return self._start_server(text)
        if text == 'cat tokens.json':
            self._write_shown_file(command)
            return 0, '\n'.join(command.output)
        if text.startswith('gridfold_load') and ' compare ' not in text:
            text = re.sub(r'--duration \S+', '', text.split('  #')[0])
            text += ' --duration 300ms --warm-up 0s --json load.json'
            for name in ('before', 'after'):
                (self.folder / f'{name}.json').unlink(missing_ok=True)
                (self.folder / f'{name}.json').symlink_to('load.json')
        done = subprocess.run(['bash', '-c', f'set -o pipefail; {text}'], cwd=self.folder,
                              env=self.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=COMMAND_SECONDS, check=False)
        return done.returncode, done.stdout.decode(errors='replace')

    def _start_server(self, text: str) -> tuple[int, str]:
        self.stop_server()
        log = self.folder / 'server.log'
        with log.open('wb') as sink:
            self.server = subprocess.Popen(['bash', '-c', f'exec {text}'], cwd=self.folder,
                                           env=self.environment(), stdin=subprocess.DEVNULL,
                                           stdout=sink, stderr=subprocess.STDOUT)
        arguments = shlex.split(text, comments=True)
        listen = next((after for option, after in zip(arguments, arguments[1:])
                       if option == '--listen'), '127.0.0.1:50051')
        end = time.monotonic() + SERVER_SECONDS
        while time.monotonic() < end and self.server.poll() is None:
            try:
                socket.create_connection(('127.0.0.1', int(listen.rsplit(':', 1)[1])), 1).close()
                return 0, ''
            except OSError:
                time.sleep(0.05)
        return self.server.poll() or 1, log.read_text(encoding='utf-8', errors='replace')

    def stop_server(self) -> None:
        if self.server is not None:
            self.server.terminate()
            try:
                self.server.wait(SERVER_SECONDS)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
        self.server = None


class ReadingTest(unittest.TestCase):
    def test_prompts_continuations_and_outputs(self):
        """Commands are found with their outputs, and nothing outside of console blocks is one."""
        text = '$ no\n```console\n$ a \\\n    b\nshown …  here\n\nother$ c   # why\n```\n```cpp\n$ d\n```\n'
        self.assertEqual(commands_of('x.md', text),
                         [Command('x.md', 3, 'a \\\n    b', ('shown …  here',)),
                          Command('x.md', 7, 'c   # why', ())])
        self.assertTrue(shows(('shown …  here',), 'first\nshown 12 and\n here\n'))
        self.assertFalse(shows(('shown …  here',), 'shown 12 and there\n'))


class CoverageTest(unittest.TestCase):
    def test_commands_stand_in_console_blocks(self):
        """Commands that no test would see are in documents that say which test runs them."""
        found = {name for name in tracked_documents()
                 for line in (ROOT / name).read_text(encoding='utf-8').splitlines()
                 if line.strip().removeprefix('```') in SHELLS and line.strip().startswith('```')}
        self.assertEqual(found, set(ELSEWHERE))

    def test_what_is_not_run_is_shown_somewhere(self):
        """An exemption goes with the commands that it was for."""
        commands = [command.text for command in commands_of_tree(ROOT, tracked_documents())]
        for pattern, reason in NOT_RUN.items():
            for alternative in self.alternatives(pattern):
                with self.subTest(alternative, reason=reason):
                    self.assertTrue(any(re.search(alternative, text) for text in commands))

    @staticmethod
    def alternatives(pattern: str) -> list[str]:
        """The patterns between the bars that are outside of parentheses."""
        parts, depth = [''], 0
        for letter in pattern:
            depth += {'(': 1, ')': -1}.get(letter, 0)
            if letter == '|' and depth == 0:
                parts.append('')
            else:
                parts[-1] += letter
        return parts


class CommandsTest(unittest.TestCase):
    def run_document(self, document: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            workplace = Workplace(pathlib.Path(folder), document)
            try:
                for command in commands_of_tree(ROOT, [document]):
                    if reason_not_to_run(command) is None:
                        with self.subTest(command.text, place=f'{document}:{command.line}'):
                            self.check(workplace, command)
            finally:
                workplace.stop_server()

    def check(self, workplace: Workplace, command: Command) -> None:
        code, output = workplace.run(command)
        allowed = LOAD_EXIT_CODES if command.text.startswith('gridfold_load') else (0,)
        self.assertIn(code, allowed, output)
        if command.output:
            self.assertTrue(shows(command.output, output), output)

    def test_documents(self):
        documents = tracked_documents()
        self.assertIn('README.md', documents)
        for document in documents:
            self.run_document(document)


def enter_network() -> None:
    """Runs this test again in a network and with a file of hosts of its own; skips where the
    machine does not allow that."""
    as_root = [] if os.geteuid() == 0 else ['--user', '--map-root-user']
    command = ['unshare', *as_root, '--net', '--mount']
    if subprocess.run([*command, 'ip', 'link', 'set', 'lo', 'up'], check=False,
                      capture_output=True).returncode != 0:
        print('no network of its own can be made here')
        sys.exit(SKIPPED)
    os.execvpe('unshare', [*command, sys.executable, *sys.argv], {**os.environ, INSIDE: '1'})


def prepare_network(hosts: pathlib.Path) -> None:
    hosts.write_text('127.0.0.1 localhost ' + ' '.join(EXAMPLE_HOSTS) + '\n', encoding='utf-8')
    for command in (['ip', 'link', 'set', 'lo', 'up'], ['mount', '--bind', hosts, '/etc/hosts']):
        subprocess.run(command, check=True)


if __name__ == '__main__':
    if INSIDE not in os.environ:
        enter_network()
    with tempfile.TemporaryDirectory() as hosts_folder:
        prepare_network(pathlib.Path(hosts_folder) / 'hosts')
        unittest.main()
