#!/usr/bin/env python3
"""Tests of the mutation score: what operators make of code, and verdicts on a small project."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutation_score  # noqa: E402
import nearest_tests  # noqa: E402
from mutants import mutants_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def changed_lines(text: str) -> set[tuple[str, str]]:
    """What kind of mutant makes what of the one line of a text."""
    return {(mutant.kind, mutant.apply(text).strip()) for mutant in mutants_of(text)}


class OperatorsTest(unittest.TestCase):
    MADE = {
        '  if (a < b) Go();\n': {('comparison', 'if (a <= b) Go();'),
                                ('branch', 'if (false && (a < b)) Go();')},
        '  if (auto s = Ask("a;b"); s == "x") Go();\n': {
            ('comparison', 'if (auto s = Ask("a;b"); s != "x") Go();'),
            ('branch', 'if (auto s = Ask("a;b"); false && (s == "x")) Go();')},
        '  return count + 1;\n': {('off by one', 'return count;'),
                                  ('arithmetic', 'return count - 1;')},
        '  total = Add(first, second);\n': {('statement', ';'),
                                            ('arguments', 'total = Add(second, first);')},
        '  queue.Close();\n': {('statement', ';')},
        '  return a && b;\n': {('connective', 'return a || b;')},
        '  return std::min(a, b);\n': {('extreme', 'return std::max(a, b);'),
                                       ('arguments', 'return std::min(b, a);')},
        '  return Make(0, true);\n': {('off by one', 'return Make(1, true);'),
                                      ('truth value', 'return Make(0, false);')},
    }
    LEFT_ALONE = (
        '// a < b, and count + 1\n',
        '  text = "a < b"\n',
        '#include <vector>\n',
        'template <class T>\n',
        'constexpr int kCount = 4;\n',
        '  std::vector<int> numbers{};\n',
        '  Thing&& thing{};\n',
        '  names.reserve(count + 1);\n',
        '  if (run == 1) {  // Speed only: a copy whose size the compiler knows.\n',
    )

    def test_speed_needs_a_reason(self):
        """Without one the line takes part like any other."""
        self.assertTrue(changed_lines('  if (run == 1) {  // Speed only\n'))

    def test_each_kind_of_fault_is_made(self):
        for text, expected in self.MADE.items():
            with self.subTest(text):
                self.assertEqual(changed_lines(text), expected)

    def test_what_is_no_code_is_left_alone(self):
        for text in self.LEFT_ALONE:
            with self.subTest(text):
                self.assertEqual(changed_lines(text), set())


class AreasTest(unittest.TestCase):
    def test_every_area_has_sources_and_names_tests_that_exist(self):
        build_files = '\n'.join(path.read_text(encoding='utf-8')
                                for folder in ('kernels', 'server', 'client', 'deploy')
                                for path in (ROOT / folder).rglob('*.txt')) + (
            ROOT / 'client' / 'EndToEndTests.cmake').read_text(encoding='utf-8')
        files = mutation_score.product_files(ROOT)
        for area in nearest_tests.AREAS:
            with self.subTest(area.name):
                self.assertTrue(any(nearest_tests.area_of(path) == area for path in files))
                for test in area.further_tests:
                    # Names of the end-to-end tests are put together.
                    name = test.partition('\\w')[0].removesuffix('_cpu_test').removesuffix('_test')
                    self.assertIn(name, build_files, test)


class NearestTest(unittest.TestCase):
    def test_a_test_named_after_the_file_is_next_to_it(self):
        tests = nearest_tests.RegisteredTests.__new__(nearest_tests.RegisteredTests)
        tests.commands = {name: ['python3'] for name in
                          ('cli_csv_cpu_test', 'cli_group_cpu_test', 'cli_order_cpu_test',
                           'load_cpu_test')}
        tests._sources = {}
        self.assertEqual(tests.nearest('client/command_line/report/group_table.cc'),
                         ['cli_group_cpu_test', 'cli_csv_cpu_test', 'cli_order_cpu_test'])


SMALL_PROJECT = {
    'CMakeLists.txt': '''cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
enable_testing()
add_library(common OBJECT common/common.cc)
target_precompile_headers(common PRIVATE <cstddef>)
add_executable(scheduler_test server/scheduler_test.cc)
target_precompile_headers(scheduler_test REUSE_FROM common)
target_include_directories(scheduler_test PRIVATE ${PROJECT_SOURCE_DIR})
add_test(NAME scheduler_test COMMAND scheduler_test)
''',
    'CMakePresets.json': '''{"version": 6, "configurePresets": [{"name": "mutation",
  "generator": "Ninja", "binaryDir": "${sourceDir}/build/mutation",
  "cacheVariables": {"CMAKE_EXPORT_COMPILE_COMMANDS": "ON"}}]}''',
    'server/scheduler.h': '''inline int Clamp(int value, int limit) {
  if (value > limit) return limit;
  return value;
}
inline int Steps(int count) {
  for (int i = 0; i < 0; ++i) count = count * 7;
  return count;
}
''',
    'common/common.cc': '',
    'server/scheduler_test.cc': '''#include "server/scheduler.h"
int main() { return Clamp(3, 2) == 2 && Clamp(1, 2) == 1 && Steps(5) == 5 ? 0 : 1; }
''',
}


class VerdictTest(unittest.TestCase):
    def test_small_project(self):
        """Its one test notices a branch not taken, and cannot notice a limit that is taken in."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / 'project'
            for name, text in SMALL_PROJECT.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding='utf-8')
            for command in (['init', '-q'], ['add', '.']):
                subprocess.run(['git', *command], cwd=root, check=True,
                               env={**os.environ, 'GIT_CONFIG_GLOBAL': os.devnull})
            files = mutation_score.product_files(root)
            self.assertEqual(files, ['server/scheduler.h'])
            copies = mutation_score.Copies(root, pathlib.Path(folder), 1, seconds_max=60)
            usual = mutation_score.usual_seconds(copies, files)
            self.assertEqual(list(usual), ['scheduler_test'])  # As its own source: it is no further test.
            candidates = {(c.mutant.kind, c.mutant.line(SMALL_PROJECT[c.path])): c
                          for c in mutation_score.draw(root, files, seed=1)['server']}
            self.assertGreater(usual['scheduler_test'].result(), 0)
            noticed, survived = (copies.submit(lambda copy, c=candidates[c]: copy.judge(c, usual)).result()
                                 for c in (('branch', 2), ('comparison', 2)))
            self.assertEqual(noticed.noticed_by, 'scheduler_test')
            self.assertIsNone(survived.noticed_by)
            tree = pathlib.Path(folder) / '0'
            self.assertEqual((tree / 'server/scheduler.h').read_text(encoding='utf-8'),
                             SMALL_PROJECT['server/scheduler.h'])
            text = mutation_score.report([noticed, survived], root)
            self.assertRegex(text, r'server +2 +1 +50%')
            self.assertIn('server/scheduler.h:2 comparison: ">" -> ">="', text)

    def test_mutant_that_does_not_compile_is_replaced(self):
        """Another mutant takes the place of one that does not compile."""
        bad, good = mock.sentinel.bad, mock.sentinel.good
        verdict = mock.Mock(candidate=good)
        copy = mock.Mock()
        copy.judge.side_effect = lambda candidate, usual: verdict if candidate is good else None
        with (mock.patch.object(mutation_score, 'Copy', return_value=copy),
              mock.patch.object(mutation_score, 'describe', return_value='')):
            copies = mutation_score.Copies(pathlib.Path(), pathlib.Path(), 1, 60)
            verdicts = mutation_score.judge_all(copies, {'server': [good, bad]}, {}, 1, float('inf'))
            late = mutation_score.judge_all(copies, {'server': [good]}, {}, 1, time.monotonic())
        self.assertEqual(verdicts, [verdict])
        self.assertEqual(late, [])


if __name__ == '__main__':
    unittest.main()
