"""Which tests are nearest to a source: those of its area, those named like it first."""
import json
import pathlib
import re
import subprocess
from typing import NamedTuple


class Area(NamedTuple):
    """Sources below `prefix`, and CTest's names of the tests that are to notice faults in them."""
    name: str
    prefix: str
    tests: tuple[str, ...]


# The first area whose prefix a source has is its own.
AREAS = (
    Area('numerics', 'kernels/numerics/',
         ('kernels_numerics_test', 'cpu_engine_test', 'accumulator_test', 'engine_conformance_test')),
    Area('CPU engine', 'kernels/cpu/',
         ('cpu_engine_test', 'worker_pool_test', 'engine_conformance_test', 'fault_test')),
    Area('plans and folds', 'kernels/',
         ('kernels_plan_test', 'accumulator_test', 'fold_test', 'reduction_batch_test',
          'resident_memory_test', 'engine_conformance_test', 'service_test')),
    Area('server', 'server/',
         ('server_unit_test', 'scheduler_test', 'array_store_test', 'region_store_test',
          'service_test', 'batch_test', 'stream_test', 'region_service_test', 'security_test',
          'several_engines_test', 'malformed_request_test', 'metrics_test', 'server_process_test',
          'fault_test', 'cli_cpu_test')),
    Area('client library', 'client/library/',
         ('client_names_test', 'client_wire_message_test', 'client_error_details_test',
          'client_balancing_test', 'client_retry_test', 'client_client_test',
          'client_array_client_test', 'client_region_client_test', 'client_security_test',
          'client_stream_client_test', 'client_connection_test', 'cli_cpu_test')),
    Area('command line', 'client/command_line/',
         ('command_line_input_test', 'command_line_output_test', 'command_line_report_test',
          'command_line_program_test', 'cli_cpu_test')),
    Area('load generator', 'client/load/',
         ('load_unit_test', 'load_program_test', 'load_cpu_test')),
)

# What is built for a test that is a script.
PROGRAMS = ('gridfold_server', 'gridfold', 'gridfold_load', 'gridfold_python_stubs')


def area_of(path: str) -> Area | None:
    return next((area for area in AREAS if path.startswith(area.prefix)), None)


def is_product(path: str) -> bool:
    """Whether a file is code whose faults tests without a GPU can notice."""
    return (area_of(path) is not None and path.endswith(('.cc', '.h'))
            and not re.search(r'_test|_benchmark|test_util|/testing/|/conformance/|kernels/cuda/'
                              r'|fake_server|stalling_server|external_memory', path))


class RegisteredTests:
    """What CTest knows of a build folder's tests, and what has to be built for them."""

    def __init__(self, build: pathlib.Path):
        listed = subprocess.run(['ctest', '--test-dir', build, '--show-only=json-v1'],
                                capture_output=True, check=True, text=True)
        self.commands = {test['name']: test.get('command', [])
                         for test in json.loads(listed.stdout)['tests']}
        compiled = json.loads((build / 'compile_commands.json').read_text(encoding='utf-8'))
        self._sources: dict[str, set[str]] = {}
        for entry in compiled:
            target = re.search(r'CMakeFiles/(\w+)\.dir/', entry['command'])
            if target:
                self._sources.setdefault(target.group(1), set()).add(
                    pathlib.Path(entry['file']).stem)

    def targets(self, test: str) -> tuple[str, ...]:
        program = pathlib.Path(self.commands[test][0]).name if self.commands[test] else test
        return PROGRAMS if program.startswith('python') else (program,)

    def nearest(self, path: str) -> list[str]:
        """The tests of the file's area that are registered, nearest first."""
        area = area_of(path)
        assert area is not None, path
        stem = pathlib.Path(path).name.split('.')[0]

        def distance(test: str) -> int:
            sources = self._sources.get(self.targets(test)[0], set())
            return 0 if f'{stem}_test' in sources else 1

        return sorted((test for test in area.tests if test in self.commands), key=distance)
