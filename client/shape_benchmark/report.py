"""What the measured rows come to: quantiles, and the worst of them."""

import json
import statistics

LAUNCH_SECONDS = 4e-6
MEMORY_BYTES_PER_SECOND = 2.9e12
STRATEGY_MARGIN = 1.15  # What times of one question differ by anyway.
QUANTILES = [0.5, 0.25, 0.1, 0.05, 0.01]


class Row:
    """One question's times; `peer_seconds` is None where the peer has no answer. `others`: by strategy, where
    others were asked for, that of the server's choice among them."""

    def __init__(self, question, seconds, peer_seconds, strategy, others=None):
        self.question = question
        self.seconds = seconds
        self.peer_seconds = peer_seconds
        self.strategy = strategy
        self.others = others or {}
        self.ideal_seconds = LAUNCH_SECONDS + question.moved_bytes / MEMORY_BYTES_PER_SECOND

    @property
    def of_ideal(self):
        return self.ideal_seconds / self.seconds

    @property
    def of_peer(self):
        """How many times the peer's time it took."""
        return None if self.peer_seconds is None else self.seconds / self.peer_seconds

    @property
    def best_strategy(self):
        return min(self.others, key=self.others.get, default=self.strategy)

    @property
    def of_best(self):
        """How many times the time of the fastest strategy the chosen one took, both measured as others were."""
        return self.others[self.strategy] / self.others[self.best_strategy] if self.strategy in self.others else 1

    def as_json(self):
        return {"question": str(self.question), "bytes": self.question.input_bytes, "strategy": self.strategy,
                "kernel_us": self.seconds * 1e6, "ideal_us": self.ideal_seconds * 1e6,
                "peer_us": None if self.peer_seconds is None else self.peer_seconds * 1e6,
                "strategies_us": {strategy: seconds * 1e6 for strategy, seconds in self.others.items()}}


def quantile(values, part):
    """The value that this part of them is not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def share(values, predicate):
    return sum(1 for value in values if predicate(value)) / max(len(values), 1)


class Report:
    def __init__(self, rows, engine, peer_name):
        self._rows = rows
        self._engine = engine
        self._peer_name = peer_name
        self._compared = [row for row in rows if row.peer_seconds is not None]

    def as_json(self):
        return json.dumps({"engine": self._engine, "peer": self._peer_name,
                           "rows": [row.as_json() for row in self._rows]}, indent=1)

    def lines(self, worst):
        if self._engine == "cuda":
            yield from self._against_ideal(worst)
        if self._compared:
            yield from self._against_peer(worst)
        if any(row.others for row in self._rows):
            yield from self._against_strategies(worst)

    def _against_ideal(self, worst):
        yield (f"{len(self._rows)} questions; ideal / kernel_time, where ideal = {LAUNCH_SECONDS * 1e6:.0f} us + bytes / "
               f"{MEMORY_BYTES_PER_SECOND / 1e12} TB/s")
        yield ""
        yield "| " + " | ".join(["questions", *(f"{q:.0%}" for q in QUANTILES), "worst"]) + " |"
        yield "|---|" + "---:|" * (len(QUANTILES) + 1)
        for kind in ("all", "reduction", "scan", "histogram"):
            some = [row.of_ideal for row in self._rows if kind in ("all", row.question.kind)]
            if some:
                values = [quantile(some, q) for q in QUANTILES] + [min(some)]
                yield f"| {kind} | " + " | ".join(f"{value:.2f}" for value in values) + " |"
        yield ""
        yield from self._worst_rows(sorted(self._rows, key=lambda row: row.of_ideal)[:worst])

    def _against_peer(self, worst):
        yield f"{len(self._compared)} questions that {self._peer_name} answers too; kernel_time / its time"
        yield ""
        yield "| questions | number | median | 90% | 99% | worst | slower | by 1.5 | by 2 |"
        yield "|---|" + "---:|" * 8
        for kind in ("all", "reduction", "scan", "histogram"):
            ratios = [row.of_peer for row in self._compared if kind in ("all", row.question.kind)]
            if not ratios:
                continue
            yield (f"| {kind} | {len(ratios)} | {statistics.median(ratios):.2f} | {quantile(ratios, 0.9):.2f} "
                   f"| {quantile(ratios, 0.99):.2f} | {max(ratios):.2f} | {share(ratios, lambda r: r > 1):.1%} "
                   f"| {share(ratios, lambda r: r > 1.5):.1%} | {share(ratios, lambda r: r > 2):.1%} |")
        yield ""
        yield from self._worst_rows(sorted(self._compared, key=lambda row: -row.of_peer)[:worst])

    def _against_strategies(self, worst):
        slower = [row for row in self._rows if row.of_best > STRATEGY_MARGIN]
        yield (f"{len(slower)} of {len(self._rows)} questions that another strategy answers in less than "
               f"{1 / STRATEGY_MARGIN:.2f} of the time")
        yield ""
        yield "| the worst | chosen | us | faster | us |"
        yield "|---|---|---:|---|---:|"
        for row in sorted(slower, key=lambda row: -row.of_best)[:worst]:
            yield (f"| {row.question} | {row.strategy} | {row.others[row.strategy] * 1e6:.1f} "
                   f"| {row.best_strategy} | {row.others[row.best_strategy] * 1e6:.1f} |")
        yield ""

    def _worst_rows(self, rows):
        yield f"| the worst | strategy | kernel, us | ideal, us | {self._peer_name or 'peer'}, us |"
        yield "|---|---|---:|---:|---:|"
        for row in rows:
            peer = "–" if row.peer_seconds is None else f"{row.peer_seconds * 1e6:.1f}"
            yield (f"| {row.question} | {row.strategy} | {row.seconds * 1e6:.1f} "
                   f"| {row.ideal_seconds * 1e6:.1f} | {peer} |")
        yield ""
