# SPDX-License-Identifier: Apache-2.0
"""Plots of bars: where in one the time of an arm for an input stands. Lengths are points."""
import dataclasses
import math
import re

from arm_times import arms_of, inputs_of
from known_figures import known_of
from plot_layout import LEFT, MARGIN, TOP, WIDTH


@dataclasses.dataclass(frozen=True)
class Bars:
    """One picture: a group of bars for each input, a bar for each arm, and lines for what is known of other codes."""
    name: str
    benchmark: str
    title: str
    across: str  # what an input is

    def layout(self, data):
        return BarLayout(self, inputs_of(data), known_of(data))

    def unit(self, data):
        return "milliseconds, less is better"


PANEL_HEIGHT, LABEL_LINE, RIGHT = 240, 11, 10
# The arms' names stand above the bars, in columns.
NAME_COLUMNS, NAME_LINE = 3, 14
# Of a group's width, what is left free between it and the next one.
BETWEEN_GROUPS = 0.2
# The shortest bar is so many decades high; so many are left free above the longest.
SHORTEST, ABOVE = 0.3, 0.15


class BarLayout:
    """Where things stand, from the picture's upper left corner, right and down."""

    def __init__(self, plot, inputs, known):
        self.plot = plot
        self.inputs = inputs
        self.arms = arms_of(inputs)
        # code -> input -> milliseconds, of the inputs that were measured here
        self.known = {code: here for code, times in known.items() if (here := {one.name: times[one.name] for one in inputs if one.name in times})}
        shown = [time for one in inputs for time in one.times().values()] + [time for times in self.known.values() for time in times.values()]
        self.low, self.high = math.log10(min(shown)) - SHORTEST, math.log10(max(shown)) + ABOVE
        self.top = TOP + NAME_LINE * math.ceil((len(self.arms) + len(self.known)) / NAME_COLUMNS) + MARGIN
        self.bottom = self.top + PANEL_HEIGHT
        self.height = self.bottom + 14 + LABEL_LINE * max(len(label_lines(one.name)) for one in self.inputs)
        self.right = WIDTH - RIGHT
        self.group_width = (self.right - LEFT) / len(inputs)
        self.bar_width = self.group_width * (1 - BETWEEN_GROUPS) / len(self.arms)

    def y(self, time):
        return self.top + PANEL_HEIGHT * (self.high - math.log10(time)) / (self.high - self.low)

    def ticks(self):
        """The powers of ten among the times."""
        return [10.0 ** e for e in range(math.ceil(self.low), math.floor(self.high) + 1)]

    def middle(self, number):
        """The x of the middle of a group."""
        return LEFT + self.group_width * (number + 0.5)

    def bar(self, number, arm, time):
        """The corners of a bar of a group, from the lower left one on."""
        left = self.middle(number) + self.bar_width * (self.arms.index(arm) - len(self.arms) / 2)
        right = left + self.bar_width
        return [(left, self.bottom), (left, self.y(time)), (right, self.y(time)), (right, self.bottom)]

    def known_line(self, number, time):
        """As wide as the group."""
        reach = self.bar_width * len(self.arms) / 2
        return [(self.middle(number) - reach, self.y(time)), (self.middle(number) + reach, self.y(time))]

    def bars(self):
        """(name, arm, corners) of each bar."""
        for number, one in enumerate(self.inputs):
            for arm, time in one.times().items():
                yield f"{self.plot.benchmark}/{one.name}/{arm}", arm, self.bar(number, arm, time)

    def known_lines(self):
        """(name, code, ends) of each line."""
        for code, times in self.known.items():
            for number, one in enumerate(self.inputs):
                if one.name in times:
                    yield f"known/{one.name}/{code.replace(' ', '_')}", code, self.known_line(number, times[one.name])

    def lines(self):
        """(name, [(x, y)]) of all that stands for a time."""
        for name, _, points in [*self.bars(), *self.known_lines()]:
            yield name, points

    def names(self):
        """arm or code -> where its sign stands above the bars; its name follows."""
        width = (self.right - LEFT) / NAME_COLUMNS
        return {name: (LEFT + width * (i % NAME_COLUMNS), TOP + NAME_LINE * (i // NAME_COLUMNS))
                for i, name in enumerate([*self.arms, *self.known])}


def label_lines(name):
    """An input's name in lines: its size, or else its last word, goes below, and what follows the size below that."""
    lines = re.split(r"_(?=\d)|(?<=\d)_", name)
    return lines if len(lines) > 1 or "_" not in name else name.rsplit("_", 1)


def self_test():
    assert label_lines("rmat22") == ["rmat22"] and label_lines("rmf_long_32x1024") == ["rmf_long", "32x1024"]
    assert label_lines("dimacs_sample") == ["dimacs", "sample"] and label_lines("rmf_wide_8x4_shuffled") == ["rmf_wide", "8x4", "shuffled"]

    def row(graph, arm, time):
        return {"name": f"spanning_forest/find/{graph}/{arm}/keys:10", "items_per_second": 1e9, "real_time": time, "time_unit": "ms"}

    plot = Bars("p", "spanning_forest", "t", "graph")
    layout = plot.layout({"benchmarks": [row("rmat22", "warden_deferred", 1.0), row("rmat22", "atomics", 100.0), row("x", "atomics", 10.0),
                                         row("x", "lock_tuned", 20.0)]})
    lines = dict(layout.lines())
    assert list(lines) == [*(f"spanning_forest/{bar}" for bar in ("rmat22/atomics", "rmat22/warden_deferred", "x/lock_tuned", "x/atomics")),
                           "known/rmat22/best_known_GPU_code"], "baselines first"
    assert layout.known == {"best known GPU code": {"rmat22": 12.8}}, "what is known of the inputs that are there"
    heights = [layout.bottom - lines[f"spanning_forest/{bar}"][1][1] for bar in ("rmat22/atomics", "rmat22/warden_deferred", "x/atomics")]
    assert math.isclose(heights[0] - heights[2], heights[2] - heights[1]) and heights[1] > 0, "the scale is logarithmic, no bar is empty"
    first, second = (lines[f"spanning_forest/rmat22/{arm}"] for arm in ("atomics", "warden_deferred"))
    assert first[2][0] == second[0][0] and first[0][0] > LEFT and second[2][0] < layout.middle(0.5), "side by side, in their group"
    (left, y), (right, _) = lines["known/rmat22/best_known_GPU_code"]
    assert math.isclose(right - left, 3 * layout.bar_width) and left < first[0][0], "across the group"
    assert first[1][1] < y < second[1][1], "at 12.8 ms"
    assert layout.ticks() == [1, 10, 100], layout.ticks()
    names = layout.names()
    assert list(names) == ["lock_tuned", "atomics", "warden_deferred", "best known GPU code"], names
    assert [y - TOP for _, y in names.values()] == [0, 0, 0, NAME_LINE], names
