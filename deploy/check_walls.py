#!/usr/bin/env python3
"""Holds the walls between folders: reads every include line and says which break a rule.

Usage: check_walls.py [ROOT]. Exit status 0 where all walls stand, 1 with one line per breach.
The rules are those of CONTRIBUTING.md, "Walls".
"""
import pathlib
import re
import sys
from typing import Iterator, NamedTuple

SOURCE_SUFFIXES = {'.h', '.cc', '.cu', '.cuh', '.inc'}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

GRPC = r'grpc(pp|\+\+)?/'
PROTOBUF = r'google/protobuf/|gridfold/v1/'
CUDA = r'cuda|cooperative_groups|cub/|thrust/|nccl'
TBB = r'(oneapi/)?tbb/'
PROMETHEUS = r'prometheus/|[Cc]ivet'


class Rule(NamedTuple):
    """Files whose path matches `files` (and not `but`) include nothing that matches `banned`."""
    files: str
    but: str
    banned: str
    reason: str


INCLUDE_RULES = [
    Rule(r'kernels/', r'$^', GRPC + '|' + PROTOBUF + r'|server/|client/|gridfold/',
         'kernels/ knows no gRPC, no protobuf, nothing of server/ or client/'),
    Rule(r'kernels/', r'kernels/cuda/|kernels/numerics/half\.h$', CUDA,
         'CUDA stays in kernels/cuda/, but for the conversion instructions of numerics/half.h'),
    Rule(r'kernels/', r'kernels/cpu/', TBB, 'oneTBB stays in kernels/cpu/'),
    Rule(r'kernels/', r'.*_(test|benchmark)[^/]*$', r'cub/',
         'CUB is a yardstick for benchmarks and tests, not for the product'),
    Rule(r'kernels/numerics/', r'.*_test\.cc$', r'kernels/(cpu|cuda)/',
         'numerics/ is shared by both engines and knows neither'),
    Rule(r'kernels/cpu/', r'$^', r'kernels/cuda/', 'the engines do not know each other'),
    Rule(r'kernels/cuda/', r'$^', r'kernels/cpu/', 'the engines do not know each other'),
    Rule(r'client/', r'$^', r'server/|kernels/|' + CUDA + '|' + TBB,
         'client/ includes nothing of server/ or kernels/, and neither CUDA nor oneTBB'),
    Rule(r'server/', r'$^', r'client/|gridfold/(?!v1/)|kernels/(cpu|cuda)/|' + CUDA + '|' + TBB,
         'server/ knows engines by kernels/engine.h only, and nothing of client/'),
    Rule(r'(server|kernels|client)/', r'server/metrics_[^/]*$', PROMETHEUS,
         'only server/metrics_* knows Prometheus'),
    Rule(r'server/(scheduler|fair_queue|cost_model|job|array_store|region_store|owner_process|shared_mapping|mapping_guard|sweeper|access_tokens|tenant_quota|token_table)[^/]*$', r'$^',
         GRPC + '|' + PROTOBUF + r'|kernels/(cpu|cuda)',
         'the scheduler and the stores of arrays and regions know no gRPC and no CUDA'),
]


class TextRule(NamedTuple):
    """Files whose path matches `files` (and not `but`) do not contain `banned`."""
    files: str
    but: str
    banned: str
    reason: str


TEXT_RULES = [
    TextRule(r'server/', r'server/proto_conversion\.(h|cc)$|.*_test\.cc$|server/testing/',
             r'\b(v1::)?(ELEMENT_TYPE|STATISTIC|SCAN_OPERATION|SCAN_MODE|SCAN_DIRECTION|NAN_POLICY|'
             r'OVERFLOW_POLICY|OUT_OF_RANGE_POLICY|HISTOGRAM_FORMAT)_[A-Z]',
             'only server/proto_conversion knows wire enums'),
    TextRule(r'server/', r'server/rpc_status\.(h|cc)$|.*_test\.cc$|server/testing/',
             r'grpc::StatusCode\b', 'only server/rpc_status knows gRPC status codes'),
]


def source_files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    for folder in ('kernels', 'server', 'client'):
        for path in sorted((root / folder).rglob('*')):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                yield path


def breaches(root: pathlib.Path) -> list[str]:
    found = []
    for path in source_files(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding='utf-8')
        includes = INCLUDE.findall(text)
        for rule in INCLUDE_RULES:
            if re.match(rule.files, name) and not re.match(rule.but, name):
                found += [f'{name}: includes {header}: {rule.reason}'
                          for header in includes if re.match(rule.banned, header)]
        for rule in TEXT_RULES:
            if re.match(rule.files, name) and not re.match(rule.but, name):
                match = re.search(rule.banned, text)
                if match:
                    line = text.count('\n', 0, match.start()) + 1
                    found.append(f'{name}:{line}: {match.group(0)}: {rule.reason}')
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = breaches(root)
    for line in found:
        print(line)
    print(f'{len(found)} breaches in {sum(1 for _ in source_files(root))} files')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
