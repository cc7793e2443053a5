# SPDX-License-Identifier: Apache-2.0
"""Draws a plot by matplotlib."""
import dataclasses
import io

import matplotlib
from matplotlib.figure import Figure

import plot_layout
from plot_layout import BETWEEN, LEFT, PANEL_HEIGHT, RIGHT, TOP, WIDTH
from result_names import short

# As it stands in every file.
VERSION = f"Matplotlib v{matplotlib.__version__},"
# Every browser has one of these; the drawing itself needs only lengths of text, for which the last one is the widest.
FONTS = "-apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"


@dataclasses.dataclass(frozen=True)
class Theme:
    background: str
    text: str
    faint: str  # names of axes
    grid: str
    hues: dict[str, str]


# The colours are told apart with any kind of colour vision together with the markers, and stand out from the background by 3 to 1.
COLOURS = {
    "light": Theme("#ffffff", "#1f2328", "#59636e", "#e4e8ec",
                   {"grey": "#768390", "dark": "#454c54", "orange": "#d9480f", "pink": "#b83280", "purple": "#7048b6", "sky": "#1f83c4",
                    "blue": "#0b4fb3", "green": "#0a8a63", "red": "#b3261e"}),
    "dark": Theme("#0d1117", "#f0f6fc", "#9198a1", "#252c35",
                  {"grey": "#7d8590", "dark": "#c0c7d0", "orange": "#ff8a4c", "pink": "#f27ac0", "purple": "#b08cff", "sky": "#7cc7ff",
                   "blue": "#3f8cff", "green": "#2fc796", "red": "#ff6f66"}),
}

DASHED, SOLID = (0, (4, 2)), "solid"
# arm -> hue, line, marker, whether the marker is filled. Baselines are dashed; arms with records on chip are as those without, but
# hollow.
STYLES = {
    "lock_as_written": ("grey", (0, (1, 1.5)), "v", True),
    "lock_tuned": ("dark", DASHED, "v", True),
    "lock_ordered": ("dark", DASHED, "^", False),
    "atomics": ("orange", DASHED, "D", True),
    "atomics_combined": ("orange", DASHED, "D", False),
    "sort": ("pink", DASHED, "P", True),
    "warden_paper": ("purple", SOLID, "^", True),
    "warden_locks": ("sky", SOLID, "s", True),
    "warden_runs": ("blue", SOLID, "o", True),
    "warden_runs_on_chip": ("blue", SOLID, "o", False),
    "warden_runs_combined": ("purple", SOLID, "s", False),
    "warden_atomics": ("green", SOLID, "D", True),
    "warden_atomics_on_chip": ("green", SOLID, "D", False),
    "warden_deferred": ("red", SOLID, "X", True),
    "warden_deferred_on_chip": ("red", SOLID, "X", False),
    "warden_deferred_threads": ("red", SOLID, ">", False),
    "warden_deferred_runs": ("red", SOLID, "o", True),
    "warden_deferred_sequential": ("red", DASHED, "P", True),
    "warden_deferred_combined": ("red", DASHED, "s", False),
    "warden_rounds": ("red", SOLID, "X", True),
    "warden_colocated": ("green", SOLID, "s", True),
    "warden_nested": ("blue", SOLID, "o", True),
    "warden_nested_on_chip": ("blue", SOLID, "o", False),
    "warden_forwarding": ("purple", SOLID, "^", True),
}
SIZES = {"v": 4.6, "^": 4.6, "D": 3.9, "P": 5, "s": 4.2, "o": 4.6, "X": 5, ">": 4.6}


# Baselines, that is, from the middle of the text down, as a part of its size. Asked of the font, it would depend on the machine.
BASELINE_BELOW = 0.35


def draw(plot, data, theme_name):
    """The text of the SVG file."""
    theme, layout = COLOURS[theme_name], plot_layout.layout_of(plot, data)
    settings = {"svg.fonttype": "none", "svg.hashsalt": plot.name, "path.simplify": False, "font.family": "DejaVu Sans", "font.size": 9}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(WIDTH / 72, layout.height / 72), dpi=72, facecolor=theme.background)
        # The one pair of axes is the picture, in points: what stands where is the layout's to say.
        page = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(layout.height, 0))
        page.axis("off")
        _Drawing(page, theme, layout).draw(plot_layout.origin(plot, data))
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Title": plot.title}, facecolor=theme.background)
    return file.getvalue().replace("'DejaVu Sans'", FONTS)


class _Drawing:
    def __init__(self, page, theme, layout):
        self.page, self.theme, self.layout = page, theme, layout

    def text(self, x, y, text, colour, size=9, **options):
        """`y`: the middle of small letters."""
        self.page.text(x, y + BASELINE_BELOW * size, text, color=colour, size=size, va="baseline", **options)

    def line(self, xs, ys, colour, **options):
        return self.page.plot(xs, ys, color=colour, clip_on=False, **options)[0]

    def draw(self, origin):
        self.text(LEFT, 15, self.layout.plot.title, self.theme.text, size=12, weight="bold")
        self.text(LEFT, 32, origin, self.theme.faint)
        for panel in self.layout.plot.panels:
            self.axes(panel)
        for panel, arms in self.layout.series.items():
            for arm, points in arms.items():
                self.arm(panel, arm, points)
        self.names()

    def axes(self, panel):
        layout, theme = self.layout, self.theme
        left, right = layout.left(panel), layout.left(panel) + layout.panel_width
        bottom = layout.top + PANEL_HEIGHT
        for rate in layout.rate_ticks():
            y = layout.place(panel, 1, rate)[1]
            self.line([left, right], [y, y], theme.grid, linewidth=0.8, zorder=0)
            if panel == layout.plot.panels[0]:
                self.text(left - 6, y, f"{rate:.5f}".rstrip("0").rstrip("."), theme.faint, ha="right")
        for keys in layout.key_ticks():
            x, _ = layout.place(panel, keys, 1)
            self.line([x, x], [layout.top, bottom], theme.grid, linewidth=0.8, zorder=0)
            self.text(x, bottom + 11, short(keys), theme.faint, size=8, ha="center")
        self.text((left + right) / 2, bottom + 27, layout.plot.across, theme.faint, ha="center")
        if panel.title:
            self.text(left, layout.top - 11, panel.title, theme.text, weight="bold")

    def marked(self, xs, ys, arm, **options):
        hue, dashes, marker, filled = STYLES[arm]
        colour = self.theme.hues[hue]
        self.line(xs, ys, colour, linestyle=dashes, marker=marker, markersize=SIZES[marker], markeredgecolor=colour, markeredgewidth=1.2,
                  markerfacecolor=colour if filled else self.theme.background, **options)

    def arm(self, panel, arm, points):
        xs, ys = zip(*(self.layout.place(panel, *point) for point in points))
        own = arm.startswith("warden_")
        self.marked(xs, ys, arm, linewidth=1.7 if own else 1.4, zorder=3 if own else 2, gid=f"{panel.operation}/{panel.workload}/{arm}")

    def names(self):
        """The arms' names beside the last panel, each with its marker, and a line from the end of the arm's."""
        panel = self.layout.plot.panels[-1]
        right = self.layout.left(panel) + self.layout.panel_width
        for arm, y in self.layout.names().items():
            colour = self.theme.hues[STYLES[arm][0]]
            x, end = self.layout.place(panel, *self.layout.series[panel][arm][-1])
            self.line([x + 4, right - 2, right + 14, right + 20], [end, end, y, y], colour, linewidth=0.6, zorder=1)
            self.marked([right + 20], [y], arm)
            self.text(right + 27, y, arm, colour, size=8.5)
