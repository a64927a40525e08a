#!/usr/bin/env python3
"""Holds the walls between folders: reads every include line and says which break a rule.

Usage: check_walls.py [ROOT]. Exit status 0 where all walls stand, 1 with one line for each breach.

What a folder of kernels/ or server/ may include is written once, in its CMakeLists.txt:

    gridfold_add_folder(SOURCES launch.cc USES kernels/contract kernels/types)

Its files include this folder, the folders that it USES, and none else; it USES none that they do not
include; and no folder uses itself by way of others. What is beside the folders (server/server.cc) is
above them all. Tests, benchmarks and the helpers of tests may look at everything that is theirs to
build. The rules for whole parts of the tree, below, hold for all files.
"""
import pathlib
import re
import sys
from typing import Iterator, NamedTuple

SOURCE_SUFFIXES = {'.h', '.c', '.cc', '.cu', '.cuh', '.inc'}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
FOLDER = re.compile(r'gridfold_add_folder\(([^)]*)\)')
BESIDE_THE_PRODUCT = re.compile(
    r'kernels/conformance/|server/testing/|.*/benchmark/|.*_(test|benchmark|test_util)\.[^/]*$')

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
    Rule(r'kernels/', r'kernels/cuda/|kernels/types/half\.h$', CUDA,
         'CUDA stays in kernels/cuda/, but for the conversion instructions of types/half.h'),
    Rule(r'kernels/', r'kernels/cpu/', TBB, 'oneTBB stays in kernels/cpu/'),
    Rule(r'kernels/', r'kernels/cuda/benchmark/|.*_test\.[^/]*$', r'cub/',
         'CUB is a yardstick for benchmarks and tests, not for the product'),
    Rule(r'kernels/cpu/', r'$^', r'kernels/cuda/', 'the engines do not know each other'),
    Rule(r'kernels/cuda/', r'$^', r'kernels/cpu/', 'the engines do not know each other'),
    Rule(r'client/', r'client/core/', r'server/|kernels/|' + CUDA + '|' + TBB,
         'client/ includes nothing of server/ or kernels/, and neither CUDA nor oneTBB'),
    Rule(r'client/core/', r'$^',
         r'server/|gridfold/|kernels/cuda/|' + GRPC + '|' + PROTOBUF + '|' + CUDA + '|' + TBB,
         'client/core/ knows kernels/ without CUDA, and neither the client library nor gRPC'),
    Rule(r'server/', r'$^', r'client/|gridfold/(?!v1/)|kernels/(cpu|cuda)/|' + CUDA + '|' + TBB,
         'server/ knows engines by kernels/contract/engine.h only, and nothing of client/'),
    Rule(r'(server|kernels|client)/', r'server/metrics/', PROMETHEUS,
         'only server/metrics/ knows Prometheus'),
    Rule(r'server/(base|process|scheduling|arrays|regions|tenants)/', r'.*_test\.cc$',
         GRPC + '|' + PROTOBUF,
         'what is below server/wire/ knows no gRPC: scheduler, stores, tenants'),
]


class TextRule(NamedTuple):
    """Files whose path matches `files` (and not `but`) do not contain `banned`."""
    files: str
    but: str
    banned: str
    reason: str


TEXT_RULES = [
    TextRule(r'server/', r'server/wire/proto_conversion\.(h|cc)$|.*_test\.cc$|server/testing/',
             r'\b(v1::)?(ELEMENT_TYPE|STATISTIC|SCAN_OPERATION|SCAN_MODE|SCAN_DIRECTION|NAN_POLICY|'
             r'OVERFLOW_POLICY|OUT_OF_RANGE_POLICY|HISTOGRAM_FORMAT)_[A-Z]',
             'only server/wire/proto_conversion knows wire enums'),
    TextRule(r'server/', r'server/wire/rpc_status\.(h|cc)$|.*_test\.cc$|server/testing/',
             r'grpc::StatusCode\b', 'only server/wire/rpc_status knows gRPC status codes'),
]


def source_files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    for folder in ('kernels', 'server', 'client'):
        for path in sorted((root / folder).rglob('*')):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                yield path


def folder_of(name: str) -> str:
    return name.rpartition('/')[0]


def declared_folders(root: pathlib.Path) -> dict[str, list[str]]:
    """What each folder that is a library says that it uses."""
    folders = {}
    for part in ('kernels', 'server'):
        for path in sorted((root / part).rglob('CMakeLists.txt')):
            match = FOLDER.search(path.read_text(encoding='utf-8'))
            if match:
                words = re.split(r'\b(SOURCES|USES|LIBRARIES)\b', match.group(1))
                uses = words[words.index('USES') + 1].split() if 'USES' in words else []
                folders[path.parent.relative_to(root).as_posix()] = uses
    return folders


def circles(folders: dict[str, list[str]]) -> list[str]:
    """One line for each folder that uses itself by way of others."""
    found, done = [], set()

    def visit(folder: str, way: list[str]) -> None:
        if folder in way:
            found.append(' -> '.join(way[way.index(folder):] + [folder]) + ': a circle of folders')
        elif folder not in done:
            for used in folders.get(folder, []):
                visit(used, way + [folder])
            done.add(folder)

    for folder in folders:
        visit(folder, [])
    return found


def folder_breaches(folders: dict[str, list[str]], includes: dict[str, list[str]]) -> list[str]:
    """Where the includes of product files differ from what their folders say."""
    found = circles(folders)
    included: dict[str, set[str]] = {folder: set() for folder in folders}
    for name, headers in includes.items():
        folder = folder_of(name)
        if '/' not in folder or BESIDE_THE_PRODUCT.match(name) or name.startswith('client/'):
            continue
        if folder not in folders:
            found.append(f'{name}: {folder}/CMakeLists.txt has no gridfold_add_folder')
            continue
        for header in headers:
            other = folder_of(header)
            if not re.match(r'(kernels|server)/', header) or other == folder:
                continue
            included[folder].add(other)
            if other not in folders[folder]:
                found.append(f'{name}: includes {header}: {folder} does not use {other}')
    for folder, uses in folders.items():
        found += [f'{folder}/CMakeLists.txt: uses {used}, of which no file includes anything'
                  for used in uses if used not in included[folder]]
    return found


def breaches(root: pathlib.Path) -> list[str]:
    found = []
    includes = {}
    for path in source_files(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding='utf-8')
        includes[name] = INCLUDE.findall(text)
        for rule in INCLUDE_RULES:
            if re.match(rule.files, name) and not re.match(rule.but, name):
                found += [f'{name}: includes {header}: {rule.reason}'
                          for header in includes[name] if re.match(rule.banned, header)]
        for rule in TEXT_RULES:
            if re.match(rule.files, name) and not re.match(rule.but, name):
                match = re.search(rule.banned, text)
                if match:
                    line = text.count('\n', 0, match.start()) + 1
                    found.append(f'{name}:{line}: {match.group(0)}: {rule.reason}')
    return found + folder_breaches(declared_folders(root), includes)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = breaches(root)
    for line in found:
        print(line)
    print(f'{len(found)} breaches in {sum(1 for _ in source_files(root))} files of '
          f'{len(declared_folders(root))} folders')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
