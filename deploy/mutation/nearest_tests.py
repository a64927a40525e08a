"""Which tests are nearest to a source: those named like it, those of its area, then further ones."""
import json
import pathlib
import re
import subprocess
from typing import NamedTuple


class Area(NamedTuple):
    """Sources below `prefix`. Tests whose own sources are there are to notice faults in them, and so
    are further ones, by patterns of CTest's names: scripts, and tests of what uses them."""
    name: str
    prefix: str
    further_tests: tuple[str, ...] = ()


CLI_TESTS = r'cli_\w+_cpu_test'

# The first area whose prefix a source has is its own.
AREAS = (
    Area('numerics', 'kernels/numerics/',
         ('cpu_engine_test', 'accumulator_test', 'engine_conformance_test_cpu')),
    Area('CPU engine', 'kernels/cpu/', ('engine_conformance_test_cpu', 'fault_test')),
    Area('plans and folds', 'kernels/',
         ('service_test', 'stream_test', 'forms_agree_test', 'engine_conformance_test_cpu')),
    Area('server', 'server/',
         ('server_process_test', 'server_signals_test', 'server_log_test',
          'server_connections_test', 'cut_stream_test', CLI_TESTS)),
    Area('client library', 'client/library/', (CLI_TESTS,)),
    Area('command line', 'client/command_line/', (CLI_TESTS,)),
    Area('load generator', 'client/load/', ('load_cpu_test',)),
)

# What is built for a test that is a script.
PROGRAMS = ('gridfold_server', 'gridfold', 'gridfold_load', 'gridfold_python_stubs')
PROGRAMS_WHERE_LIBRARIES_ARE = ('gridfold_hdf5',)


def area_of(path: str) -> Area | None:
    return next((area for area in AREAS if path.startswith(area.prefix)), None)


def is_product(path: str) -> bool:
    """Whether a file is code whose faults tests without a GPU can notice."""
    return (area_of(path) is not None and path.endswith(('.cc', '.h'))
            and not re.search(r'_test|_benchmark|test_util|/testing/|/conformance/|kernels/cuda/'
                              r'|fake_server|stalling_server|test_server|tcp_proxy|external_memory',
                              path))


class RegisteredTests:
    """What CTest knows of a build folder's tests, and what has to be built for them."""

    def __init__(self, build: pathlib.Path):
        listed = subprocess.run(['ctest', '--test-dir', build, '--show-only=json-v1'],
                                capture_output=True, check=True, text=True)
        self.commands = {test['name']: test.get('command', [])
                         for test in json.loads(listed.stdout)['tests']}
        compiled = json.loads((build / 'compile_commands.json').read_text(encoding='utf-8'))
        tree = build.resolve().parent.parent
        self._sources: dict[str, set[pathlib.Path]] = {}
        for entry in compiled:
            # What is written, not what is included: a target may use another's precompiled headers.
            target = re.search(r' -o (?:\S*/)?CMakeFiles/(\w+)\.dir/', entry['command'])
            source = pathlib.Path(entry['directory'], entry['file']).resolve()
            if target and source.is_relative_to(tree):
                self._sources.setdefault(target.group(1), set()).add(source.relative_to(tree))

    def unknown(self) -> set[str]:
        """Further tests of an area that CTest has none of."""
        return {pattern for area in AREAS for pattern in area.further_tests
                if not any(re.fullmatch(pattern, test) for test in self.commands)}

    def targets(self, test: str) -> tuple[str, ...]:
        program = pathlib.Path(self.commands[test][0]).name if self.commands[test] else test
        if not program.startswith('python'):
            return (program,)
        return (*PROGRAMS, *(name for name in PROGRAMS_WHERE_LIBRARIES_ARE if name in self._sources))

    def nearest(self, path: str) -> list[str]:
        """The tests that are to notice faults in a file, nearest first; of those that are as near,
        first the one whose name shares most words with the file's."""
        area = area_of(path)
        assert area is not None, path
        stem = pathlib.Path(path).name.split('.')[0]

        def distance(test: str) -> int | None:
            tests = [source for source in self._sources.get(self.targets(test)[0], ())
                     if source.stem.endswith('_test')]
            own = [source for source in tests if str(source).startswith(area.prefix)]
            if any(source.stem == f'{stem}_test' for source in own):
                return 0
            if own:
                return 1
            return 2 if any(re.fullmatch(p, test) for p in area.further_tests) else None

        distances = {test: distance(test) for test in self.commands}
        words = {word.removesuffix('s') for word in stem.split('_')}

        def other_words(test: str) -> int:
            return -len(words & {word.removesuffix('s') for word in test.split('_')})

        return sorted((test for test, far in distances.items() if far is not None),
                      key=lambda test: (distances[test], other_words(test)))
