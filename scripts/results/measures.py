# SPDX-License-Identifier: Apache-2.0
"""The measured value of a row, with its range over the repetitions, and its change since an earlier folder."""
import dataclasses

from names import TIMED, UNITS, amount, giga

WIDE = 0.10  # a wider spread is marked
CHANGED = 0.05  # a larger change is marked
ENOUGH_RUNS = 5
# Counters of rows without a rate, of which less is better -> unit.
LATENCIES = {"median_ns": "ns", "median": "ns or cycles", "median_us": "us", "memory_bytes": "bytes"}


@dataclasses.dataclass(frozen=True)
class Measure:
    value: float  # median of the repetitions
    unit: str
    is_rate: bool  # more is better
    runs: int | None
    least: float | None = None  # None: the file has no range
    most: float | None = None

    def spread(self):
        return None if self.least is None else (self.most - self.least) / self.value

    def is_wide(self):
        return (self.spread() or 0) > WIDE

    def text(self, value):
        return "-" if value is None else giga(1e9 * value) if self.is_rate else amount(value)

    def over(self, other):
        """Factor by which this measure is better than `other`; below 1 if it is worse."""
        return self.value / other.value if self.is_rate else other.value / self.value

    def overlaps(self, other):
        """True if the ranges of both have a value in common; None if one has no range."""
        if self.least is None or other.least is None:
            return None
        return self.least <= other.most and other.least <= self.most


def measure_of(row):
    """None for a row that has only counts."""
    rate, runs = row.get("items_per_second"), row.get("runs")
    runs = runs and int(runs)
    slowest = row.get("slowest_per_second")
    fastest = slowest and row.need("fastest_per_second")
    if row.benchmark in TIMED and row.get("real_time"):
        time = row.get("real_time")
        least = row.get("fastest_ms")
        most = None if least is None else row.need("slowest_ms")
        if least is None and rate and slowest:
            least, most = time * rate / fastest, time * rate / slowest
        return Measure(time, "milliseconds", False, runs, least, most)
    if rate:
        least, most = (slowest / 1e9, fastest / 1e9) if slowest else (None, None)
        return Measure(rate / 1e9, f"G {UNITS.get(row.benchmark, 'section')}s/s", True, runs, least, most)
    return next((Measure(row.get(counter), unit, False, runs) for counter, unit in LATENCIES.items() if row.get(counter)), None)


def is_changed(now, before):
    return abs(now.over(before) - 1) > CHANGED


def changes(rows, before):
    """(row, measure before, measure now) of all rows that both have and that changed, the largest change first."""
    found = []
    for name, row in rows.items():
        one, other = measure_of(row), name in before and measure_of(before[name])
        if one and other and one.unit == other.unit and is_changed(one, other):
            found.append((row, other, one))
    return sorted(found, key=lambda change: max(ratio := change[2].over(change[1]), 1 / ratio), reverse=True)
