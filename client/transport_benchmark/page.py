#!/usr/bin/env python3
"""Makes RESULTS.md and its plots of what `transport_benchmark --json FILE` wrote.

    page.py [--check]

results/runs.json lists the files, with machine, date and command of each. --check writes nothing and
fails where the page is not what would be written. To publish a run: put its file beside runs.json, name
it there in place of the run that it replaces, and run this script. Runs with `devices`, and arrays of as
many `bytes`, are drawn together.
"""
import json
import pathlib
import sys

import speed_up

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER / "RESULTS.md"


def figure(value, unit):
    if value == 0:
        return ""
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def goal(row):
    if row.get("goal_at_least"):
        return f"≥ {row['goal_at_least']:g}"
    if row.get("goal_at_most"):
        return f"≤ {row['goal_at_most']:g}"
    return ""


def line(row):
    has_failed = row.get("note", "").startswith("FAILED")
    met = "" if has_failed else {True: "met", False: "missed"}.get(row.get("met"), "")
    ratio = f"{row['ratio']:.2f}" if row.get("ratio") else ""
    cells = [row["what"], figure(row.get("value", 0), row.get("unit", "")),
             figure(row.get("ceiling", 0), row.get("unit", "")), ratio, goal(row), met,
             row.get("note", "")]
    return "| " + " | ".join(cells) + " |"


def lines(rows):
    return ["| what | figure | ceiling | ratio | goal | | |", "|---|---:|---:|---:|---:|---|---|",
            *map(line, rows)]


def lines_by_way(rows):
    """Rows named "WHAT, WAY" as one line for each WHAT, with a column for each WAY."""
    table = {}
    for row in rows:
        what, way = row["what"].rsplit(", ", 1)
        table.setdefault(what, {})[way] = figure(row["value"], row["unit"])
    ways = list(next(iter(table.values())))
    return ["| what | " + " | ".join(ways) + " |", "|---|" + "---:|" * len(ways),
            *("| " + " | ".join([what, *(cells.get(way, "") for way in ways)]) + " |"
              for what, cells in table.items())]


def rows_of(run):
    return json.loads((FOLDER / "results" / run["file"]).read_text())


def section(run):
    rows = rows_of(run)
    return "\n".join([f"## {run['title']}", "",
                      f"{run['machine']}; {run['date']}; `{run['command']}`: {run['note']}.", "",
                      *(lines_by_way if run.get("by_way") else lines)(rows), ""])


def plots(runs):
    """The file of the plot for each size of arrays, and its text."""
    made = {}
    for size in sorted({run["bytes"] for run in runs if "bytes" in run}):
        drawn = sorted((run["devices"], rows_of(run)) for run in runs if run.get("bytes") == size)
        made[f"results/speed_up_{size >> 30}_gib.svg"] = "\n".join(
            speed_up.lines(speed_up.series_of(drawn))) + "\n"
    return made


def files():
    """What is made: the text of each file."""
    runs = json.loads((FOLDER / "results/runs.json").read_text())
    pictures = plots(runs)
    head = ("# Results of the transport's benchmark\n\nMade by [`page.py`](page.py) of [`results/`](results); "
            "[BENCHMARKS.md](BENCHMARKS.md) says what the figures mean.\n\n")
    gains = "".join(f"\n![Gain by devices]({name})\n" for name in pictures)
    sections = "\n".join(map(section, runs))
    return {PAGE.name: f"{head}{sections}\n## Gains by devices\n{gains}", **pictures}


def main():
    for name, text in files().items():
        path = FOLDER / name
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{name} is not what page.py makes of results/")


if __name__ == "__main__":
    main()
