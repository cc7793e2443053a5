# SPDX-License-Identifier: Apache-2.0
"""Plots of lines: where in one a rate at a number of keys stands. Lengths are points."""
import dataclasses
import math

from result_file import rows_of
from result_names import ARMS, unit_of


@dataclasses.dataclass(frozen=True)
class Panel:
    """One pair of axes: the arms of an operation on a workload."""
    operation: str
    workload: str
    title: str = ""


@dataclasses.dataclass(frozen=True)
class Plot:
    """One picture: panels side by side, with one scale for rates, and the arms' names beside the last."""
    name: str
    benchmark: str
    title: str
    across: str  # what is counted from left to right
    panels: tuple[Panel, ...]

    def layout(self, data):
        return Layout(self, rows_of(data))

    def unit(self, data):
        return f"G {unit_of(data)}s/s"


# For light and for dark pages.
THEMES = ("light", "dark")

# The picture is as wide as a page shows it.
WIDTH, PANEL_HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 150, 46, 38
BETWEEN, PANEL_TITLE = 14, 16
# At least so much lies between two names of arms, and between two numbers of keys.
LINE, COLUMN = 12.5, 19
# Markers do not stand on the frame: in points, and in decades.
MARGIN, DECADES = 8, 0.15


class Layout:
    """Where things stand, from the picture's upper left corner, right and down."""

    def __init__(self, plot, table):
        self.plot = plot
        # panel -> arm -> [(keys, rate)], in G/s; arms in the order of all tables
        self.series = {panel: series_of(table[panel.operation, panel.workload]) for panel in plot.panels}
        points = [point for arms in self.series.values() for line in arms.values() for point in line]
        self.keys = sorted({keys for keys, _ in points})
        self.rates = min(rate for _, rate in points), max(rate for _, rate in points)
        self.top = TOP + (PANEL_TITLE if len(plot.panels) > 1 else 0)
        self.height = self.top + PANEL_HEIGHT + BOTTOM
        self.panel_width = (WIDTH - LEFT - RIGHT - BETWEEN * (len(plot.panels) - 1)) / len(plot.panels)

    def left(self, panel):
        return LEFT + self.plot.panels.index(panel) * (self.panel_width + BETWEEN)

    def place(self, panel, keys, rate):
        """(x, y) of a point of a line; both scales are logarithmic."""
        least, most = math.log2(self.keys[0]), math.log2(self.keys[-1])
        low, high = math.log10(self.rates[0]) - DECADES, math.log10(self.rates[1]) + DECADES
        x = self.left(panel) + MARGIN + (self.panel_width - 2 * MARGIN) * (math.log2(keys) - least) / (most - least)
        y = self.top + PANEL_HEIGHT * (high - math.log10(rate)) / (high - low)
        return x, y

    def rate_ticks(self):
        """The powers of ten among the rates."""
        return [10.0 ** e for e in range(math.ceil(math.log10(self.rates[0]) - DECADES), math.floor(math.log10(self.rates[1]) + DECADES) + 1)]

    def key_ticks(self):
        """The numbers of keys that were measured, as far as there is room for them."""
        panel, shown = self.plot.panels[0], []
        for keys in self.keys:
            if not shown or self.place(panel, keys, 1)[0] - self.place(panel, shown[-1], 1)[0] >= COLUMN:
                shown.append(keys)
        # The greatest one is said, whatever is beside it.
        return [*shown[:-1], self.keys[-1]]

    def lines(self):
        """(name, [(x, y)]) of each line."""
        for panel, arms in self.series.items():
            for arm, line in arms.items():
                yield f"{panel.operation}/{panel.workload}/{arm}", [self.place(panel, *point) for point in line]

    def names(self):
        """arm -> y of its name beside the last panel: as near to the end of its line as the other names let it stand."""
        panel = self.plot.panels[-1]
        ends = {arm: self.place(panel, *line[-1])[1] for arm, line in self.series[panel].items()}
        arms = sorted(ends, key=ends.get)
        return dict(zip(arms, spread([ends[arm] for arm in arms], LINE, self.top - LINE, self.top + PANEL_HEIGHT)))


def series_of(by_keys):
    """arm -> [(keys, rate in G/s)]"""
    present = [arm for arm in ARMS if any(arm in by_arm for by_arm in by_keys.values())]
    return {arm: [(keys, by_arm[arm]["items_per_second"] / 1e9) for keys, by_arm in sorted(by_keys.items()) if arm in by_arm]
            for arm in present}


def spread(wanted, least, low, high):
    """The ascending places nearest to those wanted, `least` apart and within [low, high]."""
    groups = []  # [sum of where its first would like to stand, size]
    for i, place in enumerate(wanted):
        groups.append([place, 1])
        # A group that runs into the next one becomes one with it, around the mean of what its members want.
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] + least * groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, size = groups.pop()
            groups[-1][0] += total - size * groups[-1][1] * least
            groups[-1][1] += size
    places = []
    for total, size in groups:
        places += [total / size + least * i for i in range(size)]
    # Pushed back into the frame from below, then from above.
    for i in reversed(range(len(places))):
        places[i] = min(places[i], high - least * (len(places) - 1 - i))
    for i in range(len(places)):
        places[i] = max(places[i], low + least * i)
    return places


def self_test():
    assert spread([10, 50], 5, 0, 100) == [10, 50], "names that have room stand at their lines"
    assert spread([10, 10, 13], 5, 0, 100) == [6, 11, 16], "others make room for one another, to both sides"
    assert spread([1, 2], 5, 0, 100) == [0, 5] and spread([98, 99], 5, 0, 100) == [95, 100], "within the frame"
    assert spread([10, 20, 21, 22], 5, 0, 100) == [10, 16, 21, 26]

    def row(arm, keys, rate, operation="push"):
        return {"name": f"contention/{operation}/uniform/{arm}/keys:{keys}", "items_per_second": rate * 1e9}

    panel = Panel("push", "uniform")
    layout = Plot("p", "contention", "t", "keys", (panel,)).layout({"benchmarks": [
        row("warden_runs", 1024, 100), row("warden_runs", 1, 0.01), row("atomics", 1, 1), row("atomics", 2, 1), row("sort", 1, 1, "add")]})
    lines = dict(layout.lines())
    assert list(lines) == ["push/uniform/atomics", "push/uniform/warden_runs"], "baselines first, and nothing of another operation"
    (x, y), (right, top) = lines["push/uniform/warden_runs"]
    assert (x, right) == (LEFT + MARGIN, WIDTH - RIGHT - MARGIN) and TOP < top < y < TOP + PANEL_HEIGHT, lines
    middle = layout.place(panel, 32, 1)
    assert math.isclose(middle[0], (x + right) / 2) and math.isclose(middle[1], (y + top) / 2), "both scales are logarithmic"
    assert layout.rate_ticks() == [0.01, 0.1, 1, 10, 100] and layout.key_ticks() == [1, 2, 1024], (layout.rate_ticks(), layout.key_ticks())
    layout.keys = [1, 2, 900, 1000, 1024]
    assert layout.key_ticks() == [1, 2, 1024], layout.key_ticks()
