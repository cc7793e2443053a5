# SPDX-License-Identifier: Apache-2.0
"""Draws a plot of bars on its page."""
from matplotlib.patches import Polygon

from bar_layout import LABEL_LINE, label_lines
from plot_layout import LEFT
from plot_page import STYLES, Page

# The lines of known codes, in their order.
DASHES = ["solid", (0, (3, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)), (0, (2, 1, 1, 1, 1, 1))]
# The sign beside a name, and how far the name is from its left.
SIGN, NAME = 9, 15


class BarPage(Page):
    def draw(self):
        layout, theme = self.layout, self.theme
        for time in layout.ticks():
            self.line([LEFT, layout.right], [layout.y(time)] * 2, theme.grid, linewidth=0.8, zorder=0)
            self.text(LEFT - 6, layout.y(time), f"{time:.5f}".rstrip("0").rstrip("."), theme.faint, ha="right")
        for number, one in enumerate(layout.inputs):
            for i, text in enumerate(label_lines(one.name)):
                self.text(layout.middle(number), layout.bottom + LABEL_LINE * (i + 1), text, theme.faint, size=8, ha="center")
        for name, arm, corners in layout.bars():
            self.draw_bar(arm, corners, gid=name)
        self.line([LEFT, layout.right], [layout.bottom] * 2, theme.faint, linewidth=0.8, zorder=3)
        for name, code, ends in layout.known_lines():
            self.draw_known(code, ends, gid=name)
        for name, (x, y) in layout.names().items():
            if name in STYLES:
                self.draw_bar(name, [(x, y + SIGN / 2), (x, y - SIGN / 2), (x + SIGN, y - SIGN / 2), (x + SIGN, y + SIGN / 2)])
            else:
                self.draw_known(name, [(x - 1, y), (x + SIGN + 1, y)])
            self.text(x + NAME, y, name, theme.text, size=8.5)

    def draw_bar(self, arm, corners, **options):
        hue, _, _, filled = STYLES[arm]
        colour = self.theme.hues[hue]
        self.axes.add_patch(Polygon(corners, closed=True, facecolor=colour if filled else self.theme.background, edgecolor=colour, linewidth=1.2,
                                    joinstyle="miter", clip_on=False, zorder=2, **options))

    def draw_known(self, code, ends, **options):
        xs, ys = zip(*ends)
        # The background beneath lets the line be seen on bars of any colour.
        self.line(xs, ys, self.theme.background, linewidth=4, solid_capstyle="butt", zorder=4)
        self.line(xs, ys, self.theme.text, linewidth=1.8, linestyle=DASHES[[*self.layout.known].index(code)], solid_capstyle="butt", zorder=5, **options)
