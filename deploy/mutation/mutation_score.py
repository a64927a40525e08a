#!/usr/bin/env python3
"""Says how many small faults the tests notice: puts mutants into product code one at a time, builds
and runs the nearest tests, and prints the score of each area and every mutant that survived.

    deploy/mutation/mutation_score.py                       the fixed sample, all areas
    deploy/mutation/mutation_score.py --count 20 --seed 7   another sample
    deploy/mutation/mutation_score.py --changed main        in files that differ from a commit
    deploy/mutation/mutation_score.py server/scheduling/scheduler.cc   in these files

Works on copies of the tracked files in build/mutation, one for each of --jobs, which stay and make
the next run start sooner. A mutant is noticed when a test fails or takes three times as long as
usual; one that does not compile is replaced by another. Needs what deploy/run_tests.sh needs.
Every test takes its usual time first, with no mutant in the tree; one that fails then notices
nothing, and is named.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import time
from typing import Callable, NamedTuple, TypeVar

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mutants import Mutant, mutants_of  # noqa: E402
from nearest_tests import AREAS, RegisteredTests, area_of, is_product  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIXED_SAMPLE_COUNT = 42
FIXED_SAMPLE_SEED = 1

Result = TypeVar('Result')
# Of tests without a mutant; of one that fails, None.
UsualSeconds = dict[str, 'concurrent.futures.Future[float | None]']


class Candidate(NamedTuple):
    path: str
    mutant: Mutant


class Verdict(NamedTuple):
    candidate: Candidate
    noticed_by: str | None  # None: it survived.
    seconds: float


class Copy:
    """A copy of the tree with a build folder of its own, in which one mutant lives at a time."""

    def __init__(self, root: pathlib.Path, folder: pathlib.Path, seconds_max: float):
        self.tree = folder
        self.build = folder / 'build' / 'mutation'
        self._seconds_max = seconds_max
        self._printed = ''
        self._synchronise(root)
        self._run(['cmake', '--preset', 'mutation', '-DGRIDFOLD_BUILD_TESTS=ON'])
        self.tests = RegisteredTests(self.build)

    def _synchronise(self, root: pathlib.Path) -> None:
        names = subprocess.run(['git', 'ls-files', '-z'], cwd=root, check=True,
                               capture_output=True).stdout.decode().split('\0')
        for name in filter(None, names):
            source, target = root / name, self.tree / name
            if not source.is_file():
                continue
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
                os.utime(target)

    def _run(self, command: list[str], seconds: float | None = None) -> bool:
        """Whether a command succeeds; what it printed is `self._printed`."""
        environment = {**os.environ, 'GTEST_FAIL_FAST': '1', 'GTEST_BRIEF': '1'}
        try:
            done = subprocess.run(command, cwd=self.tree, env=environment, timeout=seconds,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
        except subprocess.TimeoutExpired:
            self._printed = f'still running after {seconds:.0f} s'
            return False
        self._printed = done.stdout.decode(errors='replace')
        return done.returncode == 0

    def _builds(self, targets: tuple[str, ...]) -> bool:
        return self._run(['ninja', '-C', str(self.build), '-j1', *targets])

    def _passes(self, test: str, seconds: float) -> bool:
        return self._run(['ctest', '--test-dir', str(self.build), '-R', f'^{test}$',
                          '--output-on-failure', '--timeout', str(int(seconds) + 1)], seconds + 30)

    def usual_seconds(self, test: str) -> float | None:
        """How long a test takes on the code as it is; None, and its last lines, where it fails."""
        if not self._builds(self.tests.targets(test)):
            raise RuntimeError(f'{test} does not build without any mutant:\n{self._last_lines()}')
        begin = time.monotonic()
        if self._passes(test, self._seconds_max):
            return time.monotonic() - begin
        print(f'{test} fails without any mutant, and is left out:\n{self._last_lines()}',
              file=sys.stderr)
        return None

    def _last_lines(self) -> str:
        return '\n'.join(f'    {line}' for line in self._printed.splitlines()[-30:])

    def judge(self, candidate: Candidate, usual: UsualSeconds) -> Verdict | None:
        """Puts the mutant in and out again. None where it does not compile."""
        begin = time.monotonic()
        path = self.tree / candidate.path
        text = path.read_text(encoding='utf-8')
        noticed_by = None
        try:
            path.write_text(candidate.mutant.apply(text), encoding='utf-8')
            for test in self.tests.nearest(candidate.path):
                seconds = usual[test].result()
                if seconds is None:
                    continue
                if not self._builds(self.tests.targets(test)):
                    return None
                if not self._passes(test, 3 * seconds + 10):
                    noticed_by = test
                    break
        finally:
            path.write_text(text, encoding='utf-8')
        return Verdict(candidate, noticed_by, time.monotonic() - begin)


class Copies:
    """Copies that work at once, each on one thing at a time."""

    def __init__(self, root: pathlib.Path, folder: pathlib.Path, count: int, seconds_max: float):
        self._pool = concurrent.futures.ThreadPoolExecutor(count)
        self._free: queue.Queue[Copy] = queue.Queue()
        for copy in self._pool.map(lambda n: Copy(root, folder / str(n), seconds_max),
                                   range(count)):
            self._free.put(copy)
            self.tests = copy.tests

    def submit(self, work: Callable[[Copy], Result]) -> 'concurrent.futures.Future[Result]':
        """Has work done by the next copy that is free. Work may wait for what was submitted before."""
        def run() -> Result:
            copy = self._free.get()
            try:
                return work(copy)
            finally:
                self._free.put(copy)

        return self._pool.submit(run)

    def give_up(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def product_files(root: pathlib.Path) -> list[str]:
    names = subprocess.run(['git', 'ls-files'], cwd=root, check=True, capture_output=True,
                           text=True).stdout.split()
    return [name for name in names if is_product(name)]


def changed_files(root: pathlib.Path, base: str) -> list[str]:
    names = subprocess.run(['git', 'diff', '--name-only', '--diff-filter=d', base], cwd=root,
                           check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if is_product(name)]


def draw(root: pathlib.Path, paths: list[str], seed: int) -> dict[str, list[Candidate]]:
    """Every mutant of these files in a random order, by area; the same for a seed and a tree."""
    drawn: dict[str, list[Candidate]] = {}
    for path in sorted(paths):
        area = area_of(path)
        assert area is not None
        text = (root / path).read_text(encoding='utf-8')
        drawn.setdefault(area.name, []).extend(Candidate(path, m) for m in mutants_of(text))
    for name, candidates in drawn.items():
        random.Random(f'{seed} {name}').shuffle(candidates)
    return drawn


def usual_seconds(copies: Copies, paths: list[str]) -> UsualSeconds:
    """Begins to time each test that is near to any of these files."""
    tests = sorted({test for path in paths for test in copies.tests.nearest(path)})
    return {test: copies.submit(lambda copy, test=test: copy.usual_seconds(test))
            for test in tests}


def judge_all(copies: Copies, drawn: dict[str, list[Candidate]], usual: UsualSeconds, count: int,
              end: float) -> list[Verdict]:
    """Verdicts on `count` mutants that compile, as many of each area as its share is. None is begun
    after `end`."""
    def next_verdict(copy: Copy, candidates: list[Candidate]) -> Verdict | None:
        while candidates and time.monotonic() < end:
            verdict = copy.judge(candidates.pop(), usual)
            if verdict is not None:
                return verdict
        return None

    areas = [area for area in AREAS if drawn.get(area.name)]
    turns = [areas[i % len(areas)].name for i in range(count)] if areas else []
    verdicts = []
    futures = [copies.submit(lambda copy, name=name: next_verdict(copy, drawn[name]))
               for name in turns]
    for future in concurrent.futures.as_completed(futures):
        if future.exception():
            copies.give_up()
        verdict = future.result()
        if verdict is None:
            continue
        verdicts.append(verdict)
        print(f'{len(verdicts):4d} of {count}: {describe(verdict, ROOT)}', file=sys.stderr)
    return verdicts


def describe(verdict: Verdict, root: pathlib.Path) -> str:
    path, mutant = verdict.candidate
    text = (root / path).read_text(encoding='utf-8')
    line = text.splitlines()[mutant.line(text) - 1].strip()
    fate = f'noticed by {verdict.noticed_by}' if verdict.noticed_by else 'SURVIVED'
    return (f'{path}:{mutant.line(text)} {mutant.kind}: "{text[mutant.begin:mutant.end]}" -> '
            f'"{mutant.replacement}" in "{line}": {fate} ({verdict.seconds:.0f} s)')


def report(verdicts: list[Verdict], root: pathlib.Path) -> str:
    lines = [f'{"area":18} {"mutants":>8} {"noticed":>8} {"score":>7}']
    for name in [area.name for area in AREAS] + ['all']:
        judged = [v for v in verdicts if name in ('all', area_of(v.candidate.path).name)]
        if judged:
            noticed = sum(v.noticed_by is not None for v in judged)
            lines.append(f'{name:18} {len(judged):8d} {noticed:8d} {noticed / len(judged):7.0%}')
    survivors = [v for v in verdicts if v.noticed_by is None]
    lines += [''] + [describe(v, root) for v in survivors] if survivors else []
    return '\n'.join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='*', help='product files; all of them if none is given')
    parser.add_argument('--changed', metavar='COMMIT', help='only files that differ from a commit')
    parser.add_argument('--area', action='append', choices=[area.name for area in AREAS])
    parser.add_argument('--count', type=int, default=FIXED_SAMPLE_COUNT, help='mutants to try')
    parser.add_argument('--seed', type=int, default=FIXED_SAMPLE_SEED)
    parser.add_argument('--jobs', type=int, default=2, help='copies of the tree that work at once')
    parser.add_argument('--minutes', type=float, default=24 * 60,
                        help='no mutant is begun after so long')
    parser.add_argument('--test-seconds', type=float, default=300, help='longest run of a test without a mutant')
    parser.add_argument('--json', type=pathlib.Path, help='write the verdicts to this file too')
    parser.add_argument('--list', action='store_true', help='only print the mutants there are')
    options = parser.parse_args()

    paths = changed_files(ROOT, options.changed) if options.changed else product_files(ROOT)
    if options.files:
        unknown = set(options.files) - set(paths)
        if unknown:
            parser.error(f'no product files, or not in any area: {" ".join(sorted(unknown))}')
        paths = options.files
    if options.area:
        paths = [path for path in paths if area_of(path).name in options.area]
    drawn = draw(ROOT, paths, options.seed)
    if options.list:
        for name, candidates in drawn.items():
            print(f'{name}: {len(candidates)} mutants')
        return 0
    end = time.monotonic() + 60 * options.minutes
    copies = Copies(ROOT, ROOT / 'build' / 'mutation', options.jobs, options.test_seconds)
    if copies.tests.unknown():
        parser.error(f'CTest has no {" ".join(sorted(copies.tests.unknown()))}')
    usual = usual_seconds(copies, paths)
    verdicts = judge_all(copies, drawn, usual, options.count, end)
    print(report(verdicts, ROOT))
    if options.json:
        options.json.write_text(json.dumps([{
            'file': v.candidate.path, **v.candidate.mutant._asdict(), 'noticed_by': v.noticed_by,
            'seconds': v.seconds} for v in verdicts], indent=1), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
