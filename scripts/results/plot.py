# SPDX-License-Identifier: Apache-2.0
"""Plots of the documentation: docs/plots/*.svg, drawn with matplotlib.

Each file holds the numbers that it shows as JSON in its description, so that the check needs no matplotlib.
"""
import dataclasses
import html
import io
import json
import re
import sys

from load import RESULTS, ROOT, fail, is_simulated, known, load, origin, published, rows_of
from names import LABELS, TIMED, UNITS, is_wardens, label, short

FOLDER = ROOT / "docs/plots"
THEMES = {"light": ("#ffffff", "#1f2328", "#d0d7de"), "dark": ("#0d1117", "#f0f6fc", "#3d444d")}
# Colours that differ in lightness as well, on both backgrounds.
COLOURS = ["#7d8590", "#d9730d", "#c2459b", "#2f81f7", "#d1242f", "#1a9e6b", "#8957e5", "#bf8700", "#0aa5b5",
           "#a0522d", "#5a7d2a"]
MARKERS = "osD^vPX<>hd"


@dataclasses.dataclass(frozen=True)
class Plot:
    benchmark: str
    title: str
    across: str  # the x axis
    panels: tuple = ()  # (operation, workload, title) of rates by numbers of keys; none: milliseconds by input
    arms: tuple = ()  # none: all


COMPARED = ("lock_tuned", "atomics", "sort", "warden_paper", "warden_locks", "warden_runs", "warden_atomics_on_chip",
            "warden_deferred", "warden_deferred_on_chip")
# Without an option set, next to other code.
DEFAULT = (*COMPARED[:-2], "warden")
PLOTS = {
    "update": Plot("contention", "update: a section that no single atomic can do", "keys, equally likely",
                   (("update", "uniform", ""),), DEFAULT),
    "push": Plot("contention", "push: a section that one atomic can do", "keys, equally likely",
                 (("push", "uniform", ""),), DEFAULT),
    "zipf": Plot("contention", "Skewed keys: Zipf's law, exponent 0.99", "keys",
                 (("update", "zipf099", "update"), ("push", "zipf099", "push")), COMPARED),
    "transfers": Plot("bank_transfer", "Transfers between two accounts", "accounts",
                      (("transfer", "uniform", "equally likely"), ("transfer", "zipf099", "Zipf's law (0.99)"),
                       ("transfer", "hot_side", "one account in 9 of 10"))),
    "allocation": Plot("allocation", "Places taken during a copy", "elements per place", (("copy", "256M", ""),)),
    "counters": Plot("allocation", "Places of many counters", "counters, equally likely", (("take", "uniform", ""),)),
    "spanning_forest": Plot("spanning_forest", "Minimum spanning forests", "graph"),
    "max_flow": Plot("max_flow", "Maximum flows and minimum cuts", "network"),
    "breadth_first": Plot("breadth_first", "Breadth-first search", "graph",
                          arms=("warden", "gather_serial", "gather_scan", "cull_none", "queue_blocks", "top_down",
                                "direction_optimizing")),
    "matrix_factorization": Plot("matrix_factorization", "Matrix factorization to one error", "ratings")}


def four_digits(value):
    return float(f"{value:.4g}")


def data_of(plot, results=RESULTS):
    """Numbers that the plot shows: panel -> series -> [[x, y]]. None without a published file."""
    path = published(plot.benchmark, results)
    if path is None:
        return None
    data, panels = load(path), {}
    if is_simulated(data):
        fail(f"{path}: results of the simulated device, which has no rates; publish results of a GPU")
    rows = [row for row in rows_of(data) if row.benchmark == plot.benchmark and "sections" not in row.fields
            and row.fields["arm"] in (plot.arms or LABELS)]
    for operation, workload, title in plot.panels or [(row.kind, None, "") for row in rows[:1]]:
        series = panels.setdefault(title, {})
        for arm in LABELS:
            found = [row for row in rows if row.kind == operation and row.fields["arm"] == arm
                     and workload in (None, row.fields["workload"])]
            if found and workload:
                series[arm] = sorted([row.fields["keys"], four_digits(row.need("items_per_second") / 1e9)]
                                     for row in found)
            elif found:
                series[arm] = [[row.fields["workload"], four_digits(row.need("real_time"))] for row in found]
        if not workload:
            inputs = dict.fromkeys(row.fields["workload"] for row in rows)
            for code, times in known(plot.benchmark).items():
                if here := [[one, times[one]] for one in inputs if one in times]:
                    series[code] = here
    unit = f"G {UNITS.get(plot.benchmark, 'section')}s/s" if plot.panels else "milliseconds"
    return {"title": plot.title, "origin": origin(data), "across": plot.across, "unit": unit, "panels": panels}


def shown_in(path):
    """The numbers that a drawn file holds; None without such a file."""
    match = re.search("<dc:description>(.*?)</dc:description>", path.read_text(), re.S) if path.exists() else None
    return match and json.loads(html.unescape(match[1]))


def stale(folder, results):
    """(path, data, theme) of the files that do not show what the results hold."""
    data = {name: data_of(plot, results) for name, plot in PLOTS.items()}
    files = [(folder / f"{name}-{theme}.svg", data[name], theme) for name in PLOTS for theme in THEMES]
    return [file for file in files if shown_in(file[0]) != file[1]]


def check(folder=FOLDER, results=RESULTS):
    if wrong := [path.name for path, _, _ in stale(folder, results)]:
        fail(f"plots do not show the results, run python3 scripts/results --plot: {', '.join(wrong)}")
    print("plots are up to date")


def matplotlib_or_exit():
    try:
        import matplotlib
        return matplotlib
    except ImportError:
        print("drawing needs matplotlib: apt-get install python3-matplotlib, or pip install matplotlib",
              file=sys.stderr)
        sys.exit(3)


def write(folder=FOLDER, results=RESULTS):
    matplotlib = matplotlib_or_exit()
    folder.mkdir(exist_ok=True)
    for path, data, theme in stale(folder, results):
        if data is None:
            path.unlink()
        else:
            path.write_text(drawn(matplotlib, data, theme))
        print(f"{'removed' if data is None else 'drawn'}: {path.name}")


def drawn(matplotlib, data, theme):
    """The text of the SVG file."""
    from matplotlib.figure import Figure
    background, text, grid = THEMES[theme]
    settings = {"svg.fonttype": "none", "svg.hashsalt": data["title"], "font.size": 9, "legend.frameon": False}
    settings |= dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), text)
    settings |= dict.fromkeys(("axes.edgecolor", "grid.color"), grid)
    settings |= dict.fromkeys(("axes.facecolor", "figure.facecolor"), background)
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(9.5, 4), layout="constrained")
        figure.suptitle(data["title"], x=0.01, ha="left", weight="bold")
        figure.supxlabel(data["origin"], x=0.01, ha="left", size=8)
        axes = figure.subplots(1, len(data["panels"]), sharey=True, squeeze=False)[0]
        for axis, (title, series) in zip(axes, data["panels"].items()):
            axis.set(title=title, xlabel=data["across"], yscale="log")
            axis.grid(True, linewidth=0.6)
            axis.set_axisbelow(True)
            has_names = any(isinstance(x, str) for points in series.values() for x, _ in points)
            (draw_bars if has_names else draw_lines)(axis, series)
        axes[0].set_ylabel(data["unit"] + ("" if data["unit"].endswith("/s") else ", lower is better"))
        handles = {name: handle for axis in axes for handle, name in zip(*axis.get_legend_handles_labels())}
        # Not a legend of the figure: Matplotlib 3.6 places none outside of the axes.
        axes[-1].legend(handles.values(), handles.keys(), loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0)
        file = io.StringIO()
        figure.savefig(file, format="svg",
                       metadata={"Date": None, "Title": data["title"], "Description": json.dumps(data)})
    return file.getvalue()


def draw_lines(axis, series):
    keys = sorted({x for points in series.values() for x, _ in points})
    axis.set_xscale("log", base=2)
    axis.set_xticks(keys[::-(-len(keys) // 6)] if len(keys) > 6 else keys)
    axis.xaxis.set_major_formatter(lambda x, _: short(round(x)))
    axis.xaxis.set_minor_locator(axis.xaxis.get_major_locator())
    for number, (arm, points) in enumerate(series.items()):
        axis.plot(*zip(*points), label=label(arm), color=COLOURS[number % len(COLOURS)],
                  marker=MARKERS[number % len(MARKERS)], markersize=4.5, linestyle="-" if is_wardens(arm) else "--")


def draw_bars(axis, series):
    inputs = list(dict.fromkeys(x for points in series.values() for x, _ in points))
    width = 0.8 / len(series)
    for number, (arm, points) in enumerate(series.items()):
        places = [inputs.index(x) + width * (number - (len(series) - 1) / 2) for x, _ in points]
        axis.bar(places, [y for _, y in points], width, label=label(arm), color=COLOURS[number % len(COLOURS)])
    labels = [re.sub(r"_(?=\d|[^_]*$)", "\n", one) for one in inputs]
    axis.set_xticks(range(len(inputs)), labels, size=7, rotation=45 if len(inputs) > 8 else 0)


def markdown(name, folder):
    """The picture for light and dark pages. `folder`: docs/plots as seen from the page."""
    if name not in PLOTS:
        fail(f"plot:{name}: no such plot; there are {', '.join(PLOTS)}")
    plot = PLOTS[name]
    shows = f"rate of each arm by number of {plot.across.split(',')[0]}"
    if plot.benchmark in TIMED:
        shows = f"time of each arm by {plot.across}"
    return (f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{folder}/{name}-dark.svg">\n'
            f'<img alt="{plot.title}: {shows}" src="{folder}/{name}-light.svg">\n</picture>')
