#!/usr/bin/env python3
"""Runs every scenario of scenarios/, or those named, against a server of its own, and prints one table.

  client/load/run_scenarios.py --server build/release/server/gridfold_server \\
      --load build/release/client/load/gridfold_load --engine cuda --seconds 8 --output results

Each scenario's report goes to the output folder as NAME.json and NAME.html, and what the programs say to
NAME.txt. Ends with code 1 where a scenario could not be run or an answer was wrong.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import server_process  # noqa: E402

SCENARIOS = pathlib.Path(__file__).parent / "scenarios"
# An open loop in which so many of the calls that were due are answered is limited by their number.
ANSWERED_PART = 0.95
STAGES = {"queue": "waiting for a lane", "stage_in": "staging in", "kernel": "the kernel",
          "stage_out": "staging out"}
HEADING = ["scenario", "calls/s", "GB/s", "p50", "p99", "errors", "wrong / verified", "what limits"]


def largest_part(level):
    """Where most of an answered call's time goes, with its share."""
    means = {name: stage["mean"] for name, stage in level["stages_us"].items()}
    total = level["latency_from_send_us"]["mean"]
    parts = {text: means[name] for name, text in STAGES.items()}
    # Data of a stream that is on its way counts there too.
    parts["the rest of the server"] = means["server_total"] - sum(parts.values())
    parts["transport and client"] = total - means["server_total"]
    name = max(parts, key=parts.get)
    return f"{name}, {100 * parts[name] / total:.0f} % of the time"


def what_limits(report, level):
    endings = ["answered", "failed", "cancelled", "unanswered", "unsent"]
    due = sum(level["calls"][ending] for ending in endings)
    if report["is_open_loop"] and level["rate"] * level["window_s"] >= ANSWERED_PART * due:
        return "the rate asked for"
    if level["calls"]["answered"] == 0:
        return "nothing was answered"
    generator = "; the generator warns" if level["warnings"] else ""
    return largest_part(level) + generator


def time_text(time_us):
    for unit, size_us in [("s", 1e6), ("ms", 1e3)]:
        if time_us >= size_us:
            return f"{time_us / size_us:.3g} {unit}"
    return f"{time_us:.0f} µs"


def row(name, report):
    level = report["levels"][-1]
    calls = level["calls"]
    return [name, f"{level['rate']:,.0f}", f"{level['bytes_per_second'] / 1e9:.3g}",
            time_text(level["latency_us"]["p50"]), time_text(level["latency_us"]["p99"]),
            f"{100 * calls['error_fraction']:.3g} %", f"{calls['wrong']:,} / {calls['verified']:,}",
            what_limits(report, level)]


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def run(path, arguments):
    """The scenario's report; None where it could not be run."""
    output = arguments.output / path.stem
    command = [arguments.load, "--scenario", path, "--verify", "all", "--json",
               f"{output}.json", "--html", f"{output}.html"]
    if arguments.seconds:
        command += ["--duration", f"{arguments.seconds}s"]
    with server_process.ServerProcess("--allow-regions", "--log-level", "warning") as server, \
            open(f"{output}.txt", "w", encoding="utf-8") as text:
        code = subprocess.run([*map(str, command), "--server", server.target, *arguments.load_option],
                              stdout=text, stderr=subprocess.STDOUT).returncode
    report = pathlib.Path(f"{output}.json")
    return (json.loads(report.read_text()) if code in (0, 1) and report.exists() else None), code


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of scenarios, without their ending; default: all")
    parser.add_argument("--server", required=True, help="the gridfold_server to run")
    parser.add_argument("--load", required=True, help="the gridfold_load to run")
    parser.add_argument("--engine", default="cpu", help="the server's (cpu)")
    parser.add_argument("--seconds", type=float, help="of each scenario; default: its own")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the folder for reports")
    parser.add_argument("--load-option", action="append", default=[],
                        help="one more for gridfold_load; may be repeated")
    arguments = parser.parse_args()
    os.environ["GRIDFOLD_SERVER_BINARY"] = arguments.server
    os.environ["GRIDFOLD_TEST_ENGINE"] = arguments.engine
    arguments.output.mkdir(parents=True, exist_ok=True)
    paths = [path for path in sorted(SCENARIOS.iterdir())
             if not arguments.names or path.stem in arguments.names]
    is_good = bool(paths)
    print_row(HEADING)
    print_row(["---"] + ["---:"] * 6 + ["---"])
    for path in paths:
        report, code = run(path, arguments)
        is_good = is_good and code == 0
        print_row(row(path.stem, report) if report else
                  [path.stem, f"code {code}: see {path.stem}.txt", *[""] * 6])
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
