#!/usr/bin/env python3
"""Makes kernels/BENCHMARKS.md from what `kernel_benchmark --json FILE` wrote.

    page.py [--check]

results/runs.json lists the files, with GPU, date and command of each. --check writes nothing and fails
where the page is not what would be written. To publish a run: put its file beside runs.json, name it there
in place of the run that it replaces, and run this script.

A row of the benchmark is `route what type shape`; its route is the strategy that answers name. Tables
are made of the rows whose names match a pattern: one part of the name is the row of the table, another
one its column. Where several rows of the benchmark share a place, the place shows their range.
"""
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "results"
PAGE = FOLDER.parents[2] / "BENCHMARKS.md"
GIB2 = 2 << 30
DATA = ["uniform", "normal", "sorted", "drifting", "spread", "any-bits"]
SAMPLES = ["uniform", "constant", "u^6", "sorted"]
BINS = [2, 16, 256, 1024, 16384, 57344, 65536, 98304, 131072, 262144, 524288, 1048576, 4194304]
SIZES = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2, "float32": 4,
         "float64": 8}  # Of an element, in bytes.
# Shapes whose names, behind the route, do not say what they are: group sizes of reduce.cc, in its
# order. Runs before routes had the names of kernels call them reduce/contiguous, reduce/axis-0,
# reduce/tile, reduce/segments-tile and reduce/segments-queue.
SEGMENTS = {
    "sum float32 x33554432": "segments of 16",
    "sum float32 x2097152": "segments of 256",
    "sum float32 x131072": "segments of 4,096",
    "sum float32 x5369": "segments of 100,000",
    "sum float32 x16775907": "ragged segments, mean of 16; 1 GiB",
    "sum float32 x1048877": "ragged segments, mean of 256; 1 GiB",
    "sum float32 x6920": "ragged segments of 1 to 10^6",
    "sum float32 x1048577": "2^20 segments of 16, and one of all others",
    "sum float32 x4096": "4,096 arrays of 1 to 64 KiB in a batch",
    "sum+min+max+variance float32 x4096": "the batch, sum+min+max+variance",
}


def read_rows(runs):
    rows = []
    for run in runs:
        rows += json.loads((FOLDER / run["file"]).read_text())
    return rows


def number(value):
    power = value.bit_length() - 1
    return f"2^{power}" if value >= 1 << 20 and value == 1 << power else f"{value:,}"


def ratio(row):
    return row["ratio_to_ceiling"]


def cub_ratio(row):
    if "cub_microseconds" not in row:
        return None
    return row["cub_microseconds"] / row["median_microseconds"]


def spread(values, form="{:.3f}"):
    values = sorted({form.format(value) for value in values if value is not None}, key=float)
    return " to ".join(values[:1] + values[1:][-1:])


def table(heading, columns, rows):
    lines = ["| " + " | ".join(heading + columns) + " |",
             "|" + "---|" * len(heading) + "---:|" * len(columns)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def pivot(rows, heading, pattern, row_of, column_of, columns, value=ratio):
    """A table of `value`; row_of and column_of make labels of a match, or None."""
    places = {}
    for row in rows:
        match = re.fullmatch(pattern, row["name"])
        if match and row_of(match) is not None and column_of(match) in columns:
            places.setdefault(row_of(match), {}).setdefault(column_of(match), []).append(value(row))
    return table(heading, columns, [[label] + [spread(cells.get(column, [])) for column in columns]
                                    for label, cells in places.items()])


def ceilings(rows):
    found = [row for row in rows if row["name"].startswith("ceiling/")]
    return table(["ceiling"], [row["name"].removeprefix("ceiling/") for row in found], [
        ["µs"] + [f"{row['median_microseconds']:.1f}" for row in found],
        ["GB/s"] + [f"{row['gigabytes_per_second']:.0f}" for row in found]])


def exact_sums(rows):
    whole = pivot(rows, ["exact sums of 2^28 elements"], r"exact (sum\S*) (\w+) (\S+)",
                  lambda m: f"{m[2]} {m[1]}", lambda m: m[3], DATA)
    shapes = pivot(rows, ["exact sums of groups"],
                   r"exact (sum\S*) (\w+) ((?:rows|axis-0|segments).*) (\S+)",
                   lambda m: f"{m[2]} {m[1]}, {m[3]}", lambda m: m[4],
                   ["normal", "sorted", "spread", "any-bits"])
    small = [row for row in rows if re.fullmatch(r"exact sum float32 2\^\d+", row["name"])]
    times = table(["small exact sums, float32"], [row["name"].split()[-1] for row in small], [
        ["µs"] + [str(row["median_microseconds"]) for row in small],
        ["CUB, µs"] + [str(row["cub_microseconds"]) for row in small]])
    return whole + [""] + shapes + [""] + times


def whole_reductions(rows):
    sets = ["sum", "min+argmax", "sum+min+max+variance"]
    seen, lines = {}, []
    for row in rows:
        match = re.fullmatch(r"reduce/(?:contiguous|long/\S+) (\S+) u?(\w+) x1", row["name"])
        # The batch's counterpart has the name of the whole array, and comes later.
        if match and row["name"] not in {r["name"] for v in seen.values() for r in v}:
            seen.setdefault((match[2], match[1]), []).append(row)
    for kind in SIZES:
        of = [seen.get((kind, name), []) for name in sets]
        lines.append([kind + (", u" + kind if kind.startswith("int") else "")] +
                     [spread(map(ratio, found)) for found in of] +
                     [spread(map(cub_ratio, found), "{:.2f}") for found in of])
    return table(["`reduce/contiguous`"], sets + ["CUB / ours, sum", "min+argmax", "four"], lines)


def matrices(rows, axis):
    counts = [4, 64, 1000, 1 << 20]
    sets = [("sum|mean", "sum, mean"), (r"min\+argmax", "min+argmax"),
            (r"sum\+min\+max\+variance", "four")]
    if axis == "columns":
        count_of = lambda m: int(m[3])
        route = r"(?:axis-0|columns/\S+)"
    else:
        count_of = lambda m: GIB2 // SIZES[m[2]] // int(m[3])
        route = r"(?:tile|contiguous|groups/\S+|long/\S+)"
    labels = [f"{number(count)}: {name}" for _, name in sets for count in counts]
    patterns = "|".join(f"(?:{pattern})" for pattern, _ in sets)
    name_of = lambda m: next(name for pattern, name in sets if re.fullmatch(pattern, m[1]))
    return pivot(rows, [f"{axis} of 2 GiB"], rf"reduce/{route} ({patterns}) (\w+) x(\d+)",
                 lambda m: m[2] if m[3] != "1" else None,
                 lambda m: f"{number(count_of(m))}: {name_of(m)}", labels)


def segments(rows):
    lines = []
    for row in rows:
        route, _, shape = row["name"].partition(" ")
        label = SEGMENTS.get(shape) if route.startswith("reduce/") else None
        if label:
            lines.append([label, f"`{route}`", f"{row['median_microseconds']:.1f}",
                          f"{ratio(row):.3f}", spread([cub_ratio(row)], "{:.2f}")])
    return table(["sums of segments, float32", "route"], ["µs", "ratio", "CUB / ours"], lines)


def scans(rows):
    def column(match):
        same = match[2] == match[3]
        return f"{match[1]}, {'same type' if same else '8 bytes'}"

    columns = ["sum, same type", "max, same type", "sum, 8 bytes", "product, 8 bytes"]
    label = lambda m: m[2].removeprefix("u") + (" and unsigned" if "int" in m[2] else "")
    pattern = r"scan/look-back (\w+) (\w+) to (\w+)"
    whole = pivot(rows, ["`scan/look-back`"], pattern, label, column, columns)
    cub = {}
    for row in rows:
        match = re.fullmatch(pattern, row["name"])
        if match and column(match) == columns[0]:
            cub.setdefault(label(match), []).append(cub_ratio(row))
    whole[0] += " CUB / ours, sum |"
    whole[1] += "---:|"
    whole[2:] = [line + f" {spread(cub[line.split('|')[1].strip()], '{:.2f}')} |" for line in whole[2:]]
    shapes = {"exclusive": "exclusive", "reverse": "reverse", "x134217728": "rows of 4",
              "x8388608": "of 64", "x524288": "of 1,024", "x32768": "of 16,384",
              "segments x33554432": "segments of 16", "segments x131072": "of 4,096"}
    other = pivot(rows, ["`scan/look-back`"], r"scan/look-back (sum float32) to float32 (.+)",
                  lambda m: m[1], lambda m: shapes.get(m[2]), list(shapes.values()))
    exact = pivot(rows, ["2^28 elements"], r"scan/(\S+) sum (\w+) to \w+ of 256Mi( x1024)?",
                  lambda m: m[2],
                  lambda m: ("1,024 columns" if m[3] else "whole") + (", exact" * (m[1] == "exact")),
                  ["whole", "whole, exact", "1,024 columns", "1,024 columns, exact"])
    return whole + [""] + other + [""] + exact


def column_scans(rows):
    counts = [4, 16, 24, 64, 1000, 1024, 16384, 1 << 20, 2684354, 5368709, 1 << 26, 1 << 27]
    return pivot(rows, ["`scan/axis-0`, columns"], r"scan/axis-0 sum (\w+) to (\w+) x(\d+)",
                 lambda m: m[1] if m[1] == m[2] else f"{m[1]} to {m[2]}",
                 lambda m: number(int(m[3])), [number(count) for count in counts])


def even_histograms(rows):
    pattern = r"histogram/(\w+)(?: \((\d+)\))? (\w+) (\d+) even (\S+)"
    columns = [number(count) for count in BINS]
    ours = pivot(rows, ["even bins"], pattern, lambda m: f"{m[3]} {m[5]}",
                 lambda m: number(int(m[4])), columns)
    matches = [(re.fullmatch(pattern, row["name"]), row) for row in rows]
    routes, cub = {}, {}
    for match, row in matches:
        if match and number(int(match[4])) in columns:
            routes[number(int(match[4]))] = match[1] + (f" ({match[2]})" if match[2] else "")
            cub.setdefault(number(int(match[4])), []).append(cub_ratio(row))
    return ours + ["| CUB / ours | " + " | ".join(spread(cub[c], "{:.1f}") for c in columns) + " |",
                   "| route: `histogram/…` | " + " | ".join(routes[c] for c in columns) + " |"]


def other_histograms(rows):
    layouts = pivot(
        rows, ["float32, other bins"],
        r"histogram/(\w+)(?: \(\d+\))? float32 (\d+) ((?!even|weighted).+) (\S+)",
        lambda m: f"{number(int(m[2]))} {m[3]}, {m[1]}", lambda m: m[4], SAMPLES)
    lines = []
    for row in rows:
        match = re.fullmatch(r"(histogram/\S+(?: \(\d+\))?) (.*(?:integer|5%|uint8 100 even).*)",
                             row["name"])
        if match:
            lines.append([match[2], f"`{match[1]}`", f"{row['median_microseconds']:.1f}",
                          f"{ratio(row):.3f}", spread([cub_ratio(row)], "{:.2f}")])
    return layouts + [""] + table(["values that are frequent, and integers", "route"],
                                  ["µs", "ratio", "CUB / ours"], lines)


def weights(rows):
    return pivot(rows, ["weights, samples"],
                 r"histogram/\w+(?: \(\d+\))? float32 (\d+) weighted (\w+) (\S+)",
                 lambda m: f"{m[2]}, {m[3]}", lambda m: number(int(m[1])),
                 [number(count) for count in (16, 1024, 4096, 16384, 57344, 1 << 20)])


HEAD = """# Benchmarks of the CUDA engine

<!-- Made by kernels/cuda/benchmark/page.py; do not edit. -->

Figures are ratios to the GPU's read ceiling, of scans to its copy ceiling, unless a column says otherwise: more is
better, and 1 is all that memory gives. `CUB / ours` is CUB's time over gridfold's: more is better.

- Times are medians of 21 runs, measured on the device. GB/s counts every byte that a pass reads or writes: elements,
  offsets of segments, and results of 8 bytes for each statistic of a group.
- Arrays have 2 GiB and histograms 2^28 samples, unless the row says otherwise. The read ceiling is a grid whose blocks
  have equal shares; what balances multiprocessors better may have more than 1.
- Sums of CUB 3.0.1 are not exact; a minimum with an argmax takes it two calls.
- *spread* data cover 120 binades (float16: 24), *any-bits* are finite numbers of random bits; samples *u^6* are sixth
  powers of uniform ones, most of which fall into the first bins.
- *sum+min+max+variance*, "four", is one pass. A cell with "to" is a range: of two types, or of two statistics.

[docs/](docs) says what bounds each operation, [docs/goals.md](docs/goals.md) which goals are met, and
[docs/notebook/](docs/notebook) what was tried. [cpu/BENCHMARKS.md](cpu/BENCHMARKS.md) is the CPU engine's page."""


def page():
    runs = json.loads((FOLDER / "runs.json").read_text())
    rows = read_rows(runs)
    lines = HEAD.splitlines() + [""]
    lines += table(["run", "date", "GPU", "command", ""], [], [
        [f"[{run['file']}](cuda/benchmark/results/{run['file']})", run["date"], run["gpu"],
         f"`{run['command']}`", run.get("note", "")] for run in runs])
    for title, part in [
            (None, ceilings(rows)), ("Exact sums", exact_sums(rows)),
            ("Reductions", whole_reductions(rows) + [""] + matrices(rows, "columns") + [""] +
             matrices(rows, "rows") + [""] + segments(rows)),
            ("Scans", scans(rows) + [""] + column_scans(rows)),
            ("Histograms", even_histograms(rows) + [""] + other_histograms(rows)),
            ("Weighted histograms", weights(rows))]:
        lines += [""] + ([f"## {title}", ""] if title else []) + part
    return "\n".join(lines) + "\n"


def main():
    text = page()
    if sys.argv[1:] == ["--check"]:
        return 0 if PAGE.read_text() == text else f"{PAGE} is not what {__file__} makes"
    if sys.argv[1:]:
        return __doc__
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
