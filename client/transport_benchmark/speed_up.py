"""A plot of what rows of the benchmark gain by more devices, as lines of an SVG file."""
import math
import re

WIDTH, HEIGHT, MARGIN, LEGEND = 860, 440, 44, 300
COLOURS = ["#2563ab", "#c2590c", "#2f7d4f", "#9b3f8f", "#8a6d00", "#00798c", "#b03a48", "#6b6b6b"]
RESIDENT = re.compile(", [0-9]+ MiB resident$")  # All of a plot have as many bytes.


def series_of(runs):
    """Of pairs of a number of devices and its rows: points of each row, from one device on."""
    series = {}
    for devices, rows in runs:
        regions = [row["what"] for row in rows if row["what"].startswith("sum of a region")]
        for row in rows:
            if row.get("ratio") and row["what"] not in regions[:-1]:
                series.setdefault(RESIDENT.sub("", row["what"]), [(1, 1.0)]).append((devices, row["ratio"]))
    return series


def lines(series):
    """Both axes are logarithmic, so that what is linear is straight and parallel to the dashes."""
    points = [point for line in series.values() for point in line]
    x_max = max(x for x, _ in points)
    y_min = min(0.5, *(y for _, y in points))
    y_max = max(x_max, *(y for _, y in points))

    def x_at(devices):
        return MARGIN + math.log2(devices) / max(math.log2(x_max), 1) * (WIDTH - MARGIN - LEGEND)

    def y_at(gain):
        share = math.log2(gain / y_min) / math.log2(y_max / y_min)
        return HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN)

    def polyline(line, colour, more=""):
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in line)
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{more}/>'

    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="system-ui, sans-serif" font-size="12">')
    yield '<rect width="100%" height="100%" fill="white"/>'
    for devices in sorted({x for x, _ in points}):
        x = x_at(devices)
        yield f'<line x1="{x:.1f}" y1="{MARGIN}" x2="{x:.1f}" y2="{HEIGHT - MARGIN}" stroke="#ddd"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{devices}</text>'
    for power in range(math.ceil(math.log2(y_min)), math.floor(math.log2(y_max)) + 1):
        y = y_at(2 ** power)
        yield f'<line x1="{MARGIN}" y1="{y:.1f}" x2="{WIDTH - LEGEND}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{2.0 ** power:g}</text>'
    yield f'<text x="{MARGIN}" y="{MARGIN - 16}">times one device, by devices; dashed: linear</text>'
    yield polyline([(1, 1), (x_max, x_max)], "#888", ' stroke-dasharray="4 4"')
    ordered = sorted(series.items(), key=lambda entry: -entry[1][-1][1])
    for place, (what, line) in enumerate(ordered):
        colour = COLOURS[place % len(COLOURS)]
        yield polyline(sorted(line), colour, "" if place < len(COLOURS) else ' stroke-dasharray="2 3"')
        yield (f'<text x="{WIDTH - LEGEND + 14}" y="{MARGIN + 20 * place}" fill="{colour}">'
               f'{max(line)[1]:.2f}: {what}</text>')
    yield "</svg>"
