# SPDX-License-Identifier: Apache-2.0
"""Draws a plot by matplotlib."""
import io

import matplotlib
from matplotlib.figure import Figure

from bar_drawing import BarPage
from bar_layout import Bars
from line_drawing import LinePage
from plot_layout import LEFT, WIDTH
from plot_list import origin
from plot_page import COLOURS

# As it stands in every file.
VERSION = f"Matplotlib v{matplotlib.__version__},"
# Every browser has one of these; the drawing itself needs only lengths of text, for which the last one is the widest.
FONTS = "-apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"


def draw(plot, data, theme_name):
    """The text of the SVG file."""
    theme, layout = COLOURS[theme_name], plot.layout(data)
    settings = {"svg.fonttype": "none", "svg.hashsalt": plot.name, "path.simplify": False, "font.family": "DejaVu Sans", "font.size": 9}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(WIDTH / 72, layout.height / 72), dpi=72, facecolor=theme.background)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(layout.height, 0))
        axes.axis("off")
        page = (BarPage if isinstance(plot, Bars) else LinePage)(axes, theme, layout)
        page.text(LEFT, 15, plot.title, theme.text, size=12, weight="bold")
        page.text(LEFT, 32, origin(plot, data), theme.faint)
        page.draw()
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Title": plot.title}, facecolor=theme.background)
    return file.getvalue().replace("'DejaVu Sans'", FONTS)
