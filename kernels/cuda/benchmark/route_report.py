#!/usr/bin/env python3
"""Says what each kernel of reductions gains over the next best one that takes the same question.

  kernels/cuda/benchmark/route_report.py build/release/kernels/cuda/kernel_benchmark > routes.md

Each question of `--only` is asked by every strategy that can take it (`kernel_benchmark --strategy all`), first
by the one that is chosen, and the times are compared. A kernel that is the fastest of no question, or by little
where it is, can go: the table's last columns say what would be lost. `--json FILE` keeps the times.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
KERNELS = TREE / "kernels/cuda/reduce/plan/reduction_kernel.h"
FAMILY = {"kLong": "long/", "kGroups": "groups/", "kColumns": "columns/"}


def strategies():
    """The names that reductions have, from where the kernels are listed."""
    rows = re.findall(r'\{ReductionKernel::k\w+, ReductionFamily::(k\w+), "([^"]+)"[,}]', KERNELS.read_text())
    names = [(FAMILY[family], name) for family, name in rows if family in FAMILY]
    in_place = [f"reduce/{family}{name}" for family, name in names]
    return in_place + [f"reduce/transposed/{name}" for family, name in names if family != "columns/"]


def measure(command, sections):
    """{question: {strategy: microseconds}}, and {question: the strategy that is chosen}."""
    routes, chosen = {}, {}
    for section in sections:
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            subprocess.run([*command, "--only", section, "--strategy", "all", "--json", report.name], check=True,
                           stdout=subprocess.DEVNULL)
            rows = json.loads(pathlib.Path(report.name).read_text())
        for row in rows:
            if row["name"].startswith("reduce/"):
                strategy, question = row["name"].split(" ", 1)
                chosen.setdefault(question, strategy)
                routes.setdefault(question, {})[strategy] = row["median_microseconds"]
    return routes, chosen


def gains(routes):
    """For each strategy the questions it is the fastest of: [(times the next one takes, question, the next)]."""
    best_of = {}
    for question, times in routes.items():
        ranked = sorted(times, key=times.get)
        if len(ranked) > 1:
            gain = times[ranked[1]] / times[ranked[0]]
            best_of.setdefault(ranked[0], []).append((gain, question, ranked[1]))
    return {strategy: sorted(rows, reverse=True) for strategy, rows in best_of.items()}


def table_lines(routes, chosen):
    best_of = gains(routes)
    yield "| kernel | questions it takes | chosen | fastest | of these by 5 % and more | most gained | where | next |"
    yield "|---|---:|---:|---:|---:|---:|---|---|"
    for strategy in strategies():
        taken = sum(strategy in times for times in routes.values())
        rows = best_of.get(strategy, [])
        if not taken:
            continue
        most, question, following = rows[0] if rows else (None, "", "")
        yield (f"| {strategy.removeprefix('reduce/')} | {taken} | {sum(c == strategy for c in chosen.values())} "
               f"| {len(rows)} | {sum(gain >= 1.05 for gain, _, _ in rows)} "
               f"| {'' if most is None else f'{most:.2f}'} | {question} | {following.removeprefix('reduce/')} |")


def wrong_choices(routes, chosen):
    """Questions whose choice takes longer than another one by 5 % and more, the worst first."""
    lines = []
    for question, times in routes.items():
        if chosen.get(question) not in times:
            continue
        best = min(times, key=times.get)
        loss = times[chosen[question]] / times[best]
        if loss >= 1.05:
            lines.append((loss, f"| {question} | {chosen[question].removeprefix('reduce/')} "
                                f"| {best.removeprefix('reduce/')} | {loss:.2f} |"))
    return [line for _, line in sorted(lines, reverse=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="the kernel_benchmark to run")
    parser.add_argument("--only", action="append", help="its sections; default: matrices and reductions")
    parser.add_argument("--mib", type=int, default=2048, help="of an array: slow kernels take minutes of large ones")
    parser.add_argument("--json", type=pathlib.Path, help="a file for the times")
    options = parser.parse_args()
    command = [options.program, "--mib", str(options.mib)]
    routes, chosen = measure(command, options.only or ["matrices", "reductions"])
    if options.json:
        options.json.write_text(json.dumps({"routes": routes, "chosen": chosen}, indent=1, sort_keys=True) + "\n")
    print("\n".join(table_lines(routes, chosen)))
    print("\nChoices that take longer than another kernel:\n")
    print("\n".join(["| question | chosen | faster | times |", "|---|---|---|---:|"] + wrong_choices(routes, chosen)))


if __name__ == "__main__":
    main()
