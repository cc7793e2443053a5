# SPDX-License-Identifier: Apache-2.0
"""Draws a plot of lines on its page."""
from plot_layout import PANEL_HEIGHT
from plot_page import SIZES, STYLES, Page
from result_names import is_wardens, short


class LinePage(Page):
    def draw(self):
        for panel in self.layout.plot.panels:
            self.draw_axes(panel)
        for panel, arms in self.layout.series.items():
            for arm, points in arms.items():
                self.draw_arm(panel, arm, points)
        self.draw_names()

    def draw_axes(self, panel):
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

    def draw_arm(self, panel, arm, points):
        xs, ys = zip(*(self.layout.place(panel, *point) for point in points))
        own = is_wardens(arm)
        self.marked(xs, ys, arm, linewidth=1.7 if own else 1.4, zorder=3 if own else 2, gid=f"{panel.operation}/{panel.workload}/{arm}")

    def draw_names(self):
        """The arms' names beside the last panel, each with its marker, and a line from the end of the arm's."""
        panel = self.layout.plot.panels[-1]
        right = self.layout.left(panel) + self.layout.panel_width
        for arm, y in self.layout.names().items():
            colour = self.theme.hues[STYLES[arm][0]]
            x, end = self.layout.place(panel, *self.layout.series[panel][arm][-1])
            self.line([x + 4, right - 2, right + 14, right + 20], [end, end, y, y], colour, linewidth=0.6, zorder=1)
            self.marked([right + 20], [y], arm)
            self.text(right + 27, y, arm, colour, size=8.5)
