#!/usr/bin/env python3
"""Makes a table and a plot of time against size of what `kernel_benchmark --sizes --json FILE` wrote.

  kernels/cuda/benchmark/size_report.py sizes.json --plot sizes.svg > sizes.md

Microseconds of one run, CUB's after a stroke where it does the same.
"""

import argparse
import json
import math
import pathlib
import re

WIDTH, HEIGHT, MARGIN, LEGEND = 860, 480, 56, 250
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22",
           "#e377c2"]


def question_of(name):
    """A row's name without the strategy, which depends on the size."""
    return re.sub(r"^\S+( \(\d+\))? ", "", name).removesuffix(" x1")


def size_text(size_bytes):
    return f"{size_bytes >> 20} MiB" if size_bytes >= 1 << 20 else f"{size_bytes >> 10} KiB"


def series_of(rows):
    """For each question its times by size: {question: {bytes: (ours, CUB's or None)}}."""
    series = {}
    for row in rows:
        if row["name"].startswith("ceiling/"):
            continue
        times = series.setdefault(question_of(row["name"]), {})
        times[row["array_bytes"]] = (row["median_microseconds"], row.get("cub_microseconds"))
    return series


def table_lines(series):
    sizes = sorted({size for times in series.values() for size in times})
    yield "| microseconds / CUB's | " + " | ".join(size_text(size) for size in sizes) + " |"
    yield "|---|" + "---:|" * len(sizes)
    for question, times in series.items():
        cells = []
        for size in sizes:
            ours, cub = times.get(size, (None, None))
            cells.append("" if ours is None else f"{ours:.1f}" + ("" if cub is None else f" / {cub:.1f}"))
        yield f"| {question} | " + " | ".join(cells) + " |"


class Plot:
    """Both axes are logarithmic: a line of slope one is a fixed rate."""

    def __init__(self, series):
        self._series = series
        sizes = [size for times in series.values() for size in times]
        values = [time for times in series.values() for pair in times.values() for time in pair if time]
        self._x_range = (math.log2(min(sizes)), math.log2(max(sizes)))
        self._y_range = (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))

    def _x(self, size):
        low, high = self._x_range
        return MARGIN + (math.log2(size) - low) / max(high - low, 1) * (WIDTH - MARGIN - LEGEND)

    def _y(self, time):
        low, high = self._y_range
        return HEIGHT - MARGIN - (math.log10(time) - low) / max(high - low, 1) * (HEIGHT - 2 * MARGIN)

    def _line(self, points, colour, dashes):
        path = " ".join(f"{self._x(size):.1f},{self._y(time):.1f}" for size, time in points)
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'

    def _axes(self):
        for power in range(int(self._x_range[0]), int(self._x_range[1]) + 1, 2):
            x = self._x(2 ** power)
            yield f'<line x1="{x:.1f}" y1="{MARGIN}" x2="{x:.1f}" y2="{HEIGHT - MARGIN}" stroke="#ddd"/>'
            yield f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{size_text(2 ** power)}</text>'
        for power in range(self._y_range[0], self._y_range[1] + 1):
            y = self._y(10 ** power)
            yield f'<line x1="{MARGIN}" y1="{y:.1f}" x2="{WIDTH - LEGEND}" y2="{y:.1f}" stroke="#ddd"/>'
            yield f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{10 ** power:g}</text>'
        yield f'<text x="{MARGIN}" y="{MARGIN - 16}">microseconds; dashed: CUB</text>'

    def lines(self):
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
               'font-family="system-ui, sans-serif" font-size="12">')
        yield '<rect width="100%" height="100%" fill="white"/>'
        yield from self._axes()
        for i, (question, times) in enumerate(self._series.items()):
            colour = COLOURS[i % len(COLOURS)]
            ordered = sorted(times.items())
            yield self._line([(size, pair[0]) for size, pair in ordered], colour, "")
            of_cub = [(size, pair[1]) for size, pair in ordered if pair[1] is not None]
            if of_cub:
                yield self._line(of_cub, colour, ' stroke-dasharray="4 4"')
            y = MARGIN + 20 * i
            yield f'<text x="{WIDTH - LEGEND + 14}" y="{y}" fill="{colour}">{question}</text>'
        yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=pathlib.Path, help="what kernel_benchmark wrote")
    parser.add_argument("--plot", type=pathlib.Path, help="the SVG to write")
    arguments = parser.parse_args()
    series = series_of(json.loads(arguments.json.read_text(encoding="utf-8")))
    print("\n".join(table_lines(series)))
    if arguments.plot:
        arguments.plot.write_text("\n".join(Plot(series).lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
