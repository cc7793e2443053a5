# SPDX-License-Identifier: Apache-2.0
"""How a page of the documentation shows a plot: the picture for light and for dark pages, and what is seen in it."""
import allocation_tables
import arm_choice
import arm_times
from bar_layout import Bars
from result_file import rows_of


def plot_markdown(plot, data, folder):
    """`folder`: of the pictures, as seen from the page. Nothing without data."""
    if data is None:
        return ""
    shows, seen = of_bars(plot, data) if isinstance(plot, Bars) else of_lines(plot, data)
    return (f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{folder}/{plot.name}-dark.svg">\n'
            f'<img alt="{plot.title}: {shows}" src="{folder}/{plot.name}-light.svg">\n</picture>\n\n{seen}')


def of_lines(plot, data):
    """What a plot of lines shows, and what is seen in it."""
    table, asked = rows_of(data), arm_choice.needs(plot.benchmark)
    seen = []
    for panel in plot.panels:
        # A copy is no arm to take: the others are beside it.
        words = (allocation_tables.copy_in_words(data) if plot.benchmark == "allocation" and panel.operation == "copy"
                 else arm_choice.fastest_in_words(table[panel.operation, panel.workload], asked))
        # A panel that is not the only one is told by its title.
        seen.append(f"- {panel.title}: {words[0].lower()}{words[1:]}" if panel.title else words)
    return f"rate of each arm against the number of {plot.across.split(',')[0]}", "\n".join(seen)


def of_bars(plot, data):
    """The same of a plot of bars."""
    return f"time of each arm for each {plot.across}, on a logarithmic scale", arm_times.in_words(data)


def self_test():
    from plot_layout import Panel, Plot

    data = {"benchmarks": [{"name": f"contention/{operation}/uniform/{arm}/keys:1", "items_per_second": rate}
                           for operation in ("push", "add") for arm, rate in (("sort", 2e9), ("warden_runs", 1e9))]}
    one = plot_markdown(Plot("p", "contention", "a title", "keys, alike", (Panel("push", "uniform"),)), data, "docs/plots")
    assert one.splitlines() == [
        "<picture>", '<source media="(prefers-color-scheme: dark)" srcset="docs/plots/p-dark.svg">',
        '<img alt="a title: rate of each arm against the number of keys" src="docs/plots/p-light.svg">', "</picture>", "",
        "Fastest by number of keys, or less than 5 % behind: `sort` at 1. Of the arms that run any section: `warden_runs` at 1."], one
    two = plot_markdown(Plot("p", "contention", "t", "keys", (Panel("push", "uniform", "x"), Panel("add", "uniform", "y"))), data, "plots")
    assert [line[:8] for line in two.splitlines()[-2:]] == ["- x: fas", "- y: fas"], two
    copies = {"context": {"device": "a GPU"}, "benchmarks": [
        {"name": f"allocation/copy/1M/{arm}/keys:1", "items_per_second": rate, "operations": 1.0, "bytes": 8.0}
        for arm, rate in (("copy", 4e9), ("global_atomic", 1e9), ("shared_atomic", 2e9))]}
    copied = plot_markdown(Plot("p", "allocation", "t", "elements", (Panel("copy", "1M"),)), copies, "plots")
    assert copied.splitlines()[-1].startswith("An atomic for each element on one counter makes the copy 4.00 times as slow"), copied
    bars = Bars("b", "spanning_forest", "a title", "graph")
    times = {"benchmarks": [{"name": f"spanning_forest/find/grid/{arm}/keys:1", "items_per_second": 1e9, "real_time": time, "time_unit": "ms"}
                            for arm, time in (("atomics", 1.0), ("warden_deferred", 2.0))]}
    text = plot_markdown(bars, times, "plots")
    assert 'alt="a title: time of each arm for each graph, on a logarithmic scale" src="plots/b-light.svg"' in text, text
    assert text.endswith("\n\nFastest: `atomics` for `grid`. Beside Warden's fastest arm: `atomics` takes 0.50 (`grid`) times as long."), text
    assert plot_markdown(bars, None, "plots") == "", "what was not measured is not shown"
